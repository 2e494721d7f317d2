//! A text whose digits are those of ASCII, with the places that its bytes had.

use std::ops::Range;

/// A text as it is read for numbers: full-width and other digits, signs and separators as those of
/// ASCII, and without characters that nobody sees.
#[derive(Debug)]
pub(super) struct PlainText<'a> {
    original: &'a str,
    /// The text and, for each of its bytes and its end, the place in the original; none if nothing
    /// had to be changed.
    changed: Option<(String, Vec<usize>)>,
}

/// The first digit of each row of ten that is read; the last are those of formulas.
const ZEROS: [char; 10] = [
    '\u{ff10}',
    '\u{0660}',
    '\u{06f0}',
    '\u{0966}',
    '\u{09e6}',
    '\u{1d7ce}',
    '\u{1d7d8}',
    '\u{1d7e2}',
    '\u{1d7ec}',
    '\u{1d7f6}',
];

impl<'a> PlainText<'a> {
    pub(super) fn of(original: &'a str) -> Self {
        if original.chars().all(|c| plain(c) == Some(c)) {
            return Self { original, changed: None };
        }
        let chars: Vec<(usize, char)> = original.char_indices().collect();
        let digit = |at: usize| {
            chars.get(at).and_then(|(_, c)| plain(*c)).is_some_and(|c| c.is_ascii_digit())
        };
        let (mut text, mut places) = (String::new(), Vec::new());
        for (at, (place, c)) in chars.iter().enumerate() {
            // One that parts three digits from those before them.
            let parts =
                at > 0 && digit(at - 1) && (1..=3).all(|next| digit(at + next)) && !digit(at + 4);
            let own = match c {
                '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{ff0c}' | '\u{66c}' if parts => Some(','),
                '\u{ff0e}' if at > 0 && digit(at - 1) && digit(at + 1) => Some('.'),
                c => plain(*c),
            };
            if let Some(own) = own {
                text.push(own);
                places.extend(std::iter::repeat_n(*place, own.len_utf8()));
            }
        }
        places.push(original.len());
        Self { original, changed: Some((text, places)) }
    }

    pub(super) fn text(&self) -> &str {
        self.changed.as_ref().map_or(self.original, |(text, _)| text)
    }

    /// Where a range of the text is in the original.
    pub(super) fn place(&self, at: &Range<usize>) -> Range<usize> {
        let Some((_, places)) = &self.changed else { return at.clone() };
        let place = |at: usize| places.get(at).copied().unwrap_or(self.original.len());
        let last = self.original[place(at.end.saturating_sub(1))..].chars().next();
        let end = place(at.end.saturating_sub(1)) + last.map_or(0, char::len_utf8);
        place(at.start)..end
    }
}

/// A character as it is read for numbers; none if nobody sees it.
fn plain(c: char) -> Option<char> {
    if c.is_ascii() {
        return Some(c);
    }
    match c {
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}' => None,
        '\u{ff0b}' => Some('+'),
        '\u{ff0d}' => Some('-'),
        // Told from those of ordinary text above, so that nothing is changed without need.
        '\u{a0}' | '\u{2009}' | '\u{202f}' => Some(' '),
        c => Some(digit(c).unwrap_or(c)),
    }
}

fn digit(c: char) -> Option<char> {
    let zero = ZEROS.iter().find(|zero| (**zero as u32..**zero as u32 + 10).contains(&(c as u32)));
    zero.and_then(|zero| char::from_digit(c as u32 - *zero as u32, 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_back_to_the_text_as_it_was_written() {
        let text = "共１２，３４５元，1\u{202f}234\u{200b}5。";
        let plain = PlainText::of(text);
        assert_eq!(plain.text(), "共12,345元，1,2345。");
        let at = plain.text().find("12,345").unwrap();
        assert_eq!(&text[plain.place(&(at..at + 6))], "１２，３４５");
        assert!(PlainText::of("plain 12，345").changed.is_none());
    }
}
