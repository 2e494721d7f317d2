//! Answers and progress as they are on the screen: what is compared is what a terminal shows of the
//! bytes, not the bytes.

use crate::support::{Home, Terminal, calls, says};
use serde_json::{Value, json};
use std::num::NonZero;

const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const CTRL_O: u8 = 15;
const PROMPT: &str = "You › ";

/// A home on a terminal with colours, whose model streams.
fn colored(replies: &[Value]) -> Home {
    Home::scripted(replies).with("TERM", "xterm-256color").with("AGENT_MODE", "react")
}

/// A reply in pieces of so many characters.
fn streamed(text: &str, chunk: usize) -> Value {
    json!({"text": text, "chunk": chunk})
}

/// The same with a moment before each piece.
fn paced(text: &str, chunk: usize) -> Value {
    json!({"text": text, "chunk": chunk, "delay_ms": 30})
}

/// The rows that a terminal of so many columns has after these bytes, without its lower end.
fn screen(bytes: &str, columns: u16) -> Vec<String> {
    let mut parser = vt100::Parser::new(size(8000), size(columns), 0);
    parser.process(bytes.as_bytes());
    rows(&parser, columns)
}

fn size(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

fn rows(parser: &vt100::Parser, columns: u16) -> Vec<String> {
    let rows = parser.screen().rows(0, columns);
    let mut rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
    rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
    rows
}

fn chat_says(home: &Home, goal: &str) -> Terminal {
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT).types(goal);
    chat
}

/// Leaves a chat after the line that ends its run; all that was on the screen before that line.
fn leave_after(mut chat: Terminal, end: &str) -> String {
    chat.until(end);
    let at = chat.seen.rfind(end).unwrap();
    let seen = chat.seen[..at].to_owned();
    chat.until(PROMPT).presses(CTRL_D);
    chat.ended().ends_with(0);
    seen
}

fn leave(chat: Terminal) -> String {
    leave_after(chat, "succeeded ·")
}

#[track_caller]
fn has_block(rows: &[String], block: &[&str]) {
    let has = rows.windows(block.len()).any(|window| window == block);
    assert!(has, "{block:#?} is not in:\n{}", rows.join("\n"));
}

fn count(rows: &[String], words: &str) -> usize {
    rows.iter().filter(|row| row.contains(words)).count()
}

const ANSWER: &str = "# Result\n\nSome **bold** text with `code` and a \
[link](https://example.com/a).\n\n1. first\n2. second\n   - nested\n\n| name | value |\n\
|:-----|------:|\n| alpha | 1 |\n| beta | 23 |\n\n```rust\nfn main() {}\n```\n\n\
> 引用的话，很长。\n\nThe end 🎉.";

const LAID_OUT: [&str; 20] = [
    "Result",
    "",
    "Some bold text with code and a link (https://example.com/a).",
    "",
    "1. first",
    "2. second",
    "   • nested",
    "",
    "name  │ value",
    "──────┼──────",
    "alpha │     1",
    "beta  │    23",
    "",
    "  fn main() {}",
    "",
    "│ 引用的话，很长。",
    "",
    "The end 🎉.",
    "",
    "",
];

#[test]
fn an_answer_is_laid_out_in_the_chat_and_shown_once() {
    let home = colored(&[streamed(ANSWER, 5)]);
    let seen = leave(chat_says(&home, "tell"));
    let rows = screen(&seen, 100);
    has_block(&rows, &LAID_OUT[..18]);
    for words in ["The end 🎉.", "alpha │", "fn main()"] {
        assert_eq!(count(&rows, words), 1, "{words}: {}", rows.join("\n"));
    }
    assert!(seen.contains("\u{1b}[35mfn\u{1b}[0m"), "code has no colour: {seen:?}");
}

#[test]
fn run_and_print_lay_it_out_too_on_a_terminal() {
    for args in [["run", "tell"], ["-p", "tell"]] {
        let home = colored(&[streamed(ANSWER, 5)]);
        let rows = screen(&home.on_terminal(args).ended().ends_with(0).stdout, 100);
        has_block(&rows, &LAID_OUT[..18]);
        assert_eq!(count(&rows, "The end 🎉."), 1, "{}", rows.join("\n"));
    }
}

#[test]
fn a_pipe_gets_the_text_as_the_model_wrote_it() {
    for args in [["run", "tell"], ["-p", "tell"]] {
        let told = colored(&[streamed(ANSWER, 5)]).run(args).ends_with(0);
        assert_eq!(told.stdout, format!("{ANSWER}\n"));
    }
}

