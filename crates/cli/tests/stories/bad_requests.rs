//! Requests that must not do harm: each gets a clear error, and nothing is lost.

use crate::support::{Home, Served, calls, eventually, says, slow};
use everloop_app::channels::webhook;
use everloop_store::testing::PgServer;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const TOKEN: &str = "Authorization: Bearer test-token-0123456789";
const JSON: &str = "Content-Type: application/json";

fn home(replies: &[Value]) -> Home {
    Home::scripted(replies).with_token()
}

fn runs(served: &Served) -> usize {
    served.get("/v1/runs").is(200).json()["data"].as_array().unwrap().len()
}

fn started(served: &Served, goal: &str) -> String {
    let run = served.post("/v1/runs", &json!({"goal": goal, "loop": "react"})).is(202).json();
    run["id"].as_str().unwrap().to_owned()
}

fn is_over(event: &Value) -> bool {
    ["run.succeeded", "run.failed", "run.canceled"].contains(&event["type"].as_str().unwrap())
}

/// Sends a body for as long as the server takes it, and reads the answer.
fn flood(served: &Served, framing: &str, chunk: &[u8], count: usize) -> String {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let head = format!(
        "POST /v1/runs HTTP/1.1\r\nHost: {}\r\n{TOKEN}\r\n{JSON}\r\n{framing}\r\n\r\n",
        served.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    for _ in 0..count {
        if stream.write_all(chunk).is_err() {
            break;
        }
    }
    let mut answer = [0_u8; 12];
    match stream.read_exact(&mut answer) {
        Ok(()) => String::from_utf8_lossy(&answer).into_owned(),
        // A server may also close on a client that does not stop.
        Err(_) => "closed".to_owned(),
    }
}

#[test]
fn a_body_of_100_megabytes_is_refused_and_does_not_fill_the_memory() {
    let home = home(&[]);
    let served = home.serve();
    let before = memory(&served);
    let megabyte = vec![b'x'; 1 << 20];
    let declared = flood(&served, "Content-Length: 104857600", &megabyte, 100);
    assert!(["HTTP/1.1 413", "closed"].contains(&declared.as_str()), "{declared}");
    let mut chunk = b"100000\r\n".to_vec();
    chunk.extend_from_slice(&megabyte);
    chunk.extend_from_slice(b"\r\n");
    let chunked = flood(&served, "Transfer-Encoding: chunked", &chunk, 100);
    assert!(["HTTP/1.1 413", "closed"].contains(&chunked.as_str()), "{chunked}");
    assert_eq!(runs(&served), 0);
    let grown = memory(&served).saturating_sub(before);
    assert!(grown < 60 << 20, "it kept {grown} bytes");
}

/// Bytes of memory that the server holds.
fn memory(served: &Served) -> u64 {
    crate::support::resident_bytes(served.process.pid())
}

#[test]
fn a_cursor_opens_only_the_list_that_gave_it() {
    let home = home(&[says("Done."), says("Done.")]);
    let served = home.serve();
    for goal in ["one", "two"] {
        let run = started(&served, goal);
        served.events(&run, 0, is_over);
    }
    let conversations = served.get("/v1/conversations?limit=1").is(200).json();
    let cursor = conversations["next_cursor"].as_str().unwrap().to_owned();
    let conversation = conversations["data"][0]["id"].as_str().unwrap().to_owned();
    served.get(&format!("/v1/conversations?cursor={cursor}")).is(200);
    let refused = served.get(&format!("/v1/conversations?unread=true&cursor={cursor}")).is(400);
    assert_eq!(refused.code(), "bad_cursor", "another filter is another list");
    let lists = [
        "/v1/runs".to_owned(),
        "/v1/search?q=one".to_owned(),
        "/v1/memory/facts".to_owned(),
        format!("/v1/conversations/{conversation}/messages"),
    ];
    for list in lists {
        let mark = if list.contains('?') { '&' } else { '?' };
        for bad in [cursor.as_str(), "zz", "00", "%F0%9F%98%80"] {
            let refused = served.get(&format!("{list}{mark}cursor={bad}")).is(400);
            assert_eq!(refused.code(), "bad_cursor", "{list} {bad}");
        }
    }
}

#[test]
fn the_events_of_a_trimmed_run_are_said_to_be_gone() {
    let home = home(&[says("Done.")]);
    let served = home.serve();
    let run = started(&served, "one");
    served.events(&run, 0, is_over);
    let conversation = served.get(&format!("/v1/runs/{run}")).json()["conversation_id"].clone();
    let conversation = conversation.as_str().unwrap();
    served.process.signal(Signal::TERM);
    served.process.ended().ends_with(143);
    let database = rusqlite::Connection::open(home.database()).unwrap();
    database.execute("UPDATE runs SET trimmed_at = 1", []).unwrap();
    database.execute("DELETE FROM journal", []).unwrap();
    drop(database);
    let served = home.serve();
    for last in ["0", "1"] {
        let headers = [&format!("Last-Event-ID: {last}"), "Accept: text/event-stream"];
        let gone = served.request(&format!("GET /v1/runs/{run}/events"), &headers, "").is(410);
        assert_eq!(gone.code(), "events_trimmed");
    }
    let path = format!("/v1/conversations/{conversation}/events");
    let gone = served.get(&format!("{path}?after=0.~{run}.1.1")).is(410);
    assert_eq!(gone.code(), "events_trimmed");
    // Who begins at the start gets what is left: the messages.
    let left = served.get(&path).is(200).json();
    let kinds: Vec<&Value> =
        left["data"].as_array().unwrap().iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["conversation.changed", "conversation.message", "conversation.message"]);
}

