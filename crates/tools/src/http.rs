//! `http_get` and `http_send`: requests to hosts that the person has named.
//!
//! ```text
//!   before: GET probe_url ──► send, with the effect's key ──► probe: GET probe_url again
//!     absent, then there ──► happened     absent, still absent ──► did not (PUT, DELETE)
//!     else ──► unknown
//! ```
//!
//! The server may still be processing a request when the probe runs. So for POST and PATCH, which
//! must not arrive twice, a probe never says that they did not happen; PUT and DELETE may be
//! repeated.
//!
//! Where hosts honour keys (`key_lifetime_ms`), a request that was cut short is sent again with the
//! same key. Elsewhere only a probe, or the person, can tell whether it was acted upon.
//!
//! Deliberately absent: headers of the model's choice, and so every credential.

use crate::request::{Http, HttpReply, HttpRequest, RequestError};
use everloop_ports::{
    CallContext, CallPolicy, Intent, Probe, Tool, ToolReturn, TransientToolError,
};
use everloop_types::{
    Approval, DataFlow, EffectClass, Ending, Handling, Labels, Observation, OnUnknown, SendTarget,
    host_of,
};
use reqwest::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a request may take to stop: it is simply dropped.
const GRACE_MS: u64 = 100;

/// What an observation says that was made by a probe.
const FOUND: &str = "read from probe_url after a crash";

/// Why a probe that finds nothing proves nothing.
const STILL_ABSENT: &str = "still absent, but the other side may still be at it";

/// The arguments of `http_get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpGetArgs {
    /// With http:// or https://. Redirects are shown, not followed.
    pub url: String,
}

/// Reads from an address.
#[derive(Debug)]
pub struct HttpGet {
    http: Http,
    description: String,
}

impl HttpGet {
    /// For these hosts.
    #[must_use]
    pub fn new(http: Http) -> Self {
        let hosts = &http.hosts;
        let description =
            format!("Read an address over HTTP: its status and its body. Hosts: {hosts}.");
        Self { http, description }
    }
}

/// What comes back is anybody's, and an address alone can carry something out.
fn by_address() -> DataFlow {
    DataFlow::brings(Labels::UNTRUSTED).sends(SendTarget::Arg("url".to_owned()))
}

impl Tool for HttpGet {
    const NAME: &'static str = "http_get";
    type Args = HttpGetArgs;

    fn description(&self) -> &str {
        &self.description
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Pure,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: self.http.timeout_ms,
            grace_ms: GRACE_MS,
            retries: 3,
            // A model that waits for something to change asks for its address again and again.
            polls: true,
            flow: Some(by_address()),
            ..Handling::default()
        }
    }

    fn text_arg() -> Option<&'static str> {
        Some("url")
    }

    async fn call(&self, args: HttpGetArgs, context: &CallContext) -> ToolReturn {
        let answer = tokio::select! {
            answer = self.http.ask(HttpRequest::get(&args.url)) => answer,
            () = context.cancel.cancelled() => return canceled(),
        };
        match answer {
            Ok(answer) => {
                let (may_pass, retry_after_ms) = (answer.may_pass(), answer.retry_after_ms);
                let seen = answer.observed("", context.observation_chars);
                match may_pass {
                    true => ToolReturn::Passing(TransientToolError { seen, retry_after_ms }),
                    false => ToolReturn::Seen(seen),
                }
            }
            Err(RequestError::Refused(words)) => ToolReturn::Seen(Observation::denied(words)),
            // Reading twice changes nothing, so it does not matter whether it was sent.
            Err(RequestError::Unsent(words) | RequestError::Cut(words)) => {
                ToolReturn::passing(words)
            }
        }
    }
}

/// What changes something.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "a description of each one would turn the schema into variants")]
pub enum SendMethod {
    Post,
    Put,
    Patch,
    Delete,
}

/// The arguments of `http_send`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpSendArgs {
    /// The method.
    pub method: SendMethod,
    /// With http:// or https://. Redirects are shown, not followed.
    pub url: String,
    /// The body.
    #[serde(default)]
    pub body: Option<String>,
    /// application/json without it.
    #[serde(default)]
    pub content_type: Option<String>,
    /// An address that answers 404 before and 2xx after the request was acted upon (for DELETE the
    /// other way round): it tells after a crash.
    #[serde(default)]
    pub probe_url: Option<String>,
}

/// Sends something to an address.
#[derive(Debug)]
pub struct HttpSend {
    http: Http,
    key_lifetime_ms: u64,
    description: String,
}

/// What an address shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shows {
    /// 2xx.
    There,
    /// 404 or 410.
    Absent,
    /// Anything else, or it was not checked.
    Unclear,
}

impl HttpSend {
    /// For these hosts, which honour keys for so long; 0 if they honour none.
    #[must_use]
    pub fn new(http: Http, key_lifetime_ms: u64) -> Self {
        let hosts = &http.hosts;
        let description = format!(
            "Send a request that changes something over HTTP, with an Idempotency-Key of its own. \
             Give probe_url wherever the result has an address. Hosts: {hosts}."
        );
        Self { http, key_lifetime_ms, description }
    }