#[test]
fn no_color_leaves_the_layout_and_dumb_leaves_no_codes() {
    let home = colored(&[streamed(ANSWER, 5)]).with("NO_COLOR", "1");
    let seen = home.on_terminal(["-p", "tell"]).ended().ends_with(0).stdout;
    assert!(seen.contains("\u{1b}[1mbold") && !seen.contains("\u{1b}[3"), "{seen:?}");
    let home = colored(&[streamed(ANSWER, 5)]).with("TERM", "dumb");
    let seen = home.on_terminal(["-p", "tell"]).ended().ends_with(0).stdout;
    assert!(!seen.contains('\u{1b}') && seen.contains("# Result"), "{seen:?}");
}

/// Two thousand lines: prose, lists, tables and code, each part with a number of its own.
fn long_answer() -> String {
    let part = |n: usize| {
        format!(
            "## Part {n:04}\n\nWords of part {n:04}w that are long enough to be wrapped where the \
             terminal is narrow, 以及中文。\n\n- one {n:04}a\n- two {n:04}b\n\n| key | value |\n\
             |---|---|\n| row {n:04}c | {n} |\n\n```py\nx = \"{n:04}d\"\n```\n\n"
        )
    };
    (0..134).map(part).collect()
}

/// After which part the terminal gets how many columns.
const RESIZES: [(&str, u16); 3] = [("0020d", 60), ("0060d", 120), ("0090d", 80)];

#[test]
fn two_thousand_lines_stream_once_and_in_order_while_the_terminal_is_resized() {
    let text = long_answer();
    assert!(text.lines().count() >= 1990, "{}", text.lines().count());
    // A terminal that does not wrap anew what is on its screen, as the parser does not.
    let home = colored(&[streamed(&text, 61)]).with("XTERM_VERSION", "XTerm(1)");
    let mut chat = chat_says(&home, "tell");
    for (part, columns) in RESIZES {
        chat.until(part);
        chat.resize(columns);
    }
    // As wide as it ever was: what was on its way for the old width is no other line then.
    let text = screen(&leave(chat), 120).join("\n");
    let mut from = 0;
    for n in 0..134 {
        for letter in ["w", "a", "b", "c", "d"] {
            let mark = format!("{n:04}{letter}");
            assert_eq!(text.matches(&mark).count(), 1, "{mark} in:\n{text}");
            let at = text.find(&mark).unwrap();
            assert!(at >= from, "{mark} is out of order:\n{text}");
            from = at;
        }
    }
}

#[test]
fn finished_lines_come_before_the_end_and_stay_after_a_cancel() {
    let text: String = (0..400).map(|n| format!("Sentence {n:03} of the answer.\n\n")).collect();
    let home = colored(&[paced(&text, 20)]);
    let mut chat = chat_says(&home, "tell");
    chat.until("Sentence 010 of").presses(CTRL_C);
    let rows = screen(&leave_after(chat, "canceled ·"), 100);
    for n in 0..10 {
        let words = format!("Sentence {n:03} of the answer.");
        assert_eq!(count(&rows, &words), 1, "{}", rows.join("\n"));
    }
    assert!(count(&rows, "Sentence 010") >= 1, "the tail is gone: {}", rows.join("\n"));
}

#[test]
fn words_before_a_call_stay_and_the_call_reads_as_a_command() {
    let call = json!({"text": "I look at the folder first.", "chunk": 6,
        "calls": [{"tool": "shell", "args": {"command": "printf '%s\\n' 1 2 3 4 5 6 7"}}]});
    let home = colored(&[call, says("Seven lines.")]);
    let mut chat = home.on_terminal(["chat", "--yes"]);
    chat.until(PROMPT).types("count");
    let rows = screen(&leave(chat), 100);
    has_block(
        &rows,
        &[
            "I look at the folder first.",
            "→ $ printf '%s\\n' 1 2 3 4 5 6 7",
            "  ✔ 1",
            "    2",
            "    3",
            "    … 4 more lines (Ctrl-O shows all)",
            "Seven lines.",
        ],
    );
    assert_eq!(count(&rows, "I look at the folder first."), 1, "{}", rows.join("\n"));
    assert_eq!(count(&rows, "{\""), 0, "raw JSON: {}", rows.join("\n"));
}

#[test]
fn the_result_of_a_call_that_was_allowed_is_shown() {
    let call = calls("shell", json!({"command": "echo so-it-is"}));
    let home = colored(&[call, says("It is.")]);
    let mut chat = chat_says(&home, "look");
    chat.until("[y]").until("› ").types("y");
    let rows = screen(&leave(chat), 100);
    has_block(&rows, &["  ✔ so-it-is", "It is."]);
}

