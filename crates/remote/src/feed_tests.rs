use super::*;
use crate::RemoteOptions;
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::{Value, json};

fn event(seq: i64, kind: Value) -> String {
    let mut event = kind;
    event["run_id"] = json!("run_1");
    event["seq"] = json!(seq);
    let is_delta = event["type"].as_str().is_some_and(|name| name.ends_with(".delta"));
    if !is_delta {
        event["ts"] = json!(1);
    }
    format!("data: {event}\n\n")
}

fn delta(text: &str) -> String {
    event(2, json!({"type": "message.delta", "text": text}))
}

fn version() -> CannedReply {
    CannedReply::json(&json!({"name": "everloop", "version": "0", "api": "v1"}).to_string())
}

fn over() -> String {
    let ending = json!({"type": "run.succeeded", "status": "succeeded", "reason": null});
    event(4, ending)
}

async fn server(replies: Vec<CannedReply>) -> (FakeServer, RemoteServer) {
    let fake = FakeServer::start([vec![version()], replies].concat());
    let options = RemoteOptions {
        url: fake.url(),
        token: "a-token-of-a-test-0123".to_owned(),
        may_be_plain: false,
        language: "en",
    };
    let server = RemoteServer::connect(&options).await.expect("it answers");
    (fake, server)
}

/// The connection breaks between two events of one number, and in the middle of a reply.
#[tokio::test]
async fn a_reader_that_comes_back_misses_nothing_and_gets_nothing_twice() {
    let started = json!({"type": "run.started", "goal": "g", "loop": "react"});
    let resumed = json!({"type": "step.started", "purpose": "think", "step": 1, "steps_max": 9});
    let noted = json!({"type": "step.noted", "text": "n"});
    let first = [event(1, started), event(2, resumed.clone()), delta("The ")].concat();
    // What is sent again: the events of the last number, and the reply from its beginning.
    let second = [event(2, resumed), event(2, noted), delta("The qui"), delta("ck"), over()];
    let replies = vec![
        CannedReply::stream().then(first).cut(),
        CannedReply::stream().then(second.concat()).end(),
    ];
    let (fake, server) = server(replies).await;
    let mut feed = server.follow(&RunId::new("run_1"), 0);
    let (mut names, mut text) = (Vec::new(), String::new());
    loop {
        // Whoever follows looks elsewhere again and again.
        let next = tokio::time::timeout(Duration::from_millis(50), feed.next()).await;
        let Ok(next) = next else { continue };
        let Some(news) = next.expect("works") else { break };
        let FeedNews::Event(event) = news else { continue };
        match &event.kind {
            EventKind::MessageDelta { text: piece } => text.push_str(piece),
            kind => names.push(json!(kind)["type"].as_str().unwrap_or_default().to_owned()),
        }
    }
    assert_eq!(names, ["run.started", "step.started", "step.noted", "run.succeeded"]);
    assert_eq!(text, "The quick");
    let asked = fake.seen();
    let head = |n: usize| asked[n].head.to_lowercase();
    assert!(head(1).contains("last-event-id: 0\r\n") && head(2).contains("last-event-id: 1\r\n"));
    assert!(head(1).contains("authorization: bearer"), "the server gets the token");
    assert!(!head(0).contains("authorization"), "no token before the server is known");
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_token() {
    let elsewhere = FakeServer::start(vec![CannedReply::json("{}")]);
    let moved = format!("location: {}/v1/runs\r\n", elsewhere.url());
    let (_fake, server) = server(vec![CannedReply::status(307, &moved, "")]).await;
    let refused = server.get("v1/runs").await.expect_err("refused");
    assert!(matches!(refused, RemoteError::Redirected), "{refused:?}");
    assert!(elsewhere.seen().is_empty(), "nothing was sent there");
}

#[tokio::test]
async fn what_is_no_everloop_server_or_speaks_another_version_is_told_so() {
    for (answer, wanted) in [
        (CannedReply::json("{\"hello\":1}"), "is not an Everloop server"),
        (CannedReply::status(200, "", "<html>"), "is not an Everloop server"),
        (CannedReply::json("{\"name\":\"everloop\",\"api\":\"v9\"}"), "version v9"),
    ] {
        let fake = FakeServer::start(vec![answer]);
        let (url, token) = (fake.url(), "a-token-of-a-test-0123".to_owned());
        let options = RemoteOptions { url, token, may_be_plain: false, language: "en" };
        let refused = RemoteServer::connect(&options).await.expect_err("refused").to_string();
        assert!(refused.contains(wanted), "{refused}");
    }
}

/// A laptop that slept: the connection looks open, and nothing comes over it.
#[tokio::test]
async fn a_connection_over_which_nothing_comes_is_lost_after_a_while() {
    let started = json!({"type": "run.started", "goal": "g", "loop": "react"});
    let replies = vec![
        CannedReply::stream().then(event(1, started)).stall(),
        CannedReply::stream().then(over()).end(),
    ];
    let (_fake, server) = server(replies).await;
    let mut feed = server.follow(&RunId::new("run_1"), 0);
    let first = feed.next().await.expect("works");
    assert!(matches!(first, Some(FeedNews::Event(_))), "{first:?}");
    // From now on time passes as soon as everybody waits.
    tokio::time::pause();
    let lost = loop {
        // A caller that looks elsewhere again and again does not put the end off.
        let next = tokio::time::timeout(Duration::from_millis(50), feed.next()).await;
        if let Ok(news) = next {
            break news.expect("it is tried again");
        }
    };
    let silent = |news: &FeedNews| matches!(news, FeedNews::Lost(RemoteError::Silent(_)));
    assert!(lost.as_ref().is_some_and(silent), "{lost:?}");
    tokio::time::resume();
    let mut names = Vec::new();
    while let Some(news) = feed.next().await.expect("works") {
        names.push(match news {
            FeedNews::Event(event) => json!(event.kind)["type"].to_string(),
            FeedNews::Lost(_) => "lost".to_owned(),
            FeedNews::Back => "back".to_owned(),
        });
    }
    assert_eq!(names, ["back", "\"run.succeeded\""]);
}

#[tokio::test]
async fn an_event_that_is_too_long_ends_the_feed_and_is_not_asked_for_again() {
    let long = format!("data: {}", "x".repeat(17 << 20));
    let (fake, server) = server(vec![CannedReply::stream().then(long).cut()]).await;
    let refused = server.follow(&RunId::new("run_1"), 0).next().await.expect_err("refused");
    assert!(matches!(refused, RemoteError::NotEverloop(_)), "{refused:?}");
    assert_eq!(fake.seen().len(), 2, "the version and one stream");
}
