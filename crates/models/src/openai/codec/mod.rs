//! The bytes of `/chat/completions`, both ways. Pure: no sockets, no clocks.
//!
//! ```text
//!   render:  Ask + WirePrompt ──► body
//!   decode:  chunk ──Lines──► data ──Event──► Draft ──► Reply
//! ```

mod calls;
mod decode;
mod event;
mod fault;
mod lines;
mod mend;
mod render;

pub use decode::Decoder;
pub use fault::{refusal, status_kind};
pub use render::{Ask, Dialect, Extra, render};

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod render_tests;
