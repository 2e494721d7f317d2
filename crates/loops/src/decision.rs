//! Decision: one message, one JSON object: a reply, a background run, or both (DR-3 to DR-6).
//!
//! ```text
//!   Deciding ──reply──► Finished
//!      │ ├──run on the list──► Starting ──outcome of `start_run`──► Finished
//!      │ ├──run off the list──► Finished: what is not possible
//!      │ └──no decision──► Deciding, told so; too often ──► Finished: an apology
//!      └──the model failed──► Finished: an apology
//! ```
//!
//! Not for goals of people: the front door of conversations starts it. Whatever goes wrong, the
//! person gets a reply, so it never gives up.
//!
//! Deliberately absent: the conversation that a run belongs to. The program sets it, whatever the
//! model wrote.

mod read;

pub(crate) use read::schema;
pub use read::{DECISION_SCHEMA, DecisionKind, DecisionReply, RunProposal, read_decision};

use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::{AgentLoop, Transcript, Voice, replies, truncation};
use everloop_text as text;
use everloop_types::{
    Answer, CallId, Contract, Event, Frame, Goal, Message, ModelCall, Next, Observation, Progress,
    Purpose, Reason, Reply, START_RUN, TodoList, ToolCall, ToolChoice, ToolOffer, Words,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

const INSTRUCTIONS: &str = include_str!("prompts/decision.md");
const FOLLOW_UP: &str = include_str!("prompts/follow_up.md");

/// The name of the loop, for the program that starts it.
pub const DECISION_LOOP: &str = "decision";

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DecisionLoop {
    phase: DecisionPhase,
    transcript: Transcript,
    /// Always empty: there is nothing to plan.
    #[serde(skip)]
    list: TodoList,
    /// Decisions that were taken. A reply that is none, and is sent back, is not a step.
    steps: u32,
    /// Runs that were to be started.
    starts: u32,
    #[serde(skip)]
    frame: Arc<Frame>,
}

/// Each phase is named after what is going on, and holds exactly what that needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DecisionPhase {
    /// `tries` counts replies that were no decision.
    Deciding {
        tries: u32,
    },
    /// The run that is to begin, and what is said once it has.
    Starting {
        call: ToolCall,
        title: String,
        reply: Option<String>,
    },
    Finished(Answer),
}

impl Default for DecisionPhase {
    fn default() -> Self {
        Self::Deciding { tries: 0 }
    }
}

impl AgentLoop for DecisionLoop {
    const SPEC: LoopSpec = LoopSpec {
        name: DECISION_LOOP,
        version: 1,
        audience: LoopAudience::Program,
        step_unit: StepUnit::Iteration,
        max_steps: 25,
        settings: &["loop.contract_retries"],
        keeps_list: false,
        delegates: false,
        reply_form: ReplyForm::JsonObjects,
        alternative: "react",
        golden: golden!["v0.1/decision-1-start", "v0.1/decision-1-apology"],
        sample: replies::in_decision,
    };

    fn evolve(&mut self, event: &Event) {
        match event {
            Event::Started { goal, frame, .. } => self.start(goal, frame),
            Event::Replied { reply, .. } => self.take_reply(reply),
            Event::ModelFailed { error, .. } => self.apologize(Reason::Model(error.clone())),
            Event::Observed { call, seen, .. } => self.take_observation(call, seen),
            Event::Forked { word, .. } => self.fork(word.as_deref()),
            // `Run` has already informed the model and rewritten the transcript.
            Event::Noticed { .. } | Event::Compacted { .. } => {}
        }
    }

