//! The conformance suite on both databases, and what only a file has.

use super::{OpenError, SqliteDb};
use crate::{
    Claim, ClaimLock, ClaimLockError, Commit, Db, DbError, DbFuture, MemoryDb, NewRun, Position,
    SqlRow, Store, StoreError, Urgency, WriteResult, conformance,
    schema::{FoundSchema, MIGRATIONS, Migration},
};
use everloop_types::{
    ConversationId, Frame, Goal, Rows, RunId, SqlValue, Statement, Status, WorkerId, Write,
    digest_json,
    journal::{EntryDraft, EntryKind, EpochStarted, InboxMessage, RunCreated},
};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tempfile::TempDir;

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

fn entry(build: &str) -> Commit {
    let started = EpochStarted { worker: WorkerId::new("w"), build: build.to_owned() };
    Commit::new(vec![EntryDraft { at: 1, effect: None, kind: EntryKind::EpochStarted(started) }], 1)
}

async fn claimed(store: &Store, name: &str) -> Claim {
    store.queue().create_run(&new_run(name)).await.unwrap();
    store.queue().claim_run(&WorkerId::new("w"), &RunId::new(name), 1).await.unwrap().unwrap()
}

fn on_file(folder: &TempDir) -> (Arc<SqliteDb>, Store) {
    let db = Arc::new(SqliteDb::open(&folder.path().join("e.db")).unwrap());
    (Arc::clone(&db), Store::with_db(db))
}

fn write(sql: &'static str) -> Write {
    Write { statement: Statement::screened(sql), params: Vec::new(), expect: Rows::Any }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_conforms() {
    conformance::run_all(async || Store::memory()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let mut n = 0;
    conformance::run_all(async || {
        n += 1;
        Store::open(&folder.path().join(format!("{n}.db"))).unwrap()
    })
    .await;
}

#[tokio::test]
async fn row_06_settings_are_read_back_from_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let (_, store) = on_file(&folder);
    let seen = store.maintenance().inspect().await.unwrap();
    let pragmas: Vec<_> = seen.settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let wanted = [
        ("busy_timeout", "5000"),
        ("journal_mode", "wal"),
        ("synchronous", "2"),
        ("foreign_keys", "1"),
        ("journal_size_limit", "67108864"),
        ("wal_autocheckpoint", "0"),
    ];
    assert_eq!(pragmas, wanted);
    assert!(seen.version.starts_with("3."));
}

#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("data");
    let store = Store::open(&inner.join("e.db")).unwrap();
    store.queue().create_run(&new_run("run_a")).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&inner), 0o700);
    for name in ["e.db", "e.db-wal", "e.db-shm"] {
        assert_eq!(mode(&inner.join(name)), 0o600, "{name}");
    }
    crate::copies::back_up(&inner.join("e.db"), &inner.join("copy.db")).unwrap();
    assert_eq!(mode(&inner.join("copy.db")), 0o600);
}

#[tokio::test]
async fn a_reopened_file_has_everything_and_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    let store = Store::open(&path).unwrap();
    let mut claim = claimed(&store, "run_a").await;
    store.journal().append(&mut claim, entry("b")).await.unwrap();
    drop(store);
    assert!(!folder.path().join("e.db-wal").exists(), "the writer closes last");
    let store = Store::open(&path).unwrap();
    assert_eq!(store.journal().load(&claim.run).await.unwrap().entries.len(), 2);
}

#[test]
fn a_newer_schema_is_refused_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    let next = Migration { version: 99, min_reader: 99, sql: "CREATE TABLE more (x TEXT)" };
    drop(SqliteDb::open_with(&path, &[v1(), next]).unwrap());
    let refused = SqliteDb::open(&path).err().unwrap();
    let known = MIGRATIONS.last().unwrap().version;
    let named =
        matches!(refused, OpenError::NewerSchema { needed: 99, known: k, .. } if k == known);
    assert!(named, "{refused}");
    assert!(refused.to_string().contains("e.db"));
}

#[test]
fn a_newer_schema_that_older_programs_can_read_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    let next = Migration { version: 99, min_reader: 1, sql: "CREATE TABLE more (x TEXT)" };
    drop(SqliteDb::open_with(&path, &[v1(), next]).unwrap());
    assert!(SqliteDb::open(&path).is_ok());
}

fn v1() -> Migration {
    let Migration { version, min_reader, sql } = MIGRATIONS[0];
    Migration { version, min_reader, sql }
}

