//! `internet_search`: what a search service finds, the first few with title, summary and link.
//!
//! ```text
//!   query ──► provider: request ──► page ──► hits ──clean, bounded──► observation
//!                          └─ network, http, blocked, parse, no results ─┘  the model hears which
//! ```
//!
//! A provider owns its request, its time and its reading of the answer; the tool knows none of it.
//! A query goes to the provider's hosts and to no other; `tools.http_allow` is for `http_get`.
//!
//! Deliberately absent: reading the pages that were found, keys and accounts, more than one page.

mod bing;
mod duckduckgo;
mod fetch;
mod html;
mod searxng;
mod text;
mod token;

pub(crate) use text::{decoded, is_hidden, spaced};
pub(crate) use token::{HtmlToken, HtmlTokens};

use crate::clip;
use crate::http::canceled;
use crate::request::is_passing;
use bing::Bing;
use duckduckgo::DuckDuckGo;
use everloop_ports::{BoxFuture, CallContext, Tool, ToolReturn, TransientToolError};
use everloop_types::{
    Approval, DataFlow, EffectClass, Handling, Labels, Observation, OnUnknown, SendTarget,
};
use fetch::SearchFetch;
use reqwest::Url;
use schemars::JsonSchema;
use searxng::Searxng;
use serde::Deserialize;
use std::fmt;
use std::sync::Arc;

/// How long a search may take to stop: it is simply dropped.
const GRACE_MS: u64 = 100;

const QUERY_CHARS_MAX: usize = 400;
const TITLE_CHARS_MAX: usize = 200;
const SUMMARY_CHARS_MAX: usize = 500;

/// A truncated link does not work, so a hit with a longer one is skipped.
const LINK_BYTES_MAX: usize = 2_000;

/// Something that was found, as plain bounded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// What it is called.
    pub title: String,
    /// What it says, in short; may be empty.
    pub summary: String,
    /// Where it is, with http or https.
    pub link: String,
}

/// Why a search found nothing that can be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// No connection, or one that broke off.
    #[error("network: {0}")]
    Network(String),
    /// No answer in time.
    #[error("time-out: {host} did not answer within {timeout_ms} ms")]
    TimedOut {
        /// Who was asked.
        host: String,
        /// How long was waited.
        timeout_ms: u64,
    },
    /// The service answered with another status than success.
    #[error("http: {host} answered with status {status}")]
    Status {
        /// Who answered.
        host: String,
        /// The status.
        status: u16,
        /// How long it asks us to wait.
        retry_after_ms: Option<u64>,
    },
    /// The service wants proof of a person.
    #[error("blocked: {host} wants proof of a person; another search.provider may answer")]
    Blocked {
        /// Who answered.
        host: String,
    },
    /// A redirect named a host that may not be called, or no valid address.
    #[error("refused: {0}")]
    Refused(String),
    /// The answer is not in the form that the service is known for.
    #[error("parse: {0}")]
    Parse(String),
    /// The service found nothing.
    #[error("no results")]
    NoResults,
}

impl SearchError {
    /// Whether the same search may succeed in a moment.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Network(_) | Self::TimedOut { .. } => true,
            Self::Status { status, .. } => is_passing(*status),
            _ => false,
        }
    }

    /// How long the service asks us to wait before we come again.
    #[must_use]
    pub fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::Status { retry_after_ms, .. } => *retry_after_ms,
            _ => None,
        }
    }
}

/// A search service: its request, its time and its reading of the answer.
pub trait SearchProvider: Send + Sync {
    /// The service's name, for the model.
    fn name(&self) -> &str;

    /// The first `top_k` hits; never an empty list.
    fn search<'a>(
        &'a self,
        query: &'a str,
        top_k: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>>;
}

/// The services that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchService {
    /// Bing's page of results.
    Bing,
    /// DuckDuckGo's page of results without scripts.
    DuckDuckGo,
    /// A SearXNG server's answer in JSON.
    Searxng,
}

impl SearchService {
    /// The service of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "bing" => Some(Self::Bing),
            "duckduckgo" => Some(Self::DuckDuckGo),
            "searxng" => Some(Self::Searxng),
            _ => None,
        }
    }
}

/// Where and how to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchSetting {
    /// The service.
    pub service: SearchService,
    /// Its address, if it is not the usual one; it may be in the local network. SearXNG has no
    /// usual one.
    pub base_url: String,
    /// How long a search may take.
    pub timeout_ms: u64,
    /// How many hits the model is shown.
    pub top_k: usize,
}

