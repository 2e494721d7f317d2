//! Google's Gemini.
//!
//! Deliberately absent: thought signatures of the past. A transcript has no place for them; models
//! that require one get the placeholder that the API accepts for calls it did not make itself.

pub(crate) mod decode;
mod render;
mod schema;

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
use decode::GeminiReader;
use everloop_ports::WirePrompt;
use everloop_types::{Message, ToolChoice};
use std::sync::Arc;

/// Where `gemini/…` is asked unless another endpoint is chosen.
pub(crate) const GEMINI_URL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// This provider, for the table of wire formats.
pub(crate) const FORMAT: WireFormat = WireFormat {
    provider: KnownProvider {
        name: "gemini",
        address: GEMINI_URL,
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    },
    spec: ENDPOINT,
    list_call: "models?pageSize=1000",
    connect: |endpoint| Ok(Arc::new(Provider::new(GeminiCodec, endpoint)?)),
};

/// How Gemini is spoken to.
#[derive(Debug)]
struct GeminiCodec;

const ENDPOINT: EndpointSpec = EndpointSpec {
    usual_url: GEMINI_URL,
    version: "v1beta",
    call: "",
    key_header: "x-goog-api-key",
    header: None,
};

impl Codec for GeminiCodec {
    type EventReader = GeminiReader;

    fn endpoint_spec(&self) -> EndpointSpec {
        ENDPOINT
    }

    /// Where tools may be called, no schema is taken for the text.
    fn schemas(&self, ask: &RequestParts<'_>) -> Schemas {
        match ask.tools.is_empty() || *ask.choice == ToolChoice::None {
            true => Schemas::Native,
            false => Schemas::ByTool,
        }
    }

    fn call(&self, model: &str) -> String {
        let name = model.strip_prefix("models/").unwrap_or(model);
        format!("models/{name}:streamGenerateContent?alt=sse")
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
