//! The compose file, played with plain processes: the same commands and the same environment, and
//! a database of the test in place of the container.

use crate::support::{Home, Served, Spawned, eventually, says};
use everloop_store::testing::PgServer;
use serde_json::json;
use std::collections::BTreeMap;

const COMPOSE: &str = include_str!("../../../../compose.yaml");
const DOCKERFILE: &str = include_str!("../../../../Dockerfile");

const TOKEN: &str = "test-token-0123456789";

/// A service of the file.
#[derive(Debug, Default)]
struct ComposeService {
    command: Vec<String>,
    environment: BTreeMap<String, String>,
}

/// Reads as much of the file as is played: services, their commands and environments. The file
/// keeps to one form, two spaces a level.
fn services() -> BTreeMap<String, ComposeService> {
    let mut all: BTreeMap<String, ComposeService> = BTreeMap::new();
    let (mut section, mut service, mut part) = (String::new(), String::new(), String::new());
    for line in COMPOSE.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.trim();
        match depth {
            0 => name.clone_into(&mut section),
            2 if section == "services" => {
                name.clone_into(&mut service);
                all.insert(service.clone(), ComposeService::default());
            }
            4 if section == "services" => {
                name.clone_into(&mut part);
                if name == "command" {
                    let command = serde_json::from_str(value).expect("a list of words");
                    all.get_mut(&service).unwrap().command = command;
                }
            }
            6 if part == "environment" && section == "services" => {
                let known = &mut all.get_mut(&service).unwrap().environment;
                known.insert(name.to_owned(), value.to_owned());
            }
            _ => {}
        }
    }
    all
}

/// A value with its variables filled in, as compose does it.
fn filled_in(value: &str, variables: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let (inner, tail) = after.split_once('}').expect("a closing brace");
        let name = inner.split(':').next().unwrap();
        out.push_str(before);
        match (variables.get(name), inner.split_once(":-")) {
            (Some(value), _) => out.push_str(value),
            (None, Some((_, default))) => out.push_str(default),
            (None, None) => panic!("{name} is not set"),
        }
        rest = tail;
    }
    out + rest
}

/// A machine of its own for a service: its home has nothing in common with the others.
fn machine(service: &ComposeService, variables: &BTreeMap<&str, String>, database: &str) -> Home {
    let mut home = Home::new();
    for (name, value) in &service.environment {
        let value = filled_in(value, variables);
        let is_database = name == "EVERLOOP_STORE__DATABASE";
        if is_database {
            assert_eq!(value, "postgres://everloop:pass@postgres/everloop?sslmode=disable");
        }
        home.set(name, if is_database { database } else { &value });
    }
    home
}

#[test]
fn the_compose_file_starts_two_servers_and_two_workers_that_share_their_runs() {
    let all = services();
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    assert_eq!(names, ["postgres", "server-1", "server-2", "worker-1", "worker-2"]);
    assert!(DOCKERFILE.contains("ENTRYPOINT [\"everloop\"]"));
    let database = PgServer::durable().database();
    let script = Home::scripted(&[says("Hello from somewhere.")]);
    let token = TOKEN.to_owned();
    let model = format!("scripted/{}", script.path("script.json").display());
    let variables = BTreeMap::from([
        ("POSTGRES_PASSWORD", "pass".to_owned()),
        ("EVERLOOP_TOKEN", token),
        ("EVERLOOP_MODEL", model),
    ]);
    let machines: BTreeMap<&str, Home> = all
        .iter()
        .filter(|(name, _)| *name != "postgres")
        .map(|(name, service)| (name.as_str(), machine(service, &variables, &database.url)))
        .collect();
    let serve = |name: &str| -> Served {
        let command = &all[name].command;
        assert_eq!(command[1..3], ["--listen", "0.0.0.0:7717"]);
        // A port of its own in place of the container's.
        let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
        args[2] = "127.0.0.1:0";
        args.push("--json");
        Served::start(machines[name].spawn(args))
    };
    let (first, second) = (serve("server-1"), serve("server-2"));
    // Under the names that the containers have for each other, and under no other.
    let token = format!("Authorization: Bearer {TOKEN}");
    for (host, status) in [("server-1", 200), ("server-1:7717", 200), ("elsewhere.example", 403)] {
        first.raw("GET /v1/runs", &[&format!("Host: {host}"), &token], "").is(status);
    }
    let mut workers: Vec<Spawned> =
        ["worker-1", "worker-2"].map(|name| machines[name].spawn(&all[name].command)).into();
    workers.iter_mut().for_each(|worker| drop(worker.until("Ready")));
    let conversation = first.post("/v1/conversations", &json!({})).is(201).json();
    let conversation = conversation["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/conversations/{conversation}");
    let body = json!({"content": "hi", "loop": "react"});
    first.post(&format!("{path}/messages"), &body).is(202);
    // A reader of the other server sees it, whoever drives it.
    let is_end = |event: &serde_json::Value| !event["message"]["source_ref"].is_null();
    let seen = second.stream(&format!("{path}/events"), "start", is_end);
    assert_eq!(seen.last().unwrap().1["message"]["content"], "Hello from somewhere.");
    // Half of it may die.
    first.process.kill9();
    workers.remove(0).kill9();
    let sent = second.post(&format!("{path}/messages"), &body).is(202).json();
    let run = sent["run"]["id"].as_str().unwrap();
    eventually("the second answer", || {
        (second.get(&format!("/v1/runs/{run}")).json()["status"] == "succeeded").then_some(())
    });
}
