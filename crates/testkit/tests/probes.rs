//! Interrupted calls: what a probe finds, and how the rest is settled.

use everloop_engine::{OpenUnknown, SettleResult};
use everloop_models::ScriptedReply;
use everloop_testkit::{PointKind, ProcessEnd, Scenario, Testbed, check};
use everloop_types::journal::{EntryKind, InboxMessage, ProbeFinding};
use everloop_types::{EffectId, SettledOutcome, Status, UtcMs};
use serde_json::json;

/// A testbed whose first process died at the tool's point of this kind.
async fn died(tool: &str, at: PointKind) -> Testbed {
    let script =
        vec![ScriptedReply::calls(tool, json!({"what": "cup"})), ScriptedReply::says("done")];
    let scenario = Scenario::react("cut short", script);
    let mut undisturbed = Testbed::set(&scenario).await;
    let before = undisturbed.points.passed();
    undisturbed.play_on().await.expect("it ends");
    let points = undisturbed.points.seen().split_off(before);
    // The first is the model's.
    let mut places = (0..points.len()).filter(|n| points[*n] == at);
    let place = places.nth(1).expect("the tool's point");
    let mut stage = Testbed::set(&scenario).await;
    stage.points.halt_at(place);
    assert!(matches!(stage.play_once().await, ProcessEnd::Died));
    stage.points.stop_disturbing();
    stage
}

/// When a probe looked, and what it found.
async fn probes(stage: &Testbed) -> Vec<(UtcMs, ProbeFinding)> {
    let entries = stage.store.journal().entries(&stage.run, 0, usize::MAX).await.expect("readable");
    let probed = entries.into_iter().filter_map(|entry| match entry.kind {
        EntryKind::EffectProbed(probed) => Some((entry.at, probed.found)),
        _ => None,
    });
    probed.collect()
}

async fn over_by(stage: &Testbed) -> UtcMs {
    let entries = stage.store.journal().entries(&stage.run, 0, usize::MAX).await.expect("readable");
    let intent = entries.into_iter().find_map(|entry| match entry.kind {
        EntryKind::EffectStarted(started) => started.over_by,
        _ => None,
    });
    intent.expect("an intent with an end")
}

#[tokio::test(start_paused = true)]
async fn a_dead_owner_is_not_waited_for() {
    for (at, found) in [
        (PointKind::BeforeEffect, ProbeFinding::DidNot),
        (PointKind::AfterEffect, ProbeFinding::Happened),
    ] {
        let mut stage = died("put", at).await;
        let begun = over_by(&stage).await;
        stage.play_on().await.expect("it ends");
        let probes = probes(&stage).await;
        assert_eq!(probes.iter().map(|probe| probe.1).collect::<Vec<_>>(), [found]);
        assert!(probes[0].0 < begun);
        assert_eq!(check(&stage.watched()).await.expect("sound").status, Status::Succeeded);
        assert_eq!(stage.world.acts().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn that_nothing_happened_is_believed_of_a_living_owner_once_its_call_must_be_over() {
    let mut stage = died("put", PointKind::BeforeEffect).await;
    stage.rules.owners_may_live = true;
    stage.play_on().await.expect("it ends");
    let (over_by, probes) = (over_by(&stage).await, probes(&stage).await);
    let [first, second] = probes.as_slice() else { panic!("{probes:?}") };
    assert_eq!((first.1, second.1), (ProbeFinding::DidNot, ProbeFinding::DidNot));
    assert!(first.0 < over_by && second.0 >= over_by, "{probes:?}, over by {over_by}");
    assert_eq!(check(&stage.watched()).await.expect("sound").status, Status::Succeeded);
    assert_eq!(stage.world.acts().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn that_it_happened_is_believed_at_once() {
    let mut stage = died("put", PointKind::AfterEffect).await;
    stage.rules.owners_may_live = true;
    stage.play_on().await.expect("it ends");
    let (over_by, probes) = (over_by(&stage).await, probes(&stage).await);
    assert!(
        matches!(probes.as_slice(), [(at, ProbeFinding::Happened)] if *at < over_by),
        "{probes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_the_wait_for_a_living_owner() {
    let mut stage = died("put", PointKind::BeforeEffect).await;
    stage.rules.owners_may_live = true;
    let heir = stage.process();
    let clock = heir.engine.clock();
    let cancel = async {
        clock.pause(1_000).await;
        let message = InboxMessage::Cancel { by: "person".to_owned() };
        heir.engine.send(&stage.run, "cancel", &message).await.expect("sent");
    };
    let (went, ()) = tokio::join!(heir.claim_and_drive(&stage.run), cancel);
    assert!(matches!(went, ProcessEnd::Well(Ok(_))), "{went:?}");
    assert!(clock.now() < over_by(&stage).await);
    assert_eq!(check(&stage.watched()).await.expect("sound").status, Status::Canceled);
}

/// The unknowns of a run, and an engine to settle them with.
async fn unknowns(
    stage: &mut Testbed,
) -> (std::sync::Arc<everloop_engine::Engine>, Vec<OpenUnknown>) {
    let engine = stage.process().engine;
    let open = engine.open_unknowns(&stage.run).await.expect("readable");
    (engine, open)
}

#[tokio::test(start_paused = true)]
async fn the_question_of_a_waiting_run_is_answered_by_settling_it() {
    let mut stage = died("mail", PointKind::AfterEffect).await;
    assert!(matches!(stage.play_once().await, ProcessEnd::Well(Ok(_))));
    let (engine, open) = unknowns(&mut stage).await;
    let [unknown] = open.as_slice() else { panic!("{open:?}") };
    assert!(unknown.question.is_some() && unknown.at > 0);
    let settle =
        async |settled| engine.settle(&unknown.effect, settled, "user").await.expect("read");
    assert_eq!(settle(SettledOutcome::Happened).await, SettleResult::Answered);
    assert_eq!(settle(SettledOutcome::Not).await, SettleResult::Already(None));
    stage.play_on().await.expect("it ends");
    assert_eq!(check(&stage.watched()).await.expect("sound").status, Status::Succeeded);
    assert_eq!(unknowns(&mut stage).await.1, []);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_of_a_finished_run_is_settled_once_beside_its_journal() {
    let mut stage = died("strike", PointKind::AfterEffect).await;
    stage.play_on().await.expect("it ends");
    assert_eq!(check(&stage.watched()).await.expect("sound").status, Status::Unsettled);
    let place = stage.store.runs().position(&stage.run).await.expect("readable");
    let (engine, open) = unknowns(&mut stage).await;
    let [unknown] = open.as_slice() else { panic!("{open:?}") };
    assert!(unknown.question.is_none() && unknown.settled.is_none());
    let settle = async |effect: &EffectId, settled| {
        engine.settle(effect, settled, "user").await.expect("read")
    };
    assert_eq!(settle(&unknown.effect, SettledOutcome::Not).await, SettleResult::Written);
    let again = settle(&unknown.effect, SettledOutcome::Happened).await;
    let SettleResult::Already(Some(first)) = again else { panic!("{again:?}") };
    assert_eq!((first.settled, first.by.as_str()), (SettledOutcome::Not, "user"));
    let other = EffectId { index: 9, ..unknown.effect.clone() };
    assert_eq!(settle(&other, SettledOutcome::Not).await, SettleResult::NotOpen);
    assert_eq!(unknowns(&mut stage).await.1[0].settled, Some(first));
    assert_eq!(stage.store.runs().position(&stage.run).await.expect("readable"), place);
}
