//! Everything that happens in a conversation, as one stream over HTTP.

use crate::support::{Home, Served, calls, says, script, slow};
use serde_json::{Value, json};

/// A server whose decision is to start a run.
fn deciding() -> Home {
    let home = Home::scripted(&[says("Tidied.")]).with_token();
    let decision = json!({"decision": "reply_and_run", "confidence": 0.9, "reason": "asked",
        "reply": {"content": "On it."},
        "run": {"type": "agent", "title": "Tidy", "conversation_id": null,
            "input": {"goal": "tidy the folder", "loop": "react"}}});
    let file = home.path("decisions.json");
    std::fs::write(&file, script(&[says(&decision.to_string())])).unwrap();
    home.with("AGENT_DECISION_MODEL", &format!("scripted/{}", file.display()))
        .with("EVERLOOP_AGENT__FOLLOWUP_DEPTH", "0")
}

fn begun(served: &Served) -> String {
    let begun = served.post("/v1/conversations", &json!({"title": "one"})).is(201).json();
    begun["id"].as_str().unwrap().to_owned()
}

fn say(served: &Served, conversation: &str, body: &Value) -> Value {
    served.post(&format!("/v1/conversations/{conversation}/messages"), body).is(202).json()
}

fn events_of(conversation: &str) -> String {
    format!("/v1/conversations/{conversation}/events")
}

fn is_final(event: &Value, content: &str) -> bool {
    event["message"]["content"] == content && !event["message"]["source_ref"].is_null()
}

fn without_deltas(events: Vec<(Option<String>, Value)>) -> Vec<(String, Value)> {
    events.into_iter().filter_map(|(id, event)| Some((id?, event))).collect()
}

#[test]
fn one_stream_has_every_run_and_every_message_of_a_turn() {
    let home = deciding();
    let served = home.serve();
    let conversation = begun(&served);
    let turn = say(&served, &conversation, &json!({"content": "please tidy"}))["turn_id"].clone();
    let path = events_of(&conversation);
    let seen = served.stream(&path, "start", |event| is_final(event, "Tidied."));
    let seen = without_deltas(seen);
    for (id, event) in &seen {
        assert_eq!(event["conversation_id"], json!(conversation), "{event}");
        assert!(event["type"].is_string() && event["seq"].is_i64(), "{event}");
        assert_eq!(event["cursor"], json!(id));
    }
    let types: Vec<&str> = seen.iter().map(|(_, event)| event["type"].as_str().unwrap()).collect();
    assert_eq!(types[0], "conversation.changed");
    let of_runs: Vec<&Value> =
        seen.iter().map(|(_, event)| event).filter(|event| event["run_id"].is_string()).collect();
    assert!(of_runs.iter().all(|event| event["turn_id"] == turn), "{of_runs:#?}");
    let ends: Vec<usize> = (0..types.len()).filter(|at| types[*at] == "run.succeeded").collect();
    assert_eq!(ends.len(), 2, "the decision and the run that it started: {types:?}");
    // The end of a run comes before its final message.
    assert_eq!(seen.last().unwrap().1["run_id"], seen[ends[1]].1["run_id"]);
    let messages = served.get(&format!("/v1/conversations/{conversation}/messages")).json();
    let messages = messages["data"].as_array().unwrap();
    assert!(messages.iter().all(|message| message["turn_id"] == turn), "{messages:#?}");
    let said: Vec<&Value> =
        seen.iter().map(|(_, event)| &event["message"]).filter(|said| said.is_object()).collect();
    assert_eq!(said, messages.iter().collect::<Vec<_>>());
    // From every place, what follows is exactly what followed.
    let ids: Vec<&String> = seen.iter().map(|(id, _)| id).collect();
    for (at, id) in ids.iter().enumerate() {
        let rest = pages(&served, &path, id, 7);
        assert_eq!(rest.iter().collect::<Vec<_>>(), ids[at + 1..], "after {id}");
    }
}

