//! The server by its less-travelled ways: WebSockets, TLS, a socket of systemd, outside workers,
//! limits, pages of other origins.

use crate::support::http::HttpAnswer;
use crate::support::{Home, PATIENCE, Served, calls, eventually, says, slow};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

const TOKEN: &str = "Authorization: Bearer test-token-0123456789";
const REACT: &str = "react";

fn home(replies: &[Value]) -> Home {
    Home::scripted(replies).with_token()
}

fn started(served: &Served, goal: &str) -> String {
    let run = served.post("/v1/runs", &json!({"goal": goal, "loop": REACT})).is(202).json();
    run["id"].as_str().unwrap().to_owned()
}

fn is_over(event: &Value) -> bool {
    ["run.succeeded", "run.failed", "run.canceled"].contains(&event["type"].as_str().unwrap())
}

/// A WebSocket at a path; its status line if it was refused.
fn socket(served: &Served, path: &str, more: &[&str]) -> Result<BufReader<TcpStream>, String> {
    let stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let host = format!("Host: {}", served.address);
    let fixed = [
        host.as_str(),
        TOKEN,
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    let headers = [&fixed[..], more].concat().join("\r\n");
    (&stream).write_all(format!("GET {path} HTTP/1.1\r\n{headers}\r\n\r\n").as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.read_line(&mut status).unwrap();
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0);
    }
    if status.contains(" 101 ") { Ok(reader) } else { Err(status) }
}

/// The next text of a WebSocket; none once it is closed. Nobody masks what a server sends.
fn next_text(reader: &mut impl Read) -> Option<Value> {
    loop {
        let mut head = [0_u8; 2];
        reader.read_exact(&mut head).ok()?;
        let length = match head[1] {
            126 => {
                let mut more = [0_u8; 2];
                reader.read_exact(&mut more).unwrap();
                usize::from(u16::from_be_bytes(more))
            }
            127 => {
                let mut more = [0_u8; 8];
                reader.read_exact(&mut more).unwrap();
                usize::try_from(u64::from_be_bytes(more)).unwrap()
            }
            short => usize::from(short),
        };
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        match head[0] & 0x0f {
            1 => return Some(serde_json::from_slice(&body).unwrap()),
            8 => return None,
            _ => {}
        }
    }
}

#[test]
fn a_websocket_has_the_same_events_as_a_stream_and_refuses_pages_of_others() {
    let home = home(&[calls("list_dir", json!({"path": "."})), says("Seen.")]);
    let served = home.serve();
    let run = started(&served, "look");
    served.events(&run, 0, is_over);
    // Now that it is over, nothing comes that only those see who watch.
    let streamed: Vec<Value> =
        served.events(&run, 0, is_over).into_iter().map(|(_, event)| event).collect();
    let path = format!("/v1/runs/{run}/ws");
    let mut open = socket(&served, &path, &[]).unwrap();
    let sent: Vec<Value> = std::iter::from_fn(|| next_text(&mut open)).collect();
    assert_eq!(sent, streamed);
    let middle = streamed[streamed.len() / 2]["seq"].as_i64().unwrap();
    let mut open = socket(&served, &format!("{path}?after={middle}"), &[]).unwrap();
    let rest: Vec<Value> = std::iter::from_fn(|| next_text(&mut open)).collect();
    let expected: Vec<&Value> =
        streamed.iter().filter(|event| event["seq"].as_i64().unwrap() > middle).collect();
    assert_eq!(rest.iter().collect::<Vec<_>>(), expected);
    let own = format!("Origin: http://{}", served.address);
    assert!(socket(&served, &path, &[&own]).is_ok());
    let refused = socket(&served, &path, &["Origin: http://evil.example"]).unwrap_err();
    assert!(refused.contains(" 403 "), "{refused}");
    let begun = served.post("/v1/conversations", &json!({"title": "x"})).is(201).json();
    let path = format!("/v1/conversations/{}/ws", begun["id"].as_str().unwrap());
    let refused = socket(&served, &path, &["Origin: http://evil.example"]).unwrap_err();
    assert!(refused.contains(" 403 "), "{refused}");
    served.get(&format!("/v1/runs/{run}/ws")).is(400);
}

