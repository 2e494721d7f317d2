//! Providers that speak OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Ollama, gateways.

pub mod codec;
pub(crate) mod quirks;

#[cfg(test)]
mod quirks_tests;
#[cfg(test)]
mod ways_tests;
#[cfg(test)]
mod wire_tests;

use crate::http::EndpointSpec;
use crate::provider::{Codec, Forcing, Provider, Schemas};
use crate::{CallWay, Endpoint, ExtraMessage, ModelConnectError, RequestParts};
use codec::ChatReader;
use everloop_ports::{Model, ModelFuture, OnDelta, Request, WirePrompt};
use everloop_types::Message;
use quirks::Quirks;

/// Where `openai/…` is asked unless another endpoint is chosen.
pub const OPENAI_URL: &str = "https://api.openai.com/v1";

/// An OpenAI-compatible endpoint. Connections are kept and shared by all calls.
#[derive(Debug)]
pub struct OpenAi(Provider<ChatCodec>);

impl OpenAi {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// When the address or the key cannot be used in a request at all.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelConnectError> {
        Self::of("", endpoint)
    }

    /// The same with the quirks of a provider, and at its usual address if none is given.
    ///
    /// # Errors
    /// When the address or the key cannot be used in a request at all.
    pub fn of(provider: &str, endpoint: Endpoint) -> Result<Self, ModelConnectError> {
        // Whatever is called `openai/…` may stand elsewhere, and be none of theirs.
        let row = quirks::of(provider).filter(|row| *row != quirks::OPENAI);
        let quirks = row.unwrap_or(quirks::COMMON);
        let mut provider = Provider::new(ChatCodec { quirks }, endpoint)?;
        if provider.client.host() == "api.openai.com" {
            provider.codec.quirks = quirks::OPENAI;
        }
        Ok(Self(provider))
    }
}

/// How the models of a provider call tools unless something else was set or found out.
#[must_use]
pub fn usual_way(provider: &str) -> CallWay {
    quirks::of(provider).map_or(quirks::COMMON.calls, |row| row.calls)
}

impl Model for OpenAi {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> ModelFuture<'a> {
        self.0.ask(request, on_delta)
    }
}

/// How such an endpoint is spoken to.
#[derive(Debug)]
struct ChatCodec {
    quirks: Quirks,
}

pub(crate) const ENDPOINT: EndpointSpec = EndpointSpec {
    usual_url: OPENAI_URL,
    version: "v1",
    call: "chat/completions",
    key_header: "",
    header: None,
};

impl Codec for ChatCodec {
    type EventReader = ChatReader;

    fn endpoint_spec(&self) -> EndpointSpec {
        match self.quirks.usual_url {
            "" => ENDPOINT,
            usual_url => EndpointSpec { usual_url, ..ENDPOINT },
        }
    }

    fn forcing(&self) -> Forcing {
        self.quirks.forcing
    }

    fn schemas(&self, _: &RequestParts<'_>) -> Schemas {
        self.quirks.schemas
    }

    fn calls(&self) -> CallWay {
        self.quirks.calls
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
        codec::render(&self.quirks, ask, wire, messages, extra)
    }
}
