//! What a server refuses, says and keeps, where a client could take one thing for another.

use crate::support::{Home, Served, calls, eventually, says, slow};
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

const REACT: &str = "react";

fn home(replies: &[Value]) -> Home {
    Home::scripted(replies).with_token()
}

fn is_over(event: &Value) -> bool {
    ["run.succeeded", "run.failed", "run.canceled"].contains(&event["type"].as_str().unwrap())
}

fn conversation(served: &Served) -> String {
    let begun = served.post("/v1/conversations", &json!({})).is(201).json();
    begun["id"].as_str().unwrap().to_owned()
}

#[test]
fn words_that_do_not_answer_a_question_are_refused_with_the_question_which_stays_open() {
    let home = home(&[calls("shell", json!({"command": "echo hi"})), says("Said hi.")]);
    let served = home.serve();
    let path = format!("/v1/conversations/{}/messages", conversation(&served));
    served.post(&path, &json!({"content": "say hi", "loop": REACT})).is(202);
    let open = eventually("the question", || {
        let open = served.get("/v1/interrupts").is(200).json();
        open["data"].as_array().unwrap().first().cloned()
    });
    let unclear = served.post(&path, &json!({"content": "perhaps"})).is(422);
    assert_eq!(unclear.code(), "invalid_input");
    let detail = unclear.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("echo hi"), "{detail}");
    let listed = served.get("/v1/interrupts").json();
    assert_eq!(listed["data"][0]["id"], open["id"]);
    let answered = served.post(&path, &json!({"content": "yes"})).is(202).json();
    assert_eq!(answered["receipt"]["kind"], "answered");
}

#[test]
fn a_socket_of_systemd_that_others_reach_needs_encryption_like_an_address() {
    let home = home(&[]);
    let open = || TcpListener::bind("0.0.0.0:0").unwrap();
    let refused = home.spawn_on_socket(open(), ["serve"]).ended().ends_with(2);
    refused.says(&["--tls-cert", "--insecure"]);
    let mut served = home.spawn_on_socket(open(), ["serve", "--json", "--insecure"]);
    served.until("\"url\"");
}

#[test]
fn the_unit_takes_a_stop_for_a_success_and_waits_for_the_drain() {
    let home = home(&[]).with("EVERLOOP_SERVER__DRAIN", "40s");
    let unit = home.run(["serve", "--print-unit"]).ends_with(0).stdout;
    assert!(unit.contains("SuccessExitStatus=143 130\n"), "{unit}");
    let stop = unit.lines().find_map(|line| line.strip_prefix("TimeoutStopSec=")).unwrap();
    assert!(stop.parse::<u64>().unwrap() > 40 + 8, "{unit}");
}

#[test]
fn a_channel_that_is_added_to_a_running_server_gets_its_answers() {
    let sink = FakeServer::start(vec![CannedReply::status(200, "connection: close\r\n", "")]);
    let home = home(&[says("Heard.")]);
    let secret = ["whsec_", "MfKQ9r8GKYqrTwjU", "PD8ILPZIo2LaLaSw"].concat();
    let file = home.path("secret");
    std::fs::write(&file, &secret).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let served = home.serve();
    assert_eq!(served.get("/v1/channels").json()["data"], json!([]));
    let config = format!(
        "[channels.ops]\nurl = \"{}/\"\nsecret = \"file:{}\"\nworkspace = \"{}\"\n",
        sink.url(),
        file.display(),
        home.path("work").display()
    );
    std::fs::write(home.data().join("config.toml"), config).unwrap();
    eventually("the channel", || {
        (served.get("/v1/channels").json()["data"][0]["name"] == "ops").then_some(())
    });
    let body = r#"{"type":"message","data":{"thread":"t","text":"hi"}}"#;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let at = now.as_secs().to_string();
    let signed = everloop_app::channels::webhook::signature(&secret, "m1", &at, body.as_bytes());
    let headers = [
        format!("Host: {}", served.address),
        "Content-Type: application/json".to_owned(),
        "webhook-id: m1".to_owned(),
        format!("webhook-timestamp: {at}"),
        format!("webhook-signature: {signed}"),
    ];
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    served.raw("POST /hooks/ops", &headers, body).is(202);
    eventually("the answer", || (!sink.seen().is_empty()).then_some(()));
    let sent = &sink.seen()[0];
    assert!(sent.head.to_lowercase().contains("webhook-signature: v1,"), "{}", sent.head);
    assert_eq!(sent.json()["data"]["thread"], "t");
}