#[test]
fn a_websocket_keeps_the_place_of_its_connection() {
    let home = home(&[]);
    let served = home.serve();
    let begun = served.post("/v1/conversations", &json!({"title": "x"})).is(201).json();
    let path = format!("/v1/conversations/{}/ws", begun["id"].as_str().unwrap());
    // The connection that asks is one of them; earlier ones may be on their way out.
    let is_open = |count: &str| {
        let line = format!("everloop_http_connections {count}\n");
        let metrics = || served.get("/metrics").is(200).body.contains(&line);
        (0..3).all(|_| metrics()).then_some(())
    };
    eventually("only the asking connection is open", || is_open("1"));
    let open = socket(&served, &path, &[]).unwrap();
    eventually("the WebSocket is counted", || is_open("2"));
    drop(open);
    eventually("its place is free again", || is_open("1"));
}

/// A certificate for this machine and its key.
fn certificate(home: &Home) -> [String; 2] {
    let files = ["cert.pem", "key.pem"].map(|name| home.path(name).display().to_string());
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-out", &files[0], "-keyout", &files[1]])
        .output()
        .expect("openssl makes the certificate of this test: install openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    files
}

#[test]
fn other_machines_are_served_over_tls_and_a_bad_certificate_is_said_at_once() {
    let home = home(&[]);
    let [cert, key] = certificate(&home);
    let listen = ["serve", "--listen", "0.0.0.0:0", "--tls-key", key.as_str(), "--tls-cert"];
    let mut server = home.spawn(listen.iter().chain([&cert.as_str()]));
    let line = server.until("https://");
    let port = line.split("0.0.0.0:").nth(1).unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    server.until("server.hosts");
    let ask = |url: &str| {
        let args = ["--silent", "--max-time", "20", "--cacert", &cert, "--header", TOKEN, url];
        Command::new("curl").args(args).output().expect("curl is needed: install curl")
    };
    let told = ask(&format!("https://localhost:{port}/v1/runs"));
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("\"data\":[]"), "{told}");
    let plain = ask(&format!("http://127.0.0.1:{port}/v1/runs"));
    assert!(!plain.status.success(), "nothing is answered without TLS: {plain:?}");
    for (file, text) in [("not.pem", "no certificate"), ("empty.pem", "")] {
        let bad = home.path(file);
        std::fs::write(&bad, text).unwrap();
        let bad = bad.display().to_string();
        home.run(listen.iter().chain([&bad.as_str()])).ends_with(5).says(&["certificate"]);
    }
    home.run(listen.iter().chain([&"/nowhere.pem"])).ends_with(5).says(&["certificate"]);
}

#[test]
fn a_socket_that_was_opened_before_the_server_is_taken_over() {
    let home = home(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // A client that comes before the server waits in the socket.
    let early = TcpStream::connect(&address).unwrap();
    let process = home.spawn_on_socket(listener, ["serve", "--json"]);
    let served = Served::start(process);
    assert_eq!(served.address, address);
    served.get("/v1/runs").is(200);
    (&early)
        .write_all(format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes())
        .unwrap();
    early.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answer = [0_u8; 12];
    (&early).read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
}

#[test]
fn an_outside_worker_says_a_thing_once_however_often_it_sends_it() {
    let home = home(&[says("Done.")]);
    let served = home.serve();
    let begun = served.post("/v1/conversations", &json!({})).is(201).json();
    let path = format!("/v1/conversations/{}/messages", begun["id"].as_str().unwrap());
    let sent = served.post(&path, &json!({"content": "go", "loop": REACT})).is(202).json();
    let run = sent["run"]["id"].as_str().unwrap();
    served.events(run, 0, is_over);
    let emit = |body: &Value| served.post(&format!("/internal/runs/{run}/emit-message"), body);
    let news = json!({"content": "half way", "message_id": "m1"});
    let (first, again) = (emit(&news).is(200).json(), emit(&news).is(200).json());
    assert_eq!((&first["emitted"], &again["emitted"]), (&json!(true), &json!(false)));
    assert_eq!(first["message_id"], again["message_id"]);
    let listed = served.get(&path).json();
    let said: Vec<&str> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["go", "Done.", "half way"]);
    assert_eq!(emit(&json!({"content": "  "})).is(422).code(), "invalid_input");
    let nobody = "/internal/runs/run_nobody/emit-message";
    served.post(nobody, &json!({"content": "x"})).is(404);
    let host = format!("Host: {}", served.address);
    served.raw(&format!("POST {nobody}"), &[&host], "").is(401);
}

