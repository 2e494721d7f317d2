//! Words as they come, whoever drives the run: two processes on one database.

use crate::support::{Home, Served, eventually};
use everloop_models::testing::{CannedReply, FakeServer, ReplyGate};
use everloop_store::testing::PgServer;
use serde_json::{Value, json};

const STREAM: [&str; 6] = ["run", "--loop", "react", "--yes", "--output-format", "stream-json"];

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!("data: {}\n\n", json!({"id": "x", "choices": [choice]}))
}

/// A reply of two parts; the second one comes when the gate is open.
pub(crate) fn in_two(first: &str, second: &str, gate: &ReplyGate) -> CannedReply {
    let last = [chunk(&json!({"content": second}), None), chunk(&json!({}), Some("stop"))].concat();
    CannedReply::stream()
        .then(chunk(&json!({"role": "assistant", "content": first}), None))
        .behind(gate)
        .then(last + "data: [DONE]\n\n")
        .end()
}

fn home(model: &FakeServer) -> Home {
    Home::new().endpoint(&model.url()).with("OPENAI_API_KEY", "sk-test").with_token()
}

/// Queues a run at a server.
fn begun(served: &Served) -> String {
    let body = json!({"goal": "speak", "loop": "react"});
    served.post("/v1/runs", &body).is(202).json()["id"].as_str().unwrap().to_owned()
}

/// Waits at a server for the first words of a run.
fn first_words(served: &Served, run: &str) -> String {
    let is_delta = |event: &Value| event["type"] == "message.delta";
    let events = served.events(run, 0, is_delta);
    let (id, last) = events.last().expect("there are events");
    assert!(is_delta(last) && id.is_none(), "{last}");
    last["text"].as_str().unwrap().to_owned()
}

fn is_over(event: &Value) -> bool {
    event["type"].as_str().unwrap_or_default() == "run.succeeded"
}

/// Opens the gate when these words have come; true at the end of the run.
fn opening<'g>(gate: &'g ReplyGate, words: &'g str) -> impl FnMut(&Value) -> bool + 'g {
    move |event| {
        let said = event["text"].as_str().unwrap_or_default();
        if event["type"] == "message.delta" && said.contains(words) {
            gate.open();
        }
        is_over(event)
    }
}

/// All words that a reader of events has seen of the last attempt.
fn words(events: &[(Option<i64>, Value)]) -> String {
    let mut text = String::new();
    for (_, event) in events {
        match event["type"].as_str().unwrap_or_default() {
            "message.delta" => text.push_str(event["text"].as_str().unwrap()),
            "run.resumed" => text.clear(),
            _ => {}
        }
    }
    text
}

#[test]
fn a_command_shows_the_words_of_a_run_that_the_server_drives_before_the_reply_is_whole() {
    let gate = ReplyGate::default();
    let model = FakeServer::start(vec![in_two("The quick", " brown fox.", &gate)]);
    let home = home(&model);
    let served = home.serve();
    let mut follower = home.spawn(STREAM.iter().chain([&"speak"]));
    let line = follower.until("message.delta");
    assert!(line.contains("The quick") && !line.contains("brown"), "{line}");
    gate.open();
    let ended = follower.ended().ends_with(0);
    let pieces = ended.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let pieces: Vec<(Option<i64>, Value)> = pieces.map(|event| (None, event)).collect();
    let shown = words(&pieces);
    assert!("The quick brown fox.".starts_with(&shown), "nothing twice: {shown}");
    assert!(ended.stdout.contains("\"text\":\"The quick brown fox.\""));
    let run = home.newest();
    home.verified(&run);
    eventually("the file of the run is gone", || {
        let left = std::fs::read_dir(home.data().join("live"));
        (left.map_or(0, Iterator::count) == 0).then_some(())
    });
    drop(served);
}

#[test]
fn a_second_server_streams_what_the_first_one_drives() {
    let gate = ReplyGate::default();
    let model = FakeServer::start(vec![in_two("The quick", " brown fox.", &gate)]);
    let home = home(&model);
    let (one, other) = (home.serve(), home.serve());
    let run = begun(&other);
    assert_eq!(first_words(&one, &run), "The quick");
    assert_eq!(first_words(&other, &run), "The quick");
    // Who comes while the reply is half there gets its beginning, and everything once.
    let events = other.events(&run, 0, opening(&gate, "The quick"));
    assert!("The quick brown fox.".starts_with(&words(&events)), "{events:?}");
    home.verified(&run);
}