#[test]
fn what_was_deleted_is_kept_in_the_audit_with_who_and_when() {
    let home = home(&[says("One."), says("Two.")]);
    let served = home.serve();
    let id = conversation(&served);
    let path = format!("/v1/conversations/{id}/messages");
    let sent = served.post(&path, &json!({"content": "go", "loop": REACT})).is(202).json();
    let run = sent["run"]["id"].as_str().unwrap().to_owned();
    served.events(&run, 0, is_over);
    served.request(&format!("DELETE /v1/conversations/{id}"), &[], "").is(204);
    let lines = |query: &str| -> Vec<Value> {
        let answer = served.get(&format!("/v1/audit{query}")).is(200);
        answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let deleted = lines("?event=deleted");
    let of = |kind: &str| deleted.iter().find(|line| line["deleted"] == kind).unwrap().clone();
    let (of_run, of_conversation) = (of("run"), of("conversation"));
    assert_eq!(deleted.len(), 2, "{deleted:?}");
    assert_eq!((&of_run["run_id"], &of_run["conversation_id"]), (&json!(run), &json!(id)));
    assert_eq!((&of_run["turn_id"], &of_run["by"]), (&json!(run), &json!("api")));
    assert_eq!(of_conversation["conversation_id"], json!(id));
    assert_eq!(&of_run["time"].as_str().unwrap()[10..11], "T", "{of_run}");
    assert_eq!(lines(&format!("?run_id={run}&event=deleted")), [of_run]);
    // The command line tells the same, and what it deletes itself.
    home.run(["run", "--loop", REACT, "again"]).ends_with(0);
    let second = home.newest();
    home.run(["runs", "delete", &second, "--yes"]).ends_with(0);
    let told = home.run(["audit", "--json", "--event", "deleted"]).ends_with(0).lines();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().any(|line| line["run_id"] == json!(second) && line["by"] == "user"));
}

#[test]
fn a_facade_refuses_what_it_cannot_do() {
    let home = home(&[says("Hello.")]);
    let served = home.serve();
    let talk = json!([{"role": "user", "content": "hi"}]);
    let tool = json!([{"type": "function", "function": {"name": "f"}}]);
    for (path, field, value, is_taken) in [
        ("/v1/chat/completions", "n", json!(2), false),
        ("/v1/chat/completions", "n", json!(1), true),
        ("/v1/chat/completions", "tools", tool.clone(), false),
        ("/v1/chat/completions", "tools", json!([]), true),
        ("/v1/chat/completions", "functions", json!([{"name": "f"}]), false),
        ("/v1/chat/completions", "response_format", json!({"type": "json_object"}), false),
        ("/v1/chat/completions", "response_format", json!({"type": "text"}), true),
        ("/v1/chat/completions", "stop", json!("END"), false),
        ("/v1/chat/completions", "temperature", json!(0.5), true),
        ("/v1/responses", "tools", tool, false),
        ("/v1/responses", "text", json!({"format": {"type": "json_schema"}}), false),
        ("/v1/responses", "text", json!({"format": {"type": "text"}}), true),
    ] {
        let mut body = match path {
            "/v1/responses" => json!({"model": "everloop/react", "input": "hi"}),
            _ => json!({"model": "everloop/react", "messages": talk}),
        };
        body[field] = value;
        home.rewrite(&[says("Hello.")]);
        let answer = served.post(path, &body);
        if is_taken {
            answer.is(200);
            continue;
        }
        let error = answer.is(422).json()["error"].clone();
        assert_eq!((&error["param"], &error["code"]), (&json!(field), &json!("invalid_input")));
    }
}

#[test]
fn a_facade_says_that_a_run_failed_and_why() {
    let home = home(&[]);
    let served = home.serve();
    let asked = json!({"model": "everloop/react", "input": "hi"});
    let response = served.post("/v1/responses", &asked).is(200).json();
    assert_eq!(response["status"], "failed");
    assert!(response["error"]["code"].is_string(), "{response}");
    assert!(!response["error"]["message"].as_str().unwrap().is_empty(), "{response}");
    let talk = json!([{"role": "user", "content": "hi"}]);
    let chat = json!({"model": "everloop/react", "messages": talk});
    let chat = served.post("/v1/chat/completions", &chat).is(200).json();
    assert_eq!(chat["everloop"]["status"], "failed");
    assert_eq!(chat["everloop"]["error"]["code"], response["error"]["code"]);
    drop(served);
    home.rewrite(&[calls("shell", json!({"command": "echo hi"})), says("Said hi.")]);
    let served = home.serve();
    let waits = served.post("/v1/responses", &asked).is(200).json();
    assert_eq!((&waits["status"], &waits["error"]), (&json!("incomplete"), &Value::Null));
    assert_eq!(waits["incomplete_details"]["reason"], "waiting_for_user");
}

