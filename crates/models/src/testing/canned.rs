//! Replies that are given byte for byte.

use super::ReplyGate;
use std::time::Duration;

/// One reply, byte for byte.
#[derive(Debug, Clone, Default)]
pub struct CannedReply(pub(super) Vec<Piece>);

#[derive(Debug, Clone)]
pub(super) enum Piece {
    Bytes(Vec<u8>),
    Chunk(Vec<u8>),
    Pause(Duration),
    Gate(ReplyGate),
    Forever(Vec<u8>),
    Stall,
    Cut,
}

impl CannedReply {
    /// Exactly these bytes, status line and all.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self(vec![Piece::Bytes(bytes.into())])
    }

    /// A status with further header lines (each ending in `\r\n`) and a body.
    #[must_use]
    pub fn status(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::raw(format!(
            "HTTP/1.1 {status} Canned\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        ))
    }

    /// Status 200 with a JSON body.
    #[must_use]
    pub fn json(body: &str) -> Self {
        Self::status(200, "content-type: application/json\r\n", body)
    }

    /// The head of an event stream; the body follows with [`CannedReply::then`].
    #[must_use]
    pub fn stream() -> Self {
        Self::raw(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
             transfer-encoding: chunked\r\n\r\n",
        )
    }

    /// A whole event stream.
    pub fn sse(body: impl Into<Vec<u8>>) -> Self {
        Self::stream().then(body).end()
    }

    /// One more HTTP chunk, sent at once.
    #[must_use]
    pub fn then(self, body: impl Into<Vec<u8>>) -> Self {
        self.and(Piece::Chunk(body.into()))
    }

    /// The proper end of a chunked body.
    #[must_use]
    pub fn end(self) -> Self {
        self.and(Piece::Bytes(b"0\r\n\r\n".to_vec()))
    }

    /// Waits on the server's side.
    #[must_use]
    pub fn pause_ms(self, ms: u64) -> Self {
        self.and(Piece::Pause(Duration::from_millis(ms)))
    }

    /// Waits on the server's side until the gate is open.
    #[must_use]
    pub fn behind(self, gate: &ReplyGate) -> Self {
        self.and(Piece::Gate(gate.clone()))
    }

    /// Closes the connection in the middle of the body.
    #[must_use]
    pub fn cut(self) -> Self {
        self.and(Piece::Cut)
    }

    /// Says nothing more until the client leaves.
    #[must_use]
    pub fn stall(self) -> Self {
        self.and(Piece::Stall)
    }

    /// Sends this chunk again and again until the client leaves.
    pub fn forever(self, chunk: impl Into<Vec<u8>>) -> Self {
        self.and(Piece::Forever(chunk.into()))
    }

    fn and(mut self, piece: Piece) -> Self {
        self.0.push(piece);
        self
    }
}
