//! The conformance suite on a server, and what only a server has.

use super::{PgDb, PgOptions};
use crate::{
    Claim, Commit, Db, DbError, NewMessage, NewOutbox, NewRun, OpenError, SqlRow, Store,
    StoreError, Urgency, conformance,
    testing::{PgProxy, PgServer, ProxyCut},
};
use everloop_types::{
    ConversationId, Frame, Goal, Rows, RunId, SqlValue, Statement, WorkerId, Write, digest_bytes,
    digest_json,
    journal::{EntryDraft, EntryKind, EpochStarted, MessageEmitted, RunCreated},
};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

fn new_run(name: &str) -> NewRun {
    let frame = Frame::default();
    let created = RunCreated {
        goal: Goal { text: "goal".to_owned(), ..Goal::default() },
        loop_name: "react".to_owned(),
        loop_ver: 1,
        frame: digest_json(&frame),
        build: "test".to_owned(),
        policy_hash: String::new(),
        turn: None,
    };
    let conversation = ConversationId::new("conv");
    let run = RunId::new(name);
    NewRun {
        run,
        conversation,
        created,
        frame,
        idem_key: None,
        profile: Default::default(),
        opens: None,
        now: 1,
        link: crate::RunLink::default(),
    }
}

fn started(build: &str) -> EntryDraft {
    let started = EpochStarted { worker: WorkerId::new("w"), build: build.to_owned() };
    EntryDraft { at: 1, effect: None, kind: EntryKind::EpochStarted(started) }
}

fn entry(build: &str) -> Commit {
    Commit::new(vec![started(build)], 1)
}

async fn claimed(store: &Store, name: &str) -> Claim {
    store.queue().create_run(&new_run(name)).await.unwrap();
    store.queue().claim_run(&WorkerId::new("w"), &RunId::new(name), 1).await.unwrap().unwrap()
}

fn write(sql: &'static str) -> Write {
    Write { statement: Statement::screened(sql), params: Vec::new(), expect: Rows::Any }
}

