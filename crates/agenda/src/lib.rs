//! The agenda: dates, todos, schedules, reminders, and the files of other programs.
//!
//! ```text
//!   line ──► commands::parse ──► AgendaCommand ──► Agenda::perform ──► store ──► show::answer
//!   sentence ──► rules::understand ──► a command, shown before it is carried out
//! ```
//!
//! Deliberately absent: conversations (`app`), terminals and pages (the surfaces'), SQL (`store`).

pub mod commands;
pub mod desk;
pub mod kept;
pub mod portable;
pub mod revise;
pub mod rules;
pub mod show;
pub mod time;
pub mod tools;
