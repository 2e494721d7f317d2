//! All runs of a comparison: each task under each loop with each model, a few at a time.

use crate::host::ContestHost;
use crate::play::{ContestRun, play};
use crate::tokens::TokenCache;
use crate::{Cell, ContestTask, Latency, Tally, stale_folders};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What is compared.
#[derive(Debug, Clone)]
pub struct Contest {
    /// The loops, by name.
    pub loops: Vec<String>,
    /// Policies and endpoints, by name.
    pub models: Vec<String>,
    /// The tasks.
    pub tasks: Vec<Arc<ContestTask>>,
    /// The first seed.
    pub seed: u64,
    /// Runs of each cell, with one seed after the other.
    pub repeats: u64,
    /// How long one run may take.
    pub timeout: Duration,
    /// Runs at the same time.
    pub at_once: usize,
    /// The simulated latency of policies; without it their wall time is measured.
    pub latency: Option<Latency>,
}

/// A run is over.
#[derive(Debug, Clone, Copy)]
pub struct ContestProgress<'a> {
    /// Runs that are over.
    pub done: usize,
    /// Runs in all.
    pub all: usize,
    /// The one that has just ended.
    pub cell: &'a Cell,
}

/// The results of a comparison.
#[derive(Debug, Clone)]
pub struct ContestResults {
    /// What was compared.
    pub contest: Contest,
    /// The runs that ended, by model, loop, task and seed.
    pub cells: Vec<Cell>,
}

impl Contest {
    /// How many runs it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        let repeats = usize::try_from(self.repeats).unwrap_or(usize::MAX);
        let cells = self.loops.len() * self.models.len() * self.tasks.len();
        cells.saturating_mul(repeats)
    }

    /// Runs everything until it is told to stop, which drops the current runs.
    pub async fn run(
        self,
        host: Arc<dyn ContestHost>,
        stop: CancellationToken,
        mut on_end: impl FnMut(ContestProgress<'_>),
    ) -> ContestResults {
        stale_folders::clear();
        let all = self.size();
        let tokens = TokenCache::default();
        let mut parts = self.parts().into_iter().enumerate();
        let mut under_way = JoinSet::new();
        let mut cells: Vec<(usize, Cell)> = Vec::new();
        loop {
            while under_way.len() < self.at_once.max(1) {
                let Some((place, part)) = parts.next() else { break };
                let (host, tokens) = (host.clone(), tokens.clone());
                under_way.spawn(async move { (place, play(host.as_ref(), &tokens, &part).await) });
            }
            let ended = tokio::select! {
                ended = under_way.join_next() => ended,
                () = stop.cancelled() => break,
            };
            match ended {
                None => break,
                Some(Ok((place, cell))) => {
                    let done = cells.len() + 1;
                    on_end(ContestProgress { done, all, cell: &cell });
                    cells.push((place, cell));
                }
                Some(Err(broken)) => std::panic::resume_unwind(broken.into_panic()),
            }
        }
        under_way.shutdown().await;
        cells.sort_by_key(|(place, _)| *place);
        ContestResults { contest: self, cells: cells.into_iter().map(|(_, cell)| cell).collect() }
    }

    fn parts(&self) -> Vec<ContestRun> {
        let mut parts = Vec::with_capacity(self.size());
        for model in &self.models {
            for loop_name in &self.loops {
                for task in &self.tasks {
                    parts.extend((0..self.repeats).map(|more| ContestRun {
                        task: task.clone(),
                        loop_name: loop_name.clone(),
                        model: model.clone(),
                        seed: self.seed.wrapping_add(more),
                        timeout: self.timeout,
                        latency: self.latency,
                    }));
                }
            }
        }
        parts
    }
}

impl ContestResults {
    /// Whether every run ended.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.cells.len() == self.contest.size()
    }

    /// The sum of a loop with a model.
    #[must_use]
    pub fn total(&self, model: &str, loop_name: &str) -> Tally {
        let cells = self.cells.iter().filter(|cell| cell.is_of(model, loop_name));
        Tally::sum(cells.map(|cell| &cell.tally))
    }

    /// The sum of a task under a loop with a model.
    #[must_use]
    pub fn cell(&self, model: &str, loop_name: &str, task: &str) -> Tally {
        let of = |cell: &&Cell| cell.is_of(model, loop_name) && cell.task == task;
        Tally::sum(self.cells.iter().filter(of).map(|cell| &cell.tally))
    }

    /// The sums of a loop with a model, one for each seed.
    #[must_use]
    pub fn by_seed(&self, model: &str, loop_name: &str) -> Vec<Tally> {
        let mut sums: BTreeMap<u64, Tally> = BTreeMap::new();
        for cell in self.cells.iter().filter(|cell| cell.is_of(model, loop_name)) {
            sums.entry(cell.seed).or_default().add(&cell.tally);
        }
        sums.into_values().collect()
    }

    /// The sums of two loops over the runs in which both succeeded. In a plain sum a loop that
    /// gives up early looks cheap.
    #[must_use]
    pub fn where_both_succeed(&self, model: &str, one: &str, other: &str) -> (Tally, Tally) {
        let done = |name: &str| -> BTreeMap<(&str, u64), &Tally> {
            let cells = self.cells.iter().filter(|cell| cell.is_of(model, name));
            let cells = cells.filter(|cell| cell.is_success());
            cells.map(|cell| ((cell.task.as_str(), cell.seed), &cell.tally)).collect()
        };
        let (ones, others) = (done(one), done(other));
        let both = |those: &BTreeMap<_, &Tally>, these: &BTreeMap<_, &Tally>| {
            let both = those.iter().filter(|(place, _)| these.contains_key(*place));
            Tally::sum(both.map(|(_, tally)| *tally))
        };
        (both(&ones, &others), both(&others, &ones))
    }

    /// The sum of everything.
    #[must_use]
    pub fn sum(&self) -> Tally {
        Tally::sum(self.cells.iter().map(|cell| &cell.tally))
    }
}
