//! Versions of loops: what must be raised, and what may change without.

use super::{folder, names, read};
use crate::support::fold;
use everloop_loops::{AgentLoop, AnyRun, Decision, LoopSpec, React, Run, Transcript, fingerprint};
use everloop_types::journal::{EntryKind, RunCreated};
use everloop_types::{
    Event, Frame, ModelCall, Next, Progress, Purpose, Reason, TodoList, ToolChoice, ToolOffer,
};
use serde::{Deserialize, Serialize};
use std::fs;
use std::sync::Arc;

/// `react` in the hands of somebody who changes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Changed<const WHAT: char>(React);

const NOTHING: char = ' ';
const EVOLVE: char = 'e';
const DECIDE: char = 'd';
/// `decide` gives up where it went on. The fold asks it why last words were wanted.
const GIVES_UP: char = 'g';

impl<const WHAT: char> AgentLoop for Changed<WHAT> {
    const SPEC: LoopSpec = React::SPEC;

    fn evolve(&mut self, event: &Event) {
        match event {
            // A reply without calls is not taken for the answer any more.
            Event::Replied { reply, .. } if WHAT == EVOLVE && reply.calls.is_empty() => {}
            _ => self.0.evolve(event),
        }
    }
    fn decide(&self) -> Next {
        let next = self.0.decide();
        let asks_model = matches!(next, Next::AskModel(_));
        match WHAT {
            DECIDE if asks_model => Next::AskModel(ModelCall {
                purpose: Purpose::Replan,
                offer: ToolOffer::None,
                choice: ToolChoice::None,
                output: None,
            }),
            GIVES_UP if asks_model => Next::GiveUp(Reason::StepLimit { limit: 1 }),
            _ => next,
        }
    }
    fn transcript(&self) -> &Transcript {
        self.0.transcript()
    }
    fn transcript_mut(&mut self) -> &mut Transcript {
        self.0.transcript_mut()
    }
    fn list(&self) -> &TodoList {
        self.0.list()
    }
    fn progress(&self) -> Progress {
        self.0.progress()
    }
    fn attach(&mut self, frame: Arc<Frame>) {
        self.0.attach(frame);
    }
}

/// What to do about a loop that folds its golden journals to other states than it used to.
fn complaint(name: &str, version: u32, now: Option<&str>) -> Option<String> {
    let path = folder().join("fingerprints.txt");
    let recorded = fs::read_to_string(path).unwrap_or_default();
    let start = format!("{name} {version} ");
    let before = recorded.lines().find_map(|line| line.strip_prefix(&start));
    match (before, now) {
        (_, None) => {
            Some(format!("{name} {version} has no golden journals: name them in its description"))
        }
        (None, Some(now)) => {
            Some(format!("{name} {version} is new: add \"{start}{now}\" to fingerprints.txt"))
        }
        (Some(before), Some(now)) if before != now => Some(format!(
            "{name} changed: raise its version and keep the old one for runs that live, or, if \
             no journal means anything else than before and only the form of the state is new, \
             put {now} into fingerprints.txt"
        )),
        _ => None,
    }
}

#[test]
fn a_loop_that_folds_differently_raises_its_version() {
    let complaints = LoopSpec::registered().filter_map(|spec| {
        let now = AnyRun::fingerprint(spec.name);
        complaint(spec.name, spec.version, now.as_deref())
    });
    let complaints: Vec<String> = complaints.collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn row_24_a_changed_evolve_is_noticed_and_a_changed_decide_needs_nothing() {
    let noticed =
        |now: Option<String>| complaint(React::SPEC.name, React::SPEC.version, now.as_deref());
    assert_eq!(noticed(fingerprint::<Changed<NOTHING>>()), None);
    assert_eq!(noticed(fingerprint::<Changed<DECIDE>>()), None);
    for now in [fingerprint::<Changed<EVOLVE>>(), fingerprint::<Changed<GIVES_UP>>()] {
        let said = noticed(now).expect("a complaint");
        assert!(said.starts_with("react changed: raise its version"), "{said}");
    }
}

/// A run that was cut short anywhere goes on under the new `decide`, from the same state.
#[test]
fn row_24_a_run_resumes_under_a_changed_decide_from_the_same_state() {
    for name in names().iter().filter(|name| name.contains("/react-")) {
        let (journal, frame, _) = read(name);
        let mut changed = Run::<Changed<DECIDE>>::new(frame.clone());
        for (n, entry) in journal.iter().enumerate() {
            changed.apply(entry);
            let state = serde_json::to_string(&changed).expect("a state has a JSON form");
            assert_eq!(state, fold(&journal[..=n], &frame).state(), "{name}, entry {}", entry.seq);
        }
        let cut_short = journal.iter().position(|entry| entry.kind.name() == "EffectFinished");
        let mut resumed = Run::<Changed<DECIDE>>::new(frame.clone());
        let upto = cut_short.expect("a journal has an outcome");
        journal[..=upto].iter().for_each(|entry| resumed.apply(entry));
        assert!(matches!(resumed.decide(), Decision::Do(_)), "{name} goes on");
    }
}

/// The version in the first entry governs, so no other `evolve` ever touches the journal.
#[test]
fn row_24_a_version_that_is_not_here_is_refused_and_never_folded_by_another() {
    for name in names() {
        let (journal, frame, _) = read(&name);
        let EntryKind::RunCreated(created) = &journal[0].kind else { panic!("the first entry") };
        for version in [0, created.loop_ver + 1] {
            let other = RunCreated { loop_ver: version, ..created.clone() };
            let refused = AnyRun::new(&other, frame.clone()).expect_err("no such version");
            let words = format!("loop {} of version {version}", created.loop_name);
            assert_eq!(refused.to_string(), words);
            let state = fold(&journal, &frame).state();
            let restored = AnyRun::restore(&created.loop_name, version, &state, frame.clone());
            assert!(restored.is_err(), "{restored:?}");
        }
    }
}
