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
        if let LiveMessage::Piece(piece) = &message {
            let bytes = piece.fragment.text().len();
            if self.bytes + bytes > WAITING_BYTES_MAX {
                return;
            }
            self.bytes += bytes;
        }
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
    }
}
