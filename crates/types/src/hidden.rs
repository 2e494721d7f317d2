//! What a person does not see in a text, though a model or a shell reads it.

/// Characters without ink in a row that are shown.
const BLANKS_MAX: usize = 40;

/// Ends of lines among them that are shown.
const LINES_MAX: usize = 3;

/// Marks on one letter that are shown.
const MARKS_MAX: usize = 3;

/// A text as a person must see it before they allow something: what takes no room, turns the
/// direction, or hides the rest behind blanks is spelled out. What has no ink is counted where
/// there is much of it, whatever character it is.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let (mut blanks, mut lines) = (0_usize, 0_usize);
    let (mut left_out, mut marks) = (0_usize, 0_usize);
    for c in text.chars() {
        marks = if is_mark(c) && !is_hidden(c) { marks + 1 } else { 0 };
        if marks > MARKS_MAX {
            shown.extend((marks == MARKS_MAX + 1).then_some('\u{fffd}'));
            continue;
        }
        if !is_blank(c) && !is_hidden(c) {
            end_blanks(&mut shown, std::mem::take(&mut left_out));
            (blanks, lines) = (0, 0);
            shown.push(c);
            continue;
        }
        blanks += 1;
        lines += usize::from(c == '\n');
        match c {
            _ if blanks > BLANKS_MAX || c == '\n' && lines > LINES_MAX => left_out += 1,
            c if is_hidden(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    end_blanks(&mut shown, left_out);
    shown
}

fn end_blanks(shown: &mut String, left_out: usize) {
    if left_out > 0 {
        shown.push_str(&format!("[+{left_out} blank]"));
    }
}

/// Most characters of a call that a question shows, at its beginning and at its end.
const CALL_CHARS: (usize, usize) = (6_000, 2_000);

/// The same, cut in its middle if it is very long. What is left out is counted.
#[must_use]
pub fn visible_call(text: &str) -> String {
    let shown = visible(text);
    let count = shown.chars().count();
    let (head, tail) = CALL_CHARS;
    if count <= head + tail {
        return shown;
    }
    let first: String = shown.chars().take(head).collect();
    let last: String = shown.chars().skip(count - tail).collect();
    format!("{first}\n[… {} of {count} characters left out …]\n{last}", count - head - tail)
}

/// Marks over or through the letter before them; a pile of them hides what is written.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}'
        | '\u{e47}'..='\u{e4e}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Characters that take room and have no ink.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\u{3000}' | '\u{2800}')
}

/// Characters that a person does not see: controls, text that runs the other way by force, letters
/// without width or of no look, and those of tags.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{fffc}' => true,
        '\u{1d173}'..='\u{1d17a}' | '\u{2800}' => true,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{feff}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e0fff}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' => true,
        '\u{16fe4}' | '\u{13430}'..='\u{1343f}' | '\u{1d159}' | '\u{70f}' | '\u{8e2}' => true,
        '\u{110bd}' | '\u{110cd}' | '\u{600}'..='\u{605}' | '\u{6dd}' => true,
        '\u{890}' | '\u{891}' => true,
        c => c.is_control() || c.is_whitespace() && c != ' ' && c != '\u{3000}',
    }
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, visible, visible_call};

    #[test]
    fn nothing_without_ink_pushes_the_rest_away() {
        for blank in [
            ' ',
            '\n',
            '\t',
            '\u{2800}',
            '\u{3000}',
            '\u{a0}',
            '\u{2003}',
            '\u{200b}',
            '\u{34f}',
            '\u{180b}',
            '\u{fffc}',
            '\u{1d173}',
            '\u{e0041}',
        ] {
            let padding: String = std::iter::repeat_n(blank, 3_000).collect();
            let shown = visible(&format!("touch EVIL #{padding}ls"));
            assert!(shown.chars().count() < 500 && shown.lines().count() < 6, "{blank:?}");
            assert!(shown.starts_with("touch EVIL #") && shown.ends_with("blank]ls"), "{shown}");
        }
        let mixed = "\n\u{3000}\t\u{2800}".repeat(1_000);
        assert!(visible(&mixed).lines().count() < 6);
    }

    #[test]
    fn a_very_long_call_is_said_to_be_cut_and_how_long_it_is() {
        let shown = visible_call(&format!("a{}z", "x".repeat(20_000)));
        assert!(shown.starts_with('a') && shown.ends_with('z'));
        assert!(shown.contains("12002 of 20002 characters left out"), "{}", shown.len());
        assert_eq!(visible_call("ls"), "ls");
    }

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
        let expected = format!("echo ok;{}[+2960 blank]rm -rf x", " ".repeat(40));
        assert_eq!(visible(&far), expected);
        let pile = visible(&format!("rm{} x", "\u{336}".repeat(2_400)));
        assert_eq!(pile, "rm\u{336}\u{336}\u{336}\u{fffd} x");
        assert_eq!(visible("e\u{301}te\u{301}"), "e\u{301}te\u{301}");
        assert!("\u{1bca0}\u{fff3}\u{e0abc}\u{13437}\u{70f}".chars().all(is_hidden));
        assert!("plain words, 中文, ünï".chars().all(|c| !is_hidden(c)));
    }
}
