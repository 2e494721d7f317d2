//! Messages for channels outside, and what brings them there.

use crate::BoxFuture;
use everloop_types::UtcMs;

/// A message on its way, for the one who brings it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The same for each repetition, and for no other message.
    pub id: String,
    /// The channel's name.
    pub channel: String,
    /// What it says.
    pub text: String,
    /// The present moment.
    pub at: UtcMs,
}

/// Brings messages to their channels.
pub trait Deliver: Send + Sync {
    /// Whether it can bring anything there. What it cannot bring is left to others.
    fn has(&self, channel: &str) -> bool;

    /// Brings one. An error says why it is to be brought again; it may have arrived all the same.
    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), String>>;
}
