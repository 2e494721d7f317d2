//! The steps of a run: what happened between which moments, from its events.

use super::activity::ending_state;
use super::step_plan::{PlanPlace, PlanReader};
use everloop_app::call_words::call_words;
use everloop_engine::{EventKind, RunEvent, WaitingFor};
use everloop_pages::parts::say;
use everloop_pages::run::WaterfallStep;
use everloop_pages::waterfall::{StepKind, TimeSpan};
use everloop_text::Text;
use everloop_text::pages as words;
use everloop_types::{Ending, Lang, Purpose, UtcMs};

/// A step with everything that is known about it.
#[derive(Debug, Clone)]
pub(crate) struct RunStep {
    /// The first event.
    pub(crate) seq: i64,
    /// The last event.
    pub(crate) last: i64,
    /// What it is.
    pub(crate) kind: StepKind,
    /// What it is called.
    pub(crate) name: String,
    /// What is said beside it.
    pub(crate) note: String,
    /// How it ended; `running` or `waiting` while it has not.
    pub(crate) state: &'static str,
    /// When it began.
    pub(crate) from: UtcMs,
    /// When it ended.
    pub(crate) to: UtcMs,
    /// Attempts that failed: what went wrong.
    pub(crate) tries: Vec<String>,
    /// What went in.
    pub(crate) input: String,
    /// What came out.
    pub(crate) output: String,
    /// The change of a file.
    pub(crate) diff: Vec<String>,
    /// The item of the plan that was worked on.
    pub(super) under: Option<PlanPlace>,
    /// The call that it is.
    call: Option<String>,
}

impl RunStep {
    /// The bar of it.
    pub(crate) fn bar(&self) -> WaterfallStep {
        let tries = if self.tries.is_empty() {
            String::new()
        } else {
            format!(" ×{}", self.tries.len() + 1)
        };
        WaterfallStep {
            seq: self.seq,
            kind: self.kind,
            name: self.name.clone(),
            note: format!("{}{tries}", self.note),
            state: self.state,
            under: None,
            span: TimeSpan { from: self.from, to: self.to, waits: self.is_idle() },
        }
    }

    /// Whether nothing works in it: it waits, or no process ran.
    fn is_idle(&self) -> bool {
        matches!(self.kind, StepKind::Wait | StepKind::Recovery) || self.state == "waiting"
    }

    /// Whether it is of a part that a person wants to see.
    pub(crate) fn is_of(&self, part: &str) -> bool {
        match part {
            "model" => self.kind == StepKind::Model,
            "tool" => self.kind == StepKind::Tool,
            "wait" => self.kind == StepKind::Wait,
            "failed" => matches!(self.state, "failed" | "unsettled"),
            _ => true,
        }
    }
}

/// Collects steps.
struct StepReader {
    lang: Lang,
    steps: Vec<RunStep>,
    plan: PlanReader,
    last_at: UtcMs,
}

/// The steps of a run. `now` is the end of what has not ended; a run that was set aside has none,
/// though its journal has no last entry.
pub(crate) fn steps(lang: Lang, events: &[RunEvent], now: Option<UtcMs>) -> Vec<RunStep> {
    let mut reader =
        StepReader { lang, steps: Vec::new(), plan: PlanReader::default(), last_at: 0 };
    for event in events {
        let at = event.ts.unwrap_or(reader.last_at);
        reader.take(event, at);
        reader.last_at = at;
    }
    let now = now.filter(|_| !events.last().is_some_and(RunEvent::is_terminal));
    let (is_over, end) = (now.is_none(), now.unwrap_or(reader.last_at));
    // What the run waits in is not worked on.
    let waits = !is_over && reader.running(StepKind::Wait).is_some();
    let open_state = match (is_over, waits) {
        (true, _) => "canceled",
        (false, true) => "waiting",
        (false, false) => "running",
    };
    // Nor in the time in which no process ran.
    let recoveries = reader.steps.iter().filter(|step| step.kind == StepKind::Recovery);
    let recovered = recoveries.map(|step| step.to).max().unwrap_or(0);
    for step in reader.steps.iter_mut().filter(|step| step.state == "running") {
        step.from = step.from.max(recovered);
        step.to = end;
        step.state = open_state;
    }
    let StepReader { mut steps, plan, .. } = reader;
    plan.close(&mut steps, open_state);
    steps
}

