//! The HTTP server: who gets in, what is done once, what survives a kill.

use crate::support::{Home, PATIENCE, Served, calls, eventually, says, slow};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

const REACT: &str = "react";

fn home(replies: &[Value]) -> Home {
    Home::scripted(replies).with_token()
}

/// A conversation, and a message in it; the run that works on it.
fn sent(served: &Served, content: &str) -> (String, String) {
    let begun = served.post("/v1/conversations", &json!({})).is(201).json();
    let conversation = begun["id"].as_str().unwrap().to_owned();
    let body = json!({"content": content, "loop": REACT});
    let path = format!("/v1/conversations/{conversation}/messages");
    let sent = served.post(&path, &body).is(202).json();
    (conversation, sent["run"]["id"].as_str().unwrap().to_owned())
}

fn is_over(event: &Value) -> bool {
    ["run.succeeded", "run.failed", "run.canceled"].contains(&event["type"].as_str().unwrap())
}

#[test]
fn only_the_token_opens_and_only_under_the_servers_own_name() {
    let home = home(&[]);
    let served = home.serve();
    let host = format!("Host: {}", served.address);
    assert_eq!(served.raw("GET /healthz", &[&host], "").is(200).json()["status"], "ok");
    let refused = served.raw("GET /v1/runs", &[&host], "").is(401);
    assert_eq!(refused.code(), "unauthorized");
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    let wrong = [host.as_str(), "Authorization: Bearer test-token-0123456780"];
    served.raw("GET /v1/runs", &wrong, "").is(401);
    let token = "Authorization: Bearer test-token-0123456789";
    for foreign in ["Host: evil.example", "Host: evil.example:80", "Host: 127.0.0.1.evil.example"] {
        let refused = served.raw("GET /v1/runs", &[foreign, token], "").is(403);
        assert_eq!(refused.code(), "forbidden_host", "{foreign}");
    }
    let origin = served.request("GET /v1/runs", &["Origin: http://evil.example"], "").is(403);
    assert_eq!(origin.code(), "forbidden_origin");
    assert!(origin.header("access-control-allow-origin").is_none());
    let own = format!("Origin: http://{}", served.address);
    served.request("GET /v1/runs", &[&own], "").is(200);
    let chinese = served.raw("GET /v1/runs", &[&host, "Accept-Language: zh-CN,en;q=0.5"], "");
    assert_eq!(chinese.json()["title"], "需要有效的令牌");
}

