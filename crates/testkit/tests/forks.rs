//! Forks at every entry of every scenario: nothing of the past is repeated, and the parent is left
//! alone.

use everloop_engine::{Fork, ForkError, ForkResult, History, ReplayVerdict};
use everloop_loops::LOOPS;
use everloop_models::ScriptedReply;
use everloop_testkit::{PointKind, ProcessEnd, Scenario, Testbed, scenarios};
use everloop_types::journal::{Entry, EntryKind, Outcome};
use everloop_types::{
    EffectId, Ending, Goal, LabelGuard, Labels, Message, Policy, RunId, SettledOutcome, Status,
    digest_bytes,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Everything in the database about a run.
async fn rows(stage: &Testbed, run: &RunId) -> String {
    let mut all = String::new();
    for sql in [
        "SELECT * FROM runs WHERE run_id = $1",
        "SELECT * FROM journal WHERE run_id = $1 ORDER BY seq",
        "SELECT * FROM messages WHERE run_id = $1 ORDER BY pos",
        "SELECT * FROM snapshots WHERE run_id = $1 ORDER BY seq",
        "SELECT * FROM inbox WHERE run_id = $1 ORDER BY pos",
    ] {
        let rows = stage.store.db().query(sql, vec![run.as_str().into()]).await.expect("readable");
        all.push_str(&format!("{rows:?}\n"));
    }
    all
}

async fn history(stage: &Testbed, run: &RunId) -> History {
    History::read(&stage.store, run).await.expect("readable").expect("exists")
}

async fn wanted(stage: &Testbed, at: Option<i64>, loop_name: &str) -> Fork {
    let mut frame = history(stage, &stage.run).await.frame().as_ref().clone();
    frame.policy = Policy::default();
    Fork {
        parent: stage.run.clone(),
        at,
        loop_name: loop_name.to_owned(),
        frame,
        word: Goal::default(),
        settled: BTreeMap::new(),
        message: None,
        idem_key: None,
    }
}

async fn fork(stage: &mut Testbed, wanted: Fork) -> Result<ForkResult, ForkError> {
    stage.process().engine.fork(wanted).await
}

/// Drives the run of the stage to its end.
async fn play(stage: &mut Testbed) {
    for _ in 0..100 {
        if stage.is_over().await {
            return;
        }
        stage.answer_open_question().await;
        match stage.play_once().await {
            ProcessEnd::Well(Ok(_)) | ProcessEnd::Idle => {}
            other => panic!("{}: {other:?}", stage.scenario.name),
        }
    }
    panic!("{}: it does not end", stage.scenario.name);
}

/// Every call has exactly one answer, and no slot is empty.
fn pairs_up(messages: &[Message]) {
    let mut open: BTreeSet<String> = BTreeSet::new();
    for message in messages {
        match message {
            Message::Assistant { calls, .. } => {
                assert!(open.is_empty(), "a reply before {open:?} were answered");
                open.extend(calls.iter().map(|call| call.id.to_string()));
            }
            Message::Tool { call, .. } => {
                assert!(open.remove(call.as_str()), "{call} was answered and not asked for");
            }
            Message::User { text, images } => {
                assert!(!text.is_empty() || !images.is_empty(), "an empty slot in {messages:?}");
            }
            Message::System { .. } => {}
        }
    }
}

/// Plans and outcomes of each effect.
fn one_outcome_each(entries: &[Entry]) {
    let mut counts: BTreeMap<EffectId, (u32, u32)> = BTreeMap::new();
    for entry in entries {
        let Some(effect) = &entry.effect else { continue };
        let count = counts.entry(effect.clone()).or_default();
        match &entry.kind {
            EntryKind::EffectPlanned(_) => count.0 += 1,
            EntryKind::EffectFinished(_) => count.1 += 1,
            _ => {}
        }
    }
    let odd: Vec<_> = counts.iter().filter(|(_, count)| **count != (1, 1)).collect();
    assert!(odd.is_empty(), "{odd:?}");
}

fn forked_at(entries: &[Entry]) -> i64 {
    let found = entries.iter().rfind(|entry| matches!(entry.kind, EntryKind::Forked(_)));
    found.expect("a fork says so").seq
}

/// What must hold for a fork before it is driven.
async fn check_new(stage: &Testbed, made: &ForkResult) {
    let past = history(stage, &made.run).await;
    let cut = forked_at(&past.entries);
    assert_eq!(past.entries.last().expect("not empty").seq, cut, "the fork's own life begins here");
    one_outcome_each(&past.entries);
    let state = past.state_at(i64::MAX).expect("folds");
    assert!(state.is_idle() && state.unknowns().is_empty());
    assert_eq!((state.ended(), state.counts().model_calls), (None, 0));
    assert!(!past.frame().policy.approve_all, "--yes is not inherited");
    pairs_up(state.messages());
    assert!(past.entries.iter().all(|e| e.effect.as_ref().is_none_or(|f| f.run == made.run)));
    let row = stage.store.runs().get(&made.run).await.expect("readable").expect("exists");
    assert_eq!((row.status, row.lease.next_seq), (Status::Queued, cut + 1));
    let origin = row.origin.forked.expect("it knows where it comes from");
    assert_eq!((origin.run, origin.at_seq), (stage.run.clone(), made.at));
}

/// Drives a fork to its end; nothing that it took over is done again.
async fn check_driven(stage: &mut Testbed, made: &ForkResult) {
    let parent = std::mem::replace(&mut stage.run, made.run.clone());
    let past = history(stage, &made.run).await;
    play(stage).await;
    let after = history(stage, &made.run).await;
    one_outcome_each(&after.entries);
    let verdict = after.verify();
    assert!(matches!(verdict, ReplayVerdict::Verified { .. }), "{verdict:?}");
    let key = |effect: &EffectId| digest_bytes(effect.to_string().as_bytes());
    let taken_over: BTreeSet<String> =
        past.entries.iter().filter_map(|entry| entry.effect.as_ref()).map(key).collect();
    let again: Vec<_> =
        stage.world.acts().into_iter().filter(|act| taken_over.contains(&act.key)).collect();
    assert!(again.is_empty(), "done again: {again:?}");
    stage.run = parent;
}

async fn fork_everywhere(stage: &mut Testbed) -> usize {
    let name = stage.scenario.name;
    let last = history(stage, &stage.run).await.entries.len() as i64;
    let before = rows(stage, &stage.run).await;
    let mut forks = 0;
    for loop_name in LOOPS {
        for at in 1..=last {
            let wanted = wanted(stage, Some(at), loop_name).await;
            let made = fork(stage, wanted).await;
            let made = made.unwrap_or_else(|e| panic!("{name} at {at}: {e}"));
            assert!(made.at <= at);
            check_new(stage, &made).await;
            check_driven(stage, &made).await;
            forks += 1;
        }
    }
    assert_eq!(rows(stage, &stage.run).await, before, "{name}: the parent changed");
    assert_eq!(stage.violations(), 0);
    forks
}

#[tokio::test(start_paused = true)]
async fn a_fork_at_any_entry_repeats_nothing_and_leaves_its_parent_alone() {
    let mut forks = 0;
    for scenario in scenarios() {
        let mut stage = Testbed::set(&scenario).await;
        play(&mut stage).await;
        forks += fork_everywhere(&mut stage).await;
    }
    println!("forks: {forks}");
    assert!(forks >= 400, "only {forks} forks were made");
}

#[tokio::test(start_paused = true)]
async fn a_fork_of_a_fork_is_a_fork_like_any_other() {
    for scenario in scenarios().iter().filter(|s| s.name == "every class in one batch") {
        let mut stage = Testbed::set(scenario).await;
        play(&mut stage).await;
        for (at, loop_name) in [(5, LOOPS[0]), (9, LOOPS[1])] {
            let wanted = wanted(&stage, Some(at), loop_name).await;
            let parent = stage.run.clone();
            stage.run = fork(&mut stage, wanted).await.unwrap().run;
            play(&mut stage).await;
            assert!(fork_everywhere(&mut stage).await > 20);
            stage.run = parent;
        }
    }
}

/// The same, with unfinished effects at the cut and no process left to finish them.
#[tokio::test(start_paused = true)]
async fn a_fork_of_a_run_that_died_at_any_point_settles_what_may_have_happened_or_is_refused() {
    let (mut made_at_once, mut refused) = (0, 0);
    for scenario in scenarios() {
        for point in 0.. {
            let mut stage = Testbed::set(&scenario).await;
            stage.points.halt_at(point);
            let died = loop {
                stage.answer_open_question().await;
                match stage.play_once().await {
                    ProcessEnd::Died => break true,
                    _ if stage.is_over().await => break false,
                    _ => {}
                }
            };
            if !died {
                break;
            }
            stage.points.stop_disturbing();
            let before = rows(&stage, &stage.run).await;
            let mut wanted = wanted(&stage, None, scenario.loop_name).await;
            let made = match fork(&mut stage, wanted.clone()).await {
                Ok(made) => {
                    made_at_once += 1;
                    made
                }
                Err(ForkError::Unsettled(open)) => {
                    refused += 1;
                    let said = open.into_iter().map(|open| (open.effect, SettledOutcome::Happened));
                    wanted.settled = said.collect();
                    fork(&mut stage, wanted).await.expect("everything is settled")
                }
                Err(other) => panic!("{}: {other}", scenario.name),
            };
            check_new(&stage, &made).await;
            check_driven(&mut stage, &made).await;
            let driven = rows(&stage, &stage.run).await;
            // The next process that has the right to claim puts every run of a dead one back.
            let same = |rows: &str| rows.split_once('\n').map(|(_, rest)| rest.to_owned());
            assert_eq!(same(&driven), same(&before), "{} at {point}", scenario.name);
        }
    }
    println!("died and forked: {made_at_once} at once, {refused} settled by a person first");
    assert!(made_at_once >= 200 && refused >= 20, "{made_at_once} {refused}");
}

fn strikes() -> Scenario {
    let call = ScriptedReply::calls("strike", json!({"what": "anvil"}));
    Scenario::react("strikes", vec![call, ScriptedReply::says("struck")])
}

/// A testbed whose process died after the call and before its outcome was recorded.
async fn struck() -> Testbed {
    for point in 0.. {
        let mut stage = Testbed::set(&strikes()).await;
        stage.points.halt_at(point);
        assert!(matches!(stage.play_once().await, ProcessEnd::Died));
        let at_effect = stage.points.seen().last() == Some(&PointKind::AfterEffect);
        if at_effect && !stage.world.acts().is_empty() {
            stage.points.stop_disturbing();
            return stage;
        }
    }
    unreachable!("the anvil is struck at some point")
}

#[tokio::test(start_paused = true)]
async fn what_the_parent_learned_after_the_cut_is_what_the_fork_knows() {
    // A tool that declares nothing adds every label, and the fork inherits them.
    let mut scenario = strikes();
    scenario.policy.label_guard = Some(LabelGuard::Ask);
    let mut stage = Testbed::set(&scenario).await;
    play(&mut stage).await;
    let entries = history(&stage, &stage.run).await.entries;
    let begun = entries.iter().find(|entry| matches!(entry.kind, EntryKind::EffectStarted(_)));
    let wanted = wanted(&stage, begun.map(|entry| entry.seq), "react").await;
    let made = fork(&mut stage, wanted).await.unwrap();
    let past = history(&stage, &made.run).await;
    let seen = past.entries.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::EffectFinished(finished) => Some((finished.outcome.clone(), finished.labels)),
        _ => None,
    });
    let Some((Outcome::Observed(seen), Labels::ALL)) = seen else { panic!("{seen:?}") };
    assert_eq!((seen.ending, seen.text.as_str()), (Ending::Ok, "struck anvil"));
}