#[tokio::test]
async fn an_older_file_is_copied_and_then_migrated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    let v0 = Migration { version: 0, min_reader: 0, sql: "CREATE TABLE notes (x TEXT)" };
    let steps = [v0, v1()];
    {
        let conn = rusqlite::Connection::open(&path).unwrap();
        let old = "CREATE TABLE schema_meta (k TEXT PRIMARY KEY, v TEXT NOT NULL);
                   INSERT INTO schema_meta VALUES ('schema_version', '0'), ('min_reader', '0');
                   CREATE TABLE notes (x TEXT); INSERT INTO notes VALUES ('kept');";
        conn.execute_batch(old).unwrap();
    }
    let db = SqliteDb::open_with(&path, &steps).unwrap();
    let kept = db.query("SELECT x FROM notes", Vec::new()).await.unwrap();
    assert_eq!(kept, [SqlRow(vec![SqlValue::from("kept")])]);
    assert!(db.query("SELECT run_id FROM runs", Vec::new()).await.unwrap().is_empty());
    let store = Store::with_db(Arc::new(db));
    assert_eq!(store.maintenance().inspect().await.unwrap().schema_version, 1);
    let copy = rusqlite::Connection::open(folder.path().join("e.db.before-v1.bak")).unwrap();
    let sql = "SELECT v FROM schema_meta WHERE k = 'schema_version'";
    let version: String = copy.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(version, "0", "the copy is as it was before");
    drop(store);
    drop(SqliteDb::open_with(&path, &steps).unwrap());
    assert_eq!(copies(&folder), ["e.db.before-v1.bak"], "nothing to migrate, no copy");
}

fn copies(folder: &tempfile::TempDir) -> Vec<String> {
    let names = fs::read_dir(folder.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".bak")).collect()
}

#[tokio::test]
async fn a_file_of_the_first_release_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    drop(SqliteDb::open_with(&path, &[v1()]).unwrap());
    // As that release wrote it: it knew none of the columns that came later.
    let first = rusqlite::Connection::open(&path).unwrap();
    let run = "INSERT INTO runs (run_id, conversation_id, loop_name, loop_ver, goal, frame_ref,
                                 status, wake_at, next_seq, bytes, created_at, updated_at)
               VALUES ('run_a', 'conv', 'react', 1, 'goal', 'frame', 'queued', 1, 2, 0, 1, 1)";
    first.execute(run, []).unwrap();
    drop(first);
    let store = Store::open(&path).unwrap();
    let newest = MIGRATIONS.last().unwrap().version;
    assert_eq!(store.maintenance().inspect().await.unwrap().schema_version, newest);
    assert_eq!(copies(&folder), [format!("e.db.before-v{newest}.bak")]);
    let claimed = store.queue().claim_run(&WorkerId::new("w"), &RunId::new("run_a"), 1).await;
    assert!(claimed.unwrap().is_some(), "its runs go on");
}

#[test]
fn what_is_no_database_of_ours_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("garbage.db");
    fs::write(&garbage, "this is not a database, only some text that is long enough").unwrap();
    let refused = SqliteDb::open(&garbage).err().unwrap();
    assert!(matches!(refused, OpenError::Db(DbError::Damaged { .. })), "{refused}");
    assert!(refused.to_string().contains("garbage.db"));

    let foreign = folder.path().join("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let refused = SqliteDb::open(&foreign).err().unwrap();
    assert!(matches!(refused, OpenError::NotOurs { .. }), "{refused}");

    let file = folder.path().join("a-file");
    fs::write(&file, "").unwrap();
    let refused = SqliteDb::open(&file.join("e.db")).err().unwrap();
    assert!(matches!(refused, OpenError::Folder { .. }), "{refused}");
    let refused = SqliteDb::open(folder.path()).err().unwrap();
    assert!(matches!(refused, OpenError::Folder { .. }), "{refused}");
    let sealed = SqliteDb::open(Path::new("/proc/everloop/e.db")).err().unwrap();
    let read_only = matches!(sealed, OpenError::Db(DbError::ReadOnly { .. }));
    assert!(read_only || matches!(sealed, OpenError::Folder { .. }), "{sealed}");
}

