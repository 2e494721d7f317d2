//! How fast and how large the store is on this machine's disk. Stops by itself in under 20 s.
//!
//! `cargo run --release -p everloop-store --features testing-postgres --example store_bench`,
//! and then nothing for a file, `-- --postgres` for a server of its own that waits for the disk, or
//! `-- --database postgres://…` for one that is there.

use everloop_store::{
    Claim, Commit, Db, NewRun, PgOptions, SqliteDb, Store, StoreError, testing::PgServer,
};
use everloop_types::{
    CallId, ConversationId, EffectClass, EffectId, Frame, Goal, ModelCall, Observation, OnUnknown,
    Purpose, Reply, RunId, ToolCall, ToolChoice, ToolOffer, WorkerId, digest_json,
    journal::{
        EffectFinished, EffectPlanned, EffectStarted, EntryDraft, EntryKind, EpochStarted, Outcome,
        PlannedModelCall, PlannedToolCall, RunCreated,
    },
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const EACH: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        None => on_a_file().await,
        Some("--postgres") => {
            let durable = PgServer::durable();
            on_a_server(|| durable.database().url).await
        }
        Some("--database") => {
            let url = args.next().ok_or("--database needs an address")?;
            on_a_server(|| url.clone()).await
        }
        Some(other) => Err(format!("{other} is neither --postgres nor --database").into()),
    }
}

async fn on_a_file() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    one_writer(&Store::open(&folder.path().join("one.db"))?).await?;
    let db = Arc::new(SqliteDb::open(&folder.path().join("many.db"))?);
    let events = many_runs(&Store::with_db(Arc::clone(&db) as Arc<dyn Db>)).await?;
    println!("    {:.1} events in each commit", events as f64 / db.commits() as f64);
    in_memory().await?;
    for steps in [20, 100, 400] {
        size(&Store::open(&folder.path().join(format!("{steps}.db")))?, steps).await?;
    }
    Ok(())
}

async fn on_a_server(url: impl Fn() -> String) -> Result<(), Box<dyn std::error::Error>> {
    let connect = async || Store::connect(&url(), PgOptions::default()).await;
    one_writer(&connect().await?).await?;
    let events = many_runs(&connect().await?).await?;
    println!("    {:.0} commits/s, one for each append", events as f64 / 3.0 / EACH.as_secs_f64());
    for steps in [20, 100, 400] {
        size(&connect().await?, steps).await?;
    }
    Ok(())
}

/// One event per commit, one run: the time of one durable commit.
async fn one_writer(store: &Store) -> Result<(), StoreError> {
    let mut claim = claimed(store, &fresh("one")).await?;
    let began = Instant::now();
    let mut times = Vec::new();
    while began.elapsed() < EACH {
        let commit = Instant::now();
        store.journal().append(&mut claim, Commit::new(vec![epoch_started()], 1)).await?;
        times.push(commit.elapsed());
    }
    times.sort();
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    let rate = per_second(times.len(), began);
    println!("1 writer, 1 event per commit: {rate:.0} appends/s, p50 {p50:?}, p99 {p99:?}");
    Ok(())
}

/// Three events per append on 256 runs at once. Returns the events.
async fn many_runs(store: &Store) -> Result<usize, Box<dyn std::error::Error>> {
    let mut claims = Vec::new();
    for n in 0..256 {
        let store = store.clone();
        let name = fresh(&format!("many_{n:03}"));
        claims.push(tokio::spawn(async move { claimed(&store, &name).await }));
    }
    let mut ready = Vec::new();
    for claim in claims {
        ready.push(claim.await??);
    }
    let began = Instant::now();
    let drivers = ready.into_iter().map(|claim| tokio::spawn(drive(store.clone(), claim, began)));
    let mut events = 0;
    for driver in drivers.collect::<Vec<_>>() {
        events += driver.await??;
    }
    println!("256 runs, 3 events per append: {:.0} events/s", per_second(events, began));
    Ok(events)
}

/// A name of its own, as a server may have served a measurement before.
fn fresh(name: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("run_{:015}_{name}", now.unwrap_or_default().as_micros())
}

async fn drive(store: Store, mut claim: Claim, began: Instant) -> Result<usize, StoreError> {
    let mut events = 0;
    for cause in 1.. {
        if began.elapsed() >= EACH {
            break;
        }
        let commit = Commit::new(tool_step(&claim, cause), 1);
        events += store.journal().append(&mut claim, commit).await?.len();
    }
    Ok(events)
}

