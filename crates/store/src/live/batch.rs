//! Messages that wait to be sent together.

use everloop_types::LiveMessage;

/// Bytes of words that may wait. A channel that cannot keep up loses pieces, never memory.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// Messages in their order; pieces that follow each other are one.
#[derive(Debug, Default)]
pub(crate) struct LiveBatch {
    messages: Vec<LiveMessage>,
    bytes: usize,
}

impl LiveBatch {
    /// Adds a message; a piece that has no room is left out.
    pub(crate) fn add(&mut self, message: LiveMessage) {
        let bytes = bytes_of(&message);
        if bytes > 0 && self.bytes + bytes > WAITING_BYTES_MAX {
            return;
        }
        self.bytes += bytes;
        if !self.messages.last_mut().is_some_and(|last| last.grow(&message)) {
            self.messages.push(message);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// All that wait.
    pub(crate) fn take(&mut self) -> Vec<LiveMessage> {
        self.bytes = 0;
        std::mem::take(&mut self.messages)
    }

    /// Drops what waits for a run.
    pub(crate) fn drop_run(&mut self, run: &everloop_types::RunId) {
        self.messages.retain(|message| message.run() != run);
        self.bytes = self.messages.iter().map(bytes_of).sum();
    }
}

/// Bytes of words in a message.
fn bytes_of(message: &LiveMessage) -> usize {
    match message {
        LiveMessage::Piece(piece) => piece.fragment.text().len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::{CallStream, EffectId, Fragment, RunId, StreamPiece};

    fn piece(run: &str, text: &str) -> LiveMessage {
        let effect = EffectId { run: RunId::new(run), cause: 1, index: 0 };
        let stream = CallStream { effect, epoch: 1, attempt: 0 };
        let fragment = Fragment::Text(text.to_owned());
        LiveMessage::Piece(StreamPiece { stream, offset: 0, fragment })
    }

    #[test]
    fn the_words_of_a_run_that_left_make_room_for_those_of_others() {
        let mut batch = LiveBatch::default();
        batch.add(piece("run_a", &"x".repeat(WAITING_BYTES_MAX)));
        batch.add(piece("run_b", "no room"));
        batch.drop_run(&RunId::new("run_a"));
        assert!(batch.is_empty());
        batch.add(piece("run_b", "room again"));
        assert_eq!(batch.take(), [piece("run_b", "room again")]);
    }
}
