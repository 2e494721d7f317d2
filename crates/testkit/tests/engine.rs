//! The engine with models and tools that misbehave, on virtual time.

use everloop_engine::{DriveEnd, Worker, WorkerReport};
use everloop_models::ScriptedReply;
use everloop_testkit::{PointKind, ProcessEnd, Scenario, TestProcess, Testbed, check};
use everloop_types::journal::{EffectPlanned, EntryKind, InboxMessage, Outcome, WaitingOn};
use everloop_types::{Ending, ModelErrorKind, Statement, Status};
use serde_json::json;

fn scenario(script: Vec<ScriptedReply>) -> Scenario {
    Scenario::react("trouble", script)
}

async fn stage(script: Vec<ScriptedReply>) -> Testbed {
    Testbed::set(&scenario(script)).await
}

fn calls(tool: &str) -> ScriptedReply {
    ScriptedReply::calls(tool, json!({}))
}

async fn drive(stage: &mut Testbed) -> DriveEnd {
    match stage.play_once().await {
        ProcessEnd::Well(Ok(driven)) => driven,
        other => panic!("the drive did not come to an end of its own: {other:?}"),
    }
}

async fn endings(stage: &Testbed) -> Vec<Ending> {
    let entries = stage.store.journal().entries(&stage.run, 0, usize::MAX).await.expect("readable");
    let seen = entries.into_iter().filter_map(|entry| match entry.kind {
        EntryKind::EffectFinished(finished) => match finished.outcome {
            Outcome::Observed(seen) => Some(seen.ending),
            _ => None,
        },
        _ => None,
    });
    seen.collect()
}

async fn attempts_failed(stage: &Testbed) -> usize {
    let entries = stage.store.journal().entries(&stage.run, 0, usize::MAX).await.expect("readable");
    entries.iter().filter(|entry| matches!(entry.kind, EntryKind::EffectAttemptFailed(_))).count()
}

/// Drives in one process and sends a message `after_ms` later; returns how long the drive took
/// after it.
async fn drive_and_send(
    stage: &Testbed,
    process: &TestProcess,
    after_ms: u64,
    message: InboxMessage,
) -> u64 {
    let clock = process.engine.clock();
    let meddle = async {
        clock.pause(after_ms).await;
        process.engine.send(&stage.run, "meddle", &message).await.expect("sent");
        clock.since_boot_ms()
    };
    let (went, sent) = tokio::join!(process.claim_and_drive(&stage.run), meddle);
    assert!(matches!(went, ProcessEnd::Well(Ok(_))), "{went:?}");
    clock.since_boot_ms() - sent
}

#[tokio::test(start_paused = true)]
async fn a_model_that_stays_away_parks_the_run_and_the_run_wakes_by_itself() {
    let mut stage = stage(vec![ScriptedReply::fails(ModelErrorKind::Unreachable)]).await;
    let begun = stage.process().engine.clock().since_boot_ms();
    let driven = drive(&mut stage).await;
    assert!(matches!(driven, DriveEnd::Parked(WaitingOn::Model { .. })), "{driven:?}");
    let took = stage.process().engine.clock().since_boot_ms() - begun;
    assert!(took < 15_000, "the foreground waited {took} ms");
    let row = stage.store.runs().get(&stage.run).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Waiting);
    assert!(row.times.wake_at.is_some());
}

