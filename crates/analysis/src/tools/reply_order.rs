//! Calls of one reply run together, but their results get their numbers in the order of the calls:
//! a model counts on it, and a run that is made again has the same numbers.

use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot::{Receiver, Sender, channel};

/// The calls under way, one after the other.
#[derive(Debug, Default)]
pub(super) struct ReplyOrder {
    /// It is closed when the last call so far is over.
    last: Mutex<Option<Receiver<()>>>,
}

/// The place of a call among the others. Dropping it lets the next one go on.
#[derive(Debug)]
pub(super) struct ReplyTurn {
    before: Option<Receiver<()>>,
    _own: Sender<()>,
}

impl ReplyOrder {
    /// A place behind all calls that have one.
    pub(super) fn take_turn(&self) -> ReplyTurn {
        let (own, over) = channel();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        ReplyTurn { before: last.replace(over), _own: own }
    }
}

impl ReplyTurn {
    /// Waits until the calls before this one are over. It blocks.
    pub(super) fn wait(&mut self) {
        // Nothing is sent: the other end is dropped.
        let _ = self.before.take().map(Receiver::blocking_recv);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_call_waits_for_those_before_it_and_for_no_other() {
        let order = ReplyOrder::default();
        let (mut first, mut second, third) =
            (order.take_turn(), order.take_turn(), order.take_turn());
        let said = Arc::new(Mutex::new(Vec::new()));
        let own = said.clone();
        let waiting = std::thread::spawn(move || {
            second.wait();
            own.lock().unwrap().push("second");
        });
        first.wait();
        said.lock().unwrap().push("first");
        drop(first);
        waiting.join().unwrap();
        drop(third);
        order.take_turn().wait();
        assert_eq!(*said.lock().unwrap(), ["first", "second"]);
    }
}
