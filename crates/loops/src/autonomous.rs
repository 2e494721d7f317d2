//! Autonomous: the model answers in tagged text, for models that cannot call tools.
//!
//! ```text
//!   Thinking ──<tool>…──► Acting ──last outcome──► Thinking
//!       └──<final>──► Finished
//! ```
//!
//! Deliberately absent: function calling. No tool is ever offered to the provider.

mod tags;

use crate::contract::Salvage;
use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::toolbox::listed;
use crate::{AgentLoop, Transcript, Voice, replies, truncation};
use everloop_types::{
    Answer, CallId, Event, Frame, Goal, Message, ModelCall, Next, Observation, Progress, Purpose,
    Reason, Reply, TodoList, ToolCall, ToolChoice, ToolOffer, Words,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tags::{TaggedCall, TaggedReply};

const INSTRUCTIONS: &str = include_str!("prompts/autonomous.md");

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Autonomous {
    phase: AutonomousPhase,
    transcript: Transcript,
    list: TodoList,
    /// Replies that could be read; each is one iteration.
    iterations: u32,
    /// Calls that this loop has named.
    calls: u32,
    /// How many of them count against the limit.
    counted: u32,
    note: Option<Words>,
    #[serde(skip)]
    frame: Arc<Frame>,
}

/// `tries` counts replies that could not be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AutonomousPhase {
    Thinking { tries: u32 },
    Acting { calls: Vec<ToolCall>, over: Vec<(CallId, bool)> },
    Stuck(Reason),
    Finished(String),
}

impl Default for AutonomousPhase {
    fn default() -> Self {
        Self::Thinking { tries: 0 }
    }
}

impl AgentLoop for Autonomous {
    const SPEC: LoopSpec = LoopSpec {
        name: "autonomous",
        version: 1,
        audience: LoopAudience::People,
        step_unit: StepUnit::Iteration,
        max_steps: 25,
        settings: &["loop.contract_retries"],
        keeps_list: false,
        delegates: true,
        reply_form: ReplyForm::Tags,
        alternative: "react",
        golden: golden!["v0.1/autonomous-1-errand"],
        sample: replies::in_tags,
    };

    fn evolve(&mut self, event: &Event) {
        match event {
            Event::Started { goal, frame, .. } => self.start(goal, frame),
            Event::Replied { reply, .. } => self.take_reply(reply),
            Event::ModelFailed { error, .. } => {
                self.phase = AutonomousPhase::Stuck(Reason::Model(error.clone()));
            }
            Event::Observed { call, seen, .. } => self.take_observation(call, seen),
            Event::Forked { word, .. } => self.fork(word.as_deref()),
            // `Run` has already informed the model and rewritten the transcript.
            Event::Noticed { .. } | Event::Compacted { .. } => {}
        }
    }

    fn decide(&self) -> Next {
        let limit = self.frame.limits.steps.max_steps;
        match &self.phase {
            AutonomousPhase::Thinking { .. }
                if self.iterations >= limit || self.counted >= limit =>
            {
                Next::GiveUp(Reason::StepLimit { limit })
            }
            AutonomousPhase::Thinking { .. } => Next::AskModel(ModelCall {
                purpose: Purpose::Think,
                offer: ToolOffer::None,
                choice: ToolChoice::Auto,
                output: None,
            }),
            AutonomousPhase::Acting { calls, .. } => Next::run_tools(calls),
            AutonomousPhase::Stuck(reason) => Next::GiveUp(reason.clone()),
            AutonomousPhase::Finished(text) => {
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
            note: self.sent_back().or_else(|| self.note.clone()),
            round: None,
        }
    }

    fn attach(&mut self, frame: Arc<Frame>) {
        self.frame = frame;
    }
}

impl Autonomous {
    fn start(&mut self, goal: &Goal, frame: &Arc<Frame>) {
        self.frame = frame.clone();
        let tools = listed(frame.tools.iter());
        let system = format!("{}\n\n{INSTRUCTIONS}\n{tools}", frame.system);
        self.transcript.open(Voice::JsonMessages, system, &frame.carried, goal);
    }

