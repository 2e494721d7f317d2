//! The cost of a durable step: engine, loop, store and fsync, with a model that answers at once.
//!
//! `cargo run --release -p everloop-testkit --example engine_bench`
//!
//! Prints steps per second and CPU per step for one run and for 256 at once (SQLite, synchronous
//! FULL), and bytes on disk per step for runs of 20, 100 and 400 steps. A step is one model call
//! and one tool call. Then the same on PostgreSQL with fsync, where one and four workers empty one
//! queue.

use everloop_engine::{
    Engine, EngineRules, Environment, LeaseTimes, Submission, SystemClock, Worker, WorkerIdentity,
};
use everloop_ports::{
    CallContext, Model, ModelFuture, OnDelta, Registry, Request, Tool, ToolReturn,
};
use everloop_store::testing::PgServer;
use everloop_store::{PgOptions, Store};
use everloop_types::{
    Approval, CallId, EffectClass, Frame, Goal, Handling, Message, ModelChoice, ModelError,
    Observation, Reply, ToolCall, Usage, WorkerId,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Asks for `steps` tool calls, then answers.
struct Instant0 {
    steps: usize,
}

impl Model for Instant0 {
    fn ask<'a>(&'a self, request: Request<'a>, _: OnDelta<'a>) -> ModelFuture<'a> {
        let spoken = |message: &&Message| matches!(message, Message::Assistant { .. });
        let said = request.messages.iter().filter(spoken).count();
        let usage = Usage { input_tokens: 100, output_tokens: 10, cached_tokens: 0 };
        let reply = if said < self.steps {
            let call = ToolCall {
                id: CallId::new(format!("call_{said}")),
                tool: "peek".to_owned(),
                args: format!("{{\"n\":{said}}}"),
            };
            Reply { calls: vec![call], usage, ..Reply::default() }
        } else {
            Reply { text: "done".to_owned(), usage, ..Reply::default() }
        };
        Box::pin(async move { Ok(reply) })
    }
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Peek {
    n: u64,
}

struct PeekTool;

impl Tool for PeekTool {
    const NAME: &'static str = "peek";
    type Args = Peek;

    fn description(&self) -> &'static str {
        "Returns 200 bytes."
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Pure,
            approval: Approval::Allow,
            timeout_ms: 10_000,
            ..Handling::default()
        }
    }

    async fn call(&self, args: Peek, _: &CallContext) -> ToolReturn {
        ToolReturn::Seen(Observation::ok(format!("{:0200}", args.n)))
    }
}

struct BenchMeans {
    model: Arc<Instant0>,
    tools: Arc<Registry>,
}

impl Environment for BenchMeans {
    fn model(&self, _: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        Ok((self.model.clone(), "instant".to_owned()))
    }

    fn tools(&self, _: &Frame) -> Arc<Registry> {
        self.tools.clone()
    }
}

/// User and system time of this process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|t| t.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

fn engine(store: Store, name: &str, steps: usize) -> (Arc<Engine>, Frame) {
    let tools = Arc::new(Registry::default().with(PeekTool));
    let means = Arc::new(BenchMeans { model: Arc::new(Instant0 { steps }), tools: tools.clone() });
    let identity = WorkerIdentity { worker: WorkerId::new(name), build: "bench".to_owned() };
    let mut frame = Frame { tools: tools.specs(), ..Frame::default() };
    frame.limits.context.observations = 10_000;
    frame.limits.context.tokens = u64::MAX;
    frame.limits.steps.max_steps = u32::try_from(steps).unwrap_or(u32::MAX) + 2;
    (Engine::new(store, means, Arc::new(SystemClock), identity, EngineRules::default()), frame)
}

async fn submit(engine: &Engine, frame: &Frame, runs: usize) {
    for n in 0..runs {
        let goal = Goal { text: format!("goal {n}"), ..Goal::default() };
        let loop_name = "react".to_owned();
        let submission = Submission {
            loop_name,
            goal,
            frame: frame.clone(),
            idem_key: None,
            profile: Default::default(),
        };
        engine.submit(submission).await.expect("submitted");
    }
}

