//! Plays runs without an engine: no clock, no threads, no files.

mod frame;
mod golden;
mod play;
mod scenario;
mod trace;
mod watch;
mod wild;

pub(crate) use golden::write_line;
pub(crate) use play::{Played, fold, relay};
pub(crate) use scenario::{Point, Reply, Scenario};
pub(crate) use watch::decisions_hold;
pub(crate) use wild::{Wild, wild};
