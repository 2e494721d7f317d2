//! How long a run worked and waited, and what was said of its calls later.

use super::frame::PageRequest;
use super::steps::RunStep;
use everloop_app::call_words;
use everloop_app::runs::RunDetails;
use everloop_pages::parts::{duration, say};
use everloop_pages::waterfall::{StepKind, TimeSpan, time_in};
use everloop_text::pages as words;
use everloop_text::settle;
use everloop_types::{Lang, SettledOutcome};

/// How long effects were performed, and how long the run waited. The time in which no process ran,
/// and that before a fork, is neither.
pub(super) fn share(lang: Lang, steps: &[RunStep], gap: Option<TimeSpan>) -> Option<(f64, String)> {
    if steps.is_empty() {
        return None;
    }
    let is_dead = |step: &&RunStep| step.kind == StepKind::Recovery;
    let span = |step: &RunStep| step.bar().span;
    let dead: Vec<TimeSpan> = steps.iter().filter(is_dead).map(span).chain(gap).collect();
    let rest = steps.iter().filter(|step| !is_dead(step)).map(span);
    let (waits, work): (Vec<TimeSpan>, Vec<TimeSpan>) = rest.partition(|span| span.waits);
    let idle: Vec<TimeSpan> = waits.iter().chain(&dead).copied().collect();
    let (worked, waited) = (time_in(&work, &idle), time_in(&waits, &dead));
    let said = words::run::share(&duration(lang, worked), &duration(lang, waited));
    Some((worked as f64 * 100.0 / (worked + waited).max(1) as f64, say(lang, said)))
}

/// The time between what a fork took over and its own beginning.
pub(super) fn gap(details: &RunDetails) -> Option<TimeSpan> {
    details.row.origin.forked.as_ref()?;
    let to = details.row.times.created_at;
    let moments = details.history.entries.iter().map(|entry| entry.at);
    let from = moments.filter(|at| *at < to).max()?;
    Some(TimeSpan { from, to, waits: true })
}

/// What somebody said of calls whose outcome was unknown: who, and when.
pub(super) fn settlements(request: &PageRequest, details: &RunDetails) -> Vec<String> {
    let lang = request.lang();
    let known = details.unknowns.iter().filter_map(|one| Some((one, one.settled.as_ref()?)));
    let line = known.map(|(open, known)| {
        let call = call_words::call_words(lang, &open.call.tool, &open.call.args);
        let verdict = match known.settled {
            SettledOutcome::Happened => settle::happened(),
            SettledOutcome::Not => settle::not(),
        };
        let (verdict, at) = (say(lang, verdict), request.reader.moment(known.at));
        let said = settle::Said { verdict: &verdict, by: &known.by, at: &at };
        format!("{call}: {}", say(lang, said.text()))
    });
    line.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::steps::steps;
    use everloop_engine::{EventKind, RunEvent, WaitingFor};
    use everloop_types::{Purpose, RunId};

    fn event(seq: i64, at: i64, kind: EventKind) -> RunEvent {
        RunEvent { kind, run_id: RunId::new("run_1"), seq, ts: Some(at) }
    }

    #[test]
    fn neither_waits_nor_a_dead_process_nor_the_time_before_a_fork_is_work() {
        let asked = |step| EventKind::StepStarted { purpose: Purpose::Think, step, steps_max: 9 };
        let failed = || EventKind::StepFailed {
            error: String::new(),
            kind: everloop_types::ModelErrorKind::Unreachable,
        };
        let events = [
            event(1, 0, asked(1)),
            event(2, 1_000, failed()),
            // The fork begins ten minutes later, and its process dies for twenty-five seconds.
            event(3, 601_000, asked(2)),
            event(4, 626_000, EventKind::RunRecovered { interrupted: 1 }),
            event(5, 627_000, failed()),
            event(6, 627_000, EventKind::RunWaiting(WaitingFor::User)),
            event(7, 631_000, EventKind::RunResumed {}),
        ];
        let gap = TimeSpan { from: 1_000, to: 601_000, waits: true };
        let all = steps(Lang::En, &events, Some(631_000));
        let (worked, said) = share(Lang::En, &all, Some(gap)).unwrap();
        assert_eq!(said, "worked 2.0 s, waited 4.0 s");
        assert!((worked - 33.3).abs() < 0.1, "{worked}");
    }
}
