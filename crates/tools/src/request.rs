//! One HTTP request to an admitted host, and how much is known when it brings no answer.
//!
//! ```text
//!   admit ──► resolve and check ──► connect ──► send ──────────► answer
//!     └─ refused      └───── unsent ────┘          └─ cut: it may have been acted upon
//! ```
//!
//! Every request that a tool makes goes through here. Redirects are the caller's: each is a request
//! of its own, admitted and checked anew.
//!
//! Deliberately absent: retries (the engine's), cookies, proxies, credentials. What is
//! sent was shown to the person who approved it and is in the journal, so it holds no secret.

use crate::capture::Capture;
use crate::clean::clean;
use crate::clip;
use crate::hosts::{Hosts, NameResolver, ResolveError, places};
use everloop_ports::FROM_THE_WEB;
use everloop_ports::http::{retry_after_ms, tls_config};
use everloop_types::{Ending, Observation};
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Method, Response, Url};
use std::error::Error as _;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long a connection may take to come up.
const CONNECT_MS_MAX: u64 = 10_000;

/// Characters of the lines above a body.
const HEAD_CHARS_MAX: usize = 500;

/// The header by which the server recognises a repetition.
const KEY: &str = "idempotency-key";

/// What bounds requests.
#[derive(Debug, Clone, Default)]
pub struct Http {
    /// The hosts that may be called; none by default.
    pub hosts: Hosts,
    /// How long a request and its answer may take.
    pub timeout_ms: u64,
    /// Bytes of an answer that are kept, and of a body that are sent.
    pub bytes_max: usize,
    /// Resolves the names.
    pub names: NameResolver,
}

/// One request.
pub(crate) struct HttpRequest<'r> {
    pub(crate) method: Method,
    pub(crate) url: &'r str,
    /// Its type and bytes.
    pub(crate) body: Option<(&'r str, Vec<u8>)>,
    /// The same for each repetition.
    pub(crate) key: Option<&'r str>,
    /// Further headers; never of the model's choice.
    pub(crate) headers: &'r [(&'static str, &'r str)],
}

/// What came back.
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    head: String,
    location: Option<String>,
    content_type: String,
    /// How long the server asks us to wait before the next request.
    pub(crate) retry_after_ms: Option<u64>,
    body: Capture,
    read: BodyExtent,
}

/// How much of a body was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyExtent {
    /// All of it.
    Whole,
    /// As much as is kept of any.
    Beginning,
    /// What came before it broke off.
    Broken,
}

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// It may not be sent, now or later.
    Refused(String),
    /// It certainly was not sent; another time it may be.
    Unsent(String),
    /// It was sent, or may have been.
    Cut(String),
}

impl RequestError {
    pub(crate) fn words(self) -> String {
        match self {
            Self::Refused(words) | Self::Unsent(words) | Self::Cut(words) => words,
        }
    }
}

impl HttpRequest<'_> {
    pub(crate) fn get(url: &str) -> HttpRequest<'_> {
        HttpRequest { method: Method::GET, url, body: None, key: None, headers: &[] }
    }
}

