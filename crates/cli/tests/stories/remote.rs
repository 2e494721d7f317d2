//! `--server`: the same commands on a server, with the same answers.

use super::live::in_two;
use crate::support::{Finished, Home, Served, calls, eventually, says, slow};
use everloop_models::testing::{FakeServer, ReplyGate};
use serde_json::{Value, json};

const TOKEN: &str = "test-token-0123456789";

fn home(replies: &[Value]) -> Home {
    Home::scripted(replies).with_token()
}

/// The same command elsewhere: without any data of its own.
struct Client {
    home: Home,
    url: String,
}

impl Client {
    fn of(served: &Served) -> Self {
        let url = format!("http://{}", served.address);
        let home = Home::new().with("EVERLOOP_TOKEN", TOKEN).with("EVERLOOP_SERVER", &url);
        Self { home, url }
    }

    fn run(&self, args: &[&str]) -> Finished {
        self.home.run(args.iter().copied())
    }
}

/// Compares what a command prints here and there. What depends on the time is left out.
#[track_caller]
fn same(home: &Home, client: &Client, args: &[&str]) -> Value {
    let (here, there) = (home.run(args.iter().copied()), client.run(args));
    assert_eq!(here.code, there.code, "{args:?}: {} / {}", here.stderr, there.stderr);
    let read = |finished: &Finished| -> Vec<Value> {
        let lines = finished.stdout.lines();
        let read = |line: &str| {
            let mut value = serde_json::from_str(line).unwrap_or_else(|_| json!(line));
            let fields = value.as_object_mut();
            fields.into_iter().for_each(|it| it.retain(|key, _| key != "from" && key != "to"));
            value
        };
        lines.map(read).collect()
    };
    let (here, there) = (read(&here), read(&there));
    assert_eq!(here, there, "{args:?}");
    there.into_iter().next().unwrap_or_default()
}

