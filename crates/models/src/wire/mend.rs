//! JSON that strict readers refuse, made readable: the damage becomes U+FFFD, the rest stays.

/// Replaces what is not valid inside of JSON strings: bytes that are not UTF-8, halves of surrogate
/// pairs, and raw control characters.
pub(super) fn mend(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.as_ref();
    let mut in_string = false;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '"' => {
                in_string = !in_string;
                out.push('"');
            }
            '\\' if in_string => {
                let (escape, length) = read_escape(rest);
                out.push_str(escape);
                taken = length;
            }
            '\n' if in_string => out.push_str("\\n"),
            '\t' if in_string => out.push_str("\\t"),
            c if in_string && c.is_ascii_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
        rest = &rest[taken..];
    }
    out
}

/// The escape at the start of `text` as it may be written, and the length of what it stands for.
fn read_escape(text: &str) -> (&str, usize) {
    let second = text[1..].chars().next().map_or(0, char::len_utf8);
    match unit(text) {
        Some(0xd800..=0xdbff) => match text.get(6..).and_then(unit) {
            Some(0xdc00..=0xdfff) => (&text[..12], 12),
            _ => ("\u{fffd}", 6),
        },
        Some(0xdc00..=0xdfff) => ("\u{fffd}", 6),
        Some(_) => (&text[..6], 6),
        None => (&text[..1 + second], 1 + second),
    }
}

/// The code unit of a `\uXXXX` at the start of `text`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// Replaces NUL, which is legal in JSON but not in databases and terminals.
pub(super) fn without_nul(text: &str) -> Option<String> {
    memchr::memchr(0, text.as_bytes()).map(|_| text.replace('\0', "\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_whole_pairs_stay() {
        assert_eq!(mend(br#"{"a":"x\ud800y\ud83d\ude00\udc00\"\\"}"#), {
            "{\"a\":\"x\u{fffd}y\\ud83d\\ude00\u{fffd}\\\"\\\\\"}"
        });
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(mend(b"{\"a\":\"x\xff\x01\"}"), "{\"a\":\"x\u{fffd}\u{fffd}\"}");
    }
}
