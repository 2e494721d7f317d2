//! Many runs, many streams: a short form always, the long one with `EVERLOOP_LONG=1`
//! (`./check --long`). What was measured is printed.

use crate::support::{Home, HttpClient, Served, eventually, resident_bytes, says, slow};
use everloop_store::testing::{PgServer, PgTestDb};
use everloop_store::{RunFilter, RunRow, Store};
use everloop_types::Status;
use everloop_types::journal::EntryKind;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

const TOKEN: &str = "Authorization: Bearer test-token-0123456789";

/// How long nothing may happen.
const STALLED: Duration = Duration::from_secs(120);

fn is_long() -> bool {
    std::env::var_os("EVERLOOP_LONG").is_some_and(|value| value == "1")
}

fn size(short: usize, long: usize) -> usize {
    if is_long() { long } else { short }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

fn home() -> Home {
    Home::scripted(&[says("Done.")])
        .with_token()
        .with("EVERLOOP_SERVER__REQUESTS_PER_MINUTE", "0")
        .with("EVERLOOP_WORKER__LEASE", "5s")
}

/// Runs by status, as the server counts them.
fn counted(served: &Served, status: &str) -> usize {
    let metrics = served.get("/metrics").body;
    let name = format!("everloop_runs{{status=\"{status}\"}} ");
    let count = metrics.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok());
    count.unwrap_or(0)
}

/// Queues runs over several connections at once, each with a key of its own: what a restart of the
/// database has refused, or whose answer it has cut off, is sent again and made once.
fn queue(client: &HttpClient, count: usize) {
    let threads = 4;
    std::thread::scope(|scope| {
        for part in 0..threads {
            scope.spawn(move || {
                for number in (part..count).step_by(threads) {
                    let goal = format!("task {number}");
                    let body = json!({"goal": goal, "loop": "react"}).to_string();
                    let key = format!("Idempotency-Key: task-{number}");
                    let headers = [key.as_str(), "Content-Type: application/json"];
                    eventually("the run to be queued", || {
                        let answer = client.request("POST /v1/runs", &headers, &body);
                        assert!([202, 409, 503].contains(&answer.status), "{answer:?}");
                        (answer.status == 202).then_some(())
                    });
                }
            });
        }
    });
}

async fn all_runs(store: &Store) -> Vec<RunRow> {
    let mut all: Vec<RunRow> = Vec::new();
    loop {
        let before = all.last().map(|row| row.run.clone());
        let filter = RunFilter { statuses: Vec::new(), before, most: 500 };
        let page = store.runs().list(&filter).await.unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

/// Each run ended once, and has one final message.
fn check_endings(database: &PgTestDb, count: usize) {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let store = database.store().await;
        let rows = all_runs(&store).await;
        assert_eq!(rows.len(), count);
        for row in &rows {
            assert_eq!(row.status, Status::Succeeded, "{} {:?}", row.run, row.note);
            let entries = store.journal().entries(&row.run, 0, 10_000).await.unwrap();
            let is_end = |kind: &EntryKind| matches!(kind, EntryKind::RunFinished(_));
            assert_eq!(entries.iter().filter(|entry| is_end(&entry.kind)).count(), 1);
            let messages = store.runs().messages(&row.run).await.unwrap();
            assert_eq!(messages.iter().filter(|said| said.slot == "final").count(), 1);
        }
    });
}