#[test]
fn calls_are_in_the_audit_and_reminders_are_read_once() {
    let home = home(&[calls("list_dir", json!({"path": "."})), says("Seen.")]);
    let served = home.serve();
    let run = started(&served, "look");
    served.events(&run, 0, is_over);
    let lines = |query: &str| -> Vec<Value> {
        let answer = served.get(&format!("/v1/audit{query}")).is(200);
        assert_eq!(answer.header("content-type"), Some("application/jsonl"));
        answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let of_run = lines(&format!("?run_id={run}&tool=list_dir"));
    assert_eq!(of_run.len(), 1, "{of_run:?}");
    assert_eq!((&of_run[0]["run_id"], &of_run[0]["tool"]), (&json!(run), &json!("list_dir")));
    assert!(lines("?tool=shell").is_empty() && lines("?since=4102444800000").is_empty());
    served.get("/v1/audit?run_id=nobody").is(404);
    let unread = || served.get("/v1/notifications").is(200).json()["unread"].clone();
    assert_eq!(unread(), json!([]));
    let todo = json!({"text": "buy milk", "due": "2020-01-02 15:00", "remind": "2020-01-02 14:00"});
    served.post("/v1/todos", &todo).is(201);
    assert_eq!(unread()[0]["title"], "buy milk");
    served.post("/v1/notifications/seen", &json!({})).is(204);
    assert_eq!(unread(), json!([]));
}

#[test]
fn a_run_is_forked_and_goes_on_under_another_loop() {
    let home = home(&[says("First."), says("Second.")]);
    let served = home.serve();
    let run = started(&served, "say it");
    served.events(&run, 0, is_over);
    let fork = json!({"message": "again, please"});
    let fork = served.post(&format!("/v1/runs/{run}/fork"), &fork).is(202).json();
    assert_eq!((&fork["forked_from"], &fork["loop"]), (&json!(run), &json!(REACT)));
    let forked = fork["id"].as_str().unwrap();
    assert_eq!(served.events(forked, 0, is_over).last().unwrap().1["type"], "run.succeeded");
    home.verified(forked);
    let ahead = served.post(&format!("/v1/runs/{run}/fork"), &json!({"at_event": 999}));
    assert_eq!(ahead.is(409).code(), "conflict");
    let over = json!({"loop": "plan-replan"});
    assert_eq!(served.post(&format!("/v1/runs/{run}/switch"), &over).is(409).code(), "conflict");
    drop(served);
    home.rewrite(&[slow(says("never"))]);
    let served = home.serve();
    let open = started(&served, "wait");
    served.events(&open, 0, |event| event["type"] == "step.started");
    let path = format!("/v1/runs/{open}/switch");
    let switched = served.post(&path, &over).is(202).json();
    assert_eq!((&switched["run_id"], &switched["loop"]), (&json!(open), &json!("plan-replan")));
    assert_eq!(served.post(&path, &json!({"loop": "waltz"})).is(422).code(), "invalid_input");
    served.post(&format!("/v1/runs/{open}/cancel"), &json!({})).is(202);
}

#[test]
fn a_call_that_nobody_saw_end_is_settled_over_http() {
    let command = json!({"command": "echo once >> log; cat gate"});
    let home = home(&[calls("shell", command), says("I do not know.")]);
    let made = Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let first = home.spawn(["run", "--loop", REACT, "--yes", "append a line"]);
    eventually("the line", || (home.read("log") == "once\n").then_some(()));
    first.kill9();
    home.deserted();
    let run = home.newest();
    home.run(["runs", "resume", &run]).ends_with(7);
    let served = home.serve();
    let path = format!("/v1/runs/{run}/settle");
    assert_eq!(served.post(&path, &json!({"verdict": "perhaps"})).is(422).code(), "invalid_input");
    let settled = served.post(&path, &json!({"verdict": "happened"})).is(200).json();
    assert_eq!(settled["tool"], "shell");
    assert!(!settled["settled"].is_null(), "{settled}");
    assert_eq!(served.post(&path, &json!({"verdict": "not"})).is(409).code(), "conflict");
    let shown = served.get(&format!("/v1/runs/{run}")).json();
    assert_eq!(shown["unknowns"][0]["settled"]["verdict"], "happened");
}

#[test]
fn who_asks_too_often_is_told_when_to_come_back() {
    let home = home(&[]).with("EVERLOOP_SERVER__REQUESTS_PER_MINUTE", "3");
    let served = home.serve();
    for _ in 0..3 {
        served.get("/v1/runs").is(200);
    }
    let refused = served.get("/v1/runs").is(429);
    assert_eq!(refused.code(), "too_many_requests");
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    for probe in ["/healthz", "/readyz", "/version"] {
        served.get(probe).is(200);
    }
}

#[test]
fn the_agenda_is_read_as_files_and_moment_by_moment() {
    let home = home(&[]);
    let served = home.serve();
    let todo = json!({"text": "buy milk", "due": "2030-01-02 15:00", "priority": 1});
    let todo = served.post("/v1/todos", &todo).is(201).json();
    assert_eq!(todo["todo"]["priority"], 1);
    let text = served.get("/v1/todos.txt").is(200);
    assert!(text.body.contains("buy milk"), "{}", text.body);
    assert_eq!(text.header("content-type"), Some("text/plain; charset=utf-8"));
    let entry = json!({"text": "2030-01-02 15:00 dentist", "repeat": "daily"});
    let entry = served.post("/v1/schedules", &entry).is(201).json();
    for (path, name) in [("/v1/todos.ics", "buy milk"), ("/v1/schedules.ics", "dentist")] {
        let calendar = served.get(path).is(200);
        assert_eq!(calendar.header("content-type"), Some("text/calendar; charset=utf-8"));
        assert!(calendar.body.starts_with("BEGIN:VCALENDAR"), "{}", calendar.body);
        let names = ["buy milk", "dentist"].map(|one| calendar.body.contains(one));
        assert_eq!(names, [name == "buy milk", name == "dentist"], "{path}");
    }
    let path = format!("/v1/schedules/{}/occurrences", entry["entry"]["id"]);
    let (mut days, mut cursor) = (Vec::new(), String::new());
    loop {
        let range = "from=2030-01-03T00:00:00Z&to=2030-01-08T00:00:00Z&limit=2";
        let page = served.get(&format!("{path}?{range}{cursor}")).is(200).json();
        let starts = page["data"].as_array().unwrap().iter().map(|one| one["start"].clone());
        days.extend(starts.map(|start| start.as_str().unwrap()[..10].to_owned()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let wanted = ["2030-01-03", "2030-01-04", "2030-01-05", "2030-01-06", "2030-01-07"];
    assert_eq!(days, wanted);
    served.get("/v1/schedules/99/occurrences").is(404);
    assert_eq!(
        served.get(&format!("{path}?from=soon")).is(422).json()["errors"][0]["field"],
        "from"
    );
    let unread = served.get("/v1/notifications/unread_count").is(200).json();
    assert_eq!(unread, json!({"reminders": 0, "conversations": 0, "messages": 0}));
}

#[test]
fn a_server_that_is_full_answers_health_checks_and_tells_others_to_come_back() {
    let home = home(&[]).with("EVERLOOP_SERVER__CONNECTIONS", "1");
    let served = home.serve();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
    let first = TcpStream::connect(&served.address).unwrap();
    first.set_read_timeout(Some(PATIENCE)).unwrap();
    (&first).write_all(request.as_bytes()).unwrap();
    let mut answer = [0_u8; 12];
    (&first).read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    served.get("/healthz").is(200);
    let refused = served.get("/v1/runs").is(503);
    assert_eq!(refused.code(), "too_many_connections");
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(first);
    eventually("room", || (served.get("/v1/runs").status == 200).then_some(()));
}

#[test]
fn a_page_of_an_origin_that_the_settings_name_may_call_and_no_other_one() {
    let mine = "https://my.example";
    let home = home(&[]).with("EVERLOOP_SERVER__ORIGINS", mine);
    let served = home.serve();
    let host = format!("Host: {}", served.address);
    let preflight = |origin: &str| -> HttpAnswer {
        let headers = [
            host.as_str(),
            origin,
            "Access-Control-Request-Method: PATCH",
            "Access-Control-Request-Headers: authorization, if-match",
        ];
        served.raw("OPTIONS /v1/conversations", &headers, "")
    };
    let named = format!("Origin: {mine}");
    let asked = preflight(&named).is(204);
    assert_eq!(asked.header("access-control-allow-origin"), Some(mine));
    assert!(asked.header("access-control-allow-methods").unwrap().contains("PATCH"));
    let sent = asked.header("access-control-allow-headers").unwrap();
    assert!(sent.contains("authorization") && sent.contains("if-match"), "{sent}");
    assert_eq!(asked.header("access-control-allow-credentials"), None);
    let called = served.request("GET /v1/runs", &[&named], "").is(200);
    assert_eq!(called.header("access-control-allow-origin"), Some(mine));
    assert!(called.header("vary").unwrap().contains("Origin"));
    // It reads refusals too, and needs the token like everybody.
    let refused = served.raw("GET /v1/runs", &[&host, &named], "").is(401);
    assert_eq!(refused.header("access-control-allow-origin"), Some(mine));
    for foreign in
        ["Origin: https://evil.example", "Origin: null", "Origin: https://my.example.evil"]
    {
        let asked = preflight(foreign).is(403);
        assert_eq!(asked.code(), "forbidden_origin");
        let called = served.request("GET /v1/runs", &[foreign], "").is(403);
        for answer in [asked, called] {
            assert_eq!(answer.header("access-control-allow-origin"), None, "{foreign}");
            assert!(answer.header("vary").unwrap().contains("Origin"));
        }
    }
    // A browser that asks under a name that is not ours learns nothing.
    let headers = ["Host: evil.example", &named, "Access-Control-Request-Method: GET"];
    served.raw("OPTIONS /v1/runs", &headers, "").is(403);
}

#[test]
fn a_host_that_is_not_known_is_named_with_the_setting_that_adds_it() {
    let home = home(&[]).with("EVERLOOP_SERVER__HOSTS", "box.lan");
    let served = home.serve();
    served.raw("GET /v1/runs", &["Host: box.lan:7717", TOKEN], "").is(200);
    let refused = served.raw("GET /v1/runs", &["Host: other.lan:7717", TOKEN], "").is(403);
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("other.lan ") && detail.contains("server.hosts"), "{detail}");
    let chinese = ["Host: other.lan", TOKEN, "Accept-Language: zh-CN"];
    let refused = served.raw("GET /v1/runs", &chinese, "").is(403);
    assert!(refused.json()["detail"].as_str().unwrap().contains("请将它加入 server.hosts"));
}

#[test]
fn runs_are_listed_by_conversation_and_by_what_started_them() {
    let home = home(&[says("One."), says("Two."), says("Three.")]);
    let served = home.serve();
    let ids = |query: &str| -> Vec<String> {
        let page = served.get(&format!("/v1/runs{query}")).is(200).json();
        let data = page["data"].as_array().unwrap();
        data.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
    };
    let begun = served.post("/v1/conversations", &json!({})).is(201).json();
    let conversation = begun["id"].as_str().unwrap();
    let path = format!("/v1/conversations/{conversation}/messages");
    let sent = served.post(&path, &json!({"content": "go", "loop": REACT})).is(202).json();
    let in_it = sent["run"]["id"].as_str().unwrap().to_owned();
    started(&served, "elsewhere");
    let entry = json!({"run": "tidy up", "cron": "0 3 * * *", "loop": REACT});
    let added = served.post("/v1/schedules", &entry).is(201).json();
    let number = added["entry"]["id"].as_i64().unwrap();
    served.post(&format!("/v1/schedules/{number}/run"), &json!({})).is(202);
    assert_eq!(ids("").len(), 3);
    assert_eq!(ids(&format!("?conversation_id={conversation}")), [in_it]);
    assert_eq!(ids(&format!("?schedule={number}")).len(), 1);
    assert!(ids("?schedule=99").is_empty() && ids("?conversation_id=conv_none").is_empty());
}

#[test]
fn a_message_to_a_busy_conversation_steers_is_refused_or_interrupts() {
    let home = home(&[slow(says("never"))]);
    let served = home.serve();
    let begun = served.post("/v1/conversations", &json!({})).is(201).json();
    let path = format!("/v1/conversations/{}/messages", begun["id"].as_str().unwrap());
    let say = |content: &str, on_busy: &str| {
        served.post(&path, &json!({"content": content, "loop": REACT, "on_busy": on_busy}))
    };
    let sent = say("wait", "reject").is(202).json();
    let run = sent["run"]["id"].as_str().unwrap().to_owned();
    served.events(&run, 0, |event| event["type"] == "step.started");
    assert_eq!(say("more", "reject").is(409).code(), "conflict");
    let steered = say("be quick", "steer").is(202).json();
    assert_eq!(
        (&steered["receipt"]["kind"], &steered["run"]["id"]),
        (&json!("steered"), &json!(run))
    );
    let other = json!({"content": "something else", "loop": REACT, "on_busy": "interrupt",
        "client_request_id": "once"});
    let next = served.post(&path, &other).is(202).json();
    assert_ne!(next["run"]["id"], json!(run));
    let again = served.post(&path, &other).is(202).json();
    assert_eq!(
        again["run"]["id"], next["run"]["id"],
        "a repeated request cancels nothing of its own"
    );
    assert_ne!(again["run"]["status"], "canceled");
    let ended = served.events(&run, 0, is_over);
    assert_eq!(ended.last().unwrap().1["type"], "run.canceled");
    assert_eq!(say("x", "dance").is(422).code(), "invalid_input");
}

#[test]
fn facts_are_looked_for_as_a_run_looks_for_them() {
    let home = home(&[]);
    let served = home.serve();
    for text in ["deploy on Friday", "部署在周五下午进行", "the user drinks tea"] {
        served.post("/v1/memory/facts", &json!({"text": text})).is(201);
    }
    let found = |q: &str| -> Vec<String> {
        let page = served.get(&format!("/v1/memory/search?q={q}")).is(200).json();
        let data = page["data"].as_array().unwrap();
        data.iter().map(|fact| fact["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(found("friday"), ["deploy on Friday"]);
    assert_eq!(found("%E9%83%A8%E7%BD%B2"), ["部署在周五下午进行"]);
    assert_eq!(served.get("/v1/memory/search?q=%20").is(422).code(), "invalid_input");
    // Words of a list reach beyond the page that they begin in.
    for number in 0..12 {
        served.post("/v1/memory/facts", &json!({"text": format!("note {number}")})).is(201);
    }
    let page = served.get("/v1/memory/facts?q=TEA&limit=5").is(200).json();
    assert_eq!(page["data"][0]["text"], "the user drinks tea");
}

#[test]
fn conversations_are_listed_page_by_page_by_words_and_by_what_is_unread() {
    let home = home(&[]);
    let served = home.serve();
    for number in 0..7 {
        let title = json!({"title": format!("garden {number}")});
        served.post("/v1/conversations", &title).is(201);
    }
    served.post("/v1/conversations", &json!({"title": "kitchen"})).is(201);
    let all = |query: &str| -> Vec<String> {
        let (mut titles, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/conversations?limit=3{query}{cursor}");
            let page = served.get(&path).is(200).json();
            let data = page["data"].as_array().unwrap();
            titles.extend(data.iter().map(|one| one["title"].as_str().unwrap().to_owned()));
            let Some(next) = page["next_cursor"].as_str() else { return titles };
            cursor = format!("&cursor={next}");
        }
    };
    let every = all("");
    assert_eq!(every.len(), 8, "{every:?}");
    assert_eq!(all("&q=garden").len(), 7);
    assert!(all("&unread=true").is_empty(), "nothing was said in them");
    let source = served.get("/v1/conversations?limit=1").json()["data"][0]["title_source"].clone();
    assert_eq!(source, "given");
}
