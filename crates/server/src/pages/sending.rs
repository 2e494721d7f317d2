//! What is sent to a conversation: it begins a turn, answers, waits, or steers the run that works.
//!
//! A page names its message. However often it is sent, because a connection was cut before the
//! answer came, it is one message. It also names the questions that it shows: the message answers
//! no other one.

use super::commands::{self, PageReply};
use super::forms::FormFields;
use super::frame::PageRequest;
use super::respond::see_other;
use super::uploads::{self, MessageFiles, UploadForm};
use crate::json::PathOf;
use crate::problem::Problem;
use crate::routes::conversations::find;
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_app::conversations::ConversationChannel;
use everloop_app::goals::{self, ConversationStart};
use everloop_app::turns::{
    BusyPolicy, SeenQuestions, TurnMessage, TurnMode, TurnReceipt, TurnSender,
};
use everloop_pages::parts::say;
use everloop_text::pages as words;
use everloop_types::{ConversationId, digest_bytes};

/// The name that a page gave to a message: the same name twice is the same message.
fn key_of(fields: &FormFields) -> Option<String> {
    let is_plain = |key: &String| {
        key.len() <= 64 && key.bytes().all(|one| one.is_ascii_alphanumeric() || one == b'-')
    };
    fields.some("key").filter(is_plain)
}

/// The conversation that a message goes to. The first message begins one; sent again, the same.
async fn target_conversation(
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
    let conversation = target_conversation(&state, &request, &id, key.as_deref()).await?;
    let page = format!("chat:{conversation}");
    state.flashes.clear(request.session_name(), &page);
    if let Some(reply) = commands::perform(&state, &request, &conversation, &said.text).await? {
        let to = format!("/chat/{conversation}");
        return Ok(match reply {
            PageReply::Go(page) => see_other(&page),
            PageReply::Say(text) => {
                state.flashes.put(request.session_name(), &page, text);
                see_other(&to)
            }
        });
    }
    let message = turn_message(&fields, &said, key);
    let (queues, policy) = (&state.behind.queues, BusyPolicy::Queue);
    let receipt = queues.send(&state.app, state.engine(), &conversation, message, policy).await?;
    // Pictures of a message that waits are sent with it.
    said.pictures.retain(|file| !queues.has_file(&conversation, file));
    if let Some(said) = reply(&request, receipt) {
        state.flashes.put(request.session_name(), &page, said);
    }
    Ok(see_other(&format!("/chat/{conversation}")))
}

fn turn_message(fields: &FormFields, said: &MessageFiles, key: Option<String>) -> TurnMessage {
    let seen = fields.get("answers").split_whitespace().map(str::to_owned);
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
        answers: SeenQuestions::Only(seen.collect()),
    }
}

/// What the page says about a message that began no turn.
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