#[test]
fn a_schedule_that_never_fires_or_has_no_such_zone_is_refused_in_words() {
    let home = home(&[]);
    let served = home.serve();
    let refused = |body: Value| {
        let refused = served.post("/v1/schedules", &body).is(422);
        assert_eq!(refused.code(), "invalid_input");
        refused.json()["detail"].as_str().unwrap().to_owned()
    };
    let never = refused(json!({"run": "tidy", "cron": "0 0 30 2 *"}));
    assert!(never.contains("0 0 30 2 *"), "{never}");
    let odd = refused(json!({"run": "tidy", "cron": "0 25 * * *"}));
    assert!(odd.contains("25"), "{odd}");
    let zone = refused(json!({"run": "tidy", "cron": "0 9 * * *", "zone": "Mars/Olympus"}));
    assert!(zone.contains("Mars/Olympus"), "{zone}");
    let past = refused(json!({"run": "tidy", "text": "2020-01-05 09:00 look"}));
    assert!(past.contains("has passed"), "{past}");
    refused(json!({"run": "tidy", "cron": "0 9 * * *", "overlap": "sometimes"}));
    refused(json!({"run": "x".repeat(30_000), "cron": "0 9 * * *"}));
    assert_eq!(served.get("/v1/schedules").json()["entries"], json!([]));
}

#[test]
fn a_schedule_that_starts_runs_is_kept_over_http() {
    let home = home(&[says("Tidied.")]);
    let served = home.serve();
    let body = json!({"run": "tidy up", "cron": "0 9 * * *", "zone": "Europe/Berlin",
        "loop": "react", "overlap": "queue_one", "pause_after": 3});
    let added = served.post("/v1/schedules", &body).is(201).json();
    assert!(added["preflight"].is_array(), "{added}");
    let id = added["entry"]["id"].as_i64().unwrap();
    let path = format!("/v1/schedules/{id}");
    served.post(&format!("{path}/pause"), &json!({})).is(200);
    served.post(&format!("{path}/resume"), &json!({})).is(200);
    let fired = served.post(&format!("{path}/run"), &json!({})).is(202).json();
    let run = fired["firing"]["run"].as_str().unwrap().to_owned();
    let events = served.events(&run, 0, is_over);
    assert_eq!(events.last().unwrap().1["type"], "run.succeeded");
    let firings = served.get(&format!("{path}/runs")).is(200).json();
    assert_eq!(firings["firings"][0]["run"], json!(run));
    let rehearsed = json!({"from": "2030-01-01", "to": "2030-01-04", "crash_at": "all"});
    let rehearsed = served.post("/v1/schedules/simulate", &rehearsed).is(200).json();
    assert_eq!(rehearsed["ok"], true, "{rehearsed}");
    let odd = json!({"from": "2030-01-04", "to": "2030-01-01"});
    served.post("/v1/schedules/simulate", &odd).is(422);
    served.post("/v1/schedules/99/pause", &json!({})).is(404);
    let listed = home.run(["schedule", "list", "--json"]).ends_with(0).json();
    assert!(listed.to_string().contains("tidy up"), "{listed}");
}

