//! Finds a passage in a file, or the most similar lines if it does not occur.
//!
//! A file whose lines end with a carriage return is shown without it, so a passage of several lines
//! is also looked for with it, and then what replaces it has it too.

use memchr::memmem;

/// Positions that are named when a passage occurs several times.
const PLACES_MAX: usize = 10;

/// Near misses that are shown, and lines of each.
const NEAR_MAX: usize = 2;
const NEAR_LINES_MAX: usize = 20;

/// A content after an edit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EditedText {
    pub(super) content: Vec<u8>,
    /// The line of the passage, counted from 1; of the first where there are several.
    pub(super) line: usize,
    /// How many passages were replaced.
    pub(super) count: usize,
}

/// What is to be replaced by what.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassageChange<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// Replace every occurrence; otherwise the passage must occur once.
    pub(super) all: bool,
}

/// The content with the passage replaced, or why it is not.
pub(super) fn replaced(content: &[u8], change: PassageChange<'_>) -> Result<EditedText, String> {
    let PassageChange { old, new, all } = change;
    if old.is_empty() {
        return Err("old is empty; write_file makes a new file".to_owned());
    }
    if old == new {
        return Err("old and new are the same".to_owned());
    }
    let (old_returned, new_returned) = (returned(old), returned(new));
    for (old, new) in [(old, new), (old_returned.as_str(), new_returned.as_str())] {
        match places(content, old.as_bytes()).as_slice() {
            [] => {}
            [first, ..] if all => return Ok(everywhere(content, *first, old, new)),
            [at] => return Ok(edited(content, *at, old.len(), new)),
            several => return Err(too_many(content, several)),
        }
    }
    Err(none(&String::from_utf8_lossy(content), old))
}

