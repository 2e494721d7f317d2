//! Every test of the agenda in one program: one is linked faster than 11.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agenda;
mod bulk;
mod changes;
mod commands;
mod crashes;
mod phrases;
mod portable;
mod reminders;
mod run_schedules;
mod support;
mod told;
mod updates;
