//! Plan-execute-think: plan a round of steps, run them without the model, look at them together.
//!
//! ```text
//!   Planning ──plan──► Executing ──last step, a failed one, no time left──► Thinking
//!       ▲                                                                   │    │
//!       └──────────────────────────── not completed ────────────────────────┘    └──► Finished
//! ```
//!
//! Deliberately absent: transport retries, budgets, approvals, compaction, the forced summary (done
//! around every loop).

mod failures;
mod refs;
mod replies;
mod round;

pub(crate) use replies::{PLAN, THINK, own};

use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::toolbox::listed;
use crate::{AgentLoop, Transcript, Voice};
use everloop_text as text;
use everloop_types::{
    Answer, CallId, Event, Frame, Goal, Message, ModelCall, Next, Observation, Progress, Purpose,
    Reason, Reply, RoundPlace, TodoList, ToolBatch, ToolCall, ToolChoice, ToolOffer, UtcMs, Words,
};
use replies::{read_plan, read_thought, steps_most};
use round::{Round, RoundCounts};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const INSTRUCTIONS: &str = include_str!("prompts/plan_execute_think.md");

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanExecuteThink {
    phase: RoundPhase,
    transcript: Transcript,
    round: Round,
    tally: RoundCounts,
    /// The message to the user at the end of the newest round.
    summary: Option<String>,
    note: Option<Words>,
    /// A list beside the rounds, if the model keeps one.
    #[serde(default, skip_serializing_if = "TodoList::is_untouched")]
    list: TodoList,
    #[serde(skip)]
    frame: Arc<Frame>,
}

/// Each phase is named after what is going on. `tries` counts replies that broke the contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RoundPhase {
    Planning { tries: u32 },
    Executing(Vec<ToolCall>),
    Thinking { tries: u32 },
    Stuck(Reason),
    Finished(Answer),
}

impl Default for RoundPhase {
    fn default() -> Self {
        Self::Planning { tries: 0 }
    }
}

impl AgentLoop for PlanExecuteThink {
    const SPEC: LoopSpec = LoopSpec {
        name: "plan-execute-think",
        version: 1,
        audience: LoopAudience::People,
        step_unit: StepUnit::Round,
        max_steps: 20,
        settings: &[
            "loop.preset",
            "loop.round_time",
            "loop.contract_retries",
            "loop.failure_rounds",
        ],
        keeps_list: false,
        delegates: false,
        reply_form: ReplyForm::Rounds,
        alternative: "react",
        golden: golden!["v0.1/plan-execute-think-1-errand"],
        sample: crate::replies::round_by_round,
    };

    fn evolve(&mut self, event: &Event) {
        match event {
            Event::Started { goal, frame, .. } => self.start(goal, frame),
            Event::Replied { at, reply } => self.take_reply(reply, *at),
            Event::ModelFailed { error, .. } => self.take_failure(Reason::Model(error.clone())),
            Event::Observed { at, call, seen } => self.take_observation(call, seen, *at),
            Event::Forked { word, .. } => self.fork(word.as_deref()),
            // `Run` has already informed the model and rewritten the transcript.
            Event::Noticed { .. } | Event::Compacted { .. } => {}
        }
    }

    fn decide(&self) -> Next {
        match &self.phase {
            RoundPhase::Planning { .. } => force(Purpose::Plan, PLAN),
            RoundPhase::Thinking { .. } => force(Purpose::Think, THINK),
            RoundPhase::Executing(calls) => Next::CallTools(ToolBatch {
                calls: calls.clone(),
                deadline: self.round.deadline(calls, &self.frame),
            }),
            RoundPhase::Stuck(reason) => Next::GiveUp(reason.clone()),
            RoundPhase::Finished(answer) => Next::Finish(answer.clone()),
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
        let executing = matches!(self.phase, RoundPhase::Executing(_));
        Progress {
            items: self.round.items(),
            current: self.round.current().filter(|_| executing),
            version: self.tally.plans,
            steps: self.tally.rounds,
            steps_max: self.max_rounds(),
            failed: 0,
            note: self.note.clone(),
            round: (self.round.number() > 0).then(|| RoundPlace {
                number: self.round.number(),
                most: self.max_rounds(),
                steps_run: self.tally.steps_run,
            }),
        }
    }

    fn attach(&mut self, frame: Arc<Frame>) {
        self.frame = frame;
    }
}

impl PlanExecuteThink {
    fn start(&mut self, goal: &Goal, frame: &Arc<Frame>) {
        self.frame = frame.clone();
        let tools = listed(frame.tools.iter());
        let system = format!("{}\n\n{INSTRUCTIONS}\n{tools}", frame.system);
        self.transcript.open(Voice::Gathered, system, &frame.carried, goal);
        self.ask_plan();
    }

    fn max_rounds(&self) -> u32 {
        let steps = &self.frame.limits.steps;
        steps.rounds.max_rounds.min(steps.max_steps)
    }

