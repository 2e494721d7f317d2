//! Recorded pages of results, served on loopback as SearXNG would serve them.
//!
//! ```text
//!   GET /search?q=… ──► counted ──► still to fail? ──yes──► 500
//!       ┌──no───────────────────────────────┘
//!       └──► the page of that query, or of the most similar one, or nothing
//! ```

use crate::task::{RecordedPage, SearchScript};
use serde_json::json;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The pages of the set.
const RECORDED: &[&str] = &[
    include_str!("../pages/tides.json"),
    include_str!("../pages/bridges.json"),
    include_str!("../pages/coffee.json"),
    include_str!("../pages/lighthouse.json"),
];

/// Bytes of a request that are read; ours are shorter.
const REQUEST_BYTES_MAX: usize = 16_384;

/// How long a request may take to arrive.
const REQUEST_TIME: Duration = Duration::from_secs(10);

/// A search service with recorded pages. It stops when this is dropped.
pub(crate) struct RecordedSearchService {
    url: String,
    shelf: Arc<RecordedPages>,
    serving: JoinHandle<()>,
}

struct RecordedPages {
    pages: Vec<RecordedPage>,
    to_fail: AtomicU32,
    searches: AtomicUsize,
}

impl RecordedSearchService {
    /// Begins to serve, the task's own pages first.
    pub(crate) async fn serve(search: &SearchScript) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let pages = search.pages.iter().cloned().chain(recorded()).collect();
        let shelf = Arc::new(RecordedPages::new(pages, search.fails));
        let shown = shelf.clone();
        let serving = tokio::spawn(async move {
            // A loopback listener that cannot accept any more is about to end anyway.
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, shown.clone()));
            }
        });
        Ok(Self { url, shelf, serving })
    }

    /// Its base URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The number of searches so far.
    pub(crate) fn searches(&self) -> usize {
        self.shelf.searches.load(Ordering::SeqCst)
    }
}

impl Drop for RecordedSearchService {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn recorded() -> impl Iterator<Item = RecordedPage> {
    RECORDED.iter().map(|text| {
        serde_json::from_str(text).unwrap_or_else(|error| unreachable!("a recorded page: {error}"))
    })
}

async fn answer(mut stream: TcpStream, shelf: Arc<RecordedPages>) {
    let request = tokio::time::timeout(REQUEST_TIME, head(&mut stream)).await;
    let Ok(Ok(request)) = request else { return };
    let (status, body) = shelf.reply(&request);
    let length = body.len();
    let whole = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    );
    // The client may have closed the connection.
    let _ = stream.write_all(whole.as_bytes()).await;
    let _ = stream.shutdown().await;
}

async fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut part = [0; 1_024];
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") && bytes.len() < REQUEST_BYTES_MAX {
        match stream.read(&mut part).await? {
            0 => break,
            count => bytes.extend_from_slice(&part[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl RecordedPages {
    fn new(pages: Vec<RecordedPage>, fails: u32) -> Self {
        Self { pages, to_fail: AtomicU32::new(fails), searches: AtomicUsize::new(0) }
    }

    fn reply(&self, request: &str) -> (&'static str, String) {
        let target = request.split_whitespace().nth(1).unwrap_or_default();
        let query = target.strip_prefix("/search?").and_then(|rest| query(rest, "q"));
        self.searches.fetch_add(usize::from(query.is_some()), Ordering::SeqCst);
        let take = |left: u32| left.checked_sub(1);
        if self.to_fail.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok() {
            return ("500 Internal Server Error", String::new());
        }
        let Some(query) = query else {
            return ("404 Not Found", String::new());
        };
        let results = self.find(&query).map_or(json!([]), |page| json!(page.results));
        ("200 OK", json!({"query": query, "results": results}).to_string())
    }

    /// The page of this query; else the one that has most words of it, at least half.
    fn find(&self, query: &str) -> Option<&RecordedPage> {
        let wanted = words(query);
        let common = |page: &&RecordedPage| words(&page.query).intersection(&wanted).count();
        let exact = self.pages.iter().find(|page| words(&page.query) == wanted);
        // The first of equals, not the last.
        let near = || self.pages.iter().rev().max_by_key(common);
        exact.or_else(near).filter(|page| common(page) * 2 >= wanted.len().max(1))
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// A parameter of a query string, decoded.
fn query(text: &str, name: &str) -> Option<String> {
    let value = text.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        let coded = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        let (byte, taken) = match (first, coded) {
            (_, Some((high, low))) => (u8::try_from(high * 16 + low).unwrap_or(b'?'), 3),
            (b'+', None) => (b' ', 1),
            (other, None) => (*other, 1),
        };
        bytes.push(byte);
        rest = &rest[taken..];
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(fails: u32) -> RecordedPages {
        RecordedPages::new(recorded().collect(), fails)
    }

    #[test]
    fn every_recorded_page_is_found_by_its_query_and_by_most_of_its_words() {
        for page in recorded() {
            assert_eq!(shelf(0).find(&page.query.to_uppercase()), Some(&page));
            assert!(page.results.len() >= 3, "{}", page.query);
        }
        assert!(shelf(0).find("something nobody has recorded").is_none());
    }

    #[test]
    fn faults_are_played_first_and_then_the_page_comes() {
        let shelf = shelf(2);
        let request = "GET /search?q=tidal%20power+explained&format=json HTTP/1.1\r\n\r\n";
        assert!(shelf.reply(request).0.starts_with("500"));
        assert!(shelf.reply(request).0.starts_with("500"));
        let (status, body) = shelf.reply(request);
        assert!(status.starts_with("200") && body.contains("results"), "{status} {body}");
        assert!(shelf.reply("GET /other HTTP/1.1\r\n\r\n").0.starts_with("404"));
        assert_eq!(shelf.searches.load(Ordering::SeqCst), 3, "failed ones count, others do not");
    }
}
