//! The address of a provider, and the time-outs.

use crate::{ModelKnowledge, Secret};

/// The address of a provider, and the time-outs.
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
    /// What is known about the model there, and what was set for it.
    pub knowledge: ModelKnowledge,
}

impl Default for Endpoint {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            api_key: None,
            timeouts: Timeouts::default(),
            reply_bytes_max: 8 << 20,
            knowledge: ModelKnowledge::default(),
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
    /// Until the connection is established.
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
