//! Rows 4, 5 and 31: commits that fail, disks that are full, journals that are full.

use super::{PROGRAM, part_named};
use everloop_engine::Worker;
use everloop_store::testing::PgServer;
use everloop_store::{Claim, Commit, NewRun, Store, StoreError, StoreLimit};
use everloop_testkit::{
    ProcessExit, ProcessGroup, Scenario, SharedDatabase, Testbed, check, check_midway, ended,
    scenarios,
};
use everloop_types::journal::{EntryDraft, EntryKind, EpochStarted, InboxMessage, RunCreated};
use everloop_types::{ConversationId, Frame, Goal, RunId, WorkerId, digest_json};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How the commit at a point goes wrong.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Refused, and so is everything after it for a while.
    Full,
    /// It takes place, and the reply is lost.
    ReplyLost,
    /// It does not take place, and the caller gets no reply.
    RequestLost,
}

/// Plays a scenario with a worker and one fault. Returns whether the fault took place.
async fn play(scenario: &Scenario, fault: Fault, n: usize) -> Result<bool, String> {
    let mut stage = Testbed::set(scenario).await;
    let before = stage.points.passed();
    match fault {
        Fault::Full => stage.points.fill_at(n),
        Fault::ReplyLost => stage.points.lose_reply_at(n),
        Fault::RequestLost => stage.points.lose_request_at(n),
    }
    let process = stage.process();
    let mut worker = Worker::new(process.engine.clone(), 4);
    for _ in 0..20 {
        // A full disk stays full for ten minutes; the other faults are over at once.
        let drained = tokio::time::timeout(Duration::from_secs(600), worker.drain(|_| {})).await;
        check_midway(&stage.watched()).await?;
        if drained.is_err() {
            stage.points.stop_disturbing();
        }
        if stage.is_over().await {
            check(&stage.watched()).await?;
            return Ok(stage.points.passed() - before > n);
        }
        stage.answer_open_question().await;
    }
    Err("it does not end".to_owned())
}

async fn at_every_commit(fault: Fault) -> usize {
    let mut faults = 0;
    for scenario in scenarios() {
        for n in 0.. {
            let played = play(&scenario, fault, n).await;
            match played.unwrap_or_else(|why| panic!("{} {fault:?} {n}: {why}", scenario.name)) {
                true => faults += 1,
                false => break,
            }
        }
    }
    println!("{fault:?} at every point: {faults} points, 0 violations");
    faults
}

#[tokio::test(start_paused = true)]
async fn row_04_a_commit_that_takes_place_unheard_at_every_point() {
    assert!(at_every_commit(Fault::ReplyLost).await > 400);
}

#[tokio::test(start_paused = true)]
async fn row_04_a_commit_that_is_lost_unheard_at_every_point() {
    assert!(at_every_commit(Fault::RequestLost).await > 400);
}

#[tokio::test(start_paused = true)]
async fn row_05_a_disk_that_is_full_for_ten_minutes_from_every_point_on() {
    assert!(at_every_commit(Fault::Full).await > 400);
}

/// A process with a file size limit in blocks: the signal kills it inside a write.
fn bounded(company: &ProcessGroup, scenario: usize, blocks: u64) -> Child {
    let told = serde_json::to_string(&company.part(scenario, "run", None)).unwrap();
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$1\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, PROGRAM, &told]).stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

const SIGXFSZ: i32 = 25;

