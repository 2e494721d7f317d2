//! Starts the processes, waits for their death, and checks the state that they left.

use super::{ProcessSpec, SharedDatabase, parts};
use crate::invariants::{ComparableEnding, ObservedRun, check};
use crate::testbed::error_chain;
use crate::world::World;
use everloop_store::Store;
use everloop_types::RunId;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// One database and the processes that share it, one run after the other.
pub struct ProcessGroup {
    /// The program.
    pub program: PathBuf,
    /// The database.
    pub database: SharedDatabase,
    /// A folder for what is done to the world.
    pub folder: PathBuf,
    /// How long a process may be silent among other workers.
    pub lease_ms: u64,
    store: Store,
}

/// How one process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessExit {
    /// By signal 9.
    Killed,
    /// The run is over; it passed so many points on the way.
    Over(RunId, usize),
}

/// The result of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupReport {
    /// Processes that died by signal 9.
    pub kills: usize,
    /// Points that the last process passed.
    pub points: usize,
    /// What was done to the world.
    pub acts: usize,
    /// How it ended.
    pub ending: ComparableEnding,
}

impl ProcessGroup {
    /// Opens the database, so that its tables are there.
    ///
    /// # Panics
    /// If it cannot be opened.
    pub async fn new(program: &str, database: SharedDatabase, folder: PathBuf) -> Self {
        let store = database.open().await.expect("the database can be opened");
        Self { program: program.into(), database, folder, lease_ms: 30_000, store }
    }

    /// The database, for the checks of a test.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The arguments of a process.
    #[must_use]
    pub fn part(&self, scenario: usize, key: &str, dies_at: Option<usize>) -> ProcessSpec {
        ProcessSpec {
            database: self.database.clone(),
            acts: self.folder.join(format!("{key}.acts")),
            scenario,
            key: key.to_owned(),
            dies_at,
            stops_at: None,
            lease_ms: self.lease_ms,
        }
    }

    /// Starts a process.
    ///
    /// # Panics
    /// If there is no such program.
    #[must_use]
    pub fn start(&self, part: &ProcessSpec) -> Child {
        let told = serde_json::to_string(part).expect("a part has a JSON form");
        let mut command = Command::new(&self.program);
        command.arg(told).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program can be started")
    }

    /// Plays a run, process after process; `dies_at` says where each dies, by its number.
    ///
    /// # Errors
    /// If a process ends in another way, the run does not end, or an invariant does not hold.
    pub async fn play(
        &self,
        scenario: usize,
        key: &str,
        mut dies_at: impl FnMut(usize) -> Option<usize>,
    ) -> Result<GroupReport, String> {
        let name = parts()[scenario].name;
        let mut deaths = Vec::new();
        for generation in 0..200 {
            let part = self.part(scenario, key, dies_at(generation));
            let place = |why: String| format!("{name} ({key}), killed at {deaths:?}: {why}");
            match ended(self.start(&part)).map_err(place)? {
                ProcessExit::Killed => deaths.extend(part.dies_at),
                ProcessExit::Over(run, points) => {
                    let place = |why| format!("{name} ({key}), killed at {deaths:?}: {why}");
                    let (acts, ending) = self.check(scenario, key, &run).await.map_err(place)?;
                    return Ok(GroupReport { kills: deaths.len(), points, acts, ending });
                }
            }
        }
        Err(format!("{name} ({key}) does not end; killed at {deaths:?}"))
    }

    /// Checks all invariants of a run that is over. Returns how much was done to the world.
    ///
    /// # Errors
    /// The first that does not hold.
    pub async fn check(
        &self,
        scenario: usize,
        key: &str,
        run: &RunId,
    ) -> Result<(usize, ComparableEnding), String> {
        let world = World::in_file(self.part(scenario, key, None).acts);
        let loop_name = parts()[scenario].loop_name;
        // Each process reports itself which rows a unique index kept out.
        let watched =
            ObservedRun { store: &self.store, run, world: &world, loop_name, violations: 0 };
        let ending = check(&watched).await?;
        Ok((world.acts().len(), ending))
    }
}

/// Waits for a process and proves how it ended.
///
/// # Errors
/// If it was neither killed nor came to the end of its run.
pub fn ended(child: Child) -> Result<ProcessExit, String> {
    let output = child.wait_with_output().map_err(|error| error_chain(&error))?;
    match (output.status.signal(), output.status.success()) {
        (Some(9), _) => Ok(ProcessExit::Killed),
        (None, true) => over(&output).ok_or_else(|| format!("said {output:?}")),
        _ => Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

fn over(output: &Output) -> Option<ProcessExit> {
    let said = std::str::from_utf8(&output.stdout).ok()?;
    let mut words = said.split_whitespace();
    Some(ProcessExit::Over(RunId::new(words.next()?), words.next()?.parse().ok()?))
}
