//! `Idempotency-Key` over several servers of one database: one of them does the work.

use crate::support::http::{HttpAnswer, HttpClient};
use crate::support::{Home, eventually, says, slow};
use everloop_store::testing::PgServer;
use serde_json::json;

fn keyed(client: &HttpClient, key: &str, path: &str, body: &str) -> HttpAnswer {
    let key = format!("Idempotency-Key: {key}");
    let headers = [key.as_str(), "Content-Type: application/json"];
    client.request(&format!("POST {path}"), &headers, body)
}

#[test]
fn a_replayed_answer_has_the_headers_of_the_first_one() {
    let home = Home::scripted(&[]).with_token();
    let served = home.serve();
    let begin = || keyed(&served, "k", "/v1/conversations", r#"{"title": "one"}"#).is(201);
    let (first, again) = (begin(), begin());
    assert_eq!(first.body, again.body);
    for name in ["etag", "location", "content-type"] {
        assert!(first.header(name).is_some(), "{name}: {first:?}");
        assert_eq!(first.header(name), again.header(name), "{name}");
    }
    assert_eq!(first.header("idempotency-replayed"), None);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    // A refusal is not kept: a better request may use the key.
    keyed(&served, "r", "/v1/runs", r#"{"goal": ""}"#).is(422);
    keyed(&served, "r", "/v1/conversations", "{}").is(201);
}

#[test]
fn two_servers_that_get_a_request_with_the_same_key_do_it_once() {
    let database = PgServer::durable().database();
    let home = |replies: &[_]| {
        Home::scripted(replies).with_token().with("EVERLOOP_STORE__DATABASE", &database.url)
    };
    let homes = [home(&[slow(says("Late."))]), home(&[says("Soon.")])];
    let servers = homes.each_ref().map(Home::serve);
    let [one, other] = servers.each_ref().map(|served| served.client.clone());
    let answers: Vec<HttpAnswer> = std::thread::scope(|scope| {
        let send = |number: usize| {
            let client = if number.is_multiple_of(2) { &one } else { &other };
            scope.spawn(move || keyed(client, "same", "/v1/conversations", r#"{"title": "x"}"#))
        };
        let threads: Vec<_> = (0..8).map(send).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert!(!made.is_empty());
    for answer in &answers {
        assert!(answer.status == 201 || answer.code() == "key_in_use", "{answer:?}");
        assert!(answer.status != 201 || answer.body == made[0].body, "{answer:?}");
    }
    let listed = one.get("/v1/conversations").is(200).json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1, "{listed}");
    // While one server works on a request, the other one says so, and has no answer of its own.
    let talk = json!({"model": "everloop", "messages": [{"role": "user", "content": "hi"}]});
    let talk = talk.to_string();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            keyed(&one, "talk", "/v1/chat/completions", &talk).is(200);
        });
        eventually("the run of the request", || {
            let runs = other.get("/v1/runs").json();
            (runs["data"].as_array().unwrap().len() == 1).then_some(())
        });
        let busy = keyed(&other, "talk", "/v1/chat/completions", &talk).is(409);
        assert_eq!(busy.json()["error"]["code"], "key_in_use");
        let reused = keyed(&other, "talk", "/v1/chat/completions", "{}").is(422);
        assert_eq!(reused.json()["error"]["code"], "key_reused");
        let run = other.get("/v1/runs").json()["data"][0]["id"].as_str().unwrap().to_owned();
        other.post(&format!("/v1/runs/{run}/cancel"), &json!({})).is(202);
    });
    let again = keyed(&other, "talk", "/v1/chat/completions", &talk).is(200);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
}