#[tokio::test(start_paused = true)]
async fn attempts_at_a_model_are_spent_in_the_end_and_the_run_ends_with_words() {
    let mut stage = stage(vec![ScriptedReply::fails(ModelErrorKind::Server)]).await;
    let mut drives = 0;
    while !matches!(drive(&mut stage).await, DriveEnd::Finished(Status::Failed)) {
        drives += 1;
        assert!(drives < 20, "it tries for ever");
    }
    assert_eq!(attempts_failed(&stage).await, 11, "eleven failed, the twelfth was the last");
    let ending = check(&stage.watched()).await.unwrap();
    assert!(ending.text.contains("model failed"), "{}", ending.text);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_asks_for_time_gets_it() {
    let mut error = everloop_types::ModelError::new(ModelErrorKind::RateLimited, "slow down");
    error.retry_after_ms = Some(5_000);
    let reply = ScriptedReply { fail: vec![error], ..ScriptedReply::says("hello") };
    let mut stage = stage(vec![reply]).await;
    let process = stage.process();
    let begun = process.engine.clock().since_boot_ms();
    assert_eq!(drive(&mut stage).await, DriveEnd::Finished(Status::Succeeded));
    let took = process.engine.clock().since_boot_ms() - begun;
    assert!((5_000..6_000).contains(&took), "it came back after {took} ms");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_given_up_at_its_time_out_and_its_outcome_is_unknown() {
    let mut stage = stage(vec![calls("hang"), ScriptedReply::says("gave up")]).await;
    assert_eq!(drive(&mut stage).await, DriveEnd::Finished(Status::Unsettled));
    assert_eq!(endings(&stage).await, [Ending::Unknown]);
    let ending = check(&stage.watched()).await.unwrap();
    assert!(ending.text.starts_with("Outcome unknown, not repeated: hang"), "{}", ending.text);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_interrupts_a_model_stream_at_once() {
    let mut stage = stage(vec![ScriptedReply::says("much later").after_ms(600_000)]).await;
    let process = stage.process();
    let message = InboxMessage::Cancel { by: "person".to_owned() };
    let took = drive_and_send(&stage, &process, 1_000, message).await;
    assert!(took < 1_000, "it took {took} ms");
    assert_eq!(check(&stage.watched()).await.unwrap().status, Status::Canceled);
}

#[tokio::test(start_paused = true)]
async fn what_was_read_of_a_reply_stays_when_a_cancel_cuts_it_off() {
    let slow =
        ScriptedReply { chunk: 6, delay_ms: 400, ..ScriptedReply::says("slowly ".repeat(9)) };
    let mut stage = stage(vec![slow]).await;
    let process = stage.process();
    let message = InboxMessage::Cancel { by: "person".to_owned() };
    drive_and_send(&stage, &process, 1_000, message).await;
    assert_eq!(check(&stage.watched()).await.unwrap().status, Status::Canceled);
    let said = stage.store.runs().messages(&stage.run).await.unwrap();
    let said: Vec<_> = said.iter().map(|one| (one.slot.as_str(), one.body.as_str())).collect();
    assert_eq!(said[1], ("stopped", "slowly slowl"), "{said:?}");
    assert_eq!(said[2].0, "final");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_a_tool_within_its_grace_and_says_what_is_known() {
    for (tool, ending) in [("doze", Ending::Canceled), ("hang", Ending::Unknown)] {
        let mut stage = stage(vec![calls(tool), ScriptedReply::says("never")]).await;
        let process = stage.process();
        let message = InboxMessage::Cancel { by: "person".to_owned() };
        let took = drive_and_send(&stage, &process, 1_000, message).await;
        assert!(took <= 1_500, "{tool} took {took} ms");
        assert_eq!(endings(&stage).await, [ending], "{tool}");
        assert_eq!(check(&stage.watched()).await.unwrap().status, Status::Canceled);
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_may_pass_and_acted_on_nothing_is_tried_again() {
    let mut stage = stage(vec![calls("stutter"), ScriptedReply::says("worked")]).await;
    assert_eq!(drive(&mut stage).await, DriveEnd::Finished(Status::Succeeded));
    assert_eq!(attempts_failed(&stage).await, 2);
    assert_eq!(endings(&stage).await, [Ending::Ok]);
}

#[tokio::test(start_paused = true)]
async fn row_26_a_run_that_takes_its_driver_down_is_put_aside_and_the_worker_goes_on() {
    let mut stage = stage(vec![calls("explode"), ScriptedReply::says("never")]).await;
    let process = stage.process();
    let mut stalls = 0;
    let mut worker = Worker::new(process.engine.clone(), 4);
    let report = |report| stalls += usize::from(matches!(report, WorkerReport::Stalled(_)));
    worker.drain(report).await.unwrap();
    let row = stage.store.runs().get(&stage.run).await.unwrap().unwrap();
    assert_eq!((row.status, stalls), (Status::Quarantined, 5));
    assert!(row.note.unwrap().contains("without progress"));
}

#[tokio::test(start_paused = true)]
async fn a_word_to_the_model_is_heard_after_its_reply_and_before_the_next_call() {
    let script = vec![
        ScriptedReply::calls("look", json!({"what": "sky"})).after_ms(5_000),
        ScriptedReply::says("heard"),
    ];
    let mut stage = stage(script).await;
    let process = stage.process();
    let message = InboxMessage::Steer { text: "mind the sea too".to_owned() };
    drive_and_send(&stage, &process, 1_000, message).await;
    let history = everloop_engine::History::read(&stage.store, &stage.run).await.unwrap().unwrap();
    let state = history.state_at(i64::MAX).unwrap();
    let place = |words: &str| state.messages().iter().position(|m| m.text().contains(words));
    assert!(place("saw sky") < place("mind the sea too"), "{:?}", state.messages());
    assert!(place("mind the sea too") < place("heard"));
    check(&stage.watched()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_user_can_have_the_answer_now() {
    let script = vec![ScriptedReply::calls("look", json!({"what": "sky"})).after_ms(5_000)];
    let mut stage = stage(script).await;
    let process = stage.process();
    drive_and_send(&stage, &process, 1_000, InboxMessage::AnswerNow).await;
    let ending = check(&stage.watched()).await.unwrap();
    assert_eq!((ending.status, ending.text.as_str()), (Status::Succeeded, "in the end"));
}

#[tokio::test(start_paused = true)]
async fn row_30_a_key_that_is_no_longer_honoured_makes_the_effect_unknown() {
    let script = vec![
        ScriptedReply::calls("post", json!({"what": "letter"})),
        ScriptedReply::says("posted"),
    ];
    let mut undisturbed = stage(script.clone()).await;
    let before = undisturbed.points.passed();
    undisturbed.play_on().await.unwrap();
    let points = undisturbed.points.seen().split_off(before);
    let mut acts = (0..points.len()).filter(|n| points[*n] == PointKind::AfterEffect);
    // The first is the model's reply; the process dies right after the second, the post itself.
    let after_post = acts.nth(1).unwrap();
    let mut stage = stage(script).await;
    stage.points.halt_at(after_post);
    assert!(matches!(stage.play_once().await, ProcessEnd::Died));
    stage.points.stop_disturbing();
    tokio::time::advance(std::time::Duration::from_secs(2 * 3_600)).await;
    stage.play_on().await.unwrap();
    assert_eq!(endings(&stage).await, [Ending::Unknown]);
    assert_eq!(check(&stage.watched()).await.unwrap().status, Status::Unsettled);
}

#[tokio::test(start_paused = true)]
async fn an_exchange_costs_two_commits() {
    let script = vec![
        ScriptedReply::calls("look", json!({"what": "1"})),
        ScriptedReply::calls("look", json!({"what": "2"})),
        ScriptedReply::calls("look", json!({"what": "3"})),
        ScriptedReply::says("seen"),
    ];
    let mut stage = stage(script).await;
    let before = stage.points.passed();
    drive(&mut stage).await;
    let points = stage.points.seen().split_off(before);
    let commits = points.iter().filter(|p| **p == PointKind::BeforeCommit).count();
    // Orphans, claim, the first plan, two for each of three exchanges, and the ending.
    assert_eq!(commits, 2 + 1 + 3 * 2 + 1);
    let entries = stage.store.journal().entries(&stage.run, 0, usize::MAX).await.unwrap();
    let asked =
        |kind: &EntryKind| matches!(kind, EntryKind::EffectPlanned(EffectPlanned::CallModel(_)));
    assert_eq!(entries.iter().filter(|entry| asked(&entry.kind)).count(), 4);
}

#[tokio::test(start_paused = true)]
async fn row_31_a_run_whose_journal_is_full_ends_in_words() {
    let mut stage = stage(vec![calls("stutter"), ScriptedReply::says("never")]).await;
    let full = everloop_types::Write {
        statement: Statement::screened("UPDATE runs SET bytes = 67108864"),
        params: Vec::new(),
        expect: everloop_types::Rows::Exactly(1),
    };
    stage.store.db().commit(vec![full], everloop_store::Urgency::Critical).await.unwrap();
    assert_eq!(drive(&mut stage).await, DriveEnd::Finished(Status::Failed));
    let ending = check(&stage.watched()).await.unwrap();
    assert!(ending.text.contains("The journal is full"), "{}", ending.text);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_every_call_of_a_batch_at_once() {
    let batch = (0..20).fold(calls("nap"), |reply, _| reply.and_calls("nap", json!({})));
    let mut stage = stage(vec![batch, ScriptedReply::says("never")]).await;
    let process = stage.process();
    let message = InboxMessage::Cancel { by: "person".to_owned() };
    let took = drive_and_send(&stage, &process, 1_000, message).await;
    assert!(took <= 500, "it took {took} ms");
    assert_eq!(endings(&stage).await, [Ending::Canceled; 21]);
    check(&stage.watched()).await.unwrap();
}
