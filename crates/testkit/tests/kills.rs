//! Real processes on real databases, each killed with signal 9: at random, at every named point,
//! and at every pair of points of one scenario.
//!
//! The numbers that are printed are those of docs/evidence.md; run with `--no-capture` to see them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use everloop_loops::LOOPS;
use everloop_store::RunFilter;
use everloop_store::testing::PgServer;
use everloop_testkit::{
    GroupReport, ProcessExit, ProcessGroup, SharedDatabase, ended, parts, scenarios,
};
use everloop_types::digest_bytes;
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_everloop-doomed");

/// The number of processes at once.
const LANES: usize = 2;

/// What a test counts.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    runs: usize,
    kills: usize,
    acts: usize,
    unknowns: usize,
}

impl Tally {
    fn count(&mut self, played: &GroupReport) {
        self.runs += 1;
        self.kills += played.kills;
        self.acts += played.acts;
        self.unknowns += played.ending.unknowns;
    }

    fn print(&self, what: &str, began: Instant) {
        let Self { runs, kills, acts, unknowns } = self;
        println!(
            "{what}: {kills} kills in {runs} runs, {acts} acts, {unknowns} unknown, \
             0 violations, {:.1} s",
            began.elapsed().as_secs_f64()
        );
    }
}

/// A process group with its own file.
async fn on_file() -> (ProcessGroup, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let database = SharedDatabase::Folder(folder.path().to_owned());
    (ProcessGroup::new(PROGRAM, database, folder.path().to_owned()).await, folder)
}

/// A process group with its own database.
async fn on_server() -> (ProcessGroup, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let database = SharedDatabase::Server(PgServer::shared().database().url);
    (ProcessGroup::new(PROGRAM, database, folder.path().to_owned()).await, folder)
}

/// Each lane has a database and a thread, and takes the next piece of work until there is none.
fn in_lanes<S, W>(setting: fn() -> S, pieces: usize, work: W) -> Tally
where
    S: Future<Output = (ProcessGroup, TempDir)>,
    W: AsyncFn(&ProcessGroup, usize, &mut Tally) -> Result<(), String> + Sync,
{
    let next = AtomicUsize::new(0);
    let lane = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (company, _folder) = setting().await;
            let mut tally = Tally::default();
            loop {
                let piece = next.fetch_add(1, Ordering::SeqCst);
                if piece >= pieces {
                    return tally;
                }
                work(&company, piece, &mut tally).await.unwrap_or_else(|why| panic!("{why}"));
            }
        })
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).fold(Tally::default(), |a, b| Tally {
            runs: a.runs + b.runs,
            kills: a.kills + b.kills,
            acts: a.acts + b.acts,
            unknowns: a.unknowns + b.unknowns,
        })
    })
}

fn draw(seed: &str, below: usize) -> usize {
    let digest = digest_bytes(seed.as_bytes());
    let number = usize::from_str_radix(&digest[..8], 16).unwrap();
    number % below
}

/// Five claims in a row without progress quarantine a run; points before this one may come before
/// the first entry of a process.
const EARLY: usize = 16;

/// Where each generation dies: anywhere, but not early again and again.
fn at_random(seed: &str) -> impl FnMut(usize) -> Option<usize> {
    let mut early_in_a_row = 0;
    move |generation| {
        let mut n = draw(&format!("{seed} {generation}"), 28);
        if early_in_a_row == 3 && n < EARLY {
            n += EARLY;
        }
        early_in_a_row = if n < EARLY { early_in_a_row + 1 } else { 0 };
        Some(n)
    }
}

/// Kills at random, run after run, until a number of kills is reached. Every run must end.
fn random_sweep<S>(setting: fn() -> S, seed: &str, kills: usize) -> Tally
where
    S: Future<Output = (ProcessGroup, TempDir)>,
{
    let (all, killed) = (scenarios().len(), AtomicUsize::new(0));
    in_lanes(setting, kills, async |company, piece, tally| {
        if killed.load(Ordering::SeqCst) < kills {
            let key = format!("{seed} {piece}");
            let played = company.play(draw(&key, all), &key, at_random(&key)).await?;
            killed.fetch_add(played.kills, Ordering::SeqCst);
            tally.count(&played);
        }
        Ok(())
    })
}

fn scenario(name: &str) -> usize {
    parts().iter().position(|scenario| scenario.name == name).unwrap()
}

const SWEPT: [&str; 13] = [
    "every class in one batch",
    "probes that say each of three things",
    "needs permission",
    "a person settles",
    "two items with acts",
    "two rounds with a reference",
    "keeps a list and answers too early",
    "walks the list",
    "three stages",
    "free within the work",
    "speaks in tags",
    "a child acts",
    "a child asks and needs permission",
];

/// A new loop cannot be forgotten.
#[test]
fn a_scenario_of_every_loop_is_killed_at_every_point() {
    let loop_of = |name: &&str| parts()[scenario(name)].loop_name;
    let swept: BTreeSet<&str> = SWEPT.iter().map(loop_of).collect();
    assert_eq!(swept, BTreeSet::from(LOOPS));
}

