//! A dialogue in which the model calls tools: what all loops share in which the model calls tools
//! and keeps a list.

use crate::acting::Acting;
use crate::truncation::{ReplyCheck, TruncationRetry};
use crate::{Transcript, Voice};
use everloop_text as text;
use everloop_types::{
    Answer, CallId, Frame, Goal, ItemState, Message, ModelCall, Next, Observation, Progress,
    Purpose, Reason, Reply, TODO_WRITE, TodoList, ToolChoice, ToolOffer, Words,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolDialogue {
    pub(crate) transcript: Transcript,
    pub(crate) list: TodoList,
    acting: Acting,
    /// Model calls that came back; each is one iteration.
    iterations: u32,
    /// Tool calls asked for so far.
    calls: u32,
    #[serde(default, skip_serializing_if = "TruncationRetry::is_none")]
    truncation: TruncationRetry,
    #[serde(skip)]
    pub(crate) frame: Arc<Frame>,
}

/// A batch of calls that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchOutcome {
    /// Something was done beside keeping the list.
    pub(crate) work: bool,
    /// The list was written.
    pub(crate) listed: bool,
}

impl ToolDialogue {
    pub(crate) fn open(&mut self, instructions: &str, goal: &Goal, frame: &Arc<Frame>) {
        self.frame = frame.clone();
        let system = format!("{}\n\n{instructions}", frame.system);
        self.transcript.open(Voice::ToolMessages, system, &frame.carried, goal);
    }

    /// A fork: limits start again.
    pub(crate) fn renew(&mut self) {
        (self.iterations, self.calls, self.truncation) = (0, 0, TruncationRetry::default());
    }

    /// Adds a message for the model.
    pub(crate) fn push_user(&mut self, text: impl Into<String>) {
        self.transcript.push(Message::user(text));
    }

    /// Takes in a reply. Gives its words if it calls no tool.
    pub(crate) fn take_reply(&mut self, reply: &Reply) -> Option<String> {
        self.iterations += 1;
        self.transcript.push_reply(reply);
        if reply.calls.is_empty() {
            return Some(reply.text.clone());
        }
        // More calls than a reply may hold are all refused: none of them is made.
        if reply.calls.len() <= self.frame.limits.context.calls_per_reply {
            self.calls += u32::try_from(reply.calls.len()).unwrap_or(u32::MAX);
        }
        self.acting = Acting::of(reply);
        self.truncation = TruncationRetry::default();
        None
    }

    /// Asks again where words cannot be an answer. `Err` once that came too often in a row.
    pub(crate) fn retry_truncated(&mut self, reply: &Reply) -> Result<bool, Reason> {
        match self.truncation.take(reply, &self.frame) {
            ReplyCheck::Usable => Ok(false),
            ReplyCheck::Retry(told) => {
                self.push_user(told);
                Ok(true)
            }
            ReplyCheck::GiveUp(reason) => Err(reason),
        }
    }

    /// The model's words, and what the list knows better: which items failed, which stayed open.
    /// Without words the closing finds them.
    pub(crate) fn answer(&self, words: String, trouble: Option<Reason>) -> Answer {
        let unsaid = words.trim().is_empty();
        let mut all = vec![Words::Said(words)];
        let failed = (text::list::failed().words(), self.list.failed_lines());
        let open = (text::list::left_open().words(), self.list.open_lines());
        for (heading, lines) in [failed, open] {
            if !unsaid && !lines.is_empty() {
                all.extend([heading, Words::Said(lines)]);
            }
        }
        let words = if all.len() == 1 { all.remove(0) } else { Words::All(all) };
        Answer { words, trouble }
    }

    /// Turns a reply away if it calls what was not on offer: then none of its calls is made.
    pub(crate) fn reject_calls(&mut self, reply: &Reply, offer: &ToolOffer) -> bool {
        let offered = |name: &str| match offer {
            ToolOffer::None => false,
            // What no frame has is refused where all calls are checked.
            ToolOffer::All => true,
            ToolOffer::Only(names) => names.iter().any(|known| known == name),
        };
        let Some(wrong) = reply.calls.iter().find(|call| !offered(&call.tool)) else {
            return false;
        };
        let name: String = wrong.tool.chars().take(64).collect();
        self.iterations += 1;
        self.transcript.push_reply(reply);
        for call in &reply.calls {
            let text = format!("error: {name:?} is not on offer in this phase; nothing was done");
            self.transcript.answer(&call.id, text);
        }
        true
    }

    /// Takes in an outcome. Returns its batch once that is complete.
    pub(crate) fn observe(&mut self, id: &CallId, seen: &Observation) -> Option<BatchOutcome> {
        let over = self.acting.take(id, seen.ending)?;
        let before = self.list.versions();
        over.write(&mut self.list);
        Some(BatchOutcome { work: over.is_work(), listed: self.list.versions() > before })
    }

    /// The calls that the model made, or else its next turn with these tools.
    pub(crate) fn next(&self, purpose: Purpose, offer: ToolOffer, choice: ToolChoice) -> Next {
        let limit = self.frame.limits.steps.max_steps;
        if !self.acting.is_empty() {
            return Next::run_tools(&self.acting.calls());
        }
        if self.iterations >= limit || self.calls >= limit {
            return Next::GiveUp(Reason::StepLimit { limit });
        }
        Next::AskModel(ModelCall { purpose, offer, choice, output: None })
    }

    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.frame.tool(name).is_some()
    }

    /// Every tool but that with which the list is kept.
    pub(crate) fn without_list(&self) -> ToolOffer {
        let names = self.frame.tools.iter().map(|tool| tool.name.clone());
        ToolOffer::Only(names.filter(|name| name != TODO_WRITE).collect())
    }

    pub(crate) fn progress(&self) -> Progress {
        let items = self.list.items().to_vec();
        Progress {
            current: items.iter().position(|item| item.state == ItemState::InProgress),
            items,
            version: self.list.versions(),
            steps: self.iterations,
            steps_max: self.frame.limits.steps.max_steps,
            failed: 0,
            note: self.truncation.note(&self.frame),
            round: None,
        }
    }
}