impl Http {
    /// Sends a request and reads its answer, within the time of one request.
    pub(crate) async fn ask(&self, request: HttpRequest<'_>) -> Result<HttpReply, RequestError> {
        let until = Instant::now() + Duration::from_millis(self.timeout_ms);
        let url = self.hosts.admit(request.url).map_err(RequestError::Refused)?;
        if request.body.as_ref().is_some_and(|(_, body)| body.len() > self.bytes_max) {
            let words = format!("the body has more than {} bytes", self.bytes_max);
            return Err(RequestError::Refused(words));
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let places = match timeout_at(until, self.places(&url)).await {
            Ok(Ok(places)) => places,
            Ok(Err(ResolveError::Private(ip))) => {
                let words = format!("{host} leads to {ip}, which is not on the public network");
                return Err(RequestError::Refused(words));
            }
            Ok(Err(ResolveError::NotFound(why))) => {
                return Err(RequestError::Unsent(format!("{host} was not found: {why}")));
            }
            Err(_) => return Err(RequestError::Unsent(format!("{host} was not found in time"))),
        };
        let client = self.client(&url, &places).map_err(RequestError::Refused)?;
        match timeout_at(until, built(&client, url, request).send()).await {
            Ok(Ok(response)) => Ok(self.read(response, until).await),
            Ok(Err(error)) if error.is_builder() => Err(RequestError::Refused(words(error))),
            Ok(Err(error)) if error.is_connect() => {
                Err(RequestError::Unsent(format!("{host}: {}", words(error))))
            }
            Ok(Err(error)) => Err(RequestError::Cut(format!("{host}: {}", words(error)))),
            Err(_) => Err(RequestError::Cut(format!("{host} did not answer in time"))),
        }
    }

    async fn places(&self, url: &Url) -> Result<Vec<SocketAddr>, ResolveError> {
        places(url, self.hosts.reach(url), &self.names).await
    }

    /// The same with the time that is left until then. Rounded up: a request that ran out of time
    /// must find that the moment has passed.
    pub(crate) fn until(&self, until: Instant) -> Self {
        let left = until.saturating_duration_since(Instant::now()).as_millis();
        let timeout_ms = u64::try_from(left).unwrap_or(u64::MAX).saturating_add(1);
        Self { timeout_ms, ..self.clone() }
    }

    /// A client for one request: no connection that is kept, so none that has gone stale.
    fn client(&self, url: &Url, places: &[SocketAddr]) -> Result<Client, String> {
        let connect_ms = CONNECT_MS_MAX.min(self.timeout_ms / 2);
        let builder = Client::builder()
            .user_agent(concat!("everloop/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .connect_timeout(Duration::from_millis(connect_ms))
            .pool_max_idle_per_host(0)
            .dns_resolver(NoLookup)
            .resolve_to_addrs(url.host_str().unwrap_or_default(), places)
            .tls_backend_preconfigured(
                tls_config(url.scheme()).map_err(|error| error.to_string())?,
            );
        builder.build().map_err(words)
    }

    /// Once there is a status the server has decided; an incomplete body is marked as such.
    async fn read(&self, mut response: Response, until: Instant) -> HttpReply {
        let mut head = head(&response);
        let mut body = Capture::new(self.bytes_max, None);
        let mut left = self.bytes_max;
        let read = loop {
            match timeout_at(until, response.chunk()).await {
                Ok(Ok(Some(chunk))) if chunk.len() <= left => {
                    left -= chunk.len();
                    body.push(&chunk);
                }
                Ok(Ok(Some(chunk))) => {
                    body.push(&chunk[..left]);
                    head.push_str("[only the beginning of the body was read]\n");
                    break BodyExtent::Beginning;
                }
                Ok(Ok(None)) => break BodyExtent::Whole,
                Ok(Err(_)) | Err(_) => {
                    head.push_str("[the body broke off]\n");
                    break BodyExtent::Broken;
                }
            }
        };
        let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        let location = location.map(str::to_owned);
        let content_type = shown(response.headers(), &CONTENT_TYPE).unwrap_or_default();
        let retry_after_ms = retry_after_ms(response.headers());
        let status = response.status().as_u16();
        HttpReply { status, head, location, content_type, retry_after_ms, body, read }
    }
}

/// Refuses to resolve: the names were resolved and checked already.
struct NoLookup;

impl reqwest::dns::Resolve for NoLookup {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let words = format!("{} was not looked up before", name.as_str());
        Box::pin(std::future::ready(Err(words.into())))
    }
}

impl HttpReply {
    /// The answer as the model sees it; `note` is one more line above the body.
    pub(crate) fn observed(self, note: &str, chars_max: usize) -> Observation {
        let ending = if self.is_success() { Ending::Ok } else { Ending::Error };
        let note = if note.is_empty() { String::new() } else { format!("[{note}]\n") };
        let mark = if self.body.is_empty() { "" } else { FROM_THE_WEB };
        let head = clip::head(&format!("{}{note}{mark}", self.head), chars_max);
        let room = chars_max.saturating_sub(head.chars().count() + 1);
        let text = match self.body.is_empty() || room == 0 {
            true => head.trim_end().to_owned(),
            false => format!("{head}\n{}", self.body.text(room)),
        };
        Observation { ending, text }
    }

    /// The address of a redirect.
    pub(crate) fn redirect(&self, from: &Url) -> Option<Result<Url, String>> {
        let moved = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        let to = self.location.as_deref().filter(|_| moved)?;
        Some(match from.join(to) {
            Ok(next) if from.scheme() == "https" && next.scheme() != "https" => {
                Err("a redirect leads from https to http".to_owned())
            }
            next => next.map_err(|error| format!("a redirect leads nowhere: {error}")),
        })
    }

    /// The content type of the body.
    pub(crate) fn content_type(&self) -> &str {
        &self.content_type
    }

    /// The status in words.
    pub(crate) fn status_line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// The body as it came, and how much of it that is.
    pub(crate) fn into_bytes(self) -> (Vec<u8>, BodyExtent) {
        (self.body.bytes(), self.read)
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the same request may be answered otherwise in a moment.
    pub(crate) fn may_pass(&self) -> bool {
        is_passing(self.status)
    }
}

/// Whether a status says that the same request may be answered otherwise in a moment.
pub(crate) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

fn built(client: &Client, url: Url, request: HttpRequest<'_>) -> reqwest::RequestBuilder {
    let mut building = client.request(request.method, url);
    for (name, value) in request.headers {
        building = building.header(*name, *value);
    }
    if let Some(key) = request.key {
        building = building.header(KEY, key);
    }
    match request.body {
        Some((kind, body)) => building.header(CONTENT_TYPE, kind).body(body),
        None => building,
    }
}

/// The status, and the two headers that tell what the body is or where it went.
fn head(response: &Response) -> String {
    let status = response.status();
    let mut head = format!("HTTP {}", status.as_u16());
    if let Some(reason) = status.canonical_reason() {
        head.push_str(&format!(" {reason}"));
    }
    head.push('\n');
    for name in [CONTENT_TYPE, LOCATION] {
        if let Some(value) = shown(response.headers(), &name) {
            head.push_str(&format!("{name}: {value}\n"));
        }
    }
    head
}

fn shown(headers: &HeaderMap, name: &reqwest::header::HeaderName) -> Option<String> {
    let value = clean(headers.get(name)?.as_bytes());
    Some(value.chars().take(HEAD_CHARS_MAX / 2).collect())
}

/// The innermost cause in its own words, without the address.
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