#[tokio::test]
async fn row_04_a_process_that_is_killed_in_the_middle_of_a_write_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = part_named("every class in one batch");
    let mut killed = 0;
    for step in 1.. {
        let place = folder.path().join(step.to_string());
        std::fs::create_dir(&place).unwrap();
        let database = SharedDatabase::Folder(place.clone());
        let company = ProcessGroup::new(PROGRAM, database, place.clone()).await;
        // What is in the log already counts too, so the limit is beyond it.
        let log = place.join("everloop.db-wal");
        let begun = std::fs::metadata(log).map_or(0, |log| log.len() / 512);
        let output = bounded(&company, scenario, begun + 8 * step).wait_with_output().unwrap();
        match (output.status.signal(), output.status.success()) {
            (Some(SIGXFSZ), _) => killed += 1,
            (None, true) => break,
            other => panic!("{other:?}: {}", String::from_utf8_lossy(&output.stderr)),
        }
        let heir = ended(company.start(&company.part(scenario, "run", None)));
        let Ok(ProcessExit::Over(run, _)) = heir else { panic!("{heir:?}") };
        company.check(scenario, "run", &run).await.unwrap();
    }
    println!("killed in the middle of a write: {killed} times, 0 violations");
    assert!(killed >= 10, "only {killed} kills");
}

fn entries(many: usize, build: &str) -> Commit {
    let started = EpochStarted { worker: WorkerId::new("w"), build: build.to_owned() };
    let draft = EntryDraft { at: 1, effect: None, kind: EntryKind::EpochStarted(started) };
    Commit::new(vec![draft; many], 1)
}

fn new_run(name: &str) -> NewRun {
    let frame = Frame::default();
    let created = RunCreated {
        goal: Goal { text: "limits".to_owned(), ..Goal::default() },
        loop_name: "react".to_owned(),
        loop_ver: 1,
        frame: digest_json(&frame),
        build: "test".to_owned(),
        policy_hash: String::new(),
        turn: None,
    };
    let (run, conversation) = (RunId::new(name), ConversationId::new(name));
    NewRun {
        run,
        conversation,
        created,
        frame,
        idem_key: None,
        profile: Default::default(),
        opens: None,
        now: 1,
        link: everloop_store::RunLink::default(),
    }
}

async fn claimed(store: &Store, name: &str) -> Claim {
    store.queue().create_run(&new_run(name)).await.unwrap();
    store.queue().claim_run(&WorkerId::new("w"), &RunId::new(name), 1).await.unwrap().unwrap()
}

/// A journal is really written up to each limit; what goes beyond is refused and changes nothing.
async fn limits_hold(store: &Store) {
    let mut long = claimed(store, "run_long").await;
    for _ in 0..49 {
        store.journal().append(&mut long, entries(1_000, "b")).await.unwrap();
    }
    store.journal().append(&mut long, entries(999, "b")).await.unwrap();
    let beyond = store.journal().append(&mut long, entries(1, "b")).await;
    assert!(matches!(beyond, Err(StoreError::OverLimit { limit: StoreLimit::Events, .. })));
    assert_eq!(store.journal().entries(&long.run, 49_998, usize::MAX).await.unwrap().len(), 2);

    let mut wide = claimed(store, "run_wide").await;
    let five_megabytes = "x".repeat(5 << 20);
    for _ in 0..12 {
        store.journal().append(&mut wide, entries(1, &five_megabytes)).await.unwrap();
    }
    let beyond = store.journal().append(&mut wide, entries(1, &five_megabytes)).await;
    assert!(matches!(beyond, Err(StoreError::OverLimit { limit: StoreLimit::Bytes, .. })));
    store.journal().append(&mut wide, entries(1, "b")).await.unwrap();
    assert_eq!(store.journal().load(&wide.run).await.unwrap().entries.len(), 14);

    let message = InboxMessage::Steer { text: "x".repeat(3 << 20) };
    let beyond = store.inbox().send(&wide.run, "steer", &message, 1).await;
    assert!(matches!(beyond, Err(StoreError::OverLimit { limit: StoreLimit::InboxMessage, .. })));
    assert_eq!(store.inbox().unread(&wide.run).await.unwrap().messages.len(), 0);
}

#[tokio::test]
async fn row_31_a_journal_that_is_full_is_refused_cleanly_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    limits_hold(&Store::open(&folder.path().join("everloop.db")).unwrap()).await;
}

#[tokio::test]
async fn row_31_a_journal_that_is_full_is_refused_cleanly_postgres() {
    limits_hold(&PgServer::shared().database().store().await).await;
}
