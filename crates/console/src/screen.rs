//! The screen of a chat: what is printed while it is open goes above its live area, whoever prints.
//!
//! There is one terminal, so there is one screen. While it is suspended, or none is open, lines go
//! to the terminal as they do for every other command.

use everloop_terminal::{InputLayout, ReaderSwitch, Screen};
use rustix::termios::{OptionalActions, OutputModes, tcgetattr, tcsetattr};
use std::io::{Stdout, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tells the terminal to send Shift with Enter, and to stop doing so.
const KEYS_BEGIN: &str = "\u{1b}[>1u";
const KEYS_END: &str = "\u{1b}[<u";

/// A paste comes in one piece, whose line ends send nothing.
const PASTE_BEGIN: &str = "\u{1b}[?2004h";
const PASTE_END: &str = "\u{1b}[?2004l";

static OPEN: Mutex<Option<OpenScreen>> = Mutex::new(None);

struct OpenScreen {
    screen: Screen<Stdout>,
    /// How many others have the terminal for themselves.
    suspended: usize,
    switch: Option<ReaderSwitch>,
    /// Whether the terminal gives single keys meanwhile.
    has_keys: bool,
}

fn open_screen() -> MutexGuard<'static, Option<OpenScreen>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something with the screen, if one is open and nobody else has the terminal.
fn with_screen<T>(act: impl FnOnce(&mut Screen<Stdout>) -> T) -> Option<T> {
    let mut open = wait_for_screen()?;
    let open = open.as_mut().filter(|open| open.suspended == 0)?;
    open.screen.resize(size());
    Some(act(&mut open.screen))
}

/// Whoever panics while they draw cannot have the screen a second time; their words go past it.
fn wait_for_screen() -> Option<MutexGuard<'static, Option<OpenScreen>>> {
    if !std::thread::panicking() {
        return Some(open_screen());
    }
    OPEN.try_lock().ok()
}

fn size() -> (u16, u16) {
    crossterm::terminal::size().unwrap_or((80, 24))
}

/// A terminal that gives single keys and has a screen. Dropped, it is as it was.
pub struct ScreenTerminal;

impl ScreenTerminal {
    /// Takes the terminal.
    pub fn open() -> Self {
        mend_output();
        begin_keys();
        let screen = Screen::new(std::io::stdout(), size(), rewraps());
        *open_screen() = Some(OpenScreen { screen, suspended: 0, switch: None, has_keys: true });
        Self
    }

    /// Who reads the keys.
    pub fn set_reader(&self, switch: ReaderSwitch) {
        if let Some(open) = open_screen().as_mut() {
            open.switch = Some(switch);
        }
    }
}

impl Drop for ScreenTerminal {
    fn drop(&mut self) {
        close();
    }
}

/// Gives the terminal back for good.
fn close() {
    let open = wait_for_screen().and_then(|mut open| open.take());
    if let Some(mut open) = open {
        let _ = open.screen.erase();
        if open.has_keys {
            end_keys();
        }
    }
}

/// A screen for somebody who only looks on: keys and signals are as they were.
pub(crate) struct LiveScreen;

impl LiveScreen {
    /// None where another screen is open.
    pub(crate) fn open() -> Option<Self> {
        let mut open = open_screen();
        if open.is_some() {
            return None;
        }
        let screen = Screen::new(std::io::stdout(), size(), rewraps());
        *open = Some(OpenScreen { screen, suspended: 0, switch: None, has_keys: false });
        Some(Self)
    }
}

impl Drop for LiveScreen {
    fn drop(&mut self) {
        close();
    }
}

fn begin_keys() {
    // Without single keys a person can still look on, and Ctrl-C comes as a signal.
    let _ = crossterm::terminal::enable_raw_mode();
    let mut out = std::io::stdout().lock();
    let keys = if has_rich_keys() { KEYS_BEGIN } else { "" };
    let _ = write!(out, "{PASTE_BEGIN}{keys}").and_then(|()| out.flush());
}

fn end_keys() {
    let mut out = std::io::stdout().lock();
    let keys = if has_rich_keys() { KEYS_END } else { "" };
    let _ = write!(out, "{keys}{PASTE_END}\u{1b}[?25h").and_then(|()| out.flush());
    let _ = crossterm::terminal::disable_raw_mode();
}

/// A program that was killed here may have left lines that begin where the last ended.
fn mend_output() {
    if let Ok(mut modes) = tcgetattr(std::io::stdin()) {
        modes.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &modes);
    }
}

/// Terminals that are known to tell Shift-Enter from Enter when asked to.
fn has_rich_keys() -> bool {
    let has = |name: &str, known: &[&str]| {
        std::env::var(name).is_ok_and(|value| known.iter().any(|one| value.contains(one)))
    };
    has("TERM", &["kitty", "ghostty", "foot", "alacritty", "wezterm"])
        || has("TERM_PROGRAM", &["WezTerm", "ghostty", "iTerm", "vscode"])
}

/// Most terminals wrap what is on the screen anew when their width changes; these do not.
fn rewraps() -> bool {
    let is_xterm = std::env::var_os("XTERM_VERSION").is_some();
    let is_plain = std::env::var("TERM").is_ok_and(|term| term == "linux");
    !is_xterm && !is_plain
}

/// Lets lines scroll up above the live area; `false` if no screen is open.
pub(crate) fn print_above(lines: &[String]) -> bool {
    with_screen(|screen| drop(screen.print(lines))).is_some()
}

/// Writes what the terminal obeys and does not show; `false` if no screen is open.
pub(crate) fn send_controls(controls: &str) -> bool {
    with_screen(|screen| drop(screen.write(controls))).is_some()
}

/// Clears the screen; `false` if none is open.
pub fn clear() -> bool {
    with_screen(|screen| drop(screen.clear())).is_some()
}

/// The lines between what scrolls and the input.
pub fn draw_live(lines: Vec<String>) {
    with_screen(|screen| {
        screen.set_live(lines);
        drop(screen.draw());
    });
}

/// The input and the rows below it, made for the columns and rows that there are.
pub fn draw_input(lay_out: impl FnOnce((usize, usize)) -> (Option<InputLayout>, Vec<String>)) {
    with_screen(|screen| {
        let (input, below) = lay_out(screen.room());
        screen.set_input(input, below);
        drop(screen.draw());
    });
}

/// The terminal for somebody else, such as an editor. Dropped, the screen is there again.
pub struct Suspension {
    switch: Option<ReaderSwitch>,
    is_open: bool,
}

/// Takes the live area away and stops reading keys, if a screen is open.
pub fn suspend() -> Suspension {
    let mut open = open_screen();
    let Some(open) = open.as_mut() else { return Suspension { switch: None, is_open: false } };
    open.suspended += 1;
    if open.suspended == 1 {
        open.screen.resize(size());
        let _ = open.screen.erase();
        if let Some(switch) = &open.switch {
            switch.pause();
        }
        if open.has_keys {
            end_keys();
        }
    }
    Suspension { switch: open.switch.clone(), is_open: true }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        let mut open = open_screen();
        let Some(open) = open.as_mut().filter(|_| self.is_open) else { return };
        open.suspended -= 1;
        if open.suspended == 0 {
            if open.has_keys {
                begin_keys();
            }
            if let Some(switch) = &self.switch {
                switch.resume();
            }
            open.screen.resize(size());
            let _ = open.screen.draw();
        }
    }
}
