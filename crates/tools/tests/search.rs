//! Searches: the first results of each service, and each way in which a search fails.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::server::{Reply, Server, ok, status};
use crate::support::Place;
use everloop_ports::{BoxFuture, CallContext, Registry, ToolReturn};
use everloop_tools::{
    Hit, InternetSearch, SearchError, SearchProvider, SearchService, SearchSetting, Setting,
};
use everloop_types::{Approval, EffectClass, Ending, Observation};
use serde_json::json;
use std::sync::Arc;

const BING: &str = include_str!("../testdata/search/bing.html");
const BING_NONE: &str = include_str!("../testdata/search/bing_none.html");
const BING_BLOCKED: &str = include_str!("../testdata/search/bing_blocked.html");
const DUCKDUCKGO: &str = include_str!("../testdata/search/duckduckgo.html");
const DUCKDUCKGO_NONE: &str = include_str!("../testdata/search/duckduckgo_none.html");
const DUCKDUCKGO_BLOCKED: &str = include_str!("../testdata/search/duckduckgo_blocked.html");
const SEARXNG: &str = include_str!("../testdata/search/searxng.json");

use SearchService::{Bing, DuckDuckGo, Searxng};

fn setting(service: SearchService, base_url: &str) -> SearchSetting {
    SearchSetting { service, base_url: base_url.to_owned(), timeout_ms: 20_000, top_k: 3 }
}

fn place(search: SearchSetting) -> Place {
    Place::with(|setting| Setting { search: Some(search), ..setting })
}

async fn search(search: SearchSetting) -> ToolReturn {
    let args = json!({"query": "tidal power"}).to_string();
    place(search).tool("internet_search").call(&args, &CallContext::new("key")).await
}

/// What a service that answers so lets the model see.
async fn seen(service: SearchService, reply: Reply) -> Observation {
    let server = Server::start(vec![reply]).await;
    match search(setting(service, &server.url(""))).await {
        ToolReturn::Seen(seen) => seen,
        ToolReturn::Passing(failed) => failed.seen,
        other => panic!("{other:?}"),
    }
}

/// The words after `search failed: `.
async fn failure(service: SearchService, reply: Reply) -> String {
    let seen = seen(service, reply).await;
    assert_eq!(seen.ending, Ending::Error, "{}", seen.text);
    seen.text.strip_prefix("search failed: ").unwrap().to_owned()
}

#[test]
fn there_is_a_search_only_where_it_is_set_and_nobody_is_asked_about_it() {
    assert!(Place::new().registry.get("internet_search").is_none());
    let spec = place(setting(Bing, "")).tool("internet_search").spec().clone();
    assert_eq!(spec.text_arg.as_deref(), Some("query"));
    let handling = spec.handling;
    assert_eq!((handling.class, handling.approval), (EffectClass::Pure, Approval::Allow));
    assert_eq!((handling.timeout_ms, handling.retries), (20_000, 3));
    assert!(spec.description.contains("Bing"), "{}", spec.description);
}

#[tokio::test]
async fn bing_shows_its_first_three_results_without_ads_and_with_the_addresses_behind_its_links() {
    let expected = "1. 潮汐发电是怎样工作的 & 为什么\n\
        3 天之前 · 水位差推动涡轮机，一天两次；\"可预测\"是它的长处。\n\
        https://tides.example/how?part=1&lang=zh#top\n\n\
        2. Tidal range power, explained\n\
        Two kinds of plants — barrages and lagoons.\n\
        https://energy.example/tidal-range\n\n\
        3. A link that is not wrapped\n\
        https://plain.example/direct";
    assert_eq!(seen(Bing, ok(BING)).await, Observation::ok(expected));
}

