//! How a file of separated fields is laid out: what separates them, and where the header is.

use super::super::header::is_header;
use super::blanks::BlankRuns;
use crate::infer::{looks_like_data, looks_like_date};
use csv_core::{ReadRecordResult, ReaderBuilder};

/// What may separate fields, the likelier first.
const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// What separates fields only where each line has it equally often.
const RARE_SEPARATORS: [u8; 2] = [b'^', b':'];

/// The separator of Hive, which is in no text.
const HIVE: u8 = 1;

/// Records that are looked at to find the separator.
const LOOK_AT: usize = 200;

/// Lines before the header that are passed over.
const TITLE_LINES_MAX: usize = 20;

/// How a file is laid out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) separator: u8,
    /// How many blanks separate fields, where blanks do.
    pub(super) blanks: Option<usize>,
    /// Whether the first line only names the separator.
    pub(super) has_separator_line: bool,
    /// Records before the header or the first row.
    pub(super) skip: usize,
    pub(super) has_header: bool,
    pub(super) header: Vec<String>,
}

/// The first records of a text.
fn first_records(text: &str, separator: u8) -> Vec<Vec<String>> {
    let mut reader = ReaderBuilder::new().delimiter(separator).build();
    let mut output = vec![0; text.len() + 1_024];
    let mut ends = vec![0; text.len() + 1_024];
    let (mut input, mut records) = (text.as_bytes(), Vec::new());
    while records.len() < LOOK_AT {
        let (result, read, _, count) = reader.read_record(input, &mut output, &mut ends);
        input = &input[read..];
        if result != ReadRecordResult::Record {
            break;
        }
        let mut start = 0;
        let fields = ends[..count].iter().map(|end| {
            let field = String::from_utf8_lossy(&output[start..*end]).into_owned();
            start = *end;
            field
        });
        records.push(fields.collect());
    }
    if records.is_empty() && !text.is_empty() {
        records.push(vec![text.trim_end().to_owned()]);
    }
    records
}

/// The count that most records have, and how many have it.
fn common_width(records: &[Vec<String>]) -> (usize, usize) {
    let mut counts = std::collections::BTreeMap::<usize, usize>::new();
    for record in records {
        *counts.entry(record.len()).or_default() += 1;
    }
    let best = counts.into_iter().max_by_key(|(width, count)| (*count, *width));
    best.unwrap_or((1, 0))
}

/// The separator that a first line such as `sep=;` names, and what follows it.
fn separator_line(text: &str) -> Option<(u8, &str)> {
    let (line, rest) = text.split_once('\n')?;
    let line = line.trim_end_matches('\r');
    let line = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    let is_named = line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("sep="));
    match line.as_bytes() {
        [_, _, _, _, separator] if is_named => Some((*separator, rest)),
        _ => None,
    }
}

/// Whether all records have the same number of fields, and more than one.
fn is_even(records: &[Vec<String>], least: usize) -> bool {
    let (width, count) = common_width(records);
    width > 1 && count == records.len() && count >= least
}

/// The separator of a text, and how many blanks it is where it is blanks.
fn separator_of(text: &str) -> (u8, Option<usize>) {
    if text.as_bytes().contains(&HIVE) && is_even(&first_records(text, HIVE), 1) {
        return (HIVE, None);
    }
    let score = |separator: &u8| {
        let records = first_records(text, *separator);
        let (width, count) = common_width(&records);
        let share = count * 1_000 / records.len().max(1);
        // Decimal commas part each row into two, but not the names above them.
        let names = records.first().is_some_and(|first| first.len() == width);
        // A separator that is hardly ever there is none.
        if width < 2 { (0, false, 0) } else { (share.min(950), names, width) }
    };
    let best = SEPARATORS.iter().rev().max_by_key(|separator| score(separator));
    if let Some(best) = best.filter(|best| score(best) > (0, false, 0)) {
        // Commas that the first line does not have may group digits in aligned columns.
        let is_in_first = text.lines().next().is_some_and(|line| line.as_bytes().contains(best));
        return match !is_in_first && has_wide_blanks(text) {
            true => (BlankRuns::SEPARATOR, Some(2)),
            false => (*best, None),
        };
    }
    let is_rare = |separator: &u8| {
        // Times and links have colons too.
        let is_clock = |line: &str| line.bytes().all(|b| b.is_ascii_digit() || b":. ".contains(&b));
        let other = |line: &str| is_clock(line) || line.contains("://") || looks_like_date(line);
        let is_other = *separator == b':' && text.lines().take(LOOK_AT).any(other);
        !is_other && is_even(&first_records(text, *separator), 2)
    };
    if let Some(rare) = RARE_SEPARATORS.into_iter().find(|separator| is_rare(separator)) {
        return (rare, None);
    }
    match blanks_of(text) {
        Some(least) => (BlankRuns::SEPARATOR, Some(least)),
        None => (b',', None),
    }
}

/// The first records of a text whose fields at least so many blanks separate.
fn blank_records(text: &str, least: usize) -> Vec<Vec<String>> {
    let text = BlankRuns::new(least).take(text.as_bytes());
    first_records(&String::from_utf8_lossy(&text), BlankRuns::SEPARATOR)
}

/// Whether several blanks separate the fields of every line.
fn has_wide_blanks(text: &str) -> bool {
    is_even(&blank_records(text, 2), 3)
}

