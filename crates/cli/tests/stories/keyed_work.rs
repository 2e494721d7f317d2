//! Requests with a key whose answer was lost: the client hung up, or the server died between the
//! work and its answer. The same request again finds what was done.

use crate::support::http::{HttpAnswer, HttpClient};
use crate::support::{Home, Served, eventually, says, slow};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;

const TOKEN: &str = "Authorization: Bearer test-token-0123456789";
const JSON: &str = "Content-Type: application/json";

fn keyed(client: &HttpClient, key: &str, path: &str, body: &Value) -> HttpAnswer {
    let key = format!("Idempotency-Key: {key}");
    client.request(&format!("POST {path}"), &[key.as_str(), JSON], &body.to_string())
}

/// A home whose server forgets every answer at once, as if it had died before it was kept.
fn forgetful(replies: &[Value]) -> Home {
    Home::scripted(replies).with_token().with("EVERLOOP_SERVER__KEY_LIFETIME", "0s")
}

fn conversation(served: &Served) -> String {
    let begun = served.post("/v1/conversations", &json!({})).is(201).json();
    begun["id"].as_str().unwrap().to_owned()
}

fn count(served: &Served, path: &str, field: &str) -> usize {
    served.get(path).is(200).json()[field].as_array().unwrap().len()
}

#[test]
fn a_request_with_a_key_is_done_once_though_its_client_hangs_up() {
    let home = Home::scripted(&[]).with_token();
    let served = home.serve();
    for number in 0..24 {
        let (key, body) = (format!("k{number}"), json!({"text": format!("milk {number}")}));
        let (host, text) = (format!("Host: {}", served.address), body.to_string());
        let mut stream = TcpStream::connect(&served.address).unwrap();
        let (length, named) =
            (format!("Content-Length: {}", text.len()), format!("Idempotency-Key: {key}"));
        let head = [host.as_str(), TOKEN, JSON, &length, &named].join("\r\n");
        let request = format!("POST /v1/todos HTTP/1.1\r\n{head}\r\n\r\n{text}");
        stream.write_all(request.as_bytes()).unwrap();
        drop(stream);
        eventually("the answer", || {
            (keyed(&served, &key, "/v1/todos", &body).status == 201).then_some(())
        });
    }
    assert_eq!(count(&served, "/v1/todos", "todos"), 24);
}

#[test]
fn a_key_whose_answer_was_lost_finds_the_todo_the_conversation_and_the_fact_that_it_made() {
    let home = forgetful(&[]);
    let served = home.serve();
    for (path, body, list, field, id) in [
        ("/v1/todos", json!({"text": "milk"}), "/v1/todos", "todos", "/todo/id"),
        ("/v1/conversations", json!({"title": "x"}), "/v1/conversations", "data", "/id"),
        ("/v1/memory/facts", json!({"text": "tea"}), "/v1/memory/facts", "data", "/fact_id"),
    ] {
        let [first, again] = [0, 1].map(|_| keyed(&served, "k", path, &body).is(201).json());
        assert_eq!(first.pointer(id).unwrap(), again.pointer(id).unwrap(), "{path}");
        assert_eq!(count(&served, list, field), 1, "{path}");
        let other = keyed(&served, "other", path, &body).is(201).json();
        assert_ne!(first.pointer(id).unwrap(), other.pointer(id).unwrap(), "{path}");
    }
}

#[test]
fn a_key_whose_answer_was_lost_finds_the_fork_and_the_run_of_a_schedule_that_it_made() {
    let home = forgetful(&[says("One."), says("Two."), says("Three.")]);
    let served = home.serve();
    let goal = json!({"goal": "say it", "loop": "react"});
    let run = served.post("/v1/runs", &goal).is(202).json()["id"].as_str().unwrap().to_owned();
    served.events(&run, 0, |event| event["type"] == "run.succeeded");
    let path = format!("/v1/runs/{run}/fork");
    let fork = || keyed(&served, "f", &path, &json!({"message": "again"})).is(202).json();
    assert_eq!(fork()["id"], fork()["id"]);
    assert_eq!(count(&served, "/v1/runs", "data"), 2);

    let entry = json!({"run": "tidy up", "cron": "0 3 1 1 *", "loop": "react"});
    let added = || keyed(&served, "s", "/v1/schedules", &entry).is(201).json();
    let number = added()["entry"]["id"].as_i64().unwrap();
    assert_eq!(added()["entry"]["id"], number);
    let path = format!("/v1/schedules/{number}/run");
    for _ in 0..2 {
        keyed(&served, "n", &path, &json!({})).is(202);
    }
    assert_eq!(count(&served, &format!("/v1/runs?schedule={number}"), "data"), 1);
    keyed(&served, "m", &path, &json!({})).is(202);
    assert_eq!(count(&served, &format!("/v1/runs?schedule={number}"), "data"), 2);
}

#[test]
fn words_to_a_run_that_come_again_under_a_key_are_told_once() {
    let home = forgetful(&[slow(says("never"))]);
    let served = home.serve();
    let goal = json!({"goal": "wait", "loop": "react"});
    let run = served.post("/v1/runs", &goal).is(202).json()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run}/steer");
    for _ in 0..2 {
        keyed(&served, "k", &path, &json!({"text": "be quick"})).is(202);
    }
    keyed(&served, "other", &path, &json!({"text": "be brief"})).is(202);
    assert_eq!(told(&served, &run), ["be quick", "be brief"]);
}

