//! One request over HTTP, with its time-outs. The only retry is for a pooled connection that the
//! server had closed; all others belong to the engine.

mod address;

use crate::request_log;
use crate::wire::{EventReader, StreamDecoder, WireFault, refusal, within};
use crate::{Endpoint, ModelConnectError, Secret, Timeouts};
use everloop_ports::Delta;
use everloop_ports::http::{retry_after_ms, tls_config};
use everloop_types::{ModelError, ModelErrorKind, Reply};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Request, Response, Url};
use std::error::Error as _;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Most bytes of an error's body that are read.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// How long the end of a finished stream is waited for, so that its connection can be used again.
const TAIL_MS: u64 = 20;

/// Connections kept per endpoint.
const IDLE_CONNECTIONS_MAX: usize = 256;

/// What a person reads where a reply stopped in its middle; the network's own words are in the log.
const CONNECTION_CUT: &str = "the connection broke off";

/// What requests to a provider have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndpointSpec {
    /// The address where the settings have none; empty if there is no usual one.
    pub(crate) usual_url: &'static str,
    /// The part of the path that may be omitted.
    pub(crate) version: &'static str,
    /// What is called below that, so that an address may be given whole.
    pub(crate) call: &'static str,
    /// The header that takes the bare key; empty for a bearer token.
    pub(crate) key_header: &'static str,
    /// A header that each request carries.
    pub(crate) header: Option<(&'static str, &'static str)>,
}

/// An endpoint and its connections.
pub(crate) struct ProviderClient {
    http: reqwest::Client,
    base: Url,
    api_key: Option<Secret>,
    timeouts: Timeouts,
    reply_bytes_max: usize,
    /// Whether there may be a kept connection.
    has_answered: AtomicBool,
}

/// Shows host and port only: the query of an address may contain a key.
impl fmt::Debug for ProviderClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProviderClient")
            .field(&self.base.host_str())
            .field(&self.base.port())
            .finish()
    }
}

