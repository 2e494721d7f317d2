//! The page of a provider: a request to its own hosts, redirects among them followed, size bounded.

use super::SearchError;
use super::html::HtmlPage;
use crate::hosts::{HostAddress, Hosts};
use crate::request::{BodyExtent, Http, HttpRequest, RequestError};
use reqwest::{Method, Url};
use std::time::Duration;
use tokio::time::Instant;

/// Bytes of a page; results are at its beginning.
const BYTES_MAX: usize = 2 << 20;

/// Redirects that are followed.
const REDIRECTS_MAX: usize = 3;

/// Services answer in the form that they keep for browsers, and name the program all the same.
const HEADERS: [(&str, &str); 3] = [
    ("user-agent", concat!("Mozilla/5.0 (compatible; everloop/", env!("CARGO_PKG_VERSION"), ")")),
    ("accept", "text/html,application/json;q=0.9,*/*;q=0.5"),
    ("accept-language", "zh-CN,zh;q=0.9,en;q=0.8"),
];

/// Where a provider is, and what bounds the way there.
pub(super) struct SearchFetch {
    /// The service's address, or what is wrong with the setting.
    base: Result<Url, SearchError>,
    http: Http,
}

/// A page, and where it was read in the end.
pub(super) struct SearchPage {
    pub(super) url: Url,
    pub(super) text: String,
    /// Whether something is missing at its end, and what the matter is.
    pub(super) partial: Option<SearchError>,
}

impl SearchFetch {
    /// The address of the setting, else the usual one. Redirects may go to the hosts of the
    /// service.
    pub(super) fn new(base_url: &str, usual: &str, hosts: &[&str], timeout_ms: u64) -> Self {
        let chosen = Some(base_url.trim()).filter(|url| !url.is_empty());
        let base = base(chosen.unwrap_or(usual));
        // An address from the settings is allowed whatever its name resolves to.
        let own = base.as_ref().ok().filter(|_| chosen.is_some()).and_then(HostAddress::of);
        let own = own.map(HostAddress::anywhere);
        let known = hosts.iter().filter_map(|host| HostAddress::parse(host));
        let hosts: Hosts = own.into_iter().chain(known).collect();
        let http = Http { hosts, timeout_ms, bytes_max: BYTES_MAX, ..Http::default() };
        Self { base, http }
    }

    /// Asks for a path of the service with these parameters.
    pub(super) async fn page(
        &self,
        path: &str,
        parameters: &[(&str, &str)],
    ) -> Result<SearchPage, SearchError> {
        let mut url = self.base.clone()?;
        let path = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.query_pairs_mut().extend_pairs(parameters);
        let until = Instant::now() + Duration::from_millis(self.http.timeout_ms);
        for _ in 0..=REDIRECTS_MAX {
            match self.step(&url, until).await? {
                RedirectStep::There(fetched) => return Ok(fetched),
                RedirectStep::Elsewhere(next) => url = next,
            }
        }
        Err(SearchError::Refused(format!("more than {REDIRECTS_MAX} redirects")))
    }

    async fn step(&self, url: &Url, until: Instant) -> Result<RedirectStep, SearchError> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let http = self.http.until(until);
        let request = HttpRequest {
            method: Method::GET,
            headers: &HEADERS,
            ..HttpRequest::get(url.as_str())
        };
        let late =
            || SearchError::TimedOut { host: host.clone(), timeout_ms: self.http.timeout_ms };
        let answer = match http.ask(request).await {
            Ok(answer) => answer,
            Err(_) if Instant::now() >= until => return Err(late()),
            Err(RequestError::Refused(words)) => return Err(SearchError::Refused(words)),
            Err(error) => return Err(SearchError::Network(error.words())),
        };
        if let Some(next) = answer.redirect(url) {
            return next.map(RedirectStep::Elsewhere).map_err(SearchError::Refused);
        }
        let (status, retry_after_ms) = (answer.status, answer.retry_after_ms);
        let success = answer.is_success();
        let (bytes, body) = answer.into_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if matches!(status, 403 | 429 | 503) && wants_proof(&HtmlPage::read(&text)) {
            return Err(SearchError::Blocked { host });
        }
        if !success {
            return Err(SearchError::Status { host, status, retry_after_ms });
        }
        let partial = match body {
            BodyExtent::Whole => None,
            BodyExtent::Beginning => {
                Some(SearchError::Parse(format!("more than {BYTES_MAX} bytes")))
            }
            BodyExtent::Broken if Instant::now() >= until => Some(late()),
            BodyExtent::Broken => {
                Some(SearchError::Network(format!("{host}: the answer broke off")))
            }
        };
        Ok(RedirectStep::There(SearchPage { url: url.clone(), text, partial }))
    }
}

enum RedirectStep {
    There(SearchPage),
    Elsewhere(Url),
}

impl SearchPage {
    /// Why a page without hits has none: what is missing of it, a challenge, or what it says.
    pub(super) fn why_none(self, page: &HtmlPage<'_>, says: SearchError) -> SearchError {
        if wants_proof(page) {
            let host = self.url.host_str().unwrap_or_default().to_owned();
            return SearchError::Blocked { host };
        }
        self.partial.unwrap_or(says)
    }
}

fn base(text: &str) -> Result<Url, SearchError> {
    let wrong = |why: &str| SearchError::Refused(format!("search.base_url {why}"));
    if text.is_empty() {
        return Err(wrong("is not set, and this provider has no usual address"));
    }
    let url = Url::parse(text).map_err(|error| wrong(&format!("is no address: {error}")))?;
    if url.cannot_be_a_base() || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("must be a plain address such as https://search.example"));
    }
    Ok(url)
}

/// Whether a page asks for a captcha instead of an answer; only checked where no result was found.
pub(super) fn wants_proof(page: &HtmlPage<'_>) -> bool {
    const MARKS: [&str; 4] = ["captcha", "challenge", "anomaly", "turnstile"];
    page.elements().any(|element| {
        let own = ["id", "class", "action", "src"].iter().filter_map(|key| element.attribute(key));
        let own: Vec<String> = own.map(|value| value.to_lowercase()).collect();
        own.iter().any(|value| MARKS.iter().any(|mark| value.contains(mark)))
    })
}
