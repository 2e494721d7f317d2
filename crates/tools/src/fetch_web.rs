//! `fetch_web`: a page of the public network as text that can be read.
//!
//! ```text
//!   ask ──► redirect: admitted and checked anew ──► text? ──► characters ──► what is worth reading
//! ```
//!
//! It changes nothing, so no approval is needed. But an address can carry data out of a run, and
//! the content of a page is untrusted.
//!
//! Deliberately absent: scripts, cookies, forms, pages that want a name, images.

mod readable;

use crate::access::closes_redirect;
use crate::hosts::{HostAddress, Hosts, NameResolver};
use crate::http::canceled;
use crate::request::{BodyExtent, Http, HttpReply, HttpRequest, RequestError};
use crate::{clean, clip};
use everloop_ports::{
    AccessRules, CallContext, FROM_THE_WEB, Tool, ToolReturn, TransientToolError,
};
use everloop_types::{
    Approval, DataFlow, EffectClass, Handling, Labels, Observation, OnUnknown, SendTarget,
};
use readable::{BodyKind, ReadableText};
use reqwest::Url;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tokio::time::Instant;

/// Redirects that are followed.
const REDIRECTS_MAX: usize = 5;

/// How long a request may take to stop: it is simply dropped.
const GRACE_MS: u64 = 100;

/// Characters of an address.
const URL_CHARS_MAX: usize = 2_000;

const HEADERS: [(&str, &str); 2] = [
    ("accept", "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.8,*/*;q=0.1"),
    ("accept-language", "zh-CN,zh;q=0.9,en;q=0.8"),
];

/// What bounds the reading of pages.
#[derive(Debug, Clone, Default)]
pub struct WebSetting {
    /// Hosts that may be in this machine or its network; all others must be public.
    pub near: Vec<HostAddress>,
    /// How long a page and its redirects may take.
    pub timeout_ms: u64,
    /// Bytes of a page that are read.
    pub bytes_max: usize,
    /// Resolves the names.
    pub names: NameResolver,
}

/// The arguments of `fetch_web`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchWebArgs {
    /// The address.
    pub url: String,
    /// Characters to skip.
    #[serde(default)]
    pub start: Option<usize>,
}

/// Reads pages.
#[derive(Debug)]
pub struct FetchWeb {
    http: Http,
    /// Whether hosts of this machine or its network are allowed.
    reads_near: bool,
}

impl FetchWeb {
    /// With these bounds.
    #[must_use]
    pub fn new(setting: &WebSetting) -> Self {
        let hosts = Hosts::public(setting.near.iter().cloned());
        let WebSetting { timeout_ms, bytes_max, names, .. } = setting.clone();
        let reads_near = !setting.near.is_empty();
        Self { http: Http { hosts, timeout_ms, bytes_max, names }, reads_near }
    }
}

impl Tool for FetchWeb {
    const NAME: &'static str = "fetch_web";
    type Args = FetchWebArgs;

    fn description(&self) -> &'static str {
        "Read a public web page as Markdown."
    }

    fn handling(&self) -> Handling {
        // What a host in this network says is not for everybody.
        let brings = if self.reads_near { Labels::ALL } else { Labels::UNTRUSTED };
        Handling {
            class: EffectClass::Pure,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: self.http.timeout_ms,
            grace_ms: GRACE_MS,
            retries: 3,
            flow: Some(DataFlow::brings(brings).sends(SendTarget::Arg("url".to_owned()))),
            ..Handling::default()
        }
    }

    fn text_arg() -> Option<&'static str> {
        Some("url")
    }

    async fn call(&self, args: FetchWebArgs, context: &CallContext) -> ToolReturn {
        let page = tokio::select! {
            page = self.page(&args.url, &context.bars) => page,
            () = context.cancel.cancelled() => return canceled(),
        };
        match page {
            Ok(page) => {
                ToolReturn::Seen(page.shown(args.start.unwrap_or(0), context.observation_chars))
            }
            Err(PageError::Refused(words)) => ToolReturn::Seen(Observation::denied(words)),
            Err(PageError::Passing(words, retry_after_ms)) => {
                ToolReturn::Passing(TransientToolError {
                    seen: Observation::error(words),
                    retry_after_ms,
                })
            }
            Err(PageError::Unreadable(words)) => ToolReturn::Seen(Observation::error(words)),
        }
    }
}