#[tokio::test]
async fn duckduckgo_shows_its_first_three_results() {
    let expected = "1. How tidal power works 'today'\n\
        Water that falls twice a day turns a turbine.\n\
        https://tides.example/how?part=1&lang=zh\n\n\
        2. 潮汐能简介\n\
        https://zh.example/%E6%BD%AE%E6%B1%90\n\n\
        3. Plain\n\
        Third summary.\n\
        https://plain.example/a";
    assert_eq!(seen(DuckDuckGo, ok(DUCKDUCKGO)).await, Observation::ok(expected));
}

#[tokio::test]
async fn searxng_shows_its_first_three_results() {
    let expected = "1. How tidal power works\n\
        Water & time: Vec<T> stays. Twice a day.\n\
        https://tides.example/how\n\n\
        2. 潮汐能简介\n\
        https://zh.example/a\n\n\
        3. Third\n\
        Third summary.\n\
        https://three.example/";
    assert_eq!(seen(Searxng, ok(SEARXNG)).await, Observation::ok(expected));
}

#[tokio::test]
async fn a_query_goes_to_the_path_of_its_service_beneath_the_address_of_the_settings() {
    for (service, base, path) in [
        (Bing, "", "/search?q=a%26b+%e4%b8%ad"),
        (DuckDuckGo, "/", "/html/?q=a%26b+%e4%b8%ad"),
        (Searxng, "/sx/", "/sx/search?q=a%26b+%e4%b8%ad&format=json"),
    ] {
        let server = Server::start(vec![status(204)]).await;
        let place = place(setting(service, &server.url(base)));
        place.call("internet_search", json!({"query": " a&b\n中\u{7}"})).await;
        assert_eq!(server.lines(), [format!("get {path} http/1.1")]);
        assert!(server.seen()[0].contains("user-agent: mozilla/5.0 (compatible; everloop/"));
    }
}

#[tokio::test]
async fn the_number_of_results_is_a_setting() {
    for (top_k, last) in [(1, "1. How"), (4, "4. Fourth")] {
        let server = Server::start(vec![ok(SEARXNG)]).await;
        let setting = SearchSetting { top_k, ..setting(Searxng, &server.url("")) };
        let ToolReturn::Seen(seen) = search(setting).await else { panic!() };
        assert_eq!(seen.text.split("\n\n").count(), top_k);
        assert!(seen.text.split("\n\n").last().unwrap().starts_with(last), "{}", seen.text);
    }
}

