//! What a person does not see in a text, though a model or a shell reads it.

/// Characters without ink in a row that are shown.
const BLANKS_MAX: usize = 40;

/// Ends of lines among them that are shown.
const LINES_MAX: usize = 3;

/// Marks on one letter that are shown; no script that is written today needs more.
const MARKS_MAX: usize = 2;

/// A text as a person must see it before they allow something: what takes no room, turns the
/// direction, or hides the rest behind blanks is spelled out. What has no ink is counted where
/// there is much of it, whatever character it is.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let (mut blanks, mut lines) = (0_usize, 0_usize);
    let mut left_out = 0_usize;
    for (c, hides) in told_apart(text) {
        if !is_blank(c) && !hides {
            end_blanks(&mut shown, std::mem::take(&mut left_out));
            (blanks, lines) = (0, 0);
            shown.push(c);
            continue;
        }
        blanks += 1;
        lines += usize::from(c == '\n');
        match c {
            _ if blanks > BLANKS_MAX || c == '\n' && lines > LINES_MAX => left_out += 1,
            c if hides => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    end_blanks(&mut shown, left_out);
    shown
}

/// A value on one line, for a table or a list: like [`visible`], and an end of a line is spelled
/// out too, so that no value can look like a row of its own.
#[must_use]
pub fn one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// A text of many lines as it is, but for characters that a person does not see.
#[must_use]
pub fn spelled(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (c, hides) in told_apart(text) {
        match hides {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}

/// Every character, and whether it hides something where it stands.
fn told_apart(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut rest = text.chars().peekable();
    let (mut before, mut marks) = (None, 0_usize);
    std::iter::from_fn(move || {
        let c = rest.next()?;
        marks = if is_mark(c) { marks + 1 } else { 0 };
        let hides = match c {
            ZWJ => !before.is_some_and(is_pictured) || !rest.peek().copied().is_some_and(is_emoji),
            // A mark of a key follows: 1️⃣.
            TEXT_LOOK | EMOJI_LOOK if rest.peek() == Some(&KEYCAP) => false,
            TEXT_LOOK | EMOJI_LOOK => !before.is_some_and(is_emoji),
            KEYCAP => before != Some(EMOJI_LOOK),
            c => is_hidden(c) || marks > MARKS_MAX,
        };
        before = Some(c);
        Some((c, hides))
    })
}

/// Joins two pictures to one.
const ZWJ: char = '\u{200d}';

/// Chooses the look of the character before it.
const TEXT_LOOK: char = '\u{fe0e}';
const EMOJI_LOOK: char = '\u{fe0f}';

/// Draws a key around the character before it.
const KEYCAP: char = '\u{20e3}';

/// Characters that are drawn as pictures.
fn is_emoji(c: char) -> bool {
    matches!(c, '©' | '®' | '\u{203c}'..='\u{27bf}' | '\u{2900}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
        && !is_hidden(c)
}

fn is_pictured(c: char) -> bool {
    is_emoji(c) || c == EMOJI_LOOK
}

/// Marks that stand on or in another character.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}'
        | '\u{5bf}' | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}' | '\u{6e7}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{711}'
        | '\u{730}'..='\u{74a}' | '\u{7a6}'..='\u{7b0}' | '\u{7eb}'..='\u{7f3}'
        | '\u{816}'..='\u{82d}' | '\u{859}'..='\u{85b}' | '\u{898}'..='\u{8ff}'
        | '\u{900}'..='\u{902}' | '\u{93a}' | '\u{93c}' | '\u{941}'..='\u{948}' | '\u{94d}'
        | '\u{951}'..='\u{957}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
        | '\u{eb1}' | '\u{eb4}'..='\u{ebc}' | '\u{ec8}'..='\u{ece}' | '\u{f71}'..='\u{f84}'
        | '\u{135d}'..='\u{135f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{2cef}'..='\u{2cf1}' | '\u{2de0}'..='\u{2dff}'
        | '\u{302a}'..='\u{302d}' | '\u{3099}'..='\u{309a}' | '\u{a66f}'..='\u{a672}'
        | '\u{a674}'..='\u{a67d}' | '\u{a8e0}'..='\u{a8f1}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{1d165}'..='\u{1d169}' | '\u{1d16d}'..='\u{1d172}' | '\u{1d17b}'..='\u{1d182}'
        | '\u{1e8d0}'..='\u{1e8d6}' | '\u{1e944}'..='\u{1e94a}')
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

/// Characters that take room and have no ink.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\u{3000}' | '\u{2800}')
}

/// Characters that a person does not see as they are: controls, text that runs the other way by
/// force, letters without width or of no look, those of tags, and marks that strike a text out.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Drawn with no ink, though nothing says so.
        '\u{fffc}' | '\u{2800}' | '\u{16fe4}' | '\u{1d159}' => true,
        '\u{334}'..='\u{338}' | '\u{20d2}'..='\u{20d3}' | '\u{20d8}'..='\u{20da}' => true,
        '\u{20dd}'..='\u{20e0}' | '\u{20e2}' | '\u{20e4}'..='\u{20eb}' => true,
        // What Unicode calls formats.
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' => true,
        '\u{8e2}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' => true,
        // What Unicode lets a program leave out.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{feff}' => true,
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fe00}'..='\u{fe0d}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' => true,
        '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control() || c.is_whitespace() && c != ' ' && c != '\u{3000}',
    }
}

/// Characters that change the order in which a terminal shows the ones around them.
#[must_use]
pub fn turns_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, one_line, spelled, visible, visible_call};

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
            '\u{e0fff}',
            '\u{fff0}',
            '\u{1bca0}',
            '\u{fe0f}',
            '\u{301}',
            '\u{336}',
            '\u{e49}',
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
            ("a\u{1d159}\u{16fe4}\u{13430}", "a\\u{1d159}\\u{16fe4}\\u{13430}"),
            (
                "l\u{fe0f}s\u{336} e\u{301}\u{302}\u{303}",
                "l\\u{fe0f}s\\u{336} e\u{301}\u{302}\\u{303}",
            ),
            (
                "1\u{fe0f}\u{20e3} 👩\u{200d}🔬 ❤\u{fe0f}\u{200d}🔥",
                "1\u{fe0f}\u{20e3} 👩\u{200d}🔬 ❤\u{fe0f}\u{200d}🔥",
            ),
            ("ที่นี่ नमस्ते שָׁלוֹם", "ที่นี่ नमस्ते שָׁלוֹם"),
            ("写周报 ❤\u{fe0f}\n\tok　好", "写周报 ❤\u{fe0f}\n\tok　好"),
        ] {
            assert_eq!(visible(text), shown);
        }
        let far = format!("echo ok;{}rm -rf x", " ".repeat(3_000));
        let expected = format!("echo ok;{}[+2960 blank]rm -rf x", " ".repeat(40));
        assert_eq!(visible(&far), expected);
        assert!("plain words, 中文, ünï".chars().all(|c| !is_hidden(c)));
    }

    #[test]
    fn a_value_of_a_table_keeps_to_its_line() {
        assert_eq!(one_line("a\nb\r\tc\u{2028}"), "a\\nb\\u{d}\\tc\\u{2028}");
        assert_eq!(spelled("a\n\tb\u{202e}c"), "a\n\tb\\u{202e}c");
        let code = format!("x{}y", " ".repeat(100));
        assert_eq!(spelled(&code), code, "blanks hide nothing in a text that is only read");
    }
}
