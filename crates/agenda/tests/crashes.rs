//! The `todo` and `schedule` tools through the engine, with a process that dies at every commit.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_agenda::desk::Agenda;
use everloop_agenda::kept::AgendaConfig;
use everloop_agenda::tools::{AgendaContext, ScheduleTool, TodoTool};
use everloop_engine::{Engine, EngineRules, Environment, History, Submission, WorkerIdentity};
use everloop_models::{ScriptedModel, ScriptedReply};
use everloop_ports::{Model, Registry};
use everloop_store::{
    Db, DbError, DbFuture, Firing, MemoryDb, SqlRow, Store, TodoRow, Urgency, WriteResult,
};
use everloop_testkit::VirtualClock;
use everloop_types::journal::{EffectPlanned, EntryKind, PlannedToolCall};
use everloop_types::{
    Frame, Goal, Lang, ModelChoice, ModelError, RunId, SqlValue, Status, UtcMs, WorkerId, Write,
};
use jiff::tz::TimeZone;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

const DAY_MS: i64 = 86_400_000;

/// A process that dies at its n-th commit, before it or after it; from then on nothing works.
struct Mortal {
    db: Arc<MemoryDb>,
    left: AtomicI64,
    after: bool,
}

impl Mortal {
    fn dead() -> DbError {
        DbError::Other { source: Arc::new(std::io::Error::from(std::io::ErrorKind::BrokenPipe)) }
    }
}

impl Db for Mortal {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            let left = self.left.fetch_sub(1, Ordering::SeqCst);
            if left < 0 || (left == 0 && !self.after) {
                return Err(Self::dead());
            }
            let done = self.db.commit(writes, urgency).await;
            if left == 0 { Err(Self::dead()) } else { done }
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        Box::pin(async move {
            if self.left.load(Ordering::SeqCst) < 0 {
                return Err(Self::dead());
            }
            self.db.query(sql, params).await
        })
    }
}

struct Kept {
    model: Arc<ScriptedModel>,
    office: AgendaContext,
}

impl Environment for Kept {
    fn model(&self, _: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        Ok((self.model.clone(), "x".to_owned()))
    }

    fn tools(&self, _: &Frame) -> Arc<Registry> {
        Arc::new(tools(&self.office))
    }
}

fn tools(office: &AgendaContext) -> Registry {
    Registry::default().with(TodoTool(office.clone())).with(ScheduleTool(office.clone()))
}

fn script() -> Vec<ScriptedReply> {
    let todo = |command: &str| ScriptedReply::calls("todo", json!({ "command": command }));
    vec![
        todo("/todo add first --due 2030-01-02 10:00 --remind 2030-01-02 09:00"),
        ScriptedReply::calls(
            "schedule",
            json!({"command": "/schedule add 2030-01-02 12:00 lunch"}),
        ),
        todo("/todo add second"),
        todo("/todo done 1"),
        todo("/todo delete 2"),
        ScriptedReply::calls(
            "schedule",
            json!({"command": "/schedule update 1 2030-01-02 13:00 late"}),
        ),
        todo("/todo add third --due tomorrow 10:00"),
        ScriptedReply::says("done"),
    ]
}

fn engine(store: &Store, life: u32, clock: &Arc<VirtualClock>) -> Arc<Engine> {
    let clock = clock.clone();
    let office = AgendaContext {
        desk: Some(Agenda::new(store.clone(), AgendaConfig::default())),
        clock: clock.clone(),
        zone: TimeZone::UTC,
        lang: Lang::En,
    };
    let means = Arc::new(Kept { model: Arc::new(ScriptedModel::new(script())), office });
    let worker = WorkerId::new(format!("worker_{life}"));
    let identity = WorkerIdentity { worker, build: "test".to_owned() };
    Engine::new(store.clone(), means, clock, identity, EngineRules::default())
}

async fn submit(engine: &Engine, office: &AgendaContext) -> RunId {
    let limits = everloop_testkit::Scenario::react("x", Vec::new()).limits;
    let frame = Frame { tools: tools(office).specs(), limits, ..Frame::default() };
    let goal = Goal { text: "keep".to_owned(), ..Goal::default() };
    let loop_name = "react".to_owned();
    engine
        .submit(Submission { loop_name, goal, frame, idem_key: None, profile: Default::default() })
        .await
        .unwrap()
}