#[test]
fn a_fact_of_a_megabyte_is_refused_and_nothing_is_remembered() {
    let home = home(&[]);
    let served = home.serve();
    let large = served.post("/v1/memory/facts", &json!({"text": "x".repeat(1 << 20)})).is(422);
    assert_eq!(large.code(), "invalid_input");
    let empty = served.post("/v1/memory/facts", &json!({"text": "  "})).is(422);
    assert_eq!(empty.code(), "invalid_input");
    assert_eq!(served.get("/v1/memory/facts").json()["data"], json!([]));
}

#[test]
fn a_webhook_that_is_forged_old_or_repeated_starts_no_second_run() {
    let home = home(&[says("Heard.")]);
    let file = home.path("secret");
    std::fs::write(&file, SECRET).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let config = format!(
        "[channels.ops]\nurl = \"http://127.0.0.1:9/\"\nsecret = \"file:{}\"\nworkspace = \"{}\"\n",
        file.display(),
        home.path("work").display()
    );
    std::fs::write(home.data().join("config.toml"), config).unwrap();
    let served = home.serve();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let body = r#"{"type":"message","data":{"thread":"t","text":"hi"}}"#;
    let post = |id: &str, at: u64, signed: &str| {
        let at = at.to_string();
        let signature = webhook::signature(SECRET, id, &at, signed.as_bytes());
        let headers = [
            format!("Host: {}", served.address),
            JSON.to_owned(),
            format!("webhook-id: {id}"),
            format!("webhook-timestamp: {at}"),
            format!("webhook-signature: {signature}"),
        ];
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        served.raw("POST /hooks/ops", &headers, body)
    };
    post("msg_1", now, "another body").is(401);
    post("msg_1", now - 3_600, body).is(401);
    post("msg_1", now + 3_600, body).is(401);
    assert_eq!(runs(&served), 0);
    let first = post("msg_1", now, body).is(202).json();
    let again = post("msg_1", now, body).is(202).json();
    assert_eq!((&first["duplicate"], &again["duplicate"]), (&json!(false), &json!(true)));
    assert_eq!(first["run_id"], again["run_id"]);
    assert_eq!(runs(&served), 1);
    let listed = served.get("/v1/channels").is(200).json();
    let known = &listed["data"][0];
    assert_eq!((&known["name"], &known["kind"]), (&json!("ops"), &json!("webhook")));
    let nobody = served.post("/v1/channels/ops/test", &json!({})).is(502);
    assert_eq!(nobody.code(), "channel_unavailable");
    served.post("/v1/channels/dev/test", &json!({})).is(404);
}

#[test]
fn a_message_that_was_emitted_under_an_id_keeps_its_words() {
    let home = home(&[says("Done.")]);
    let served = home.serve();
    let run = started(&served, "work");
    served.events(&run, 0, is_over);
    let path = format!("/internal/runs/{run}/emit-message");
    let said = |words: &str| json!({"content": words, "message_id": "m1"});
    assert_eq!(served.post(&path, &said("half way")).is(200).json()["emitted"], true);
    assert_eq!(served.post(&path, &said("half way")).is(200).json()["emitted"], false);
    assert_eq!(served.post(&path, &said("all done")).is(409).code(), "conflict");
    // Without an id each is a message of its own.
    let unnamed = |words: &str| served.post(&path, &json!({ "content": words }));
    for words in ["from outside", "from outside", "something else"] {
        assert_eq!(unnamed(words).is(200).json()["emitted"], true, "{words}");
    }
}

/// Longer than a lease lasts, and than a process waits before it stops to trust its own.
const LEASES: Duration = Duration::from_secs(65);