#[tokio::test]
async fn a_file_with_anything_that_is_not_ours_is_refused_and_nothing_in_it_acts() {
    for (added, named) in [
        ("CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM inbox; END", "the trigger t"),
        ("CREATE VIEW v AS SELECT * FROM runs", "the view v"),
        ("CREATE TABLE more (x TEXT)", "the table more"),
        ("CREATE INDEX i ON runs(goal)", "the index i"),
        ("DROP INDEX journal_outcome", "lacks the index journal_outcome"),
        ("ALTER TABLE runs ADD COLUMN more TEXT", "the table runs"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.db");
        drop(Store::open(&path).unwrap());
        rusqlite::Connection::open(&path).unwrap().execute_batch(added).unwrap();
        for refused in [SqliteDb::open(&path).err().unwrap(), super::look(&path).err().unwrap()] {
            assert!(
                matches!(refused, OpenError::NotOurs { altered: Some(_), .. }),
                "{added}: {refused}"
            );
            assert!(refused.to_string().contains(named), "{refused}");
        }
        let copy = folder.path().join("copy.db");
        fs::copy(&path, &copy).unwrap();
        let refused = super::check_copy(&copy).unwrap_err();
        assert!(matches!(refused, OpenError::NotOurs { altered: Some(_), .. }), "{refused}");
    }
}

#[tokio::test]
async fn a_trigger_that_comes_while_a_file_is_open_does_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (db, store) = on_file(&folder);
    let trigger = "CREATE TRIGGER t AFTER INSERT ON journal BEGIN
        INSERT INTO schema_meta VALUES ('bad', 'x'); END";
    rusqlite::Connection::open(folder.path().join("e.db")).unwrap().execute_batch(trigger).unwrap();
    store.queue().create_run(&new_run("run_a")).await.unwrap();
    let found = db.query("SELECT v FROM schema_meta WHERE k = 'bad'", Vec::new()).await;
    assert_eq!(found.unwrap(), []);
}

#[test]
fn a_newer_file_may_have_more_tables_but_nothing_that_acts_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    let next = Migration { version: 99, min_reader: 1, sql: "CREATE VIEW v AS SELECT 1" };
    drop(SqliteDb::open_with(&path, &[v1(), next]).unwrap());
    let refused = SqliteDb::open(&path).err().unwrap();
    assert!(matches!(refused, OpenError::NotOurs { altered: Some(_), .. }), "{refused}");
}

#[tokio::test]
async fn statistics_of_the_planner_are_no_reason_to_refuse_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    let store = Store::open(&path).unwrap();
    store.queue().create_run(&new_run("run_a")).await.unwrap();
    drop(store);
    rusqlite::Connection::open(&path).unwrap().execute_batch("ANALYZE").unwrap();
    assert!(SqliteDb::open(&path).is_ok());
}

#[tokio::test]
async fn what_was_allowed_in_another_home_counts_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    let store = Store::open(&path).unwrap();
    store.maintenance().belong_to("home_a").await.unwrap();
    store.maintenance().belong_to("home_b").await.unwrap();
    let mut new = new_run("run_a");
    new.idem_key = Some("key".to_owned());
    store.queue().create_run(&new).await.unwrap();
    let standing = everloop_types::StandingApproval {
        id: "x".to_owned(),
        workspace: "/w".to_owned(),
        tool: "shell".to_owned(),
        resource: "*".to_owned(),
        by: "user".to_owned(),
        at: 1,
    };
    let allowed = crate::allow_for_good(&standing);
    store.db().commit(vec![allowed], Urgency::Critical).await.unwrap();
    assert_eq!(
        crate::copies::home_of(&path).unwrap().as_deref(),
        Some("home_a"),
        "the first one stays"
    );
    let taken = store.maintenance().take_over("home_b", 5).await.unwrap();
    assert_eq!(taken, crate::TakeoverCounts { approvals: 1, runs: 1 });
    assert!(store.approvals().all().await.unwrap().is_empty());
    assert!(store.runs().get(&new.run).await.unwrap().unwrap().origin.imported);
    let again = NewRun { run: RunId::new("run_b"), ..new };
    assert_eq!(store.queue().create_run(&again).await.unwrap(), crate::RunCreation::New);
    drop(store);
    assert_eq!(crate::copies::home_of(&path).unwrap().as_deref(), Some("home_b"));
}

