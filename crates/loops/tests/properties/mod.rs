//! The properties that hold for every loop, present and future, whatever model and tools do.
//!
//! `Scenario::play` itself checks at every entry: ids are planned once and finished once, prompts
//! only grow, calls and results pair up, a planned prompt can be rendered again, words at the end.

use crate::support::{Played, Reply, Scenario, Wild, decisions_hold, fold, relay, wild};
use everloop_loops::LoopSpec;
use everloop_types::journal::{EffectPlanned, EntryKind};
use everloop_types::{Counts, PlanItem, digest_bytes};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn for_every_loop(wild: &Wild, holds: impl Fn(Scenario)) {
    for spec in LoopSpec::registered() {
        holds(wild.scenario(spec.name));
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn folding_twice_or_from_a_snapshot_after_any_entry_gives_the_same_state(wild in wild()) {
        for_every_loop(&wild, |scenario| {
            let played = scenario.play();
            assert_eq!(fold(&played.journal, &played.frame), played.run);
            assert_eq!(relay(&played.journal, &played.frame), played.run);
        });
    }

    #[test]
    fn row_22_the_order_of_outcomes_in_a_batch_changes_nothing(
        wild in wild(),
        seed in any::<u64>(),
    ) {
        for_every_loop(&wild, |scenario| {
            let (straight, shuffled) = (scenario.clone().play(), scenario.shuffled(seed).play());
            assert_eq!(shuffled.trace, straight.trace);
            assert_eq!(shuffled.ending, straight.ending);
            assert_eq!(shuffled.prompts, straight.prompts);
            assert_eq!(without_waits(&shuffled), without_waits(&straight));
        });
    }

    #[test]
    fn every_script_ends_within_the_limits(wild in wild()) {
        for_every_loop(&wild, |scenario| {
            let played = scenario.play();
            let steps = wild.limits().steps;
            // Each step may take all its tries; before them the plan, after them the last words.
            let useful = (steps.max_steps + 2) * (steps.contract_retries + 1) + 1;
            let superseded = count(&played, is_superseded);
            let planned = count(&played, is_model_plan) - superseded;
            assert!(planned <= 2 * useful as usize, "{planned} model calls");
            let budget = wild.limits().budget.model_calls as usize;
            assert!(budget == 0 || planned <= budget + 1, "{planned} model calls");
            assert!(played.run.counts().steps <= steps.max_steps + 1);
        });
    }

    #[test]
    fn a_journal_shows_the_decisions_that_its_fold_makes_again(wild in wild()) {
        for_every_loop(&wild, |scenario| {
            let played = scenario.play();
            decisions_hold(&played.journal, &played.frame);
        });
    }

    /// No store should give such a journal; a worker must survive it all the same.
    #[test]
    fn a_damaged_journal_never_makes_the_fold_panic(
        wild in wild(),
        damage in proptest::collection::vec((any::<Index>(), any::<Index>(), 0..3), 1..6),
    ) {
        for_every_loop(&wild, |scenario| {
            let Played { mut journal, frame, .. } = scenario.play();
            for (from, to, kind) in &damage {
                let from = 1 + from.index(journal.len() - 1);
                let to = 1 + to.index(journal.len() - 1);
                match kind {
                    0 => journal.insert(to, journal[from].clone()),
                    1 => journal.swap(from, to),
                    _ if journal.len() > 2 => drop(journal.remove(from)),
                    _ => {}
                }
            }
            let run = relay(&journal, &frame);
            let _ = (run.decide(), run.canceled(), run.prompt_digest());
        });
    }

    #[test]
    fn crashes_change_neither_the_story_nor_what_it_costs(
        wild in wild(),
        crashes in proptest::collection::vec(2_usize..60, 1..5),
    ) {
        for_every_loop(&wild, |scenario| {
            let calm = scenario.clone().play();
            for snapshots in [false, true] {
                let mut scenario = scenario.clone();
                if snapshots {
                    scenario = scenario.by_snapshots();
                }
                let upset = crashes.iter().fold(scenario, |s, n| s.crash_after(*n)).play();
                assert_eq!(upset.trace, calm.trace);
                assert_eq!(upset.ending, calm.ending);
                assert_eq!(upset.prompts, calm.prompts);
                assert_eq!(lasting(&upset), lasting(&calm));
            }
        });
    }
}

#[test]
fn a_snapshot_entry_names_the_state_before_it() {
    for name in LoopSpec::registered().map(|spec| spec.name) {
        let scenario = Scenario::of(name, "go").thorough().forever();
        let played = scenario.replies(Reply::Fitting(3)).sees("one").play();
        for (place, entry) in played.journal.iter().enumerate() {
            if let EntryKind::SnapshotTaken(taken) = &entry.kind {
                let state = fold(&played.journal[..place], &played.frame).state();
                assert_eq!(digest_bytes(state.as_bytes()), taken.state_hash, "{name} {place}");
            }
        }
    }
}

/// What was used, without the attempts that crashes cost.
fn lasting(played: &Played) -> Counts {
    Counts { wasted_attempts: 0, ..played.run.counts() }
}

/// The state as text, without the places that it notes: those of outcomes and questions depend on
/// the order in which they came.
fn without_waits(played: &Played) -> String {
    let asked = |kind: &EntryKind| matches!(kind, EntryKind::Waiting(_));
    if count(played, asked) > 0 {
        return format!("{:?}", lasting(played));
    }
    let mut state: Value = serde_json::from_str(&played.run.state()).expect("our own state");
    state.as_object_mut().expect("an object").remove("evidence");
    let items = played.run.progress().items;
    let claims: Vec<bool> = items.iter().map(PlanItem::used_no_tool).collect();
    format!("{state} {claims:?}")
}

fn count(played: &Played, is: impl Fn(&EntryKind) -> bool) -> usize {
    played.journal.iter().filter(|entry| is(&entry.kind)).count()
}

fn is_model_plan(kind: &EntryKind) -> bool {
    matches!(kind, EntryKind::EffectPlanned(EffectPlanned::CallModel(_)))
}

fn is_superseded(kind: &EntryKind) -> bool {
    use everloop_types::journal::Outcome;
    matches!(kind, EntryKind::EffectFinished(finished) if finished.outcome == Outcome::Superseded)
}
