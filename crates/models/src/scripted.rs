//! A model that plays a script: for tests, for the tour, for `provider scripted`.
//!
//! Which reply comes next is read off the prompt: the n-th is given when the prompt has n
//! assistant messages. So a process that was killed and started again continues where it was.

use crate::ModelConnectError;
use everloop_ports::{Delta, Model, ModelFuture, OnDelta, Request};
use everloop_types::{
    CallId, Image, Message, ModelError, ModelErrorKind, OutputSchema, Reply, StopCause, ToolCall,
    ToolChoice, Usage,
};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One reply of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptedReply {
    /// The reply. If it has neither text nor calls, the last failure is repeated.
    pub reply: Reply,
    /// Waited before the reply, or before each piece of its text.
    pub delay_ms: u64,
    /// Characters of a piece; 0 gives the text in one.
    pub chunk: usize,
    /// Failures given before the reply, one per attempt. Counted in memory only.
    pub fail: Vec<ModelError>,
}

impl ScriptedReply {
    /// Says a text.
    pub fn says(text: impl Into<String>) -> Self {
        Self { reply: Reply { text: text.into(), ..Reply::default() }, ..Self::default() }
    }

    /// Calls a tool.
    pub fn calls(tool: impl Into<String>, args: Value) -> Self {
        Self::default().and_calls(tool, args)
    }

    /// Fails in this way at each attempt.
    #[must_use]
    pub fn fails(kind: ModelErrorKind) -> Self {
        Self::default().failing(kind)
    }

    /// Calls one more tool in the same reply.
    #[must_use]
    pub fn and_calls(mut self, tool: impl Into<String>, args: Value) -> Self {
        let call = ToolCall { id: CallId::new(""), tool: tool.into(), args: args.to_string() };
        self.reply.calls.push(call);
        self.reply.stop = StopCause::ToolCalls;
        self
    }

    /// Reasons first.
    #[must_use]
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.reply.reasoning = text.into();
        self
    }

    /// Fails once more before it replies.
    #[must_use]
    pub fn failing(mut self, kind: ModelErrorKind) -> Self {
        self.fail.push(ModelError::new(kind, "scripted failure"));
        self
    }

    /// Waits before the reply, or before each piece of it.
    #[must_use]
    pub fn after_ms(mut self, delay_ms: u64) -> Self {
        self.delay_ms = delay_ms;
        self
    }

    /// Gives the text in pieces of so many characters.
    #[must_use]
    pub fn in_chunks(mut self, chars: usize) -> Self {
        self.chunk = chars;
        self
    }

    /// The text in its pieces.
    pub(crate) fn pieces(&self) -> Vec<&str> {
        let mut pieces = Vec::new();
        let mut rest = self.reply.text.as_str();
        while !rest.is_empty() {
            let end = match self.chunk {
                0 => rest.len(),
                chars => rest.char_indices().nth(chars).map_or(rest.len(), |(at, _)| at),
            };
            let (piece, after) = rest.split_at(end);
            pieces.push(piece);
            rest = after;
        }
        pieces
    }

    /// The failure of the n-th attempt, if that one fails.
    pub(crate) fn failure(&self, attempt: usize) -> Option<&ModelError> {
        let hollow = self.reply.text.is_empty() && self.reply.calls.is_empty();
        let last = self.fail.last().filter(|_| hollow);
        self.fail.get(attempt).or(last)
    }
}

/// A request as the scripted model saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenRequest {
    /// The prompt.
    pub messages: Vec<Message>,
    /// The names of the tools on offer.
    pub tools: Vec<String>,
    /// Whether one had to be called.
    pub choice: ToolChoice,
    /// The schema asked for.
    pub output: Option<OutputSchema>,
}

/// A model that plays a script.
#[derive(Debug, Default)]
pub struct ScriptedModel {
    replies: Vec<ScriptedReply>,
    closing: Option<String>,
    /// Other replies for goals that contain this word.
    others: Vec<(String, Vec<ScriptedReply>)>,
    keeps: ScriptRecording,
    memory: Mutex<ScriptMemory>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ScriptRecording {
    #[default]
    Counts,
    Requests,
}

#[derive(Debug, Default)]
struct ScriptMemory {
    requests: usize,
    attempts: HashMap<usize, usize>,
    seen: Vec<SeenRequest>,
}

impl ScriptedModel {
    /// Plays these replies in order.
    #[must_use]
    pub fn new(replies: Vec<ScriptedReply>) -> Self {
        Self { replies, ..Self::default() }
    }

    /// Reads a script: `{"replies": [{"text": …}, {"calls": [{"tool": …, "args": {…}}]}],
    /// "closing": …, "others": [{"goal": …, "replies": […]}]}`; each reply may also have
    /// `reasoning`, `delay_ms`, `chunk` and `fail`.
    ///
    /// # Errors
    /// When the file does not exist or is not a script.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ModelConnectError> {
        crate::scripted_file::load(path.as_ref())
    }

