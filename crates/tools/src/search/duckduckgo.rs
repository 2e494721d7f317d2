//! DuckDuckGo's page without scripts: `div.result` with `a.result__a` and `a.result__snippet`.
//!
//! Links go through `//duckduckgo.com/l/?uddg=<address>`; the address within is what is shown.

use super::fetch::{SearchFetch, SearchPage};
use super::html::{HtmlElement, HtmlPage};
use super::{Hit, SearchError, SearchProvider, first};
use everloop_ports::BoxFuture;
use reqwest::Url;

pub(super) const USUAL: &str = "https://html.duckduckgo.com";

/// The one sends us to the other.
pub(super) const HOSTS: [&str; 2] = ["html.duckduckgo.com:443", "duckduckgo.com:443"];

/// Results that are looked at; a page has about thirty.
const CANDIDATES_MAX: usize = 50;

/// DuckDuckGo.
pub(super) struct DuckDuckGo(pub(super) SearchFetch);

impl SearchProvider for DuckDuckGo {
    fn name(&self) -> &str {
        "DuckDuckGo"
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        top_k: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>> {
        Box::pin(async move { read(self.0.page("/html/", &[("q", query)]).await?, top_k) })
    }
}

fn read(fetched: SearchPage, top_k: usize) -> Result<Vec<Hit>, SearchError> {
    let source = fetched.text.clone();
    let page = HtmlPage::read(&source);
    let none =
        |e: &HtmlElement<'_, '_>| e.has_class("no-results") || e.has_class("result--no-result");
    let real = |e: &HtmlElement<'_, '_>| !e.has_class("result--ad") && !none(e);
    let results = || page.of_class("result").filter(real);
    let hits = results().take(CANDIDATES_MAX).filter_map(|result| hit(&result, &fetched.url));
    let hits = first(hits, top_k);
    if !hits.is_empty() {
        return Ok(hits);
    }
    if page.elements().any(|element| none(&element)) {
        return Err(SearchError::NoResults);
    }
    let listed = page.elements().any(|e| e.attribute("id").as_deref() == Some("links"));
    let says = match (listed, results().next()) {
        (true, None) => SearchError::NoResults,
        (_, Some(_)) => SearchError::Parse("results without a title or a link".to_owned()),
        (false, None) => SearchError::Parse("this is no page of results".to_owned()),
    };
    Err(fetched.why_none(&page, says))
}

fn hit(result: &HtmlElement<'_, '_>, page: &Url) -> Option<Hit> {
    let link = result.first(|element| element.has_class("result__a"))?;
    let summary = result.first(|element| element.has_class("result__snippet"));
    let summary = summary.map(|element| element.text()).unwrap_or_default();
    Hit::of(link.text(), summary, &target(page.join(link.attribute("href")?.trim()).ok()?)?)
}

/// The target of a link, or `None` for an ad.
fn target(link: Url) -> Option<Url> {
    match link.path() {
        "/y.js" => None,
        "/l/" => {
            let (_, address) = link.query_pairs().find(|(key, _)| key == "uddg")?;
            let address = Url::parse(&address).ok()?;
            let own = address.host_str().is_some_and(|host| host.ends_with("duckduckgo.com"));
            (!own || address.path() != "/y.js").then_some(address)
        }
        _ => Some(link),
    }
}
