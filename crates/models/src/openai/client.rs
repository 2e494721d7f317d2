//! One request over HTTP, with its time-outs. No retries: the engine owns them.

use super::codec::{Decoder, Dialect, refusal};
use super::retry_after::retry_after_ms;
use super::{Endpoint, Timeouts};
use crate::{ConnectError, Delta, Secret};
use everloop_types::{ModelError, ModelErrorKind, Reply};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Response, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::error::Error as _;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Most bytes of an error's body that are read.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// How long the end of a finished stream is waited for, so that its connection can be used again.
const TAIL_MS: u64 = 20;

/// Connections kept per endpoint.
const IDLE_CONNECTIONS_MAX: usize = 256;

/// An endpoint and its connections.
pub(super) struct Client {
    http: reqwest::Client,
    url: Url,
    api_key: Option<Secret>,
    timeouts: Timeouts,
    reply_bytes_max: usize,
}

/// Only where it goes: an address may hold a key in its query.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.url.host_str()).field(&self.url.port()).finish()
    }
}

impl Client {
    pub(super) fn new(endpoint: Endpoint) -> Result<Self, ConnectError> {
        let Endpoint { base_url, api_key, timeouts, reply_bytes_max } = endpoint;
        let url = completions_url(&base_url)?;
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("everloop/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(api_key.as_ref())?)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_millis(timeouts.connect_ms))
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .tls_backend_preconfigured(tls(&url)?);
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(ConnectError::Client)?;
        Ok(Self { http, url, api_key, timeouts, reply_bytes_max })
    }

    /// How requests to this endpoint are spelled.
    pub(super) fn dialect(&self) -> Dialect {
        match self.url.host_str() {
            Some("api.openai.com") => Dialect::OpenAi,
            _ => Dialect::Common,
        }
    }

    /// The endpoint's list of models, as it sends it.
    pub(super) async fn get_models(&self) -> Result<Vec<u8>, ModelError> {
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches("/chat/completions").to_owned();
        url.set_path(&format!("{base}/models"));
        let failed = |error: reqwest::Error| {
            let kind = match error.is_status() {
                true => ModelErrorKind::Refused,
                false => ModelErrorKind::Unreachable,
            };
            ModelError::new(kind, error.without_url().to_string())
        };
        let patience = Duration::from_millis(self.timeouts.total_ms);
        let asked = self.http.get(url).timeout(patience).send().await;
        let mut response = asked.and_then(Response::error_for_status).map_err(failed)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(&chunk);
            if body.len() > self.reply_bytes_max {
                return Err(ModelError::new(ModelErrorKind::TooLarge, "the list of models"));
            }
        }
        Ok(body)
    }

    /// Sends a body and reads the reply. Dropping the future closes the connection.
    pub(super) async fn post(
        &self,
        body: Vec<u8>,
        on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let mut reply = self.exchange(body, on_delta).await;
        if let (Err(error), Some(key)) = (&mut reply, &self.api_key) {
            key.scrub(&mut error.detail);
        }
        reply
    }

    async fn exchange(
        &self,
        body: Vec<u8>,
        on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let clock = Clock::start(self.timeouts);
        let sending = self.http.post(self.url.clone()).body(body).send();
        let response = match timeout_at(clock.first_byte, sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(e)) => return Err(self.unsent(e)),
            Err(_) => return Err(clock.late("no reply began")),
        };
        if response.status().is_success() {
            self.read(response, &clock, on_delta).await
        } else {
            Err(read_refusal(response, &clock).await)
        }
    }

    async fn read(
        &self,
        mut response: Response,
        clock: &Clock,
        on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let mut decoder = Decoder::new(self.reply_bytes_max);
        let mut deadline = clock.first_byte;
        while !decoder.is_done() {
            match timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(chunk))) => decoder.feed(&chunk, on_delta)?,
                Ok(Ok(None)) => return decoder.finish(on_delta),
                Ok(Err(_)) | Err(_) if decoder.is_complete() => return decoder.finish(on_delta),
                Ok(Err(e)) => return Err(ModelError::new(ModelErrorKind::Cut, words(e))),
                Err(_) => return Err(clock.late("the stream stood still")),
            }
            deadline = clock.next_chunk();
            if deadline == clock.total && Instant::now() >= clock.total {
                return Err(clock.late("the stream did not end"));
            }
        }
        let tail = Instant::now() + Duration::from_millis(TAIL_MS);
        while let Ok(Ok(Some(_))) = timeout_at(tail, response.chunk()).await {}
        decoder.finish(on_delta)
    }

    /// Why a request got no response at all.
    fn unsent(&self, error: reqwest::Error) -> ModelError {
        let kind = match error.is_connect() {
            true => ModelErrorKind::Unreachable,
            false if error.is_timeout() => ModelErrorKind::TimedOut,
            false if error.is_builder() => ModelErrorKind::Refused,
            false => ModelErrorKind::Cut,
        };
        let host = self.url.host_str().unwrap_or_default();
        let port = self.url.port_or_known_default().unwrap_or_default();
        ModelError::new(kind, format!("{host}:{port}: {}", words(error)))
    }
}