#[test]
fn workers_are_killed_and_the_database_restarts_and_every_run_ends_once() {
    let count = size(300, 10_000);
    let server = PgServer::own_durable();
    let database = server.database();
    let home = home().with("EVERLOOP_STORE__DATABASE", &database.url);
    let served = home.serve();
    let began = Instant::now();
    let mut workers: Vec<_> = (0..4).map(|_| home.spawn(["worker", "--quiet"])).collect();
    std::thread::scope(|scope| {
        let client = served.client.clone();
        let queued = scope.spawn(move || queue(&client, count));
        let (mut dice, mut kills, mut has_restarted) = (Dice(7), 0, false);
        let (mut done, mut moved) = (0, Instant::now());
        while done < count {
            let now = counted(&served, "succeeded");
            if now > done {
                (done, moved) = (now, Instant::now());
            }
            assert!(moved.elapsed() < STALLED, "{done} of {count} are done, and nothing moves");
            // A kill for every tenth of the work, and one restart in the middle.
            if done * 10 / count > kills && done < count {
                kills += 1;
                let place = dice.below(workers.len());
                let killed =
                    std::mem::replace(&mut workers[place], home.spawn(["worker", "--quiet"]));
                killed.kill9_if_alive();
            }
            if done > count / 2 && !has_restarted {
                has_restarted = true;
                server.restart();
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
        assert!(kills >= 9, "{kills} workers were killed");
        assert!(has_restarted, "the database was restarted in the middle");
        queued.join().unwrap();
    });
    let seconds = began.elapsed().as_secs_f64();
    println!("{count} runs queued and drained with kills: {:.1} a second", count as f64 / seconds);
    drop(workers);
    check_endings(&database, count);
}

/// What an open stream may take of the server's memory, some three times what it takes.
const STREAM_BYTES_MAX: u64 = 256 << 10;

/// How often the slow reader takes a byte.
const A_BYTE_EVERY: Duration = Duration::from_secs(1);

/// A stream that nobody reads yet.
fn slow_reader(served: &Served, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\n{TOKEN}\r\nAccept: text/event-stream\r\n\r\n",
        served.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[test]
fn many_open_streams_each_get_every_event_and_a_slow_reader_holds_nobody_up() {
    let count = size(50, 500);
    let home = home();
    let served = home.serve();
    let begun = served.post("/v1/conversations", &json!({})).is(201).json();
    let conversation = begun["id"].as_str().unwrap();
    let path = format!("/v1/conversations/{conversation}/events");
    let before = resident_bytes(served.process.pid());
    let mut slow_one = slow_reader(&served, &path);
    let mut streams: Vec<_> =
        (0..count).map(|_| served.open_stream(&format!("{path}?after=open"), "")).collect();
    for stream in &mut streams {
        assert_eq!(stream.next_event().unwrap().1["type"], "conversation.changed");
    }
    let open = resident_bytes(served.process.pid()).saturating_sub(before);
    println!("{count} open streams: {} KiB each", open / 1024 / count as u64);
    assert!(open < count as u64 * STREAM_BYTES_MAX, "{open} bytes for {count} streams");
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let reader = std::thread::spawn(move || {
        let (mut byte, mut read) = ([0_u8; 1], 0);
        // It goes on for as long as the others are timed.
        while stopped.recv_timeout(A_BYTE_EVERY).is_err_and(|e| e == RecvTimeoutError::Timeout) {
            slow_one.read_exact(&mut byte).unwrap();
            read += 1;
        }
        read
    });
    for turn in 0..3 {
        let body = json!({"content": format!("message {turn}"), "loop": "react"});
        let sent = Instant::now();
        served.post(&format!("/v1/conversations/{conversation}/messages"), &body).is(202);
        let mut seen: Option<Vec<String>> = None;
        for stream in &mut streams {
            let of_this = until_final(stream);
            assert_eq!(seen.get_or_insert_with(|| of_this.clone()), &of_this);
        }
        let took = sent.elapsed();
        println!("from a message to its answer on all {count} streams: {took:?}");
        assert!(took < STALLED, "a slow reader holds the others up: {took:?}");
    }
    drop(stop);
    let read = reader.join().unwrap();
    println!("meanwhile the slow reader took {read} bytes");
    let after = resident_bytes(served.process.pid()).saturating_sub(before);
    let most = (count as u64 + 64) * STREAM_BYTES_MAX;
    assert!(after < most, "{after} bytes for {count} streams");
    drop(streams);
    eventually("the end of the streams", || {
        let metrics = served.get("/metrics").body;
        let open = metrics.lines().find_map(|line| line.strip_prefix("everloop_event_streams "));
        open.filter(|open| *open == "1" || *open == "0").map(|_| ())
    });
}

/// The cursors of durable events up to the final message of a run.
fn until_final(stream: &mut crate::support::EventReader) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let (id, event) = stream.next_event().expect("the stream goes on");
        seen.extend(id);
        if !event["message"]["source_ref"].is_null() {
            return seen;
        }
    }
}

#[test]
fn a_stream_is_resumed_after_its_server_was_killed() {
    let home = home();
    home.rewrite(&[slow(says("never"))]);
    let served = home.serve();
    let address = served.address.clone();
    let run = served.post("/v1/runs", &json!({"goal": "x", "loop": "react"})).is(202).json();
    let path = format!("/v1/runs/{}/events", run["id"].as_str().unwrap());
    let seen = served.stream(&path, "0", |event| event["type"] == "step.started");
    let last = seen.iter().rev().find_map(|(id, _)| id.clone()).unwrap();
    home.rewrite(&[says("Done.")]);
    let killed = Instant::now();
    served.process.kill9();
    let served = home.serve_at(&address);
    let mut stream = served.open_stream(&path, &last);
    let (id, first) = stream.next_event().unwrap();
    println!("from the kill to the first event of the resumed stream: {:?}", killed.elapsed());
    assert_ne!(id.as_ref(), Some(&last), "{first}");
    let mut after = vec![(id, first)];
    after.extend(std::iter::from_fn(|| stream.next_event()));
    assert_eq!(after.last().unwrap().1["type"], "run.succeeded");
    // What was seen before and after is everything, once.
    let durable = seen.iter().chain(&after).filter(|(id, _)| id.is_some());
    let numbers: Vec<&Value> = durable.map(|(_, event)| &event["seq"]).collect();
    let page = served.get(&path).is(200).json();
    let all: Vec<&Value> = page["data"].as_array().unwrap().iter().map(|e| &e["seq"]).collect();
    assert_eq!(numbers, all);
}

/// Messages that several clients send at once, each to a conversation of its own: how long each
/// took, in order, and all of them together.
fn sent_at_once(served: &Served, clients: usize, messages: usize) -> (Vec<Duration>, Duration) {
    let path = |_| {
        let begun = served.post("/v1/conversations", &json!({})).is(201).json();
        format!("/v1/conversations/{}/messages", begun["id"].as_str().unwrap())
    };
    let paths: Vec<String> = (0..clients).map(path).collect();
    let began = Instant::now();
    let client = &served.client;
    let mut took: Vec<Duration> = std::thread::scope(|scope| {
        let send = move |path: &str, number: usize| {
            let sent = Instant::now();
            let body = json!({"content": format!("message {number}"), "loop": "react"});
            client.post(path, &body).is(202);
            sent.elapsed()
        };
        let of_client = move |path: &str| {
            (0..messages / clients).map(|number| send(path, number)).collect::<Vec<_>>()
        };
        let all: Vec<_> = paths.iter().map(|path| scope.spawn(move || of_client(path))).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    let whole = began.elapsed();
    took.sort();
    (took, whole)
}

/// Prints what the front door and the queue do in a second.
#[test]
fn messages_are_durable_turns_and_runs_are_drained_on_both_databases() {
    let (messages, runs) = (size(40, 1_000), size(40, 1_000));
    let database = PgServer::durable().database();
    for (name, url) in [("SQLite", ""), ("PostgreSQL", database.url.as_str())] {
        let home =
            if url.is_empty() { home() } else { home().with("EVERLOOP_STORE__DATABASE", url) };
        let served = home.serve();
        let mut sent = 0;
        for clients in [1, 8] {
            let (took, whole) = sent_at_once(&served, clients, messages);
            let rate = took.len() as f64 / whole.as_secs_f64();
            let (half, most) = (took[took.len() / 2], took[took.len() * 99 / 100]);
            println!(
                "{name}, {clients} clients: {rate:.0} messages a second, p50 {half:?}, p99 {most:?}"
            );
            sent += took.len();
            drained(&served, sent);
        }
        drop(served);
        // One process drives the runs of a file.
        let workers: &[usize] = if url.is_empty() { &[1] } else { &[1, 4] };
        for count in workers.iter().copied() {
            let took = drain_runs(&home, runs, count);
            println!(
                "{name}, {count} workers: {:.1} runs a second",
                runs as f64 / took.as_secs_f64()
            );
        }
    }
}

fn drained(served: &Served, least: usize) {
    let (mut done, mut moved) = (0, Instant::now());
    while done < least {
        let now = counted(served, "succeeded");
        if now > done {
            (done, moved) = (now, Instant::now());
        }
        assert!(moved.elapsed() < STALLED, "{done} of {least}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Queues runs while nobody drives them, and lets workers drain them.
fn drain_runs(home: &Home, count: usize, workers: usize) -> Duration {
    let ids: Vec<String> = (0..count).map(|number| queued(home, number)).collect();
    let began = Instant::now();
    let all: Vec<_> = (0..workers).map(|_| home.spawn(["worker", "--drain", "--quiet"])).collect();
    for worker in all {
        worker.ended_within(STALLED * 4).ends_with(0);
    }
    let took = began.elapsed();
    assert_eq!(home.status(ids.last().unwrap()), "succeeded");
    took
}

fn queued(home: &Home, number: usize) -> String {
    let goal = format!("task {number}");
    let args = ["run", "--background", "--loop", "react", goal.as_str()];
    home.run(args).ends_with(0).stdout.trim().to_owned()
}

/// The set that ships, decided by a simple policy: the matrix without a key.
#[test]
fn the_shipped_messages_are_evaluated_with_a_simulated_policy() {
    let home = Home::scripted(&[]);
    let set = include_str!("../../../../docs/decision/messages.jsonl");
    let cases: Vec<Value> = set.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut others: Vec<(String, Value)> = cases
        .iter()
        .map(|case| {
            let message = case["message"].as_str().unwrap();
            (message.to_owned(), simulated_decision(message))
        })
        .collect();
    // A message may be a part of another one: the longer one is looked for first.
    others.sort_by_key(|(message, _)| std::cmp::Reverse(message.len()));
    let others: Vec<Value> = others
        .into_iter()
        .map(|(message, decision)| json!({"goal": message, "replies": [says(&decision.to_string())]}))
        .collect();
    let file = home.path("policy.json");
    let replies = [says(&simulated_decision("").to_string())];
    std::fs::write(&file, json!({"replies": replies, "others": others}).to_string()).unwrap();
    let model = format!("scripted/{}", file.display());
    let table = home.run(["decide", "--evaluate", "--model", &model]).ends_with(0).stdout;
    println!("{table}");
    let report =
        home.run(["decide", "--evaluate", "--json", "--model", &model]).ends_with(0).json();
    let matrix = report["confusion"].as_object().unwrap();
    let rows = matrix.values().flat_map(|row| row.as_object().unwrap().values());
    let total: i64 = rows.filter_map(Value::as_i64).sum();
    assert_eq!(total, i64::try_from(cases.len()).unwrap());
    let right = report["all"]["right"].as_i64().unwrap();
    assert!(right * 2 > total, "better than a coin: {right} of {total}");
    assert!(right < total, "a policy of a few words is not perfect");
}

/// What a policy of a few words would decide.
fn simulated_decision(message: &str) -> Value {
    let lower = message.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let run = |kind: &str, input: Value| {
        json!({"decision": "run", "confidence": 0.8, "reason": "it asks for work",
            "run": {"type": kind, "title": "Task", "conversation_id": null, "input": input}})
    };
    let asks = any(&["? ", "？"]) || any(&["tell me", "explain"]);
    let run = |kind: &str, input: Value| {
        let mut decided = run(kind, input);
        if asks {
            decided["decision"] = json!("reply_and_run");
            decided["reply"] = json!({"content": "Understood."});
        }
        decided
    };
    if any(&["http://", "https://"]) {
        let rest = message[message.find("http").unwrap_or(0)..].to_owned();
        let url =
            rest.split(|c: char| c.is_whitespace() || !c.is_ascii()).next().unwrap_or_default();
        return run("fetch_web", json!({ "url": url }));
    }
    if any(&["index", "索引"]) {
        return run("index_repo", json!({}));
    }
    if any(&["summarize", "summarise", "总结", "概括"]) {
        return run("summarize_conversation", json!({}));
    }
    if any(&["minutes", "seconds", "timer", "分钟", "秒"]) {
        return run("sleep", json!({"seconds": 60}));
    }
    let work = ["fix", "write", "rename", "convert", "update", "check every", "add a"];
    if any(&work) || any(&["修好", "改名", "写", "转成", "检查", "加一节", "清掉"]) {
        return run("agent", json!({"goal": if message.is_empty() { "x" } else { message }}));
    }
    json!({"decision": "reply", "reply": {"content": "Understood."}, "confidence": 0.8,
        "reason": "it is talk"})
}