    /// A failed step is tried again; an answer stays unless the user adds something.
    fn fork(&mut self, word: Option<&str>) {
        (self.iterations, self.counted) = (0, 0);
        let goes_on = match &self.phase {
            AutonomousPhase::Stuck(_) => true,
            AutonomousPhase::Finished(text) => word.is_some() || text.trim().is_empty(),
            AutonomousPhase::Thinking { .. } | AutonomousPhase::Acting { .. } => false,
        };
        if goes_on {
            self.phase = AutonomousPhase::Thinking { tries: 0 };
        }
    }

    fn take_reply(&mut self, reply: &Reply) {
        self.transcript.push(Message::Assistant { text: reply.text.clone(), calls: Vec::new() });
        let AutonomousPhase::Thinking { tries } = self.phase else { return };
        let last = tries >= self.frame.limits.steps.contract_retries;
        match tags::read(&reply.text) {
            Ok(said) => self.take(said, &[]),
            Err(wrong) => match tags::salvage(reply).filter(|_| last) {
                Some((text, how)) => self.take(TaggedReply::Final(text), &[how]),
                None => self.take_broken(&wrong),
            },
        }
    }

    fn take(&mut self, said: TaggedReply, how: &[Salvage]) {
        self.note = Salvage::words(how);
        self.iterations += 1;
        match said {
            TaggedReply::Final(text) => self.phase = AutonomousPhase::Finished(text),
            TaggedReply::Tools(tools) => {
                let calls: Vec<ToolCall> = tools.into_iter().map(|tool| self.name(tool)).collect();
                // More calls than a reply may hold are all refused: none of them is made.
                if calls.len() <= self.frame.limits.context.calls_per_reply {
                    self.counted += u32::try_from(calls.len()).unwrap_or(u32::MAX);
                }
                self.phase = AutonomousPhase::Acting { calls, over: Vec::new() };
            }
        }
    }

    /// That a reply was sent back, until one is taken.
    fn sent_back(&self) -> Option<Words> {
        match self.phase {
            AutonomousPhase::Thinking { tries } if tries > 0 => {
                Some(truncation::note(tries, &self.frame))
            }
            _ => None,
        }
    }

    fn name(&mut self, tool: TaggedCall) -> ToolCall {
        self.calls += 1;
        ToolCall { id: CallId::new(format!("p{}", self.calls)), tool: tool.name, args: tool.args }
    }

    /// A reply that cannot be read: try again with a word on what was wrong.
    fn take_broken(&mut self, wrong: &str) {
        let text = format!("contract error: {wrong}. Reply again, in tags only.");
        self.transcript.push(Message::user(text));
        match &mut self.phase {
            AutonomousPhase::Thinking { tries }
                if *tries < self.frame.limits.steps.contract_retries =>
            {
                *tries += 1;
            }
            AutonomousPhase::Thinking { .. } => {
                self.phase = AutonomousPhase::Stuck(Reason::BrokenContract)
            }
            AutonomousPhase::Acting { .. }
            | AutonomousPhase::Stuck(_)
            | AutonomousPhase::Finished(_) => {}
        }
    }

    /// Calls are looked at in their order once all are over.
    fn take_observation(&mut self, id: &CallId, seen: &Observation) {
        let AutonomousPhase::Acting { calls, over } = &mut self.phase else { return };
        let known = over.iter().any(|(done, _)| done == id);
        if known || !calls.iter().any(|call| call.id == *id) {
            return;
        }
        over.push((id.clone(), seen.is_ok()));
        if over.len() < calls.len() {
            return;
        }
        let worked = |call: &&ToolCall| over.iter().any(|(id, ok)| *ok && call.id == *id);
        for call in calls.iter().filter(worked) {
            self.list.follow(call);
        }
        self.phase = AutonomousPhase::Thinking { tries: 0 };
    }
}

/// What people are shown of a reply's text: without the tags that only this loop reads (TD-8).
/// Where the loop is not known, a reply that begins with such a tag is one of this loop. Other
/// loops read no tags, and people are not shown them either.
#[must_use]
pub fn spoken(loop_name: &str, reply: &str) -> String {
    let reads_tags = match LoopSpec::named(loop_name) {
        Some(spec) => spec.reply_form == ReplyForm::Tags,
        None => loop_name.is_empty() && tags::begins(reply),
    };
    if reads_tags { tags::without_tags(reply) } else { everloop_types::without_tags(reply) }
}