/// When each part of a call has to be over.
struct Clock {
    first_byte: Instant,
    total: Instant,
    idle: Duration,
}

impl Clock {
    fn start(timeouts: Timeouts) -> Self {
        let now = Instant::now();
        let total = now + Duration::from_millis(timeouts.total_ms);
        let first = timeouts.connect_ms.saturating_add(timeouts.first_byte_ms);
        let first_byte = total.min(now + Duration::from_millis(first));
        Self { first_byte, total, idle: Duration::from_millis(timeouts.idle_ms) }
    }

    fn next_chunk(&self) -> Instant {
        self.total.min(Instant::now() + self.idle)
    }

    fn late(&self, what: &str) -> ModelError {
        let detail = if Instant::now() >= self.total {
            "the reply took too long".to_owned()
        } else {
            format!("{what} in time")
        };
        ModelError::new(ModelErrorKind::TimedOut, detail)
    }
}

async fn read_refusal(mut response: Response, clock: &Clock) -> ModelError {
    let status = response.status().as_u16();
    let wait = retry_after_ms(response.headers());
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = timeout_at(clock.next_chunk(), response.chunk()).await {
        body.extend_from_slice(&chunk);
        if body.len() > ERROR_BYTES_MAX {
            body.truncate(ERROR_BYTES_MAX);
            break;
        }
    }
    let mut error = refusal(status, &body);
    error.retry_after_ms = wait;
    if let Some(to) = response.headers().get("location").and_then(|to| to.to_str().ok()) {
        error.detail.push_str(&format!("; the endpoint has moved to {to}"));
    }
    error
}

/// The innermost cause in its own words; the outer layers only say that sending or reading failed.
/// The address is left out, as it may hold a password.
fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause = error.source();
    let mut words = error.to_string();
    while let Some(inner) = cause {
        words = inner.to_string();
        cause = inner.source();
    }
    words
}

fn headers(api_key: Option<&Secret>) -> Result<HeaderMap, ConnectError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if let Some(key) = api_key {
        let bearer = format!("Bearer {}", key.expose());
        let mut value = HeaderValue::from_str(&bearer).map_err(|_| ConnectError::BadKey)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// `/v1` is added where there is no path at all; any other path is what the user means.
fn completions_url(base_url: &str) -> Result<Url, ConnectError> {
    let bad = || ConnectError::BadBaseUrl { url: base_url.to_owned() };
    let mut url = Url::parse(base_url.trim()).map_err(|_| bad())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(bad());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConnectError::KeyInUrl);
    }
    let path = match url.path().trim_end_matches('/') {
        "" => "/v1/chat/completions".to_owned(),
        path if path.ends_with("/chat/completions") => path.to_owned(),
        path => format!("{path}/chat/completions"),
    };
    url.set_path(&path);
    Ok(url)
}

/// Whether the endpoint is on this machine; a proxy from the environment could not reach it.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    address.map_or(host == "localhost" || host.ends_with(".localhost"), |ip| ip.is_loopback())
}

/// Certificates are only looked at where they are needed: plain HTTP, which follows no redirect to
/// elsewhere, gets an empty store. Compiled-in roots start faster than the system's files;
/// `SSL_CERT_FILE` adds those of a company's own authority.
fn tls(url: &Url) -> Result<ClientConfig, ConnectError> {
    let mut roots = RootCertStore::empty();
    if url.scheme() == "https" {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
            let found = CertificateDer::pem_file_iter(file).into_iter().flatten().flatten();
            roots.add_parsable_certificates(found);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(ConnectError::Tls)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_may_end_as_it_likes() {
        for (given, sent) in [
            ("http://h:1", "http://h:1/v1/chat/completions"),
            ("http://h:1/", "http://h:1/v1/chat/completions"),
            ("http://h/v1", "http://h/v1/chat/completions"),
            ("http://h/v1/", "http://h/v1/chat/completions"),
            ("http://h/api/paas/v4", "http://h/api/paas/v4/chat/completions"),
            ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
            ("https://h/x?api-version=1", "https://h/x/chat/completions?api-version=1"),
        ] {
            assert_eq!(completions_url(given).unwrap().as_str(), sent);
        }
        assert!(completions_url("h:1/v1").is_err());
        assert!(completions_url("file:///etc").is_err());
        assert!(matches!(completions_url("http://me:pw@h/v1"), Err(ConnectError::KeyInUrl)));
    }

    #[test]
    fn loopback_is_recognised_in_all_its_spellings() {
        for (url, expected) in [
            ("http://localhost:1", true),
            ("http://127.0.0.2", true),
            ("http://[::1]:8", true),
            ("http://10.0.0.1", false),
            ("http://example.com", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
