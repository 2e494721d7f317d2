//! Messages that come while a run works or asks: which wait, which answer, and what happens to
//! those that cannot be sent.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::turns::{NO_FOLLOW_UP, Place, Server, agent, decides, play, says};
use everloop_app::interrupts;
use everloop_app::turns::{
    BusyPolicy, MessageQueues, QueueHold, SeenQuestions, SendError, TurnMessage, TurnMode,
    TurnReceipt,
};
use serde_json::json;

const STRAIGHT: &str = "agent.loop_enabled=off";

/// The queues of one server.
struct Queues<'a> {
    server: &'a Server,
    all: MessageQueues,
}

impl<'a> Queues<'a> {
    fn of(server: &'a Server) -> Self {
        Self { server, all: MessageQueues::default() }
    }

    async fn try_send(&self, message: TurnMessage) -> Result<TurnReceipt, SendError> {
        let Server { app, engine, conversation } = self.server;
        self.all.send(app, engine, conversation, message, BusyPolicy::Queue).await
    }

    async fn send(&self, message: TurnMessage) -> TurnReceipt {
        self.try_send(message).await.unwrap()
    }

    async fn send_firsts(&self) {
        self.all.send_firsts(&self.server.app, &self.server.engine).await;
    }

    fn waiting(&self) -> Vec<(String, Option<QueueHold>)> {
        let waiting = self.all.of(&self.server.conversation).into_iter();
        waiting.map(|one| (one.line.line, one.hold)).collect()
    }
}

fn message(id: &str, content: &str, seen: &[String]) -> TurnMessage {
    TurnMessage {
        content: content.to_owned(),
        client_request_id: Some(id.to_owned()),
        answers: SeenQuestions::Only(seen.to_vec()),
        ..TurnMessage::default()
    }
}

#[test]
fn a_message_answers_no_question_that_its_sender_had_not_seen() {
    let asks = json!({"calls": [{"tool": "ask_user", "args": {"question": "Which colour?"}}]});
    let place = Place::new(
        &json!({"replies": [decides(None, Some(agent("paint it")))],
            "others": [{"goal": "thanks", "replies": [decides(Some("Welcome."), None)]}]}),
        &json!({"replies": [asks, says("Blue it is.")]}),
    );
    play(async {
        let server = place.open(&[NO_FOLLOW_UP]).await;
        let queues = Queues::of(&server);
        server.say("please paint").await;
        server.drain().await;
        // It was written before the question was on the screen.
        let early = queues.send(message("k1", "thanks", &[])).await;
        assert!(matches!(early, TurnReceipt::Queued { .. }), "{early:?}");
        assert_eq!(queues.send(message("k1", "thanks", &[])).await, early, "it waits once");
        assert_eq!(queues.waiting(), [("thanks".to_owned(), None)]);
        let open = interrupts::open(server.engine.store()).await.unwrap();
        let id = open[0].question.id();
        let answer = queues.send(message("k2", "blue", &[id])).await;
        assert!(matches!(answer, TurnReceipt::Answered { .. }), "{answer:?}");
        queues.send_firsts().await;
        assert_eq!(queues.waiting().len(), 1, "the run has not ended");
        server.drain().await;
        queues.send_firsts().await;
        assert_eq!(queues.waiting(), []);
        server.drain().await;
        let said: Vec<String> = server.said().await.into_iter().map(|(_, body)| body).collect();
        assert!(said.ends_with(&["Blue it is.", "thanks", "Welcome."].map(str::to_owned)));
        let again = queues.send(message("k1", "thanks", &[])).await;
        assert!(matches!(again, TurnReceipt::Turn { repeated: true, .. }), "{again:?}");
    });
}

