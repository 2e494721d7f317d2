//! A terminal for people: one line editor, a live area at the bottom, a list to choose from.
//!
//! ```text
//!   keys ──KeyReader──► LineEditor ──► EditorEffect         finished lines ──► scrollback
//!                          └── rows ──► Screen (live lines, input, menu) ──► one write a frame
//! ```
//!
//! The editor is pure: it takes key events and says what came of them. The screen writes to any
//! [`std::io::Write`]. Words come from the caller; what a model or a file wrote must be free of
//! controls before it comes here.

mod buffer;
mod editor;
mod history;
mod instant;
mod keys;
mod layout;
mod menu;
mod pick;
mod screen;
mod width;

pub use buffer::EditBuffer;
pub use editor::{EditorEffect, EditorTexts, LineEditor};
pub use history::InputHistory;
pub use instant::{InstantAnswers, InstantStep};
pub use keys::{KeyInput, KeyReader, ReaderSwitch};
pub use layout::{InputLayout, lay_out_input};
pub use menu::{Completion, CompletionMenu, CompletionSource, Completions, NoCompletions};
pub use pick::{PickEffect, PickList, PickRow};
pub use screen::Screen;
pub use width::{clip_line, display_width, grapheme_width};
