//! The vocabulary of Everloop: what a run, an effect, an event and an outcome are.
//!
//! Data only. Deliberately absent: clocks, files, sockets, randomness, text for users.

mod digest;
mod effect;
mod event;
mod frame;
mod ids;
pub mod journal;
mod message;
pub mod planted;
mod progress;
mod run;
mod schema;
mod todo;
mod words;
mod write;

pub use digest::{digest_bytes, digest_json};
pub use effect::*;
pub use event::*;
pub use frame::*;
pub use ids::*;
pub use message::*;
pub use progress::*;
pub use run::*;
pub use schema::check_args;
pub use todo::{TODO_WRITE, TodoList};
pub use words::*;
pub use write::*;
