//! Bing's page of results: `li.b_algo` with a heading that links and a paragraph that sums up.
//!
//! Links go through `/ck/a?…&u=a1<address in base64url>`; the address within is what is shown.

use super::fetch::{SearchFetch, SearchPage};
use super::html::{HtmlElement, HtmlPage};
use super::{Hit, SearchError, SearchProvider, first};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use everloop_ports::BoxFuture;
use reqwest::Url;

pub(super) const USUAL: &str = "https://www.bing.com";

/// From some countries the one sends us to another.
pub(super) const HOSTS: [&str; 3] = ["www.bing.com:443", "cn.bing.com:443", "bing.com:443"];

/// Results that are looked at; a page has about ten.
const CANDIDATES_MAX: usize = 50;

/// Bing.
pub(super) struct Bing(pub(super) SearchFetch);

impl SearchProvider for Bing {
    fn name(&self) -> &str {
        "Bing"
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        top_k: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>> {
        Box::pin(async move { read(self.0.page("/search", &[("q", query)]).await?, top_k) })
    }
}

fn read(fetched: SearchPage, top_k: usize) -> Result<Vec<Hit>, SearchError> {
    let source = fetched.text.clone();
    let page = HtmlPage::read(&source);
    let results = || page.of_class("b_algo").filter(|result| !is_ad(result));
    let hits = results().take(CANDIDATES_MAX).filter_map(|result| hit(&result, &fetched.url));
    let hits = first(hits, top_k);
    if !hits.is_empty() {
        return Ok(hits);
    }
    if page.of_class("b_no").next().is_some() {
        return Err(SearchError::NoResults);
    }
    let listed = page.elements().any(|e| e.attribute("id").as_deref() == Some("b_results"));
    let says = match (listed, results().next()) {
        (true, None) => SearchError::NoResults,
        (_, Some(_)) => SearchError::Parse("results without a title or a link".to_owned()),
        (false, None) => SearchError::Parse("this is no page of results".to_owned()),
    };
    Err(fetched.why_none(&page, says))
}

fn is_ad(result: &HtmlElement<'_, '_>) -> bool {
    let ad = |element: &HtmlElement<'_, '_>| {
        ["b_ad", "b_adLastChild", "sb_add"].iter().any(|class| element.has_class(class))
    };
    ad(result) || result.within(ad) || result.inside().any(|inner| ad(&inner))
}

fn hit(result: &HtmlElement<'_, '_>, page: &Url) -> Option<Hit> {
    let heading = result.first(|element| element.is("h2"))?;
    let link = heading.first(|element| element.is("a"))?;
    let caption = result.first(|element| element.has_class("b_caption"));
    let summary = match caption.and_then(|caption| caption.first(|element| element.is("p"))) {
        Some(paragraph) => Some(paragraph),
        None => result.first(|e| e.is("p") || e.has_class("b_paractl")).or(caption),
    };
    let summary = summary.map(|element| element.text()).unwrap_or_default();
    Hit::of(link.text(), summary, &target(page.join(link.attribute("href")?.trim()).ok()?)?)
}

/// The target of a link, or `None` for an ad.
fn target(link: Url) -> Option<Url> {
    match link.path() {
        "/aclk" | "/aclick" => None,
        "/ck/a" => {
            let (_, packed) = link.query_pairs().find(|(key, _)| key == "u")?;
            let bytes = URL_SAFE_NO_PAD.decode(packed.strip_prefix("a1")?.trim_end_matches('='));
            Url::parse(std::str::from_utf8(&bytes.ok()?).ok()?).ok()
        }
        _ => Some(link),
    }
}
