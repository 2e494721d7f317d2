//! How a run looks as a chat completion or a response: whole, and in pieces as they come.

use super::event_stream::{self, EventFrame, EventSource};
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::response::Response;
use everloop_app::conversations::{self, ConversationChannel};
use everloop_app::runs::RunDetails;
use everloop_engine::{EventKind, Follower, RunEvent, Scope};
use everloop_store::StoreError;
use everloop_types::journal::{EntryKind, WaitingOn};
use everloop_types::{CallerTerms, ConversationId, RunId, Status};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Which interface is spoken.
#[derive(Debug, Clone)]
pub(super) enum FacadeForm {
    /// Chat completions.
    Chat {
        /// The model's name, as it was asked for.
        model: String,
        /// Whether the last piece has the tokens.
        with_usage: bool,
    },
    /// Responses, with what was asked.
    Response(CallerTerms),
}

/// How a run stands: its words, or what it asks.
pub(super) struct RunAnswerText {
    status: Status,
    text: String,
    usage: AnswerTokens,
    created: i64,
    /// Why it failed, with a stable code.
    error: Value,
    /// What it waits for.
    waits: Option<&'static str>,
}

/// The tokens of a run.
#[derive(Debug, Clone, Copy, Default)]
struct AnswerTokens {
    input: u64,
    output: u64,
}

impl RunAnswerText {
    /// Waits until the run is over or needs a person. A server that stops lets it, for as long as
    /// open requests may take.
    pub(super) async fn wait(state: &ServerState, run: &RunId) -> Result<Self, Problem> {
        let mut follower = state.engine().follow(run, 0, Scope::Run).await?;
        while let Some(event) = follower.next().await? {
            if event.is_stop() && !is_pause(&event) {
                break;
            }
        }
        Self::now(state, run).await
    }

    /// How it stands now.
    pub(super) async fn now(state: &ServerState, run: &RunId) -> Result<Self, Problem> {
        let details = RunDetails::read(&state.app, state.store(), run).await?;
        if details.row.status.is_final() {
            mark_read(state, &details.row.conversation).await?;
        }
        let usage = details.counts.usage;
        let text = details.text().unwrap_or_default();
        Ok(Self {
            status: details.row.status,
            error: error_of(&details, &text),
            waits: details.waiting_on.as_ref().map(waits_for),
            text,
            usage: AnswerTokens { input: usage.input_tokens, output: usage.output_tokens },
            created: details.row.times.created_at / 1_000,
        })
    }
}

/// A conversation that a program began is read when the program gets its answer: nobody else waits
/// for it.
async fn mark_read(state: &ServerState, id: &ConversationId) -> Result<(), Problem> {
    let row = state.store().conversations().get(id).await?;
    let is_of_program = |channel: &str| channel == ConversationChannel::Run.name();
    if row.is_some_and(|row| is_of_program(&row.channel) && row.has_unread()) {
        conversations::mark_read(state.store(), id, None).await?;
    }
    Ok(())
}

/// Why a run failed; null if it did not.
fn error_of(details: &RunDetails, text: &str) -> Value {
    if response_status(details.row.status) != "failed" {
        return Value::Null;
    }
    let reason = details.history.entries.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::RunFinished(end) => end.reason.as_ref(),
        _ => None,
    });
    let code = json!(reason)["reason"].as_str().unwrap_or("server_error").to_owned();
    let message = Some(text).filter(|text| !text.is_empty());
    let message = message.or(details.row.note.as_deref()).unwrap_or(details.row.status.as_str());
    json!({"code": code, "message": message})
}

fn waits_for(waiting: &WaitingOn) -> &'static str {
    match waiting {
        WaitingOn::Person { .. } => "waiting_for_user",
        WaitingOn::Model { .. } => "waiting_for_model",
        WaitingOn::Child { .. } => "waiting_for_run",
        WaitingOn::Timer { .. } => "waiting_for_time",
    }
}

/// Whether a run waits for something that comes by itself.
fn is_pause(event: &RunEvent) -> bool {
    use everloop_engine::WaitingFor;
    matches!(&event.kind, EventKind::RunWaiting(waits) if *waits != WaitingFor::User)
}

impl FacadeForm {
    fn id(&self, run: &RunId) -> String {
        let own = run.as_str().trim_start_matches("run_");
        match self {
            Self::Chat { .. } => format!("chatcmpl-{own}"),
            Self::Response(_) => format!("resp_{own}"),
        }
    }

