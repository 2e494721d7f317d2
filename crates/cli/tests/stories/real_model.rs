//! A real llama.cpp server with real small weights, which `./check --with-model` installs.

use crate::support::{Home, PATIENCE};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

/// The server's process. Its input ends with us, and so does it.
struct Server {
    process: Child,
    url: String,
    log: BufReader<ChildStderr>,
}

impl Server {
    /// Waits until it is at work for somebody.
    fn is_asked(&mut self) {
        let lines = self.log.by_ref().lines();
        let found = lines.map_while(Result::ok).any(|line| line.contains("processing task"));
        assert!(found, "the server ended");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        std::io::copy(&mut self.log, &mut std::io::sink()).unwrap();
        self.process.wait().unwrap();
    }
}

/// The server, if it was installed. Without it there is nothing to play.
fn server() -> Option<Server> {
    let Some(folder) = std::env::var_os("EVERLOOP_REAL_MODEL").map(PathBuf::from) else {
        eprintln!("EVERLOOP_REAL_MODEL is not set: ./check --with-model sets it");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/serve_weights.py");
    let mut command = Command::new(folder.join("bin/python"));
    command.arg(script).arg(folder.join("weights.gguf"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut url = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let log = BufReader::new(process.stderr.take().unwrap());
    Some(Server { process, url: url.trim().to_owned(), log })
}

fn home(server: &Server, model: &str) -> Home {
    let provider = model.split('/').next().unwrap().to_uppercase();
    Home::new()
        .with("EVERLOOP_MODEL", model)
        .with(&format!("{provider}_BASE_URL"), &server.url)
        .with("EVERLOOP_MODEL__MAX_TOKENS", "24")
        .with("EVERLOOP_MODEL__TEMPERATURE", "0")
}

#[test]
fn a_real_server_lists_its_model_and_passes_the_test_of_it() {
    let Some(server) = server() else { return };
    let home = home(&server, "llamacpp/small");
    let listed = home.run(["models"]).ends_with(0).stdout;
    assert!(listed.contains("small"), "{listed}");
    let tested = home.run(["models", "test", "--json"]).json();
    let passed = |check: &str| {
        let checks = tested["checks"].as_array().unwrap();
        checks.iter().any(|found| found["check"] == check && found["ok"] == Value::Bool(true))
    };
    for check in ["text", "stream", "usage", "named_tool"] {
        assert!(passed(check), "{check}: {tested}");
    }
}

#[test]
fn a_real_model_is_asked_again_after_a_kill_in_the_middle_of_its_stream() {
    let Some(mut server) = server() else { return };
    let home = home(&server, "llamacpp/small");
    let first = home.spawn(["run", "--loop", "react", "Say hello."]);
    server.is_asked();
    first.kill9();
    let run = home.newest();
    home.run(["runs", "resume", &run]).ends_with(0);
    let shown = home.show(&run);
    assert_eq!(shown["status"], "succeeded", "{shown}");
    home.verified(&run);
}

/// Small weights write what they like. What is checked is that no number of theirs is unmarked.
#[test]
fn a_real_model_is_asked_about_a_file_and_its_report_can_be_checked() {
    let Some(server) = server() else { return };
    let home = home(&server, "llamacpp/small").with("EVERLOOP_MODEL__MAX_TOKENS", "64");
    std::fs::write(home.work("sales.csv"), "region,amount\nEast,20\nWest,10\n").unwrap();
    let asked = ["analyze", "--loop", "react", "--out", "report", "sales.csv", "Which sells most?"];
    home.spawn(asked).ended_within(PATIENCE * 20).ends_with(0);
    let report = home.read("report/report.md");
    assert!(report.contains("numbers have a source."), "{report}");
    let checked = home.run(["analyze", "--json", "--check", "report"]).ends_with(0).json();
    assert_eq!(checked["differences"], serde_json::json!([]), "{checked}");
    home.verified(&home.newest());
}

/// Of so many labelled messages one is decided: a real model takes seconds for each.
const SAMPLED: usize = 16;

/// Small weights decide badly. What is checked is that every case is counted, whatever they write.
#[test]
fn a_real_model_decides_on_a_sample_of_the_labelled_messages() {
    let Some(server) = server() else { return };
    let home = home(&server, "llamacpp/small")
        .with("EVERLOOP_MODEL__MAX_TOKENS", "200")
        .with("AGENT_DECISION_TIMEOUT_SECONDS", "120");
    let set = include_str!("../../../../docs/decision/messages.jsonl");
    let sample: Vec<&str> = set.lines().step_by(SAMPLED).collect();
    let file = home.path("sample.jsonl");
    std::fs::write(&file, format!("{}\n", sample.join("\n"))).unwrap();
    let file = file.display().to_string();
    let evaluate = ["decide", "--evaluate", &file, "--json"];
    let report = home.spawn(evaluate).ended_within(PATIENCE * 20).ends_with(0).json();
    println!("{report:#}");
    let rows = report["confusion"].as_object().unwrap().values();
    let cells = rows.flat_map(|row| row.as_object().unwrap().values());
    let counted: i64 = cells.filter_map(Value::as_i64).sum();
    assert_eq!(counted, i64::try_from(sample.len()).unwrap(), "{report}");
}
