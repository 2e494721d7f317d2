//! Webhooks, and what the program says by itself.

use super::kit::{NOW, claim, ending, new_run, run_id};
use crate::{
    Firing, FiringBatch, FiringKind, FiringOutcome, NewConversation, NewRun, OwnMessage, Store,
    TodoRow, TodoText, WriteKey, firings::DueReminder,
};
use everloop_types::{ConversationId, Status};

fn conversation(channel: &str, thread: Option<&str>) -> NewConversation {
    NewConversation {
        id: ConversationId::new("conv_told"),
        channel: channel.to_owned(),
        thread: thread.map(str::to_owned),
        workspace: None,
        now: NOW,
    }
}

fn message(id: &str) -> OwnMessage {
    let conversation = conversation("heartbeat", None);
    OwnMessage { conversation, message_id: id.to_owned(), body: format!("about {id}") }
}

async fn bodies(store: &Store) -> Vec<String> {
    let said = store.conversations().messages(&ConversationId::new("conv_told"), 9).await.unwrap();
    said.into_iter().map(|message| message.body).collect()
}

pub(super) async fn a_webhook_counts_once_until_it_expires(store: Store) {
    let hooks = store.conversations();
    assert_eq!(hooks.seen_webhook("ops", "msg_1").await.unwrap(), None);
    for run in ["r1", "r2"] {
        hooks.note_webhook("ops", "msg_1", &run_id(run), NOW, NOW + 10).await.unwrap();
    }
    assert_eq!(hooks.seen_webhook("ops", "msg_1").await.unwrap(), Some(run_id("r1")));
    assert_eq!(hooks.seen_webhook("dev", "msg_1").await.unwrap(), None);
    hooks.note_webhook("ops", "msg_2", &run_id("r3"), NOW + 11, NOW + 20).await.unwrap();
    assert_eq!(hooks.seen_webhook("ops", "msg_1").await.unwrap(), None);
}

pub(super) async fn a_final_message_goes_back_to_a_webhook_channel_with_its_ending(store: Store) {
    let there = conversation("webhook:ops", Some("t-7"));
    store.conversations().ensure(&there).await.unwrap();
    for (name, conversation) in [("r1", "conv_told"), ("r2", "conv_other")] {
        let conversation = ConversationId::new(conversation);
        let new = NewRun { conversation, ..new_run(name) };
        store.queue().create_run(&new).await.unwrap();
        let mut claim = claim(&store, name).await;
        assert!(
            store.outbox().due(NOW, None, 9).await.unwrap().iter().all(|row| row.run != claim.run)
        );
        let end = ending(&claim, Status::Succeeded);
        store.journal().append(&mut claim, end).await.unwrap();
    }
    let due = store.outbox().due(NOW, None, 9).await.unwrap();
    let seen: Vec<_> = due.iter().map(|row| (row.channel.as_str(), row.body.as_str())).collect();
    assert_eq!(seen, [("webhook:ops#t-7", "done")]);
    assert_eq!((due[0].outbox_id.as_str(), &due[0].run), ("r1:reply", &run_id("r1")));
}

pub(super) async fn a_thing_is_said_once_in_a_while(store: Store) {
    let keys = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let say = async |id: &str, names: &[&str], since: i64| {
        store.conversations().say_once(&message(id), &keys(names), since).await.unwrap()
    };
    assert!(say("m1", &["a", "b"], NOW - 100).await);
    assert!(!say("m2", &["c", "a"], NOW - 1).await, "a was said");
    assert_eq!(bodies(&store).await, ["about m1"]);
    let mut said = store.conversations().keys_said(NOW - 1).await.unwrap();
    said.sort();
    assert_eq!(said, ["a", "b"], "c was not said with it");
    assert!(say("m3", &["a"], NOW).await, "it is old by now");
    assert_eq!(bodies(&store).await, ["about m1", "about m3"]);
    let row = store.conversations().get(&ConversationId::new("conv_told")).await.unwrap().unwrap();
    assert!(row.has_unread());
}

pub(super) async fn a_reminder_that_nobody_saw_is_told_once(store: Store) {
    let said = TodoText {
        text: "milk".to_owned(),
        tags: Vec::new(),
        priority: 0,
        due_at: Some(NOW),
        remind_at: Some(NOW),
        remind_lead: None,
    };
    let todo = TodoRow {
        id: 0,
        uid: "t".to_owned(),
        said,
        remind_next: Some(NOW),
        done_at: None,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    };
    store.agenda().add_todo(&todo, WriteKey { key: None, now: NOW }).await.unwrap();
    let due = DueReminder { kind: FiringKind::Todo, subject: 1, due_at: NOW };
    let (state, title) = (FiringOutcome::Fired, "milk".to_owned());
    let fired = Firing { due, occurs_at: NOW, fired_at: NOW, state, title };
    let batch = FiringBatch { due, firings: vec![fired.clone()], next: None };
    assert!(store.agenda().fire(&batch).await.unwrap());
    assert_eq!(store.agenda().unseen_firings(NOW - 1, 9).await.unwrap(), []);
    assert_eq!(store.agenda().unseen_firings(NOW, 9).await.unwrap(), [fired]);
    assert!(store.agenda().tell_firing(due, &message("m1")).await.unwrap());
    assert!(!store.agenda().tell_firing(due, &message("m2")).await.unwrap());
    assert_eq!(store.agenda().unseen_firings(NOW, 9).await.unwrap(), []);
    assert_eq!(bodies(&store).await, ["about m1"]);
}
