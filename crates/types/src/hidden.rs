//! What a person does not see in a text, though a model or a shell reads it.

/// Blanks in a row that are shown as they are.
const BLANKS_MAX: usize = 40;

/// A text as a person must see it before they allow something: what takes no room, turns the
/// direction, or hides the rest behind blanks is spelled out.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut blanks = 0_usize;
    for c in text.chars() {
        if c == ' ' || c == '\n' {
            blanks += 1;
            if blanks <= BLANKS_MAX {
                shown.push(c);
            }
            continue;
        }
        end_blanks(&mut shown, std::mem::take(&mut blanks));
        match is_hidden(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    end_blanks(&mut shown, blanks);
    shown
}

fn end_blanks(shown: &mut String, blanks: usize) {
    if blanks > BLANKS_MAX {
        shown.push_str(&format!("[+{} U+0020]", blanks - BLANKS_MAX));
    }
}

/// Characters that a person does not see: controls, text that runs the other way by force, letters
/// without width or of no look, and those of tags.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{feff}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e01ef}' => true,
        c => c.is_control() || c.is_whitespace() && c != ' ' && c != '\u{3000}',
    }
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, visible};

    #[test]
    fn what_could_deceive_is_spelled_out_and_the_rest_stays() {
        for (text, shown) in [
            ("ls \u{202e}txt", "ls \\u{202e}txt"),
            ("a\u{200b}b\u{9b}31m\u{1b}[2J", "a\\u{200b}b\\u{9b}31m\\u{1b}[2J"),
            ("\u{e0041}\r", "\\u{e0041}\\u{d}"),
            ("写周报 ❤\u{fe0f}\n\tok　好", "写周报 ❤\u{fe0f}\n\tok　好"),
        ] {
            assert_eq!(visible(text), shown);
        }
        let far = format!("echo ok;{}rm -rf x", " ".repeat(3_000));
        let expected = format!("echo ok;{}[+2960 U+0020]rm -rf x", " ".repeat(40));
        assert_eq!(visible(&far), expected);
        assert!("plain words, 中文, ünï".chars().all(|c| !is_hidden(c)));
    }
}
