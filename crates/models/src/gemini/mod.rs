//! Google's Gemini.
//!
//! Deliberately absent: thought signatures of the past. A transcript has no place for them; models
//! that demand one get the stand-in that the API takes for calls it did not make itself.

pub(crate) mod decode;
mod render;
mod schema;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod render_tests;
#[cfg(test)]
mod wire_tests;

use crate::http::EndpointSpec;
use crate::provider::{Codec, Provider, Schemas};
use crate::{Ask, ConnectError, Endpoint, Extra};
use decode::Responses;
use everloop_ports::{Asking, Model, OnDelta, Request, WirePrompt};
use everloop_types::{Message, ToolChoice};

/// Where `gemini/…` is asked unless another endpoint is chosen.
pub const GEMINI_URL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// An endpoint of the Gemini API. Connections are kept and shared by all calls.
#[derive(Debug)]
pub struct Gemini(Provider<Generate>);

impl Gemini {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// When the address or the key cannot be used in a request at all.
    pub fn new(endpoint: Endpoint) -> Result<Self, ConnectError> {
        Ok(Self(Provider::new(Generate, endpoint)?))
    }
}

impl Model for Gemini {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> Asking<'a> {
        self.0.ask(request, on_delta)
    }
}

/// How Gemini is spoken to.
#[derive(Debug)]
struct Generate;

pub(crate) const ENDPOINT: EndpointSpec = EndpointSpec {
    usual_url: GEMINI_URL,
    version: "v1beta",
    call: "",
    key_header: "x-goog-api-key",
    header: None,
};

impl Codec for Generate {
    type EventReader = Responses;

    fn endpoint_spec(&self) -> EndpointSpec {
        ENDPOINT
    }

    /// Where tools may be called, no schema is taken for the text.
    fn schemas(&self, ask: &Ask<'_>) -> Schemas {
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
        ask: Ask<'_>,
        wire: &mut WirePrompt,
        messages: &[Message],
        extra: Extra<'_>,
    ) -> Vec<u8> {
        render::render(ask, wire, messages, extra)
    }
}
