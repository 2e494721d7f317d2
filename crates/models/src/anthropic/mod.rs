//! Anthropic's Messages.
//!
//! Deliberately absent: thinking blocks of the past. A transcript has no place for them, and the
//! API takes a conversation without them.

pub(crate) mod decode;
mod render;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod render_tests;
#[cfg(test)]
mod wire_tests;

use crate::http::EndpointSpec;
use crate::provider::{Codec, Provider, Schemas};
use crate::{Ask, ConnectError, Endpoint, Extra};
use decode::Events;
use everloop_ports::{Asking, Model, OnDelta, Request, WirePrompt};
use everloop_types::Message;

/// Where `anthropic/…` is asked unless another endpoint is chosen.
pub const ANTHROPIC_URL: &str = "https://api.anthropic.com/v1";

/// An endpoint of Anthropic's Messages. Connections are kept and shared by all calls.
#[derive(Debug)]
pub struct Anthropic(Provider<Messages>);

impl Anthropic {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// When the address or the key cannot be used in a request at all.
    pub fn new(endpoint: Endpoint) -> Result<Self, ConnectError> {
        Ok(Self(Provider::new(Messages, endpoint)?))
    }
}

impl Model for Anthropic {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> Asking<'a> {
        self.0.ask(request, on_delta)
    }
}

/// How Messages are spoken.
#[derive(Debug)]
struct Messages;

pub(crate) const ENDPOINT: EndpointSpec = EndpointSpec {
    usual_url: ANTHROPIC_URL,
    version: "v1",
    call: "messages",
    key_header: "x-api-key",
    header: Some(("anthropic-version", "2023-06-01")),
};

impl Codec for Messages {
    type EventReader = Events;

    fn endpoint_spec(&self) -> EndpointSpec {
        ENDPOINT
    }

    /// Structured outputs are there for some models only, and not behind every gateway.
    fn schemas(&self, _: &Ask<'_>) -> Schemas {
        Schemas::ByTool
    }

    fn call(&self, _: &str) -> String {
        ENDPOINT.call.to_owned()
    }

    fn render(
        &self,
        ask: Ask<'_>,
        wire: &mut WirePrompt,
        messages: &[Message],
        extra: Extra<'_>,
    ) -> Vec<u8> {
        render::render(ask, wire, messages, extra)
    }
}