    /// Gives these replies to runs with this word in their goal, mostly to children.
    #[must_use]
    pub fn speaking_of(mut self, word: impl Into<String>, replies: Vec<ScriptedReply>) -> Self {
        self.others.push((word.into(), replies));
        self
    }

    fn replies_to(&self, messages: &[Message]) -> &[ScriptedReply] {
        let goal = messages.iter().find(|message| matches!(message, Message::User { .. }));
        let goal = goal.map_or("", Message::text);
        let other = self.others.iter().find(|(word, _)| goal.contains(word));
        other.map_or(&self.replies, |(_, replies)| replies)
    }

    /// Says this when the prompt runs past the end of the script.
    #[must_use]
    pub fn closing(mut self, text: impl Into<String>) -> Self {
        self.closing = Some(text.into());
        self
    }

    /// Keeps a copy of each request for [`ScriptedModel::seen`].
    #[must_use]
    pub fn keeping_requests(mut self) -> Self {
        self.keeps = ScriptRecording::Requests;
        self
    }

    /// How many requests came so far.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.memory().requests
    }

    /// The requests that came so far, if they are kept.
    #[must_use]
    pub fn seen(&self) -> Vec<SeenRequest> {
        self.memory().seen.clone()
    }

    fn memory(&self) -> MutexGuard<'_, ScriptMemory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the request and says which attempt at the `n`-th reply it is, counted from 0.
    fn note(&self, request: &Request<'_>, n: usize) -> usize {
        let mut memory = self.memory();
        memory.requests += 1;
        if self.keeps == ScriptRecording::Requests {
            memory.seen.push(SeenRequest {
                messages: request.messages.to_vec(),
                tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
                choice: request.choice.clone(),
                output: request.output.cloned(),
            });
        }
        let attempts = memory.attempts.entry(n).or_default();
        *attempts += 1;
        *attempts - 1
    }

    async fn play(&self, request: Request<'_>, on_delta: OnDelta<'_>) -> Result<Reply, ModelError> {
        let assistant = |message: &&Message| matches!(message, Message::Assistant { .. });
        let n = request.messages.iter().filter(assistant).count();
        let attempt = self.note(&request, n);
        let closing = self.closing.as_ref().map(ScriptedReply::says);
        let replies = self.replies_to(request.messages);
        let Some(scripted) = replies.get(n).or(closing.as_ref()) else {
            let detail = "script has no further reply";
            return Err(ModelError::new(ModelErrorKind::Refused, detail));
        };
        if let Some(error) = scripted.failure(attempt) {
            return Err(error.clone());
        }
        say(scripted, on_delta).await;
        let usage = estimate(request.messages, &scripted.reply);
        Ok(Reply { usage, ..scripted.reply.clone() })
    }
}

impl Model for ScriptedModel {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> ModelFuture<'a> {
        Box::pin(self.play(request, on_delta))
    }
}

async fn say(scripted: &ScriptedReply, on_delta: OnDelta<'_>) {
    let reply = &scripted.reply;
    let delay = || tokio::time::sleep(Duration::from_millis(scripted.delay_ms));
    if scripted.delay_ms > 0 && (scripted.chunk == 0 || reply.text.is_empty()) {
        delay().await;
    }
    if !reply.reasoning.is_empty() {
        on_delta(Delta::Reasoning(&reply.reasoning));
    }
    for piece in scripted.pieces() {
        if scripted.delay_ms > 0 && scripted.chunk > 0 {
            delay().await;
        }
        on_delta(Delta::Text(piece));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        on_delta(Delta::CallStarted { index, tool: &call.tool });
        on_delta(Delta::CallArgs { index, args: &call.args });
    }
}

/// A token for each four bytes. Cached is what the prompt before the last reply held.
fn estimate(messages: &[Message], reply: &Reply) -> Usage {
    let last = messages.iter().rposition(|m| matches!(m, Message::Assistant { .. }));
    let tokens = |part: &[Message]| part.iter().map(message_bytes).sum::<u64>() / 4;
    let calls: usize = reply.calls.iter().map(|call| call.tool.len() + call.args.len()).sum();
    Usage {
        input_tokens: tokens(messages),
        output_tokens: (reply.text.len() + reply.reasoning.len() + calls) as u64 / 4,
        cached_tokens: last.map_or(0, |last| tokens(&messages[..last])),
    }
}

fn message_bytes(message: &Message) -> u64 {
    let more: usize = match message {
        Message::Assistant { calls, .. } => {
            calls.iter().map(|call| call.tool.len() + call.args.len()).sum()
        }
        Message::User { images, .. } => images.len() * Image::COUNTS_FOR_BYTES,
        Message::System { .. } | Message::Tool { .. } => 0,
    };
    (message.text().len() + more) as u64
}

#[cfg(test)]
#[path = "scripted_tests.rs"]
mod tests;