    async fn send(&self, args: &HttpSendArgs, key: &str) -> Result<HttpReply, RequestError> {
        let kind = args.content_type.as_deref().unwrap_or("application/json");
        let method = match args.method {
            SendMethod::Post => Method::POST,
            SendMethod::Put => Method::PUT,
            SendMethod::Patch => Method::PATCH,
            SendMethod::Delete => Method::DELETE,
        };
        let body = args.body.as_ref().map(|body| (kind, body.clone().into_bytes()));
        self.http
            .ask(HttpRequest { method, body, key: Some(key), ..HttpRequest::get(&args.url) })
            .await
    }
}

impl Tool for HttpSend {
    const NAME: &'static str = "http_send";
    type Args = HttpSendArgs;

    fn description(&self) -> &str {
        &self.description
    }

    fn handling(&self) -> Handling {
        let keyed = self.key_lifetime_ms > 0;
        Handling {
            class: if keyed { EffectClass::Keyed } else { EffectClass::Probeable },
            approval: Approval::Ask,
            on_unknown: OnUnknown::AskUser,
            timeout_ms: self.http.timeout_ms,
            grace_ms: GRACE_MS,
            key_lifetime_ms: keyed.then_some(self.key_lifetime_ms),
            resource_arg: Some("url".to_owned()),
            // Only for a request that certainly never left, or that its key makes harmless.
            retries: 3,
            flow: Some(by_address()),
            ..Handling::default()
        }
    }

    /// Rules, approvals and labels check `url` only, so no other argument may name another host.
    async fn judge(&self, args: &HttpSendArgs) -> CallPolicy {
        match probes_elsewhere(args) {
            true => CallPolicy::Deny(ELSEWHERE.to_owned()),
            false => CallPolicy::Default,
        }
    }

    async fn call(&self, args: HttpSendArgs, context: &CallContext) -> ToolReturn {
        if context.cancel.is_cancelled() {
            return canceled();
        }
        if probes_elsewhere(&args) {
            return ToolReturn::Seen(Observation::denied(ELSEWHERE));
        }
        let answer = tokio::select! {
            answer = self.send(&args, &context.idem_key) => answer,
            () = context.cancel.cancelled() => {
                return ToolReturn::Lost("stopped after it may have been sent".to_owned());
            }
        };
        match answer {
            Ok(answer) => ToolReturn::Seen(answer.observed("", context.observation_chars)),
            Err(RequestError::Refused(words)) => ToolReturn::Seen(Observation::denied(words)),
            Err(RequestError::Unsent(words)) => ToolReturn::passing(words),
            Err(RequestError::Cut(words)) => ToolReturn::Lost(words),
        }
    }

    /// Something that was there before proves nothing by being there afterwards.
    async fn before(&self, args: &HttpSendArgs, _: Option<&everloop_types::RunId>) -> Value {
        let Some(url) = args.probe_url.as_ref().filter(|_| !probes_elsewhere(args)) else {
            return Value::Null;
        };
        let shows = match self.http.ask(HttpRequest::get(url)).await {
            Ok(answer) => shows(&answer),
            Err(_) => Shows::Unclear,
        };
        serde_json::to_value(shows).unwrap_or_default()
    }

    async fn probe(&self, args: HttpSendArgs, intent: &Intent) -> Probe {
        let Some(url) = args.probe_url.as_ref().filter(|_| !probes_elsewhere(&args)) else {
            return Probe::unknown("the call had no probe_url that may be asked");
        };
        let was = serde_json::from_value(intent.before.clone()).unwrap_or(Shows::Unclear);
        let answer = match self.http.ask(HttpRequest::get(url)).await {
            Ok(answer) => answer,
            Err(error) => return Probe::Unknown(error.words()),
        };
        let (start, goal) = match args.method {
            SendMethod::Delete => (Shows::There, Shows::Absent),
            _ => (Shows::Absent, Shows::There),
        };
        match (was, shows(&answer)) {
            (was, is) if was == start && is == goal => {
                let text = answer.observed(FOUND, intent.observation_chars).text;
                Probe::Happened(Observation::ok(text))
            }
            (was, is) if was == start && is == start => match args.method {
                SendMethod::Put | SendMethod::Delete => Probe::DidNot,
                SendMethod::Post | SendMethod::Patch => Probe::unknown(STILL_ABSENT),
            },
            (_, is) => {
                let status = answer.status;
                let words =
                    format!("probe_url showed {was:?} before and {is:?} now, HTTP {status}");
                Probe::Unknown(words.to_lowercase())
            }
        }
    }
}

/// Why a call is refused whose `probe_url` names another host.
const ELSEWHERE: &str = "probe_url must have the host and port of url; nothing was sent";

/// Whether `probe_url` has another host or port than `url`, or cannot be read.
fn probes_elsewhere(args: &HttpSendArgs) -> bool {
    args.probe_url.as_ref().is_some_and(|probe| {
        let (own, there) = (host_of(&args.url), host_of(probe));
        own.is_none() || own != there
    })
}

fn shows(answer: &HttpReply) -> Shows {
    match answer.status {
        200..300 => Shows::There,
        404 | 410 => Shows::Absent,
        _ => Shows::Unclear,
    }
}

pub(crate) fn canceled() -> ToolReturn {
    let text = "stopped: canceled".to_owned();
    ToolReturn::Seen(Observation { ending: Ending::Canceled, text })
}
