//! The terminal: who is there, and lines to and from them.

use everloop_app::log::{self, LogLevel};
use everloop_app::secrets;
use everloop_types::turns_text;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, QueueSelector, Termios, tcflush,
    tcgetattr, tcsetattr,
};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, BufReader};

/// Why a line of the answer could not be written; the first reason counts.
static UNWRITTEN: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// Whether a passing line stands on the terminal.
static PASSING: AtomicBool = AtomicBool::new(false);

/// Whether a person can be asked.
pub(crate) fn person_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether what is answered goes to a terminal.
pub(crate) fn answers_are_seen() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether a line on stderr can be taken back.
pub(crate) fn can_rewrite() -> bool {
    std::io::stderr().is_terminal() && !is_dumb()
}

/// Columns of the terminal that answers go to, if they go to one.
pub(crate) fn width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|n| *n > 0)
}

/// Whether colours are wanted: a terminal that can, and nobody who said no.
pub(crate) fn has_colour() -> bool {
    answers_are_seen() && !is_dumb() && std::env::var_os("NO_COLOR").is_none()
}

/// Clears the screen.
pub(crate) fn clear() {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(b"\x1b[2J\x1b[H").and_then(|()| out.flush());
}

/// Makes the terminal ask for attention.
pub(crate) fn ring() {
    if answers_are_seen() {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(b"\x07").and_then(|()| out.flush());
    } else if std::io::stderr().is_terminal() {
        let _ = std::io::stderr().lock().write_all(b"\x07");
    }
}

fn is_dumb() -> bool {
    std::env::var("TERM").is_ok_and(|term| term == "dumb")
}

/// Shows a line that whatever is said next replaces.
///
/// Only one row can be wiped, so the terminal is told to cut the line at its edge instead of
/// wrapping it. Thus no width has to be known, neither the terminal's nor that of a character.
pub(crate) fn pass(line: &str) {
    let mut out = std::io::stderr().lock();
    PASSING.store(true, Ordering::Relaxed);
    let line = secrets::redactor().text(line);
    let whole = format!("\r\x1b[K\x1b[?7l{line}\x1b[?7h");
    let _ = out.write_all(whole.as_bytes()).and_then(|()| out.flush());
}

/// Takes the passing line back, if one stands there.
pub(crate) fn wipe() {
    if PASSING.swap(false, Ordering::Relaxed) {
        let mut out = std::io::stderr().lock();
        let _ = out.write_all(b"\r\x1b[K").and_then(|()| out.flush());
    }
}

/// A line for the person or the log. A closed pipe is no reason to stop working.
pub(crate) fn complain(line: &str) {
    if log::take_line(LogLevel::Info, line) {
        return;
    }
    wipe();
    let line = shown(line, std::io::stderr().is_terminal());
    let _ = write!(std::io::stderr().lock(), "{line}");
}

/// The same for what ends the program.
pub(crate) fn complain_of_end(line: &str) {
    if !log::take_line(LogLevel::Error, line) {
        complain(line);
    }
}

/// A line with its end. A terminal gets nothing that it would obey: no model and no file may move
/// its cursor or set its title. While it gives single keys, a line must also begin at the left.
fn shown(line: &str, on_terminal: bool) -> String {
    let line = &*secrets::redactor().text(line);
    match on_terminal {
        true if crossterm::terminal::is_raw_mode_enabled().unwrap_or(false) => {
            cleaned(line).replace('\n', "\r\n") + "\r\n"
        }
        true => cleaned(line) + "\n",
        // Who reads the pipe may be a terminal in the end. JSON keeps every character it has.
        false if line.starts_with(['{', '[']) => spelled_out(line) + "\n",
        false => cleaned(line) + "\n",
    }
}

/// The text without controls, and with those characters spelled out that would show it in another
/// order.
fn cleaned(line: &str) -> String {
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
pub(crate) fn data(text: &str) {
    let keeps = |c: &char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    let text: String = secrets::redactor().text(text).chars().filter(keeps).collect();
    let mut out = std::io::stdout().lock();
    note_unwritten(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// A terminal that keeps every key as it was pressed until somebody reads it, also between two
/// prompts: otherwise a return key pressed there would end no line, and Ctrl-C would be lost.
/// Dropped, it gives the terminal back as it was, whatever ends the program.
pub(crate) struct KeysKept {
    before: Option<Termios>,
}

impl KeysKept {
    pub(crate) fn begin() -> Self {
        let mut before = tcgetattr(std::io::stdin()).ok();
        if let Some(before) = &mut before {
            // A program that was killed here may have left lines that begin where the last ended.
            before.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
        }
        if let Some(mut modes) = before.clone() {
            modes.input_modes -= InputModes::ICRNL | InputModes::IXON;
            let line = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
            modes.local_modes -= line | LocalModes::IEXTEN;
            // A terminal that refuses works as others do, but for the keys between two prompts.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &modes);
        }
        Self { before }
    }
}

impl Drop for KeysKept {
    fn drop(&mut self) {
        let _ = crossterm::terminal::disable_raw_mode();
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
        let paste = crossterm::event::DisableBracketedPaste;
        let _ = crossterm::execute!(std::io::stdout(), paste, crossterm::cursor::Show);
    }
}

/// A line of the answer.
pub(crate) fn answer(line: &str) {
    wipe();
    let line = shown(line, answers_are_seen());
    let mut out = std::io::stdout().lock();
    note_unwritten(write!(out, "{line}").and_then(|()| out.flush()));
}

/// The answer of a command as one line of JSON, with its fields in alphabetical order.
pub(crate) fn answer_json(value: &impl serde::Serialize) {
    answer(&serde_json::json!(value).to_string());
}

/// Keeps the error of a write to the output until somebody asks for it.
pub(crate) fn note_unwritten(written: std::io::Result<()>) {
    if let Err(error) = written {
        UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Why the answer is not where it should be. Whoever closed the pipe had read enough.
pub(crate) fn unwritten() -> Option<std::io::Error> {
    let error = UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    error.filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe)
}

/// Drops what was typed before anybody asked; whether a whole line was.
pub(crate) fn drop_typed_ahead() -> bool {
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
pub(crate) async fn await_quiet() -> bool {
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
pub(crate) async fn ask(prompt: &str) -> Option<String> {
    {
        wipe();
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "{prompt}").and_then(|()| out.flush());
    }
    let mut line = String::new();
    let mut input = BufReader::new(tokio::io::stdin());
    match input.read_line(&mut line).await {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim().to_owned()),
    }
}

/// Marks for states: symbols where the terminal speaks UTF-8, else ASCII.
pub(crate) struct Marks {
    pub(crate) done: &'static str,
    pub(crate) now: &'static str,
    pub(crate) open: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) skipped: &'static str,
    pub(crate) act: &'static str,
}

/// Whether the locale says that the terminal understands UTF-8.
pub(crate) fn speaks_utf8() -> bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    named.is_some_and(|name| {
        let name = name.to_lowercase();
        name.contains("utf-8") || name.contains("utf8")
    })
}

pub(crate) fn marks() -> Marks {
    if speaks_utf8() && !is_dumb() {
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