impl ProviderClient {
    pub(crate) fn new(spec: EndpointSpec, endpoint: Endpoint) -> Result<Self, ModelConnectError> {
        let Endpoint { base_url, api_key, timeouts, reply_bytes_max, .. } = endpoint;
        let given = match base_url.as_str() {
            "" => spec.usual_url,
            url => url,
        };
        let base = address::base(given, spec.version, spec.call)?;
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("everloop/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(spec, api_key.as_ref())?)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_millis(timeouts.connect_ms))
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .tls_backend_preconfigured(tls_config(base.scheme()).map_err(ModelConnectError::Tls)?);
        if address::is_loopback(&base) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(ModelConnectError::Client)?;
        let has_answered = AtomicBool::new(false);
        Ok(Self { http, base, api_key, timeouts, reply_bytes_max, has_answered })
    }

    /// The host of the endpoint.
    pub(crate) fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// Gets the whole body at a path below the base address: the list of models.
    pub(crate) async fn get(&self, call: &str) -> Result<Vec<u8>, ModelError> {
        let url = address::below(&self.base, call);
        let patience = Duration::from_millis(self.timeouts.total_ms);
        let asked = self.http.get(url).timeout(patience).send().await;
        let mut response = asked.map_err(|error| self.unsent(error))?;
        if !response.status().is_success() {
            let mut error = read_refusal(response, &CallDeadlines::start(self.timeouts)).await;
            self.scrub(&mut error);
            return Err(error);
        }
        let failed = |error: reqwest::Error| {
            let kind = match error.is_timeout() {
                true => ModelErrorKind::TimedOut,
                false => ModelErrorKind::Cut,
            };
            ModelError::new(kind, words(error))
        };
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
    pub(crate) async fn post<R: EventReader>(
        &self,
        call: &str,
        body: Vec<u8>,
        on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, WireFault> {
        self.exchange::<R>(call, body, on_delta).await.map_err(|mut error| {
            self.scrub(&mut error);
            WireFault::from(error)
        })
    }

    /// Some providers repeat the key they were sent.
    fn scrub(&self, error: &mut ModelError) {
        if let Some(key) = &self.api_key {
            key.scrub(&mut error.detail);
        }
    }

    async fn exchange<R: EventReader>(
        &self,
        call: &str,
        body: Vec<u8>,
        on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let clock = CallDeadlines::start(self.timeouts);
        let request = self.http.post(address::below(&self.base, call)).body(body).build();
        let request = request.map_err(|error| self.unsent(error))?;
        let again = request.try_clone().filter(|_| self.has_answered.load(Ordering::Relaxed));
        let response = match (self.send(request, &clock).await, again) {
            // The server had closed a pooled connection, and the client did not know yet.
            (Err(error), Some(again)) if error.kind == ModelErrorKind::Cut => {
                self.send(again, &clock).await?
            }
            (sent, _) => sent?,
        };
        self.has_answered.store(true, Ordering::Relaxed);
        request_log::log_status(response.status().as_u16());
        if response.status().is_success() {
            self.read::<R>(response, &clock, on_delta).await
        } else {
            Err(read_refusal(response, &clock).await)
        }
    }

    async fn send(&self, request: Request, clock: &CallDeadlines) -> Result<Response, ModelError> {
        match timeout_at(clock.first_byte, self.http.execute(request)).await {
            Ok(sent) => sent.map_err(|error| self.unsent(error)),
            Err(_) => Err(clock.late("no reply began")),
        }
    }

    async fn read<R: EventReader>(
        &self,
        mut response: Response,
        clock: &CallDeadlines,
        on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let mut decoder = StreamDecoder::<R>::new(self.reply_bytes_max);
        let mut deadline = clock.first_byte;
        let mut bytes = 0;
        let (mut events, mut said) = (decoder.events(), Instant::now());
        while !decoder.is_done() {
            match timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    bytes += chunk.len();
                    decoder.feed(&chunk, on_delta)?;
                }
                Ok(Ok(None)) => {
                    request_log::log_received(bytes);
                    return decoder.finish(on_delta);
                }
                Ok(Err(_)) | Err(_) if decoder.is_complete() => return decoder.finish(on_delta),
                Ok(Err(e)) => {
                    tracing::debug!(error = %words(e), "the connection broke off");
                    return Err(ModelError::new(ModelErrorKind::Cut, CONNECTION_CUT));
                }
                Err(_) => return Err(clock.late("the stream stood still")),
            }
            if std::mem::replace(&mut events, decoder.events()) != decoder.events() {
                said = Instant::now();
            }
            deadline = clock.next_chunk().min(clock.alive_until(said));
            if deadline == clock.total && Instant::now() >= clock.total {
                return Err(clock.late("the stream did not end"));
            }
        }
        let tail = Instant::now() + Duration::from_millis(TAIL_MS);
        while let Ok(Ok(Some(_))) = timeout_at(tail, response.chunk()).await {}
        request_log::log_received(bytes);
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
        let host = self.host();
        let port = self.base.port_or_known_default().unwrap_or_default();
        ModelError::new(kind, format!("{host}:{port}: {}", words(error)))
    }
}

/// When each part of a call has to be over.
struct CallDeadlines {
    first_byte: Instant,
    total: Instant,
    idle: Duration,
    /// How long a stream may consist of keep-alives only.
    alive: Duration,
}

impl CallDeadlines {
    fn start(timeouts: Timeouts) -> Self {
        let now = Instant::now();
        let total = now + Duration::from_millis(timeouts.total_ms);
        let first_byte = total.min(now + Duration::from_millis(timeouts.first_byte_ms));
        let idle = Duration::from_millis(timeouts.idle_ms);
        let alive = idle.max(Duration::from_millis(timeouts.first_byte_ms));
        Self { first_byte, total, idle, alive }
    }

    /// Until when keep-alives alone are accepted: the server may be working, or hang.
    fn alive_until(&self, said: Instant) -> Instant {
        said + self.alive
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

async fn read_refusal(mut response: Response, clock: &CallDeadlines) -> ModelError {
    let status = response.status().as_u16();
    let wait = retry_after_ms(response.headers());
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = timeout_at(clock.next_chunk(), response.chunk()).await {
        body.extend_from_slice(&chunk);
        if body.len() > ERROR_BYTES_MAX {
            break;
        }
    }
    let mut error = refusal(status, within(&body, ERROR_BYTES_MAX));
    error.retry_after_ms = wait.or(error.retry_after_ms);
    if let Some(to) = response.headers().get("location").and_then(|to| to.to_str().ok()) {
        error.detail.push_str(&format!("; the endpoint has moved to {to}"));
    }
    error
}

/// The text of the innermost cause; the outer layers only say that sending or reading failed. The
/// address is left out, as it may contain a password.
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

fn headers(spec: EndpointSpec, api_key: Option<&Secret>) -> Result<HeaderMap, ModelConnectError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if let Some((name, value)) = spec.header {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = api_key {
        let (name, words) = match spec.key_header {
            "" => (AUTHORIZATION, format!("Bearer {}", key.expose())),
            name => (HeaderName::from_static(name), key.expose().to_owned()),
        };
        let mut value = HeaderValue::from_str(&words).map_err(|_| ModelConnectError::BadKey)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}
