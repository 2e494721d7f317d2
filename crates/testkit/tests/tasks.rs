//! Runs of a fixed type: the durable timer, one message at the end, cancels in every state.

use everloop_engine::{DriveEnd, Worker};
use everloop_store::{ConversationRow, NewConversation, Store, TASK_CHANNEL};
use everloop_testkit::{ProcessEnd, Scenario, TestProcess, Testbed, check, tasks};
use everloop_types::journal::{EntryKind, InboxMessage, WaitingOn};
use everloop_types::{ConversationId, Lang, RunId, Status};

fn named(name: &str) -> Scenario {
    tasks().into_iter().find(|scenario| scenario.name == name).expect("a scenario of that name")
}

async fn status(stage: &Testbed) -> Status {
    stage.store.runs().get(&stage.run).await.expect("readable").expect("exists").status
}

/// How often the run was put to sleep, and until when.
async fn waits(stage: &Testbed) -> Vec<i64> {
    let entries = stage.store.journal().entries(&stage.run, 0, usize::MAX).await.expect("readable");
    let until = entries.into_iter().filter_map(|entry| match entry.kind {
        EntryKind::Waiting(waiting) => waiting.until,
        _ => None,
    });
    until.collect()
}

async fn drive(stage: &mut Testbed) -> DriveEnd {
    match stage.play_once().await {
        ProcessEnd::Well(Ok(driven)) => driven,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_sleeps_holds_no_worker_and_goes_on_at_its_moment_after_a_restart() {
    let mut stage = Testbed::set(&named("a wait")).await;
    let parked = drive(&mut stage).await;
    assert!(matches!(parked, DriveEnd::Parked(WaitingOn::Timer { .. })), "{parked:?}");
    let row = stage.store.runs().get(&stage.run).await.expect("readable").expect("exists");
    assert_eq!((row.status, row.note.as_deref()), (Status::Waiting, Some("timer")));
    let wake_at = row.times.wake_at.expect("a time");
    // Every process so far is dead; a worker that looks too early finds nothing to do.
    let process = stage.process();
    let mut worker = Worker::new(process.engine, 4);
    worker.drain(|_| ()).await.expect("works");
    assert_eq!((status(&stage).await, waits(&stage).await), (Status::Waiting, vec![wake_at]));
    stage.await_timer().await;
    let process = stage.process();
    Worker::new(process.engine, 4).drain(|_| ()).await.expect("works");
    assert_eq!(status(&stage).await, Status::Succeeded);
    check(&stage.watched()).await.expect("all invariants");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_woken_too_early_sleeps_until_the_same_moment() {
    let mut stage = Testbed::set(&named("a wait")).await;
    drive(&mut stage).await;
    let process = stage.process();
    let steer = InboxMessage::Steer { text: "hurry".to_owned() };
    process.engine.send(&stage.run, "steer", &steer).await.expect("sent");
    let parked = drive(&mut stage).await;
    assert!(matches!(parked, DriveEnd::Parked(WaitingOn::Timer { .. })), "{parked:?}");
    let waits = waits(&stage).await;
    assert_eq!((waits.len(), waits[0]), (2, waits[1]));
    stage.await_timer().await;
    assert_eq!(drive(&mut stage).await, DriveEnd::Finished(Status::Succeeded));
}

/// A run of its own conversation, as schedules and the API make them.
async fn submitted(stage: &mut Testbed, name: &str, lang: Lang) -> (TestProcess, RunId) {
    let process = stage.process();
    let mut frame = stage.frame();
    frame.language = lang;
    let mut submission = everloop_engine::Submission {
        loop_name: stage.scenario.loop_name.to_owned(),
        goal: everloop_types::Goal { text: "the goal".to_owned(), ..Default::default() },
        frame,
        idem_key: Some(name.to_owned()),
        profile: Default::default(),
    };
    submission.profile.title = Some("nightly".to_owned());
    submission.profile.run_type = "sleep".to_owned();
    let id = ConversationId::new(format!("conv_{name}"));
    let (thread, workspace) = (None, None);
    let channel = TASK_CHANNEL.to_owned();
    let opens = NewConversation { id, channel, thread, workspace, now: 1 };
    let run = process.engine.submit_opening(opens.clone(), submission.clone()).await;
    let run = run.expect("the run is created");
    let twice = process.engine.submit_opening(opens, submission).await.expect("the same run");
    assert_eq!(run, twice);
    stage.run = run.clone();
    (process, run)
}

async fn conversation(store: &Store, name: &str) -> ConversationRow {
    let id = ConversationId::new(format!("conv_{name}"));
    store.conversations().get(&id).await.expect("readable").expect("a conversation")
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_without_a_conversation_is_one_unread_message_under_its_own_title() {
    for (name, lang, ends, title) in [
        ("a look", Lang::En, Status::Succeeded, "Task completed: nightly"),
        ("a look", Lang::ZhCn, Status::Succeeded, "任务完成：nightly"),
        ("a task that fails", Lang::En, Status::Failed, "Task failed: nightly"),
    ] {
        let mut stage = Testbed::set(&named(name)).await;
        let (_, run) = submitted(&mut stage, "own", lang).await;
        assert_eq!(conversation(&stage.store, "own").await.title, None);
        assert_eq!(drive(&mut stage).await, DriveEnd::Finished(ends));
        let row = conversation(&stage.store, "own").await;
        assert_eq!((row.title.as_deref(), row.has_unread()), (Some(title), true));
        let said = stage.store.conversations().messages(&row.id, 9).await.expect("readable");
        let ends: Vec<_> = said.iter().filter_map(|said| said.source_ref()).collect();
        assert_eq!(ends.len(), 1, "{said:?}");
        assert_eq!((ends[0].kind, &ends[0].ref_id), ("run", &run));
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_is_delivered_twice_is_one_message_and_keeps_a_title_that_a_person_gave() {
    let mut stage = Testbed::set(&named("a look")).await;
    let (process, run) = submitted(&mut stage, "own", Lang::En).await;
    let id = ConversationId::new("conv_own");
    stage.store.conversations().rename(&id, Some("mine"), 2).await.expect("renamed");
    assert_eq!(drive(&mut stage).await, DriveEnd::Finished(Status::Succeeded));
    // The run is over: neither a second drive nor a second process can end it again.
    assert!(matches!(stage.play_once().await, ProcessEnd::Idle));
    process.engine.take_up().await.expect("works");
    assert!(matches!(stage.play_once().await, ProcessEnd::Idle));
    let finals = stage.store.runs().messages(&run).await.expect("readable");
    assert_eq!(finals.iter().filter(|said| said.slot == "final").count(), 1);
    assert_eq!(conversation(&stage.store, "own").await.title.as_deref(), Some("mine"));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_a_queued_and_a_sleeping_run_with_words_and_a_title_of_its_own() {
    for sleeps in [false, true] {
        let mut stage = Testbed::set(&named("a wait")).await;
        let (process, run) = submitted(&mut stage, "own", Lang::En).await;
        if sleeps {
            drive(&mut stage).await;
            assert_eq!(status(&stage).await, Status::Waiting);
        }
        process.engine.cancel(&run, "user").await.expect("sent");
        // It does not sleep on: the cancel makes it ready at once.
        assert_eq!(status(&stage).await, Status::Queued);
        assert_eq!(drive(&mut stage).await, DriveEnd::Finished(Status::Canceled));
        let row = conversation(&stage.store, "own").await;
        assert_eq!(row.title.as_deref(), Some("Task canceled: nightly"));
        let said = stage.store.runs().messages(&run).await.expect("readable");
        let last = said.last().expect("a message");
        assert_eq!(last.slot, "final");
        assert!(!last.body.is_empty(), "a canceled run has words");
    }
}
