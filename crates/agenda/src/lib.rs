//! The assistant: what stands between people and the engine.
//!
//! ```text
//!   line ──► front door ──► cancel? command? answer? ──► command path ──► store
//!                                      └── new goal ───► engine
//! ```
//!
//! Deliberately absent: terminals and pages (the surfaces'), SQL (`store`), words (`text`).

pub mod commands;
pub mod desk;
pub mod kept;
pub mod portable;
pub mod revise;
pub mod rules;
pub mod show;
pub mod time;
pub mod tools;
