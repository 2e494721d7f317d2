//! Text out of markup: entities decoded, tags and what cannot be seen left out, lengths bounded.

use super::token::{HtmlToken, HtmlTokens};
use unicode_segmentation::UnicodeSegmentation as _;

/// Entities that titles and summaries are written with; others stay as they stand.
const NAMED: [(&str, char); 28] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("hellip", '\u{2026}'),
    ("mdash", '\u{2014}'),
    ("ndash", '\u{2013}'),
    ("middot", '\u{b7}'),
    ("bull", '\u{2022}'),
    ("laquo", '\u{ab}'),
    ("raquo", '\u{bb}'),
    ("ldquo", '\u{201c}'),
    ("rdquo", '\u{201d}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("copy", '\u{a9}'),
    ("reg", '\u{ae}'),
    ("trade", '\u{2122}'),
    ("times", '\u{d7}'),
    ("deg", '\u{b0}'),
    ("euro", '\u{20ac}'),
    ("yen", '\u{a5}'),
    ("rsaquo", '\u{203a}'),
];

/// Most characters of an entity between `&` and `;`.
const ENTITY_CHARS_MAX: usize = 10;

/// Tags that a service leaves in what should be plain text. Others may be meant: `Vec<T>`.
const INLINE: [&str; 12] =
    ["a", "b", "br", "code", "div", "em", "i", "mark", "p", "span", "strong", "wbr"];

/// The text with its entities replaced, once.
pub(crate) fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        match entity(after) {
            Some((character, bytes)) => {
                out.push(character);
                rest = &after[bytes..];
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The character at the beginning of what follows a `&`, and how many bytes name it.
fn entity(after: &str) -> Option<(char, usize)> {
    let end = after.char_indices().take(ENTITY_CHARS_MAX).find(|(_, c)| *c == ';')?.0;
    let name = &after[..end];
    let character = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
        None => NAMED.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((character, end + 1))
}

/// What is left of a text that should have been plain.
pub(super) fn plain(text: &str) -> String {
    let tags = text.split_inclusive('>').flat_map(|part| {
        let cut = part.rfind('<').unwrap_or(part.len());
        [&part[..cut], &part[cut..]]
    });
    let kept = tags.filter(|part| !is_inline(part));
    spaced(&decoded(&kept.collect::<String>()))
}

fn is_inline(part: &str) -> bool {
    let known = |name: &str| INLINE.iter().any(|tag| tag.eq_ignore_ascii_case(name));
    match HtmlTokens::new(part).next() {
        Some(HtmlToken::Open(tag)) => part.ends_with('>') && INLINE.iter().any(|name| tag.is(name)),
        Some(HtmlToken::Close(name)) => part.ends_with('>') && known(name),
        _ => false,
    }
}

/// On one line, one space between words, without what steers terminals or hides from a reader.
pub(crate) fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !c.is_control() && !is_hidden(c) {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Characters that take no room or turn the direction of what follows.
pub(crate) fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// At most so many characters; a mark at the end says that there was more.
pub(super) fn short(text: String, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text;
    }
    let mut left = chars_max.saturating_sub(1);
    let fits = |grapheme: &&str| {
        let enough = left >= grapheme.chars().count();
        left = if enough { left - grapheme.chars().count() } else { 0 };
        enough
    };
    let kept: String = text.graphemes(true).take_while(fits).collect();
    format!("{}\u{2026}", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{decoded, plain, short, spaced};

    #[test]
    fn entities_are_decoded_once_and_others_stay() {
        let cases = [
            ("a &amp; b", "a & b"),
            ("&amp;lt;", "&lt;"),
            ("&#65;&#x4e2d;&#X6587;", "A中文"),
            ("&#0183;", "·"),
            ("&nope; &; & &#xd800; &#99999999;", "&nope; &; & &#xd800; &#99999999;"),
            ("&verylongentityname;", "&verylongentityname;"),
            ("tail &", "tail &"),
        ];
        for (text, expected) in cases {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_left_out_and_spaces_are_single() {
        let text = " a\u{a0}\n b\u{200b}c\u{1b}[31m\u{202e}\u{0}d\u{feff} ";
        assert_eq!(spaced(text), "a bc[31md");
    }

    #[test]
    fn plain_text_loses_its_markup_but_not_what_looks_like_it() {
        assert_eq!(plain("a <b>bold</b> word<br/> &amp; more"), "a bold word & more");
        assert_eq!(plain("Vec<T> and a < b > c"), "Vec<T> and a < b > c");
        assert_eq!(plain("<span class=\"x\">in</span> 中文 <b"), "in 中文 <b");
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        assert_eq!(short("中文标题".to_owned(), 4), "中文标题");
        assert_eq!(short("中文标题和更多".to_owned(), 4), "中文标…");
        assert_eq!(short("ae\u{301}e\u{301}e\u{301}".to_owned(), 5), "ae\u{301}…");
    }
}
