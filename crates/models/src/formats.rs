//! The wire formats: one line for each provider that does not use OpenAI's.
//!
//! A new one is a folder with a `FORMAT`, its `mod` line in `lib.rs` and its line here. All else
//! (connecting, listing models, addresses, variables for keys, `everloop models`) reads this table.

use crate::http::EndpointSpec;
use crate::{Endpoint, KnownProvider, ModelConnectError, anthropic, gemini};
use everloop_ports::Model;
use std::sync::Arc;

/// Every provider with a wire format of its own.
pub(crate) const FORMATS: [WireFormat; 2] = [anthropic::FORMAT, gemini::FORMAT];

/// A provider with a wire format of its own.
#[derive(Clone, Copy)]
pub(crate) struct WireFormat {
    /// Its name, address and variables.
    pub(crate) provider: KnownProvider,
    /// What requests to it have in common.
    pub(crate) spec: EndpointSpec,
    /// What lists its models, below the base address.
    pub(crate) list_call: &'static str,
    /// Prepares a client; nothing is sent.
    pub(crate) connect: fn(Endpoint) -> Result<Arc<dyn Model>, ModelConnectError>,
}

/// The format of a provider; none if it is taken for OpenAI-compatible.
pub(crate) fn format_of(provider: &str) -> Option<WireFormat> {
    FORMATS.into_iter().find(|format| format.provider.name == provider)
}
