//! The application with a person at a terminal. [`Console`] is the application and how that person
//! wants it; [`terminal`] writes lines to them and reads theirs, [`screen`] keeps a live area below
//! what scrolls, [`show`] makes text of records. [`failure`] is the only place that makes sentences
//! and exit codes of errors.
//!
//! Deliberately absent: arguments, commands, and what a chat does with its lines.

pub mod agenda_colors;
mod console;
mod exit;
pub mod failure;
mod line_mode;
pub mod notices;
pub mod picker;
pub mod screen;
pub mod show;
mod signals;
pub mod terminal;
pub mod trouble;

pub use console::{Agreement, Console, ConsoleOptions};
pub use everloop_app::early_language;
pub use exit::{Exit, Failure};
pub use line_mode::LineMode;
pub use signals::{Signals, outlive_length_limits};
