//! Rows 12, 15 and 16: many concurrent claims, and a queue that cannot be vacuumed.

use super::{until, write};
use everloop_store::testing::{PgServer, PgTestDb};
use everloop_store::{PgOptions, RunFilter, Store, Urgency};
use everloop_types::{SqlValue, WorkerId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Barrier;

/// Runs that are ready, without a journal: only their place in the queue matters.
const READY: &str = "
    INSERT INTO runs (run_id, conversation_id, loop_name, loop_ver, goal, frame_ref, status,
                      wake_at, created_at, updated_at)
    SELECT 'run_' || n, 'conv_' || n, 'react', 1, 'goal', '', 'queued', 0, 0, 0
      FROM generate_series(1, CAST($1 AS BIGINT)) n
";

/// Whether the server has counted the rows; it does so by itself, within a minute of a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Yes,
    NotYet,
}

async fn ready(runs: i64, counted: Counted) -> (PgTestDb, Store) {
    let database = PgServer::shared().database();
    let options = PgOptions { connections: 64, ..PgServer::options() };
    let store = Store::connect(&database.url, options).await.unwrap();
    let mut writes = vec![write(READY, vec![SqlValue::Int(runs)])];
    if counted == Counted::Yes {
        writes.push(write("ANALYZE runs", Vec::new()));
    }
    store.db().commit(writes, Urgency::Critical).await.unwrap();
    (database, store)
}

fn p99(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() * 99 / 100]
}

/// What each of many claimers got, and how long each claim took.
type Got = (Vec<(String, i64)>, Vec<Duration>);

/// Claims until there is nothing left, with a pause after each claim, as a driver makes one.
async fn claim_all(store: &Store, worker: WorkerId, pause: Duration) -> Got {
    let (mut mine, mut times) = (Vec::new(), Vec::new());
    loop {
        let began = Instant::now();
        let claims = store.queue().claim(&worker, 1, 8).await.unwrap();
        times.push(began.elapsed());
        if claims.is_empty() {
            return (mine, times);
        }
        mine.extend(claims.into_iter().map(|claim| (claim.run.as_str().to_owned(), claim.epoch)));
        tokio::time::sleep(pause).await;
    }
}

/// 64 workers take all of 10,000 runs. Returns the time of a claim that only one in a hundred
/// exceeds.
async fn sixty_four_claim_all(pause: Duration, counted: Counted) -> Duration {
    let (_database, store) = ready(10_000, counted).await;
    let start = Arc::new(Barrier::new(64));
    let claimers = (0..64).map(|n| {
        let (store, start) = (store.clone(), start.clone());
        tokio::spawn(async move {
            // All workers are connected before the first claim.
            let away = RunFilter { statuses: Vec::new(), before: None, most: 1 };
            store.runs().list(&away).await.unwrap();
            start.wait().await;
            tokio::time::sleep(pause * n / 64).await;
            claim_all(&store, WorkerId::new(format!("w{n}")), pause).await
        })
    });
    let (mut seen, mut times, mut idle) = (BTreeMap::new(), Vec::new(), 0);
    for claimer in claimers.collect::<Vec<_>>() {
        let (mine, took) = claimer.await.unwrap();
        idle += usize::from(mine.is_empty());
        times.extend(took);
        for (run, epoch) in mine {
            assert_eq!(epoch, 1, "{run}");
            assert_eq!(seen.insert(run.clone(), epoch), None, "{run} was claimed twice");
        }
    }
    assert_eq!((seen.len(), idle), (10_000, 0), "each run is claimed, and nobody starves");
    p99(&mut times)
}

/// The bounds are generous: the machine may be busy with other things. The figures are printed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_15_sixty_four_workers_claim_each_of_ten_thousand_runs_once() {
    let looks = Duration::from_millis(250);
    let fresh = sixty_four_claim_all(looks, Counted::NotYet).await;
    let paced = sixty_four_claim_all(looks, Counted::Yes).await;
    let at_once = sixty_four_claim_all(Duration::ZERO, Counted::Yes).await;
    println!(
        "64 workers, 10,000 runs: claim p99 {paced:?}, {fresh:?} before the server has counted \
         its rows, {at_once:?} if nobody ever pauses"
    );
    assert!(paced < Duration::from_secs(1), "p99 {paced:?}");
    assert!(fresh.max(at_once) < Duration::from_secs(5), "p99 {fresh:?}, {at_once:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_12_whoever_reaps_and_whoever_claims_at_once_get_each_run_once() {
    let (_database, store) = ready(400, Counted::NotYet).await;
    let dead = WorkerId::new("dead");
    store.workers().register(&dead, "test", "", 0).await.unwrap();
    while !store.queue().claim(&dead, 1, 100).await.unwrap().is_empty() {}
    let racers = (0..16).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let worker = WorkerId::new(format!("w{n}"));
            store.workers().register(&worker, "test", "", 3_600_000).await.unwrap();
            let (mut mine, mut orphans) = (Vec::new(), 0);
            for _ in 0..20 {
                orphans += store.workers().reap(1).await.unwrap().len();
                let claims = store.queue().claim(&worker, 1, 3).await.unwrap();
                mine.extend(claims.into_iter().map(|claim| (claim.run, claim.epoch)));
            }
            (mine, orphans)
        })
    });
    let (mut all, mut reaped) = (Vec::new(), 0);
    for racer in racers.collect::<Vec<_>>() {
        let (mine, orphans) = racer.await.unwrap();
        all.extend(mine);
        reaped += orphans;
    }
    all.sort();
    let before = all.len();
    all.dedup_by(|a, b| a.0 == b.0);
    assert_eq!((before, all.len(), reaped), (400, 400, 400), "each reaped once, claimed once");
    assert!(all.iter().all(|(_, epoch)| *epoch == 2));
}

/// A long query holds its snapshot, and with it every dead row.
const LONG: &str = "SELECT CAST(count(*) AS BIGINT) FROM runs, pg_sleep(25) AS slept";

const HELD: &str = "
    SELECT CAST(count(*) AS BIGINT) FROM pg_stat_activity
     WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND query LIKE '%pg_sleep%'
";

async fn is_held(store: &Store) -> bool {
    let rows = store.db().query(HELD, Vec::new()).await.unwrap();
    rows.into_iter().next().unwrap().cells().int().unwrap() > 0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_16_claims_stay_quick_while_a_long_transaction_holds_back_vacuum() {
    let (database, store) = ready(50, Counted::NotYet).await;
    let analyst = database.store().await;
    let asking = tokio::spawn(async move { analyst.db().query(LONG, Vec::new()).await });
    until("the long question", async || is_held(&store).await).await;
    let worker = WorkerId::new("w");
    let (mut times, mut updates) = (Vec::new(), 0);
    for now in 1..=1_500 {
        let began = Instant::now();
        let claims = store.queue().claim(&worker, now, 2).await.unwrap();
        times.push(began.elapsed());
        updates += 2 * claims.len();
        for claim in &claims {
            store.queue().release(claim, now).await.unwrap();
        }
    }
    assert!(is_held(&store).await, "the long question ended too soon");
    asking.abort();
    let slow = p99(&mut times[1_000..]);
    println!("vacuum held back: {updates} updates, claim p99 {slow:?}");
    assert!(slow < Duration::from_millis(500), "p99 {slow:?}");
}