/// How many blanks separate the fields of a text, if blanks do: several where single ones stand
/// within fields, or one where fields are aligned or all are numbers.
fn blanks_of(text: &str) -> Option<usize> {
    if has_wide_blanks(text) {
        return Some(2);
    }
    let all = blank_records(text, 1);
    let is_one_value = |line: &str| looks_like_date(line) || is_grouped(line.trim());
    if !is_even(&all, 3) || text.lines().take(LOOK_AT).skip(1).all(is_one_value) {
        return None;
    }
    let is_aligned = text.lines().take(LOOK_AT).any(|line| line.trim().contains("  "));
    let are_numbers = all.iter().skip(1).flatten().all(|field| looks_like_data(field));
    (is_aligned || are_numbers).then_some(1)
}

/// `12 345`: one number, whose digits blanks group.
fn is_grouped(line: &str) -> bool {
    let mut groups = line.split(' ');
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let is_first = groups.next().is_some_and(|group| {
        let group = group.trim_start_matches('-');
        (1..=3).contains(&group.len()) && is_digits(group)
    });
    is_first
        && groups.all(|group| {
            let whole = group.split(['.', ',']).next().unwrap_or_default();
            whole.len() == 3 && is_digits(whole)
        })
}

pub(super) fn layout_of(text: &str) -> Layout {
    // Only whole lines tell something, and a few hundred are enough.
    let cut = if text.len() > 200_000 { text.floor_char_boundary(200_000) } else { text.len() };
    let text = if cut == text.len() { text.to_owned() } else { text[..cut].to_owned() };
    let text = if text.ends_with('\n') { text } else { text + "\n" };
    let named = separator_line(&text);
    let text = named.map_or(text.as_str(), |(_, rest)| rest);
    let (separator, blanks) = match named {
        Some((separator, _)) => (separator, None),
        None => separator_of(text),
    };
    let records = match blanks {
        Some(least) => blank_records(text, least),
        None => first_records(text, separator),
    };
    let (width, _) = common_width(&records);
    let skip = records.iter().take(TITLE_LINES_MAX).take_while(|record| {
        width > 1 && record.len() < width && record.iter().skip(1).all(|field| field.is_empty())
    });
    let skip = skip.count();
    let first = records.get(skip).cloned().unwrap_or_default();
    let has_header = is_header(&first, records.get(skip + 1..).unwrap_or_default());
    let header = match has_header {
        true => first,
        false => vec![String::new(); width.max(first.len())],
    };
    let has_separator_line = named.is_some();
    Layout { separator, blanks, has_separator_line, skip, has_header, header }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_and_headers_are_found() {
        let cases = [
            ("a,b\n1,2\n3,4\n", b',', true),
            ("a;b\n1,5;2\n3,7;4\n", b';', true),
            ("k;v\n0;0,00\n1;1,11\n2;2,22\n", b';', true),
            ("a\tb\n1\t2\n", b'\t', true),
            ("1,2\n3,4\n", b',', false),
            ("name|note\nx|\"y,z\"\n", b'|', true),
            ("only\nx\ny\n", b',', true),
        ];
        for (text, separator, has_header) in cases {
            let found = layout_of(text);
            assert_eq!((found.separator, found.has_header), (separator, has_header), "{text}");
        }
    }

    #[test]
    fn lines_of_a_title_before_the_header_are_passed_over() {
        let found = layout_of("Sales of 2026\n\nregion,amount\neast,1\nwest,2\nnorth,3\n");
        assert_eq!((found.skip, found.header), (1, vec!["region".to_owned(), "amount".to_owned()]));
    }

    #[test]
    fn a_first_line_that_names_the_separator_is_no_header() {
        let found = layout_of("sep=;\r\nregion;amount\r\neast;1,5\r\n");
        let header = vec!["region".to_owned(), "amount".to_owned()];
        assert_eq!((found.separator, found.has_separator_line, found.skip), (b';', true, 0));
        assert_eq!((found.header, found.has_header), (header, true));
    }

    #[test]
    fn blanks_and_rare_characters_separate_where_every_line_has_them() {
        let hive = "a\u{1}x, y\u{1}1\nb\u{1}z\u{1}2\n";
        assert_eq!((layout_of(hive).separator, layout_of(hive).header.len()), (1, 3));
        assert_eq!(layout_of("a^b\n1^2\n3^4\n").separator, b'^');
        assert_eq!(layout_of("user:id\nroot:0\nmail:8\n").separator, b':');
        let aligned = "region      amount\nNorth West      1\nEast           12\n";
        assert_eq!((layout_of(aligned).blanks, layout_of(aligned).header.len()), (Some(2), 2));
        let aligned = "region amount\nEast        1\nWest       12\n";
        assert_eq!((layout_of(aligned).blanks, layout_of(aligned).header.len()), (Some(1), 2));
        assert_eq!(layout_of("x y\n1 2.5\n3 4\n").blanks, Some(1));
    }

    #[test]
    fn one_column_stays_one_column() {
        let columns = [
            "time\n09:30:00\n10:30:00\n",
            "09:30:00\n10:30:00\n",
            "https://a.example/x\nhttps://b.example/y\n",
            "full name\nAnna Bell\nCarl Dent\n",
            "people\n12 345\n13 456\n1 200\n",
            "at\n2026-01-31 09:30\n2026-01-31 10:30\n2026-02-01 10:30\n",
            "note\nall is well\nno\nwhat a day\n",
        ];
        for text in columns {
            assert_eq!(layout_of(text).header.len(), 1, "{text}");
        }
    }
}
