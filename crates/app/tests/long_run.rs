//! A run of 200 steps whose conversation is shortened again and again, through the real engine,
//! with a process that dies: every later prompt has the same bytes, the memory the same sections.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_app::context::memory::{Memory, MemorySection};
use everloop_engine::{Engine, EngineRules, Environment, Submission, Summary, WorkerIdentity};
use everloop_ports::{
    CallContext, Model, ModelFuture, OnDelta, Registry, Request, Tool, ToolReturn,
};
use everloop_store::{
    Db, DbError, DbFuture, MemoryDb, SqlRow, Store, Urgency, WriteResult as Written,
};
use everloop_testkit::VirtualClock;
use everloop_types::{
    Approval, Budget, CallId, ContextLimits, EffectClass, Frame, Goal, Handling, Limits, Message,
    ModelChoice, ModelError, Observation, OnUnknown, Reply, SqlValue, Status, StepLimits, ToolCall,
    WorkerId, Write,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

const STEPS: u32 = 200;

/// Deaths spread over the whole run, beside those around each compaction.
const SPREAD: usize = 24;

/// A process that dies at its n-th commit, before it or after it; from then on nothing works.
struct Mortal {
    db: Arc<MemoryDb>,
    left: AtomicI64,
    after: bool,
}

fn dead() -> DbError {
    DbError::Other { source: Arc::new(std::io::Error::from(std::io::ErrorKind::BrokenPipe)) }
}

impl Db for Mortal {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<Written>> {
        Box::pin(async move {
            let left = self.left.fetch_sub(1, Ordering::SeqCst);
            if left < 0 || (left == 0 && !self.after) {
                return Err(dead());
            }
            let done = self.db.commit(writes, urgency).await;
            if left == 0 { Err(dead()) } else { done }
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        Box::pin(async move {
            if self.left.load(Ordering::SeqCst) < 0 {
                return Err(dead());
            }
            self.db.query(sql, params).await
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct LookArgs {
    what: u32,
}

struct Look;

impl Tool for Look {
    const NAME: &'static str = "look";
    type Args = LookArgs;

    fn description(&self) -> &'static str {
        "Look at a thing."
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Pure,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 10_000,
            ..Handling::default()
        }
    }

    async fn call(&self, args: LookArgs, _: &CallContext) -> ToolReturn {
        let text = format!("thing {}: {}", args.what, "as it looks ".repeat(30));
        ToolReturn::Seen(Observation::ok(text))
    }
}

/// Looks at one thing after the other, and knows only what it is shown.
#[derive(Default)]
struct Looker {
    prompts: Mutex<Vec<String>>,
}

/// The last thing that a prompt tells of.
fn last_thing(messages: &[Message]) -> u32 {
    let numbers = messages.iter().flat_map(|message| message.text().split("thing ").skip(1));
    let read = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    numbers.filter_map(|text| read(text).parse().ok()).max().unwrap_or(0)
}

impl Model for Looker {
    fn ask<'a>(&'a self, request: Request<'a>, _: OnDelta<'a>) -> ModelFuture<'a> {
        Box::pin(async move {
            let prompt = serde_json::to_string(request.messages).unwrap();
            self.prompts.lock().unwrap().push(prompt);
            let last = last_thing(request.messages);
            let shortens = is_shortening(request.messages.last().unwrap().text());
            Ok(match (shortens, last) {
                (true, _) => says(format!("everything up to thing {last} was looked at")),
                (false, STEPS) => says(format!("{STEPS} things were looked at")),
                (false, last) => Reply {
                    calls: vec![ToolCall {
                        id: CallId::new(format!("look_{last}")),
                        tool: "look".to_owned(),
                        args: format!("{{\"what\":{}}}", last + 1),
                    }],
                    ..Reply::default()
                },
            })
        })
    }
}

fn is_shortening(text: &str) -> bool {
    text.contains("replaced by your summary")
}

fn says(text: String) -> Reply {
    Reply { text, ..Reply::default() }
}

struct World {
    model: Arc<Looker>,
    memory: Memory,
}

impl Environment for World {
    fn model(&self, _: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        Ok((self.model.clone(), "x".to_owned()))
    }

    fn tools(&self, _: &Frame) -> Arc<Registry> {
        Arc::new(Registry::default().with(Look))
    }

    fn remember(&self, _: &Frame, summary: &Summary<'_>) {
        let mark = format!("{} {}", summary.run, summary.number);
        let section =
            MemorySection { mark: &mark, title: "noted", text: summary.text, untrusted: false };
        self.memory.add(&section).unwrap();
    }
}

fn engine(store: Store, world: &Arc<World>, life: u32, clock: VirtualClock) -> Arc<Engine> {
    let worker = WorkerId::new(format!("worker_{life}"));
    let identity = WorkerIdentity { worker, build: "test".to_owned() };
    let rules = EngineRules { snapshot_every: 50, ..EngineRules::default() };
    Engine::new(store, world.clone(), Arc::new(clock), identity, rules)
}

fn submission() -> Submission {
    let limits = Limits {
        steps: StepLimits { max_steps: 2 * STEPS, ..StepLimits::default() },
        budget: Budget { tokens: 0, ..Budget::default() },
        context: ContextLimits { tokens: 5_000, least_freed: 20, ..ContextLimits::default() },
        ..Limits::default()
    };
    let tools = Registry::default().with(Look).specs();
    let frame = Frame { system: "You look.".to_owned(), tools, limits, ..Frame::default() };
    let goal = Goal { text: format!("look at {STEPS} things"), ..Goal::default() };
    Submission {
        loop_name: "react".to_owned(),
        goal,
        frame,
        idem_key: None,
        profile: Default::default(),
    }
}

struct Played {
    prompts: Vec<String>,
    notes: String,
    commits: i64,
    lives: u32,
}

async fn play(dies: i64, after: bool) -> Played {
    let folder = tempfile::TempDir::new().unwrap();
    let memory = Memory::of(folder.path(), Path::new("work"));
    let world = Arc::new(World { model: Arc::default(), memory });
    let (db, clock) = (Arc::new(MemoryDb::new()), VirtualClock::default());
    let whole = Store::with_db(db.clone());
    let run = engine(whole.clone(), &world, 0, clock).submit(submission()).await.unwrap();
    let mortal = Arc::new(Mortal { db, left: AtomicI64::new(dies), after });
    let mut lives = 0;
    while whole.runs().get(&run).await.unwrap().unwrap().status != Status::Succeeded {
        lives += 1;
        assert!(lives < 5, "death at {dies}, after: {after}: it does not end");
        let store = if lives == 1 { Store::with_db(mortal.clone()) } else { whole.clone() };
        let engine = engine(store, &world, lives, clock);
        let now = engine.clock().now();
        if engine.take_up().await.is_ok()
            && let Ok(Some(claim)) =
                engine.store().queue().claim_run(&engine.identity().worker, &run, now).await
        {
            let _ = engine.drive(claim).await;
        }
    }
    let mut prompts = world.model.prompts.lock().unwrap().clone();
    // A call that was cut short is made again, with the same bytes.
    prompts.dedup();
    let notes = world.memory.newest(1_000_000).unwrap();
    let commits = dies - mortal.left.load(Ordering::SeqCst);
    Played { prompts, notes, commits, lives }
}

#[tokio::test(start_paused = true)]
async fn a_run_of_200_steps_with_compactions_goes_on_after_a_death_with_the_same_prompt_bytes() {
    let calm = play(i64::MAX / 2, false).await;
    let shortened: Vec<usize> = (0..calm.prompts.len())
        .filter(|n| is_shortening(calm.prompts[*n].rsplit("\"role\"").next().unwrap()))
        .collect();
    assert_eq!(calm.lives, 1);
    assert_eq!(calm.prompts.len(), STEPS as usize + 1 + shortened.len());
    assert!(shortened.len() >= 5, "{shortened:?}");
    assert_eq!(calm.notes.matches("## noted").count(), shortened.len(), "{}", calm.notes);
    // Two commits an exchange: those around a compaction stand near twice its place.
    let commits = usize::try_from(calm.commits).unwrap();
    let near = |n: &usize| {
        let at = (n * commits) / calm.prompts.len();
        at.saturating_sub(3)..(at + 4).min(commits)
    };
    let mut deaths: Vec<usize> = (0..SPREAD).map(|n| n * commits / SPREAD).collect();
    deaths.extend(shortened.iter().flat_map(near));
    deaths.sort_unstable();
    deaths.dedup();
    let mut died = 0;
    for dies in deaths.iter().map(|n| i64::try_from(*n).unwrap()) {
        for after in [false, true] {
            let upset = play(dies, after).await;
            died += u32::from(upset.lives > 1);
            let place = upset.prompts.iter().zip(&calm.prompts).position(|(a, b)| a != b);
            assert_eq!(place, None, "death at {dies}, after: {after}: another prompt");
            assert_eq!(upset.prompts.len(), calm.prompts.len(), "death at {dies}");
            assert_eq!(upset.notes, calm.notes, "death at {dies}, after: {after}");
        }
    }
    println!("{} steps, {} compactions, {died} deaths", STEPS, shortened.len());
    assert!(died >= 80, "{died} deaths");
}