    /// The whole answer.
    pub(super) fn whole(&self, run: &RunId, answer: &RunAnswerText) -> Value {
        let AnswerTokens { input, output } = answer.usage;
        match self {
            Self::Chat { model, .. } => json!({
                "id": self.id(run), "object": "chat.completion", "created": answer.created,
                "model": model,
                "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
                    "message": {"role": "assistant", "content": answer.text, "refusal": null}}],
                "usage": chat_usage(answer.usage),
                "everloop": own_words(run, answer),
            }),
            Self::Response(asked) => json!({
                "id": self.id(run), "object": "response", "created_at": answer.created,
                "status": response_status(answer.status), "model": asked.model,
                "error": answer.error,
                "incomplete_details": answer.waits.map(|reason| json!({"reason": reason})),
                "instructions": Some(&asked.instructions).filter(|told| !told.is_empty()),
                "previous_response_id": asked.previous.as_ref().map(|run| self.id(run)),
                "metadata": {"run_id": run}, "parallel_tool_calls": true, "tool_choice": "auto",
                "tools": [], "temperature": null, "top_p": null,
                "output": [self.output_item(run, &answer.text, answer.status)],
                "usage": {"input_tokens": input, "output_tokens": output,
                    "total_tokens": input + output,
                    "input_tokens_details": {"cached_tokens": 0},
                    "output_tokens_details": {"reasoning_tokens": 0}},
            }),
        }
    }

    fn output_item(&self, run: &RunId, text: &str, status: Status) -> Value {
        json!({"id": format!("msg_{}", run.as_str().trim_start_matches("run_")),
            "type": "message", "role": "assistant", "status": item_status(status),
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
    }

    /// The pieces before the first words.
    fn opening(&self, run: &RunId, created: i64) -> Vec<FacadePiece> {
        match self {
            Self::Chat { .. } => {
                let delta = json!({"role": "assistant", "content": ""});
                vec![self.chunk(run, created, &delta, None)]
            }
            Self::Response(_) => {
                let begun = RunAnswerText {
                    status: Status::Running,
                    text: String::new(),
                    usage: AnswerTokens::default(),
                    created,
                    error: Value::Null,
                    waits: None,
                };
                let mut whole = self.whole(run, &begun);
                // The item is added by an event of its own.
                whole["output"] = json!([]);
                let mut item = self.output_item(run, "", Status::Running);
                item["content"] = json!([]);
                let part = json!({"type": "output_text", "text": "", "annotations": []});
                let place = json!({"item_id": item["id"], "output_index": 0, "content_index": 0,
                    "part": part});
                vec![
                    named("response.created", json!({"response": whole})),
                    named("response.output_item.added", json!({"output_index": 0, "item": item})),
                    named("response.content_part.added", place),
                ]
            }
        }
    }

    /// A piece of the words.
    fn piece(&self, run: &RunId, created: i64, text: &str) -> FacadePiece {
        match self {
            Self::Chat { .. } => self.chunk(run, created, &json!({"content": text}), None),
            Self::Response(_) => named(
                "response.output_text.delta",
                json!({"item_id": self.output_item(run, "", Status::Running)["id"],
                    "output_index": 0, "content_index": 0, "delta": text}),
            ),
        }
    }

    /// The pieces after the last words.
    fn closing(&self, run: &RunId, answer: &RunAnswerText) -> Vec<FacadePiece> {
        match self {
            Self::Chat { with_usage, model } => {
                let mut end = self.chunk(run, answer.created, &json!({}), Some("stop"));
                if let FacadePiece::Json(_, data) = &mut end {
                    data["everloop"] = own_words(run, answer);
                }
                let mut last = vec![end];
                if *with_usage {
                    let usage = chat_usage(answer.usage);
                    let piece = json!({"id": self.id(run), "object": "chat.completion.chunk",
                        "created": answer.created, "model": model, "choices": [], "usage": usage});
                    last.push(FacadePiece::Json("", piece));
                }
                last.push(FacadePiece::Done);
                last
            }
            Self::Response(_) => {
                let whole = self.whole(run, answer);
                let item = whole["output"][0].clone();
                let name = match response_status(answer.status) {
                    "failed" => "response.failed",
                    "incomplete" | "cancelled" => "response.incomplete",
                    _ => "response.completed",
                };
                let place = |rest: Value| {
                    let mut place = json!({"item_id": item["id"], "output_index": 0,
                        "content_index": 0});
                    if let (Value::Object(place), Value::Object(rest)) = (&mut place, rest) {
                        place.extend(rest);
                    }
                    place
                };
                let part = item["content"][0].clone();
                vec![
                    named("response.output_text.done", place(json!({"text": answer.text}))),
                    named("response.content_part.done", place(json!({"part": part}))),
                    named("response.output_item.done", json!({"output_index": 0, "item": item})),
                    named(name, json!({"response": whole})),
                ]
            }
        }
    }

    /// What ends a stream whose run cannot be read any more.
    fn broken(&self, why: &str) -> Vec<FacadePiece> {
        match self {
            Self::Chat { .. } => {
                let error = json!({"message": why, "type": "server_error", "param": null,
                    "code": "internal"});
                vec![FacadePiece::Json("", json!({"error": error})), FacadePiece::Done]
            }
            Self::Response(_) => {
                let error = json!({"code": "internal", "message": why, "param": null});
                vec![named("error", error)]
            }
        }
    }

    fn chunk(&self, run: &RunId, created: i64, delta: &Value, finish: Option<&str>) -> FacadePiece {
        let model = match self {
            Self::Chat { model, .. } => model.as_str(),
            Self::Response(asked) => asked.model.as_str(),
        };
        let chunk = json!({"id": self.id(run), "object": "chat.completion.chunk",
            "created": created, "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": null}]});
        FacadePiece::Json("", chunk)
    }
}

