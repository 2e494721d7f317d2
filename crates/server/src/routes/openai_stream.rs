//! How a run looks as a chat completion or a response: whole, and in pieces as they come.

use super::event_stream::{self, EventFrame, EventSource};
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::response::Response;
use everloop_app::conversations;
use everloop_app::error::chain;
use everloop_app::runs::RunDetails;
use everloop_engine::{EventKind, Follower, RunEvent, Scope};
use everloop_store::StoreError;
use everloop_types::journal::{EntryKind, WaitingOn};
use everloop_types::{CallerTerms, RunId, Status};
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
    usage: Value,
    created: i64,
    /// Why it failed, with a stable code.
    error: Value,
    /// What it waits for.
    waits: Option<&'static str>,
}

impl RunAnswerText {
    /// Waits until the run is over or needs a person.
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
        let usage = details.counts.usage;
        let text = details.text().unwrap_or_default();
        Ok(Self {
            status: details.row.status,
            error: error_of(&details, &text),
            waits: details.waiting_on.as_ref().map(waits_for),
            text,
            usage: json!({"input": usage.input_tokens, "output": usage.output_tokens}),
            created: details.row.times.created_at / 1_000,
        })
    }

    fn tokens(&self, name: &str) -> u64 {
        self.usage[name].as_u64().unwrap_or(0)
    }
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
        let (input, output) = (answer.tokens("input"), answer.tokens("output"));
        match self {
            Self::Chat { model, .. } => json!({
                "id": self.id(run), "object": "chat.completion", "created": answer.created,
                "model": model,
                "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
                    "message": {"role": "assistant", "content": answer.text, "refusal": null}}],
                "usage": chat_usage(input, output),
                "everloop": about_run(run, answer),
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
                vec![FacadePiece::Plain(self.chunk(run, created, &delta, None))]
            }
            Self::Response(_) => {
                let begun = RunAnswerText {
                    status: Status::Running,
                    text: String::new(),
                    usage: Value::Null,
                    created,
                    error: Value::Null,
                    waits: None,
                };
                let mut whole = self.whole(run, &begun);
                let mut item = whole["output"][0].clone();
                // The item and its part follow; a client refuses what is there twice.
                whole["output"] = json!([]);
                item["content"] = json!([]);
                let part = json!({"type": "output_text", "text": "", "annotations": []});
                vec![
                    named("response.created", json!({"response": whole})),
                    named("response.in_progress", json!({"response": whole})),
                    named("response.output_item.added", json!({"output_index": 0, "item": item})),
                    named(
                        "response.content_part.added",
                        json!({"item_id": item["id"], "output_index": 0, "content_index": 0,
                            "part": part}),
                    ),
                ]
            }
        }
    }

    /// A piece of the words.
    fn piece(&self, run: &RunId, created: i64, text: &str) -> FacadePiece {
        match self {
            Self::Chat { .. } => {
                FacadePiece::Plain(self.chunk(run, created, &json!({"content": text}), None))
            }
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
                let mut last = vec![self.last_chunk(run, answer)];
                if *with_usage {
                    let usage = chat_usage(answer.tokens("input"), answer.tokens("output"));
                    let piece = json!({"id": self.id(run), "object": "chat.completion.chunk",
                        "created": answer.created, "model": model, "choices": [], "usage": usage});
                    last.push(FacadePiece::Plain(piece));
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
                vec![
                    named(
                        "response.output_text.done",
                        json!({"item_id": item["id"], "output_index": 0, "content_index": 0,
                            "text": answer.text}),
                    ),
                    named(
                        "response.content_part.done",
                        json!({"item_id": item["id"], "output_index": 0, "content_index": 0,
                            "part": item["content"][0]}),
                    ),
                    named("response.output_item.done", json!({"output_index": 0, "item": item})),
                    named(name, json!({"response": whole})),
                ]
            }
        }
    }

    /// A piece of a chat completion.
    fn chunk(&self, run: &RunId, created: i64, delta: &Value, finish: Option<&str>) -> Value {
        let model = match self {
            Self::Chat { model, .. } => model,
            Self::Response(asked) => &asked.model,
        };
        json!({"id": self.id(run), "object": "chat.completion.chunk",
            "created": created, "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": null}]})
    }

    /// What ends a stream whose run cannot be read any more.
    fn broken(&self, why: &str) -> Vec<FacadePiece> {
        match self {
            Self::Chat { .. } => {
                let error = json!({"message": why, "type": "server_error", "param": null,
                    "code": "internal"});
                vec![FacadePiece::Plain(json!({"error": error})), FacadePiece::Done]
            }
            Self::Response(_) => {
                vec![named("error", json!({"code": "internal", "message": why, "param": null}))]
            }
        }
    }

    /// The last piece of a chat completion. Its form has no mark for a run that failed, so what the
    /// whole answer says of the run is there too.
    fn last_chunk(&self, run: &RunId, answer: &RunAnswerText) -> FacadePiece {
        let mut last = self.chunk(run, answer.created, &json!({}), Some("stop"));
        last["everloop"] = about_run(run, answer);
        FacadePiece::Plain(last)
    }
}

