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

use crate::formats::WireFormat;
use crate::http::EndpointSpec;
use crate::provider::{Codec, Provider, Schemas};
use crate::{ExtraMessage, KnownProvider, RequestParts};
use decode::AnthropicReader;
use everloop_ports::WirePrompt;
use everloop_types::Message;
use std::sync::Arc;

/// Where `anthropic/…` is asked unless another endpoint is chosen.
pub(crate) const ANTHROPIC_URL: &str = "https://api.anthropic.com/v1";

/// This provider, for the table of wire formats.
pub(crate) const FORMAT: WireFormat = WireFormat {
    provider: KnownProvider {
        name: "anthropic",
        address: ANTHROPIC_URL,
        key_variables: &["ANTHROPIC_API_KEY"],
    },
    spec: ENDPOINT,
    list_call: "models?limit=1000",
    connect: |endpoint| Ok(Arc::new(Provider::new(AnthropicCodec, endpoint)?)),
};

/// How Messages are spoken.
#[derive(Debug)]
struct AnthropicCodec;

const ENDPOINT: EndpointSpec = EndpointSpec {
    usual_url: ANTHROPIC_URL,
    version: "v1",
    call: "messages",
    key_header: "x-api-key",
    header: Some(("anthropic-version", "2023-06-01")),
};

impl Codec for AnthropicCodec {
    type EventReader = AnthropicReader;

    fn endpoint_spec(&self) -> EndpointSpec {
        ENDPOINT
    }

    /// Structured outputs are there for some models only, and not behind every gateway.
    fn schemas(&self, _: &RequestParts<'_>) -> Schemas {
        Schemas::ByTool
    }

    fn call(&self, _: &str) -> String {
        ENDPOINT.call.to_owned()
    }

    fn render(
        &self,
        ask: RequestParts<'_>,
        wire: &mut WirePrompt,
        messages: &[Message],
        extra: ExtraMessage<'_>,
    ) -> Vec<u8> {
        render::render(ask, wire, messages, extra)
    }
}
