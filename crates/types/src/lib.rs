//! The vocabulary of Everloop: what a run, an effect, an event and an outcome are.
//!
//! Data only. Deliberately absent: clocks, files, sockets, randomness, text for users.

mod budget;
mod digest;
mod effect;
mod event;
mod frame;
mod hidden;
mod ids;
mod instructions;
pub mod journal;
mod labels;
mod limits;
mod mark;
mod markup;
mod message;
mod pattern;
pub mod planted;
mod policy;
mod progress;
mod rare;
mod run;
mod schema;
mod schema_text;
mod standing;
mod tags;
mod todo;
mod words;
mod write;

pub use budget::{Budget, Money};
pub use digest::{digest_bytes, digest_json};
pub use effect::*;
pub use event::*;
pub use frame::*;
pub use hidden::{is_hidden, one_line, spelled, turns_text, visible, visible_call};
pub use ids::*;
pub use instructions::{instructs, is_listed};
pub use labels::*;
pub use limits::*;
pub use mark::{MarkFilter, without_mark};
pub use markup::{begins_as_call, only_markup, written_call, written_calls};
pub use message::*;
pub use pattern::{host_of, path_fits, path_within};
pub use policy::*;
pub use progress::*;
pub use rare::{RARE, without_rare};
pub use run::*;
pub use schema::check_args;
pub use schema_text::schema_text;
pub use standing::*;
pub use tags::{ReplyPiece, TagFilter, without_tags};
pub use todo::{TODO_WRITE, TodoList};
pub use words::*;
pub use write::*;