#[tokio::test]
async fn row_05_a_full_disk_is_a_definite_failure_and_passes() {
    let folder = tempfile::tempdir().unwrap();
    let (db, store) = on_file(&folder);
    let mut claim = claimed(&store, "run_a").await;
    let limit = async |sql| db.commit(vec![write(sql)], Urgency::Critical).await.unwrap();
    limit("PRAGMA max_page_count = 1").await; // Clipped by SQLite to what the file has now.
    let large = "x".repeat(500_000);
    let refused = store.journal().append(&mut claim, entry(&large)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Db(DbError::Full { .. })), "{refused:?}");
    assert!(refused.is_transient());
    assert_eq!(store.journal().load(&claim.run).await.unwrap().entries.len(), 1, "reading goes on");
    limit("PRAGMA max_page_count = 1000000").await;
    store.journal().append(&mut claim, entry(&large)).await.unwrap();
    assert_eq!(store.journal().load(&claim.run).await.unwrap().entries.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_in_a_batch_fails_only_who_needs_the_space() {
    let folder = tempfile::tempdir().unwrap();
    let (db, store) = on_file(&folder);
    let mut claims = Vec::new();
    for n in 0..20 {
        claims.push(claimed(&store, &format!("run_{n:02}")).await);
    }
    // Room for all the small ones, not for the large one.
    let shrink = write("PRAGMA max_page_count = 150");
    db.commit(vec![shrink], Urgency::Critical).await.unwrap();
    let appends = claims.into_iter().enumerate().map(|(n, mut claim)| {
        let store = store.clone();
        let body = if n == 7 { "x".repeat(500_000) } else { String::new() };
        tokio::spawn(async move { store.journal().append(&mut claim, entry(&body)).await.is_ok() })
    });
    let mut results = Vec::new();
    for append in appends.collect::<Vec<_>>() {
        results.push(append.await.unwrap());
    }
    assert!(!results[7]);
    assert_eq!(results.iter().filter(|ok| **ok).count(), 19, "small ones still fit: {results:?}");
}

#[tokio::test]
async fn many_appends_share_few_commits() {
    let folder = tempfile::tempdir().unwrap();
    let (db, store) = on_file(&folder);
    let mut claims = Vec::new();
    for n in 0..200 {
        claims.push(claimed(&store, &format!("run_{n:03}")).await);
    }
    let before = db.commits();
    // Somebody else holds the file until all requests wait.
    let other = rusqlite::Connection::open(folder.path().join("e.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let appends = claims.into_iter().map(|mut claim| {
        let store = store.clone();
        tokio::spawn(async move { store.journal().append(&mut claim, entry("b")).await.unwrap() })
    });
    let appends: Vec<_> = appends.collect();
    tokio::task::yield_now().await; // On one thread, each has been polled once after this.
    other.execute_batch("COMMIT").unwrap();
    for append in appends {
        append.await.unwrap();
    }
    assert!(db.commits() - before <= 3, "{} commits for 200 appends", db.commits() - before);
}

#[tokio::test]
async fn a_failing_transaction_does_not_fail_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let (db, _) = on_file(&folder);
    let put = |k: &'static str, expect| Write {
        statement: Statement::screened("INSERT INTO schema_meta (k, v) VALUES ($1, 'v')"),
        params: vec![SqlValue::from(k)],
        expect,
    };
    let before = db.commits();
    // Lazy ones wait for the critical one, so all four are one batch.
    let (a, b, c, d) = tokio::join!(
        db.commit(vec![put("a", Rows::Exactly(1))], Urgency::Lazy),
        db.commit(vec![put("b", Rows::Any), put("b2", Rows::Exactly(2))], Urgency::Lazy),
        db.commit(vec![put("c", Rows::Any), put("a", Rows::Any)], Urgency::Lazy),
        db.commit(vec![put("d", Rows::Any)], Urgency::Critical),
    );
    assert!(db.commits() - before < 4);
    assert!(a.is_ok() && d.is_ok());
    assert!(matches!(b, Err(DbError::Expectation { index: 1, touched: 1 })));
    assert!(matches!(c, Err(DbError::Unique { index: 1, .. })));
    let sql = "SELECT k FROM schema_meta WHERE length(k) < 3 ORDER BY k";
    let rows = db.query(sql, Vec::new()).await.unwrap();
    assert_eq!(rows, [SqlRow(vec!["a".into()]), SqlRow(vec!["d".into()])]);
}