/// The cursors of all events after a place, read page by page.
fn pages(served: &Served, path: &str, after: &str, size: usize) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), after.to_owned());
    loop {
        let page = served.get(&format!("{path}?after={after}&limit={size}")).is(200).json();
        let data = page["data"].as_array().unwrap();
        all.extend(data.iter().map(|event| event["cursor"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => return all,
        }
    }
}

#[test]
fn a_reader_of_a_server_that_is_killed_misses_nothing_and_gets_nothing_twice() {
    let script = [calls("list_dir", json!({"path": "."})), slow(says("At last."))];
    let home = Home::scripted(&script).with_token();
    let served = home.serve();
    let address = served.address.clone();
    let conversation = begun(&served);
    let path = events_of(&conversation);
    say(&served, &conversation, &json!({"content": "look and tell", "loop": "react"}));
    let before = served.stream(&path, "start", |event| event["type"] == "tool.completed");
    let last = before.iter().rev().find_map(|(id, _)| id.clone()).unwrap();
    served.process.kill9();
    home.rewrite(&[calls("list_dir", json!({"path": "."})), says("At last.")]);
    let served = home.serve_at(&address);
    let after = served.stream(&path, &last, |event| is_final(event, "At last."));
    let seen = without_deltas(before.into_iter().chain(after).collect());
    let seen: Vec<String> = seen.into_iter().map(|(id, _)| id).collect();
    // The cursor of the same place names other runs as open; what happened is the same.
    assert_eq!(seen.len(), pages(&served, &path, "start", 1_000).len());
    assert_eq!(seen.last(), pages(&served, &path, "start", 1_000).last());
}

#[test]
fn what_is_open_is_told_from_its_beginning_and_changes_of_the_conversation_too() {
    let home = Home::scripted(&[]).with_token();
    home.rewrite_with(&[says("Done.")], "second", &[slow(says("Done."))]);
    let served = home.serve();
    let conversation = begun(&served);
    let path = events_of(&conversation);
    let sent = say(&served, &conversation, &json!({"content": "first", "loop": "react"}));
    served.stream(&path, "start", |event| is_final(event, "Done."));
    let sent_later = say(&served, &conversation, &json!({"content": "second", "loop": "react"}));
    let mut open = served.open_stream(&format!("{path}?after=open"), "");
    let (_, header) = open.next_event().unwrap();
    let run = sent_later["run"]["id"].clone();
    assert_eq!((&header["title"], &header["open_runs"]), (&json!("one"), &json!([run])));
    let (_, first) = open.next_event().unwrap();
    assert_eq!((&first["type"], &first["run_id"]), (&json!("run.started"), &run));
    assert_ne!(sent["run"]["id"], run);
    let mut until = |kind: &str| loop {
        let (_, event) = open.next_event().expect(kind);
        if event["type"] == kind {
            return event;
        }
    };
    served.request(
        &format!("PATCH /v1/conversations/{conversation}"),
        &["Content-Type: application/json"],
        r#"{"title": "two"}"#,
    );
    assert_eq!(until("conversation.changed")["title"], "two");
    served.post(&format!("/v1/conversations/{conversation}/read"), &json!({})).is(200);
    let read = until("conversation.changed");
    assert_eq!(read["read_position"], read["last_position"]);
    // A conversation whose run works is not deleted.
    let delete = format!("DELETE /v1/conversations/{conversation}");
    assert_eq!(served.request(&delete, &[], "").is(409).code(), "conflict");
    served.post(&format!("/v1/runs/{}/cancel", run.as_str().unwrap()), &json!({})).is(202);
    assert_eq!(until("run.canceled")["run_id"], run);
    served.request(&delete, &[], "").is(204);
    until("conversation.deleted");
    assert_eq!(open.next_event(), None, "nothing follows");
    served.get(&path).is(404);
}

#[test]
fn a_cursor_of_another_conversation_or_from_the_future_is_refused() {
    let home = Home::scripted(&[says("Done.")]).with_token();
    let served = home.serve();
    let [one, other] = [0, 1].map(|_| {
        let conversation = begun(&served);
        say(&served, &conversation, &json!({"content": "go", "loop": "react"}));
        conversation
    });
    let seen = served.stream(&events_of(&one), "start", |event| event["type"] == "run.succeeded");
    let cursor = seen.last().unwrap().0.clone().unwrap();
    assert!(cursor.contains("~run_"), "{cursor}");
    served.stream(&events_of(&other), "start", |event| is_final(event, "Done."));
    let refused = |cursor: &str, of: &str| {
        let headers = [&format!("Last-Event-ID: {cursor}"), "Accept: text/event-stream"];
        served.request(&format!("GET {}", events_of(of)), &headers, "").is(400).code()
    };
    assert_eq!(refused(&cursor, &other), "bad_cursor");
    assert_eq!(refused("nonsense", &one), "bad_cursor");
    let page = served.get(&format!("{}?after=start", events_of(&one))).is(200).json();
    let first = page["data"][0]["cursor"].as_str().unwrap().to_owned();
    assert!(!first.contains('~'), "it names no run: {first}");
    assert_eq!(refused(&first, &other), "bad_cursor");
    assert_eq!(refused("99.", &one), "event_ahead");
    let run = cursor.split('~').nth(1).unwrap().split('.').next().unwrap();
    assert_eq!(refused(&format!("1.~{run}.999.1"), &one), "event_ahead");
    let runs = format!("GET /v1/runs/{run}/events");
    for (last, code) in [("999", "event_ahead"), ("x", "event_ahead"), ("-1", "event_ahead")] {
        let last = format!("Last-Event-ID: {last}");
        assert_eq!(served.request(&runs, &[&last], "").is(400).code(), code);
    }
    served.get("/v1/conversations/conv_none/events").is(404);
    served.get("/v1/conversations/..%2f..%2fetc/events").is(404);
}
