//! Messages of a server through this crate alone: a decision, the run that it starts, what follows
//! its end, and what is sent twice. No terminal, no HTTP.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_app::audit_query::{AuditNews, AuditQuery, call_json};
use everloop_app::deciding::{DecisionCase, evaluate, try_message};
use everloop_app::home::Home;
use everloop_app::settings::SettingSources;
use everloop_app::turns::{TurnMessage, TurnMode, TurnReceipt, send};
use everloop_app::{App, AppError, ConversationError, Notices, OpenOptions};
use everloop_engine::{Clock, Engine, SystemClock, Worker};
use everloop_loops::DecisionKind;
use everloop_store::{ConversationMessage, NewConversation, RunRow};
use everloop_types::{ConversationId, Lang, RunId, Status};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// One server: its folders, a script for decisions and one for the work.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new(decisions: &Value, work: &Value) -> Self {
        let place = Self { folder: TempDir::new().unwrap() };
        std::fs::create_dir(place.path("work")).unwrap();
        place.play(decisions, work);
        place
    }

    fn play(&self, decisions: &Value, work: &Value) {
        std::fs::write(self.path("decisions.json"), decisions.to_string()).unwrap();
        std::fs::write(self.path("work.json"), work.to_string()).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn app(&self, set: &[&str]) -> App {
        self.app_with(set, &[])
    }

    fn app_with(&self, set: &[&str], environment: &[(&str, &str)]) -> App {
        let home = Home::under(&self.path("home"));
        let script =
            |key: &str, name: &str| format!("{key}=scripted/{}", self.path(name).display());
        let mut all = vec![
            script("model.default", "work.json"),
            script("agent.decision_model", "decisions.json"),
            "loop.default=react".to_owned(),
            "model.patience=1s".to_owned(),
        ];
        all.extend(set.iter().map(|one| (*one).to_owned()));
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let sources = SettingSources {
            path: home.config_file(),
            text: None,
            trouble: None,
            environment: environment.iter().map(own).collect(),
            set: all,
            database: None,
            lang: Some(Lang::En),
        };
        let (build, notices) = ("test".to_owned(), Notices::ignored());
        App::open(OpenOptions { sources, home, build, notices }).unwrap()
    }

    pub(crate) async fn open(&self, set: &[&str]) -> Server {
        self.serve(self.app(set)).await
    }

    async fn serve(&self, app: App) -> Server {
        let store = app.open_store().await.unwrap();
        let engine = app.engine(store).await.unwrap();
        let conversation = ConversationId::new("conv_server");
        let new = NewConversation {
            id: conversation.clone(),
            channel: "api".to_owned(),
            thread: None,
            workspace: Some(self.path("work").display().to_string()),
            now: SystemClock.now(),
        };
        engine.store().conversations().ensure(&new).await.unwrap();
        Server { app, engine, conversation }
    }
}

/// What answers in one process.
pub(crate) struct Server {
    pub(crate) app: App,
    pub(crate) engine: Arc<Engine>,
    pub(crate) conversation: ConversationId,
}

impl Server {
    pub(crate) async fn send(&self, message: TurnMessage) -> TurnReceipt {
        send(&self.app, &self.engine, &self.conversation, message).await.unwrap()
    }

    pub(crate) async fn say(&self, content: &str) -> TurnReceipt {
        self.send(TurnMessage { content: content.to_owned(), ..TurnMessage::default() }).await
    }

    async fn say_as(&self, id: &str, content: &str) -> TurnReceipt {
        let (content, client_request_id) = (content.to_owned(), Some(id.to_owned()));
        self.send(TurnMessage { content, client_request_id, ..TurnMessage::default() }).await
    }

    /// Drives every run until nothing is ready any more.
    pub(crate) async fn drain(&self) {
        Worker::new(self.engine.clone(), 4).drain(|_| ()).await.unwrap();
    }

    pub(crate) async fn runs(&self) -> Vec<RunRow> {
        let rows = self.engine.store().runs().of_conversation(&self.conversation, 100);
        let mut rows = rows.await.unwrap();
        rows.reverse();
        rows
    }

