//! Plan-replan: plan once, then think, act and observe item by item, and look at the plan again.
//!
//! ```text
//!   Planning ──done──► Finished, where nothing is to be planned
//!      └──planned──► Thinking ──continue──► Acting ──observation──► Thinking
//!                   │ └──ask_user──► Asking ──answer──► Replanning
//!                   └──done──► Replanning ──replanned──► Thinking
//!                                   └──done──► Finished
//! ```
//!
//! Deliberately absent: transport retries, budgets, approvals, compaction (done around every loop).

mod phases;
mod replies;

use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::toolbox::{action_line, in_words};
use crate::{AgentLoop, Transcript, truncation};
use everloop_text as text;
use everloop_types::{
    Answer, CallId, Contract, Event, Frame, ItemState, ModelCall, Next, Observation, PlanItem,
    Progress, Purpose, Reason, TodoList, ToolCall, ToolChoice, ToolOffer, Words,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The loop's state (PR-10).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanReplan {
    phase: PlanPhase,
    transcript: Transcript,
    plan: ItemPlan,
    tally: PlanCounts,
    /// What was asked and answered, in order.
    clarified: Vec<(String, String)>,
    /// What the user would get if nothing better comes.
    pending_response: Option<String>,
    note: Option<Words>,
    /// A list beside the plan, if the model keeps one.
    #[serde(default, skip_serializing_if = "TodoList::is_untouched")]
    list: TodoList,
    #[serde(skip)]
    frame: Arc<Frame>,
}

/// Each phase is named after what is going on. `tries` counts replies that broke the contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PlanPhase {
    Planning { tries: u32 },
    Thinking { tries: u32 },
    Replanning { tries: u32 },
    Acting(ToolCall),
    Asking { call: ToolCall, question: String },
    Finished(Answer),
}

impl Default for PlanPhase {
    fn default() -> Self {
        Self::Planning { tries: 0 }
    }
}

impl PlanPhase {
    /// The contract that the next reply has to follow, and how many broke it so far.
    fn asks(&self) -> Option<(Contract, u32)> {
        match self {
            Self::Planning { tries } => Some((Contract::Plan, *tries)),
            Self::Thinking { tries } => Some((Contract::Thought, *tries)),
            Self::Replanning { tries } => Some((Contract::Replan, *tries)),
            Self::Acting(_) | Self::Asking { .. } | Self::Finished(_) => None,
        }
    }
}

/// The plan and the place in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ItemPlan {
    items: Vec<PlanItem>,
    current: usize,
    version: u32,
}

/// What the loop counts by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PlanCounts {
    /// Thoughts, replans and actions (PR-7).
    steps: u32,
    /// Rounds without a usable reply, in a row.
    failure_rounds: u32,
    /// The same question again after it was answered.
    repeated_questions: u32,
    /// Calls that this loop has named.
    calls: u32,
    /// Actions that worked, for the account at the limit.
    done: Vec<String>,
    failed: u32,
}

impl AgentLoop for PlanReplan {
    const SPEC: LoopSpec = LoopSpec {
        name: "plan-replan",
        version: 1,
        audience: LoopAudience::People,
        step_unit: StepUnit::Step,
        max_steps: 20,
        settings: &[
            "loop.contract_retries",
            "loop.failure_rounds",
            "loop.repeated_questions",
            "loop.max_clarifications",
        ],
        keeps_list: false,
        delegates: true,
        reply_form: ReplyForm::JsonObjects,
        alternative: "react",
        golden: golden!["v0.1/plan-replan-1-errand", "v0.1/plan-replan-1-unsettled"],
        sample: crate::replies::in_json,
    };

    fn evolve(&mut self, event: &Event) {
        match event {
            Event::Started { goal, frame, .. } => self.start(goal, frame),
            Event::Replied { reply, .. } => self.take_reply(reply),
            Event::ModelFailed { error, .. } => {
                self.take_failure(&error.detail, Reason::Model(error.clone()));
            }
            Event::Observed { call, seen, .. } => self.take_observation(call, seen),
            Event::Forked { word, .. } => self.fork(word.as_deref()),
            // `Run` has already informed the model and rewritten the transcript.
            Event::Noticed { .. } | Event::Compacted { .. } => {}
        }
    }