#[tokio::test]
async fn what_gives_the_whole_batch_up_does_not_fail_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let (db, _) = on_file(&folder);
    // SQLite does the same on some errors of the disk.
    let rolls_all_back = write("INSERT OR ROLLBACK INTO schema_meta VALUES ('min_reader', '9')");
    let (a, b, c) = tokio::join!(
        db.commit(vec![write("INSERT INTO schema_meta VALUES ('a', 'v')")], Urgency::Lazy),
        db.commit(vec![rolls_all_back], Urgency::Lazy),
        db.commit(vec![write("INSERT INTO schema_meta VALUES ('c', 'v')")], Urgency::Critical),
    );
    assert!(a.is_ok() && c.is_ok(), "{a:?} {c:?}");
    assert!(matches!(b, Err(DbError::Unique { .. })), "{b:?}");
    let rows = db.query("SELECT k FROM schema_meta WHERE v = 'v'", Vec::new()).await.unwrap();
    assert_eq!(rows.len(), 2);
}

#[tokio::test]
async fn a_file_that_was_removed_or_replaced_is_noticed_before_anything_is_acknowledged() {
    let removed = |path: &Path| fs::remove_file(path).unwrap();
    let replaced = |path: &Path| {
        let other = path.with_extension("other");
        fs::write(&other, fs::read(path).unwrap()).unwrap();
        fs::rename(other, path).unwrap();
    };
    let renamed = |path: &Path| fs::rename(path, path.with_extension("away")).unwrap();
    let without_log = |path: &Path| {
        fs::remove_file(path.with_extension("db-wal")).unwrap();
    };
    let ways: [&dyn Fn(&Path); 4] = [&removed, &replaced, &renamed, &without_log];
    for (n, way) in ways.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.db");
        let store = Store::open(&path).unwrap();
        let mut claim = claimed(&store, "run_a").await;
        store.journal().append(&mut claim, entry("a")).await.unwrap();
        way(&path);
        let refused = store.journal().append(&mut claim, entry("b")).await.unwrap_err();
        assert!(!refused.is_transient(), "{n}: waiting does not help");
        let words = std::error::Error::source(&refused).unwrap().to_string();
        assert!(words.contains("removed or replaced"), "{n}: {words}");
        assert!(store.runs().position(&claim.run).await.is_err(), "{n}: nor is it read");
        assert!(store.queue().create_run(&new_run("run_b")).await.is_err(), "{n}");
    }
}

#[tokio::test]
async fn a_database_that_does_not_say_what_it_is_is_damaged() {
    let ruins =
        ["UPDATE schema_meta SET v = 'x' WHERE k = 'min_reader'", "DELETE FROM schema_meta"];
    for ruin in ruins {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.db");
        let (db, _) = on_file(&folder);
        db.commit(vec![write(ruin)], Urgency::Critical).await.unwrap();
        drop(db);
        drop(crate::copies::look(&path).unwrap_err());
        let refused = SqliteDb::open(&path).err();
        assert!(matches!(refused, Some(OpenError::Db(DbError::Damaged { .. }))), "{refused:?}");
    }
}

#[tokio::test]
async fn row_04_a_commit_that_breaks_off_is_unknown_and_the_next_one_works() {
    let folder = tempfile::tempdir().unwrap();
    let (db, store) = on_file(&folder);
    let tables = "CREATE TABLE child (of TEXT REFERENCES schema_meta(k)
                  DEFERRABLE INITIALLY DEFERRED)";
    db.commit(vec![write(tables)], Urgency::Critical).await.unwrap();
    // SQLite looks at a deferred reference only when it commits.
    let orphan = || vec![write("INSERT INTO child VALUES ('nobody')")];
    let good = || vec![write("INSERT INTO child VALUES ('min_reader')")];
    let refused = || Write { expect: Rows::Exactly(7), ..good().remove(0) };
    let alone = db.commit(orphan(), Urgency::Critical).await;
    assert!(matches!(alone, Err(DbError::CommitUnknown { .. })), "{alone:?}");
    let (a, b, c) = tokio::join!(
        db.commit(good(), Urgency::Lazy),
        db.commit(vec![refused()], Urgency::Lazy),
        db.commit(orphan(), Urgency::Critical),
    );
    assert!(matches!(a, Err(DbError::CommitUnknown { .. })), "they share their fate: {a:?}");
    assert!(matches!(b, Err(DbError::Expectation { .. })), "this one is definite: {b:?}");
    assert!(matches!(c, Err(DbError::CommitUnknown { .. })));
    store.queue().create_run(&new_run("run_a")).await.unwrap();
    assert_eq!(db.query("SELECT * FROM child", Vec::new()).await.unwrap(), []);
}