fn returned(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Every place, also those that overlap: each could be meant.
fn places(content: &[u8], old: &[u8]) -> Vec<usize> {
    let finder = memmem::Finder::new(old);
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(found) = finder.find(&content[from..]) {
        places.push(from + found);
        if places.len() > PLACES_MAX {
            break;
        }
        from += found + 1;
    }
    places
}

fn edited(content: &[u8], at: usize, length: usize, new: &str) -> EditedText {
    let parts = [&content[..at], new.as_bytes(), &content[at + length..]];
    EditedText { content: parts.concat(), line: line_at(content, at), count: 1 }
}

/// From left to right; what overlaps a passage that was replaced is not one of its own.
fn everywhere(content: &[u8], first: usize, old: &str, new: &str) -> EditedText {
    let (mut changed, mut from, mut count) = (Vec::with_capacity(content.len()), 0, 0);
    for at in memmem::find_iter(content, old) {
        changed.extend_from_slice(&content[from..at]);
        changed.extend_from_slice(new.as_bytes());
        (from, count) = (at + old.len(), count + 1);
    }
    changed.extend_from_slice(&content[from..]);
    EditedText { content: changed, line: line_at(content, first), count }
}

fn line_at(content: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', &content[..at]).count() + 1
}

fn too_many(content: &[u8], places: &[usize]) -> String {
    let shown = places.iter().take(PLACES_MAX);
    let lines: Vec<String> = shown.map(|at| line_at(content, *at).to_string()).collect();
    let lines = lines.join(", ");
    let count = match places.len() > PLACES_MAX {
        true => format!("more than {PLACES_MAX}"),
        false => places.len().to_string(),
    };
    format!(
        "old stands there {count} times, at lines {lines}; take in more lines around it, or set \
         all to true to replace each"
    )
}

/// Says what is nearly the passage, so that it can be mended.
fn none(content: &str, old: &str) -> String {
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let wanted: Vec<String> = old.trim_matches('\n').lines().map(squeezed).collect();
    let first = wanted.iter().find(|line| !line.is_empty()).map_or("", String::as_str);
    let same = |window: &[&str]| window.iter().zip(&wanted).all(|(a, b)| squeezed(a) == *b);
    let near = starts(lines.windows(wanted.len().max(1)).map(same));
    if !near.is_empty() && !first.is_empty() {
        let shown = near.iter().map(|at| passage(&lines, *at, wanted.len()));
        let shown: Vec<String> = shown.collect();
        return format!(
            "the old text is not in the file, but this is, with other whitespace:\n{}",
            shown.join("\n")
        );
    }
    let begins = starts(lines.iter().map(|line| !first.is_empty() && squeezed(line) == first));
    match begins.first() {
        Some(at) => format!(
            "the old text is not in the file; a passage that begins alike is:\n{}",
            passage(&lines, *at, wanted.len())
        ),
        None => "the old text is not in the file; read the file and copy the passage".to_owned(),
    }
}

fn starts(fits: impl Iterator<Item = bool>) -> Vec<usize> {
    fits.enumerate().filter(|(_, fits)| *fits).map(|(at, _)| at).take(NEAR_MAX).collect()
}

/// The line without what a reader does not see of its whitespace.
fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines as they stand, with their numbers, and their whitespace as it is written in JSON.
fn passage(lines: &[&str], at: usize, count: usize) -> String {
    let shown = lines.iter().enumerate().skip(at).take(count.min(NEAR_LINES_MAX));
    let shown = shown.map(|(at, line)| format!("{}: {:?}", at + 1, line));
    shown.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{EditedText, PassageChange, replaced};

    fn edited(content: &str, old: &str, new: &str) -> Result<(String, usize), String> {
        let edit = replaced(content.as_bytes(), PassageChange { old, new, all: false });
        edit.map(|EditedText { content, line, .. }| (String::from_utf8(content).unwrap(), line))
    }

    fn refused(content: &str, old: &str) -> String {
        edited(content, old, "new").unwrap_err()
    }

    #[test]
    fn a_passage_that_stands_there_once_is_replaced_and_nothing_else() {
        assert_eq!(edited("a\nb\nc\n", "b\n", "x"), Ok(("a\nxc\n".to_owned(), 2)));
        assert_eq!(edited("one", "one", ""), Ok((String::new(), 1)));
        let change = PassageChange { old: "old", new: "new", all: false };
        let odd = replaced(b"\xff\xfe old \x80", change).unwrap();
        assert_eq!(odd.content, b"\xff\xfe new \x80");
    }

    #[test]
    fn a_file_with_carriage_returns_keeps_them() {
        let content = "a\r\nb\r\nc\r\n";
        assert_eq!(edited(content, "a\nb\n", "x\ny\n"), Ok(("x\r\ny\r\nc\r\n".to_owned(), 1)));
        assert_eq!(edited(content, "b", "x"), Ok(("a\r\nx\r\nc\r\n".to_owned(), 2)));
    }

    #[test]
    fn a_passage_that_stands_there_several_times_is_told_with_its_lines() {
        let words = refused("x = 1\ny\nx = 1\n", "x = 1");
        assert!(words.starts_with("old stands there 2 times, at lines 1, 3;"), "{words}");
        assert!(refused("aaa", "aa").contains("2 times"), "overlapping places count");
        let words = refused(&"x\n".repeat(50), "x");
        assert!(words.contains("more than 10 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;"));
    }

    #[test]
    fn each_passage_is_replaced_where_all_are_meant() {
        let all = |content: &str, old: &str, new: &str| {
            let edit = replaced(content.as_bytes(), PassageChange { old, new, all: true })?;
            Ok::<_, String>((String::from_utf8(edit.content).unwrap(), edit.line, edit.count))
        };
        assert_eq!(all("x\na b a\n", "a", "aa"), Ok(("x\naa b aa\n".to_owned(), 2, 2)));
        assert_eq!(all("aaa", "aa", "b"), Ok(("ba".to_owned(), 1, 1)));
        assert_eq!(all(&"x\n".repeat(50), "x", "y"), Ok(("y\n".repeat(50), 1, 50)));
        assert_eq!(all("a\r\nb\r\na\r\n", "a\n", "c\n"), Ok(("c\r\nb\r\nc\r\n".to_owned(), 1, 2)));
        assert!(all("b", "a", "c").unwrap_err().starts_with("the old text is not in the file"));
    }

    #[test]
    fn what_nearly_fits_is_shown_as_it_stands() {
        let content = "fn a() {\n\tlet x =  1;\n}\n";
        let words = refused(content, "fn a() {\n    let x = 1;\n}");
        assert!(
            words.contains("other whitespace:\n1: \"fn a() {\\n\"\n2: \"\\tlet x =  1;\\n\"\n")
        );
        let words = refused(content, "fn a() {\n    let y = 1;\n}");
        assert!(words.contains("begins alike is:\n1: \"fn a() {\\n\"\n2: \"\\tlet x"), "{words}");
        let words = refused(content, "fn b() {");
        assert_eq!(words, "the old text is not in the file; read the file and copy the passage");
    }

    #[test]
    fn what_cannot_be_an_edit_is_refused() {
        assert!(refused("a", "").starts_with("old is empty"));
        assert_eq!(edited("a", "a", "a"), Err("old and new are the same".to_owned()));
        for old in ["\n", " ", "\t\n\n", "\u{0}"] {
            assert!(refused("", old).starts_with("the old text is not in the file"), "{old:?}");
        }
    }
}