/// One event of a stream.
enum FacadePiece {
    /// Its type, empty in a chat completion, and its data.
    Json(&'static str, Value),
    /// The end of a chat completion.
    Done,
}

/// What only this program knows of an answer.
fn own_words(run: &RunId, answer: &RunAnswerText) -> Value {
    json!({"run_id": run, "status": answer.status, "error": answer.error})
}

fn chat_usage(usage: AnswerTokens) -> Value {
    let AnswerTokens { input, output } = usage;
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}

/// The states of an item are fewer than those of a response.
fn item_status(status: Status) -> &'static str {
    match status {
        Status::Queued | Status::Running => "in_progress",
        Status::Succeeded | Status::Unsettled => "completed",
        Status::Waiting | Status::Canceled | Status::Failed | Status::Quarantined => "incomplete",
    }
}

fn response_status(status: Status) -> &'static str {
    match status {
        Status::Queued => "queued",
        Status::Running => "in_progress",
        Status::Succeeded | Status::Unsettled => "completed",
        Status::Waiting => "incomplete",
        Status::Canceled => "cancelled",
        Status::Failed | Status::Quarantined => "failed",
    }
}

fn named(name: &'static str, mut data: Value) -> FacadePiece {
    data["type"] = json!(name);
    FacadePiece::Json(name, data)
}

/// A run whose words are streamed.
struct FacadeStream {
    state: ServerState,
    run: RunId,
    form: FacadeForm,
    follower: Follower,
    created: i64,
    /// What was streamed of the words of this call.
    streamed: String,
    ready: VecDeque<FacadePiece>,
    /// Events that were sent.
    sent: u64,
    is_over: bool,
}

/// Streams the words of a run in one of the forms.
pub(super) async fn stream(
    state: &ServerState,
    run: RunId,
    form: FacadeForm,
) -> Result<Response, Problem> {
    let follower = state.engine().follow(&run, 0, Scope::Run).await?;
    let row = state.store().runs().get(&run).await?;
    let row = row.ok_or_else(|| ProblemCode::NotFound.bare())?;
    let created = row.times.created_at / 1_000;
    let ready = form.opening(&run, created).into();
    let source = FacadeStream {
        state: state.clone(),
        run,
        form,
        follower,
        created,
        streamed: String::new(),
        ready,
        sent: 0,
        is_over: false,
    };
    Ok(event_stream::bare_sse(state, source))
}

impl EventSource for FacadeStream {
    async fn next_frame(&mut self) -> Result<Option<EventFrame>, StoreError> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Ok(Some(self.frame(piece)));
            }
            if self.is_over {
                return Ok(None);
            }
            match self.follower.next().await {
                Ok(Some(event)) => self.take(&event).await,
                Ok(None) => self.close().await,
                Err(error) => self.break_off(&error.to_string()),
            }
        }
    }
}

impl FacadeStream {
    fn frame(&mut self, piece: FacadePiece) -> EventFrame {
        let (name, data) = match piece {
            FacadePiece::Done => ("", "[DONE]".to_owned()),
            FacadePiece::Json("", data) => ("", data.to_string()),
            FacadePiece::Json(name, mut data) => {
                data["sequence_number"] = json!(self.sent);
                (name, data.to_string())
            }
        };
        self.sent += 1;
        EventFrame { name: name.to_owned(), id: None, data, is_last: false }
    }

    /// A client that is told nothing would take what it has for the whole.
    fn break_off(&mut self, why: &str) {
        tracing::warn!(run = %self.run, why, "a stream of words ended early");
        self.is_over = true;
        self.ready.extend(self.form.broken(why));
    }

    async fn take(&mut self, event: &RunEvent) {
        match &event.kind {
            EventKind::MessageDelta { text } => {
                self.streamed.push_str(text);
                self.ready.push_back(self.form.piece(&self.run, self.created, text));
            }
            // The words with a tool call stay; the next ones begin a paragraph.
            EventKind::MessageCompleted { text, tool_calls, .. } if *tool_calls > 0 => {
                self.say_rest(text);
                if !text.is_empty() {
                    self.ready.push_back(self.form.piece(&self.run, self.created, "\n\n"));
                }
                self.streamed.clear();
            }
            _ if event.is_stop() && !is_pause(event) => self.close().await,
            _ => {}
        }
    }

    /// What was not streamed of a text; all of it in a paragraph of its own if it is another one.
    fn say_rest(&mut self, text: &str) {
        let rest = match text.strip_prefix(self.streamed.as_str()) {
            Some(rest) => rest.to_owned(),
            None if self.streamed.trim() == text.trim() => String::new(),
            None => format!("\n\n{text}"),
        };
        if !rest.is_empty() {
            self.ready.push_back(self.form.piece(&self.run, self.created, &rest));
        }
    }

    async fn close(&mut self) {
        match RunAnswerText::now(&self.state, &self.run).await {
            Ok(answer) => {
                self.is_over = true;
                self.say_rest(&answer.text);
                self.ready.extend(self.form.closing(&self.run, &answer));
            }
            Err(problem) => self.break_off(problem.code.name()),
        }
    }
}