#[test]
fn a_delete_of_something_that_was_changed_meanwhile_is_refused() {
    let home = home(&[]);
    let served = home.serve();
    let entry = json!({"text": "2030-01-02 15:00 dentist"});
    for (path, body, id, change) in [
        ("/v1/conversations", json!({"title": "one"}), "/id", json!({"title": "two"})),
        ("/v1/todos", json!({"text": "milk"}), "/todo/id", json!({"text": "bread"})),
        ("/v1/schedules", entry, "/entry/id", json!({"duration": "2h"})),
    ] {
        let made = served.post(path, &body).is(201);
        let etag = made.header("etag").unwrap().to_owned();
        let id = made.json().pointer(id).unwrap().to_string().replace('"', "");
        let one = format!("{path}/{id}");
        let json_type = "Content-Type: application/json";
        served.request(&format!("PATCH {one}"), &[json_type], &change.to_string()).is(200);
        let delete = |etag: &str| {
            served.request(&format!("DELETE {one}"), &[&format!("If-Match: {etag}")], "")
        };
        assert_eq!(delete(&etag).is(412).code(), "precondition_failed", "{path}");
        let fresh = served.get(&one).is(200).header("etag").unwrap().to_owned();
        assert!((200..300).contains(&delete(&fresh).status), "{path}");
    }
}

#[test]
fn every_moment_of_the_api_is_written_in_one_form() {
    let home = home(&[calls("shell", json!({"command": "echo hi"})), says("Said hi.")]);
    let served = home.serve();
    let path = format!("/v1/conversations/{}/messages", conversation(&served));
    served.post(&path, &json!({"content": "say hi", "loop": REACT})).is(202);
    let open = eventually("the question", || {
        let open = served.get("/v1/interrupts").is(200).json();
        open["data"].as_array().unwrap().first().cloned()
    });
    let one = format!("/v1/interrupts/{}", open["id"].as_str().unwrap());
    served.post(&format!("{one}/answer"), &json!({"action": "decline"})).is(200);
    let fact = served.post("/v1/memory/facts", &json!({"text": "tea"})).is(201).json();
    let whole = served.get(&format!("/v1/memory/facts/{}", fact["fact_id"].as_str().unwrap()));
    let hit = served.get("/v1/search?q=say").is(200).json()["data"][0].clone();
    let found = served.get("/v1/memory/search?q=tea").json()["data"][0].clone();
    let whole = whole.is(200).json();
    for (moment, what) in [
        (&served.get(&one).json()["answered_at"], "interrupt"),
        (&fact["created_at"], "fact"),
        (&fact["updated_at"], "fact"),
        (&whole["created_at"], "fact with its history"),
        (&whole["history"][0]["at"], "history of a fact"),
        (&found["updated_at"], "fact that was found"),
        (&hit["created_at"], "search hit"),
    ] {
        let text = moment.as_str().unwrap_or_else(|| panic!("{what}: {moment}"));
        assert_eq!((text.len() >= 20, &text[10..11]), (true, "T"), "{what}: {text}");
    }
    let since = |moment: &str| served.get(&format!("/v1/audit?since={moment}"));
    assert!(!since("2020-01-01T00:00:00Z").is(200).body.is_empty());
    assert!(since("2099-01-01T00:00:00Z").is(200).body.is_empty());
    assert!(since("4102444800000").is(200).body.is_empty());
    assert_eq!(since("yesterday-ish").is(422).code(), "invalid_input");
}