/// A page that was read, and where in the end.
struct FetchedPage {
    url: Url,
    readable: ReadableText,
    read: BodyExtent,
}

/// Why there is no page.
enum PageError {
    /// It may not be asked for.
    Refused(String),
    /// Another time it may be there; how long the site asks us to wait.
    Passing(String, Option<u64>),
    /// There is something else.
    Unreadable(String),
}

impl From<RequestError> for PageError {
    fn from(none: RequestError) -> Self {
        match none {
            RequestError::Refused(words) => Self::Refused(words),
            // Reading twice changes nothing, so it does not matter whether it was sent.
            RequestError::Unsent(words) | RequestError::Cut(words) => Self::Passing(words, None),
        }
    }
}

impl FetchWeb {
    async fn page(&self, address: &str, bars: &AccessRules) -> Result<FetchedPage, PageError> {
        if address.chars().count() > URL_CHARS_MAX {
            let words = format!("the address has more than {URL_CHARS_MAX} characters");
            return Err(PageError::Refused(words));
        }
        let until = Instant::now() + Duration::from_millis(self.http.timeout_ms);
        let admitted = self.http.hosts.admit(address);
        let mut url = admitted.map_err(PageError::Refused)?;
        for _ in 0..=REDIRECTS_MAX {
            let request = HttpRequest { headers: &HEADERS, ..HttpRequest::get(url.as_str()) };
            let answer = self.http.until(until).ask(request).await?;
            match answer.redirect(&url) {
                None => return read(url, answer).await,
                Some(next) => {
                    let next = next.map_err(PageError::Refused)?;
                    if let Some(words) = closes_redirect(bars, &url, &next) {
                        return Err(PageError::Refused(words));
                    }
                    url = next;
                }
            }
        }
        Err(PageError::Refused(format!("more than {REDIRECTS_MAX} redirects")))
    }
}

async fn read(url: Url, answer: HttpReply) -> Result<FetchedPage, PageError> {
    if !answer.is_success() {
        let words = format!("{url}: {}", answer.status_line());
        return Err(match answer.may_pass() {
            true => PageError::Passing(words, answer.retry_after_ms),
            false => PageError::Unreadable(words),
        });
    }
    let content_type = answer.content_type().to_lowercase();
    let Some(kind) = BodyKind::of(&content_type) else {
        let words = format!("{url} is {content_type}, which is no text");
        return Err(PageError::Unreadable(words));
    };
    let (bytes, read) = answer.into_bytes();
    let address = url.to_string();
    let work = move || ReadableText::of(&bytes, kind, &content_type, &address);
    match tokio::task::spawn_blocking(work).await {
        Ok(Some(readable)) => Ok(FetchedPage { url, readable, read }),
        Ok(None) => Err(PageError::Unreadable(format!("{url} is binary, not text"))),
        Err(error) => Err(PageError::Unreadable(format!("the page cannot be read: {error}"))),
    }
}

impl FetchedPage {
    fn shown(self, start: usize, chars_max: usize) -> Observation {
        let Self { url, readable, read } = self;
        let total = readable.text.chars().count();
        let mut head = vec![readable.title, url.to_string(), FROM_THE_WEB.to_owned()];
        head.extend((start > 0).then(|| format!("[from character {start} of {total}]")));
        head.extend(match read {
            BodyExtent::Whole => None,
            BodyExtent::Beginning => Some("[only the beginning of the page was read]".to_owned()),
            BodyExtent::Broken => Some("[the page broke off]".to_owned()),
        });
        head.retain(|line| !line.is_empty());
        let text: String = readable.text.chars().skip(start).collect();
        let text = if text.is_empty() { "[no text]".to_owned() } else { text };
        let head = head.join("\n");
        let room = chars_max.saturating_sub(head.chars().count() + 2);
        let text = clip::head(&clean(text.as_bytes()), room);
        Observation::ok(clip::head(&format!("{head}\n\n{text}"), chars_max))
    }
}