/// What clients of other assistants are told of the run.
fn about_run(run: &RunId, answer: &RunAnswerText) -> Value {
    json!({"run_id": run, "status": answer.status, "error": answer.error})
}

fn chat_usage(input: u64, output: u64) -> Value {
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
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

/// An item has fewer statuses than a response.
fn item_status(status: Status) -> &'static str {
    match status {
        Status::Queued | Status::Running => "in_progress",
        Status::Succeeded | Status::Unsettled => "completed",
        Status::Waiting | Status::Canceled | Status::Failed | Status::Quarantined => "incomplete",
    }
}

/// A piece of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
enum FacadePiece {
    /// Of a chat completion.
    Plain(Value),
    /// The end of a chat completion.
    Done,
    /// Of a response: its name and what it says.
    Named(&'static str, Value),
}

impl FacadePiece {
    /// As it is sent. The pieces of a response are counted.
    fn frame(self, number: u64) -> EventFrame {
        let (name, data) = match self {
            Self::Plain(data) => ("", data.to_string()),
            Self::Done => ("", "[DONE]".to_owned()),
            Self::Named(name, mut data) => {
                data["type"] = json!(name);
                data["sequence_number"] = json!(number);
                (name, data.to_string())
            }
        };
        EventFrame { name: name.to_owned(), id: None, data, is_last: false }
    }
}

fn named(name: &'static str, data: Value) -> FacadePiece {
    FacadePiece::Named(name, data)
}

/// The caller has the answer of a run that is over, so it is not unread.
pub(super) async fn mark_read(state: &ServerState, run: &RunId) {
    if let Ok(Some(row)) = state.store().runs().get(run).await
        && row.status.is_final()
        && let Err(error) = conversations::mark_read(state.store(), &row.conversation, None).await
    {
        tracing::warn!(%run, error = %chain(&error), "an answer that was given stays unread");
    }
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
    /// Pieces that were sent.
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
                let number = self.sent;
                self.sent += 1;
                return Ok(Some(piece.frame(number)));
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
                mark_read(&self.state, &self.run).await;
            }
            Err(problem) => self.break_off(problem.code.name()),
        }
    }

    /// A client that is told nothing would take what it has for the whole.
    fn break_off(&mut self, why: &str) {
        tracing::warn!(run = %self.run, why, "a stream of words ended early");
        self.is_over = true;
        self.ready.extend(self.form.broken(why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: Status) -> RunAnswerText {
        RunAnswerText {
            status,
            text: "Done.".to_owned(),
            usage: Value::Null,
            created: 1,
            error: Value::Null,
            waits: None,
        }
    }

    #[test]
    fn the_item_of_a_response_is_added_once_and_each_piece_is_named() {
        let (form, run) = (FacadeForm::Response(CallerTerms::default()), RunId::new("run_1"));
        let opening = form.opening(&run, 1);
        let closing = form.closing(&run, &answer(Status::Failed));
        let named: Vec<(&str, Value)> = opening
            .into_iter()
            .chain(closing)
            .map(|piece| match piece {
                FacadePiece::Named(name, data) => (name, data),
                other => panic!("{other:?}"),
            })
            .collect();
        let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            [
                "response.created",
                "response.in_progress",
                "response.output_item.added",
                "response.content_part.added",
                "response.output_text.done",
                "response.content_part.done",
                "response.output_item.done",
                "response.failed",
            ]
        );
        assert_eq!(named[0].1["response"]["output"], json!([]));
        assert_eq!(named[2].1["item"]["content"], json!([]));
        assert_eq!(named[5].1["part"]["text"], "Done.");
        assert_eq!(named[6].1["item"]["status"], "incomplete", "an item cannot be failed");
        assert_eq!(named[7].1["response"]["status"], "failed");
    }

    #[test]
    fn the_last_piece_of_a_chat_completion_says_what_became_of_the_run() {
        let form = FacadeForm::Chat { model: "everloop".to_owned(), with_usage: false };
        let closing = form.closing(&RunId::new("run_1"), &answer(Status::Failed));
        let [FacadePiece::Plain(last), FacadePiece::Done] = &closing[..] else {
            panic!("{closing:?}")
        };
        assert_eq!(last["choices"][0]["finish_reason"], "stop");
        assert_eq!(last["everloop"]["status"], "failed");
    }
}