#[test]
fn while_the_database_is_gone_requests_are_told_so_and_afterwards_nothing_is_missing() {
    let server = PgServer::own_durable();
    let home = home(&[]).with("EVERLOOP_STORE__DATABASE", &server.database().url);
    home.rewrite_with(&[says("Done.")], "meanwhile", &[slow(says("Done."))]);
    let served = home.serve();
    let run = started(&served, "before");
    served.events(&run, 0, is_over);
    let waiting = started(&served, "meanwhile");
    let mut stream = served.open_stream(&format!("/v1/runs/{waiting}/events"), "0");
    while stream.next_event().unwrap().1["type"] != "step.started" {}
    server.stop();
    let gone = Instant::now();
    let key = ["Idempotency-Key: once", JSON];
    let body = json!({"goal": "after", "loop": "react"}).to_string();
    let refused = eventually("a refusal", || {
        let answer = served.request("POST /v1/runs", &key, &body);
        (answer.status == 503).then_some(answer)
    });
    assert_eq!(refused.code(), "database_unavailable");
    assert!(refused.header("retry-after").is_some());
    let host = format!("Host: {}", served.address);
    served.raw("GET /healthz", &[&host], "").is(200);
    assert_eq!(served.raw("GET /readyz", &[&host], "").status, 503);
    // The long form outlasts every lease, so that the server has to give its runs up by itself.
    let away = if std::env::var_os("EVERLOOP_LONG").is_some() { LEASES } else { Duration::ZERO };
    while gone.elapsed() < away {
        served.raw("GET /healthz", &[&host], "").is(200);
        std::thread::park_timeout(Duration::from_millis(500));
    }
    server.start();
    let accepted = eventually("the database", || {
        let answer = served.request("POST /v1/runs", &key, &body);
        (answer.status == 202).then(|| answer.json())
    });
    let late = accepted["id"].as_str().unwrap();
    let events = served.events(late, 0, is_over);
    assert_eq!(events.last().unwrap().1["type"], "run.succeeded");
    // The stream that was open goes on.
    served.post(&format!("/v1/runs/{waiting}/cancel"), &json!({})).is(202);
    let last = std::iter::from_fn(|| stream.next_event()).last().unwrap().1;
    assert_eq!(last["type"], "run.canceled");
    assert_eq!(runs(&served), 3, "the key made one run");
}

#[test]
fn files_of_a_run_are_given_out_as_it_wrote_them_and_no_others() {
    let replies = [
        calls("write_file", json!({"path": "out/report.html", "content": "<script>x</script>"})),
        calls("write_file", json!({"path": "plain.txt", "content": "mine"})),
        says("Written."),
    ];
    let home = home(&replies).with("EVERLOOP_APPROVALS__MODE", "all");
    std::fs::write(home.work("secret.txt"), "not yours").unwrap();
    let served = home.serve();
    let run = started(&served, "write");
    let events = served.events(&run, 0, |event| is_over(event) || event["type"] == "run.waiting");
    assert_eq!(events.last().unwrap().1["type"], "run.succeeded", "{events:#?}");
    let path = format!("/v1/runs/{run}/artifacts");
    let listed = served.get(&path).is(200).json();
    let all = listed["data"].as_array().unwrap();
    let names: Vec<&Value> = all.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["out/report.html", "plain.txt"]);
    assert!(all.iter().all(|one| one["state"] == "as_written"), "{listed}");
    let page = served.get(all[0]["url"].as_str().unwrap()).is(200);
    assert_eq!(page.body, "<script>x</script>");
    assert_eq!(page.header("content-type"), Some("application/octet-stream"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert!(page.header("content-security-policy").unwrap().starts_with("sandbox"));
    assert!(page.header("content-disposition").unwrap().starts_with("attachment;"));
    for name in ["secret.txt", "..%2Fwork%2Fsecret.txt", "%2Fetc%2Fpasswd", "out", "..", "%00"] {
        served.get(&format!("{path}/{name}")).is(404);
    }
    // What somebody else wrote in its place is not the run's.
    std::fs::write(home.work("plain.txt"), "somebody else's").unwrap();
    assert_eq!(served.get(&format!("{path}/plain.txt")).is(409).code(), "conflict");
    std::fs::remove_file(home.work("out/report.html")).unwrap();
    std::os::unix::fs::symlink(home.work("secret.txt"), home.work("out/report.html")).unwrap();
    assert_eq!(served.get(&format!("{path}/out%2Freport.html")).is(409).code(), "conflict");
    std::fs::remove_file(home.work("plain.txt")).unwrap();
    let states = served.get(&path).json();
    assert_eq!(states["data"][1]["state"], "missing");
    served.get("/v1/runs/run_none/artifacts").is(404);
}

#[test]
fn every_name_under_which_a_server_is_addressed_has_to_be_its_own() {
    let home = home(&[]);
    let served = home.serve();
    let own = format!("Host: {}", served.address);
    let own_origin = format!("Origin: http://{}", served.address);
    let path = "GET /v1/runs";
    served.raw(path, &[&own, TOKEN, &own_origin], "").is(200);
    for hosts in [[own.as_str(), "Host: evil.example"], ["Host: evil.example", own.as_str()]] {
        let refused = served.raw(path, &[&hosts[..], &[TOKEN]].concat(), "").is(403);
        assert_eq!(refused.code(), "forbidden_host");
    }
    for odd in ["[[127.0.0.1]]", "127.0.0.1]", "evil@127.0.0.1", "127.1", "localhost.evil", ""] {
        let status = served.raw(path, &[&format!("Host: {odd}"), TOKEN], "").status;
        assert!([400, 403].contains(&status), "{odd}: {status}");
    }
    let absolute = served.raw("GET http://evil.example/v1/runs", &[&own, TOKEN], "").is(403);
    assert_eq!(absolute.code(), "forbidden_host");
    let two = [own.as_str(), TOKEN, &own_origin, "Origin: http://evil.example"];
    assert_eq!(served.raw(path, &two, "").is(403).code(), "forbidden_origin");
    // Nothing that leads around the routes leads around the token.
    for line in ["GET /healthz/../v1/runs", "GET //v1/runs", "GET /healthz%2f..%2fv1%2fruns"] {
        served.raw(line, &[&own], "").is(401);
    }
    for line in ["GET /hooks/../v1/runs", "POST /hooks/%2e%2e/v1/runs"] {
        served.raw(line, &[&own], "").is(404);
    }
}

#[test]
fn a_request_that_could_be_read_in_two_ways_is_refused() {
    let home = home(&[]);
    let served = home.serve();
    let smuggled = "0\r\n\r\nGET /version HTTP/1.1\r\nHost: x\r\n\r\n";
    for framing in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Content-Length: 0\r\nContent-Length: 40",
        "Transfer-Encoding: xchunked",
        "Content-Length: -1",
        "Content-Length: 4\r\nAuthorization : x",
    ] {
        let answer = flood(&served, framing, smuggled.as_bytes(), 1);
        assert_eq!(answer, "HTTP/1.1 400", "{framing}");
    }
    let huge = format!("X-Long: {}", "a".repeat(1 << 20));
    assert_eq!(flood(&served, &huge, b"", 1), "HTTP/1.1 431");
    assert_eq!(runs(&served), 0);
}