    /// The step limit is looked at before a thought or a replan; the action after a thought always
    /// runs.
    fn decide(&self) -> Next {
        match &self.phase {
            PlanPhase::Planning { .. } => ask(Purpose::Plan, Contract::Plan),
            PlanPhase::Thinking { .. } | PlanPhase::Replanning { .. } if self.out_of_steps() => {
                Next::Finish(self.limit_answer())
            }
            PlanPhase::Thinking { .. } => ask(Purpose::Think, Contract::Thought),
            PlanPhase::Replanning { .. } => ask(Purpose::Replan, Contract::Replan),
            PlanPhase::Acting(call) | PlanPhase::Asking { call, .. } => {
                Next::run_tools(std::slice::from_ref(call))
            }
            PlanPhase::Finished(answer) => Next::Finish(answer.clone()),
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
        let mut items = self.plan.items.clone();
        let running = !matches!(self.phase, PlanPhase::Finished(_));
        if let Some(item) = items.get_mut(self.plan.current)
            && item.state == ItemState::Pending
            && running
        {
            item.state = ItemState::InProgress;
        }
        Progress {
            current: (self.plan.current < items.len()).then_some(self.plan.current),
            items,
            version: self.plan.version,
            steps: self.tally.steps,
            steps_max: self.frame.limits.steps.max_steps,
            failed: self.tally.failed,
            note: self.sent_back().or_else(|| self.note.clone()),
            round: None,
        }
    }

    fn attach(&mut self, frame: Arc<Frame>) {
        self.frame = frame;
    }
}

impl PlanReplan {
    fn out_of_steps(&self) -> bool {
        self.tally.steps >= self.frame.limits.steps.max_steps
    }

    /// A failed step is tried again; an answer stays unless the user adds something.
    fn fork(&mut self, word: Option<&str>) {
        let tally = &mut self.tally;
        (tally.steps, tally.failure_rounds, tally.repeated_questions) = (0, 0, 0);
        self.note = None;
        match &self.phase {
            PlanPhase::Finished(answer) if word.is_none() && answer.trouble.is_none() => {}
            PlanPhase::Finished(_) if self.plan.version == 0 => self.ask_plan(),
            PlanPhase::Finished(_) => self.ask_replan(),
            _ => {}
        }
    }

    fn take_observation(&mut self, id: &CallId, seen: &Observation) {
        match std::mem::take(&mut self.phase) {
            PlanPhase::Acting(call) if call.id == *id => self.acted(&call, seen),
            PlanPhase::Asking { call, question } if call.id == *id => self.asked(question, seen),
            other => self.phase = other,
        }
    }

    fn acted(&mut self, call: &ToolCall, seen: &Observation) {
        self.tally.steps += 1;
        if seen.is_ok() {
            self.list.follow(call);
            self.tally.done.push(in_words(&self.frame, call, seen));
            self.ask_next_thought();
        } else {
            self.tally.failed += 1;
            self.ask_thought();
        }
    }

    fn asked(&mut self, question: String, seen: &Observation) {
        if seen.is_ok() {
            self.clarified.push((question, seen.text.clone()));
            self.ask_replan();
        } else {
            self.ask_thought();
        }
    }

    /// That a reply was sent back, until one is taken.
    fn sent_back(&self) -> Option<Words> {
        let (_, tries) = self.phase.asks().filter(|(_, tries)| *tries > 0)?;
        Some(truncation::note(tries, &self.frame))
    }

    /// What was done, why the rest was not and what that is, what to do next (PR-7).
    fn limit_answer(&self) -> Answer {
        let limit = self.frame.limits.steps.max_steps;
        let mut done: Vec<Words> = Vec::new();
        let completed = self.plan.items.iter().filter(|item| item.state == ItemState::Completed);
        done.extend(completed.map(|item| Words::Said(format!("- {}", item.text))));
        done.extend(self.tally.done.iter().map(|action| action_line(action)));
        done.extend(self.pending_response.iter().cloned().map(Words::Said));
        if done.is_empty() {
            done.push(text::limit::nothing_done().words());
        }
        let mut words = vec![
            text::limit::reached(&limit).words(),
            text::limit::done().words(),
            Words::All(done),
            text::limit::why().words(),
            text::limit::why_text(&limit).words(),
        ];
        let open = self.plan.items.iter().filter(|item| item.state != ItemState::Completed);
        words.extend(open.map(|item| text::limit::left(&item.text).words()));
        words.extend([text::limit::next().words(), text::limit::next_text().words()]);
        Answer { words: Words::All(words), trouble: Some(Reason::StepLimit { limit }) }
    }
}

fn ask(purpose: Purpose, contract: Contract) -> Next {
    Next::AskModel(ModelCall {
        purpose,
        offer: ToolOffer::None,
        choice: ToolChoice::Auto,
        output: Some(contract),
    })
}
