//! A gate before a reply: a test opens it when the client is where the test wants it.

use std::sync::{Arc, Condvar, Mutex};

/// Holds replies back until it is opened.
#[derive(Debug, Clone, Default)]
pub struct ReplyGate(Arc<(Mutex<bool>, Condvar)>);

impl ReplyGate {
    /// Lets everything through, from now on.
    pub fn open(&self) {
        let (is_open, opened) = &*self.0;
        *super::lock(is_open) = true;
        opened.notify_all();
    }

    pub(super) fn wait(&self) {
        let (is_open, opened) = &*self.0;
        let open = opened.wait_while(super::lock(is_open), |open| !*open);
        drop(open);
    }
}