/// What a run was told, once it is canceled.
fn told(served: &Served, run: &str) -> Vec<String> {
    served.post(&format!("/v1/runs/{run}/cancel"), &json!({})).is(202);
    let events = served.events(run, 0, |event| event["type"] == "run.canceled");
    let steered = events.iter().filter(|(_, event)| event["type"] == "run.steered");
    steered.map(|(_, event)| event["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_message_that_comes_again_under_the_header_alone_meets_its_own_run() {
    let home = forgetful(&[slow(says("never"))]);
    let served = home.serve();
    let path = format!("/v1/conversations/{}/messages", conversation(&served));
    let say = |key: &str, content: &str, on_busy: &str| {
        let body = json!({"content": content, "loop": "react", "on_busy": on_busy});
        keyed(&served, key, &path, &body)
    };
    let first = say("a", "wait", "reject").is(202).json();
    assert_eq!(say("a", "wait", "reject").is(202).json()["run"]["id"], first["run"]["id"]);
    assert_eq!(say("b", "more", "reject").is(409).code(), "conflict");
    let next = say("c", "instead", "interrupt").is(202).json();
    let again = say("c", "instead", "interrupt").is(202).json();
    assert_eq!(next["run"]["id"], again["run"]["id"]);
    let run = next["run"]["id"].as_str().unwrap();
    for _ in 0..2 {
        let steered = say("d", "be quick", "steer").is(202).json();
        assert_eq!(steered["receipt"]["kind"], "steered");
        assert_eq!(steered["run"]["id"], next["run"]["id"]);
    }
    say("e", "be brief", "steer").is(202);
    let status = served.get(&format!("/v1/runs/{run}")).is(200).json()["status"].clone();
    assert!(["queued", "running"].contains(&status.as_str().unwrap()), "{status}");
    assert_eq!(told(&served, run), ["be quick", "be brief"]);
}

#[test]
fn a_message_that_steered_a_run_steers_no_later_one_when_it_comes_again() {
    let home = Home::scripted(&[slow(says("never"))]).with_token();
    let served = home.serve();
    let path = format!("/v1/conversations/{}/messages", conversation(&served));
    let begin = || {
        let body = json!({"content": "wait", "loop": "react"});
        let sent = served.post(&path, &body).is(202).json();
        let run = sent["run"]["id"].as_str().unwrap().to_owned();
        served.events(&run, 0, |event| event["type"] == "step.started");
        run
    };
    let first = begin();
    let words = json!({"content": "be quick", "on_busy": "steer", "client_request_id": "s"});
    let sent = served.post(&path, &words).is(202).json();
    assert_eq!(sent["receipt"], json!({"kind": "steered", "run_id": first, "repeated": false}));
    served.post(&format!("/v1/runs/{first}/cancel"), &json!({})).is(202);
    served.events(&first, 0, |event| event["type"] == "run.canceled");
    let second = begin();
    let again = served.post(&path, &words).is(202).json();
    assert_eq!(again["receipt"], json!({"kind": "steered", "run_id": first, "repeated": true}));
    assert!(told(&served, &second).is_empty());
}

#[test]
fn a_streamed_answer_that_is_asked_for_again_under_its_key_follows_the_same_run() {
    let home = Home::scripted(&[says("Hello."), says("Hello again.")]).with_token();
    let served = home.serve();
    let talk = json!([{"role": "user", "content": "hi"}]);
    for (key, path, body) in [
        (
            "chat",
            "/v1/chat/completions",
            json!({"model": "everloop/react", "messages": talk, "stream": true}),
        ),
        ("response", "/v1/responses", json!({"model": "everloop", "input": "hi", "stream": true})),
    ] {
        let before = count(&served, "/v1/runs", "data");
        let [first, again] = [0, 1].map(|_| keyed(&served, key, path, &body).is(200).body);
        assert!(first.contains("Hello"), "{first}");
        assert!(again.contains("Hello"), "{again}");
        assert_eq!(count(&served, "/v1/runs", "data"), before + 1, "{path}");
        assert_eq!(count(&served, "/v1/conversations?one_off=true", "data"), before + 1, "{path}");
    }
}

#[test]
fn a_form_that_a_page_sends_again_after_a_lost_answer_is_carried_out_once() {
    let home = Home::scripted(&[]).with_token();
    let served = home.serve();
    let origin = format!("Origin: http://{}", served.address);
    let add = |key: &str| {
        let key = format!("Idempotency-Key: {key}");
        let form = "Content-Type: application/x-www-form-urlencoded";
        let body = "text=buy+milk&as=todo&back=%2Fagenda";
        served.request("POST /do/agenda/add", &[form, &key, &origin], body)
    };
    for _ in 0..2 {
        let answer = add("k1").is(303);
        assert_eq!(answer.header("location"), Some("/agenda"), "{}", answer.head);
    }
    assert_eq!(count(&served, "/v1/todos", "todos"), 1);
    add("k2").is(303);
    assert_eq!(count(&served, "/v1/todos", "todos"), 2);
}

#[test]
fn a_key_before_anybody_is_known_keeps_nothing() {
    let home = Home::scripted(&[]).with_token();
    let served = home.serve();
    let host = format!("Host: {}", served.address);
    let hook = |id: &str| {
        let (key, id) = ("Idempotency-Key: k", format!("webhook-id: {id}"));
        served.raw("POST /hooks/ops", &[&host, JSON, key, &id], "{}")
    };
    // With a key that was reserved, the second body would be refused as another one.
    assert_eq!(hook("a").status, hook("b").status);
    keyed(&served, "k", "/v1/todos", &json!({"text": "milk"})).is(201);
    assert_eq!(hook("c").is(404).header("idempotency-replayed"), None);
}
