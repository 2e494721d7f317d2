//! The routes, by what they are about. Each one reads, calls the application, and answers.

pub(crate) mod agenda;
pub(crate) mod agenda_files;
pub(crate) mod artifacts;
pub(crate) mod audit;
pub(crate) mod catalog;
pub(crate) mod compare;
pub(crate) mod conversation_events;
pub(crate) mod conversations;
mod cursor;
pub(crate) mod event_stream;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod hooks;
pub(crate) mod interrupts;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod openai;
mod openai_input;
mod openai_stream;
pub(crate) mod records;
pub(crate) mod run_actions;
pub(crate) mod runs;
pub(crate) mod schedules;
mod shapes;

use crate::problem::{Problem, ProblemCode};
use everloop_types::{ConversationId, RunId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Items of one page where nobody says how many.
const PAGE_DEFAULT: usize = 50;
const PAGE_MAX: usize = 200;

/// Bytes of the longest uid of an entry that is looked up.
const ENTRY_UID_MAX: usize = 512;

/// How many items a page has.
///
/// # Errors
/// If it is none, or too many.
pub(crate) fn page_size(limit: Option<usize>) -> Result<usize, Problem> {
    match limit.unwrap_or(PAGE_DEFAULT) {
        size @ 1..=PAGE_MAX => Ok(size),
        _ => Err(Problem::of_field("limit", format!("1 to {PAGE_MAX}"))),
    }
}

/// One page of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListPage<T> {
    /// The items.
    pub(crate) data: Vec<T>,
    /// Where the next page begins; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

/// A JSON object whose fields are described in the manual.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct JsonObject(pub(crate) Value);

/// An id is checked before anything is looked up: one that cannot exist is not found.
///
/// # Errors
/// [`ProblemCode::NotFound`].
pub(crate) fn run_id(given: &str) -> Result<RunId, Problem> {
    checked_id(given, "run_").map(RunId::new)
}

/// The same for a conversation. That of an entry of the schedule may be named after the entry,
/// whose own id has the form of a mail address, or came with a file and may hold anything.
///
/// # Errors
/// [`ProblemCode::NotFound`].
pub(crate) fn conversation_id(given: &str) -> Result<ConversationId, Problem> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let fits = match given.strip_prefix("conv_schedule_") {
        Some(uid) => uid.len() <= ENTRY_UID_MAX && !uid.contains(char::is_control),
        None => given.starts_with("conv_") && given.len() <= 64 && given.bytes().all(is_plain),
    };
    if fits { Ok(ConversationId::new(given)) } else { Err(ProblemCode::NotFound.bare()) }
}

/// The same for any kind of id.
pub(crate) fn checked_id<'a>(given: &'a str, prefix: &str) -> Result<&'a str, Problem> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let fits = given.starts_with(prefix) && given.len() <= 64 && given.bytes().all(is_plain);
    if fits { Ok(given) } else { Err(ProblemCode::NotFound.bare()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conversation_of_an_entry_is_looked_up_whatever_its_uid_holds_and_no_other_odd_id() {
        let uids = ["0123456789abcdef01234567", "schedule_01k@everloop", "{A-1}/é b@example.com"];
        for uid in uids {
            let id = format!("conv_schedule_{uid}");
            assert_eq!(conversation_id(&id).unwrap().as_str(), id);
        }
        assert!(conversation_id("conv_01k").is_ok());
        let long = format!("conv_schedule_{}", "x".repeat(ENTRY_UID_MAX + 1));
        for odd in ["", "run_1", "conv_a@b", "conv_a b", "conv_schedule_a\0", &long] {
            assert!(conversation_id(odd).is_err(), "{odd:?}");
        }
    }
}
