//! A client for one address that a person wrote into the settings, and for no other.

use crate::hosts::{HostAddress, Hosts, NameResolver, ResolveError, places};
use everloop_ports::http::tls_config;
use reqwest::Url;
use std::time::Duration;

/// How long a connection may take to come up.
const CONNECT_MS_MAX: u64 = 10_000;

/// A client that connects to the places where the address was found, however it is redirected.
#[derive(Debug, Clone)]
pub struct PinnedClient {
    /// The address.
    pub url: Url,
    /// Connections are kept.
    pub client: reqwest::Client,
}

/// Why there is no such client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// The address cannot be used.
    #[error("the address cannot be used: {0}")]
    Address(String),
    /// Its host was not found.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
}

impl PinnedClient {
    /// Looks the host up and prepares the client; nothing is sent.
    ///
    /// # Errors
    /// If the address cannot be used, or its host is not found.
    pub async fn open(address: &str) -> Result<Self, PinError> {
        let url = Url::parse(address).map_err(|error| PinError::Address(error.to_string()))?;
        // An address from the settings is allowed whatever its name resolves to.
        let own: Hosts = HostAddress::of(&url).map(HostAddress::anywhere).into_iter().collect();
        let url = own.admit(address).map_err(PinError::Address)?;
        let found = places(&url, own.reach(&url), &NameResolver::default()).await;
        let found = found.map_err(|misled| match misled {
            ResolveError::NotFound(why) => PinError::Unreachable(why),
            ResolveError::Private(ip) => PinError::Address(format!("it leads to {ip}")),
        })?;
        let tls = tls_config(url.scheme()).map_err(|error| PinError::Address(error.to_string()))?;
        let client = reqwest::Client::builder()
            .user_agent(concat!("everloop/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .connect_timeout(Duration::from_millis(CONNECT_MS_MAX))
            .resolve_to_addrs(url.host_str().unwrap_or_default(), &found)
            .tls_backend_preconfigured(tls)
            .build()
            .map_err(|error| PinError::Address(error.to_string()))?;
        Ok(Self { url, client })
    }
}