#[test]
fn a_message_that_is_queued_begins_its_turn_once_the_run_before_it_is_over() {
    let home = home(&[]);
    home.rewrite_with(&[slow(says("never"))], "second", &[says("Second done.")]);
    let served = home.serve();
    let path = format!("/v1/conversations/{}/messages", conversation(&served));
    let first = served.post(&path, &json!({"content": "first", "loop": REACT})).is(202).json();
    let run = first["run"]["id"].as_str().unwrap();
    served.events(run, 0, |event| event["type"] == "step.started");
    let second = json!({"content": "second", "loop": REACT, "on_busy": "queue",
        "client_request_id": "q"});
    let [queued, again] = [0, 1].map(|_| served.post(&path, &second).is(202).json());
    assert_eq!((&queued["receipt"]["kind"], &queued["run"]), (&json!("queued"), &Value::Null));
    assert_eq!(queued["receipt"], again["receipt"]);
    let pictures = json!({"content": "x", "on_busy": "queue", "attachments": ["a.png"]});
    assert_eq!(served.post(&path, &pictures).is(422).code(), "invalid_input");
    assert_eq!(served.get("/v1/runs").json()["data"].as_array().unwrap().len(), 1);
    served.post(&format!("/v1/runs/{run}/cancel"), &json!({})).is(202);
    let said = eventually("the answer", || {
        let page = served.get(&path).json();
        let said = page["data"].as_array().unwrap().iter();
        let said: Vec<String> =
            said.map(|one| one["content"].as_str().unwrap().to_owned()).collect();
        said.iter().any(|text| text == "Second done.").then_some(said)
    });
    assert_eq!(said.iter().filter(|text| *text == "second").count(), 1, "{said:?}");
    let later = served.post(&path, &second).is(202).json();
    assert_eq!(later["receipt"]["repeated"], true);
    assert_eq!(served.get("/v1/runs").json()["data"].as_array().unwrap().len(), 2);
}

#[test]
fn names_and_limits_of_a_running_server_follow_its_settings() {
    let home = home(&[]);
    let served = home.serve();
    let ask = || {
        let token = "Authorization: Bearer test-token-0123456789";
        served.raw("GET /v1/runs", &["Host: box.lan", token], "").status
    };
    assert_eq!(ask(), 403);
    let config = |more: &str| {
        let text = format!("[server]\nhosts = [\"Box.lan\"]\n{more}");
        std::fs::write(home.data().join("config.toml"), text).unwrap();
    };
    config("");
    eventually("the name", || (ask() == 200).then_some(()));
    config("requests_per_minute = 5\n");
    eventually("the limit", || (ask() == 429).then_some(()));
}

#[test]
fn a_message_answers_only_the_questions_that_its_sender_names() {
    let home = home(&[]);
    let ask = calls("ask_user", json!({"question": "Which colour?"}));
    home.rewrite_with(&[ask, says("Blue it is.")], "yes", &[says("Hello.")]);
    let served = home.serve();
    let path = format!("/v1/conversations/{}/messages", conversation(&served));
    let first = served.post(&path, &json!({"content": "paint", "loop": REACT})).is(202).json();
    let run = first["run"]["id"].as_str().unwrap();
    served.events(run, 0, |event| event["type"] == "interrupt.opened");
    let say = |content: &str, answers: &[&str]| {
        let body = json!({"content": content, "loop": REACT, "answers": answers});
        served.post(&path, &body).is(202).json()["receipt"]["kind"].clone()
    };
    assert_eq!(say("yes", &[]), "turn");
    let open = served.get("/v1/interrupts").is(200).json();
    assert_eq!(open["data"].as_array().unwrap().len(), 1, "{open}");
    assert_eq!(say("blue", &[open["data"][0]["id"].as_str().unwrap()]), "answered");
}

#[test]
fn the_conversation_of_an_entry_of_the_schedule_is_reached_by_its_id() {
    let home = Home::scripted(&[says("Good morning.")]).with_token();
    let served = home.serve();
    let entry = json!({"run": "say hi", "cron": "0 9 * * *", "conversation": "own"});
    let entry = served.post("/v1/schedules", &entry).is(201).json();
    let id = &entry["entry"]["id"];
    served.post(&format!("/v1/schedules/{id}/run"), &json!({}));
    let conversation = eventually("the run", || {
        let runs = served.get("/v1/runs").is(200).json();
        runs["data"][0]["conversation_id"].as_str().map(str::to_owned)
    });
    assert!(conversation.starts_with("conv_schedule_"), "{conversation}");
    for part in ["", "/messages", "/events?limit=1"] {
        served.get(&format!("/v1/conversations/{conversation}{part}")).is(200);
    }
    served.post(&format!("/v1/conversations/{conversation}/read"), &json!({})).is(200);
}
