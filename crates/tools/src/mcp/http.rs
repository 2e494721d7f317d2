//! A server at an address: that address and no other, however it is redirected.

use super::ConnectError;
use super::secret::Resolved;
use crate::hosts::{Host, Hosts, Misled, Names, places};
use crate::request;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::collections::HashMap;
use std::time::Duration;

/// How long a connection may take to come up.
const CONNECT_MS_MAX: u64 = 10_000;

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The way to an address that the person wrote into the settings.
pub(super) async fn transport(
    address: &str,
    headers: &Resolved,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, ConnectError> {
    let url = reqwest::Url::parse(address);
    let url = url.map_err(|error| ConnectError::Address(error.to_string()))?;
    // Who wrote an address into the settings meant it, wherever its name leads.
    let own: Hosts = Host::of(&url).map(Host::anywhere).into_iter().collect();
    let url = own.admit(address).map_err(ConnectError::Address)?;
    let found = places(&url, own.reach(&url), &Names::default()).await;
    let found = found.map_err(|misled| match misled {
        Misled::NotFound(why) => ConnectError::Unreachable(why),
        Misled::Private(ip) => ConnectError::Address(format!("it leads to {ip}")),
    })?;
    let client = reqwest::Client::builder()
        .user_agent(concat!("everloop/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .connect_timeout(Duration::from_millis(CONNECT_MS_MAX))
        .resolve_to_addrs(url.host_str().unwrap_or_default(), &found)
        .tls_backend_preconfigured(request::tls(&url).map_err(ConnectError::Address)?)
        .build()
        .map_err(|error| ConnectError::Address(error.to_string()))?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(custom(headers)?)
        .max_sse_event_size(EVENT_BYTES_MAX)
        // The tools of another session are compared before anything is called in it.
        .reinit_on_expired_session(false);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn custom(headers: &Resolved) -> Result<HashMap<HeaderName, HeaderValue>, ConnectError> {
    let wrong = |name: &str| ConnectError::Header(name.to_owned());
    let header = |(name, value): &(String, String)| {
        let key = HeaderName::try_from(name.as_str()).map_err(|_| wrong(name))?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong(name))?;
        value.set_sensitive(true);
        Ok((key, value))
    };
    headers.values.iter().map(header).collect()
}