fn purpose_words(purpose: Purpose) -> Text {
    match purpose {
        Purpose::Plan => words::run::purpose::plan(),
        Purpose::Think => words::run::purpose::think(),
        Purpose::Replan => words::run::purpose::replan(),
        Purpose::Compact => words::run::purpose::compact(),
        Purpose::Close => words::run::purpose::close(),
    }
}

impl StepReader {
    fn open(&mut self, event: &RunEvent, at: UtcMs, kind: StepKind, name: String) -> &mut RunStep {
        self.steps.push(RunStep {
            seq: event.seq,
            last: event.seq,
            kind,
            name,
            note: String::new(),
            state: "running",
            from: at,
            to: at,
            tries: Vec::new(),
            input: String::new(),
            output: String::new(),
            diff: Vec::new(),
            under: self.plan.current().filter(|_| kind != StepKind::Plan),
            call: None,
        });
        let last = self.steps.len() - 1;
        &mut self.steps[last]
    }

    fn say(&self, text: Text) -> String {
        say(self.lang, text)
    }

    /// The newest step of a kind that has not ended.
    fn running(&mut self, kind: StepKind) -> Option<&mut RunStep> {
        self.steps.iter_mut().rev().find(|step| step.kind == kind && step.state == "running")
    }

    fn of_call(&mut self, call: &str) -> Option<&mut RunStep> {
        self.steps.iter_mut().rev().find(|step| step.call.as_deref() == Some(call))
    }

    fn end(step: Option<&mut RunStep>, event: &RunEvent, at: UtcMs, state: &'static str) {
        if let Some(step) = step {
            step.last = event.seq;
            step.to = at;
            step.state = state;
        }
    }

    /// Ends a wait. What is under way works from now on.
    fn end_wait(&mut self, event: &RunEvent, at: UtcMs) {
        let waited = self.running(StepKind::Wait).is_some();
        Self::end(self.running(StepKind::Wait), event, at, "succeeded");
        if waited {
            let open = self.steps.iter_mut().filter(|step| step.state == "running");
            open.for_each(|step| step.from = at);
        }
    }

    fn take(&mut self, event: &RunEvent, at: UtcMs) {
        // Whatever happens ends a wait.
        if !matches!(event.kind, EventKind::QuestionOpened { .. }) {
            self.end_wait(event, at);
        }
        match &event.kind {
            EventKind::StepStarted { purpose, .. } => {
                let name = self.say(purpose_words(*purpose));
                let step = self.open(event, at, StepKind::Model, name);
                if *purpose != Purpose::Think {
                    step.under = None;
                }
            }
            EventKind::StepRetrying { error, .. } => {
                if let Some(step) = self.running(StepKind::Model) {
                    step.tries.push(error.clone());
                }
            }
            EventKind::MessageCompleted { text, usage, duration_ms, .. } => {
                let note = format!("{} + {}", usage.input_tokens, usage.output_tokens);
                let took = i64::try_from(*duration_ms).unwrap_or(i64::MAX);
                if let Some(step) = self.running(StepKind::Model) {
                    step.output.clone_from(text);
                    step.note = note;
                    // What was waited for before the call is no work.
                    step.from = step.from.max(at.saturating_sub(took));
                }
                Self::end(self.running(StepKind::Model), event, at, "succeeded");
            }
            EventKind::StepFailed { error, .. } => {
                if let Some(step) = self.running(StepKind::Model) {
                    step.output.clone_from(error);
                }
                Self::end(self.running(StepKind::Model), event, at, "failed");
            }
            EventKind::StepSkipped { .. } => {
                Self::end(self.running(StepKind::Model), event, at, "canceled");
            }
            _ => self.take_call(event, at),
        }
    }

    fn take_call(&mut self, event: &RunEvent, at: UtcMs) {
        match &event.kind {
            EventKind::ToolStarted { call_id, tool, arguments } => {
                let note = call_words(self.lang, tool, arguments);
                let step = self.open(event, at, StepKind::Tool, tool.clone());
                step.note = note;
                step.input.clone_from(arguments);
                step.call = Some(call_id.to_string());
            }
            EventKind::ToolRetrying { call_id, error, .. } => {
                if let Some(step) = self.of_call(call_id.as_str()) {
                    step.tries.push(error.clone());
                }
            }
            EventKind::ToolCompleted(outcome) | EventKind::ToolFailed(outcome) => {
                let waits = self.steps.iter().filter(|step| step.kind == StepKind::Wait);
                let waited_until = waits.map(|step| step.to).max();
                let step = self.of_call(outcome.call_id.as_str());
                if let Some(step) = step {
                    step.output.clone_from(&outcome.result);
                    let change = outcome.change.as_ref();
                    step.diff = change.map(|change| change.diff.clone()).unwrap_or_default();
                    let took = i64::try_from(outcome.duration_ms).unwrap_or(i64::MAX);
                    let began = match outcome.ending {
                        // Nobody measured it: it may have begun once nothing was waited for.
                        Ending::Unknown => waited_until.unwrap_or(step.from),
                        _ => at.saturating_sub(took),
                    };
                    step.from = step.from.max(began);
                    Self::end(Some(step), event, at, ending_state(outcome.ending));
                }
            }
            _ => self.take_rest(event, at),
        }
    }

