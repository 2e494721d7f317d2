//! The vocabulary of Everloop: what a run, an effect, an event and an outcome are.
//!
//! Data only. Deliberately absent: clocks, files, sockets, randomness, text for users.

mod choice;
mod digest;
mod effect;
mod event;
mod frame;
mod ids;
pub mod journal;
mod labels;
mod message;
mod pattern;
pub mod planted;
mod policy;
mod progress;
mod run;
mod schema;
mod standing;
mod todo;
mod words;
mod write;

pub use choice::*;
pub use digest::{digest_bytes, digest_json};
pub use effect::*;
pub use event::*;
pub use frame::*;
pub use ids::*;
pub use labels::*;
pub use message::*;
pub use pattern::{host_of, path_fits, path_within};
pub use policy::*;
pub use progress::*;
pub use run::*;
pub use schema::check_args;
pub use standing::*;
pub use todo::{TODO_WRITE, TodoList};
pub use words::*;
pub use write::*;
