//! One round: its steps, how far they are, and how much time is left.

use super::refs;
use super::replies::WantedStep;
use crate::transcript::spoken;
use everloop_types::{
    Approval, CallId, EffectClass, Ending, Frame, ItemState, Observation, PlanItem, ToolCall, UtcMs,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const SHOWN_CHARS: usize = 120;

/// What the loop counts by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RoundCounts {
    /// Rounds that are over.
    pub(super) rounds: u32,
    /// Rounds without a usable reply, in a row.
    pub(super) failure_rounds: u32,
    /// Plans that were usable.
    pub(super) plans: u32,
    /// Calls that this loop has named.
    pub(super) calls: u32,
    /// Steps that were run, in all rounds.
    #[serde(default)]
    pub(super) steps_run: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Round {
    /// The call of `plan_tool_call` that all results answer together.
    asked: Option<CallId>,
    steps: Vec<RoundStep>,
    /// When the round must be over; `None` for no limit.
    until: Option<UtcMs>,
    /// When the last steps were over.
    since: UtcMs,
    /// Which round of the run it is, from 1.
    #[serde(default)]
    number: u32,
    /// Whether its time was over when its steps were looked at last.
    #[serde(default)]
    late: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RoundStep {
    wanted: WantedStep,
    call: Option<CallId>,
    seen: Option<Observation>,
}

impl RoundStep {
    fn failed(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| !seen.is_ok())
    }

    fn was_stopped(&self) -> bool {
        let stopped =
            |seen: &Observation| matches!(seen.ending, Ending::TimedOut | Ending::Unknown);
        self.seen.as_ref().is_some_and(stopped)
    }
}

impl Round {
    pub(super) fn new(
        asked: Option<CallId>,
        wanted: Vec<WantedStep>,
        at: UtcMs,
        frame: &Frame,
    ) -> Self {
        let round_ms = frame.limits.steps.rounds.round_ms;
        let steps = wanted.into_iter().map(|wanted| RoundStep { wanted, call: None, seen: None });
        Self {
            asked,
            steps: steps.collect(),
            until: (round_ms > 0).then(|| at.saturating_add_unsigned(round_ms)),
            since: at,
            number: 0,
            late: false,
        }
    }

    pub(super) fn numbered(self, number: u32) -> Self {
        Self { number, ..self }
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    pub(super) fn asked(&self) -> Option<&CallId> {
        self.asked.as_ref()
    }

    /// The steps to run now, as place, tool and arguments. `None` if the round is over.
    pub(super) fn next(
        &mut self,
        at: UtcMs,
        frame: &Frame,
    ) -> Option<Vec<(usize, String, String)>> {
        self.late = self.until.is_some_and(|until| at >= until);
        let first = self.steps.iter().position(|step| step.seen.is_none())?;
        if self.late || self.steps.iter().any(RoundStep::failed) {
            return None;
        }
        let together = self.steps[first..].iter().take_while(|step| alone(&step.wanted, frame));
        let most = frame.limits.context.calls_per_reply.max(1);
        let last = first + together.count().clamp(1, most);
        let mut wanted = Vec::new();
        for place in first..last {
            match self.resolved(place) {
                Ok(args) => wanted.push((place, self.steps[place].wanted.tool.clone(), args)),
                // Only a step that is run by itself can have a reference.
                Err(wrong) => {
                    let text = format!("{wrong}; nothing was done");
                    self.steps[place].seen = Some(Observation::error(text));
                    return None;
                }
            }
        }
        Some(wanted)
    }

    fn resolved(&self, place: usize) -> Result<String, String> {
        let seen = |step: &RoundStep| step.seen.as_ref().map_or("", |seen| &seen.text).to_owned();
        let results: Vec<String> = self.steps[..place].iter().map(seen).collect();
        let results: Vec<&str> = results.iter().map(String::as_str).collect();
        refs::resolve(&self.steps[place].wanted.arguments, &results).map(|args| args.to_string())
    }

    pub(super) fn name(&mut self, place: usize, id: CallId) {
        self.steps[place].call = Some(id);
    }

    pub(super) fn take(&mut self, id: &CallId, seen: &Observation) {
        if let Some(step) = self.steps.iter_mut().find(|step| step.call.as_ref() == Some(id)) {
            step.seen = Some(seen.clone());
        }
    }

    pub(super) fn is_over(&self, id: &CallId) -> bool {
        let this = self.steps.iter().find(|step| step.call.as_ref() == Some(id));
        this.is_some_and(|step| step.seen.is_some())
    }

    /// When running steps are stopped. A person has no deadline.
    pub(super) fn deadline(&self, calls: &[ToolCall], frame: &Frame) -> Option<UtcMs> {
        self.until.filter(|_| !calls.iter().any(|call| waits(call, frame)))
    }

    /// Time that a person took is not the round's.
    pub(super) fn pause(&mut self, calls: &[ToolCall], at: UtcMs, frame: &Frame) {
        if calls.iter().any(|call| waits(call, frame)) {
            self.until = self.until.map(|until| until.saturating_add(at - self.since));
        }
        self.since = at;
    }

    /// What the model is shown of the round, in one message.
    pub(super) fn results(&self) -> String {
        let steps = self.steps.iter().enumerate().map(|(place, step)| match &step.seen {
            Some(seen) => json!({ "step": place, "tool": step.wanted.tool, "ok": seen.is_ok(),
                "result": spoken(seen) }),
            None => json!({ "step": place, "tool": step.wanted.tool, "ok": Value::Null,
                "result": "not run" }),
        });
        let steps: Vec<Value> = steps.collect();
        let ended = match (self.steps.iter().position(RoundStep::failed), self.current()) {
            (Some(place), _) if self.late && self.steps[place].was_stopped() => {
                format!("the round ran out of time in step {place}")
            }
            (Some(place), _) => format!("step {place} failed"),
            (None, Some(place)) => format!("the round ran out of time before step {place}"),
            (None, None) => "all steps were run".to_owned(),
        };
        json!({ "ended": ended, "steps": steps }).to_string()
    }

    /// The first step that has no outcome.
    pub(super) fn current(&self) -> Option<usize> {
        self.steps.iter().position(|step| step.seen.is_none())
    }

    pub(super) fn items(&self) -> Vec<PlanItem> {
        let item = |step: &RoundStep| {
            let text = format!("{} {}", step.wanted.tool, step.wanted.arguments);
            let state = match (&step.seen, &step.call) {
                (Some(seen), _) if seen.is_ok() => ItemState::Completed,
                (Some(_), _) => ItemState::Failed,
                (None, Some(_)) => ItemState::InProgress,
                (None, None) => ItemState::Pending,
            };
            PlanItem::new(text.chars().take(SHOWN_CHARS).collect::<String>(), state)
        };
        self.steps.iter().map(item).collect()
    }
}

/// Whether a step may run beside others: marked so, changing nothing, and needing no result.
fn alone(wanted: &WantedStep, frame: &Frame) -> bool {
    let pure =
        |name: &str| frame.tool(name).is_some_and(|tool| tool.handling.class == EffectClass::Pure);
    wanted.independent && pure(&wanted.tool) && !refs::has(&wanted.arguments)
}

/// Whether a call waits for a person.
fn waits(call: &ToolCall, frame: &Frame) -> bool {
    frame.tool(&call.tool).is_some_and(|tool| {
        let said = frame.policy.says(call, &frame.workspace).map(|(said, _)| said);
        let asks = said.unwrap_or(tool.handling.approval) == Approval::Ask;
        (asks && !frame.policy.approve_all) || tool.handling.timeout_ms == 0
    })
}