    /// A failed step is tried again; an answer stays unless the user adds something.
    fn fork(&mut self, word: Option<&str>) {
        let RoundCounts { plans, calls, .. } = self.tally;
        self.tally = RoundCounts { plans, calls, ..RoundCounts::default() };
        self.note = None;
        match &self.phase {
            RoundPhase::Finished(answer) if word.is_none() && answer.trouble.is_none() => {}
            RoundPhase::Finished(_) | RoundPhase::Stuck(_) => self.ask_plan(),
            _ => {}
        }
    }

    /// The next round, or the end if there is none.
    fn ask_plan(&mut self) {
        let (round, limit) = (self.tally.rounds + 1, self.max_rounds());
        if round > limit {
            return self.end_at_limit(limit);
        }
        let rounds = self.frame.limits.steps.rounds;
        let most = steps_most(rounds);
        let least = rounds.steps_least.min(most);
        let text = format!(
            "phase: plan\nround {round} of {limit}: about {least} to {most} steps, fewer if fewer \
             are enough, never more than {most}"
        );
        self.transcript.push(Message::user(text));
        self.phase = RoundPhase::Planning { tries: 0 };
    }

    /// The words of the last round, or those that the closing finds (PET-8).
    fn end_at_limit(&mut self, limit: u32) {
        let trouble = Reason::StepLimit { limit };
        self.phase = match &self.summary {
            Some(summary) => RoundPhase::Finished(Answer {
                words: Words::All(vec![
                    Words::Said(summary.clone()),
                    text::limit::rounds(&limit).words(),
                ]),
                trouble: Some(trouble),
            }),
            None => RoundPhase::Stuck(trouble),
        };
    }

    fn take_reply(&mut self, reply: &Reply, at: UtcMs) {
        self.transcript.push_reply(reply);
        let broken = match self.phase {
            RoundPhase::Planning { .. } => match read_plan(reply, &self.frame) {
                Ok(planned) => {
                    self.tally.plans += 1;
                    self.note = Some(Words::Said(planned.reasoning)).filter(|n| !n.is_empty());
                    let asked = reply.calls.first().map(|call| call.id.clone());
                    self.round = Round::new(asked, planned.steps, at, &self.frame)
                        .numbered(self.tally.rounds + 1);
                    return self.advance(at);
                }
                Err(wrong) => wrong,
            },
            RoundPhase::Thinking { .. } => match read_thought(reply) {
                Ok(thought) => {
                    self.answer_all(reply, "noted");
                    return self.take_thought(thought.user_summary, thought.task_completed);
                }
                Err(wrong) => wrong,
            },
            RoundPhase::Executing(_) | RoundPhase::Stuck(_) | RoundPhase::Finished(_) => return,
        };
        if !self.take_words(reply) {
            self.take_broken(reply, &broken);
        }
    }

    fn take_thought(&mut self, summary: String, completed: bool) {
        self.tally.rounds += 1;
        self.tally.failure_rounds = 0;
        // The last summary is the answer: it is shown as that.
        self.note = Some(Words::Said(summary.clone())).filter(|_| !completed);
        if completed {
            let words = Words::Said(summary);
            self.phase = RoundPhase::Finished(Answer { words, trouble: None });
        } else {
            self.summary = Some(summary);
            self.ask_plan();
        }
    }

    /// On to the next steps, or to thinking about those that were run.
    fn advance(&mut self, at: UtcMs) {
        let wanted = self.round.next(at, &self.frame);
        self.phase = match wanted {
            Some(steps) => {
                let mut calls = Vec::new();
                for (place, tool, args) in steps {
                    self.tally.calls += 1;
                    let id = CallId::new(format!("p{}", self.tally.calls));
                    self.round.name(place, id.clone());
                    calls.push(ToolCall { id, tool, args });
                }
                RoundPhase::Executing(calls)
            }
            None => return self.ask_thought(),
        };
    }

    fn ask_thought(&mut self) {
        if let Some(asked) = self.round.asked() {
            self.transcript.answer(asked, self.round.results());
        }
        self.transcript.push(Message::user("phase: think"));
        self.phase = RoundPhase::Thinking { tries: 0 };
    }

    fn take_observation(&mut self, id: &CallId, seen: &Observation, at: UtcMs) {
        let RoundPhase::Executing(calls) = &self.phase else { return };
        let Some(call) = calls.iter().find(|call| call.id == *id) else { return };
        if seen.is_ok() {
            self.list.follow(call);
        }
        self.tally.steps_run += 1;
        self.round.take(id, seen);
        if calls.iter().all(|call| self.round.is_over(&call.id)) {
            self.round.pause(calls, at, &self.frame);
            self.advance(at);
        }
    }
}

/// Only this tool, and the model must call it (PET-1).
fn force(purpose: Purpose, tool: &str) -> Next {
    Next::AskModel(ModelCall {
        purpose,
        offer: ToolOffer::Only(vec![tool.to_owned()]),
        choice: ToolChoice::Named(tool.to_owned()),
        output: None,
    })
}