async fn entries(store: &Store, claim: &Claim) -> usize {
    store.journal().load(&claim.run).await.unwrap().entries.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_conforms() {
    let server = PgServer::shared();
    conformance::run_all(async || server.database().store().await).await;
}

#[tokio::test]
async fn settings_are_read_back_and_shown() {
    let store = PgServer::shared().database().store().await;
    let seen = store.maintenance().inspect().await.unwrap();
    assert_eq!((seen.engine, seen.checked), ("PostgreSQL", "journals"));
    let settings: Vec<_> = seen.settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let wanted = [
        ("synchronous_commit", "on"),
        ("idle_in_transaction_session_timeout", "10s"),
        ("standard_conforming_strings", "on"),
        ("client_encoding", "UTF8"),
        ("timezone", "UTC"),
        ("default_transaction_isolation", "read committed"),
        ("fsync", "off"),
        ("full_page_writes", "on"),
    ];
    assert_eq!(settings, wanted);
    let sql = "SELECT array_to_string(reloptions, ' ') FROM pg_class WHERE relname = 'runs'";
    let options = store.db().query(sql, Vec::new()).await.unwrap();
    let options = crate::dialect::scalar(options);
    assert_eq!(options, "fillfactor=70 autovacuum_vacuum_scale_factor=0.01");
}

#[tokio::test]
async fn a_server_that_loses_commits_is_refused() {
    let database = PgServer::shared().database();
    let refused = PgDb::connect(&database.url, PgOptions::default()).await.unwrap_err();
    let is_fsync = matches!(refused, OpenError::Setting { name: "fsync", .. });
    assert!(is_fsync && refused.to_string().contains("lose"), "{refused}");
    let durable = PgServer::durable().database();
    assert!(Store::connect(&durable.url, PgOptions::default()).await.is_ok());
}

#[tokio::test]
async fn what_is_not_ours_or_newer_is_refused() {
    let server = PgServer::shared();
    let (foreign, newer) = (server.database(), server.database());
    let db = PgDb::connect(&newer.url, PgServer::options()).await.unwrap();
    let raise = write("UPDATE schema_meta SET v = '99' WHERE k = 'min_reader'");
    db.commit(vec![raise], Urgency::Critical).await.unwrap();
    let refused = PgDb::connect(&newer.url, PgServer::options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::NewerSchema { needed: 99, .. }), "{refused}");
    let db = PgDb::connect(&foreign.url, PgServer::options()).await.unwrap();
    db.commit(vec![write("DROP TABLE schema_meta")], Urgency::Critical).await.unwrap();
    let refused = PgDb::connect(&foreign.url, PgServer::options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::NotOurs { .. }), "{refused}");
    let nowhere = foreign.url.replace("/test", "/none");
    let refused = PgDb::connect(&nowhere, PgServer::options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::Db(DbError::Other { .. })), "{refused:?}");
    assert!(refused.to_string().contains("refused"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_can_make_the_tables_at_once() {
    let database = PgServer::shared().database();
    let opens = (0..8).map(|_| {
        let url = database.url.clone();
        tokio::spawn(async move { Store::connect(&url, PgServer::options()).await.map(drop) })
    });
    for open in opens.collect::<Vec<_>>() {
        open.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_password_is_in_no_error() {
    let url = "postgres://someone:hunter2@127.0.0.1:1/none?sslmode=disable";
    let refused = Store::connect(url, PgOptions::default()).await.unwrap_err();
    assert!(refused.is_transient(), "{refused:?}");
    assert!(!format!("{refused:?} {refused}").contains("hunter2"));
    let database = PgServer::shared().database();
    let db = PgDb::connect(&database.url, PgServer::options()).await.unwrap();
    assert!(format!("{db:?}").contains(&database.name));
}

/// On one thread, all that is sent together arrives together, so that turns can be counted.
#[tokio::test]
async fn a_transaction_of_many_statements_takes_two_round_trips() {
    let server = PgServer::shared();
    let (database, proxy) = (server.database(), PgProxy::start(server).await);
    let store = Store::connect(&proxy.url(&database), PgServer::options()).await.unwrap();
    let mut claim = claimed(&store, "run_a").await;
    let many = || Commit::new((0..12).map(|_| started("b")).collect(), 1);
    store.journal().append(&mut claim, many()).await.unwrap();
    let before = proxy.turns();
    store.journal().append(&mut claim, many()).await.unwrap();
    assert_eq!(proxy.turns() - before, 2, "13 statements, BEGIN and COMMIT");
    let before = proxy.turns();
    let mut stale = Claim { next_seq: 1, ..claim.clone() };
    let lost = store.journal().append(&mut stale, many()).await;
    assert!(matches!(lost, Err(StoreError::LeaseLost { .. })), "{lost:?}");
    assert!(proxy.turns() - before <= 4, "one to perform, one to roll back, and the position");
}

/// Row 14 of the faults: cut while committing, read back, exactly one copy.
#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_unknown_and_the_position_tells() {
    let server = PgServer::shared();
    let (database, proxy) = (server.database(), PgProxy::start(server).await);
    let store = Store::connect(&proxy.url(&database), PgServer::options()).await.unwrap();
    for (cut, run, took_place) in
        [(ProxyCut::AfterCommit, "run_a", true), (ProxyCut::BeforeCommit, "run_b", false)]
    {
        let mut claim = claimed(&store, run).await;
        proxy.cut(cut);
        let unknown = store.journal().append(&mut claim, entry("b")).await;
        assert!(matches!(unknown, Err(StoreError::Unknown { .. })), "{cut:?}: {unknown:?}");
        let at = store.runs().position(&claim.run).await.unwrap().unwrap();
        assert_eq!(at.is_held_by(&claim), !took_place, "{cut:?}");
        if at.is_held_by(&claim) {
            store.journal().append(&mut claim, entry("b")).await.unwrap();
        }
        assert_eq!(entries(&store, &claim).await, 2, "exactly one copy");
        assert_eq!(store.violations(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_the_server_heals_by_itself() {
    let server = PgServer::own();
    let store = server.database().store().await;
    let mut claim = claimed(&store, "run_a").await;
    server.restart();
    store.journal().append(&mut claim, entry("b")).await.unwrap();
    server.kill();
    let away = store.journal().append(&mut claim, entry("b")).await.unwrap_err();
    assert!(matches!(away, StoreError::Db(DbError::Unreachable { .. })), "{away:?}");
    assert!(away.is_transient());
    let away = store.journal().load(&claim.run).await.unwrap_err();
    assert!(away.is_transient(), "{away:?}");
    server.start();
    store.journal().append(&mut claim, entry("b")).await.unwrap();
    assert_eq!(entries(&store, &claim).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_go_on_through_restarts_and_none_is_lost_or_doubled() {
    let server = Arc::new(PgServer::own());
    let store = server.database().store().await;
    let mut claim = claimed(&store, "run_a").await;
    let restarting = Arc::clone(&server);
    let restarts = tokio::task::spawn_blocking(move || {
        for _ in 0..3 {
            restarting.kill();
            restarting.start();
        }
    });
    let mut wanted = 1;
    while !restarts.is_finished() || wanted < 50 {
        match store.journal().append(&mut claim, entry("b")).await {
            Ok(_) => wanted += 1,
            Err(StoreError::Unknown { .. }) => {
                let at = loop {
                    match store.runs().position(&claim.run).await {
                        Ok(at) => break at.unwrap(),
                        Err(error) => assert!(error.is_transient(), "{error:?}"),
                    }
                };
                wanted += usize::from(at.next_seq > claim.next_seq);
                claim.next_seq = at.next_seq;
            }
            Err(error) => assert!(error.is_transient(), "{error:?}"),
        }
    }
    restarts.await.unwrap();
    assert_eq!((entries(&store, &claim).await, store.violations()), (wanted, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_is_not_waited_for_longer_than_we_said() {
    let server = PgServer::own();
    let database = server.database();
    let patience = Duration::from_millis(300);
    let options = PgOptions { patience, ..PgServer::options() };
    let store = Store::connect(&database.url, options).await.unwrap();
    let mut claim = claimed(&store, "run_a").await;
    store.journal().append(&mut claim, entry("b")).await.unwrap();
    server.pause();
    let late = store.journal().append(&mut claim, entry("b")).await.unwrap_err();
    assert!(matches!(late, StoreError::Db(DbError::Unreachable { .. })), "{late:?}");
    let late = store.runs().position(&claim.run).await.unwrap_err();
    assert!(late.is_transient(), "{late:?}");
    server.resume();
    let calm = database.store().await;
    calm.journal().append(&mut claim, entry("b")).await.unwrap();
    assert_eq!(entries(&calm, &claim).await, 3);
}

/// Each run writes in a conversation that all share, so that all want the same place.
#[tokio::test(flavor = "multi_thread")]
async fn messages_and_outbox_of_many_writers_have_places_of_their_own() {
    let store = PgServer::shared().database().store().await;
    let writers = (0..12).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut claim = claimed(&store, &format!("run_{n:02}")).await;
            for round in 0..8 {
                let slot = format!("ask:{round}");
                let emitted = EntryKind::MessageEmitted(MessageEmitted { slot: slot.clone() });
                let draft = EntryDraft { at: 1, effect: None, kind: emitted };
                let mut commit = Commit::new(vec![draft], 1);
                let id = format!("{n}:{round}");
                let (role, body) = ("assistant".to_owned(), "words".to_owned());
                commit.messages.push(NewMessage { slot, role, body, message_id: id.clone() });
                let channel = "hook".to_owned();
                commit.outbox.push(NewOutbox { outbox_id: id, channel, body: String::new() });
                store.journal().append(&mut claim, commit).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let places = "SELECT count(*), count(DISTINCT pos), MAX(pos) FROM messages";
    let messages = store.db().query(places, Vec::new()).await.unwrap();
    assert_eq!(messages, [SqlRow(vec![SqlValue::Int(108); 3])], "12 goals and 96 messages");
    let places = "SELECT count(*), count(DISTINCT pos), MAX(pos) FROM outbox";
    let outbox = store.db().query(places, Vec::new()).await.unwrap();
    assert_eq!(outbox, [SqlRow(vec![SqlValue::Int(96); 3])]);
    assert_eq!(store.violations(), 0);
}

/// Until so many wait for a lock in this database.
async fn waiting(store: &Store, wanted: i64) -> bool {
    let sql = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    store.db().query(sql, Vec::new()).await.unwrap() == [SqlRow(vec![SqlValue::Int(wanted)])]
}

/// An append finds its blob there, unused, and is held just before its commit; the sweep that looks
/// now sees a blob that nothing refers to.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_takes_no_blob_that_somebody_is_about_to_use() {
    let database = PgServer::shared().database();
    let store = database.store().await;
    let mut claim = claimed(&store, "run_a").await;
    let draft = started(&"x".repeat(20_000));
    let body = draft.kind.body().into_bytes();
    let loose = crate::row::insert_blob(digest_bytes(&body), body);
    store.db().commit(vec![loose], Urgency::Critical).await.unwrap();

    let (gate, connection) =
        tokio_postgres::connect(&database.url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    gate.batch_execute("SELECT pg_advisory_lock(42)").await.unwrap();
    let mut commit = Commit::new(vec![draft], 1);
    commit.writes = vec![write("SELECT CAST(pg_advisory_xact_lock(42) AS TEXT)")];
    let appending = store.clone();
    let append =
        tokio::spawn(async move { appending.journal().append(&mut claim, commit).await.map(drop) });
    while !waiting(&store, 1).await {}
    let sweeping = store.clone();
    let sweep = tokio::spawn(async move { sweeping.maintenance().sweep_blobs().await });
    while !sweep.is_finished() && !waiting(&store, 2).await {}
    gate.batch_execute("SELECT pg_advisory_unlock(42)").await.unwrap();
    append.await.unwrap().unwrap();
    assert_eq!(sweep.await.unwrap().unwrap(), 0, "it is in use now");
    let loaded = store.journal().load(&RunId::new("run_a")).await.unwrap();
    assert_eq!(loaded.entries.len(), 2, "the entry has its body");
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_claimers_take_each_of_2000_runs_once() {
    let database = PgServer::shared().database();
    let store = database.store().await;
    let makers = (0..20).map(|maker| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..100 {
                let mut new = new_run(&format!("run_{maker:02}_{n:02}"));
                new.conversation = ConversationId::new(format!("conv_{maker}_{n}"));
                store.queue().create_run(&new).await.unwrap();
            }
        })
    });
    for maker in makers.collect::<Vec<_>>() {
        maker.await.unwrap();
    }
    let claimers = (0..16).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let (worker, mut mine, mut times) =
                (WorkerId::new(format!("w{n}")), Vec::new(), Vec::new());
            loop {
                let began = Instant::now();
                let claims = store.queue().claim(&worker, 1, 5).await.unwrap();
                times.push(began.elapsed());
                if claims.is_empty() {
                    return (mine, times);
                }
                mine.extend(claims.into_iter().map(|claim| (claim.run, claim.epoch)));
            }
        })
    });
    let (mut all, mut times) = (Vec::new(), Vec::new());
    for claimer in claimers.collect::<Vec<_>>() {
        let (mine, took) = claimer.await.unwrap();
        all.extend(mine);
        times.extend(took);
    }
    times.sort();
    let distinct: BTreeSet<_> = all.iter().cloned().collect();
    assert_eq!((all.len(), distinct.len()), (2_000, 2_000), "each once");
    assert!(all.iter().all(|(_, epoch)| *epoch == 1));
    println!("p50 {:?}, p99 {:?}", times[times.len() / 2], times[times.len() * 99 / 100]);
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_that_lock_each_other_out_both_take_place() {
    let store = PgServer::shared().database().store().await;
    for name in ["run_a", "run_b"] {
        store.queue().create_run(&new_run(name)).await.unwrap();
    }
    let touch = |run: &str| Write {
        statement: Statement::screened("UPDATE runs SET priority = priority + 1 WHERE run_id = $1"),
        params: vec![SqlValue::from(run)],
        expect: Rows::Exactly(1),
    };
    let wait = || write("SELECT CAST(pg_sleep(0.05) AS TEXT)");
    let one = vec![touch("run_a"), wait(), touch("run_b")];
    let other = vec![touch("run_b"), wait(), touch("run_a")];
    let db = store.db();
    let (one, other) =
        tokio::join!(db.commit(one, Urgency::Critical), db.commit(other, Urgency::Critical));
    assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
    let sum = db.query("SELECT MIN(priority) FROM runs", Vec::new()).await.unwrap();
    assert_eq!(sum, [SqlRow(vec![SqlValue::Int(2)])]);
}

/// Whoever hands a transaction over and walks away has handed it over.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_commit_takes_place() {
    let store = PgServer::shared().database().store().await;
    let put = write("INSERT INTO schema_meta (k, v) VALUES ('dropped', 'v')");
    drop(store.db().commit(vec![put], Urgency::Critical));
    let sql = "SELECT v FROM schema_meta WHERE k = 'dropped'";
    let began = Instant::now();
    while store.db().query(sql, Vec::new()).await.unwrap().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(10), "it never came");
    }
}
