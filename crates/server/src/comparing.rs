//! The comparison of loops, as a server sees it. The program that starts the server brings it: the
//! comparison stands above the server, which knows only this contract.

use serde_json::Value;
use tokio::sync::mpsc::Receiver;

/// What is to be compared, by names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparisonRequest {
    /// The loops, or `all`.
    pub loops: Vec<String>,
    /// Simulated policies; where somebody agreed, models too.
    pub models: Vec<String>,
    /// Tasks and groups of tasks; all if none is named.
    pub tasks: Vec<String>,
    /// The first seed.
    pub seed: u64,
    /// Runs of each cell.
    pub runs: u64,
    /// Whether somebody agreed that a model is asked which may cost money.
    pub asks_models: bool,
    /// Whether the time of simulated policies is simulated too; else it is measured.
    pub simulates_time: bool,
}

/// What can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparisonOffer {
    /// The loops.
    pub loops: Vec<String>,
    /// The simulated policies.
    pub policies: Vec<String>,
    /// The tasks by what they are about.
    pub tasks: Vec<(&'static str, Vec<String>)>,
}

/// What a comparison tells while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum ComparisonNews {
    /// A run has ended.
    Ended {
        /// Runs that are over.
        done: usize,
        /// Runs in all.
        all: usize,
        /// The run.
        cell: Value,
    },
    /// Everything is over: the table and every run.
    Table(Value),
}

/// Compares loops.
pub trait CompareLoops: Send + Sync {
    /// What can be compared.
    fn offer(&self) -> ComparisonOffer;

    /// Begins a comparison. It ends early once nobody listens.
    ///
    /// # Errors
    /// In words, if something that is named cannot be compared.
    fn begin(&self, request: ComparisonRequest) -> Result<Receiver<ComparisonNews>, String>;
}