#[tokio::test]
async fn a_lazy_transaction_alone_is_committed_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (db, _) = on_file(&folder);
    let write = write("INSERT INTO schema_meta (k, v) VALUES ('lazy', 'v')");
    let done = db.commit(vec![write], Urgency::Lazy).await.unwrap();
    assert_eq!(done, [WriteResult { touched: 1, rows: Vec::new() }]);
}

#[tokio::test]
async fn a_locked_file_is_a_definite_failure_and_passes() {
    let folder = tempfile::tempdir().unwrap();
    let (db, store) = on_file(&folder);
    let mut claim = claimed(&store, "run_a").await;
    let impatient = write("PRAGMA busy_timeout = 1");
    db.commit(vec![impatient], Urgency::Critical).await.unwrap();
    let other = rusqlite::Connection::open(folder.path().join("e.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.journal().append(&mut claim, entry("b")).await.unwrap_err();
    assert!(matches!(refused, StoreError::Db(DbError::Locked { .. })), "{refused:?}");
    assert_eq!(store.journal().load(&claim.run).await.unwrap().entries.len(), 1, "reading goes on");
    other.execute_batch("COMMIT").unwrap();
    store.journal().append(&mut claim, entry("b")).await.unwrap();
}

/// What a second process does for other tests; nothing when it is run as a test itself.
#[tokio::test]
async fn a_second_process() {
    let Ok(path) = std::env::var("EVERLOOP_TEST_DATABASE") else { return };
    let (store, run) = (Store::open(Path::new(&path)).unwrap(), RunId::new("run_a"));
    if store.runs().get(&run).await.unwrap().is_some() {
        store.inbox().send(&run, "d", &InboxMessage::AnswerNow, 1).await.unwrap();
        println!("entries: {}", store.journal().load(&run).await.unwrap().entries.len());
    }
}

/// Sends a message to `run_a`, if there is one, from another process, and gives what it printed.
fn from_a_second_process(path: &Path) -> String {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "sqlite::sqlite_tests::a_second_process", "--nocapture"]);
    let out = command.env("EVERLOOP_TEST_DATABASE", path).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success() && said.contains("1 passed"), "{out:?}");
    said
}

#[tokio::test]
async fn row_08_another_process_can_send_while_the_first_drives() {
    let folder = tempfile::tempdir().unwrap();
    let (_, store) = on_file(&folder);
    let mut claim = claimed(&store, "run_a").await;
    from_a_second_process(&folder.path().join("e.db"));
    store.journal().append(&mut claim, entry("b")).await.unwrap();
    assert_eq!(store.inbox().unread(&claim.run).await.unwrap().messages.len(), 1);
    let said = from_a_second_process(&folder.path().join("e.db"));
    assert!(said.contains("entries: 2"), "{said}");
}

#[test]
fn row_08_the_claim_lock_is_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (WorkerId::new("first"), WorkerId::new("second"));
    let file = folder.path().join("a.lock");
    let lock = ClaimLock::acquire(&file, &first).unwrap();
    let Err(ClaimLockError::Held(holder)) = ClaimLock::acquire(&file, &second) else {
        panic!("two processes hold one lock")
    };
    assert_eq!((holder.pid, holder.worker), (std::process::id(), first));
    drop(lock);
    assert!(ClaimLock::acquire(&file, &second).is_ok());
    let missing = ClaimLock::acquire(&folder.path().join("none/a.lock"), &second);
    assert!(matches!(missing, Err(ClaimLockError::Store(StoreError::Open(_)))));
}

/// Commits, and says that it does not know.
struct Forgetful {
    inner: MemoryDb,
    forgets: AtomicBool,
}

impl Db for Forgetful {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            let done = self.inner.commit(writes, urgency).await?;
            match self.forgets.load(Ordering::Relaxed) {
                true => Err(DbError::CommitUnknown { source: Arc::new(std::fmt::Error) }),
                false => Ok(done),
            }
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        self.inner.query(sql, params)
    }
}

