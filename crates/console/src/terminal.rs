//! The terminal: who is there, and lines to and from them.

use crate::screen;
use everloop_app::log::{self, LogLevel};
use everloop_app::secrets;
use everloop_markdown::{StyledLine, TerminalStyle, Tone, display_width, to_lines};
use everloop_types::turns_text;
use rustix::termios::{QueueSelector, tcflush};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, BufReader};

/// Text is easier to read in lines that are not too long.
const TEXT_WIDTH_MAX: usize = 100;

/// Why a line of the answer could not be written; the first reason counts.
static UNWRITTEN: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// Whether a passing line stands on the terminal.
static PASSING: AtomicBool = AtomicBool::new(false);

/// Whether a person can be asked.
pub fn person_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether what is answered goes to a terminal.
pub fn answers_are_seen() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether a line on stderr can be taken back.
pub fn can_rewrite() -> bool {
    std::io::stderr().is_terminal() && !is_dumb()
}

/// Columns of the terminal.
fn columns() -> Option<usize> {
    crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|n| *n > 0)
}

/// Columns of the terminal that answers go to, if they go to one.
pub fn width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    columns()
}

/// Whether colors are wanted: a terminal that can, and nobody who said no.
pub fn has_color() -> bool {
    answers_are_seen() && !is_dumb() && wants_color()
}

fn wants_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Clears the screen.
pub fn clear() {
    if screen::clear() {
        return;
    }
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(b"\x1b[2J\x1b[H").and_then(|()| out.flush());
}

/// Makes the terminal ask for attention.
pub fn ring() {
    if screen::send_controls("\x07") {
        return;
    }
    if answers_are_seen() {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(b"\x07").and_then(|()| out.flush());
    } else if std::io::stderr().is_terminal() {
        let _ = std::io::stderr().lock().write_all(b"\x07");
    }
}

/// Sends a sequence that moves nothing to the terminal, if there is one that understands any.
pub(crate) fn send_control(sequence: &str) {
    if is_dumb() {
        return;
    }
    let sequence = secrets::redactor().text(sequence);
    if screen::send_controls(&sequence) {
        return;
    }
    if answers_are_seen() {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(sequence.as_bytes()).and_then(|()| out.flush());
    } else if std::io::stderr().is_terminal() {
        let _ = std::io::stderr().lock().write_all(sequence.as_bytes());
    }
}

/// Whether the terminal can show nothing but lines.
pub fn is_dumb() -> bool {
    std::env::var("TERM").is_ok_and(|term| term == "dumb")
}

/// Shows a line that whatever is said next replaces.
///
/// The cursor goes back to the left, where what a key echoes is wiped with the line. Only one row
/// can be wiped, so the terminal is told to cut the line at its edge instead of
/// wrapping it. Thus no width has to be known, neither the terminal's nor that of a character.
pub fn show_transient(line: &str) {
    let mut out = std::io::stderr().lock();
    PASSING.store(true, Ordering::Relaxed);
    let line = secrets::redactor().text(line);
    let whole = format!("\r\x1b[K\x1b[?7l{line}\x1b[?7h\r");
    let _ = out.write_all(whole.as_bytes()).and_then(|()| out.flush());
}

/// Takes the passing line back, if one stands there.
pub fn clear_transient() {
    if PASSING.swap(false, Ordering::Relaxed) {
        let mut out = std::io::stderr().lock();
        let _ = out.write_all(b"\r\x1b[K").and_then(|()| out.flush());
    }
}

/// A line for the person or the log. A closed pipe is no reason to stop working.
pub fn eprint_line(line: &str) {
    if log::take_line(LogLevel::Info, line) {
        return;
    }
    if print_on_screen(line) {
        return;
    }
    clear_transient();
    let line = shown(line, std::io::stderr().is_terminal());
    let _ = write!(std::io::stderr().lock(), "{line}");
}

/// Shows a line above the live area of a chat; `false` if none is open.
fn print_on_screen(line: &str) -> bool {
    let line = wrapped(&cleaned(&secrets::redactor().text(line)));
    screen::print_above(&line.split('\n').map(str::to_owned).collect::<Vec<_>>())
}

