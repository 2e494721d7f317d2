//! A line that is typed without being shown.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use everloop_console::terminal;
use std::io::Write;

/// What came of it.
pub(crate) enum HiddenInput {
    Line(String),
    /// Ctrl-C or Ctrl-D.
    GivenUp,
}

/// Gives the terminal back, also when something goes wrong in between.
pub(super) struct RawMode;

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
        terminal::eprint_line("");
    }
}

/// Asks and reads one line without showing it. Blocks.
///
/// In raw mode even Ctrl-C is a key, so that no way out leaves the terminal mute.
pub(crate) fn ask(prompt: &str) -> HiddenInput {
    let _own = everloop_console::screen::suspend();
    if enable_raw_mode().is_err() {
        return HiddenInput::GivenUp;
    }
    let _raw = RawMode;
    // After the switch: whoever sees the prompt can type unseen.
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "{prompt}").and_then(|()| out.flush());
    drop(out);
    let mut line = String::new();
    loop {
        match read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => match taken(&key) {
                HiddenKey::Char(c) => line.push(c),
                HiddenKey::Back => drop(line.pop()),
                HiddenKey::End => return HiddenInput::Line(line),
                HiddenKey::GiveUp => return HiddenInput::GivenUp,
                HiddenKey::Nothing => {}
            },
            Ok(Event::Paste(text)) => line.push_str(&text),
            Ok(_) => {}
            Err(_) => return HiddenInput::GivenUp,
        }
    }
}

pub(super) enum HiddenKey {
    Char(char),
    Back,
    End,
    GiveUp,
    Nothing,
}

pub(super) fn taken(key: &KeyEvent) -> HiddenKey {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if control => HiddenKey::GiveUp,
        // A newline without a return, as some terminals paste it.
        KeyCode::Char('j') if control => HiddenKey::End,
        KeyCode::Char(c) if !control => HiddenKey::Char(c),
        KeyCode::Backspace => HiddenKey::Back,
        KeyCode::Enter => HiddenKey::End,
        _ => HiddenKey::Nothing,
    }
}
