//! What is sent to a conversation: it begins a turn, answers, waits, or tells the run that works.
//!
//! A page names its message. However often it is sent, because a connection was cut before the
//! answer came, it is one message.

use super::commands::{self, PageReply};
use super::forms::FormFields;
use super::frame::PageRequest;
use super::queue;
use super::respond::see_other;
use super::uploads::{self, MessageFiles, UploadForm};
use crate::json::{Body, PathOf};
use crate::problem::Problem;
use crate::routes::conversations::find;
use crate::routes::run_actions::{self, SteerRequest};
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_app::conversation::{LineChoice, QueuedLine};
use everloop_app::conversations::ConversationChannel;
use everloop_app::goals::{self, ConversationStart};
use everloop_app::turns::{self, TurnMessage, TurnMode, TurnReceipt, TurnSender};
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_pages::parts::say;
use everloop_text::pages as words;
use everloop_types::{ConversationId, RunId, Status, digest_bytes};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Runs of a conversation that are looked at.
const RUNS_MAX: usize = 200;

/// Messages that are remembered.
const REMEMBERED_MAX: usize = 1_000;

/// The messages that were carried out last. Turns and lines that wait are known without it; this
/// knows commands and words to a run.
#[derive(Default)]
pub(crate) struct SentMessages(Mutex<VecDeque<(ConversationId, String)>>);

impl SentMessages {
    fn remember(&self, conversation: &ConversationId, key: Option<String>) {
        let Some(key) = key else { return };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back((conversation.clone(), key));
        if all.len() > REMEMBERED_MAX {
            all.pop_front();
        }
    }

    fn knows(&self, conversation: &ConversationId, key: &str) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().any(|(there, known)| there == conversation && known == key)
    }
}

/// The name that a page gave to a message: the same name twice is the same message.
fn key_of(fields: &FormFields) -> Option<String> {
    let is_plain = |key: &String| {
        key.len() <= 64 && key.bytes().all(|one| one.is_ascii_alphanumeric() || one == b'-')
    };
    fields.some("key").filter(is_plain)
}

/// The conversation that a message goes to. The first message begins one; sent again, the same.
async fn addressed(
    state: &ServerState,
    request: &PageRequest,
    id: &str,
    key: Option<&str>,
) -> Result<ConversationId, Problem> {
    if id != "new" {
        return Ok(find(state, id).await?.row.id);
    }
    let idem_key = key.map(|key| {
        let session = digest_bytes(request.session_name().as_bytes());
        format!("page:{}:{key}", &session[..24])
    });
    let start = ConversationStart { idem_key, ..ConversationStart::default() };
    let channel = ConversationChannel::Api;
    Ok(goals::begin_conversation(&state.app, state.store(), channel, start).await?.row.id)
}

pub(crate) async fn send(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    request: PageRequest,
    UploadForm { fields, files }: UploadForm,
) -> Result<Response, Problem> {
    let mut said = uploads::with_files(&state, fields.get("text"), files)?;
    if said.text.trim().is_empty() {
        return Ok(see_other(fields.back()));
    }
    let key = key_of(&fields);
    let conversation = addressed(&state, &request, &id, key.as_deref()).await?;
    let to = format!("/chat/{conversation}");
    if is_known(&state, &conversation, key.as_deref()).await? {
        return Ok(see_other(&to));
    }
    let page = format!("chat:{conversation}");
    state.flashes.clear(request.session_name(), &page);
    if let Some(reply) = commands::perform(&state, &request, &conversation, &said.text).await? {
        state.behind.sent.remember(&conversation, key);
        return Ok(match reply {
            PageReply::Go(page) => see_other(&page),
            PageReply::Say(text) => {
                state.flashes.put(request.session_name(), &page, text);
                see_other(&to)
            }
        });
    }
    match door(&state, &conversation, &said).await? {
        SentBy::Steering(run, word) => {
            let steer = SteerRequest { text: word };
            let run = PathOf(run.to_string());
            drop(run_actions::steer_run(State(state.clone()), run, None, Body(steer)).await?);
        }
        SentBy::Queue => {
            let attachments = std::mem::take(&mut said.pictures);
            let (loop_name, model) = (fields.some("loop"), fields.some("model"));
            let choice = LineChoice { loop_name, model, attachments };
            let id = key.clone().unwrap_or_else(|| fresh_id("queued_", SystemClock.now()));
            let line = QueuedLine { id, line: said.text.clone(), choice };
            state.behind.queues.push(&state.app, &conversation, line)?;
        }
        SentBy::Turn => {
            let message = turn_message(&fields, &said, key.clone());
            let receipt = turns::send(&state.app, state.engine(), &conversation, message).await?;
            if let Some(said) = reply(&request, receipt) {
                state.flashes.put(request.session_name(), &page, said);
            }
        }
    }
    state.behind.sent.remember(&conversation, key);
    Ok(see_other(&to))
}

