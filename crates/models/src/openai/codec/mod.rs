//! The bytes of `/chat/completions`, both ways. Pure: no sockets, no clocks.

mod decode;
mod event;
mod render;

use super::quirks::COMMON;
use crate::{RequestParts, wire};
pub(crate) use decode::ChatReader;
use everloop_ports::{Delta, WirePrompt};
use everloop_types::{Message, ModelError, Reply};
pub(crate) use render::render;

/// Brings `wire` up to date with `messages` and renders the whole body, as most servers read it.
#[must_use]
pub fn render_common(
    ask: RequestParts<'_>,
    wire: &mut WirePrompt,
    messages: &[Message],
) -> Vec<u8> {
    render(&COMMON, ask, wire, messages, None)
}

/// Reads one reply from its bytes, in whatever pieces they come.
#[derive(Debug)]
pub struct ChatDecoder(wire::StreamDecoder<ChatReader>);

impl ChatDecoder {
    /// A decoder for one reply of at most `reply_bytes_max` bytes of text, reasoning and calls.
    #[must_use]
    pub fn new(reply_bytes_max: usize) -> Self {
        Self(wire::StreamDecoder::new(reply_bytes_max))
    }

    /// Reads the next bytes.
    ///
    /// # Errors
    /// When the provider reports an error, or the bytes are not a reply, or there are too many.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        self.0.feed(chunk, on_delta)
    }

    /// The reply, when the bytes have ended.
    ///
    /// # Errors
    /// `Cut` if the end came too early, `Empty` if there was nothing in it.
    pub fn finish(self, on_delta: &mut dyn FnMut(Delta<'_>)) -> Result<Reply, ModelError> {
        self.0.finish(on_delta)
    }
}

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod render_tests;
