//! A database that goes to a server and back.

use crate::{
    Claim, Commit, NewConversation, NewMessage, NewRun, NextStatus, Store, StoreError,
    testing::PgServer,
    transfer::{
        TableDigest, TransferError, TransferPhase, TransferProgress, check_empty, copy_all,
        digest_all,
    },
};
use everloop_types::{
    ConversationId, Frame, Goal, RunId, Status, WorkerId, digest_json,
    journal::{EntryDraft, EntryKind, MessageEmitted, RunCreated, RunFinished},
};

fn draft(kind: EntryKind) -> EntryDraft {
    EntryDraft { at: 1, effect: None, kind }
}

/// A run with odd text, a large frame and an end.
async fn play(store: &Store, name: &str, text: &str) {
    let frame = Frame { system: text.repeat(20_000), ..Frame::default() };
    let conversation = ConversationId::new(format!("conv_{name}"));
    let new = NewConversation {
        id: conversation.clone(),
        channel: "terminal".to_owned(),
        thread: None,
        workspace: Some("/a".to_owned()),
        now: 1,
    };
    store.conversations().ensure(&new).await.unwrap();
    let created = RunCreated {
        goal: Goal { text: text.to_owned(), ..Goal::default() },
        loop_name: "react".to_owned(),
        loop_ver: 1,
        frame: digest_json(&frame),
        build: "test".to_owned(),
        policy_hash: String::new(),
        turn: None,
    };
    let run = RunId::new(name);
    let new = NewRun {
        run: run.clone(),
        conversation,
        created,
        frame,
        idem_key: None,
        profile: Default::default(),
        opens: None,
        now: 1,
        link: Default::default(),
    };
    store.queue().create_run(&new).await.unwrap();
    let worker = WorkerId::new("w");
    let mut claim: Claim = store.queue().claim_run(&worker, &run, 1).await.unwrap().unwrap();
    let slot = "final".to_owned();
    let end = RunFinished { status: Status::Succeeded, reason: None };
    let drafts = vec![
        draft(EntryKind::MessageEmitted(MessageEmitted { slot: slot.clone() })),
        draft(EntryKind::RunFinished(end)),
    ];
    let mut commit = Commit::new(drafts, 2).then(NextStatus::Finish(Status::Succeeded));
    let message_id = format!("{name}:final");
    let (role, body) = ("assistant".to_owned(), format!("done: {text}"));
    commit.messages.push(NewMessage { slot, role, body, message_id });
    store.journal().append(&mut claim, commit).await.unwrap();
}

async fn filled() -> Store {
    let store = Store::memory();
    for (name, text) in [("run_a", "Mend it"), ("run_b", "登录页面\0\u{1a}0"), ("run_c", "x")] {
        play(&store, name, text).await;
    }
    store.maintenance().belong_to("home_1").await.unwrap();
    store
}

async fn copied(from: &Store, to: &Store) -> Vec<TableDigest> {
    copy_all(from, to, &mut |_| ()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_goes_to_a_server_and_back_is_the_same_in_every_row() {
    let (source, back) = (filled().await, Store::memory());
    let server = PgServer::shared().database().store().await;
    let there = copied(&source, &server).await;
    let again = copied(&server, &back).await;
    let plain = |all: &[TableDigest]| -> Vec<_> {
        all.iter().map(|one| (one.table, one.rows, one.digest.clone())).collect()
    };
    assert_eq!(plain(&there), plain(&again));
    assert_eq!(plain(&there), plain(&digest_all(&source).await.unwrap()));
    let rows = |name: &str| there.iter().find(|one| one.table == name).map(|one| one.rows);
    assert_eq!((rows("runs"), rows("journal"), rows("messages")), (Some(3), Some(9), Some(6)));
    assert_eq!((rows("schema_meta"), rows("counters") > Some(0)), (Some(1), true));
    for run in ["run_a", "run_b", "run_c"].map(RunId::new) {
        let load = async |store: &Store| store.journal().load(&run).await.unwrap();
        assert_eq!(load(&source).await.entries, load(&back).await.entries);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_with_rows_is_refused_and_stays_as_it_was() {
    let (source, target) = (filled().await, filled().await);
    let before = digest_all(&target).await.unwrap();
    let refused = copy_all(&source, &target, &mut |_| ()).await.unwrap_err();
    assert!(matches!(refused, TransferError::NotEmpty { .. }), "{refused}");
    assert_eq!(digest_all(&target).await.unwrap(), before);
    check_empty(&Store::memory()).await.unwrap();
}

/// Copies while the source changes: a conversation comes when that table is done.
async fn copy_of_what_changes(target: &Store) -> TransferError {
    let source = filled().await;
    let (other, runtime) = (source.clone(), tokio::runtime::Handle::current());
    let mut told = |progress: TransferProgress| {
        if progress.table == "runs" && progress.phase == TransferPhase::Copying {
            let late = NewConversation {
                id: ConversationId::new("conv_late"),
                channel: "terminal".to_owned(),
                thread: None,
                workspace: None,
                now: 1,
            };
            let late = async { other.conversations().ensure(&late).await.unwrap() };
            tokio::task::block_in_place(|| runtime.block_on(late));
        }
    };
    copy_all(&source, target, &mut told).await.unwrap_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_broke_off_is_opened_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("e.db");
    let server = PgServer::shared().database();
    for target in [Store::open(&file).unwrap(), server.store().await] {
        let error = copy_of_what_changes(&target).await;
        let differs = TransferError::Differs { table: "conversations", from: 4, to: 3 };
        assert_eq!(error.to_string(), differs.to_string());
    }
    let is_half = |opened: Result<Store, StoreError>| {
        opened.is_err_and(|error| error.to_string().ends_with("delete it and copy again"))
    };
    assert!(is_half(Store::open(&file)), "the file");
    assert!(is_half(Store::connect(&server.url, PgServer::options()).await), "the server");
}