#[test]
fn what_a_killed_driver_had_said_is_not_in_what_its_heir_says() {
    let never = ReplyGate::default();
    let gate = ReplyGate::default();
    let model = FakeServer::start(vec![
        in_two("A stale", " beginning", &never),
        in_two("The quick", " brown fox.", &gate),
    ]);
    let home = home(&model);
    let (one, other) = (home.serve(), home.serve());
    let run = begun(&other);
    assert_eq!(first_words(&other, &run), "A stale");
    let drives = |served: &Served| served.get("/healthz").json()["drives_runs"] == true;
    let (driver, heir) = if drives(&one) { (one, other) } else { (other, one) };
    let mut driver = Some(driver);
    let mut open = opening(&gate, "quick");
    let events = heir.events(&run, 0, |event| {
        if event["type"] == "message.delta"
            && let Some(driver) = driver.take()
        {
            assert_eq!(event["text"], "A stale");
            driver.process.kill9();
        }
        open(event)
    });
    assert!("The quick brown fox.".starts_with(&words(&events)), "{events:?}");
    let whole: Vec<&Value> = events
        .iter()
        .map(|(_, event)| event)
        .filter(|event| event["type"] == "message.completed")
        .collect();
    assert_eq!(whole.len(), 1);
    assert_eq!(whole[0]["text"], "The quick brown fox.");
    never.open();
    home.verified(&run);
}

#[test]
fn on_postgres_every_server_streams_every_run() {
    let gate = ReplyGate::default();
    let model = FakeServer::start(vec![in_two("The quick", " brown fox.", &gate)]);
    let database = PgServer::durable().database();
    let home = home(&model).with("EVERLOOP_STORE__DATABASE", &database.url);
    let (one, other) = (home.serve(), home.serve());
    let run = begun(&one);
    assert_eq!(first_words(&one, &run), "The quick");
    assert_eq!(first_words(&other, &run), "The quick");
    // One of the two does not drive it, and both show each word once.
    let live = other.events(&run, 0, opening(&gate, "The quick"));
    let readers = [live, one.events(&run, 0, is_over)];
    for events in readers {
        assert!("The quick brown fox.".starts_with(&words(&events)), "{events:?}");
        assert_eq!(events.last().expect("some").1["type"], "run.succeeded");
    }
    home.verified(&run);
}

#[test]
fn on_postgres_the_words_of_the_heir_are_streamed_by_a_third_process() {
    let never = ReplyGate::default();
    let gate = ReplyGate::default();
    let model = FakeServer::start(vec![
        in_two("A stale", " beginning", &never),
        in_two("The quick", " brown fox.", &gate),
    ]);
    let database = PgServer::durable().database();
    let home = home(&model)
        .with("EVERLOOP_STORE__DATABASE", &database.url)
        .with("EVERLOOP_WORKER__LEASE", "1s");
    // The follower is the process of the run: it drives nothing while a worker has it.
    let first = home.spawn(["worker"]);
    let id = home.run(["run", "--background", "--loop", "react", "--json", "speak"]).ends_with(0);
    let id: Value = serde_json::from_str(id.stdout.trim()).unwrap();
    let run = id["run_id"].as_str().unwrap().to_owned();
    let resume = ["runs", "resume", &run, "--output-format", "stream-json"];
    eventually("the worker asks", || (!model.seen().is_empty()).then_some(()));
    let mut follower = home.spawn(resume);
    let line = follower.until("message.delta");
    assert!(line.contains("A stale"), "{line}");
    first.kill9();
    let line = follower.until("The quick");
    assert!(line.contains("message.delta"), "{line}");
    gate.open();
    let ended = follower.ended().ends_with(0);
    assert!(ended.stdout.contains("\"text\":\"The quick brown fox.\""), "{}", ended.stdout);
    let last = ended.stdout.lines().last().unwrap_or_default().to_owned();
    assert!(!last.contains("stale"), "{last}");
    never.open();
    home.verified(&run);
}