/// The same for what ends the program: what went wrong in its color, what can be done below it.
pub fn eprint_fatal(words: &str) {
    if log::take_line(LogLevel::Error, words) {
        return;
    }
    if !std::io::stderr().is_terminal() || words.starts_with(['{', '[']) {
        return eprint_line(words);
    }
    error_lines(words).iter().for_each(eprint_styled);
}

/// An error among answers.
pub fn print_error(words: &str) {
    error_lines(words).iter().for_each(print_styled);
}

fn error_lines(words: &str) -> Vec<StyledLine> {
    let tone = |at| if at == 0 { Tone::Bad } else { Tone::Plain };
    let line = |(at, line): (usize, &str)| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        StyledLine::new(tone(at), line).hanging(indent)
    };
    words.split('\n').enumerate().map(line).collect()
}

/// A line with its end. A terminal gets nothing that it would obey: no model and no file may move
/// its cursor or set its title. While it gives single keys, a line must also begin at the left.
fn shown(line: &str, on_terminal: bool) -> String {
    let line = &*secrets::redactor().text(line);
    match on_terminal {
        true if crossterm::terminal::is_raw_mode_enabled().unwrap_or(false) => {
            wrapped(&cleaned(line)).replace('\n', "\r\n") + "\r\n"
        }
        true => wrapped(&cleaned(line)) + "\n",
        // Who reads the pipe may be a terminal in the end. JSON keeps every character it has.
        false if line.starts_with(['{', '[']) => spelled_out(line) + "\n",
        false => cleaned(line) + "\n",
    }
}

/// The text with lines that are no wider than the terminal; JSON and data stay as they are.
pub fn wrapped(text: &str) -> String {
    let Some(width) = columns().filter(|_| !text.starts_with(['{', '['])) else {
        return text.to_owned();
    };
    let lines = text.split('\n').map(|line| wrapped_line(line, width));
    lines.collect::<Vec<_>>().join("\n")
}

/// Words that do not fit go below the beginning of the line's text.
fn wrapped_line(line: &str, width: usize) -> String {
    if display_width(line) <= width {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let inner = TerminalStyle { width: width.saturating_sub(indent).max(10), ..PLAIN };
    let text = StyledLine::new(Tone::Plain, &line[indent..]);
    let margin = " ".repeat(indent);
    let lines = text.lines(&inner).into_iter().map(|line| format!("{margin}{line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The text without controls, and with those characters spelled out that would show it in another
/// order.
pub fn cleaned(line: &str) -> String {
    let line = everloop_tools::clean(line.as_bytes());
    if !line.contains(turns_text) {
        return line;
    }
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match turns_text(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

/// The same text with the controls that JSON lets through in the form that JSON has for them.
fn spelled_out(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() || turns_text(c) => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)))
            }
            c => out.push(c),
        }
    }
    out
}

