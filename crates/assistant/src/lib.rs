//! The assistant: what stands between people and the engine.
//!
//! ```text
//!   line ──► front door ──► cancel? command? answer? ──► command path ──► store
//!                                      └── new goal ───► engine
//! ```
//!
//! Deliberately absent: terminals and pages (the surfaces'), SQL (`store`), words (`text`).

pub mod rules;
pub mod time;