fn turn_message(fields: &FormFields, said: &MessageFiles, key: Option<String>) -> TurnMessage {
    TurnMessage {
        content: said.text.clone(),
        client_request_id: key,
        attachments: said.pictures.clone(),
        mode: match fields.some("loop") {
            Some(name) => TurnMode::Loop(Some(name)),
            None => TurnMode::Decide,
        },
        sender: TurnSender::Person,
        model: fields.some("model"),
    }
}

/// Whether a message came before: it was carried out, began a turn, or waits.
async fn is_known(
    state: &ServerState,
    conversation: &ConversationId,
    key: Option<&str>,
) -> Result<bool, Problem> {
    let Some(key) = key else { return Ok(false) };
    let waits = || state.behind.queues.of(conversation).iter().any(|line| line.id == key);
    Ok(state.behind.sent.knows(conversation, key)
        || waits()
        || turns::done_before(state.store(), conversation, key).await?.is_some())
}

/// What becomes of a message.
enum SentBy {
    /// The run that works is told.
    Steering(RunId, String),
    /// It waits for the end of what the conversation works on.
    Queue,
    /// It is a turn, an answer or a command.
    Turn,
}

async fn door(
    state: &ServerState,
    conversation: &ConversationId,
    said: &MessageFiles,
) -> Result<SentBy, Problem> {
    let rows = state.store().runs().of_conversation(conversation, RUNS_MAX).await?;
    let working = rows.iter().find(|row| matches!(row.status, Status::Running | Status::Queued));
    let word = queue::steering(&said.text).filter(|_| said.pictures.is_empty());
    if let (Some(row), Some(word)) = (working, word) {
        return Ok(SentBy::Steering(row.run.clone(), word.to_owned()));
    }
    Ok(match queue::must_wait(state, conversation, &said.text).await? {
        true => SentBy::Queue,
        false => SentBy::Turn,
    })
}

/// What a message that began no turn came to.
fn reply(request: &PageRequest, receipt: TurnReceipt) -> Option<String> {
    let text = match receipt {
        TurnReceipt::Command { text } => return Some(text),
        TurnReceipt::NoModel => words::chat::no_model(),
        TurnReceipt::Suggested { command } => words::chat::suggested(&command),
        TurnReceipt::NothingToCancel => words::chat::nothing_to_cancel(),
        TurnReceipt::NotAnswered { question, .. } => words::chat::not_answered(&question),
        TurnReceipt::Turn { .. }
        | TurnReceipt::Answered { .. }
        | TurnReceipt::Canceled { .. }
        | TurnReceipt::Steered { .. }
        | TurnReceipt::Queued { .. }
        | TurnReceipt::Empty => return None,
    };
    Some(say(request.lang(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_known_in_its_conversation_until_many_others_came() {
        let (here, there) = (ConversationId::new("conv_a"), ConversationId::new("conv_b"));
        let sent = SentMessages::default();
        sent.remember(&here, Some("k".to_owned()));
        assert!(sent.knows(&here, "k") && !sent.knows(&there, "k") && !sent.knows(&here, "l"));
        for n in 0..REMEMBERED_MAX {
            sent.remember(&there, Some(n.to_string()));
        }
        assert!(!sent.knows(&here, "k"));
    }
}