impl SearchSetting {
    fn provider(&self) -> Arc<dyn SearchProvider> {
        let fetch =
            |usual, hosts: &[&str]| SearchFetch::new(&self.base_url, usual, hosts, self.timeout_ms);
        match self.service {
            SearchService::Bing => Arc::new(Bing(fetch(bing::USUAL, &bing::HOSTS))),
            SearchService::DuckDuckGo => {
                Arc::new(DuckDuckGo(fetch(duckduckgo::USUAL, &duckduckgo::HOSTS)))
            }
            SearchService::Searxng => Arc::new(Searxng(fetch("", &[]))),
        }
    }
}

/// The arguments of `internet_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InternetSearchArgs {
    /// A few words.
    pub query: String,
}

/// Searches the internet.
pub struct InternetSearch {
    provider: Arc<dyn SearchProvider>,
    top_k: usize,
    timeout_ms: u64,
    description: String,
}

impl fmt::Debug for InternetSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InternetSearch({}, {})", self.provider.name(), self.top_k)
    }
}

impl InternetSearch {
    /// With one of the known services.
    #[must_use]
    pub fn new(setting: &SearchSetting) -> Self {
        Self::with(setting.provider(), setting.top_k, setting.timeout_ms)
    }

    /// With any provider.
    #[must_use]
    pub fn with(provider: Arc<dyn SearchProvider>, top_k: usize, timeout_ms: u64) -> Self {
        let description = format!(
            "Search the internet with {}: title, summary and link of the first {top_k} results.",
            provider.name()
        );
        Self { provider, top_k, timeout_ms, description }
    }
}

impl Tool for InternetSearch {
    const NAME: &'static str = "internet_search";
    type Args = InternetSearchArgs;

    fn description(&self) -> &str {
        &self.description
    }

    fn handling(&self) -> Handling {
        let service = self.provider.name().to_owned();
        Handling {
            class: EffectClass::Pure,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: self.timeout_ms,
            grace_ms: GRACE_MS,
            retries: 3,
            // The words that are searched for go out, too.
            flow: Some(DataFlow::brings(Labels::UNTRUSTED).sends(SendTarget::To(service))),
            ..Handling::default()
        }
    }

    fn text_arg() -> Option<&'static str> {
        Some("query")
    }

    async fn call(&self, args: InternetSearchArgs, context: &CallContext) -> ToolReturn {
        let query = text::spaced(&args.query);
        if query.is_empty() || query.chars().count() > QUERY_CHARS_MAX {
            let words = format!("the query must have 1 to {QUERY_CHARS_MAX} characters");
            return ToolReturn::Seen(Observation::error(words));
        }
        let found = tokio::select! {
            found = self.provider.search(&query, self.top_k) => found,
            () = context.cancel.cancelled() => return canceled(),
        };
        let words = |error: SearchError| format!("search failed: {error}");
        match found {
            Ok(hits) => {
                let text = shown(&hits, self.top_k);
                ToolReturn::Seen(Observation::ok(clip::head(&text, context.observation_chars)))
            }
            Err(error) if error.is_transient() => {
                let retry_after_ms = error.retry_after_ms();
                ToolReturn::Passing(TransientToolError {
                    seen: Observation::error(words(error)),
                    retry_after_ms,
                })
            }
            Err(error) => ToolReturn::Seen(Observation::error(words(error))),
        }
    }
}

/// The hits as the model sees them.
fn shown(hits: &[Hit], top_k: usize) -> String {
    let one = |(n, hit): (usize, &Hit)| {
        let lines = [&hit.title, &hit.summary, &hit.link];
        let lines = lines.into_iter().filter(|line| !line.is_empty());
        format!("{}. {}", n + 1, lines.map(String::as_str).collect::<Vec<_>>().join("\n"))
    };
    hits.iter().take(top_k).enumerate().map(one).collect::<Vec<_>>().join("\n\n")
}

impl Hit {
    /// Of clean texts; nothing if there is no title, or no address that a browser could open.
    fn of(title: String, summary: String, link: &Url) -> Option<Self> {
        let web = matches!(link.scheme(), "http" | "https") && link.host_str().is_some();
        if title.is_empty() || !web || link.as_str().len() > LINK_BYTES_MAX {
            return None;
        }
        Some(Self {
            title: text::short(title, TITLE_CHARS_MAX),
            summary: text::short(summary, SUMMARY_CHARS_MAX),
            link: link.to_string(),
        })
    }
}

/// The first hits, each address once.
fn first(hits: impl Iterator<Item = Hit>, top_k: usize) -> Vec<Hit> {
    let mut first: Vec<Hit> = Vec::new();
    for hit in hits {
        if first.len() == top_k {
            break;
        }
        if !first.iter().any(|known| known.link == hit.link) {
            first.push(hit);
        }
    }
    first
}