async fn play(folder: &Path, name: &str, runs: usize, steps: usize) -> (Duration, Duration, u64) {
    let database = folder.join(format!("{name}.db"));
    let store = Store::open(&database).expect("the store opens");
    let (engine, frame) = engine(store.clone(), "worker_bench", steps);
    submit(&engine, &frame, runs).await;
    let (begun, used) = (Instant::now(), cpu());
    Worker::new(engine, 256).drain(|_| {}).await.expect("drained");
    let (took, used) = (begun.elapsed(), cpu() - used);
    // A copy without free pages and without the log: what the rows really take.
    let copy = folder.join(format!("{name}.copy"));
    everloop_store::copies::back_up(&database, &copy).expect("copied");
    let bytes = std::fs::metadata(&copy).map_or(0, |file| file.len());
    (took, used, bytes)
}

/// Some workers, each with its own connections, empty one queue together.
async fn play_together(url: &str, workers: usize, runs: usize, steps: usize) -> (Duration, u64) {
    let connect = || Store::connect(url, PgOptions::default());
    let store = connect().await.expect("the server answers");
    let (creator, frame) = engine(store.clone(), "creator", steps);
    submit(&creator, &frame, runs).await;
    let mut engines = Vec::new();
    for n in 0..workers {
        let store = connect().await.expect("the server answers");
        let (engine, _) = engine(store, &format!("worker_{n}"), steps);
        engine.join(LeaseTimes::default()).await.expect("joined");
        engines.push(engine);
    }
    let begun = Instant::now();
    let mut working = JoinSet::new();
    for engine in engines {
        let most = 64.min(runs.div_ceil(workers));
        working.spawn(async move { Worker::new(engine, most).drain(|_| {}).await });
    }
    while let Some(worked) = working.join_next().await {
        worked.expect("no panic").expect("drained");
    }
    let took = begun.elapsed();
    let bytes = store.maintenance().inspect().await.expect("inspected").bytes_on_disk;
    (took, bytes)
}

async fn on_a_server() {
    const STEPS: usize = 5;
    for workers in [1, 4] {
        let (url, runs) = (PgServer::durable().database().url.clone(), 400);
        let (took, _) = play_together(&url, workers, runs, STEPS).await;
        let seconds = took.as_secs_f64();
        println!(
            "PostgreSQL, {workers} worker(s): {:>6.0} runs/s, {:>6.0} steps/s",
            runs as f64 / seconds,
            (runs * (STEPS + 1)) as f64 / seconds
        );
    }
    for steps in [20, 100, 400] {
        let database = PgServer::durable().database();
        let runs = 4_000 / steps;
        let (_, empty) = play_together(&database.url, 1, 0, steps).await;
        let (_, full) = play_together(&database.url, 1, runs, steps).await;
        println!(
            "PostgreSQL, {steps:>4} steps: {:>6} bytes on disk per step",
            (full - empty) / (runs * (steps + 1)) as u64
        );
    }
}

#[tokio::main]
async fn main() {
    let folder = std::env::temp_dir().join(format!("everloop-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, runs, steps) in [("one run", 1, 400), ("256 runs", 256, 20), ("256 runs", 256, 20)] {
        let file = format!("{runs}-{}", Instant::now().elapsed().as_nanos());
        let (took, used, _) = play(&folder, &file, runs, steps).await;
        let count = (runs * (steps + 1)) as f64;
        println!(
            "{name:>9}: {:>8.0} steps/s, {:.3} ms CPU per step",
            count / took.as_secs_f64(),
            used.as_secs_f64() * 1000.0 / count,
        );
        let _ = std::fs::remove_file(folder.join(format!("{file}.db")));
    }
    for steps in [20, 100, 400] {
        // Many runs, so that the empty tables do not count.
        let runs = 4_000 / steps;
        let (_, _, bytes) = play(&folder, &format!("bytes{steps}"), runs, steps).await;
        println!(
            "{steps:>4} steps: {:>6} bytes on disk per step",
            bytes / (runs * (steps + 1)) as u64
        );
    }
    let _ = std::fs::remove_dir_all(&folder);
    on_a_server().await;
}