/// One piece is one scenario: the first process dies at point 0, then at 1, until it survives.
fn every_point<S>(setting: fn() -> S) -> Tally
where
    S: Future<Output = (ProcessGroup, TempDir)>,
{
    in_lanes(setting, SWEPT.len(), async |company, piece, tally| {
        for n in 0.. {
            let key = format!("{piece} at {n}");
            let dies_at = |generation| (generation == 0).then_some(n);
            let played = company.play(scenario(SWEPT[piece]), &key, dies_at).await?;
            tally.count(&played);
            if played.kills == 0 {
                break;
            }
        }
        Ok(())
    })
}

/// One piece is one first point; the second process dies at every point that it passes.
fn every_pair<S>(setting: fn() -> S) -> Tally
where
    S: Future<Output = (ProcessGroup, TempDir)>,
{
    let acts = scenario("one dangerous act");
    // More points than there are: beyond the last one the first process survives.
    in_lanes(setting, 40, async |company, first, tally| {
        for second in 0.. {
            let key = format!("{first} and {second}");
            let dies_at = |generation| [first, second].get(generation).copied();
            let played = company.play(acts, &key, dies_at).await?;
            tally.count(&played);
            if played.kills < 2 {
                break;
            }
        }
        Ok(())
    })
}

#[test]
fn row_01_a_thousand_kills_at_random() {
    let began = Instant::now();
    let tally = random_sweep(on_file, "sqlite", 1_000);
    tally.print("random kills, SQLite", began);
    assert!(tally.kills >= 1_000, "only {} kills", tally.kills);
}

#[test]
fn row_01_kills_at_random_on_a_server() {
    let began = Instant::now();
    let tally = random_sweep(on_server, "postgres", 200);
    tally.print("random kills, PostgreSQL", began);
    assert!(tally.kills >= 200, "only {} kills", tally.kills);
}

#[test]
fn row_02_a_kill_at_every_point_sqlite() {
    let began = Instant::now();
    let tally = every_point(on_file);
    tally.print("every point, SQLite", began);
    assert!(tally.kills >= 100, "only {} kills", tally.kills);
}

#[test]
fn row_02_a_kill_at_every_point_postgres() {
    let began = Instant::now();
    let tally = every_point(on_server);
    tally.print("every point, PostgreSQL", began);
    assert!(tally.kills >= 100, "only {} kills", tally.kills);
}

#[test]
fn row_02_a_kill_at_every_pair_of_points_sqlite() {
    let began = Instant::now();
    let tally = every_pair(on_file);
    tally.print("every pair of points, SQLite", began);
    assert!(tally.kills >= 300, "only {} kills", tally.kills);
}

#[test]
fn row_02_a_kill_at_every_pair_of_points_postgres() {
    let began = Instant::now();
    let tally = every_pair(on_server);
    tally.print("every pair of points, PostgreSQL", began);
    assert!(tally.kills >= 300, "only {} kills", tally.kills);
}

/// The median time from the kill to the first entry of the next process.
async fn recovery(company: &ProcessGroup) -> Duration {
    let acts = scenario("act after act");
    let mut times = Vec::new();
    for n in 0..15 {
        let key = format!("recovery {n}");
        let killed = ended(company.start(&company.part(acts, &key, Some(12 + n % 8)))).unwrap();
        let seen = Instant::now();
        assert_eq!(killed, ProcessExit::Killed);
        let newest = RunFilter { statuses: Vec::new(), before: None, most: 1 };
        let run = company.store().runs().list(&newest).await.unwrap().swap_remove(0).run;
        let at = company.store().runs().position(&run).await.unwrap().unwrap().next_seq;
        let heir = company.start(&company.part(acts, &key, None));
        while company.store().runs().position(&run).await.unwrap().unwrap().next_seq == at {
            assert!(seen.elapsed() < Duration::from_secs(30), "nobody took the run up");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        times.push(seen.elapsed());
        assert!(matches!(ended(heir), Ok(ProcessExit::Over(over, _)) if over == run));
        company.check(acts, &key, &run).await.unwrap();
    }
    times.sort();
    times[times.len() / 2]
}

#[tokio::test]
async fn row_13_after_a_kill_the_next_process_goes_on_within_a_second_sqlite() {
    let (company, _folder) = on_file().await;
    let median = recovery(&company).await;
    println!("recovery after a kill, SQLite: {} ms in the median", median.as_millis());
    assert!(median < Duration::from_secs(1));
}

#[tokio::test]
async fn row_13_after_a_kill_a_neighbour_goes_on_within_a_second_postgres() {
    let (company, _folder) = on_server().await;
    let median = recovery(&company).await;
    println!("recovery after a kill, PostgreSQL: {} ms in the median", median.as_millis());
    assert!(median < Duration::from_secs(1));
}