/// A zero byte is text in JSON, and PostgreSQL has no place for it.
#[test]
fn odd_texts_are_taken_or_refused_and_never_a_failure_of_the_server() {
    let database = PgServer::durable().database();
    for url in ["", database.url.as_str()] {
        let home = home(&[says("Done.")]);
        let home = if url.is_empty() { home } else { home.with("EVERLOOP_STORE__DATABASE", url) };
        let served = home.serve();
        for odd in ["a\u{0}b", "\u{202e}abc", "\u{fffd}\u{10ffff}", "'; DROP TABLE runs; --"] {
            let begun = served.post("/v1/conversations", &json!({ "title": odd }));
            assert!(begun.status < 500, "{begun:?}");
            let bodies = [
                ("/v1/runs", json!({"goal": odd, "loop": "react", "title": odd})),
                ("/v1/runs", json!({"type": odd, "input": {"goal": odd}})),
                ("/v1/todos", json!({"text": odd, "tags": [odd]})),
                ("/v1/schedules", json!({"run": odd, "cron": "0 9 * * *", "zone": odd})),
                ("/v1/memory/facts", json!({"text": odd})),
                ("/v1/schedules/simulate", json!({"from": odd, "to": odd})),
                (
                    "/v1/chat/completions",
                    json!({"model": odd, "messages": [{"role": "user",
                    "content": odd}]}),
                ),
            ];
            for (path, body) in bodies {
                let answer = served.post(path, &body);
                assert!(answer.status < 500, "{path} {body}: {answer:?}");
            }
            let key = format!("Idempotency-Key: {}", odd.replace('\u{0}', ""));
            let answer = served.request("POST /v1/conversations", &[&key], "");
            assert!(answer.status < 500, "{answer:?}");
        }
        for path in [
            "/v1/search?q=%00",
            "/v1/conversations?q=%00&workspace=%00",
            "/v1/messages/%00",
            "/v1/memory/facts?q=%00&workspace=%00",
            "/v1/runs?status=%00",
            "/v1/todos?q=%00",
            "/v1/conversations/conv_x/events?after=%00",
            "/v1/runs/run_x/artifacts/%00",
        ] {
            let answer = served.get(path);
            assert!(answer.status < 500, "{path}: {answer:?}");
        }
    }
}
