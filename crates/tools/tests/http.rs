//! Requests: which hosts they may go to, and what is known when something breaks.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::server::{Reply, Server, ok, status};
use crate::support::{Place, context, intent, unknown};
use everloop_ports::{CallContext, CallPolicy, Deliver, Delivery, FROM_THE_WEB, Probe, ToolReturn};
use everloop_tools::{Channel, Channels, HostAddress, Http, Setting};
use everloop_types::{EffectClass, Ending, Observation};
use serde_json::{Value, json};

/// A place whose tools may call these hosts.
fn place(hosts: &[&str]) -> Place {
    Place::with(|setting| Setting { http: http(hosts, 20_000), ..setting })
}

fn http(hosts: &[&str], timeout_ms: u64) -> Http {
    let hosts = hosts.iter().filter_map(|host| HostAddress::parse(host)).collect();
    Http { hosts, timeout_ms, bytes_max: 1_000, ..Http::default() }
}

async fn done(place: &Place, tool: &str, args: Value) -> ToolReturn {
    place.tool(tool).call(&args.to_string(), &context()).await
}

#[test]
fn without_a_host_and_without_a_channel_there_are_no_tools_for_them() {
    let none = Place::new();
    for tool in ["http_get", "http_send", "send_message"] {
        assert!(none.registry.get(tool).is_none(), "{tool}");
    }
    let some = place(&["api.example.com"]);
    let spec = some.tool("http_get").spec().clone();
    assert!(spec.description.contains("api.example.com"), "{}", spec.description);
    assert_eq!(spec.handling.class, EffectClass::Pure);
}

#[test]
fn a_request_is_keyed_only_where_hosts_honour_keys() {
    let class = |http_key_lifetime_ms| {
        let http = http(&["localhost"], 1_000);
        let place = Place::with(|setting| Setting { http, http_key_lifetime_ms, ..setting });
        let handling = place.tool("http_send").spec().handling.clone();
        (handling.class, handling.key_lifetime_ms)
    };
    assert_eq!(class(0), (EffectClass::Probeable, None));
    assert_eq!(class(60_000), (EffectClass::Keyed, Some(60_000)));
}

#[tokio::test]
async fn an_answer_is_shown_with_its_status_and_a_bounded_body_and_no_redirect_is_followed() {
    let long = "x".repeat(5_000);
    let moved = "HTTP/1.1 302 X\r\nlocation: http://127.0.0.1:1/\r\nconnection: close\r\n\
                 content-length: 0\r\n\r\n";
    let server = Server::start(vec![
        ok("hello"),
        status(404),
        Reply::Raw(moved.to_owned()),
        ok(&long),
        Reply::Raw("HTTP/1.1 200 X\r\ncontent-length: 50\r\n\r\nhalf".to_owned()),
    ])
    .await;
    let place = place(&["127.0.0.1"]);
    let get = async || place.call("http_get", json!({"url": server.url("/a?b")})).await;
    assert_eq!(get().await, Observation::ok(format!("HTTP 200 OK\n{FROM_THE_WEB}\nhello")));
    assert_eq!(get().await, Observation::error("HTTP 404 Not Found"));
    let moved = Observation::error("HTTP 302 Found\nlocation: http://127.0.0.1:1/");
    assert_eq!(get().await, moved);
    let long = get().await;
    assert!(long.text.contains("only the beginning"), "{}", long.text);
    assert!(long.text.len() < 1_200 && long.is_ok());
    let half = format!("HTTP 200 OK\n[the body broke off]\n{FROM_THE_WEB}\nhalf");
    assert_eq!(get().await, Observation::ok(half));
    assert_eq!(server.lines().len(), 5);
    assert_eq!(server.lines()[0], "get /a?b http/1.1");
}