#[test]
fn a_message_becomes_a_run_whose_events_can_be_read_again_from_any_place() {
    let home = home(&[says("It is done.")]);
    let served = home.serve();
    let (conversation, run) = sent(&served, "do it");
    let live = served.events(&run, 0, is_over);
    let durable: Vec<i64> = live.iter().filter_map(|(id, _)| *id).collect();
    assert!(durable.is_sorted() && durable.len() > 2, "{live:?}");
    assert_eq!(live.last().unwrap().1["type"], "run.succeeded");
    // A reader who comes back gets exactly what followed.
    let middle = durable[durable.len() / 2];
    let again = served.events(&run, middle, is_over);
    let rest: Vec<i64> = again.iter().filter_map(|(id, _)| *id).collect();
    assert_eq!(rest, durable.iter().copied().filter(|id| *id > middle).collect::<Vec<_>>());
    let page = served.get(&format!("/v1/runs/{run}/events")).is(200).json();
    let listed: Vec<i64> =
        page["data"].as_array().unwrap().iter().map(|e| e["seq"].as_i64().unwrap()).collect();
    assert_eq!(listed, durable);
    let ahead = served.request(
        &format!("GET /v1/runs/{run}/events"),
        &["Last-Event-ID: 999", "Accept: text/event-stream"],
        "",
    );
    assert_eq!(ahead.is(400).code(), "event_ahead");
    let messages = served.get(&format!("/v1/conversations/{conversation}/messages")).json();
    let said: Vec<&str> = messages["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["do it", "It is done."]);
    assert_eq!(messages["data"][1]["source_ref"], json!({"kind": "run", "ref_id": run}));
    home.verified(&run);
}

#[test]
fn what_is_unread_is_read_up_to_a_message_or_altogether() {
    let home = home(&[says("It is done.")]);
    let served = home.serve();
    let (conversation, run) = sent(&served, "do it");
    served.events(&run, 0, is_over);
    let path = format!("/v1/conversations/{conversation}");
    assert_eq!(served.get(&path).json()["has_unread"], true);
    let goal = json!({"message_id": format!("{run}:goal")});
    let partly = served.post(&format!("{path}/read"), &goal).is(200).json();
    assert_eq!(partly["has_unread"], true);
    // Without a body, whatever the content type says.
    let whole = served.request(&format!("POST {path}/read"), &["Content-Type: text/plain"], "");
    assert_eq!(whole.is(200).json()["has_unread"], false);
}

#[test]
fn the_same_key_is_the_same_run_and_another_request_cannot_use_it() {
    let home = home(&[says("done"), says("done")]);
    let served = home.serve();
    let start = |goal: &str| {
        let headers = ["Idempotency-Key: key-1", "Content-Type: application/json"];
        let body = json!({"goal": goal, "loop": REACT}).to_string();
        served.request("POST /v1/runs", &headers, &body)
    };
    let first = start("once").is(202);
    let again = start("once").is(202);
    assert_eq!(first.body, again.body);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(start("twice").is(422).code(), "key_reused");
    let (conversation, _) = sent(&served, "hello");
    let path = format!("/v1/conversations/{conversation}/messages");
    let body = json!({"content": "again", "loop": REACT, "client_request_id": "c1"});
    let [one, other] = [0, 1].map(|_| served.post(&path, &body).is(202).json()["turn_id"].clone());
    assert_eq!(one, other);
}

#[test]
fn a_server_that_is_killed_in_a_run_finishes_it_and_a_reader_misses_nothing() {
    let home = home(&[calls("list_dir", json!({"path": "."})), slow(says("At last."))]);
    let served = home.serve();
    let address = served.address.clone();
    let (_, run) = sent(&served, "look and tell");
    let before = served.events(&run, 0, |event| event["type"] == "tool.completed");
    let last = before.iter().filter_map(|(id, _)| *id).max().unwrap();
    served.process.kill9();
    home.rewrite(&[calls("list_dir", json!({"path": "."})), says("At last.")]);
    let served = home.serve_at(&address);
    let after = served.events(&run, last, is_over);
    assert_eq!(after.last().unwrap().1["type"], "run.succeeded");
    let seen: Vec<i64> = before.iter().chain(&after).filter_map(|(id, _)| *id).collect();
    let page = served.get(&format!("/v1/runs/{run}/events")).json();
    let all: Vec<i64> =
        page["data"].as_array().unwrap().iter().map(|e| e["seq"].as_i64().unwrap()).collect();
    assert_eq!(seen, all);
    home.verified(&run);
}

#[test]
fn a_question_is_answered_over_http_and_only_once() {
    let home = home(&[calls("shell", json!({"command": "echo hi"})), says("Said hi.")]);
    let served = home.serve();
    let (_, run) = sent(&served, "say hi");
    let open = eventually("the question", || {
        let open = served.get("/v1/interrupts").is(200).json();
        open["data"].as_array().unwrap().first().cloned()
    });
    assert_eq!((&open["run_id"], &open["kind"]), (&json!(run), &json!("approve")));
    assert_eq!(open["request"]["preview"]["command"], "echo hi");
    let path = format!("/v1/interrupts/{}/answer", open["id"].as_str().unwrap());
    assert_eq!(served.post(&path, &json!({"action": "dance"})).is(422).code(), "invalid_input");
    served.post(&path, &json!({"action": "accept"})).is(200);
    let events = served.events(&run, 0, is_over);
    assert_eq!(events.last().unwrap().1["type"], "run.succeeded");
    let late = served.post(&path, &json!({"action": "decline"})).is(409);
    assert_eq!(late.code(), "already_answered");
    served.post(&path, &json!({"action": "accept"})).is(200);
    let one = format!("/v1/interrupts/{}", open["id"].as_str().unwrap());
    let past = served.get(&one).is(200).json();
    assert_eq!((&past["status"], &past["kind"]), (&json!("answered"), &json!("approve")));
    assert_eq!(past["message"], open["message"]);
    let listed = served.get("/v1/interrupts?status=answered").is(200).json();
    assert_eq!(listed["data"], json!([past]));
    assert_eq!(served.get("/v1/interrupts").json()["data"], json!([]));
    served.get("/v1/interrupts?status=gone").is(422);
}

#[test]
fn a_run_is_canceled_steered_and_looked_back_at() {
    let home = home(&[slow(says("never"))]);
    let served = home.serve();
    let (_, run) = sent(&served, "wait");
    served.events(&run, 0, |event| event["type"] == "step.started");
    served.post(&format!("/v1/runs/{run}/steer"), &json!({"text": "be quick"})).is(202);
    served.post(&format!("/v1/runs/{run}/cancel"), &json!({})).is(202);
    let events = served.events(&run, 0, is_over);
    assert_eq!(events.last().unwrap().1["type"], "run.canceled");
    assert_eq!(
        served.post(&format!("/v1/runs/{run}/cancel"), &json!({})).is(409).code(),
        "conflict"
    );
    let early = served.get(&format!("/v1/runs/{run}/state?at_event=1")).is(200).json();
    assert_eq!((&early["status"], &early["at_event"]), (&json!("queued"), &json!(1)));
    let shown = served.get(&format!("/v1/runs/{run}")).is(200).json();
    assert_eq!(shown["status"], "canceled");
}

#[test]
fn an_edit_of_something_that_was_changed_meanwhile_is_refused() {
    let home = home(&[]);
    let served = home.serve();
    let begun = served.post("/v1/conversations", &json!({"title": "one"})).is(201);
    let (id, etag) = (begun.json()["id"].as_str().unwrap().to_owned(), begun.header("etag"));
    let edit = |title: &str, etag: &str| {
        let headers = [format!("If-Match: {etag}"), "Content-Type: application/json".to_owned()];
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let body = json!({"title": title}).to_string();
        served.request(&format!("PATCH /v1/conversations/{id}"), &headers, &body)
    };
    let first = edit("two", etag.unwrap()).is(200);
    assert_eq!(first.json()["title"], "two");
    assert_eq!(edit("three", etag.unwrap()).is(412).code(), "precondition_failed");
    served.request(&format!("DELETE /v1/conversations/{id}"), &[], "").is(204);
    served.get(&format!("/v1/conversations/{id}")).is(404);
}

#[test]
fn bad_requests_get_a_problem_with_a_stable_code() {
    let home = home(&[]);
    let served = home.serve();
    let json_type = ["Content-Type: application/json"];
    let post = |body: &str| served.request("POST /v1/runs", &json_type, body);
    assert_eq!(post("{").is(400).code(), "bad_request");
    assert_eq!(post(r#"{"goal": "x", "bogus": 1}"#).is(422).code(), "invalid_input");
    assert_eq!(post(r#"{"goal": "  "}"#).is(422).code(), "invalid_input");
    let unnamed = served.request("POST /v1/runs", &[], r#"{"goal": "x"}"#);
    assert_eq!(unnamed.is(415).code(), "unsupported_media_type");
    let large = "x".repeat(5 << 20);
    assert_eq!(post(&large).is(413).code(), "body_too_large");
    assert_eq!(served.get("/v1/nowhere").is(404).code(), "no_such_route");
    assert_eq!(served.request("PUT /v1/runs", &[], "").is(405).code(), "method_not_allowed");
    for id in ["xx%20yy", "run_nobody", "..%2f..%2fetc", "run_%00"] {
        assert_eq!(served.get(&format!("/v1/runs/{id}")).is(404).code(), "not_found", "{id}");
    }
    let runs = served.get("/v1/runs?limit=0").is(422);
    assert_eq!(runs.code(), "invalid_input");
    let foreign = served.get("/v1/runs?cursor=636f6e766572736174696f6e730a78").is(400);
    assert_eq!(foreign.code(), "bad_cursor");
}

#[test]
fn a_body_that_trickles_in_is_not_waited_for() {
    let home = home(&[]).with("EVERLOOP_SERVER__BODY_TIMEOUT", "300ms");
    let served = home.serve();
    let mut slow = TcpStream::connect(&served.address).unwrap();
    let head = format!(
        "POST /v1/runs HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer test-token-0123456789\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        served.address
    );
    slow.write_all(head.as_bytes()).unwrap();
    let mut answer = [0_u8; 12];
    slow.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    served.get("/v1/runs").is(200);
}

#[test]
fn clients_of_other_assistants_get_their_own_forms() {
    let home = home(&[says("Hello there."), says("Hello there."), says("Hello there.")]);
    let served = home.serve();
    let models = served.get("/v1/models").is(200).json();
    assert_eq!(models["data"][0]["id"], "everloop");
    let talk =
        json!([{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]);
    let whole = served
        .post("/v1/chat/completions", &json!({"model": "everloop/react", "messages": talk}))
        .is(200)
        .json();
    assert_eq!(whole["choices"][0]["message"]["content"], "Hello there.");
    let body = json!({"model": "everloop", "messages": talk, "stream": true});
    let streamed = served.post("/v1/chat/completions", &body).is(200).body;
    let pieces = streamed.lines().filter_map(|line| line.strip_prefix("data: "));
    let (mut text, mut is_done) = (String::new(), false);
    for piece in pieces {
        is_done = piece == "[DONE]";
        let piece: Value = serde_json::from_str(piece).unwrap_or_default();
        text += piece["choices"][0]["delta"]["content"].as_str().unwrap_or_default();
    }
    assert_eq!((text.as_str(), is_done), ("Hello there.", true));
    let response =
        served.post("/v1/responses", &json!({"model": "everloop", "input": "hi"})).is(200).json();
    assert_eq!(response["output"][0]["content"][0]["text"], "Hello there.");
    assert_eq!(response["status"], "completed");
    let id = response["id"].as_str().unwrap();
    assert_eq!(served.get(&format!("/v1/responses/{id}")).is(200).json()["id"], id);
    let later = served.get(&format!("/v1/responses/{id}?stream=true")).is(200).body;
    let events = later.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events.map(|data| serde_json::from_str(data).unwrap()).collect();
    assert_eq!(events[0]["response"]["output"], json!([]), "an event of its own adds the item");
    assert_eq!(events[1]["type"], "response.in_progress");
    assert_eq!(events[2]["type"], "response.output_item.added");
    assert_eq!(events.last().unwrap()["type"], "response.completed");
    let numbers = events.iter().map(|event| event["sequence_number"].as_u64().unwrap());
    assert!(numbers.eq(0..events.len() as u64), "{later}");
    let unread = served.get("/v1/conversations?unread=true").is(200).json();
    assert_eq!(unread["data"], json!([]), "who asked has read the answers");
    let unknown = served.post("/v1/chat/completions", &json!({"model": "gpt", "messages": talk}));
    let error = unknown.is(422).json()["error"].clone();
    assert_eq!((&error["code"], &error["param"]), (&json!("invalid_input"), &json!("model")));
    assert_eq!(error["type"], "invalid_request_error");
}

#[test]
fn todos_are_kept_over_http_as_in_the_terminal() {
    let home = home(&[]);
    let served = home.serve();
    let todo = json!({"text": "buy milk", "due": "2030-01-02 15:00", "tags": ["home", "shop"]});
    let added = served.post("/v1/todos", &todo).is(201).json();
    assert_eq!(added["todo"]["tags"], json!(["home", "shop"]));
    served.post("/v1/todos/1/done", &json!({})).is(200);
    let listed = home.run(["todo", "list", "--json"]).ends_with(0).json();
    assert!(listed["todos"][0]["done"].is_string(), "{listed}");
    assert_eq!(served.get("/v1/todos/9").is(404).code(), "not_found");
    let bad = served.post("/v1/todos", &json!({"text": "x", "due": "gibberish"})).is(422);
    assert_eq!(bad.code(), "invalid_input");
}

#[test]
fn a_server_that_is_told_to_stop_ends_its_streams_and_keeps_the_run() {
    let home = home(&[slow(says("later"))]);
    let served = home.serve();
    let (_, run) = sent(&served, "wait");
    served.events(&run, 0, |event| event["type"] == "step.started");
    served.process.signal(Signal::TERM);
    let ended = served.process.ended().ends_with(143);
    assert!(ended.stderr.contains("Stopping"), "{}", ended.stderr);
    assert_eq!(home.status(&run), "queued");
}

#[test]
fn an_address_that_others_reach_needs_encryption_and_an_odd_one_is_refused() {
    let home = home(&[]);
    home.run(["serve", "--listen", "0.0.0.0:0"]).ends_with(2).says(&["--tls-cert", "--insecure"]);
    home.run(["serve", "--listen", "nowhere"]).ends_with(2).says(&["127.0.0.1:7717"]);
    let unit = home.run(["serve", "--print-unit"]).ends_with(0).stdout;
    assert!(unit.contains("[Service]") && unit.contains(" serve\n"), "{unit}");
}

#[test]
fn a_token_is_made_once_for_its_owner_alone_and_can_be_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::scripted(&[]);
    let shown = home.run(["token", "show"]).ends_with(0).stdout;
    assert_eq!(home.run(["token"]).ends_with(0).stdout, shown);
    let file = home.data().join("server.token");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let rotated = home.run(["token", "rotate"]).ends_with(0).stdout;
    assert_ne!(rotated, shown);
    assert_eq!(home.run(["token", "show"]).ends_with(0).stdout, rotated);
    let named = home.with("EVERLOOP_TOKEN", "short");
    named.run(["token", "show"]).ends_with(5).says(&["16 to 512"]);
}

#[test]
fn a_running_server_takes_a_new_token_over_and_ends_what_the_old_one_opened() {
    let home = Home::scripted(&[]);
    let old = home.run(["token", "show"]).ends_with(0).stdout;
    let served = home.serve();
    let host = format!("Host: {}", served.address);
    let bearer = |token: &str| format!("Authorization: Bearer {}", token.trim());
    let get = |token: &str| served.raw("GET /v1/runs", &[&bearer(token), &host], "").status;
    let json = "Content-Type: application/json";
    let new = [bearer(&old), host.clone(), json.to_owned()];
    let new = new.each_ref().map(String::as_str);
    let begun = served.raw("POST /v1/conversations", &new, "{\"title\":\"x\"}").is(201).json();
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let path = format!("/v1/conversations/{}/events", begun["id"].as_str().unwrap());
    let head = [&bearer(&old), &host, "Accept: text/event-stream"].join("\r\n");
    write!(stream, "GET {path} HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let new = home.run(["token", "rotate"]).ends_with(0).stdout;
    eventually("the new token opens the server", || (get(&new) == 200).then_some(()));
    assert_eq!(get(&old), 401);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "the stream has ended: {rest}");
}

#[test]
fn the_document_of_the_api_describes_every_route_and_every_reference_leads_somewhere() {
    let home = home(&[]);
    let served = home.serve();
    let document = served.get("/openapi.json").is(200).json();
    assert_eq!(document["openapi"], "3.1.0");
    let text = document.to_string();
    for part in text.split("\"$ref\":\"#").skip(1) {
        let link = part.split('"').next().unwrap();
        assert!(document.pointer(link).is_some(), "{link} leads nowhere");
    }
    let page = served.get("/docs").is(200);
    assert!(page.body.contains("/v1/conversations/{id}/messages"));
    for elsewhere in ["http://", "https://", "<script"] {
        assert!(!page.body.contains(elsewhere), "the page refers to {elsewhere}");
    }
    assert!(served.get("/metrics").is(200).body.contains("everloop_runs"));
}