#[tokio::test(start_paused = true)]
async fn what_may_have_happened_is_named_and_told_as_the_person_says() {
    for (said, ending) in
        [(SettledOutcome::Happened, Ending::Ok), (SettledOutcome::Not, Ending::Error)]
    {
        for loop_name in LOOPS {
            let mut stage = struck().await;
            let mut wanted = wanted(&stage, None, loop_name).await;
            let refused = fork(&mut stage, wanted.clone()).await.unwrap_err();
            let ForkError::Unsettled(open) = refused else { panic!("{refused}") };
            assert_eq!((open.len(), open[0].call.tool.as_str()), (1, "strike"));
            wanted.settled.insert(open[0].effect.clone(), said);
            let made = fork(&mut stage, wanted).await.unwrap();
            let state = history(&stage, &made.run).await.state_at(i64::MAX).unwrap();
            let told = state.messages().iter().any(|m| m.text().contains("as the user says"));
            assert!(told, "{ending:?} under {loop_name}: {:?}", state.messages());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_was_written_as_unknown_is_settled_before_a_fork_and_no_longer_open_in_it()
{
    let mut stage = struck().await;
    play(&mut stage).await;
    let row = stage.store.runs().get(&stage.run).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Unsettled);
    let mut wanted = wanted(&stage, None, "react").await;
    let refused = fork(&mut stage, wanted.clone()).await.unwrap_err();
    let ForkError::Unsettled(open) = refused else { panic!("{refused}") };
    wanted.settled.insert(open[0].effect.clone(), SettledOutcome::Happened);
    let made = fork(&mut stage, wanted).await.unwrap();
    check_new(&stage, &made).await;
    check_driven(&mut stage, &made).await;
    let fork = stage.store.runs().get(&made.run).await.unwrap().unwrap();
    assert_eq!(fork.status, Status::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_word_reopens_an_answer_and_a_fork_without_one_keeps_it() {
    let script = vec![ScriptedReply::says("one"), ScriptedReply::says("two")];
    let mut stage = Testbed::set(&Scenario::react("speaks", script)).await;
    play(&mut stage).await;
    for (text, answer, calls) in [("", "one", 0), ("and again", "two", 1)] {
        let mut wanted = wanted(&stage, None, "react").await;
        wanted.word.text = text.to_owned();
        let made = fork(&mut stage, wanted).await.unwrap();
        check_driven(&mut stage, &made).await;
        let after = history(&stage, &made.run).await;
        assert_eq!(after.final_text(), Some(answer));
        assert_eq!(after.state_at(i64::MAX).unwrap().counts().model_calls, calls);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_at_its_limit_goes_on_in_a_fork_with_limits_of_its_own() {
    for scenario in scenarios().into_iter().filter(|s| s.name == "reaches its limit") {
        let mut stage = Testbed::set(&scenario).await;
        play(&mut stage).await;
        let mut wanted = wanted(&stage, None, scenario.loop_name).await;
        wanted.frame.limits.steps.max_steps = 9;
        let made = fork(&mut stage, wanted).await.unwrap();
        check_new(&stage, &made).await;
        let state = history(&stage, &made.run).await.state_at(i64::MAX).unwrap();
        assert_eq!((state.progress().steps, state.progress().steps_max), (0, 9));
        check_driven(&mut stage, &made).await;
        let counts = history(&stage, &made.run).await.state_at(i64::MAX).unwrap().counts();
        assert!(counts.model_calls > 0, "{}: it goes on", scenario.loop_name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_or_a_lost_reply_while_a_fork_is_made_leaves_a_whole_fork_or_none() {
    for point in 0..2 {
        let mut stage = Testbed::set(&strikes()).await;
        play(&mut stage).await;
        let wanted = wanted(&stage, None, "react").await;
        let (process, points) = (stage.process(), stage.points.clone());
        points.halt_at(point);
        tokio::select! {
            biased;
            () = points.reached() => {}
            made = process.engine.fork(wanted) => panic!("it did not die: {made:?}"),
        }
        points.stop_disturbing();
        let forks = stage.store.runs().forks(&stage.run).await.unwrap();
        assert_eq!(forks.len(), point, "before the commit none, after it one");
        for origin in forks {
            let made = ForkResult { run: origin.run, at: origin.at_seq };
            check_new(&stage, &made).await;
            check_driven(&mut stage, &made).await;
        }
    }
    let mut stage = Testbed::set(&strikes()).await;
    play(&mut stage).await;
    let wanted = wanted(&stage, None, "react").await;
    stage.points.lose_reply_at(0);
    let made = fork(&mut stage, wanted).await.unwrap();
    stage.points.stop_disturbing();
    let forks = stage.store.runs().forks(&stage.run).await.unwrap();
    assert_eq!((forks.len(), &forks[0].run), (1, &made.run));
    check_new(&stage, &made).await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_forked_is_refused_by_name() {
    let mut stage = Testbed::set(&strikes()).await;
    play(&mut stage).await;
    let last = history(&stage, &stage.run).await.entries.len() as i64;
    for at in [0, -1, last + 1] {
        let wanted = wanted(&stage, Some(at), "react").await;
        let refused = fork(&mut stage, wanted).await.unwrap_err();
        assert!(matches!(refused, ForkError::NoEntry { last: l, .. } if l == last), "{refused}");
    }
    stage.store.maintenance().trim(i64::MAX / 2, 0).await.unwrap();
    let trimmed = wanted(&stage, None, "react").await;
    let refused = fork(&mut stage, trimmed.clone()).await.unwrap_err();
    assert!(matches!(refused, ForkError::NotWhole(_)), "{refused}");
    let nobody = Fork { parent: RunId::new("run_x"), ..trimmed };
    assert!(matches!(fork(&mut stage, nobody).await.unwrap_err(), ForkError::NoRun(_)));
}
