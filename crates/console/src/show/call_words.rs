//! A tool call in words of the person's language; `app` has the words of each tool.

use crate::console::Console;
use everloop_app::call_words;

/// A call on one line: `$ cargo test`, `read poem.txt`.
pub(crate) fn call_line(app: &Console, tool: &str, arguments: &str) -> String {
    call_words::call_words(app.lang, tool, arguments)
}
