//! Row 14: a server that stops and starts in the middle of commits.

use super::{AT_MOST, company, part_named};
use everloop_store::testing::PgServer;
use everloop_testkit::SharedDatabase;
use everloop_types::RunId;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Two runs at a time, so that a stop meets commits of both.
const SCENARIOS: [&str; 4] =
    ["act after act", "every class in one batch", "needs permission", "two items with acts"];

const RESTARTS: usize = 10;

fn acts_in(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    files.map(|file| file.metadata().map_or(0, |file| file.len())).sum()
}

/// A server that stops right after an act meets the commit of its outcome, or the next one.
async fn restart_amid_acts(server: Arc<PgServer>, folder: PathBuf) {
    for n in 0..RESTARTS {
        let (began, before) = (Instant::now(), acts_in(&folder));
        while acts_in(&folder) == before {
            assert!(began.elapsed() < AT_MOST, "nobody acts any more");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let server = Arc::clone(&server);
        let restarted = tokio::task::spawn_blocking(move || {
            if n % 2 == 0 {
                server.kill()
            } else {
                server.stop()
            }
            server.start();
        });
        restarted.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_14_runs_go_on_through_restarts_of_the_server_with_one_copy_of_everything() {
    let server = Arc::new(PgServer::own());
    let (mut company, folder) = company(SharedDatabase::Server(server.database().url)).await;
    company.lease_ms = 3_000;
    let restarting = restart_amid_acts(Arc::clone(&server), folder.path().to_owned());
    let restarts = tokio::spawn(restarting);
    let (mut driven, mut troubles) = (Vec::new(), 0);
    while !restarts.is_finished() || driven.len() < 20 {
        let keys: Vec<_> = (0..2).map(|lane| format!("{} {lane}", driven.len())).collect();
        let names = [SCENARIOS[driven.len() / 2 % 4], SCENARIOS[(driven.len() / 2 + 1) % 4]];
        let start = |lane: usize| {
            let part = company.part(part_named(names[lane]), &keys[lane], None);
            company.start(&part)
        };
        let pair = [start(0), start(1)];
        for (lane, child) in pair.into_iter().enumerate() {
            let output = tokio::task::spawn_blocking(|| child.wait_with_output());
            let output = output.await.unwrap().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            let words: Vec<&str> = said.split_whitespace().collect();
            let [run, _, met] = words[..] else {
                panic!("{}: {}", names[lane], String::from_utf8_lossy(&output.stderr))
            };
            troubles += met.parse::<usize>().unwrap();
            driven.push((part_named(names[lane]), keys[lane].clone(), RunId::new(run)));
        }
    }
    restarts.await.unwrap();
    let (mut acts, mut unknowns) = (0, 0);
    for (scenario, key, run) in &driven {
        let (done, ending) = company.check(*scenario, key, run).await.unwrap();
        acts += done;
        unknowns += ending.unknowns;
    }
    println!(
        "{RESTARTS} restarts of PostgreSQL: {} runs, {troubles} commits disturbed, {acts} acts, \
         {unknowns} unknown, 0 violations",
        driven.len()
    );
    assert!(troubles > 0, "no restart met a commit");
}
