//! The terminal: who is there, and lines to and from them.

use std::io::{IsTerminal, Write};
use tokio::io::{AsyncBufReadExt, BufReader};

/// Whether a person can be asked.
pub(crate) fn person_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// A line for the person or the log. A closed pipe is no reason to stop working.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// A line of the answer.
pub(crate) fn answer(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Asks and reads one line; `None` at the end of input.
pub(crate) async fn ask(prompt: &str) -> Option<String> {
    {
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

pub(crate) fn marks() -> Marks {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let utf8 = named.is_some_and(|name| {
        let name = name.to_lowercase();
        name.contains("utf-8") || name.contains("utf8")
    });
    let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    if utf8 && !dumb {
        Marks { done: "✔", now: "◐", open: "○", failed: "✖", skipped: "⊘", act: "→" }
    } else {
        Marks { done: "[x]", now: "[~]", open: "[ ]", failed: "[!]", skipped: "[-]", act: "->" }
    }
}
