//! A line that is typed without being shown.

use crate::terminal;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::io::Write;

/// What came of it.
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C or Ctrl-D.
    GivenUp,
}

/// Gives the terminal back, also when something goes wrong in between.
struct Raw;

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
        terminal::complain("");
    }
}

/// Asks and reads one line without showing it. Blocks.
///
/// In raw mode even Ctrl-C is a key, so that no way out leaves the terminal mute.
pub(crate) fn ask(prompt: &str) -> Typed {
    if enable_raw_mode().is_err() {
        return Typed::GivenUp;
    }
    let _raw = Raw;
    // After the switch: whoever sees the prompt can type unseen.
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "{prompt}").and_then(|()| out.flush());
    drop(out);
    let mut line = String::new();
    loop {
        match read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => match taken(&key) {
                Taken::Char(c) => line.push(c),
                Taken::Back => drop(line.pop()),
                Taken::End => return Typed::Line(line),
                Taken::GiveUp => return Typed::GivenUp,
                Taken::Nothing => {}
            },
            Ok(Event::Paste(text)) => line.push_str(&text),
            Ok(_) => {}
            Err(_) => return Typed::GivenUp,
        }
    }
}

enum Taken {
    Char(char),
    Back,
    End,
    GiveUp,
    Nothing,
}

fn taken(key: &KeyEvent) -> Taken {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if control => Taken::GiveUp,
        // A newline without a return, as some terminals paste it.
        KeyCode::Char('j') if control => Taken::End,
        KeyCode::Char(c) if !control => Taken::Char(c),
        KeyCode::Backspace => Taken::Back,
        KeyCode::Enter => Taken::End,
        _ => Taken::Nothing,
    }
}
