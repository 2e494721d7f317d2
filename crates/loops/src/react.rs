//! ReAct: ask the model, do what it asks for, show it what came back, repeat.
//!
//! ```text
//!   Thinking ──reply with calls──► Acting ──last outcome──► Thinking
//!       ├──reply without calls──► Finished
//!       └──no answer: cut short, or a call in words──► Thinking, told so; too often ──► Stuck
//! ```
//!
//! Deliberately absent: retries, budgets, approvals, streaming (the engine's), compaction
//! (`Run`'s).

use crate::acting::Acting;
use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::truncation::{ReplyCheck, TruncationRetry};
use crate::{AgentLoop, Transcript, Voice, replies};
use everloop_types::{
    Answer, CallId, Event, Frame, Message, ModelCall, Next, Observation, Progress, Purpose, Reason,
    Reply, TodoList, ToolChoice, ToolOffer, Words,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const INSTRUCTIONS: &str = include_str!("prompts/react.md");

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct React {
    phase: ReactPhase,
    transcript: Transcript,
    /// Model calls that came back; each is one iteration.
    iterations: u32,
    /// Tool calls asked for so far.
    calls: u32,
    /// The list that the model keeps with `todo_write`.
    #[serde(flatten)]
    list: TodoList,
    #[serde(default, skip_serializing_if = "TruncationRetry::is_none")]
    truncation: TruncationRetry,
    #[serde(skip)]
    frame: Arc<Frame>,
}

/// Each phase is named after what is going on, and holds exactly what that needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReactPhase {
    #[default]
    Thinking,
    /// The calls of one reply, and how each ended.
    Acting(Acting),
    Stuck(Reason),
    Finished(String),
}

impl AgentLoop for React {
    const SPEC: LoopSpec = LoopSpec {
        name: "react",
        version: 1,
        audience: LoopAudience::People,
        step_unit: StepUnit::Iteration,
        max_steps: 25,
        settings: &[],
        keeps_list: false,
        delegates: true,
        reply_form: ReplyForm::NativeCalls,
        alternative: "plan-replan",
        golden: golden!["v0.1/react-1-errand", "v0.1/react-1-compacted"],
        sample: replies::freely,
    };

    fn evolve(&mut self, event: &Event) {
        match event {
            Event::Started { goal, frame, .. } => {
                self.frame = frame.clone();
                let system = format!("{}\n\n{INSTRUCTIONS}", frame.system);
                self.transcript.open(Voice::ToolMessages, system, &frame.carried, goal);
            }
            Event::Replied { reply, .. } => self.take_reply(reply),
            Event::ModelFailed { error, .. } => {
                self.phase = ReactPhase::Stuck(Reason::Model(error.clone()));
            }
            Event::Observed { call, seen, .. } => self.take_observation(call, seen),
            Event::Forked { word, .. } => self.fork(word.as_deref()),
            // `Run` has already informed the model and rewritten the transcript.
            Event::Noticed { .. } | Event::Compacted { .. } => {}
        }
    }

    /// Asked only when nothing is outstanding, so `Acting` is a moment, not a wait.
    fn decide(&self) -> Next {
        let limit = self.frame.limits.steps.max_steps;
        match &self.phase {
            ReactPhase::Thinking if self.iterations >= limit || self.calls >= limit => {
                Next::GiveUp(Reason::StepLimit { limit })
            }
            ReactPhase::Thinking => Next::AskModel(ModelCall {
                purpose: Purpose::Think,
                offer: ToolOffer::All,
                choice: ToolChoice::Auto,
                output: None,
            }),
            ReactPhase::Acting(acting) => Next::run_tools(&acting.calls()),
            ReactPhase::Stuck(reason) => Next::GiveUp(reason.clone()),
            ReactPhase::Finished(text) => {
                Next::Finish(Answer { words: Words::Said(text.clone()), trouble: None })
            }
        }
    }

    fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    fn list(&self) -> &TodoList {
        &self.list
    }

    fn progress(&self) -> Progress {
        Progress {
            items: self.list.items().to_vec(),
            current: self.list.in_progress(),
            version: self.list.versions(),
            steps: self.iterations,
            steps_max: self.frame.limits.steps.max_steps,
            failed: 0,
            note: self.truncation.note(&self.frame),
            round: None,
        }
    }

    fn attach(&mut self, frame: Arc<Frame>) {
        self.frame = frame;
    }
}

impl React {
    /// A failed step is tried again; an answer stays unless the user adds something.
    fn fork(&mut self, word: Option<&str>) {
        (self.iterations, self.calls, self.truncation) = (0, 0, TruncationRetry::default());
        let goes_on = match &self.phase {
            ReactPhase::Stuck(_) => true,
            ReactPhase::Finished(text) => word.is_some() || text.trim().is_empty(),
            ReactPhase::Thinking | ReactPhase::Acting(_) => false,
        };
        if goes_on {
            self.phase = ReactPhase::Thinking;
        }
    }

    fn take_reply(&mut self, reply: &Reply) {
        self.iterations += 1;
        self.transcript.push_reply(reply);
        let check = self.truncation.take(reply, &self.frame);
        self.phase = if reply.calls.is_empty() {
            match check {
                ReplyCheck::Usable => ReactPhase::Finished(reply.text.clone()),
                ReplyCheck::Retry(told) => {
                    self.transcript.push(Message::user(told));
                    ReactPhase::Thinking
                }
                ReplyCheck::GiveUp(reason) => ReactPhase::Stuck(reason),
            }
        } else {
            // More calls than a reply may hold are all refused: none of them is made.
            if reply.calls.len() <= self.frame.limits.context.calls_per_reply {
                self.calls += u32::try_from(reply.calls.len()).unwrap_or(u32::MAX);
            }
            ReactPhase::Acting(Acting::of(reply))
        };
    }

    fn take_observation(&mut self, id: &CallId, seen: &Observation) {
        let ReactPhase::Acting(acting) = &mut self.phase else { return };
        if let Some(over) = acting.take(id, seen.ending) {
            over.write(&mut self.list);
            self.phase = ReactPhase::Thinking;
        }
    }
}
