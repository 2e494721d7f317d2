//! Numbers that are part of a short name, such as `Q3`, `v2.1` or `5G`, and those of lists,
//! headings and notes. Longer names are numbers until the data are seen to have them.

/// Letters before an amount.
const CURRENCIES: [&str; 22] = [
    "USD", "US", "EUR", "CNY", "RMB", "GBP", "JPY", "HKD", "HK", "TWD", "NT", "KRW", "INR", "AUD",
    "CAD", "CHF", "SGD", "BRL", "RUB", "Rs", "RM", "kr",
];

/// Where the name ends that these digits are part of.
pub(super) fn name_end(text: &str, start: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let whole = bytes[start..end].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_short = whole <= 2;
    // Neither a separator nor a point nor a power of ten.
    let is_plain = whole == end - start;
    let run_end = || word_end(text, end);
    let before = &text[..start];
    let letters = before.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '_');
    let prefix = before[letters.len()..].trim_start_matches('_');
    let is_percent = text[end..].starts_with(['%', '％']);
    if prefix.contains(|c: char| c.is_ascii_alphabetic()) {
        return match prefix {
            "v" | "V" => Some(version_end(text, start)),
            "FY" | "CY" if is_plain && [2, 4].contains(&whole) => Some(end),
            money if CURRENCIES.contains(&money) => None,
            _ if is_short && is_plain && !is_percent => Some(run_end()),
            _ => None,
        };
    }
    if before.ends_with('#') && !before.ends_with("&#") {
        let is_inline = !before.trim_end_matches('#').ends_with('\n') && before != "#";
        return (is_short && is_plain && is_inline && !is_percent).then_some(end);
    }
    // `UTF-8`, `COVID-19`.
    if let Some(hyphen) = before.strip_suffix('-')
        && hyphen.ends_with(|c: char| c.is_ascii_uppercase())
        && is_short
        && is_plain
        && !is_percent
        && run_end() == end
    {
        return Some(end);
    }
    let run = &text[end..run_end()];
    let is_name = match run {
        "st" | "nd" | "rd" | "th" | "am" | "pm" | "AM" | "PM" => is_short && is_plain,
        "G" | "D" | "Q" | "H" => whole == 1 && is_plain,
        "s" => whole == 4 && is_plain && ["19", "20"].contains(&&text[start..start + 2]),
        _ if run.starts_with('x') && &text[start..end] == "0" => true,
        // `7q2m`: letters and digits in turn are an identifier, if none of its numbers is large.
        run => is_plain && is_short && is_identifier(run),
    };
    is_name.then(run_end)
}

/// Where letters, digits and low lines end.
fn word_end(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    let count = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let end = from + count.count();
    // A low line at the end is a sign of emphasis.
    from + text[from..end].trim_end_matches('_').len()
}

fn is_identifier(run: &str) -> bool {
    let has_letter = run.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let mut groups = run.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let has_low_line = run.starts_with('_') && run.contains(|c: char| c.is_ascii_alphabetic());
    let has_digits = groups.clone().next().is_some();
    has_letter && (has_low_line || has_digits) && groups.all(|digits| digits.len() <= 3)
}

fn version_end(text: &str, start: usize) -> usize {
    let count = text[start..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.');
    let end = start + count.count();
    start + text[start..end].trim_end_matches('.').len()
}

/// Parts of a text that have numbers.
const NUMBERED: [&str; 6] = ["Figure", "Table", "Step", "Section", "Chapter", "Appendix"];

/// Whether a part of a text is named right before: "Table 2".
fn is_numbered(before: &str) -> bool {
    let before = before.strip_suffix([' ', '\u{a0}']).unwrap_or(before);
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    NUMBERED.contains(&word)
}

/// Where the number of a list, a heading or a note ends.
pub(super) fn marker_end(text: &str, start: usize, end: usize) -> Option<usize> {
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let before = text[line_start..start].trim_start();
    let rest = &text[end..];
    let count = end - start;
    let is_plain = text[start..end].bytes().all(|byte| byte.is_ascii_digit());
    let is_listed = rest.starts_with(". ") || rest.starts_with(") ") || rest.starts_with('、');
    let level = before.trim_end().len();
    if is_plain && count <= 2 && is_numbered(before) && !rest.starts_with(['%', '\u{ff05}']) {
        return Some(end);
    }
    let is_heading = level > 0 && before.trim_end().bytes().all(|byte| byte == b'#');
    // In a title, `12 units` are units.
    let is_chapter = is_listed || level > 1 && rest.starts_with(' ');
    let is_note = before.ends_with('[') && rest.starts_with(']')
        || before.ends_with("[^") && rest.starts_with(']');
    let bare = before.trim_matches(['>', ' ', '*', '-']);
    let is_marker = bare.is_empty() && is_listed && count <= 3
        || is_heading && is_chapter && count <= 2
        || is_note && count <= 2;
    (is_plain && is_marker).then_some(end)
}
