//! A tool that fails in a way that may pass is tried again, and one that may have acted is not.

use crate::support::{Home, calls, of_type, says};
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::{Value, json};

const RUN: [&str; 5] = ["run", "--loop", "react", "--yes", "what does the page say?"];

fn busy() -> CannedReply {
    CannedReply::status(503, "connection: close\r\n", "")
}

fn page(text: &str) -> CannedReply {
    CannedReply::status(200, "connection: close\r\ncontent-type: text/plain\r\n", text)
}

/// A home whose tools may call this server, and wait for nothing between two attempts.
fn home(server: &FakeServer, replies: &[Value]) -> Home {
    let host = server.url().replace("http://", "");
    Home::scripted(replies)
        .with("EVERLOOP_TOOLS__RETRY_DELAY", "0s")
        .with("EVERLOOP_TOOLS__FETCH_NEAR", &host)
        .with("EVERLOOP_TOOLS__HTTP_ALLOW", &host)
        .with("EVERLOOP_TOOLS__LABEL_GUARD", "off")
        .with("EVERLOOP_SEARCH__PROVIDER", "searxng")
        .with("EVERLOOP_SEARCH__BASE_URL", &server.url())
}

/// What the model was shown of the call.
fn result(home: &Home, kind: &str) -> String {
    let events = home.events(&home.newest());
    let all = of_type(&events, kind);
    assert_eq!(all.len(), 1, "{events:?}");
    all[0]["result"].as_str().unwrap().to_owned()
}

#[test]
fn a_read_that_fails_is_made_once_and_three_times_more_and_then_the_model_is_told() {
    let fetch = |url: &str| calls("fetch_web", json!({ "url": url }));
    let search = |_: &str| calls("internet_search", json!({ "query": "tides" }));
    let get = |url: &str| calls("http_get", json!({ "url": url }));
    let tools: [&dyn Fn(&str) -> Value; 3] = [&fetch, &search, &get];
    for call in tools {
        let server = FakeServer::start((0..9).map(|_| busy()).collect());
        let home = home(&server, &[call(&server.url()), says("It is busy.")]);
        let ran = home.run(RUN).ends_with(0).says(&["attempt 3"]);
        assert_eq!((ran.stdout.as_str(), server.seen().len()), ("It is busy.\n", 4));
        assert!(result(&home, "tool.failed").contains("503"));
        home.verified(&home.newest());
    }
}

#[test]
fn a_read_that_fails_once_and_then_works_has_worked() {
    let server = FakeServer::start(vec![busy(), page("high water at six")]);
    let home = home(&server, &[calls("fetch_web", json!({"url": server.url()})), says("Six.")]);
    home.run(RUN).ends_with(0);
    assert_eq!(server.seen().len(), 2);
    assert!(result(&home, "tool.completed").contains("high water at six"));
    home.verified(&home.newest());
}

#[test]
fn the_settings_say_how_often() {
    let server = FakeServer::start((0..9).map(|_| busy()).collect());
    let replies = [calls("fetch_web", json!({"url": server.url()})), says("Busy.")];
    home(&server, &replies).with("EVERLOOP_TOOLS__MAX_RETRIES", "0").run(RUN).ends_with(0);
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn what_changes_something_is_never_made_again() {
    let server = FakeServer::start((0..9).map(|_| busy()).collect());
    let post = json!({"method": "POST", "url": server.url(), "body": "{}"});
    let shell = json!({"command": "echo once >> log; exit 1"});
    let home =
        home(&server, &[calls("http_send", post), calls("shell", shell), says("Both failed.")]);
    home.run(["run", "--loop", "react", "--yes", "send and log"]);
    assert_eq!(server.seen().len(), 1, "the POST was sent once");
    assert_eq!(home.read("log"), "once\n", "the command ran once");
}
