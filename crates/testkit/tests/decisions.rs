//! Decisions under crashes: a run that a decision starts begins with it, once, and so does the
//! decision that follows its end.

use everloop_store::{ConversationMessage, RunFilter, RunRow};
use everloop_testkit::{
    Scenario, Testbed, decisions, sweep_cancels, sweep_crashes, sweep_double_crashes,
    sweep_lost_replies, sweep_messages, sweep_stale_owners, sweep_takeovers,
};
use everloop_types::Status;

/// A chain that has not ended after so many processes is given up.
const PROCESSES_MAX: usize = 60;

/// Plays every run that there is until none is ready.
async fn play_all(stage: &mut Testbed) {
    for _ in 0..PROCESSES_MAX {
        if !stage.play_any().await {
            return;
        }
    }
    panic!("it does not end");
}

/// Every run, the oldest first, and all that was said in the conversation.
async fn outcome(stage: &Testbed) -> (Vec<RunRow>, Vec<ConversationMessage>) {
    let filter = RunFilter { statuses: Vec::new(), before: None, most: 100 };
    let mut runs = stage.store.runs().list(&filter).await.expect("readable");
    runs.sort_by_key(|row| (row.loop_name.clone(), row.run.clone() != stage.run));
    let conversation = runs[0].conversation.clone();
    let said = stage.store.conversations().messages(&conversation, 100).await.expect("readable");
    (runs, said)
}

fn starting() -> Vec<Scenario> {
    let is_starting = |scenario: &Scenario| !scenario.helpers.is_empty();
    decisions().into_iter().filter(is_starting).collect()
}

/// The decision, its task and the follow-up have ended once each, in one turn, with one message.
async fn assert_whole(stage: &Testbed, place: &str) {
    let (runs, said) = outcome(stage).await;
    let loops: Vec<&str> = runs.iter().map(|row| row.loop_name.as_str()).collect();
    assert_eq!(loops, ["decision", "decision", "react"], "{place}");
    for row in &runs {
        assert_eq!(row.status, Status::Succeeded, "{place}: {row:?}");
        assert_eq!(row.origin.turn, stage.run, "{place}");
        assert_eq!(row.conversation, runs[0].conversation, "{place}");
    }
    let roles: Vec<&str> = said.iter().map(|said| said.role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "assistant", "assistant"], "{place}: {said:?}");
    assert_eq!(said[2].body, "struck in the forge", "{place}");
    assert_eq!(said[3].body, "All is forged.", "{place}");
    assert_eq!(stage.violations(), 0, "{place}");
    let strikes = stage.world.acts().iter().filter(|act| act.tool == "strike").count();
    assert_eq!(strikes, 1, "{place}");
}

#[tokio::test(start_paused = true)]
async fn a_kill_at_any_point_of_a_chain_starts_its_task_and_its_follow_up_once() {
    let mut swept = 0;
    for scenario in starting() {
        let mut calm = Testbed::set(&scenario).await;
        let before = calm.points.passed();
        play_all(&mut calm).await;
        assert_whole(&calm, "undisturbed").await;
        let points = calm.points.seen().split_off(before);
        for (place, kind) in points.iter().enumerate() {
            let mut stage = Testbed::set(&scenario).await;
            stage.points.halt_at(place);
            play_all(&mut stage).await;
            let place = format!("{}: killed at point {place} ({kind:?})", scenario.name);
            // A dangerous call that was cut short is unknown, and never made again.
            let (runs, _) = outcome(&stage).await;
            if runs.iter().any(|row| row.status == Status::Unsettled) {
                assert_eq!(runs.len(), 3, "{place}");
                continue;
            }
            assert_whole(&stage, &place).await;
            swept += 1;
        }
    }
    assert!(swept >= 40, "only {swept} points were swept");
}

#[tokio::test(start_paused = true)]
async fn a_decision_survives_every_disturbance_that_other_loops_survive() {
    for scenario in decisions() {
        for report in [
            sweep_crashes(&scenario).await,
            sweep_double_crashes(&scenario).await,
            sweep_lost_replies(&scenario).await,
            sweep_cancels(&scenario).await,
            sweep_messages(&scenario).await,
            sweep_stale_owners(&scenario).await,
            sweep_takeovers(&scenario).await,
        ] {
            let report = report.unwrap_or_else(|broken| panic!("{broken}"));
            assert!(report.points > 0, "{}", scenario.name);
        }
    }
}

/// The check before the start and the start itself are two transactions; the database decides.
#[tokio::test(start_paused = true)]
async fn a_task_that_began_in_the_meantime_is_not_started_again() {
    let scenario = starting().remove(0);
    let mut stage = Testbed::set(&scenario).await;
    let first = stage.process();
    let claim = first.claim(&stage.run).await.expect("ready");
    let (store, conversation) = (stage.store.clone(), claim.conversation.clone());
    first.engine.drive(claim).await.expect("driven");
    let tasks = || async {
        let rows = store.runs().of_conversation(&conversation, 10).await.expect("readable");
        rows.iter().filter(|row| row.loop_name == "react").count()
    };
    assert_eq!(tasks().await, 1);
    // The simulated tool does not look whether the task runs: only the index knows.
    let frame = stage.frame();
    let second = stage.process();
    let submission = everloop_engine::Submission {
        loop_name: "decision".to_owned(),
        goal: everloop_types::Goal { text: scenario.name.to_owned(), ..Default::default() },
        frame,
        idem_key: None,
        profile: Default::default(),
    };
    let run = second.engine.submit_in(conversation.clone(), submission).await.expect("created");
    let now = second.engine.clock().now();
    let worker = &second.engine.identity().worker;
    let claim = store.queue().claim_run(worker, &run, now).await.expect("works").expect("ready");
    let driven = second.engine.drive(claim).await;
    assert!(driven.is_err(), "the tool never finds the task: {driven:?}");
    assert_eq!(tasks().await, 1);
    assert_eq!(stage.violations(), 0);
}
