//! The transcript: what the model has been shown, a list that only grows.
//!
//! A tool call reserves its slot when it is planned and the observation fills it, so the order in
//! which outcomes arrive changes nothing. Only a compaction rewrites, and that is journaled.

use crate::carry::stands_after_goal;
use everloop_types::{
    CallId, Ending, Goal, Image, Message, Observation, Reply, ToolCall, digest_bytes, digest_json,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How observations are put to the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// As tool messages that answer the provider's tool calls.
    #[default]
    ToolMessages,
    /// As user messages that hold the observation as JSON, for loops that speak JSON contracts.
    JsonMessages,
    /// Not at all: the loop gathers them and answers a call of its own with them.
    Gathered,
}

/// What a compaction leaves in place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keep {
    pub(crate) bytes: usize,
    pub(crate) observations: usize,
    pub(crate) messages: usize,
}

/// Everything the model of one run has been shown, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    voice: Voice,
    messages: Vec<Message>,
    /// Places of observations, filled or not.
    observations: Vec<usize>,
    /// Calls whose slot waits for its observation.
    open: Vec<(ToolCall, usize)>,
    /// The first messages never leave: instructions and goal.
    kept: usize,
    /// Messages that an earlier prompt already showed, and their chained digest.
    sealed: usize,
    digest: String,
    bytes: usize,
}

impl Transcript {
    /// Starts the prompt: instructions first, then the goal, then what an earlier run knew.
    pub fn open(&mut self, voice: Voice, system: String, carried: &[Message], goal: &Goal) {
        self.voice = voice;
        self.push(Message::System { text: system });
        let (first, then): (&[Message], &[Message]) = match stands_after_goal(carried) {
            true => (&[], carried),
            false => (carried, &[]),
        };
        first.iter().for_each(|message| self.push(message.clone()));
        self.push(goal.message());
        self.kept = self.messages.len();
        then.iter().for_each(|message| self.push(message.clone()));
    }

    /// Appends one message.
    pub fn push(&mut self, message: Message) {
        self.bytes += weight(&message);
        self.messages.push(message);
    }