/// The cost of everything but the disk.
async fn in_memory() -> Result<(), StoreError> {
    let store = Store::memory();
    let mut claim = claimed(&store, "run_memory").await?;
    let (began, appends) = (Instant::now(), 10_000);
    for cause in 1..=appends {
        let commit = Commit::new(tool_step(&claim, cause), 1);
        store.journal().append(&mut claim, commit).await?;
    }
    let each = began.elapsed() / u32::try_from(appends).unwrap_or(1);
    println!("in memory, 3 events per append: {each:?} each");
    let began = Instant::now();
    for _ in 0..100 {
        drop(Store::memory());
    }
    println!("a new store in memory: {:?}", began.elapsed() / 100);
    Ok(())
}

/// A step is one model call and one tool call, in two commits as the engine makes them.
async fn size(store: &Store, steps: i64) -> Result<(), StoreError> {
    let mut claim = claimed(store, &fresh("bytes")).await?;
    let before = store.maintenance().inspect().await?.bytes_on_disk;
    for step in 0..steps {
        let (model, tool) = (step * 2 + 1, step * 2 + 2);
        let mut first = model_planned(&claim, model);
        first.push(model_finished(&claim, model));
        store.journal().append(&mut claim, Commit::new(first, 1)).await?;
        let second = Commit::new(tool_step(&claim, tool), 1);
        store.journal().append(&mut claim, second).await?;
    }
    let after = store.maintenance().inspect().await?.bytes_on_disk;
    let each = (after - before) / steps.unsigned_abs();
    println!("{steps} steps of 6 events: {} bytes, {each} per step", after - before);
    Ok(())
}

fn per_second(count: usize, since: Instant) -> f64 {
    count as f64 / since.elapsed().as_secs_f64()
}

async fn claimed(store: &Store, name: &str) -> Result<Claim, StoreError> {
    let frame = Frame::default();
    let created = RunCreated {
        goal: Goal { text: "measure the store".to_owned(), ..Goal::default() },
        loop_name: "react".to_owned(),
        loop_ver: 1,
        frame: digest_json(&frame),
        build: "bench".to_owned(),
        policy_hash: String::new(),
        turn: None,
    };
    let (run, conversation) = (RunId::new(name), ConversationId::new(name));
    let new = NewRun {
        run,
        conversation,
        created,
        frame,
        idem_key: None,
        profile: Default::default(),
        opens: None,
        now: 1,
        link: everloop_store::RunLink::default(),
    };
    store.queue().create_run(&new).await?;
    let claim = store.queue().claim_run(&WorkerId::new("bench"), &new.run, 1).await?;
    Ok(claim.expect("nobody else is here"))
}

fn epoch_started() -> EntryDraft {
    let started = EpochStarted { worker: WorkerId::new("bench"), build: "bench".to_owned() };
    EntryDraft { at: 1, effect: None, kind: EntryKind::EpochStarted(started) }
}

fn about(claim: &Claim, cause: i64, kind: EntryKind) -> EntryDraft {
    let effect = EffectId { run: claim.run.clone(), cause, index: 0 };
    EntryDraft { at: 1_760_000_000_000, effect: Some(effect), kind }
}

fn call(cause: i64) -> ToolCall {
    ToolCall {
        id: CallId::new(format!("call_{cause}")),
        tool: "read_file".to_owned(),
        args: r#"{"path":"src/some/module/of/the/project.rs"}"#.to_owned(),
    }
}

fn started(claim: &Claim, cause: i64) -> EntryDraft {
    let started =
        EffectStarted { attempt: 1, start_by: 1, over_by: None, before: serde_json::Value::Null };
    about(claim, cause, EntryKind::EffectStarted(started))
}

fn tool_step(claim: &Claim, cause: i64) -> Vec<EntryDraft> {
    let planned = EffectPlanned::CallTool(PlannedToolCall {
        call: call(cause),
        class: EffectClass::Pure,
        on_unknown: OnUnknown::TellModel,
        key_until: None,
        deadline: None,
    });
    let outcome = Outcome::Observed(Observation::ok("a line of what was found. ".repeat(12)));
    let finished = EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 12));
    vec![
        about(claim, cause, EntryKind::EffectPlanned(planned)),
        started(claim, cause),
        about(claim, cause, finished),
    ]
}

fn model_planned(claim: &Claim, cause: i64) -> Vec<EntryDraft> {
    let call = ModelCall {
        purpose: Purpose::Think,
        offer: ToolOffer::All,
        choice: ToolChoice::Auto,
        output: None,
    };
    let prompt = digest_json(&cause);
    let planned = EffectPlanned::CallModel(PlannedModelCall { call, messages: 9, prompt });
    vec![about(claim, cause, EntryKind::EffectPlanned(planned)), started(claim, cause)]
}

fn model_finished(claim: &Claim, cause: i64) -> EntryDraft {
    let reply = Reply {
        text: "I look at the file first, then I decide what to change.".to_owned(),
        calls: vec![call(cause)],
        ..Reply::default()
    };
    let outcome = Outcome::Replied(reply);
    about(claim, cause, EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 900)))
}