#[test]
fn a_message_that_must_not_wait_begins_its_own_turn_beside_an_unseen_question() {
    let asks = json!({"calls": [{"tool": "ask_user", "args": {"question": "Which colour?"}}]});
    let place = Place::new(&json!({"replies": []}), &json!({"replies": [asks, says("Done.")]}));
    play(async {
        let server = place.open(&[STRAIGHT]).await;
        server.say("please paint").await;
        server.drain().await;
        let receipt = server.send(message("k1", "yes", &[])).await;
        assert!(matches!(receipt, TurnReceipt::Turn { .. }), "{receipt:?}");
        assert_eq!(interrupts::open(server.engine.store()).await.unwrap().len(), 1);
    });
}

#[test]
fn a_message_that_begins_nothing_waits_on_with_the_reason() {
    let place = Place::new(&json!({"replies": []}), &json!({"replies": [says("Done.")]}));
    play(async {
        let server = place.open(&[STRAIGHT]).await;
        let queues = Queues::of(&server);
        server.say("first").await;
        let mode = TurnMode::Loop(Some("no_such_loop".to_owned()));
        queues.send(TurnMessage { mode, ..message("k1", "second", &[]) }).await;
        queues.send(message("k2", "third", &[])).await;
        server.drain().await;
        let none = place.app(&[STRAIGHT, "model.default="]);
        queues.all.send_firsts(&none, &server.engine).await;
        let texts = |hold| [("second".to_owned(), hold), ("third".to_owned(), None)];
        assert_eq!(queues.waiting(), texts(Some(QueueHold::NoModel)));
        queues.send_firsts().await;
        assert_eq!(queues.waiting(), texts(Some(QueueHold::NoModel)), "a person decides");
        let id = queues.all.of(&server.conversation)[0].line.id.clone();
        queues.all.change(&server.conversation, &id, "second").unwrap();
        assert_eq!(queues.waiting(), texts(None));
        queues.send_firsts().await;
        let refused = QueueHold::Refused("no loop no_such_loop".to_owned());
        assert_eq!(queues.waiting(), texts(Some(refused)));
        assert_eq!(server.runs().await.len(), 1);
        queues.all.remove(&server.app, &server.conversation, &id);
        queues.send_firsts().await;
        assert_eq!((queues.waiting(), server.runs().await.len()), (Vec::new(), 2));
    });
}

#[test]
fn a_message_that_the_disk_does_not_take_is_refused_and_does_not_wait() {
    let place = Place::new(&json!({"replies": []}), &json!({"replies": [says("Done.")]}));
    play(async {
        let server = place.open(&[STRAIGHT]).await;
        let queues = Queues::of(&server);
        server.say("first").await;
        let folder = server.app.home.data().join("queued");
        std::fs::write(&folder, "not a folder").unwrap();
        let refused = queues.try_send(message("k1", "second", &[])).await;
        assert!(matches!(refused, Err(SendError::Disk(_))), "{refused:?}");
        assert_eq!(queues.waiting(), []);
        std::fs::remove_file(&folder).unwrap();
        queues.send(message("k1", "second", &[])).await;
        assert_eq!(queues.waiting(), [("second".to_owned(), None)]);
    });
}

#[test]
fn commands_do_not_wait_however_their_slash_is_written_and_a_word_steers_the_run() {
    let place = Place::new(&json!({"replies": []}), &json!({"replies": [says("Done.")]}));
    play(async {
        let server = place.open(&[STRAIGHT]).await;
        let queues = Queues::of(&server);
        server.say("first").await;
        for (id, line) in [("k1", "/todo add milk"), ("k2", "／todo add eggs"), ("k3", "、todo")]
        {
            let receipt = queues.send(message(id, line, &[])).await;
            assert!(matches!(receipt, TurnReceipt::Command { .. }), "{line}: {receipt:?}");
        }
        let receipt = queues.send(message("k4", "//todo is a text", &[])).await;
        assert!(matches!(receipt, TurnReceipt::Queued { .. }), "{receipt:?}");
        for repeated in [false, true] {
            let receipt = queues.send(message("k5", "！be quick", &[])).await;
            assert!(
                matches!(&receipt, TurnReceipt::Steered { repeated: was, .. } if *was == repeated),
                "{receipt:?}"
            );
        }
        assert_eq!(queues.waiting(), [("//todo is a text".to_owned(), None)]);
    });
}