/// The content of a file of another program: its ends of lines stay as they are.
pub fn data(text: &str) {
    let keeps = |c: &char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    let text: String = secrets::redactor().text(text).chars().filter(keeps).collect();
    let mut out = std::io::stdout().lock();
    note_unwritten(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// A line of the answer.
pub fn print_line(line: &str) {
    if print_on_screen(line) {
        return;
    }
    clear_transient();
    let line = shown(line, answers_are_seen());
    let mut out = std::io::stdout().lock();
    note_unwritten(write!(out, "{line}").and_then(|()| out.flush()));
}

/// The answer of a command as one line of JSON, with its fields in alphabetical order.
pub fn print_json(value: &impl serde::Serialize) {
    print_line(&serde_json::json!(value).to_string());
}

/// Text without any look.
const PLAIN: TerminalStyle =
    TerminalStyle { width: usize::MAX, color: false, emphasis: false, links: false, unicode: true };

/// How lines of the program look on the terminal that one of these streams is.
fn own_style(is_terminal: bool) -> TerminalStyle {
    let width = columns().unwrap_or(80);
    let emphasis = is_terminal && !is_dumb();
    let color = emphasis && wants_color();
    TerminalStyle { width, color, emphasis, links: false, unicode: has_symbols() }
}

/// How lines of the program look where answers go.
pub fn line_style() -> TerminalStyle {
    own_style(answers_are_seen())
}

/// A line of progress with its look; a log and a pipe get its text.
pub fn eprint_styled(line: &StyledLine) {
    let is_terminal = std::io::stderr().is_terminal();
    if !is_terminal {
        return eprint_line(&line.plain());
    }
    if log::take_line(LogLevel::Info, &line.plain()) {
        return;
    }
    clear_transient();
    let end = line_end();
    let lines = painted(line, &own_style(true));
    if screen::print_above(&lines) {
        return;
    }
    let lines = lines.into_iter().map(|line| line + end);
    let _ = write!(std::io::stderr().lock(), "{}", lines.collect::<String>());
}

/// A line among answers with its look; a pipe gets its text.
pub fn print_styled(line: &StyledLine) {
    if !answers_are_seen() {
        return print_line(&line.plain());
    }
    painted(line, &line_style()).iter().for_each(|line| print_painted(line));
}

/// The line, wrapped and painted.
fn painted(line: &StyledLine, style: &TerminalStyle) -> Vec<String> {
    let line = line.clone().map_text(|text| secrets::redactor().text(&cleaned(text)).into_owned());
    line.lines(style)
}

/// While the terminal gives single keys, a line must also begin at the left.
fn line_end() -> &'static str {
    if crossterm::terminal::is_raw_mode_enabled().unwrap_or(false) { "\r\n" } else { "\n" }
}

/// How Markdown is shown here; none where nobody looks, so that programs get what was written.
pub fn markdown_style() -> Option<TerminalStyle> {
    let width = width()?.saturating_sub(1).clamp(20, TEXT_WIDTH_MAX);
    let color = has_color();
    let emphasis = !is_dumb();
    let links = emphasis && shows_links(&|name| std::env::var(name).ok());
    Some(TerminalStyle { width, color, emphasis, links, unicode: has_symbols() })
}

/// Whether the terminal is known to understand links. Others show the address instead.
fn shows_links(read: &dyn Fn(&str) -> Option<String>) -> bool {
    const PROGRAMS: [&str; 8] =
        ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "WarpTerminal"];
    const TERMS: [&str; 5] = ["xterm-kitty", "alacritty", "foot", "xterm-ghostty", "contour"];
    // Inside tmux and screen it depends on the terminal around them.
    if read("TMUX").is_some() || read("STY").is_some() {
        return false;
    }
    let is_program = read("TERM_PROGRAM").is_some_and(|name| PROGRAMS.contains(&name.as_str()));
    let is_term = read("TERM").is_some_and(|name| TERMS.contains(&name.as_str()));
    let vte = read("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    let is_vte = vte.is_some_and(|version| version >= 5000);
    let is_other = ["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION"];
    is_program || is_term || is_vte || is_other.iter().any(|name| read(name).is_some())
}

/// Lines that were made for this terminal, with their colors. They have no other controls.
pub fn print_painted_lines(lines: &[String]) {
    if !screen::print_above(lines) {
        lines.iter().for_each(|line| print_painted(line));
    }
}

/// The same for one.
pub fn print_painted(line: &str) {
    if screen::print_above(&[line.to_owned()]) {
        return;
    }
    clear_transient();
    let line = secrets::redactor().text(line);
    let end = line_end();
    let mut out = std::io::stdout().lock();
    note_unwritten(write!(out, "{line}{end}").and_then(|()| out.flush()));
}

/// An answer: laid out for a person, as it was written for a program.
pub fn print_markdown(text: &str) {
    let Some(style) = markdown_style() else { return print_line(text) };
    let text = secrets::redactor().text(text).into_owned();
    let text = everloop_tools::clean(text.as_bytes());
    print_painted_lines(&to_lines(&text, &style));
}

/// An answer among other words: laid out for a person, without a look, as it was written for a
/// program.
pub fn laid_out(text: &str) -> String {
    match markdown_style() {
        Some(style) => {
            let style = TerminalStyle { color: false, emphasis: false, links: false, ..style };
            to_lines(text, &style).join("\n")
        }
        None => text.to_owned(),
    }
}

/// Keeps the error of a write to the output until somebody asks for it.
pub fn note_unwritten(written: std::io::Result<()>) {
    if let Err(error) = written {
        UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Why the answer is not where it should be. Whoever closed the pipe had read enough.
pub fn unwritten() -> Option<std::io::Error> {
    let error = UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    error.filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe)
}

/// Drops what was typed before anybody asked; whether a whole line was.
pub fn drop_typed_ahead() -> bool {
    let stdin = std::io::stdin();
    let waits = rustix::io::ioctl_fionread(&stdin).is_ok_and(|count| count > 0);
    // A terminal that refuses keeps its line: the question is then asked with it.
    let _ = tcflush(&stdin, QueueSelector::IFlush);
    waits
}

/// How long nothing may have been typed before a question that allows something is asked.
const QUIET: std::time::Duration = std::time::Duration::from_millis(120);

/// Looks for that long, at most.
const QUIET_LOOKS_MAX: usize = 25;

/// Drops what was typed before anybody asked, until nobody types any more: a paste comes line by
/// line, and none of its lines is an answer. Whether anything was dropped.
pub async fn await_quiet() -> bool {
    let mut dropped = drop_typed_ahead();
    for _ in 0..QUIET_LOOKS_MAX {
        tokio::time::sleep(QUIET).await;
        if !drop_typed_ahead() {
            break;
        }
        dropped = true;
    }
    dropped
}

/// Asks and reads one line; `None` at the end of input.
pub async fn ask(prompt: &str) -> Option<String> {
    let _own = screen::suspend();
    {
        clear_transient();
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "{prompt}").and_then(|()| out.flush());
    }
    let mut line = String::new();
    let mut input = BufReader::new(tokio::io::stdin());
    match input.read_line(&mut line).await {
        Ok(0) | Err(_) => None,
        // Ctrl-C, where the terminal gives it as a character.
        Ok(_) if line.ends_with(crate::line_mode::CTRL_C) => {
            eprint_line("");
            None
        }
        Ok(_) => Some(line.trim().to_owned()),
    }
}

/// Marks for states: symbols where the terminal speaks UTF-8, else ASCII.
pub struct Marks {
    /// It is done.
    pub done: &'static str,
    /// It is worked on.
    pub now: &'static str,
    /// It is still to be done.
    pub open: &'static str,
    /// It failed.
    pub failed: &'static str,
    /// It was left out or denied.
    pub skipped: &'static str,
    /// A call of a tool.
    pub act: &'static str,
}

/// Whether the locale says that the terminal understands UTF-8.
pub fn speaks_utf8() -> bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    named.is_some_and(|name| {
        let name = name.to_lowercase();
        name.contains("utf-8") || name.contains("utf8")
    })
}