fn lines(finished: &Finished) -> Vec<Value> {
    finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_elsewhere_prints_what_a_run_here_prints_and_its_events_can_be_listed() {
    let home = home(&[calls("list_dir", json!({"path": "."})), says("It is done.")]);
    let here = home.run(["run", "--loop", "react", "--json", "do it"]).ends_with(0);
    let served = home.serve();
    let client = Client::of(&served);
    let workspace = home.path("work");
    let workspace = workspace.to_str().unwrap();
    let there =
        client.run(&["run", "--loop", "react", "--json", "--workspace", workspace, "do it"]);
    let there = there.ends_with(0);
    let [mut here, mut there] = [here, there].map(|finished| lines(&finished).remove(0));
    let run = there["run_id"].as_str().unwrap().to_owned();
    for result in [&mut here, &mut there] {
        for of_the_time in ["run_id", "duration_ms"] {
            result[of_the_time] = json!(null);
        }
    }
    assert_eq!(here, there);
    let streamed =
        client.run(&["run", "--loop", "react", "--output-format", "stream-json", "again"]);
    let streamed = lines(&streamed.ends_with(0));
    assert_eq!(streamed[0]["type"], "session");
    let names: Vec<&str> = streamed.iter().filter_map(|line| line["type"].as_str()).collect();
    assert!(names.contains(&"message.completed") && names.contains(&"tool.completed"), "{names:?}");
    assert_eq!(names.last(), Some(&"result"));
    let said = client.run(&["-p", "--loop", "react", "say it"]).ends_with(0);
    assert_eq!(said.stdout, "It is done.\n");
    for verb in [
        vec!["runs", "list", "--json"],
        vec!["runs", "list", "--status", "failed"],
        vec!["runs"],
        vec!["runs", "show", &run, "--json"],
        vec!["runs", "show", &run[run.len() - 8..], "--json"],
        vec!["runs", "events", &run],
        vec!["runs", "events", &run, "--after", "3"],
        vec!["runs", "tree", &run],
        vec!["runs", "tree", &run, "--json"],
        vec!["runs", "cancel", &run, "--json"],
        vec!["runs", "show", "no_such"],
        vec!["runs", "list", "--status", "nonsense"],
    ] {
        same(&home, &client, &verb);
    }
    let again = lines(&client.run(&["runs", "retry", &run, "--json"]).ends_with(0)).remove(0);
    assert_eq!(again["status"], "succeeded");
    let shown = client.run(&["runs", "show", &run]).ends_with(0);
    assert!(
        shown.stdout.contains("It is done.") && shown.stdout.contains(&run),
        "{}",
        shown.stdout
    );
}

#[test]
fn the_words_of_a_run_elsewhere_are_shown_before_the_reply_is_whole() {
    let gate = ReplyGate::default();
    let model = FakeServer::start(vec![in_two("The quick", " brown fox.", &gate)]);
    let home = Home::new().endpoint(&model.url()).with("OPENAI_API_KEY", "sk-test").with_token();
    let served = home.serve();
    let client = Client::of(&served);
    let args = ["-p", "--loop", "react", "--output-format", "stream-json", "speak"];
    let mut follower = client.home.spawn(args);
    let line = follower.until("message.delta");
    assert!(line.contains("The quick") && !line.contains("brown"), "{line}");
    gate.open();
    let ended = lines(&follower.ended().ends_with(0));
    assert_eq!(ended.last().unwrap()["text"], "The quick brown fox.");
}

#[test]
fn todos_elsewhere_are_kept_and_printed_as_here() {
    let home = home(&[]);
    let served = home.serve();
    let client = Client::of(&served);
    client.run(&["todo", "add", "buy milk", "--tag", "home", "--priority", "high"]).ends_with(0);
    client.run(&["todo", "add", "--", "--odd name"]).ends_with(0);
    for verb in [
        vec!["todo", "--json"],
        vec!["todo", "list"],
        vec!["todo", "get", "1", "--json"],
        vec!["todo", "get", "99", "--json"],
        vec!["todo", "get", "99"],
        vec!["todo", "search", "milk", "--json"],
        vec!["todo", "list", "--tag", "home", "--json"],
        vec!["view", "today", "--json"],
        vec!["schedule", "--json"],
    ] {
        same(&home, &client, &verb);
    }
    client.run(&["todo", "done", "1"]).ends_with(0);
    assert!(home.run(["todo", "list", "--json"]).stdout.contains("buy milk"));
    client.run(&["-p", "/todo add call home"]).ends_with(0);
    assert!(home.run(["todo", "list"]).stdout.contains("call home"));
    client.run(&["todo", "undo"]).ends_with(0);
    assert!(!home.run(["todo", "list"]).stdout.contains("call home"));
    assert!(!client.home.database().exists(), "nothing was kept on this side");
}

#[test]
fn a_question_of_a_run_elsewhere_is_answered_from_here() {
    let home = home(&[calls("ask_user", json!({"question": "Which color?"})), says("Blue it is.")]);
    let served = home.serve();
    let client = Client::of(&served);
    let asked = client.run(&["run", "--loop", "react", "--json", "paint"]).ends_with(3);
    let asked = lines(&asked).remove(0);
    assert_eq!(asked["question"]["text"], "Which color?");
    let run = asked["run_id"].as_str().unwrap();
    let done = client.run(&["runs", "resume", run, "--answer", "blue", "--json"]).ends_with(0);
    assert_eq!(lines(&done)[0]["text"], "Blue it is.");
    client.run(&["runs", "resume", run, "--answer", "red"]).ends_with(2);
    home.verified(run);
}

#[test]
fn a_server_that_is_killed_and_started_again_is_followed_on_without_a_repetition() {
    let script = |last: Value| [calls("list_dir", json!({"path": "."})), last];
    let home = home(&script(slow(says("At last."))));
    let served = home.serve();
    let address = served.address.clone();
    let client = Client::of(&served);
    let args = ["run", "--loop", "react", "--output-format", "stream-json", "look and tell"];
    let mut follower = client.home.spawn(args);
    follower.until("tool.completed");
    served.process.kill9();
    follower.until(" lost; reconnecting");
    home.rewrite(&script(says("At last.")));
    let served = home.serve_at(&address);
    let ended = lines(&follower.ended().ends_with(0));
    let run = home.newest();
    let page = served.get(&format!("/v1/runs/{run}/events")).json();
    let durable: Vec<&Value> = ended.iter().filter(|event| event["ts"].is_number()).collect();
    let all: Vec<&Value> = page["data"].as_array().unwrap().iter().collect();
    assert_eq!(durable, all, "nothing is missing, nothing comes twice");
    home.verified(&run);
}

#[test]
fn what_cannot_be_done_elsewhere_and_whom_not_to_trust_is_said() {
    let home = home(&[]);
    let served = home.serve();
    let client = Client::of(&served);
    for args in [
        vec!["conversations"],
        vec!["runs", "delete", "x"],
        vec!["todo", "export"],
        vec!["-p", "-c", "go on"],
        vec!["doctor", "--server", client.url.as_str()],
    ] {
        let refused = client.run(&args).ends_with(2);
        refused.says(&["does not work on a server elsewhere"]);
    }
    client.run(&["loops"]).ends_with(0);
    let with = |token: &str, url: &str| {
        Home::new().with("EVERLOOP_TOKEN", token).run(["runs", "--server", url])
    };
    let wrong = "another-token-0123456789";
    with(wrong, &client.url).ends_with(5).says(&["does not accept the token"]);
    with("", &client.url).ends_with(5).says(&["set EVERLOOP_TOKEN"]);
    with(TOKEN, "http://server.example").ends_with(2).says(&["not encrypted", "--insecure"]);
    with(TOKEN, "ftp://x").ends_with(2).says(&["not the address of a server"]);
    served.process.kill9();
    let gone = with(TOKEN, &client.url).ends_with(1);
    assert!(gone.stderr.contains("No server answers"), "{}", gone.stderr);
    assert!(!gone.stderr.contains(TOKEN) && !gone.stdout.contains(TOKEN), "it is never shown");
}

#[test]
fn a_run_elsewhere_is_done_again_on_other_terms_settled_and_deleted() {
    let command = json!({"command": "echo once >> log; cat gate"});
    let home = home(&[calls("shell", command), says("I do not know.")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let first = home.spawn(["run", "--loop", "react", "--yes", "append a line"]);
    eventually("the line", || (home.read("log") == "once\n").then_some(()));
    first.kill9();
    home.deserted();
    let run = home.newest();
    home.run(["runs", "resume", &run]).ends_with(7);
    home.rewrite(&[calls("shell", json!({"command": "echo hi"})), says("Said hi.")]);
    let served = home.serve();
    let client = Client::of(&served);
    let settled = client.run(&["runs", "settle", &run, "happened", "--json"]).ends_with(0).json();
    assert_eq!((&settled["run_id"], &settled["tool"]), (&json!(run), &json!("shell")));
    assert_eq!(settled["settled"], "happened");
    client.run(&["runs", "settle", &run, "not"]).ends_with(1).says(&["nothing to settle"]);

    let asks = client.run(&["run", "--loop", "react", "--json", "say hi"]).ends_with(3);
    let asks = lines(&asks).remove(0)["run_id"].as_str().unwrap().to_owned();
    client.run(&["runs", "cancel", &asks]).ends_with(0);
    let again = client.run(&["runs", "retry", &asks, "--yes", "--json"]).ends_with(0);
    assert_eq!(lines(&again)[0]["text"], "Said hi.");

    served.request(&format!("DELETE /v1/runs/{asks}"), &[], "").is(204);
    served.get(&format!("/v1/runs/{asks}")).is(404);
    assert_eq!(served.request("DELETE /v1/runs/run_nobody", &[], "").is(404).code(), "not_found");
    drop(served);
    home.rewrite(&[slow(says("never"))]);
    let served = home.serve();
    let client = Client::of(&served);
    let goal = json!({"goal": "wait", "loop": "react"});
    let open = served.post("/v1/runs", &goal).is(202).json()["id"].as_str().unwrap().to_owned();
    served.events(&open, 0, |event| event["type"] == "step.started");
    let over = served.request(&format!("DELETE /v1/runs/{open}"), &[], "").is(409);
    assert_eq!(over.code(), "conflict");
    client.run(&["runs", "cancel", &open]).ends_with(0);
}
