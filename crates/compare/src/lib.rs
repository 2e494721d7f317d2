//! The same tasks under every loop, measured the same way.
//!
//! ```text
//!   task ──► engine with loop L ──► model or simulated policy
//!     └──► checker ◄── workspace, store, answer          ──► tally ──► table, JSON, page
//! ```
//!
//! Whether a task succeeded is decided by its checker, never by what the model says.

mod check;
mod contest;
mod host;
mod latency;
mod pages;
mod play;
pub mod policy;
pub mod report;
mod selection;
mod stage;
mod stale_folders;
mod tally;
pub mod task;
mod tokens;

pub use check::{Check, Scene};
pub use contest::{Contest, ContestProgress, ContestResults};
pub use host::{ContestHost, ContestModel, is_simulated};
pub use latency::Latency;
pub use selection::{TaskSelectionError, runs_at_once, select_tasks};
pub use tally::{Cell, ContestEnding, Tally};
pub use task::ContestTask;