    /// Appends what the model said. Reasoning is for people and never sent back.
    pub fn push_reply(&mut self, reply: &Reply) {
        self.push(Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone() });
    }

    /// Reserves the slot in which the observation of `call` will stand.
    pub(crate) fn reserve(&mut self, call: &ToolCall) {
        let slot = match self.voice {
            Voice::ToolMessages => Message::Tool { call: call.id.clone(), text: String::new() },
            Voice::JsonMessages => Message::user(""),
            Voice::Gathered => return,
        };
        let place = self.messages.len();
        self.observations.push(place);
        self.open.push((call.clone(), place));
        self.messages.push(slot);
    }

    /// Answers a call that the loop itself takes care of.
    pub(crate) fn answer(&mut self, call: &CallId, text: impl Into<String>) {
        self.observations.push(self.messages.len());
        self.push(Message::Tool { call: call.clone(), text: text.into() });
    }

    /// Fills the slot of `call`. An outcome nobody waits for is ignored: its call never was
    /// planned.
    pub(crate) fn fill(&mut self, call: &CallId, seen: &Observation) {
        let Some(found) = self.open.iter().position(|(open, _)| open.id == *call) else { return };
        let (call, place) = self.open.remove(found);
        self.messages[place] = match self.voice {
            Voice::ToolMessages | Voice::Gathered => {
                Message::Tool { call: call.id, text: spoken(seen) }
            }
            Voice::JsonMessages => {
                let result = match seen.ending {
                    Ending::Ok | Ending::Error => seen.text.clone(),
                    _ => spoken(seen),
                };
                Message::user(observation_json(&call.tool, &call.args, seen.is_ok(), &result))
            }
        };
        self.bytes += weight(&self.messages[place]);
    }

    /// Records an observation without a tool call, such as a failed thought.
    pub fn note_failure(&mut self, tool: &str, input: &str, result: &str) {
        self.observations.push(self.messages.len());
        self.push(Message::user(observation_json(tool, input, false, result)));
    }

    /// All messages, in order.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Rough size of the prompt in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Of that, what a compaction could reach.
    pub(crate) fn movable_bytes(&self) -> usize {
        self.messages[self.kept..].iter().map(weight).sum()
    }

    /// How many observations the prompt holds.
    #[must_use]
    pub fn observation_count(&self) -> usize {
        self.observations.len()
    }

    /// Marks all messages as shown, so that digests need not read them again.
    pub(crate) fn seal(&mut self) {
        self.digest = self.digest();
        self.sealed = self.messages.len();
    }

    /// The chained digest of all messages.
    #[must_use]
    pub fn digest(&self) -> String {
        self.digest_with(None)
    }

    /// The digest as it would be with one more message.
    pub(crate) fn digest_with(&self, tail: Option<&Message>) -> String {
        let unsealed = self.messages[self.sealed..].iter().chain(tail);
        unsealed.fold(self.digest.clone(), |chain, message| {
            digest_bytes(format!("{chain}{}", digest_json(message)).as_bytes())
        })
    }

    /// The place before which a compaction may cut, so that about so many bytes and at most so
    /// many observations and messages stay. `None` if nothing could leave. Never splits a call
    /// from its result.
    pub(crate) fn cut(&self, keep: Keep) -> Option<usize> {
        let mut bytes = 0;
        let mut observations = 0;
        let mut best = None;
        for place in (self.kept..self.messages.len()).rev() {
            bytes += weight(&self.messages[place]);
            observations += usize::from(self.observations.binary_search(&place).is_ok());
            let enough = bytes > keep.bytes
                || observations > keep.observations
                || self.messages.len() - place > keep.messages;
            if enough && best.is_some() {
                break;
            }
            let starts_exchange = matches!(self.messages[place], Message::Assistant { .. });
            if starts_exchange {
                best = Some(place);
            }
        }
        best.filter(|place| *place > self.kept + 1)
    }

    /// Takes back the last message: an instruction of `Run` that has done its work.
    pub(crate) fn retract(&mut self) {
        // With a slot open the last message is not an instruction: the journal is out of order.
        if !self.open.is_empty() {
            return;
        }
        if let Some(message) = self.messages.pop() {
            self.bytes = self.bytes.saturating_sub(weight(&message));
            (self.sealed, self.digest) = (0, String::new());
        }
    }

    /// What a compaction up to there would leave: bytes and messages.
    pub(crate) fn left_by(&self, upto: usize, summary: &str) -> (usize, usize) {
        let upto = upto.min(self.messages.len());
        let leaving: usize = self.messages[self.kept..upto].iter().map(weight).sum();
        let bytes = self.bytes.saturating_sub(leaving) + weight(&summarising(summary));
        (bytes, self.messages.len() - (upto - self.kept) + 1)
    }

    /// The summary that replaces earlier messages, if any were removed.
    pub(crate) fn summary(&self) -> Option<String> {
        let Message::User { text, .. } = self.messages.get(self.kept)? else { return None };
        let mut value: Value = serde_json::from_str(text).ok()?;
        match value.get_mut(SUMMARY).map(Value::take)? {
            Value::String(summary) => Some(summary),
            _ => None,
        }
    }

    /// Replaces the messages after the goal and before `upto` by their summary.
    pub(crate) fn compact(&mut self, upto: usize, summary: &str) {
        let upto = upto.min(self.messages.len());
        let summary = summarising(summary);
        self.messages.splice(self.kept..upto, [summary]);
        let shift = upto - self.kept - 1;
        self.observations.retain(|place| *place >= upto);
        self.observations.iter_mut().for_each(|place| *place -= shift);
        self.open.retain(|(_, place)| *place >= upto);
        self.open.iter_mut().for_each(|(_, place)| *place -= shift);
        self.bytes = self.messages.iter().map(weight).sum();
        (self.sealed, self.digest) = (0, String::new());
    }
}

/// The name under which the model is shown a summary.
const SUMMARY: &str = "summary_of_earlier_work";

fn summarising(summary: &str) -> Message {
    Message::user(json!({ SUMMARY: summary }).to_string())
}

/// An observation as a loop with JSON contracts shows it (PR-11).
fn observation_json(tool: &str, input: &str, ok: bool, result: &str) -> String {
    let input = serde_json::from_str::<Value>(input).unwrap_or_else(|_| Value::from(input));
    json!({ "observation": { "tool": tool, "input": input, "ok": ok, "result": result } })
        .to_string()
}

/// An observation as a tool message: what did not end well says so first.
pub(crate) fn spoken(seen: &Observation) -> String {
    let word = match seen.ending {
        Ending::Ok => return seen.text.clone(),
        Ending::Error => "error",
        Ending::Denied => "denied",
        Ending::TimedOut => "timed out",
        Ending::Canceled => "canceled",
        Ending::Unknown => "outcome unknown",
    };
    format!("{word}: {}", seen.text)
}

fn weight(message: &Message) -> usize {
    let calls = match message {
        Message::Assistant { calls, .. } => {
            calls.iter().map(|call| call.tool.len() + call.args.len() + 32).sum()
        }
        Message::User { images, .. } => images.len() * Image::COUNTS_FOR_BYTES,
        _ => 0,
    };
    message.text().len() + calls + 8
}
