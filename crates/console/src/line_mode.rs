//! A terminal that gives whole lines, for a while: in a chat it gives single keys.

use crate::screen::{self, Suspension};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// What Ctrl-C is as a character.
pub(crate) const CTRL_C: char = '\u{3}';

/// While it lives, the terminal shows what is typed and gives it line by line. Ctrl-C ends a line
/// too, so that no question keeps a person who wants to leave it.
pub struct LineMode {
    before: Option<Termios>,
    _screen: Suspension,
}

impl LineMode {
    /// Takes the terminal until it is dropped.
    pub fn begin() -> Self {
        let screen = screen::suspend();
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(mut modes) = before.clone() {
            modes.input_modes |= InputModes::ICRNL;
            modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHOE;
            modes.local_modes -= LocalModes::ISIG;
            modes.special_codes[SpecialCodeIndex::VEOL] = CTRL_C as u8;
            // A terminal that refuses stays as it is: the answer is then typed unseen.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &modes);
        }
        Self { before, _screen: screen }
    }
}

impl Drop for LineMode {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}
