//! Turns bytes from files and processes into text that is safe to store, show and send.
//!
//! Dropped: escape sequences of terminals and control characters but tab and newline.
//! Replaced: invalid UTF-8 by U+FFFD, a carriage return by a newline.

/// The clean text of some bytes.
#[must_use]
pub fn clean(bytes: &[u8]) -> String {
    let mut cleaner = Cleaner::default();
    let mut text = cleaner.push(bytes);
    text.push_str(&cleaner.finish());
    text
}

/// Cleans a stream piece by piece; characters and escapes may be split between pieces.
#[derive(Debug, Default)]
pub struct Cleaner {
    /// The beginning of a character whose rest has not come yet; at most three bytes.
    partial: Vec<u8>,
    place: CleanerState,
}

/// Where in the stream we are.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum CleanerState {
    #[default]
    Text,
    /// After a carriage return: a newline that follows belongs to it.
    Return,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate byte: one more character belongs to it.
    Charset,
    /// Inside `ESC [ …`, until a final character.
    Control,
    /// Inside `ESC ] …` and its like, until BEL or `ESC \`.
    Message,
    /// After ESC inside a message.
    MessageEscape,
}

impl Cleaner {
    /// Takes the next bytes and gives the text that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let mut pending = std::mem::take(&mut self.partial);
        pending.extend_from_slice(bytes);
        let mut text = String::with_capacity(pending.len());
        let mut rest = pending.as_slice();
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    self.take(valid, &mut text);
                    rest = &[];
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.take(std::str::from_utf8(valid).unwrap_or_default(), &mut text);
                    let Some(wrong) = error.error_len() else {
                        self.partial = after.to_vec();
                        break;
                    };
                    self.take("\u{fffd}", &mut text);
                    rest = &after[wrong..];
                }
            }
        }
        text
    }

    /// Ends the stream: a character that never became whole is replaced.
    pub fn finish(&mut self) -> String {
        let mut text = String::new();
        if !std::mem::take(&mut self.partial).is_empty() {
            self.take("\u{fffd}", &mut text);
        }
        self.place = CleanerState::Text;
        text
    }

    fn take(&mut self, valid: &str, text: &mut String) {
        for c in valid.chars() {
            self.place = self.step(c, text);
        }
    }

    fn step(&self, c: char, text: &mut String) -> CleanerState {
        match (self.place, c) {
            (CleanerState::MessageEscape, '\\')
            | (CleanerState::Message | CleanerState::MessageEscape, '\u{7}' | '\u{9c}') => {
                CleanerState::Text
            }
            (CleanerState::Message | CleanerState::MessageEscape, '\u{1b}') => {
                CleanerState::MessageEscape
            }
            // A message never spans lines: an unfinished one must not swallow all that follows.
            (CleanerState::Message | CleanerState::MessageEscape, '\n') => plain(c, text),
            (CleanerState::Message | CleanerState::MessageEscape, _) => CleanerState::Message,
            (_, '\u{1b}') => CleanerState::Escape,
            // The C1 controls say in one character what ESC and a letter say.
            (CleanerState::Escape, '[') | (_, '\u{9b}') => CleanerState::Control,
            (CleanerState::Escape, ']' | 'P' | 'X' | '^' | '_')
            | (_, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => CleanerState::Message,
            (CleanerState::Escape, ' '..='/') => CleanerState::Charset,
            (CleanerState::Escape | CleanerState::Charset, ' '..='~') => CleanerState::Text,
            (CleanerState::Control, ' '..='?') => CleanerState::Control,
            (CleanerState::Control, '@'..='~') => CleanerState::Text,
            (CleanerState::Return, '\n') => CleanerState::Text,
            (_, '\r') => {
                text.push('\n');
                CleanerState::Return
            }
            _ => plain(c, text),
        }
    }
}

fn plain(c: char, text: &mut String) -> CleanerState {
    if !c.is_control() || c == '\n' || c == '\t' {
        text.push(c);
    }
    CleanerState::Text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_cleaned_of_what_terminals_and_machines_put_into_it() {
        let cases: &[(&[u8], &str)] = &[
            (b"plain\ttext\n", "plain\ttext\n"),
            ("größe 漢字 🦀".as_bytes(), "größe 漢字 🦀"),
            (b"a\0b\x08c\x7f", "abc"),
            (b"bad \xff\xfe end", "bad \u{fffd}\u{fffd} end"),
            (b"cut \xe6\xbc", "cut \u{fffd}"),
            (b"\x1b[1;31mred\x1b[0m", "red"),
            (b"\x1b]0;title\x07after", "after"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1b]unfinished\nnext", "\nnext"),
            (b"\x1b(Bx\x1bcy", "xy"),
            (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
            ("c1 \u{9b}31mred".as_bytes(), "c1 red"),
            ("\u{9d}0;title\u{9c}after \u{90}q\u{1b}\\end".as_bytes(), "after end"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(clean(bytes), *expected, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_give_the_same_text_as_the_whole(
            bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..200,
        ) {
            let at = at.min(bytes.len());
            let mut cleaner = Cleaner::default();
            let mut text = cleaner.push(&bytes[..at]);
            text.push_str(&cleaner.push(&bytes[at..]));
            text.push_str(&cleaner.finish());
            prop_assert_eq!(&text, &clean(&bytes));
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
