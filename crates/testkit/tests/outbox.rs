//! Messages: queued with the outcome of their call, delivered at least once, in order, with one id.

use everloop_engine::{Engine, EngineRules, Environment, WorkerIdentity};
use everloop_models::{ScriptedModel, ScriptedReply};
use everloop_ports::{BoxFuture, Deliver, Delivery, Model, Registry};
use everloop_store::{MemoryDb, NewConversation, Store};
use everloop_testkit::VirtualClock;
use everloop_tools::{Channel, Channels, SendMessage};
use everloop_types::{
    ConversationId, Frame, Goal, ModelChoice, ModelError, Policy, RunId, Status, WorkerId,
};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

struct AgendaContext(Arc<ScriptedModel>);

impl Environment for AgendaContext {
    fn model(&self, _: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        Ok((self.0.clone(), "x".to_owned()))
    }

    fn tools(&self, _: &Frame) -> Arc<Registry> {
        Arc::new(tools())
    }
}

fn tools() -> Registry {
    let channels: Channels =
        Channel::parse("ops=https://hooks.example.com/x").into_iter().collect();
    Registry::default().with(SendMessage::new(channels))
}

/// An engine, and a run of it that has queued these messages and ended.
async fn queued(store: &Store, texts: &[&str]) -> (Arc<Engine>, RunId) {
    let say =
        |text: &&str| ScriptedReply::calls("send_message", json!({"channel": "ops", "text": text}));
    let mut script: Vec<ScriptedReply> = texts.iter().map(say).collect();
    script.push(ScriptedReply::says("done"));
    let engine = engine(store, script);
    let frame = Frame {
        tools: tools().specs(),
        limits: everloop_testkit::Scenario::react("x", Vec::new()).limits,
        policy: Policy { approve_all: true, ..Policy::default() },
        ..Frame::default()
    };
    let goal = Goal { text: "tell".to_owned(), ..Goal::default() };
    let loop_name = "react".to_owned();
    let submission = everloop_engine::Submission {
        loop_name,
        goal,
        frame,
        idem_key: None,
        profile: Default::default(),
    };
    let run = engine.submit(submission).await.expect("created");
    let now = engine.clock().now();
    let claim =
        store.queue().claim_run(&engine.identity().worker, &run, now).await.expect("claimed");
    engine.drive(claim.expect("ready")).await.expect("driven");
    let row = store.runs().get(&run).await.expect("readable").expect("there");
    assert_eq!(row.status, Status::Succeeded);
    (engine, run)
}

fn engine(store: &Store, script: Vec<ScriptedReply>) -> Arc<Engine> {
    let means = Arc::new(AgendaContext(Arc::new(ScriptedModel::new(script))));
    let identity = WorkerIdentity { worker: WorkerId::new("worker_1"), build: "test".to_owned() };
    let clock = Arc::new(VirtualClock::default());
    Engine::new(store.clone(), means, clock, identity, EngineRules::default())
}

/// What the receiver does with one arrival.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// Takes it and says so.
    Accepts,
    /// Takes it and answers with an error.
    AcceptsAndFails,
    /// Takes it and never answers.
    AcceptsAndHangs,
    /// Does not take it.
    Refuses,
}

/// A receiver that honours the key: it takes each id once.
#[derive(Default)]
struct Receiver {
    plan: Mutex<Vec<Does>>,
    arrivals: Mutex<Vec<(String, String)>>,
}

impl Receiver {
    fn doing(plan: &[Does]) -> Arc<Self> {
        let plan = plan.iter().rev().copied().collect();
        Arc::new(Self { plan: Mutex::new(plan), arrivals: Mutex::default() })
    }

    fn arrivals(&self) -> Vec<(String, String)> {
        self.arrivals.lock().expect("whole").clone()
    }

    fn texts(&self) -> Vec<String> {
        self.arrivals().into_iter().map(|(_, text)| text).collect()
    }

    /// What is left when repetitions are dropped.
    fn taken(&self) -> Vec<String> {
        let mut known = BTreeSet::new();
        let new = self.arrivals().into_iter().filter(|(id, _)| known.insert(id.clone()));
        new.map(|(_, text)| text).collect()
    }
}

impl Deliver for Receiver {
    fn has(&self, channel: &str) -> bool {
        channel == "ops"
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let does = self.plan.lock().expect("whole").pop().unwrap_or(Does::Accepts);
            if !matches!(does, Does::Refuses) {
                let arrival = (delivery.id.clone(), delivery.text.clone());
                self.arrivals.lock().expect("whole").push(arrival);
            }
            match does {
                Does::Accepts => Ok(()),
                Does::AcceptsAndFails | Does::Refuses => Err("HTTP 500".to_owned()),
                Does::AcceptsAndHangs => std::future::pending().await,
            }
        })
    }
}

