//! The clipboard of whoever looks at the terminal, also over a connection: OSC 52.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use everloop_app::secrets;
use everloop_console::show::grouped;
use everloop_console::{Console, terminal};
use everloop_text as text;
use std::io::Write;

/// Terminals take about 100,000 bytes of such a text at most.
const BASE64_BYTES_MAX: usize = 99_000;

/// Puts a text into the clipboard, and says so or why not.
pub(super) fn copy(app: &Console, text: &str) -> String {
    if !terminal::answers_are_seen() {
        return app.text(text::chat::copy_no_terminal());
    }
    let text = secrets::redactor().text(text);
    let encoded = STANDARD.encode(text.as_bytes());
    let count = text.chars().count();
    if encoded.len() > BASE64_BYTES_MAX {
        return app.text(text::chat::copy_too_long(&count));
    }
    let mut out = std::io::stdout().lock();
    let written = write!(out, "\x1b]52;c;{encoded}\x07").and_then(|()| out.flush());
    if let Err(error) = written {
        return app.text(text::error::system(&error));
    }
    app.text(text::chat::copied(&grouped(count as u64)))
}