#[tokio::test]
async fn after_an_unknown_commit_the_position_tells() {
    let db = Arc::new(Forgetful { inner: MemoryDb::new(), forgets: AtomicBool::new(false) });
    let store = Store::with_db(Arc::clone(&db) as Arc<dyn Db>);
    let mut claim = claimed(&store, "run_a").await;
    db.forgets.store(true, Ordering::Relaxed);
    let unknown = store.journal().append(&mut claim, entry("b")).await;
    assert!(matches!(unknown, Err(StoreError::Unknown { .. })));
    assert_eq!(claim.next_seq, 2, "not moved, as nothing is known");
    let at = store.runs().position(&claim.run).await.unwrap().unwrap();
    assert_eq!(at, Position { epoch: 1, next_seq: 3, status: Status::Running });
    let made = store.queue().create_run(&new_run("run_b")).await;
    assert!(matches!(made, Err(StoreError::Unknown { .. })));
}

#[test]
fn a_store_can_be_shared_and_sent() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Store>();
}

/// Closing any descriptor of the file would drop the locks of the process; another process would
/// then think itself alone, and take the log away from under the first store.
#[tokio::test]
async fn a_second_open_in_one_process_is_refused_and_the_locks_of_the_first_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    let store = Store::open(&path).unwrap();
    let linked = folder.path().join("linked.db");
    std::os::unix::fs::symlink(&path, &linked).unwrap();
    for path in [&path, &linked] {
        let refused = SqliteDb::open(path).err().unwrap();
        assert!(matches!(refused, OpenError::AlreadyOpen { .. }), "{refused}");
    }
    let log = folder.path().join("e.db-wal");
    let id = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let before = id(&log);
    from_a_second_process(&path);
    assert_eq!(id(&log), before, "nobody took the log away");
    store.queue().create_run(&new_run("run_a")).await.unwrap();
    from_a_second_process(&path);
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.journal().load(&RunId::new("run_a")).await.unwrap().entries.len(), 1);
}

/// An open that fails gives its right back.
#[test]
fn a_file_that_could_not_be_opened_can_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.db");
    fs::write(&path, "this is not a database, only some text that is long enough").unwrap();
    for _ in 0..2 {
        let refused = SqliteDb::open(&path).err().unwrap();
        assert!(matches!(refused, OpenError::Db(DbError::Damaged { .. })), "{refused}");
    }
    fs::remove_file(&path).unwrap();
    assert!(SqliteDb::open(&path).is_ok());
}

/// Another process may make all its tables at any moment of our look at the file.
#[test]
fn tables_that_appear_during_a_look_are_not_taken_for_those_of_another_program() {
    let folder = tempfile::tempdir().unwrap();
    for moment in 0..40 {
        let path = folder.path().join(format!("{moment}.db"));
        let file: Arc<Path> = path.as_path().into();
        let mut conn = rusqlite::Connection::open(&path).unwrap();
        conn.pragma_update(None, "journal_mode", "wal").unwrap();
        let mut steps = 0;
        let made_then = move || {
            if steps == moment {
                drop(SqliteDb::open(&path).unwrap());
            }
            steps += 1;
            false
        };
        conn.progress_handler(1, Some(made_then)).unwrap();
        let found = super::migrate::read(&conn, &file).unwrap();
        assert!(!matches!(found, FoundSchema::Foreign), "at step {moment}");
    }
}

#[test]
fn a_file_that_others_hold_is_asked_again_and_other_failures_are_told_at_once() {
    let refused = |code| rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
    let mut tries = 0;
    let asked = super::open::patiently(|| {
        tries += 1;
        if tries < 3 { Err(refused(rusqlite::ffi::SQLITE_BUSY)) } else { Ok(tries) }
    });
    assert_eq!(asked.unwrap(), 3);
    let mut tries = 0;
    let asked: rusqlite::Result<()> = super::open::patiently(|| {
        tries += 1;
        Err(refused(rusqlite::ffi::SQLITE_CORRUPT))
    });
    assert!(asked.is_err() && tries == 1, "{tries}");
}

/// Two terminals may be opened for the first time at once.
#[test]
fn many_that_open_a_new_file_at_once_all_get_it() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..20 {
        let file: Arc<Path> = folder.path().join(format!("{n}.db")).into();
        drop(super::files::prepare(&file).unwrap());
        let openers = [(); 6].map(|()| {
            let file = Arc::clone(&file);
            std::thread::spawn(move || {
                super::open::connect_and_migrate(&file, MIGRATIONS).map(drop)
            })
        });
        for opener in openers {
            opener.join().unwrap().unwrap();
        }
    }
}
