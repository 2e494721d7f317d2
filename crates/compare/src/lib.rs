//! The same tasks under every loop, counted alike.
//!
//! ```text
//!   task ──► engine with loop L ──► model or simulated policy
//!     └──► checker ◄── workspace, store, answer          ──► tally ──► table, JSON, page
//! ```
//!
//! Whether a task succeeded is decided by its checker, never by the model's word.

pub mod policy;
