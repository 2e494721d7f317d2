//! Providers that speak OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Ollama, gateways.

mod client;
pub mod codec;
mod forced;
mod list;
mod retry_after;

#[cfg(test)]
mod wire_tests;

use crate::{Asking, ConnectError, Delta, Model, OnDelta, Request, Secret};
pub use list::list_models;

use client::Client;
use codec::Ask;
use everloop_types::{ModelError, ModelErrorKind, Reply, ToolChoice, ToolSpec};
use forced::Portable;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where a provider is, and how long we wait for it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// With or without `/v1` and final slash. Empty means the provider's own address.
    pub base_url: String,
    /// Sent as bearer token.
    pub api_key: Option<Secret>,
    /// How long we wait.
    pub timeouts: Timeouts,
    /// Most bytes of text, reasoning and calls in one reply.
    pub reply_bytes_max: usize,
}

impl Default for Endpoint {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            api_key: None,
            timeouts: Timeouts::default(),
            reply_bytes_max: 8 << 20,
        }
    }
}

impl Endpoint {
    /// The endpoint at that address, without a key and with the usual limits.
    pub fn at(base_url: impl Into<String>) -> Self {
        Self { base_url: base_url.into(), ..Self::default() }
    }
}

/// How long a call may take, part by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect_ms: u64,
    /// From there to the first byte of the reply's body.
    pub first_byte_ms: u64,
    /// Between one chunk and the next.
    pub idle_ms: u64,
    /// The whole call.
    pub total_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect_ms: 10_000, first_byte_ms: 120_000, idle_ms: 60_000, total_ms: 600_000 }
    }
}

/// An OpenAI-compatible endpoint. Connections are kept and shared by all calls.
#[derive(Debug)]
pub struct OpenAi {
    client: Client,
    /// Seen once: the endpoint does not honour forced tool calls, but follows a JSON schema.
    ignores_forced: AtomicBool,
}

impl OpenAi {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// When the address or the key cannot be used in a request at all.
    pub fn new(endpoint: Endpoint) -> Result<Self, ConnectError> {
        Ok(Self { client: Client::new(endpoint)?, ignores_forced: AtomicBool::new(false) })
    }

    async fn answer(
        &self,
        request: Request<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let Request { model, messages, wire, tools, choice, output, .. } = request;
        let (temperature_milli, max_tokens) = (request.temperature_milli, request.max_tokens);
        let dialect = self.client.dialect();
        let tools = &tools[..];
        let ask = Ask { model, tools, choice, output, temperature_milli, max_tokens, dialect };
        let wanted = wanted_tools(tools, choice)?;
        let mut spent = everloop_types::Usage::default();
        if wanted.is_empty() || !self.ignores_forced.load(Ordering::Relaxed) {
            let body = codec::render(ask, wire, messages, None);
            let reply = self.client.post(body, on_delta).await;
            if wanted.is_empty() || !forced::ignored(&reply, &wanted) {
                return reply;
            }
            spent = reply.map(|reply| reply.usage).unwrap_or_default();
        }
        let portable = Portable::new(&wanted);
        let choice = &ToolChoice::None;
        let ask = Ask { tools: &[], choice, output: Some(portable.schema()), ..ask };
        let body = codec::render(ask, wire, messages, Some(portable.words()));
        // The JSON is no text for watchers; they get the call it becomes.
        let mut muted = |delta: Delta<'_>| {
            if let Delta::Reasoning(_) = delta {
                on_delta(delta);
            }
        };
        let answer = self.client.post(body, &mut muted).await;
        let mut reply = portable.read(answer)?;
        self.ignores_forced.store(true, Ordering::Relaxed);
        reply.usage.add(spent);
        for (index, call) in reply.calls.iter().enumerate() {
            on_delta(Delta::CallStarted { index, tool: &call.tool });
            on_delta(Delta::CallArgs { index, args: &call.args });
        }
        Ok(reply)
    }
}

impl Model for OpenAi {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> Asking<'a> {
        Box::pin(self.answer(request, on_delta))
    }
}

/// The tools of which one has to be called; none if the model is free.
fn wanted_tools<'a>(
    tools: &[&'a ToolSpec],
    choice: &ToolChoice,
) -> Result<Vec<&'a ToolSpec>, ModelError> {
    let wanted: Vec<_> = match choice {
        ToolChoice::Auto | ToolChoice::None => return Ok(Vec::new()),
        ToolChoice::Required => tools.to_vec(),
        ToolChoice::Named(name) => tools.iter().filter(|t| t.name == *name).copied().collect(),
    };
    if wanted.is_empty() {
        let detail = "a tool call is forced, but that tool is not on offer";
        return Err(ModelError::new(ModelErrorKind::Refused, detail));
    }
    Ok(wanted)
}
