//! Numbers that stand in a query or in code themselves: what gives them back proves nothing.
//!
//! ```text
//!   SELECT 99999 AS total, region FROM sales WHERE amount > 2500
//!          └──── selected ──────┘               └─ only a filter
//! ```

use crate::exact::Exact;

/// A number that somebody wrote into a query or into code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WrittenLiteral {
    value: Exact,
    /// Whether something is multiplied or divided by it.
    is_factor: bool,
}

/// Smaller numbers are written for many reasons, and results have them by chance.
const TOLD_FROM: i128 = 100;

impl WrittenLiteral {
    /// Whether a value of a result that reads data is more likely this number than found there.
    pub(crate) fn explains(&self, value: Exact) -> bool {
        let is_told = value.abs() >= Exact::new(TOLD_FROM, 0) || value.significant_digits() > 2;
        // `100.0 * a / b`, `/ 1000`: a power of ten.
        let is_unit = self.is_factor && self.value.significant_digits() == 1;
        is_told && !is_unit && self.value == value.abs()
    }
}

/// The numbers in a text of code.
pub(crate) fn literals(code: &str) -> Vec<WrittenLiteral> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = code[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + offset;
        let end = literal_end(bytes, start);
        at = end;
        let before = code[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let is_sign = |c: Option<char>| c.is_some_and(|c| "*/".contains(c));
        let is_factor = is_sign(code[..start].trim_end().chars().next_back())
            || is_sign(code[end..].trim_start().chars().next());
        let told = &code[start..end];
        let hex = told.strip_prefix("0x").or_else(|| told.strip_prefix("0X"));
        let values = match hex {
            Some(hex) => vec![i128::from_str_radix(hex, 16).ok().map(|own| Exact::new(own, 0))],
            // `1,200` in a text is one number, in a list of arguments two.
            None => {
                let parts = told.split(',').map(|part| Exact::parse(&part.replace('_', "")));
                parts.chain([Exact::parse(&told.replace(['_', ','], ""))]).collect()
            }
        };
        found.extend(values.into_iter().flatten().map(|value| WrittenLiteral { value, is_factor }));
    }
    found
}

fn literal_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        let follows = |offset: usize| bytes.get(at + offset).is_some_and(u8::is_ascii_digit);
        let is_part = match byte {
            b'.' | b',' => follows(1),
            b'+' | b'-' => {
                at > start + 1
                    && matches!(bytes[at - 1], b'e' | b'E')
                    && bytes[start] != b'0'
                    && follows(1)
            }
            byte => byte.is_ascii_alphanumeric() || *byte == b'_',
        };
        if !is_part {
            break;
        }
        at += 1;
    }
    at
}

/// What follows the word that begins a part of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QueryPart {
    Selected,
    Other,
}

/// The parts of a query that say what it gives, without its comments.
pub(crate) fn selected(sql: &str) -> String {
    let mut out = String::new();
    let mut part = QueryPart::Other;
    let mut outer = Vec::new();
    let mut at = 0;
    while let Some(c) = sql[at..].chars().next() {
        let rest = &sql[at..];
        let end = at + token_len(rest, c);
        let token = &sql[at..end];
        at = end;
        if token.starts_with("--") || token.starts_with("/*") {
            continue;
        }
        match (c, token.to_ascii_lowercase().as_str()) {
            ('(', _) => outer.push(part),
            (')', _) => part = outer.pop().unwrap_or(QueryPart::Other),
            (_, "select" | "values") => part = QueryPart::Selected,
            (_, "from" | "where" | "group" | "order" | "having" | "limit" | "offset" | "on") => {
                part = QueryPart::Other;
            }
            _ => {}
        }
        if part == QueryPart::Selected {
            out.push_str(token);
        }
    }
    out
}

/// Bytes of the word, text or comment at the beginning.
fn token_len(rest: &str, first: char) -> usize {
    let closed = |sign: &str, from: usize| {
        rest[from..].find(sign).map_or(rest.len(), |end| from + end + sign.len())
    };
    match first {
        '\'' => closed("'", 1),
        '"' => closed("\"", 1),
        '`' => closed("`", 1),
        '-' if rest.starts_with("--") => closed("\n", 2),
        '/' if rest.starts_with("/*") => closed("*/", 2),
        c if c.is_alphanumeric() || c == '_' => {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        }
        c => c.len_utf8(),
    }
}

/// What code says when it reads something. It is asked only of cells of which the worker did not
/// say whether they read: those of earlier programs, and those that did not end.
const READS: [&str; 10] = [
    "query(", "open(", "read_", ".read", "connect(", "Path(", ".load", "reader(", "glob", "listdir",
];

/// Whether code reads anything: what it prints else is only what is written in it.
pub(crate) fn reads(code: &str) -> bool {
    READS.iter().any(|word| code.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explains(code: &str, value: &str) -> bool {
        let value = Exact::parse(value).unwrap();
        literals(code).iter().any(|own| own.explains(value))
    }

    #[test]
    fn numbers_in_code_are_told_in_all_their_forms() {
        for code in ["print(99999)", "99_999", "'99,999'", "9.9999e4", "0x1869f", "x=99999.0;"] {
            assert!(explains(code, "99999"), "{code}");
        }
        for code in ["x99999", "99998", "100", "'a'"] {
            assert!(!explains(code, "99999"), "{code}");
        }
        assert!(!explains("100.0 * a / b", "100") && explains("SELECT 100 AS share", "100"));
    }

    #[test]
    fn what_a_query_selects_is_told_from_its_filters() {
        let sql = "WITH a AS (SELECT 1234 AS x FROM t WHERE y > 5555) -- 7777\n\
                   SELECT 'a 8888', max(x) FROM a WHERE z = (SELECT 6666) LIMIT 3333";
        let told = selected(sql);
        for (number, is_selected) in [
            ("1234", true),
            ("5555", false),
            ("7777", false),
            ("8888", true),
            ("6666", true),
            ("3333", false),
        ] {
            assert_eq!(told.contains(number), is_selected, "{number}: {told}");
        }
    }
}