#[test]
fn a_running_command_shows_its_last_lines_and_the_status_says_it() {
    let command = "printf 'tail-%d\\n' 1 2 3 4 5 6 7; cat gate";
    let home = colored(&[calls("shell", json!({"command": command})), says("Open.")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut chat = home.on_terminal(["chat", "--yes"]);
    chat.until(PROMPT).types("wait");
    chat.until("tail-7").until("running: $ printf").until("--yes");
    let rows = screen(&chat.seen, 100);
    assert_eq!(count(&rows, "tail-4"), 1, "{}", rows.join("\n"));
    assert_eq!(count(&rows, "tail-3"), 0, "only the last lines: {}", rows.join("\n"));
    std::fs::write(home.work("gate"), "go\n").unwrap();
    leave(chat);
}

#[test]
fn reasoning_is_one_line_and_unfolds() {
    let thought = json!({"text": "Forty-two.", "reasoning": "Let me think.\nSix times seven."});
    let call = json!({"reasoning": "First I look.", "calls":
        [{"tool": "shell", "args": {"command": "cat gate"}}]});
    let home = colored(&[call, thought]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut chat = home.on_terminal(["chat", "--yes"]);
    chat.until(PROMPT).types("what");
    chat.until("✻ thought").until("cat gate").presses(CTRL_O);
    chat.until("First I look.");
    std::fs::write(home.work("gate"), "go\n").unwrap();
    let rows = screen(&leave(chat), 100);
    assert_eq!(count(&rows, "✻ thought"), 2, "{}", rows.join("\n"));
    assert_eq!(count(&rows, "Six times seven"), 0, "{}", rows.join("\n"));
}

#[test]
fn nothing_that_a_model_or_a_command_writes_steers_the_terminal() {
    let hostile =
        "a\u{1b}[2Jb\u{1b}]0;owned\u{7}c \u{9b}31m \u{202e}txt \u{1b}]8;;http://evil\u{1b}\\x";
    let args = json!({"command": "printf 'out\\033[2J\\033]0;owned\\007put\\n'"});
    let home = colored(&[calls("shell", args), streamed(hostile, 3)]);
    let mut chat = home.on_terminal(["chat", "--yes"]);
    chat.until(PROMPT).types("go");
    let seen = leave(chat);
    for code in ["\u{1b}[2J", "\u{1b}]0;", "\u{7}", "\u{9b}", "\u{202e}", "\u{1b}]8;;http://evil"] {
        assert!(!seen.contains(code), "{code:?} in {seen:?}");
    }
}

#[test]
fn wide_characters_emoji_and_right_to_left_text_keep_their_lines() {
    let text = format!(
        "{}\n\n{}\n\n{}\n\n{}",
        "今天天气很好，我们一起去公园散步吧。".repeat(9),
        "👩‍👩‍👧‍👦 family 🎉 party ".repeat(9),
        "שלום עולם זה טקסט מימין לשמאל ".repeat(6),
        "see ~/.config/everloop/config.toml and EVERLOOP_MODEL ".repeat(4),
    );
    let home = colored(&[streamed(&text, 4)]);
    let mut chat = home.on_terminal(["chat"]);
    chat.resize(60);
    chat.until(PROMPT).types("tell");
    let rows = screen(&leave(chat), 60);
    for row in &rows {
        assert!(!row.starts_with(['，', '。']), "{row}");
    }
    let text = rows.join("\n");
    assert_eq!(text.matches('公').count(), 9, "{text}");
    assert_eq!(text.matches("~/.config/everloop/config.toml").count(), 4, "{text}");
    assert_eq!(text.matches("EVERLOOP_MODEL").count(), 4, "{text}");
    assert_eq!(text.matches("שלום").count(), 6, "{text}");
}

/// A link and bold text take less room once their marks close.
#[test]
fn no_word_of_a_streamed_answer_is_lost_on_a_narrow_terminal() {
    let word = |n: usize| format!("w{n:03}x");
    let marked = |n: usize| match n % 12 {
        0 => format!("**{}**", word(n)),
        3 => format!("`{}`", word(n)),
        6 => format!("[{}](https://e.example/{n})", word(n)),
        9 => format!("*{}*", word(n)),
        _ => word(n),
    };
    let text = (0..300).map(marked).collect::<Vec<_>>().join(" ");
    let home = colored(&[streamed(&text, 4)]);
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT).resize(60);
    chat.types("many words");
    let seen = leave_after(chat, "succeeded");
    let shown = screen(&seen, 60).join(" ");
    for n in 0..300 {
        assert_eq!(shown.matches(&word(n)).count(), 1, "{}: {shown}", word(n));
    }
}

#[test]
fn the_agenda_breaks_no_word_on_a_narrow_terminal_in_colour() {
    let home = colored(&[]);
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT).resize(60);
    let title = "prepare the quarterly presentation about international cooperation programmes";
    chat.types(&format!("/todo add {title} --due \"2090-01-01 10:00\"")).until("#1").until(PROMPT);
    chat.presses(CTRL_D);
    let seen = chat.ended().ends_with(0).stdout;
    let rows = screen(&seen, 60);
    let from = rows.iter().rposition(|row| row.contains("#1")).unwrap();
    let words: Vec<&str> = rows[from..].iter().flat_map(|row| row.split_whitespace()).collect();
    for word in title.split(' ') {
        assert!(words.contains(&word), "{word}: {rows:#?}");
    }
}
