//! What the page does with messages that wait: they are changed, sent at once, or taken off.

use super::forms::FormFields;
use super::frame::{PageRequest, missing};
use super::respond::see_other;
use crate::json::PathOf;
use crate::problem::{Problem, ProblemCode};
use crate::routes::conversations::find;
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_app::turns::{QueueHold, WaitingMessage};
use everloop_pages::chat::QueuedMessage;
use everloop_pages::parts::say;
use everloop_text::pages as words;
use everloop_types::ConversationId;

/// Sends what waits until the server stops. What is being sent then is sent again under its own id,
/// which makes it one.
pub(crate) async fn keep_sending(state: ServerState) {
    let sending = state.behind.queues.keep_sending(state.engine(), || state.clone().app);
    tokio::select! {
        () = state.stopping.cancelled() => {}
        () = sending => {}
    }
}

/// What waits in a conversation, as the page shows it.
pub(super) fn queued(
    state: &ServerState,
    request: &PageRequest,
    id: &ConversationId,
) -> Vec<QueuedMessage> {
    let message = |WaitingMessage { line, hold }: WaitingMessage| QueuedMessage {
        id: line.id,
        text: line.line,
        pictures: line.choice.attachments.len(),
        problem: hold.map(|hold| say(request.lang(), hold_words(&hold))),
    };
    state.behind.queues.of(id).into_iter().map(message).collect()
}

fn hold_words(hold: &QueueHold) -> everloop_text::Text {
    match hold {
        QueueHold::NoModel => words::chat::no_model(),
        QueueHold::Suggested(command) => words::chat::suggested(command),
        QueueHold::Refused(detail) => words::chat::not_sent(detail),
    }
}

pub(crate) async fn perform(
    State(state): State<ServerState>,
    PathOf((id, line, verb)): PathOf<(String, String, String)>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let conversation = find(&state, &id).await?.row.id;
    let (app, queues) = (&state.app, &state.behind.queues);
    match (verb.as_str(), fields.some("text")) {
        ("remove", _) | ("edit", None) => queues.remove(app, &conversation, &line),
        ("edit", Some(_)) => {
            let changed = queues.change(&conversation, &line, fields.get("text"));
            changed.map_err(|error| ProblemCode::Internal.because(error.to_string()))?;
        }
        ("now", _) => queues.send_now(app, state.engine(), &conversation, &line).await?,
        _ => return Err(missing()),
    }
    Ok(see_other(fields.back()))
}
