//! Several servers and workers on one database: a reader goes from one server to the next, and each
//! process is replaced while messages come in.

use crate::support::{Home, HttpClient, Served, Spawned, calls, eventually, says, slow};
use everloop_store::testing::PgServer;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Machines that share a database and a script, and nothing else.
struct Cluster {
    script: Home,
    machines: Vec<Home>,
}

impl Cluster {
    fn new(machines: usize, replies: &[Value]) -> Self {
        let database = PgServer::durable().database();
        let script = Home::scripted(replies);
        let model = format!("scripted/{}", script.path("script.json").display());
        let machine = |_| {
            Home::new()
                .with_token()
                .with("EVERLOOP_STORE__DATABASE", &database.url)
                .with("EVERLOOP_MODEL", &model)
        };
        Self { machines: (0..machines).map(machine).collect(), script }
    }
}

fn begun(server: &HttpClient) -> String {
    let begun = server.post("/v1/conversations", &json!({"title": "one"})).is(201).json();
    begun["id"].as_str().unwrap().to_owned()
}

/// The ids of the durable ones.
fn ids(events: Vec<(Option<String>, Value)>) -> Vec<String> {
    events.into_iter().filter_map(|(id, _)| id).collect()
}

#[test]
fn a_reader_goes_on_at_another_server_where_the_killed_one_left_off() {
    let look = calls("list_dir", json!({"path": "."}));
    let cluster = Cluster::new(2, &[look.clone(), slow(says("At last."))]);
    let first = cluster.machines[0].serve();
    let conversation = begun(&first);
    let path = format!("/v1/conversations/{conversation}");
    let body = json!({"content": "look and tell", "loop": "react"});
    let sent = first.post(&format!("{path}/messages"), &body).is(202).json();
    let run = format!("/v1/runs/{}/events", sent["run"]["id"].as_str().unwrap());
    let events = format!("{path}/events");
    let has_looked = |event: &Value| event["type"] == "tool.completed";
    let of_conversation = first.stream(&events, "start", has_looked);
    let of_run = first.stream(&run, "0", has_looked);
    let second = cluster.machines[1].serve();
    first.process.kill9();
    cluster.script.rewrite(&[look, says("At last.")]);
    let is_end = |event: &Value| {
        let message = &event["message"];
        message["content"] == "At last." && !message["source_ref"].is_null()
    };
    for (path, before, is_end) in [
        (&events, ids(of_conversation), &is_end as &dyn Fn(&Value) -> bool),
        (&run, ids(of_run), &|event: &Value| event["type"] == "run.succeeded"),
    ] {
        let last = before.last().unwrap().clone();
        let seen = [before, ids(second.stream(path, &last, is_end))].concat();
        let from = if path == &run { "0" } else { "start" };
        let whole = ids(second.stream(path, from, is_end));
        assert_eq!(seen.len(), whole.len(), "{path}: {seen:#?} {whole:#?}");
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len(), "{path}");
        assert_eq!(seen.last(), whole.last(), "{path}");
    }
}

/// A process of the cluster that can be replaced.
enum Replaceable {
    Server(Served),
    Worker(Spawned),
}

impl Replaceable {
    fn stop(self) {
        let process = match self {
            Self::Server(served) => served.process,
            Self::Worker(worker) => worker,
        };
        process.signal(Signal::TERM);
        process.ended().ends_with(143);
    }
}

fn worker(home: &Home) -> Replaceable {
    let mut worker = home.spawn(["worker"]);
    worker.until("Ready");
    Replaceable::Worker(worker)
}

/// Sends a message to whichever server takes it, as a client does that tries again.
fn deliver(servers: &[HttpClient], path: &str, message: usize) -> String {
    let body = json!({
        "content": format!("message {message}"),
        "loop": "react",
        "client_request_id": format!("request-{message}"),
    });
    let mut tries = 0;
    eventually("an answer of a server", || {
        tries += 1;
        let answer = servers[(message + tries) % servers.len()].try_post(path, &body).ok()?;
        match answer.status {
            202 => Some(answer.json()["run"]["id"].as_str().unwrap().to_owned()),
            503 => None,
            _ => panic!("{answer:?}"),
        }
    })
}

#[test]
fn a_rolling_restart_loses_no_message_and_answers_none_twice() {
    let messages = if std::env::var_os("EVERLOOP_LONG").is_some() { 400 } else { 40 };
    let cluster = Cluster::new(4, &[says("Heard.")]);
    let homes = &cluster.machines;
    let served = [homes[0].serve(), homes[1].serve()];
    let servers: Vec<HttpClient> = served.iter().map(|server| server.client.clone()).collect();
    let conversations: Vec<String> = (0..4).map(|_| begun(&servers[0])).collect();
    let mut processes: Vec<Replaceable> = served.into_iter().map(Replaceable::Server).collect();
    processes.extend([worker(&homes[2]), worker(&homes[3])]);
    let sent = AtomicUsize::new(0);
    let runs: Vec<String> = std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let runs = (0..messages).map(|message| {
                let to = &conversations[message % conversations.len()];
                let run = deliver(&servers, &format!("/v1/conversations/{to}/messages"), message);
                sent.store(message + 1, Ordering::Release);
                run
            });
            runs.collect::<Vec<_>>()
        });
        let count = processes.len();
        for (at, process) in std::mem::take(&mut processes).into_iter().enumerate() {
            // Each is replaced while messages come in, one after the other.
            let due = messages * (at + 1) / (count + 1);
            eventually("messages", || (sent.load(Ordering::Acquire) >= due).then_some(()));
            process.stop();
            processes.push(match at {
                0 | 1 => Replaceable::Server(homes[at].serve_at(&servers[at].address)),
                _ => worker(&homes[at]),
            });
        }
        sender.join().unwrap()
    });
    assert_eq!(runs.iter().collect::<BTreeSet<_>>().len(), messages, "a run for each message");
    for run in &runs {
        eventually("the end of a run", || {
            let status =
                servers[0].get(&format!("/v1/runs/{run}")).is(200).json()["status"].clone();
            (status == "succeeded").then_some(())
        });
    }
    let mut answers = 0;
    for conversation in &conversations {
        let path = format!("/v1/conversations/{conversation}/messages?limit=200");
        let page = servers[1].get(&path).is(200).json();
        let of = |role: &str| {
            let data = page["data"].as_array().unwrap();
            data.iter().filter(|message| message["role"] == role).count()
        };
        assert_eq!(of("user"), of("assistant"), "{conversation}");
        answers += of("assistant");
    }
    assert_eq!(answers, messages);
    processes.into_iter().for_each(Replaceable::stop);
}
