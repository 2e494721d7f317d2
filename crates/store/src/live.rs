//! How processes tell each other what happens to runs while it happens.
//!
//! ```text
//!   driver ──send──► a file per run (SQLite), NOTIFY (PostgreSQL) ──listen──► follower
//! ```
//!
//! Nothing here is the truth: rows are. A message that is lost costs a follower some words, and the
//! whole reply follows in the journal. A message that is stale names another epoch, attempt or
//! place than the journal has, and followers drop it.

mod batch;
mod files;
mod tail;

pub(crate) use batch::LiveBatch;
pub(crate) use files::LiveFiles;

use everloop_types::{LiveMessage, RunId, StreamPiece};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// The shortest time between two writes: pieces that come faster are sent together.
pub(crate) const SEND_EVERY: Duration = Duration::from_millis(40);

/// What the calls under way of a run have said so far, in this process.
pub type OpenPieces = Arc<dyn Fn(&RunId) -> Vec<StreamPiece> + Send + Sync>;

/// The way from the process that drives a run to those that follow it.
pub trait LiveChannel: fmt::Debug + Send + Sync {
    /// Sends a message soon. Never fails: what cannot be sent is left out. A piece never waits.
    fn send(&self, message: LiveMessage);

    /// Says where to find what was sent before somebody began to listen.
    fn attach(&self, open: OpenPieces);

    /// Begins to listen, to no run yet.
    fn listen(&self) -> Box<dyn LiveListener>;

    /// Drops what dead processes left. Only for a process that knows that no other one drives.
    fn clear(&self);
}

/// Messages that are on their way.
pub type LiveFuture<'a> = Pin<Box<dyn Future<Output = Vec<LiveMessage>> + Send + 'a>>;

/// The receiving end.
pub trait LiveListener: Send {
    /// Listens to a run, too. Again for the same run: something is missing, begin again.
    fn add(&mut self, run: &RunId);

    /// The next messages, at least one. Dropping the future loses nothing.
    fn next(&mut self) -> LiveFuture<'_>;

    /// How often rows have to be looked at although nothing was heard, in milliseconds.
    fn look_every_ms(&self) -> u64;
}