/// Runs one process; true if it survived to the end of the run.
async fn live(engine: &Engine, run: &RunId) -> bool {
    let now = engine.clock().now();
    let claimed = async {
        engine.take_up().await.ok()?;
        engine.store().queue().claim_run(&engine.identity().worker, run, now).await.ok()?
    };
    match claimed.await {
        Some(claim) => engine.drive(claim).await.is_ok(),
        None => false,
    }
}

struct Outcome {
    todos: Vec<TodoRow>,
    entries: Vec<(i64, String, String)>,
    firings: Vec<Firing>,
    commits: i64,
    /// When the last todo was asked for and when it was made, and when it is due.
    third: [UtcMs; 3],
}

/// The run with a crash at commit `dies`, and the saved items at its end.
async fn play(dies: i64, after: bool) -> Outcome {
    let db = Arc::new(MemoryDb::new());
    let whole = Store::with_db(db.clone());
    let office = AgendaContext {
        desk: None,
        clock: Arc::new(VirtualClock::default()),
        zone: TimeZone::UTC,
        lang: Lang::En,
    };
    let clock = Arc::new(VirtualClock::default());
    let run = submit(&engine(&whole, 0, &clock), &office).await;
    let mortal = Arc::new(Mortal { db: db.clone(), left: AtomicI64::new(dies), after });
    let first = live(&engine(&Store::with_db(mortal.clone()), 1, &clock), &run).await;
    let commits = dies - mortal.left.load(Ordering::SeqCst);
    if !first {
        for life in 2..10 {
            // The next process is started on another day.
            tokio::time::advance(Duration::from_secs(86_400)).await;
            if live(&engine(&whole, life, &clock), &run).await {
                break;
            }
        }
    }
    let row = whole.runs().get(&run).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Succeeded, "death at {dies}, after: {after}");
    assert_eq!(whole.violations(), 0);
    let entries = whole.agenda().schedules().await.unwrap().into_iter();
    let todos = whole.agenda().todos().await.unwrap();
    let third = &todos[todos.len() - 1];
    let asked = asked_at(&whole, &run, "third").await;
    Outcome {
        third: [asked, third.created_at, third.said.due_at.unwrap()],
        todos,
        entries: entries.map(|it| (it.id, it.said.title, it.said.span.starts)).collect(),
        firings: whole.agenda().unread_firings(9).await.unwrap(),
        commits,
    }
}

/// When the model asked for the call with this word in it.
async fn asked_at(store: &Store, run: &RunId, word: &str) -> UtcMs {
    let history = History::read(store, run).await.unwrap().unwrap();
    let asks = |kind: &EntryKind| match kind {
        EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })) => {
            call.args.contains(word)
        }
        _ => false,
    };
    history.entries.iter().find(|entry| asks(&entry.kind)).unwrap().at
}

#[tokio::test(start_paused = true)]
async fn a_death_at_any_commit_changes_nothing_about_what_is_kept() {
    let undisturbed = play(i64::MAX / 2, false).await;
    let texts = |outcome: &Outcome| -> Vec<(i64, String, bool)> {
        let todos = outcome.todos.iter();
        todos.map(|todo| (todo.id, todo.said.text.clone(), todo.done_at.is_some())).collect()
    };
    let wanted = vec![(1, "first".to_owned(), true), (3, "third".to_owned(), false)];
    assert_eq!(texts(&undisturbed), wanted);
    let entry = (1, "late".to_owned(), "2030-01-02T13:00".to_owned());
    assert_eq!(undisturbed.entries, [entry]);
    assert!(undisturbed.commits > 20, "{}", undisturbed.commits);
    let mut later = 0;
    for dies in 0..undisturbed.commits {
        for after in [false, true] {
            let outcome = play(dies, after).await;
            assert_eq!(texts(&outcome), wanted, "death at {dies}, after: {after}");
            assert_eq!(outcome.entries, undisturbed.entries, "death at {dies}, after: {after}");
            assert_eq!(outcome.firings, []);
            let [asked, made, due] = outcome.third;
            let tomorrow = asked.div_euclid(DAY_MS) * DAY_MS + DAY_MS + 10 * 3_600_000;
            assert_eq!(due, tomorrow, "death at {dies}, after: {after}");
            later += u32::from(made - asked >= DAY_MS);
        }
    }
    assert!(later > 0, "in some lives a call was made a day after it was asked for");
}