/// Whether the terminal has more than letters: boxes, arrows, marks.
fn has_symbols() -> bool {
    speaks_utf8() && !is_dumb()
}

/// The marks of this terminal.
pub fn marks() -> Marks {
    if has_symbols() {
        Marks { done: "✔", now: "◐", open: "○", failed: "✖", skipped: "⊘", act: "→" }
    } else {
        Marks { done: "[x]", now: "[~]", open: "[ ]", failed: "[!]", skipped: "[-]", act: "->" }
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn no_escape_leaves_also_through_a_pipe() {
        let evil = "a\u{1b}]0;title\u{7}b\u{9b}2Jc\u{1b}[31md\tlast";
        for on_terminal in [true, false] {
            let line = shown(evil, on_terminal);
            assert_eq!(line, "abcd\tlast\n");
        }
        assert_eq!(shown("a\u{202e}b", true), "a\\u{202e}b\n");
        let evil = format!("{evil}\u{202e}");
        let json = serde_json::json!({"text": evil}).to_string();
        let piped = shown(&json, false);
        assert!(!piped.trim_end().contains(char::is_control), "{piped}");
        assert!(!piped.contains('\u{202e}'), "{piped}");
        let read: serde_json::Value = serde_json::from_str(&piped).expect("it is still JSON");
        assert_eq!(read["text"], evil);
    }
}