#[tokio::test]
async fn a_search_that_finds_nothing_says_so() {
    let nothing = [
        (Bing, BING_NONE),
        (Bing, "<ol id=b_results></ol>"),
        (DuckDuckGo, DUCKDUCKGO_NONE),
        (Searxng, r#"{"results":[]}"#),
    ];
    for (service, page) in nothing {
        assert_eq!(failure(service, ok(page)).await, "no results", "{page}");
    }
}

#[tokio::test]
async fn a_page_that_wants_proof_of_a_person_is_a_block_and_not_an_empty_result() {
    let blocked = "blocked: 127.0.0.1 wants proof of a person; another search.provider may answer";
    for (service, status, page) in [
        (Bing, 200, BING_BLOCKED),
        (Bing, 429, BING_BLOCKED),
        (DuckDuckGo, 202, DUCKDUCKGO_BLOCKED),
        (Searxng, 200, BING_BLOCKED),
    ] {
        let reply = Reply::Status(status, page.to_owned());
        assert_eq!(failure(service, reply).await, blocked, "{status}");
    }
}

#[tokio::test]
async fn an_answer_in_another_form_is_a_parse_error() {
    for (service, page) in [
        (Bing, "<html><p>Welcome</p></html>"),
        (Bing, ""),
        (Bing, "<li class=b_algo><h2>no link</h2>"),
        (Bing, "<li class=b_algo><h2><a href='/ck/a?u=a1!!'>bad wrapping</a></h2>"),
        (Bing, "<li class=b_algo><h2><a href='/ck/a?u=a1ZmlsZTovLy9ldGM'>a file</a></h2>"),
        (DuckDuckGo, "\u{0}\u{1}<<<>>>"),
        (DuckDuckGo, "<div class=result><a class=result__a href='/l/?x=y'>no address</a></div>"),
        (Searxng, "<html>not JSON</html>"),
        (Searxng, r#"{"answers":[]}"#),
        (Searxng, r#"{"results":[{"title":"t","url":"ftp://x/"}]}"#),
    ] {
        let words = failure(service, ok(page)).await;
        assert!(words.starts_with("parse: "), "{page}: {words}");
    }
}

#[tokio::test]
async fn a_status_without_success_is_told() {
    for code in [403, 404, 500] {
        let words = failure(Searxng, status(code)).await;
        assert_eq!(words, format!("http: 127.0.0.1 answered with status {code}"));
    }
}

#[tokio::test]
async fn an_error_of_the_network_may_pass_and_is_tried_again() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let server = Server::start(vec![Reply::Cut]).await;
    for url in [format!("http://127.0.0.1:{port}"), server.url("")] {
        let ToolReturn::Passing(failed) = search(setting(Bing, &url)).await else {
            panic!("{url}")
        };
        let words = failed.seen.text;
        assert!(words.starts_with("search failed: network: 127.0.0.1"), "{words}");
    }
}

#[tokio::test]
async fn a_service_that_never_answers_is_given_up_in_time() {
    let server = Server::start(vec![Reply::Silence]).await;
    let setting = SearchSetting { timeout_ms: 300, ..setting(Bing, &server.url("")) };
    let words = "search failed: time-out: 127.0.0.1 did not answer within 300 ms";
    assert_eq!(search(setting).await, ToolReturn::passing(words));
}

#[tokio::test]
async fn a_page_that_breaks_off_shows_what_came_before_it_broke() {
    let head = "HTTP/1.1 200 X\r\ncontent-length: 100000\r\n\r\n";
    let half = BING.split("A link that is not wrapped").next().unwrap();
    let text = seen(Bing, Reply::Raw(format!("{head}{half}"))).await.text;
    assert!(text.contains("2. Tidal range power") && !text.contains("3."), "{text}");
    let server = Server::start(vec![Reply::Raw(format!("{head}<html>"))]).await;
    let done = search(setting(Bing, &server.url(""))).await;
    let words = "search failed: network: 127.0.0.1: the answer broke off";
    assert_eq!(done, ToolReturn::passing(words));
}

#[tokio::test]
async fn of_a_page_that_is_too_large_the_beginning_is_read() {
    let filler = "<p>filler</p>".repeat(300_000);
    let text = seen(Bing, ok(&format!("{BING}{filler}"))).await.text;
    assert!(text.starts_with("1. 潮汐发电"), "{text}");
    let words = failure(Bing, ok(&format!("{filler}{BING}"))).await;
    assert_eq!(words, "parse: more than 2097152 bytes");
    let words = failure(Searxng, ok(&format!("{{\"x\":\"{filler}\"}}"))).await;
    assert_eq!(words, "parse: more than 2097152 bytes");
}

#[tokio::test]
async fn long_texts_are_cut_and_hits_with_endless_links_are_passed_over() {
    let (title, summary) = ("题".repeat(5_000), "s".repeat(5_000));
    let endless = format!("https://a.example/{}", "x".repeat(5_000));
    let page = json!({"results": [
        {"title": "endless", "url": endless},
        {"title": title, "content": summary, "url": "https://b.example/"},
    ]});
    let text = seen(Searxng, ok(&page.to_string())).await.text;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0].chars().count(), lines[1].len()), (203, 502));
    assert_eq!(lines[2], "https://b.example/");
}

fn moved(to: &str) -> Reply {
    let head = "HTTP/1.1 302 X\r\nconnection: close\r\ncontent-length: 0\r\n";
    Reply::Raw(format!("{head}location: {to}\r\n\r\n"))
}

