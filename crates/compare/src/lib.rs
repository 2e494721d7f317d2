//! The same tasks under every loop, counted alike.
//!
//! ```text
//!   task ──► engine with loop L ──► model or simulated policy
//!     └──► checker ◄── workspace, store, answer          ──► tally ──► table, JSON, page
//! ```
//!
//! Whether a task succeeded is decided by its checker, never by the model's word.

mod check;
mod contest;
mod host;
mod latency;
mod litter;
mod pages;
mod play;
pub mod policy;
pub mod report;
mod selection;
mod stage;
mod tally;
pub mod task;
mod tokens;

pub use check::{Check, Scene};
pub use contest::{Contest, Progress, Results};
pub use host::{Connected, Host, is_simulated};
pub use latency::Latency;
pub use selection::{TaskSelectionError, runs_at_once, select_tasks};
pub use tally::{Cell, Ending, Tally};
pub use task::Task;
