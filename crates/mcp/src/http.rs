//! A server at an address: that address and no other, however it is redirected.

use super::McpConnectError;
use super::secret::ResolvedValues;
use everloop_tools::{PinError, PinnedClient};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::collections::HashMap;

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The way to an address that the person wrote into the settings.
pub(super) async fn transport(
    address: &str,
    headers: &ResolvedValues,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, McpConnectError> {
    let PinnedClient { url, client } = PinnedClient::open(address).await?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(custom(headers)?)
        .max_sse_event_size(EVENT_BYTES_MAX)
        // The tools of another session are compared before anything is called in it.
        .reinit_on_expired_session(false);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

impl From<PinError> for McpConnectError {
    fn from(error: PinError) -> Self {
        match error {
            PinError::Address(why) => Self::Address(why),
            PinError::Unreachable(why) => Self::Unreachable(why),
        }
    }
}

fn custom(headers: &ResolvedValues) -> Result<HashMap<HeaderName, HeaderValue>, McpConnectError> {
    let wrong = |name: &str| McpConnectError::Header(name.to_owned());
    let header = |(name, value): &(String, String)| {
        let key = HeaderName::try_from(name.as_str()).map_err(|_| wrong(name))?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong(name))?;
        value.set_sensitive(true);
        Ok((key, value))
    };
    headers.values.iter().map(header).collect()
}