#[tokio::test]
async fn hosts_that_nobody_named_are_not_called() {
    let server = Server::start(vec![]).await;
    let port = server.port;
    let other = place(&["api.example.com", "localhost:1"]);
    for url in [
        server.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://api.example.com@127.0.0.1:{port}/"),
        format!("http://0x7f000001:{port}/"),
        "file:///etc/passwd".to_owned(),
    ] {
        for (tool, args) in [
            ("http_get", json!({"url": url})),
            ("http_send", json!({"method": "POST", "url": url})),
        ] {
            let seen = other.call(tool, args).await;
            assert_eq!(seen.ending, Ending::Denied, "{url}: {}", seen.text);
        }
        let args = json!({"method": "POST", "url": "http://localhost:1/", "probe_url": url});
        let tool = other.tool("http_send");
        assert!(unknown(&tool.probe(&args.to_string(), &intent(&json!("absent"))).await));
    }
    assert_eq!(server.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn localhost_is_called_when_it_is_named() {
    let server = Server::start(vec![ok("here")]).await;
    let host = format!("localhost:{}", server.port);
    let place = place(&[&host]);
    let seen = place.call("http_get", json!({"url": format!("http://{host}/")})).await;
    assert_eq!(seen, Observation::ok(format!("HTTP 200 OK\n{FROM_THE_WEB}\nhere")));
}

#[tokio::test]
async fn a_request_carries_the_key_of_its_effect_its_body_and_its_type() {
    let server = Server::start(vec![status(201), ok("")]).await;
    let place = place(&["127.0.0.1"]);
    let url = server.url("/orders");
    let args = json!({"method": "POST", "url": url, "body": "{\"n\":1}"});
    assert_eq!(place.call("http_send", args).await, Observation::ok("HTTP 201 Created"));
    let args = json!({"method": "PUT", "url": url, "body": "hi", "content_type": "text/plain"});
    place.call("http_send", args).await;
    let seen = server.seen();
    assert!(seen[0].starts_with("post /orders http/1.1"), "{}", seen[0]);
    for part in ["idempotency-key: key\r\n", "content-type: application/json\r\n", "{\"n\":1}"] {
        assert!(seen[0].contains(part), "{part}: {}", seen[0]);
    }
    assert!(seen[1].starts_with("put ") && seen[1].contains("content-type: text/plain\r\n"));
    let large = json!({"method": "POST", "url": url, "body": "x".repeat(1_001)});
    assert_eq!(place.call("http_send", large).await.ending, Ending::Denied);
    assert_eq!(server.lines().len(), 2);
}

#[tokio::test]
async fn a_request_that_never_left_may_be_made_again_and_one_that_was_cut_is_lost() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let all = place(&["127.0.0.1"]);
    let url = format!("http://127.0.0.1:{port}/");
    let unsent = done(&all, "http_send", json!({"method": "POST", "url": url})).await;
    assert!(matches!(unsent, ToolReturn::Passing(_)), "{unsent:?}");
    let server = Server::start(vec![Reply::Cut, Reply::Silence]).await;
    let args = json!({"method": "POST", "url": server.url("/")});
    let cut = done(&all, "http_send", args.clone()).await;
    assert!(matches!(cut, ToolReturn::Lost(_)), "{cut:?}");
    let http = http(&["127.0.0.1"], 300);
    let hasty = Place::with(|setting| Setting { http, ..setting });
    let late = done(&hasty, "http_send", args).await;
    assert_eq!(late, ToolReturn::Lost("127.0.0.1 did not answer in time".to_owned()));
    assert_eq!(server.lines().len(), 2, "each was sent once");
}

#[tokio::test]
async fn a_cancel_stops_a_request_that_is_under_way_and_leaves_it_lost() {
    let server = Server::start(vec![Reply::Silence]).await;
    let place = place(&["127.0.0.1"]);
    let context = CallContext::new("key");
    let args = json!({"method": "POST", "url": server.url("/")}).to_string();
    let tool = place.tool("http_send");
    let cancel = async {
        while server.lines().is_empty() {
            tokio::task::yield_now().await;
        }
        context.cancel.cancel();
    };
    let (done, ()) = tokio::join!(tool.call(&args, &context), cancel);
    assert!(matches!(done, ToolReturn::Lost(_)), "{done:?}");
}

#[tokio::test]
async fn probe_url_leads_to_the_host_and_port_of_url_or_nowhere() {
    let (own, other) = (Server::start(vec![]).await, Server::start(vec![]).await);
    let place = place(&["127.0.0.1", "localhost"]);
    let tool = place.tool("http_send");
    let elsewhere = [
        other.url("/leak?d=secret"),
        own.url("/x").replace("127.0.0.1", "localhost"),
        own.url("/x").replace("http://", "http://user@"),
        "no address".to_owned(),
    ];
    for probe_url in elsewhere {
        let args = json!({"method": "PUT", "url": own.url("/ok"), "probe_url": probe_url});
        let args = args.to_string();
        assert!(matches!(tool.judge(&args).await, CallPolicy::Deny(_)), "{args}");
        assert_eq!(tool.before(&args).await, serde_json::Value::Null);
        assert!(matches!(tool.probe(&args, &intent(&json!("absent"))).await, Probe::Unknown(_)));
        let ToolReturn::Seen(seen) = tool.call(&args, &CallContext::new("key")).await else {
            panic!()
        };
        assert_eq!(seen.ending, Ending::Denied, "{}", seen.text);
    }
    assert_eq!((own.lines(), other.lines()), (Vec::<String>::new(), Vec::<String>::new()));
}

/// What the probe says after the address showed `before` and then `now`.
async fn probed(method: &str, before: Reply, now: Reply) -> Probe {
    let server = Server::start(vec![before, now]).await;
    let place = place(&["127.0.0.1"]);
    let (url, probe_url) = (server.url("/orders"), server.url("/orders/7"));
    let args = json!({"method": method, "url": url, "probe_url": probe_url}).to_string();
    let tool = place.tool("http_send");
    let before = tool.before(&args).await;
    let probe = tool.probe(&args, &intent(&before)).await;
    assert_eq!(server.lines(), ["get /orders/7 http/1.1"; 2]);
    probe
}

#[tokio::test]
async fn a_probe_believes_what_appeared_and_of_what_may_be_repeated_also_what_stayed_away() {
    let there = || ok("order 7");
    let Probe::Happened(seen) = probed("POST", status(404), there()).await else { panic!() };
    let text = format!("HTTP 200 OK\n[read from probe_url after a crash]\n{FROM_THE_WEB}\norder 7");
    assert_eq!(seen.text, text);
    for method in ["POST", "PATCH"] {
        let still = probed(method, status(404), status(404)).await;
        let why = "still absent, but the other side may still be at it";
        assert_eq!(still, Probe::unknown(why), "{method}");
    }
    assert_eq!(probed("PUT", status(410), status(404)).await, Probe::DidNot);
    for (before, now) in [
        (there(), there()),
        (there(), status(404)),
        (status(404), status(500)),
        (status(404), status(401)),
        (status(404), Reply::Cut),
        (status(500), there()),
        (Reply::Cut, status(404)),
    ] {
        assert!(unknown(&probed("POST", before, now).await));
    }
    assert!(matches!(probed("DELETE", there(), status(404)).await, Probe::Happened(_)));
    assert_eq!(probed("DELETE", there(), there()).await, Probe::DidNot);
    assert!(unknown(&probed("DELETE", status(404), status(404)).await));
}

#[tokio::test]
async fn without_an_address_to_look_at_nobody_can_tell() {
    let place = place(&["127.0.0.1"]);
    let args = json!({"method": "POST", "url": "http://127.0.0.1:1/"}).to_string();
    let tool = place.tool("http_send");
    assert_eq!(tool.before(&args).await, Value::Null);
    let probe = tool.probe(&args, &intent(&Value::Null)).await;
    assert_eq!(probe, Probe::unknown("the call had no probe_url that may be asked"));
}

fn channels(list: &[String]) -> Channels {
    list.iter().filter_map(|text| Channel::parse(text)).collect()
}

#[tokio::test]
async fn a_message_is_queued_for_a_channel_that_exists() {
    let channels = channels(&["ops=https://hooks.example.com/secret".to_owned()]);
    let place = Place::with(|setting| Setting { channels, ..setting });
    let spec = place.tool("send_message").spec().clone();
    assert_eq!(spec.handling.class, EffectClass::Transactional);
    assert!(spec.description.contains("ops") && !spec.description.contains("secret"));
    let queued = done(&place, "send_message", json!({"channel": "ops", "text": "done"})).await;
    let ToolReturn::Queued(seen, message) = queued else { panic!("{queued:?}") };
    assert_eq!((seen.text.as_str(), message.text.as_str()), ("queued for ops", "done"));
    for args in [json!({"channel": "boss", "text": "x"}), json!({"channel": "ops", "text": " "})] {
        assert_eq!(place.call("send_message", args).await.ending, Ending::Error);
    }
}

#[tokio::test]
async fn a_webhook_gets_text_and_id_and_only_a_2xx_is_an_arrival() {
    let server = Server::start(vec![status(500), Reply::Cut, status(204)]).await;
    let channels = channels(&[format!("ops={}", server.url("/hook"))]);
    let (id, channel, text) = ("id1".to_owned(), "ops".to_owned(), "hello".to_owned());
    let delivery = Delivery { id, channel, text, at: 5 };
    assert_eq!(channels.deliver(&delivery).await, Err("HTTP 500".to_owned()));
    assert!(channels.deliver(&delivery).await.is_err());
    assert_eq!(channels.deliver(&delivery).await, Ok(()));
    for request in server.seen() {
        assert!(request.starts_with("post /hook http/1.1"), "{request}");
        assert!(request.contains("idempotency-key: id1\r\n"), "{request}");
        assert!(request.ends_with(r#"{"id":"id1","text":"hello","at":5}"#), "{request}");
    }
}