    fn take_rest(&mut self, event: &RunEvent, at: UtcMs) {
        match &event.kind {
            EventKind::RunWaiting(waiting) => {
                let name = match waiting {
                    WaitingFor::User => words::run::wait_person(),
                    WaitingFor::Model { .. } => words::run::wait_model(),
                    WaitingFor::Child { .. } => words::run::wait_child(),
                    WaitingFor::Timer { .. } => words::run::wait_timer(),
                };
                let name = self.say(name);
                self.open(event, at, StepKind::Wait, name);
            }
            EventKind::QuestionOpened { message, .. } => {
                if let Some(step) = self.running(StepKind::Wait) {
                    step.input.clone_from(message);
                }
            }
            EventKind::QuestionAnswered { text, .. } => {
                let wait = self.steps.iter_mut().rev().find(|step| step.kind == StepKind::Wait);
                if let Some(step) = wait {
                    step.output.clone_from(text);
                }
            }
            EventKind::StepNoted(said) => self.plan.note(self.lang, event.seq, said),
            EventKind::PlanCreated { plan } | EventKind::PlanUpdated { plan } => {
                let Some(new) = self.plan.take(event.seq, plan) else { return };
                let name = super::activity::plan_title(self.lang, plan);
                let step = self.open(event, at, StepKind::Plan, name);
                step.state = "succeeded";
                step.note = new.reason;
                step.diff = new.diff;
                let items = plan.items.iter().map(|item| item.text.as_str());
                step.output = items.collect::<Vec<_>>().join("\n");
            }
            EventKind::ChildStarted { child } => {
                let (name, child) = (self.say(words::run::child()), child.to_string());
                let step = self.open(event, at, StepKind::Child, name);
                step.state = "succeeded";
                step.note = child[child.len().saturating_sub(6)..].to_owned();
                step.output = child;
            }
            EventKind::RunRecovered { .. } => {
                let (name, before) = (self.say(words::run::recovered()), self.last_at);
                let step = self.open(event, at, StepKind::Recovery, name);
                step.from = if before == 0 { at } else { before };
                step.state = "succeeded";
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::step_plan::StepGroups;
    use everloop_engine::EventNote;
    use everloop_types::{ItemState, PlanItem, Progress, RunId};

    fn event(seq: i64, at: UtcMs, kind: EventKind) -> RunEvent {
        RunEvent { kind, run_id: RunId::new("run_1"), seq, ts: Some(at) }
    }

    #[test]
    fn every_purpose_of_a_call_has_its_words_in_both_languages() {
        use Purpose::{Close, Compact, Plan, Replan, Think};
        for purpose in [Plan, Think, Replan, Compact, Close] {
            let asked = EventKind::StepStarted { purpose, step: 1, steps_max: 9 };
            let events = [event(1, 0, asked)];
            let name = |lang| steps(lang, &events, Some(1))[0].name.clone();
            assert_ne!(name(Lang::En), name(Lang::ZhCn), "{purpose:?}");
        }
    }

    #[test]
    fn a_wait_ends_with_what_comes_next_and_retries_stay_under_their_step() {
        let asked = |step| EventKind::StepStarted { purpose: Purpose::Think, step, steps_max: 9 };
        let retrying = EventKind::StepRetrying { error: "429".to_owned(), wait_ms: 5, attempt: 1 };
        let events = [
            event(1, 0, asked(1)),
            event(2, 100, retrying),
            event(3, 200, EventKind::RunWaiting(WaitingFor::User)),
            event(4, 5_000, EventKind::RunResumed {}),
        ];
        let steps = steps(Lang::En, &events, Some(6_000));
        let seen: Vec<_> = steps.iter().map(|step| (step.state, step.from, step.to)).collect();
        assert_eq!(seen, [("running", 5_000, 6_000), ("succeeded", 200, 5_000)]);
        assert_eq!(steps[0].tries, ["429"]);
    }

    fn planned(at: i64, version: u32, current: Option<usize>, items: &[&str]) -> RunEvent {
        let items = items.iter().map(|text| PlanItem::new(*text, ItemState::Pending)).collect();
        let plan = Progress { items, current, version, ..Progress::default() };
        let kind = match at {
            1 => EventKind::PlanCreated { plan },
            _ => EventKind::PlanUpdated { plan },
        };
        event(at, at * 100, kind)
    }

    #[test]
    fn a_plan_that_is_written_anew_is_a_step_with_its_reason_and_its_difference() {
        let reason = EventNote { note: None, args: None, text: "the file is gone".to_owned() };
        let events = [
            planned(1, 1, Some(0), &["read", "write"]),
            // Another place in the same plan is none.
            planned(2, 1, Some(1), &["read", "write"]),
            event(3, 300, EventKind::StepNoted(reason)),
            planned(3, 2, Some(1), &["read", "ask", "write"]),
        ];
        let steps = steps(Lang::En, &events, Some(400));
        let seen: Vec<_> = steps.iter().map(|step| (step.seq, step.note.as_str())).collect();
        assert_eq!(seen, [(1, ""), (3, "the file is gone")]);
        assert_eq!(steps[1].diff, [" read", "+ask", " write"]);
        assert!(steps.iter().all(|step| step.kind == StepKind::Plan));
    }

    #[test]
    fn steps_stand_under_the_item_of_the_plan_that_they_are_for() {
        let asked = |seq, purpose| {
            event(seq, seq * 100, EventKind::StepStarted { purpose, step: 1, steps_max: 9 })
        };
        let events = [
            planned(1, 1, Some(0), &["read", "write"]),
            asked(2, Purpose::Think),
            asked(3, Purpose::Think),
            planned(4, 1, Some(1), &["read", "write"]),
            asked(5, Purpose::Think),
            asked(6, Purpose::Replan),
        ];
        let all = steps(Lang::En, &events, Some(700));
        let groups = StepGroups::of(&all);
        let names: Vec<_> = groups.groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["1 read", "2 write"]);
        let under: Vec<_> = (0..all.len()).map(|at| groups.of_step(at)).collect();
        assert_eq!(under, [None, Some(0), Some(0), Some(1), None]);
        assert_eq!(groups.groups[0].span.from, 200);
    }

    fn began(seq: i64, at: UtcMs) -> RunEvent {
        let call_id = everloop_types::CallId::new("c1");
        let (tool, arguments) = ("shell".to_owned(), "{}".to_owned());
        event(seq, at, EventKind::ToolStarted { call_id, tool, arguments })
    }

    #[test]
    fn a_call_that_waits_for_a_person_is_drawn_as_waiting_and_works_from_the_answer_on() {
        let mut events = vec![
            planned(1, 1, Some(0), &["pay"]),
            began(2, 200),
            event(3, 300, EventKind::RunWaiting(WaitingFor::User)),
        ];
        let waiting = steps(Lang::En, &events, Some(9_000));
        assert!(waiting.iter().skip(1).all(|step| step.state == "waiting"), "{waiting:?}");
        assert!(waiting.iter().skip(1).all(|step| step.bar().span.waits));
        events.push(event(4, 8_000, EventKind::RunResumed {}));
        let working = steps(Lang::En, &events, Some(9_000));
        assert_eq!((working[1].state, working[1].from), ("running", 8_000));
    }

    #[test]
    fn the_time_in_which_no_process_ran_is_no_work() {
        let recovered = EventKind::RunRecovered { interrupted: 1 };
        let events = [began(1, 100), event(2, 26_000, recovered)];
        let all = steps(Lang::En, &events, Some(27_000));
        assert_eq!((all[0].from, all[0].to), (26_000, 27_000));
        assert!(all[1].bar().span.waits && all[1].from == 100);
    }

    #[test]
    fn nothing_of_a_run_that_was_set_aside_goes_on() {
        let events = [
            event(1, 0, EventKind::RunWaiting(WaitingFor::User)),
            event(2, 50, EventKind::RunAnswerRequested {}),
            event(3, 100, EventKind::RunWaiting(WaitingFor::User)),
        ];
        let ends = |now| steps(Lang::En, &events, now).last().map(|step| (step.state, step.to));
        assert_eq!(ends(Some(9_000)), Some(("waiting", 9_000)));
        assert_eq!(ends(None), Some(("canceled", 100)));
    }
}
