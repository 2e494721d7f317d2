//! A SearXNG server's answer in JSON. Its settings must list `json` among `search.formats`, else it
//! answers with status 403.

use super::fetch::{SearchFetch, SearchPage};
use super::html::HtmlPage;
use super::text::plain;
use super::{Hit, SearchError, SearchProvider, first};
use everloop_ports::BoxFuture;
use reqwest::Url;
use serde::Deserialize;

/// SearXNG.
pub(super) struct Searxng(pub(super) SearchFetch);

#[derive(Deserialize)]
struct SearxngReply {
    results: Vec<SearxngResult>,
}

/// Each field may be missing or null: answers come from many sources.
#[derive(Deserialize)]
struct SearxngResult {
    title: Option<String>,
    url: Option<String>,
    content: Option<String>,
}

impl SearchProvider for Searxng {
    fn name(&self) -> &str {
        "SearXNG"
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        top_k: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>> {
        Box::pin(async move {
            read(self.0.page("/search", &[("q", query), ("format", "json")]).await?, top_k)
        })
    }
}

fn read(fetched: SearchPage, top_k: usize) -> Result<Vec<Hit>, SearchError> {
    let answer: SearxngReply = match serde_json::from_str(&fetched.text) {
        Ok(answer) => answer,
        Err(error) => {
            let source = fetched.text.clone();
            let says = SearchError::Parse(format!("not the JSON of SearXNG: {error}"));
            return Err(fetched.why_none(&HtmlPage::read(&source), says));
        }
    };
    let empty = answer.results.is_empty();
    let hits = first(answer.results.into_iter().filter_map(hit), top_k);
    match (hits.is_empty(), empty) {
        (false, _) => Ok(hits),
        (true, true) => Err(SearchError::NoResults),
        (true, false) => Err(SearchError::Parse("results without a title or a link".to_owned())),
    }
}

fn hit(found: SearxngResult) -> Option<Hit> {
    let link = Url::parse(found.url?.trim()).ok()?;
    Hit::of(plain(&found.title?), plain(&found.content.unwrap_or_default()), &link)
}