#[tokio::test]
async fn a_redirect_is_followed_on_the_same_host_and_not_for_ever() {
    let server = Server::start(vec![moved("/search?q=x&rdr=1"), ok(BING)]).await;
    let ToolReturn::Seen(seen) = search(setting(Bing, &server.url(""))).await else { panic!() };
    assert!(seen.is_ok(), "{}", seen.text);
    assert_eq!(server.lines()[1], "get /search?q=x&rdr=1 http/1.1");
    let server = Server::start(vec![moved("/"); 10]).await;
    let ToolReturn::Seen(seen) = search(setting(Bing, &server.url(""))).await else { panic!() };
    assert_eq!(seen.text, "search failed: refused: more than 3 redirects");
    assert_eq!(server.lines().len(), 4);
}

#[tokio::test]
async fn a_redirect_to_another_host_or_into_the_network_is_refused_and_not_followed() {
    let other = Server::start(vec![ok(BING)]).await;
    for to in [
        other.url("/search"),
        format!("http://localhost:{}/", other.port),
        "http://169.254.169.254/latest".to_owned(),
        "https://evil.example/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let words = failure(Bing, moved(&to)).await;
        assert!(words.starts_with("refused: "), "{to}: {words}");
    }
    assert_eq!(other.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn an_address_that_cannot_be_used_is_told_and_nothing_is_sent() {
    for base_url in ["", "search.example", "mailto:a@b", "http://h/?q=", "http://u:p@h/"] {
        let ToolReturn::Seen(seen) = search(setting(Searxng, base_url)).await else { panic!() };
        assert!(seen.text.starts_with("search failed: refused: "), "{base_url}: {}", seen.text);
    }
}

#[tokio::test]
async fn a_cancel_stops_a_search() {
    let server = Server::start(vec![Reply::Silence]).await;
    let place = place(setting(Bing, &server.url("")));
    let context = CallContext::new("key");
    let cancel = async {
        while server.lines().is_empty() {
            tokio::task::yield_now().await;
        }
        context.cancel.cancel();
    };
    let called = place.call_in("internet_search", json!({"query": "x"}), &context);
    let (seen, ()) = tokio::join!(called, cancel);
    assert_eq!(seen.ending, Ending::Canceled);
}

#[tokio::test]
async fn a_query_that_is_empty_or_endless_is_refused() {
    let place = place(setting(Searxng, "http://127.0.0.1:1"));
    for query in [" \n\u{7}".to_owned(), "x".repeat(401)] {
        let seen = place.call("internet_search", json!({"query": query})).await;
        assert_eq!(seen, Observation::error("the query must have 1 to 400 characters"));
    }
}

/// Finds more than it is asked for.
struct Eager;

impl SearchProvider for Eager {
    fn name(&self) -> &str {
        "Eager"
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        _top_k: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>> {
        let title = query.to_owned();
        let link = "https://a.example/".to_owned();
        let hit = Hit { title, summary: String::new(), link };
        Box::pin(async move { Ok(vec![hit; 9]) })
    }
}

#[tokio::test]
async fn another_provider_can_be_plugged_in_and_shows_no_more_than_asked_for() {
    let registry = Registry::default().with(InternetSearch::with(Arc::new(Eager), 2, 1_000));
    let tool = registry.get("internet_search").unwrap();
    let done = tool.call(r#"{"query":"q"}"#, &CallContext::new("key")).await;
    let text = "1. q\nhttps://a.example/\n\n2. q\nhttps://a.example/";
    assert_eq!(done, ToolReturn::Seen(Observation::ok(text)));
}

#[tokio::test]
async fn a_service_that_is_busy_may_answer_later_and_one_that_refuses_will_not() {
    for (code, may_pass) in [(429, true), (500, true), (503, true), (403, false), (404, false)] {
        let server = Server::start(vec![status(code)]).await;
        let done = search(setting(Searxng, &server.url(""))).await;
        assert_eq!(matches!(done, ToolReturn::Passing(_)), may_pass, "{code}: {done:?}");
    }
}