    fn decide(&self) -> Next {
        match &self.phase {
            DecisionPhase::Deciding { .. } => Next::AskModel(ModelCall {
                purpose: Purpose::Think,
                offer: ToolOffer::None,
                choice: ToolChoice::Auto,
                output: Some(Contract::Decision),
            }),
            DecisionPhase::Starting { call, .. } => Next::run_tools(std::slice::from_ref(call)),
            DecisionPhase::Finished(answer) => Next::Finish(answer.clone()),
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
        let note = match self.phase {
            DecisionPhase::Deciding { tries } if tries > 0 => {
                Some(truncation::note(tries, &self.frame))
            }
            _ => None,
        };
        Progress {
            items: Vec::new(),
            current: None,
            version: 0,
            steps: self.steps,
            steps_max: self.frame.limits.steps.max_steps,
            failed: 0,
            note,
            round: None,
        }
    }

    fn attach(&mut self, frame: Arc<Frame>) {
        self.frame = frame;
    }
}

impl DecisionLoop {
    fn start(&mut self, goal: &Goal, frame: &Arc<Frame>) {
        self.frame = frame.clone();
        let terms = frame.decision.as_deref();
        let types = terms.map(|terms| terms.run_types.as_slice()).unwrap_or_default();
        let types: Vec<String> =
            types.iter().map(|offer| format!("- `{}`: {}", offer.name, offer.about)).collect();
        let types = if types.is_empty() { "- none".to_owned() } else { types.join("\n") };
        let mut system = format!("{}\n\n{INSTRUCTIONS}{types}\n", frame.system);
        if terms.is_some_and(|terms| terms.depth > 0) {
            system = format!("{system}\n{FOLLOW_UP}");
        }
        self.transcript.open(Voice::JsonMessages, system, &frame.carried, goal);
    }

    /// What failed is tried again; a reply stays unless the user adds something. A run that was
    /// started stays started.
    fn fork(&mut self, word: Option<&str>) {
        self.steps = 0;
        if let DecisionPhase::Finished(answer) = &self.phase
            && (word.is_some() || answer.trouble.is_some())
        {
            self.phase = DecisionPhase::default();
        }
    }

    fn take_reply(&mut self, reply: &Reply) {
        self.transcript.push(Message::Assistant { text: reply.text.clone(), calls: Vec::new() });
        let DecisionPhase::Deciding { tries } = self.phase else { return };
        match read_decision(&reply.text) {
            Ok(decision) => self.take(decision),
            Err(_) if tries >= self.frame.limits.steps.contract_retries => {
                self.apologize(Reason::BrokenContract);
            }
            Err(wrong) => {
                let told = format!("contract error: {wrong}. Reply again, with the JSON only.");
                self.transcript.push(Message::user(told));
                self.phase = DecisionPhase::Deciding { tries: tries + 1 };
            }
        }
    }

    fn take(&mut self, decision: DecisionReply) {
        self.steps += 1;
        let shown = decision.shown_reply();
        let Some(run) = decision.run else {
            return self.finish(vec![Words::Said(shown.unwrap_or_default())]);
        };
        let terms = self.frame.decision.as_deref();
        let types = terms.map(|terms| terms.run_types.as_slice()).unwrap_or_default();
        if types.iter().any(|offer| offer.name == run.run_type) {
            let title = run.shown_title();
            let args = json!({"type": run.run_type, "title": title, "input": run.input});
            self.starts += 1;
            let id = CallId::new(format!("start{}", self.starts));
            let call = ToolCall { id, tool: START_RUN.to_owned(), args: args.to_string() };
            self.phase = DecisionPhase::Starting { call, title, reply: shown };
            return;
        }
        let named: String = run.run_type.chars().take(64).collect();
        let known: Vec<&str> = types.iter().map(|offer| offer.name.as_str()).collect();
        let why = match known.is_empty() {
            true => text::decision::nothing_allowed(&named).words(),
            false => text::decision::off_list(&named, &known.join(", ")).words(),
        };
        self.finish(shown.map(Words::Said).into_iter().chain([why]).collect());
    }

    /// The reply goes out in any case, and what is not as it says is said after it.
    fn take_observation(&mut self, id: &CallId, seen: &Observation) {
        let DecisionPhase::Starting { call, title, reply } = &self.phase else { return };
        if call.id != *id {
            return;
        }
        let told: Value = serde_json::from_str(&seen.text).unwrap_or_default();
        let rest = if !seen.is_ok() {
            Some(text::decision::not_started(&title, &seen.text).words())
        } else if told.get("already_running").is_some() {
            Some(text::decision::already_running(&title).words())
        } else if reply.is_none() {
            Some(text::decision::started(&title).words())
        } else {
            None
        };
        let said = reply.clone().map(Words::Said);
        self.finish(said.into_iter().chain(rest).collect());
    }

    fn finish(&mut self, mut words: Vec<Words>) {
        let words = if words.len() == 1 { words.remove(0) } else { Words::All(words) };
        self.phase = DecisionPhase::Finished(Answer { words, trouble: None });
    }

    fn apologize(&mut self, trouble: Reason) {
        let words = text::decision::apology().words();
        self.phase = DecisionPhase::Finished(Answer { words, trouble: Some(trouble) });
    }
}