/// Lets the engine deliver messages until the run has none left.
async fn brought(engine: &Arc<Engine>, run: &RunId, receiver: &Arc<Receiver>) {
    let bringing = engine.clone().deliver_outbox(receiver.clone());
    let empty = async {
        while engine.store().outbox().count(run).await.expect("readable").waiting > 0 {
            engine.clock().pause(100).await;
        }
    };
    tokio::select! {
        () = bringing => panic!("it goes on for ever"),
        () = empty => {}
    }
}

/// Fault row 21.
#[tokio::test(start_paused = true)]
async fn a_target_that_fails_after_accepting_gets_the_same_id_again_in_order() {
    let store = Store::with_db(Arc::new(MemoryDb::new()));
    let (engine, run) = queued(&store, &["one", "two", "three"]).await;
    let receiver = Receiver::doing(&[
        Does::AcceptsAndFails,
        Does::AcceptsAndHangs,
        Does::Accepts,
        Does::Refuses,
        Does::Accepts,
    ]);
    brought(&engine, &run, &receiver).await;
    assert_eq!(receiver.texts(), ["one", "one", "one", "two", "three"]);
    assert_eq!(receiver.taken(), ["one", "two", "three"]);
    let count = store.outbox().count(&run).await.expect("readable");
    assert_eq!((count.sent, count.waiting), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn two_who_bring_at_once_bring_each_message_once() {
    let store = Store::with_db(Arc::new(MemoryDb::new()));
    let (engine, run) = queued(&store, &["one", "two", "three"]).await;
    let other = self::engine(&store, Vec::new());
    let receiver = Receiver::doing(&[]);
    tokio::join!(brought(&engine, &run, &receiver), brought(&other, &run, &receiver));
    assert_eq!(receiver.texts(), ["one", "two", "three"]);
}

/// The process that delivers a message dies before the delivery is recorded.
#[tokio::test(start_paused = true)]
async fn a_message_whose_bearer_died_is_brought_again_under_its_id() {
    let store = Store::with_db(Arc::new(MemoryDb::new()));
    let (engine, run) = queued(&store, &["one", "two"]).await;
    let receiver = Receiver::doing(&[Does::AcceptsAndHangs]);
    tokio::select! {
        biased;
        _ = engine.deliver_due(receiver.as_ref()) => panic!("it hangs"),
        () = engine.clock().pause(1_000) => {}
    }
    let heir = self::engine(&store, Vec::new());
    assert_eq!(heir.deliver_due(receiver.as_ref()).await.expect("readable"), 0, "it is held");
    brought(&heir, &run, &receiver).await;
    let arrivals = receiver.arrivals();
    assert_eq!(receiver.texts(), ["one", "one", "two"]);
    assert_eq!(arrivals[0].0, arrivals[1].0);
    assert_ne!(arrivals[0].0, arrivals[2].0);
}

/// A process of another machine, which has other channels.
struct Stranger;

impl Deliver for Stranger {
    fn has(&self, channel: &str) -> bool {
        channel == "sales"
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), String>> {
        panic!("{} is not its channel", delivery.channel)
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_for_a_channel_that_is_not_here_is_left_to_others_without_a_back_off() {
    let store = Store::with_db(Arc::new(MemoryDb::new()));
    let (engine, run) = queued(&store, &["one"]).await;
    let due = async || store.outbox().due(engine.clock().now(), None, 10).await.expect("readable");
    let before = due().await;
    assert_eq!(engine.deliver_due(&Stranger).await.expect("readable"), 0);
    assert_eq!(due().await, before, "as due as it was, after as many tries");
    let receiver = Receiver::doing(&[]);
    assert_eq!(engine.deliver_due(receiver.as_ref()).await.expect("readable"), 1);
    assert_eq!(store.outbox().count(&run).await.expect("readable").waiting, 0);
}

#[tokio::test(start_paused = true)]
async fn any_number_of_messages_for_channels_that_are_gone_keep_nothing_waiting() {
    let store = Store::with_db(Arc::new(MemoryDb::new()));
    for number in 0..600 {
        let id = ConversationId::new(format!("conv_gone_{number}"));
        let new = NewConversation {
            id: id.clone(),
            channel: "webhook:gone".to_owned(),
            thread: None,
            workspace: None,
            now: 0,
        };
        store.conversations().ensure(&new).await.expect("written");
        let note = format!("note_{number}");
        store.outbox().note(&id, &note, "to nobody", 0).await.expect("written");
    }
    let (engine, run) = queued(&store, &["one"]).await;
    let receiver = Receiver::doing(&[]);
    assert_eq!(engine.deliver_due(receiver.as_ref()).await.expect("readable"), 1);
    assert_eq!(store.outbox().count(&run).await.expect("readable").waiting, 0);
}
