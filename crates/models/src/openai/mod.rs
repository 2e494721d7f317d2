//! Providers that speak OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Ollama, gateways.

pub mod codec;

#[cfg(test)]
mod wire_tests;

use crate::http::Manners;
use crate::provider::{Codec, Provider, Schemas};
use crate::{Ask, Asking, ConnectError, Endpoint, Extra, Model, OnDelta, Request, WirePrompt};
use codec::{Completions, Dialect};
use everloop_types::Message;

/// Where `openai/…` is asked unless another endpoint is chosen.
pub const OPENAI_URL: &str = "https://api.openai.com/v1";

/// An OpenAI-compatible endpoint. Connections are kept and shared by all calls.
#[derive(Debug)]
pub struct OpenAi(Provider<Chat>);

impl OpenAi {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// When the address or the key cannot be used in a request at all.
    pub fn new(endpoint: Endpoint) -> Result<Self, ConnectError> {
        let mut provider = Provider::new(Chat { dialect: Dialect::Common }, endpoint)?;
        if provider.client.host() == "api.openai.com" {
            provider.codec.dialect = Dialect::OpenAi;
        }
        Ok(Self(provider))
    }
}

impl Model for OpenAi {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> Asking<'a> {
        self.0.ask(request, on_delta)
    }
}

/// How such an endpoint is spoken to.
#[derive(Debug)]
struct Chat {
    dialect: Dialect,
}

pub(crate) const MANNERS: Manners = Manners {
    usual_url: OPENAI_URL,
    version: "v1",
    call: "chat/completions",
    key_header: "",
    header: None,
};

impl Codec for Chat {
    type Reads = Completions;

    fn manners(&self) -> Manners {
        MANNERS
    }

    fn schemas(&self, _: &Ask<'_>) -> Schemas {
        Schemas::Native
    }

    fn call(&self, _: &str) -> String {
        MANNERS.call.to_owned()
    }

    fn render(
        &self,
        ask: Ask<'_>,
        wire: &mut WirePrompt,
        messages: &[Message],
        extra: Extra<'_>,
    ) -> Vec<u8> {
        codec::render(self.dialect, ask, wire, messages, extra)
    }
}
