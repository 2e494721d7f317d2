//! Rows of the fault matrix, see `docs/fault-matrix.md`: each test is named after its row.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod batches;
mod claims;
mod clocks;
mod contact;
mod restarts;
mod rules;
mod storage;
mod zombies;

use everloop_store::testing::PgServer;
use everloop_testkit::{ProcessGroup, SharedDatabase, parts};
use everloop_types::{Rows, SqlValue, Statement, Write};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_everloop-doomed");

/// The maximum time of every wait.
const AT_MOST: Duration = Duration::from_secs(60);

async fn company(database: SharedDatabase) -> (ProcessGroup, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (ProcessGroup::new(PROGRAM, database, folder.path().to_owned()).await, folder)
}

async fn on_server() -> (ProcessGroup, TempDir) {
    company(SharedDatabase::Server(PgServer::shared().database().url)).await
}

fn part_named(name: &str) -> usize {
    parts().iter().position(|part| part.name == name).unwrap()
}

/// Polls until a condition holds.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < AT_MOST, "waited too long for {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn write(sql: &'static str, params: Vec<SqlValue>) -> Write {
    Write { statement: Statement::screened(sql), params, expect: Rows::Any }
}