    pub(crate) async fn works(&self) -> Vec<RunRow> {
        let mut rows = self.runs().await;
        rows.retain(|row| row.loop_name != "decision");
        rows
    }

    pub(crate) async fn said(&self) -> Vec<(String, String)> {
        let all = self.engine.store().conversations().messages(&self.conversation, 100);
        let line = |said: ConversationMessage| (said.role, said.body);
        all.await.unwrap().into_iter().map(line).collect()
    }

    pub(crate) async fn last(&self) -> String {
        self.said().await.pop().unwrap().1
    }
}

pub(crate) fn turn(receipt: &TurnReceipt) -> RunId {
    match receipt {
        TurnReceipt::Turn { turn_id, .. } => turn_id.clone(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn says(text: &str) -> Value {
    json!({"text": text})
}

pub(crate) fn decides(reply: Option<&str>, run: Option<Value>) -> Value {
    let decision = match (reply, &run) {
        (Some(_), Some(_)) => "reply_and_run",
        (None, Some(_)) => "run",
        _ => "reply",
    };
    let mut value = json!({"decision": decision, "confidence": 0.8, "reason": "because"});
    if let Some(content) = reply {
        value["reply"] = json!({"content": content});
    }
    if let Some(run) = run {
        value["run"] = run;
    }
    says(&value.to_string())
}

pub(crate) fn agent(goal: &str) -> Value {
    json!({"type": "agent", "title": "Tidy up", "conversation_id": "conv_of_somebody_else",
        "input": {"goal": goal}})
}

pub(crate) const NO_FOLLOW_UP: &str = "agent.followup_depth=0";

pub(crate) fn play(test: impl Future<Output = ()>) {
    Runtime::new().unwrap().block_on(test);
}

#[test]
fn a_reply_is_the_answer_and_no_run_begins() {
    let place =
        Place::new(&json!({"replies": [decides(Some("Hello."), None)]}), &json!({"replies": []}));
    play(async {
        let server = place.open(&[]).await;
        let turn = turn(&server.say("hi").await);
        server.drain().await;
        let runs = server.runs().await;
        assert_eq!(runs.len(), 1);
        assert_eq!((&runs[0].run, &runs[0].origin.turn), (&turn, &turn));
        let said = server.said().await;
        let line = |role: &str, body: &str| (role.to_owned(), body.to_owned());
        assert_eq!(said, [line("user", "hi"), line("assistant", "Hello.")]);
    });
}

#[test]
fn a_run_begins_in_the_same_conversation_and_turn_and_its_end_is_told() {
    let place = Place::new(
        &json!({"replies": [decides(None, Some(agent("tidy the folder")))]}),
        &json!({"replies": [says("Tidied.")]}),
    );
    play(async {
        let server = place.open(&[NO_FOLLOW_UP]).await;
        let turn = turn(&server.say("please tidy").await);
        server.drain().await;
        let works = server.works().await;
        assert_eq!(works.len(), 1);
        assert_eq!(
            (works[0].goal.as_str(), works[0].status),
            ("tidy the folder", Status::Succeeded)
        );
        assert_eq!(works[0].origin.turn, turn);
        assert_eq!(works[0].conversation, server.conversation, "whatever the model wrote");
        let said: Vec<String> = server.said().await.into_iter().map(|(_, body)| body).collect();
        let begun = "I have started a background task: Tidy up. You will be told when it is done.";
        assert_eq!(said, ["please tidy", begun, "Tidied."]);
        let of_turn = server.engine.store().runs().of_turn(&turn).await.unwrap();
        assert_eq!(of_turn, [turn, works[0].run.clone()]);
    });
}

#[test]
fn a_reply_and_a_run_go_together_and_several_runs_at_once_are_allowed() {
    let second = decides(Some("That too."), Some(agent("wash the car")));
    let place = Place::new(
        &json!({
            "replies": [decides(Some("On it."), Some(agent("tidy the folder")))],
            "others": [{"goal": "second wish", "replies": [second]}],
        }),
        &json!({"replies": [json!({"text": "Done.", "delay_ms": 300})]}),
    );
    play(async {
        let server = place.open(&[NO_FOLLOW_UP]).await;
        server.say("please tidy").await;
        server.say("second wish").await;
        server.drain().await;
        let goals: Vec<String> = server.works().await.into_iter().map(|row| row.goal).collect();
        assert!(goals.contains(&"tidy the folder".to_owned()), "{goals:?}");
        assert!(goals.contains(&"wash the car".to_owned()), "{goals:?}");
        let said: Vec<String> = server.said().await.into_iter().map(|(_, body)| body).collect();
        for reply in ["On it.", "That too."] {
            assert_eq!(said.iter().filter(|body| *body == reply).count(), 1, "{said:?}");
        }
    });
}

#[test]
fn a_type_off_the_list_is_explained_and_nothing_begins() {
    let place = Place::new(
        &json!({"replies": [decides(None, Some(agent("tidy the folder")))]}),
        &json!({"replies": []}),
    );
    play(async {
        let server = place.open(&["agent.allowed_run_types=sleep, fetch_web"]).await;
        server.say("please tidy").await;
        server.drain().await;
        assert!(server.works().await.is_empty());
        let last = server.last().await;
        assert_eq!(
            last,
            "I cannot start a task of the type agent here. What I can start: sleep, fetch_web."
        );
    });
}

#[test]
fn a_run_that_cannot_be_made_leaves_the_reply_and_says_so() {
    let run = json!({"type": "agent", "title": "Tidy up", "input": {"wish": 1}});
    let place = Place::new(
        &json!({"replies": [decides(Some("On it."), Some(run))]}),
        &json!({"replies": []}),
    );
    play(async {
        let server = place.open(&[]).await;
        server.say("please tidy").await;
        server.drain().await;
        assert!(server.works().await.is_empty());
        let last = server.last().await;
        assert!(last.starts_with("On it.\n"), "{last}");
        assert!(last.contains("could not be started: Tidy up"), "{last}");
        assert_eq!(server.runs().await[0].status, Status::Succeeded, "the reply went out");
    });
}

#[test]
fn the_same_request_twice_is_one_turn_and_one_run() {
    let place = Place::new(
        &json!({"replies": [decides(None, Some(agent("tidy the folder")))]}),
        &json!({"replies": [says("Tidied.")]}),
    );
    play(async {
        let server = place.open(&[NO_FOLLOW_UP]).await;
        let first = server.say_as("r1", "please tidy").await;
        let again = server.say_as("r1", "please tidy").await;
        server.drain().await;
        let late = server.say_as("r1", "please tidy").await;
        server.drain().await;
        assert!(matches!(first, TurnReceipt::Turn { repeated: false, .. }));
        for other in [&again, &late] {
            assert!(matches!(other, TurnReceipt::Turn { repeated: true, .. }), "{other:?}");
            assert_eq!(turn(other), turn(&first));
        }
        assert_eq!((server.runs().await.len(), server.works().await.len()), (2, 1));
        let bad = TurnMessage {
            content: "x".to_owned(),
            client_request_id: Some("r".repeat(201)),
            ..TurnMessage::default()
        };
        let bad = send(&server.app, &server.engine, &server.conversation, bad).await;
        let is_id = |error: &AppError| {
            matches!(error, AppError::Conversation(ConversationError::RequestId(200)))
        };
        assert!(bad.as_ref().is_err_and(is_id), "{bad:?}");
    });
}

#[test]
fn a_task_that_runs_is_not_started_a_second_time() {
    let place = Place::new(
        &json!({"replies": [decides(None, Some(agent("tidy the folder")))]}),
        &json!({"replies": [says("Tidied.")]}),
    );
    play(async {
        let server = place.open(&[NO_FOLLOW_UP]).await;
        let drive = async |receipt: TurnReceipt| {
            let (store, run) = (server.engine.store(), turn(&receipt));
            let worker = &server.engine.identity().worker;
            let now = server.engine.clock().now();
            let claim = store.queue().claim_run(worker, &run, now).await.unwrap().unwrap();
            server.engine.drive(claim).await.unwrap();
        };
        // Only the decisions are driven: the task waits for a worker.
        drive(server.say("please tidy").await).await;
        drive(server.say("please tidy again").await).await;
        assert_eq!(server.works().await.len(), 1);
        assert!(server.last().await.starts_with("This task is already in progress"));
        server.drain().await;
        drive(server.say("once more, it is untidy").await).await;
        assert_eq!(server.works().await.len(), 2, "the first one is over");
    });
}

#[test]
fn a_decision_that_fails_is_an_apology_and_starts_nothing() {
    let scripts = [
        json!({"replies": [says("Sure!"), says("{}"), says("I will.")]}),
        json!({"replies": [{"fail": ["refused"]}]}),
        json!({"replies": [{"text": "Too late.", "delay_ms": 600_000}]}),
    ];
    for script in scripts {
        let place = Place::new(&script, &json!({"replies": []}));
        play(async {
            let server = place.open(&["agent.decision_timeout=300ms"]).await;
            server.say("please tidy").await;
            server.drain().await;
            assert!(server.last().await.starts_with("Sorry, I could not work out"), "{script}");
            let runs = server.runs().await;
            assert_eq!((runs.len(), runs[0].status), (1, Status::Failed), "{script}");
        });
    }
}

#[test]
fn a_process_that_dies_while_it_decides_leaves_one_turn_and_one_run() {
    let slow = json!({"text": "{}", "delay_ms": 600_000});
    let place = Place::new(&json!({"replies": [slow]}), &json!({"replies": [says("Tidied.")]}));
    let runtime = Runtime::new().unwrap();
    let first = runtime.block_on(async {
        let server = place.open(&["agent.decision_timeout=10m"]).await;
        let receipt = server.say_as("r1", "please tidy").await;
        let (mut watch, engine) = (server.engine.watch(), server.engine.clone());
        tokio::spawn(async move { Worker::new(engine, 4).work(|_| ()).await });
        // Claimed, and the call to the model is durable as planned.
        let run = turn(&receipt);
        while server.engine.store().runs().position(&run).await.unwrap().unwrap().next_seq < 4 {
            let _ = watch.recv().await;
        }
        receipt
    });
    // The process dies here, between the question to the model and what it decides.
    runtime.shutdown_timeout(Duration::from_secs(30));
    place.play(
        &json!({"replies": [decides(None, Some(agent("tidy the folder")))]}),
        &json!({"replies": [says("Tidied.")]}),
    );
    play(async {
        let server = place.open(&[NO_FOLLOW_UP]).await;
        server.engine.take_up().await.unwrap();
        let again = server.say_as("r1", "please tidy").await;
        assert_eq!(turn(&again), turn(&first));
        server.drain().await;
        assert_eq!((server.runs().await.len(), server.works().await.len()), (2, 1));
        assert_eq!(server.last().await, "Tidied.");
    });
}

#[test]
fn an_end_is_followed_up_until_the_depth_is_reached() {
    let next = |goal: &str| decides(None, Some(agent(goal)));
    let decisions = json!({
        "replies": [next("step 0")],
        "others": [
            // Each follow-up has the result of the step before it.
            {"goal": "result of 2", "replies": [next("step 3")]},
            {"goal": "result of 1", "replies": [next("step 2")]},
            {"goal": "result of 0", "replies": [next("step 1")]},
        ],
    });
    let work = json!({"replies": [], "others": [
        {"goal": "step 2", "replies": [says("result of 2")]},
        {"goal": "step 1", "replies": [says("result of 1")]},
        {"goal": "step 0", "replies": [says("result of 0")]},
    ]});
    let place = Place::new(&decisions, &work);
    play(async {
        let server = place.open(&["agent.followup_depth=2"]).await;
        let turn = turn(&server.say("go step by step").await);
        server.drain().await;
        let goals: Vec<String> = server.works().await.into_iter().map(|row| row.goal).collect();
        assert_eq!(goals, ["step 0", "step 1", "step 2"]);
        let runs = server.runs().await;
        assert!(runs.iter().all(|row| row.origin.turn == turn && row.status.is_final()));
        assert_eq!(runs.len(), 6, "the message, its two follow-ups, and three steps");
        let users = server.said().await.into_iter().filter(|(role, _)| role == "user").count();
        assert_eq!(users, 1, "what the program asks itself is no message of the person");
    });
}

#[test]
fn a_follow_up_may_close_with_a_summary_and_a_cancel_is_not_followed_up() {
    let decisions = json!({
        "replies": [decides(None, Some(agent("tidy the folder")))],
        "others": [{"goal": "has ended", "replies": [decides(Some("In short: tidy."), None)]}],
    });
    let place = Place::new(&decisions, &json!({"replies": [says("Tidied.")]}));
    play(async {
        let server = place.open(&[]).await;
        server.say("please tidy").await;
        server.drain().await;
        assert_eq!(server.last().await, "In short: tidy.");
        assert_eq!(server.runs().await.len(), 3);
    });
    let slow = json!({"replies": [{"text": "Too late.", "delay_ms": 600_000}]});
    let place = Place::new(&decisions, &slow);
    play(async {
        let server = place.open(&[]).await;
        server.say("please tidy").await;
        let engine = server.engine.clone();
        let driving = tokio::spawn(async move { Worker::new(engine, 4).work(|_| ()).await });
        let mut watch = server.engine.watch();
        while server.works().await.first().is_none_or(|row| row.status != Status::Running) {
            let _ = tokio::time::timeout(Duration::from_millis(50), watch.recv()).await;
        }
        let work = server.works().await.remove(0).run;
        assert_eq!(
            server.say("/cancel").await,
            TurnReceipt::Canceled { run_id: work, repeated: false }
        );
        while server.runs().await.iter().any(|row| !row.status.is_final()) {
            let _ = tokio::time::timeout(Duration::from_millis(50), watch.recv()).await;
        }
        driving.abort();
        assert_eq!(server.runs().await.len(), 2);
        assert_eq!(server.say("/cancel").await, TurnReceipt::NothingToCancel);
    });
}

#[test]
fn a_question_is_answered_by_the_next_message_and_the_order_of_the_front_door_holds() {
    let asks = json!({"calls": [{"tool": "ask_user", "args": {"question": "Which colour?"}}]});
    let place = Place::new(
        &json!({"replies": [decides(None, Some(agent("paint it")))]}),
        &json!({"replies": [asks, says("Blue it is.")]}),
    );
    play(async {
        let server = place.open(&[NO_FOLLOW_UP]).await;
        let first = turn(&server.say("please paint").await);
        server.drain().await;
        let work = server.works().await.remove(0).run;
        // A command and a todo are no answers.
        assert!(matches!(server.say("/help").await, TurnReceipt::Command { .. }));
        let todo = server.say_as("t1", "/todo add buy paint").await;
        assert_eq!(server.say_as("t1", "/todo add buy paint").await, todo, "added once");
        assert!(matches!(server.say("/todo list").await, TurnReceipt::Command { text }
            if text.matches("buy paint").count() == 1));
        assert!(matches!(server.say("!ls").await, TurnReceipt::Command { .. }));
        assert_eq!(server.say("  ").await, TurnReceipt::Empty);
        let answered = server.say_as("a1", "blue").await;
        let repeated = |repeated| {
            let (turn_id, run_id) = (first.clone(), work.clone());
            TurnReceipt::Answered { turn_id, run_id, repeated }
        };
        assert_eq!(answered, repeated(false));
        server.drain().await;
        assert_eq!(server.last().await, "Blue it is.");
        assert_eq!(server.say_as("a1", "blue").await, repeated(true), "it is no new message");
        assert_eq!(server.runs().await.len(), 2);
    });
}

#[test]
fn without_the_decision_or_with_a_loop_a_message_goes_straight_to_the_loop() {
    let place = Place::new(&json!({"replies": []}), &json!({"replies": [says("Straight.")]}));
    play(async {
        let app = place.app_with(&[], &[("AGENT_LOOP_ENABLED", "false")]);
        let server = place.serve(app).await;
        server.say("hi").await;
        server.drain().await;
        assert_eq!(server.runs().await[0].loop_name, "react");
    });
    let tagged = json!({"replies": [says("<final>Straight.</final>")]});
    let place = Place::new(&json!({"replies": []}), &tagged);
    play(async {
        let server = place.open(&[]).await;
        let mode = TurnMode::Loop(Some("autonomous".to_owned()));
        server.send(TurnMessage { content: "hi".to_owned(), mode, ..TurnMessage::default() }).await;
        server.drain().await;
        assert_eq!(server.runs().await[0].loop_name, "autonomous");
        assert_eq!(server.last().await, "Straight.");
        let mode = TurnMode::Loop(Some("decision".to_owned()));
        let own = TurnMessage { content: "hi".to_owned(), mode, ..TurnMessage::default() };
        let refused = send(&server.app, &server.engine, &server.conversation, own).await;
        assert!(refused.is_err(), "people do not choose the program's own loops");
    });
}

#[test]
fn every_decision_is_in_the_audit_with_its_turn() {
    let place = Place::new(
        &json!({"replies": [says("Sure!"), decides(None, Some(agent("tidy the folder")))]}),
        &json!({"replies": [says("Tidied.")]}),
    );
    play(async {
        let server = place.open(&[NO_FOLLOW_UP]).await;
        let turn = turn(&server.say("please tidy").await);
        server.drain().await;
        let mut rows = Vec::new();
        let tell = |news: AuditNews<'_>| {
            if let AuditNews::Call(row, call) = news {
                rows.push(call_json(row, call));
            }
        };
        AuditQuery::default().read(server.engine.store(), tell).await.unwrap();
        let shown: Vec<(&str, &str)> = rows
            .iter()
            .map(|row| (row["tool"].as_str().unwrap(), row["ending"].as_str().unwrap()))
            .collect();
        assert_eq!(shown, [("decision", "error"), ("decision", "ok"), ("start_run", "ok")]);
        assert_eq!(
            (&rows[1]["event"], &rows[2]["event"]),
            (&json!("decision"), &json!("tool_call"))
        );
        assert_eq!(rows[1]["arguments"]["decision"], "run");
        assert!(rows.iter().all(|row| row["turn_id"] == turn.as_str()), "{rows:?}");
    });
}

#[test]
fn a_message_can_be_tried_and_a_model_be_rated_without_starting_anything() {
    let deploy = decides(None, Some(json!({"type": "deploy", "input": {}})));
    let decisions = json!({
        "replies": [decides(Some("Hello."), None)],
        "others": [
            {"goal": "deploy", "replies": [deploy]},
            {"goal": "tidy", "replies": [decides(None, Some(agent("tidy the folder")))]},
            {"goal": "babble", "replies": [says("a"), says("b"), says("c")]},
        ],
    });
    let place = Place::new(&decisions, &json!({"replies": []}));
    play(async {
        let app = place.app(&[]);
        let tidy = try_message(&app, None, "please tidy", &[]).await.unwrap();
        assert_eq!((tidy.got, tidy.run_type.as_deref()), (Some(DecisionKind::Run), Some("agent")));
        let case = |id: &str, message: &str, expected, run_type: Option<&str>| DecisionCase {
            id: id.to_owned(),
            language: Lang::En,
            message: message.to_owned(),
            expected,
            run_type: run_type.map(str::to_owned),
            adversarial: (id == "d").then(|| "off_list".to_owned()),
            running: Vec::new(),
        };
        let cases = [
            case("a", "hi", DecisionKind::Reply, None),
            case("b", "please tidy", DecisionKind::Run, Some("agent")),
            case("c", "tidy, or not", DecisionKind::Reply, None),
            case("d", "deploy it", DecisionKind::Reply, None),
            case("e", "babble", DecisionKind::Reply, None),
        ];
        let report = evaluate(&app, None, &cases, |_, _| ()).await.unwrap();
        assert_eq!((report.all.right, report.all.total), (3, 5));
        assert_eq!((report.adversarial.right, report.adversarial.total), (1, 1));
        let row = &report.confusion["reply"];
        assert_eq!((row["reply"], row["run"], row["failed"]), (2, 1, 1));
        assert_eq!(report.confusion["run"]["run"], 1);
        assert_eq!(report.calls, 7, "each call counts, also those that were sent back");
        let wrong: Vec<&str> = report.wrong.iter().map(|wrong| wrong.id.as_str()).collect();
        assert_eq!(wrong, ["c", "e"]);
        assert!(!place.path("home").join("everloop.db").exists(), "nothing was opened");
    });
}

#[test]
fn the_same_request_cancels_one_run_and_no_other() {
    let slow = json!({"replies": [{"text": "never", "delay_ms": 600_000}]});
    let place = Place::new(&slow, &slow);
    play(async {
        let server = place.open(&["agent.loop_enabled=off"]).await;
        let engine = server.engine.clone();
        let driving = tokio::spawn(async move { Worker::new(engine, 4).work(|_| ()).await });
        let mut watch = server.engine.watch();
        let [first, second] = [turn(&server.say("one").await), turn(&server.say("two").await)];
        let status = async |run: &RunId| {
            server.engine.store().runs().get(run).await.unwrap().unwrap().status
        };
        let canceled = |run_id: &RunId, repeated| {
            let run_id = run_id.clone();
            TurnReceipt::Canceled { run_id, repeated }
        };
        let stop = "取消当前任务";
        assert_eq!(server.say_as("c", stop).await, canceled(&second, false));
        while !status(&second).await.is_final() {
            let _ = tokio::time::timeout(Duration::from_millis(50), watch.recv()).await;
        }
        assert_eq!(server.say_as("c", stop).await, canceled(&second, true));
        assert!(!status(&first).await.is_final(), "the other one goes on");
        assert_eq!(server.say_as("e", stop).await, canceled(&first, false));
        while !status(&first).await.is_final() {
            let _ = tokio::time::timeout(Duration::from_millis(50), watch.recv()).await;
        }
        assert_eq!(server.say_as("d", "/cancel").await, TurnReceipt::NothingToCancel);
        let third = turn(&server.say("three").await);
        assert_eq!(server.say_as("d", "/cancel").await, TurnReceipt::NothingToCancel);
        assert!(!status(&third).await.is_final(), "nothing was there when it was asked");
        driving.abort();
    });
}

#[test]
fn commands_that_only_read_are_answered_everywhere() {
    let place = Place::new(&json!({"replies": []}), &json!({"replies": [says("Done.")]}));
    play(async {
        let server = place.open(&["agent.loop_enabled=off"]).await;
        server.say("water the plants").await;
        server.drain().await;
        for (line, told) in [
            ("/runs", "water the plants"),
            ("/history", "Done."),
            ("/loop", "react"),
            ("/usage", "1 run"),
            ("/conversations", "water the plants"),
            ("/memory", "Nothing is remembered"),
        ] {
            let receipt = server.say(line).await;
            let TurnReceipt::Command { text } = receipt else { panic!("{receipt:?}") };
            assert!(text.contains(told), "{line}: {text}");
        }
        for line in ["/loop react", "/memory add x", "/doctor", "/model"] {
            let receipt = server.say(line).await;
            let TurnReceipt::Command { text } = receipt else { panic!("{receipt:?}") };
            assert!(text.contains("is for the chat in a terminal"), "{line}: {text}");
        }
        assert_eq!(server.runs().await.len(), 1);
    });
}
