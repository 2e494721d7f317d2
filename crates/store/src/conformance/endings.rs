//! Checks of endings and messages: one ending, one last message, all or nothing.

use super::kit::{
    NOW, claimed, effect, emitted, ending, epoch_started, finished, message, run_finished, run_id,
    status,
};
use crate::{Commit, NewOutbox, NextStatus, Settlement, Store, StoreError};
use everloop_types::{Rows, SettledOutcome, SqlValue, Statement, Status, Write};

pub(super) async fn finishing_is_final(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let end = ending(&ours, Status::Succeeded);
    store.journal().append(&mut ours, end).await.unwrap();
    for then in [NextStatus::GoOn, NextStatus::Release, NextStatus::Finish(Status::Failed)] {
        let late = Commit::new(vec![epoch_started()], NOW).then(then);
        let late = store.journal().append(&mut ours, late).await;
        assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
    }
    assert_eq!(status(&store, "run_a").await, Status::Succeeded);
    assert_eq!(store.queue().requeue_orphans(NOW).await.unwrap(), []);
    assert_eq!(store.journal().load(&ours.run).await.unwrap().entries.len(), 3);
}

pub(super) async fn the_final_message_is_the_only_one(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let mut early = Commit::new(vec![emitted("final")], NOW);
    early.messages.push(message(&ours, "final", "early"));
    store.journal().append(&mut ours, early).await.unwrap();
    let end = ending(&ours, Status::Succeeded);
    let second = store.journal().append(&mut ours, end).await;
    assert!(matches!(second, Err(StoreError::Violation { index: "messages_slot" })));
    assert_eq!(store.violations(), 1);
    assert_eq!(status(&store, "run_a").await, Status::Running, "the whole ending was refused");
}

pub(super) async fn status_and_message_come_together_or_not_at_all(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let mut bad = ending(&ours, Status::Succeeded);
    bad.writes.push(touching("run_x"));
    let refused = store.journal().append(&mut ours, bad).await;
    assert!(matches!(refused, Err(StoreError::WriteRefused { index: 0 })));
    assert_eq!(status(&store, "run_a").await, Status::Running);
    assert_eq!(store.runs().messages(&ours.run).await.unwrap().len(), 1);
    assert_eq!(store.journal().load(&ours.run).await.unwrap().entries.len(), 1);
    let good = ending(&ours, Status::Succeeded);
    store.journal().append(&mut ours, good).await.unwrap();
    let messages = store.runs().messages(&ours.run).await.unwrap();
    assert_eq!(messages.iter().filter(|m| m.slot == "final").count(), 1);
    assert_eq!(store.violations(), 0);
}

fn touching(run: &str) -> Write {
    Write {
        statement: Statement::screened("UPDATE runs SET parent_run_id = $2 WHERE run_id = $1"),
        params: vec![SqlValue::from(run), SqlValue::from("p")],
        expect: Rows::Exactly(1),
    }
}

pub(super) async fn own_writes_share_the_commit(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let settle = || Write {
        statement: Statement::screened(
            "INSERT INTO settlements (run_id, effect_id, verdict, by_whom, at)
              VALUES ($1, 'e', 'happened', 'user', 1)",
        ),
        params: vec![SqlValue::from("run_a")],
        expect: Rows::Exactly(1),
    };
    let mut first = Commit::new(vec![finished(effect(&ours, 1), "ok")], NOW);
    first.writes = vec![touching("run_a"), settle()];
    store.journal().append(&mut ours, first).await.unwrap();
    let mut again = Commit::new(vec![finished(effect(&ours, 2), "ok")], NOW);
    again.writes = vec![touching("run_a"), settle()];
    let refused = store.journal().append(&mut ours, again).await;
    assert!(matches!(refused, Err(StoreError::WriteRefused { index: 1 })));
    assert_eq!(store.violations(), 0, "the caller's own tables are the caller's business");
    assert_eq!(store.journal().load(&ours.run).await.unwrap().entries.len(), 2);
}

pub(super) async fn the_outbox_is_in_order(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let new = |id: &str, channel: &str| NewOutbox {
        outbox_id: id.to_owned(),
        channel: channel.to_owned(),
        body: format!("body of {id}"),
    };
    let mut commit = Commit::new(vec![run_finished(Status::Succeeded)], NOW);
    commit.outbox = vec![new("o2", "hook"), new("o1", "hook"), new("o3", "chat")];
    store
        .journal()
        .append(&mut ours, commit.then(NextStatus::Finish(Status::Succeeded)))
        .await
        .unwrap();
    let due = async |now| -> Vec<String> {
        let rows = store.outbox().due(now, None, 10).await.unwrap();
        rows.into_iter().map(|row| row.outbox_id).collect()
    };
    assert_eq!(due(NOW - 1).await, [""; 0]);
    assert_eq!(due(NOW).await, ["o2", "o3"], "the first of each channel");
    let row = store.outbox().due(NOW, None, 1).await.unwrap().remove(0);
    assert!(store.outbox().hold(&row, NOW + 20).await.unwrap());
    assert!(!store.outbox().hold(&row, NOW + 30).await.unwrap(), "one of two who saw it gets it");
    assert_eq!(due(NOW + 19).await, ["o3"], "and those behind it wait");
    let row = store.outbox().due(NOW + 20, None, 10).await.unwrap().remove(1);
    assert_eq!((row.outbox_id.as_str(), row.due_at, row.tries), ("o2", NOW + 20, 0));
    store.outbox().mark_failed("o2", NOW + 50).await.unwrap();
    assert_eq!(due(NOW).await, ["o3"], "a failed one holds those behind it");
    assert_eq!(store.outbox().due(NOW + 50, None, 10).await.unwrap()[1].tries, 1);
    store.outbox().mark_sent("o2", NOW + 50).await.unwrap();
    store.outbox().mark_sent("o2", NOW + 60).await.unwrap();
    assert_eq!(due(NOW + 50).await, ["o1", "o3"]);
    let count = store.outbox().count(&ours.run).await.unwrap();
    assert_eq!((count.sent, count.waiting), (1, 2));
    assert!(!store.outbox().hold(&row, NOW + 90).await.unwrap(), "what is sent is done with");
}

pub(super) async fn the_first_settlement_counts(store: Store) {
    let ours = claimed(&store, "run_a").await;
    let say = |cause, settled, by: &str, at| Settlement {
        effect: effect(&ours, cause),
        settled,
        by: by.to_owned(),
        at,
    };
    let (first, other) = (
        say(7, SettledOutcome::Happened, "user", NOW + 1),
        say(9, SettledOutcome::Not, "probe", NOW),
    );
    assert!(store.journal().settle(&first).await.unwrap());
    assert!(!store.journal().settle(&say(7, SettledOutcome::Not, "probe", NOW + 2)).await.unwrap());
    assert!(store.journal().settle(&other).await.unwrap());
    assert_eq!(store.journal().settlements(&ours.run).await.unwrap(), [other, first]);
    assert_eq!(store.journal().settlements(&run_id("run_b")).await.unwrap(), []);
    assert_eq!(store.violations(), 0);
}

pub(super) async fn messages_keep_their_order(store: Store) {
    let mut a = claimed(&store, "run_a").await;
    let mut b = claimed(&store, "run_b").await;
    for (name, slot) in [("a", "ask:1"), ("b", "final"), ("a", "final")] {
        let ours = if name == "a" { &mut a } else { &mut b };
        let mut commit = Commit::new(vec![emitted(slot)], NOW);
        commit.messages.push(message(ours, slot, "words"));
        store.journal().append(ours, commit).await.unwrap();
    }
    let places = async |name| -> Vec<(String, i64)> {
        let rows = store.runs().messages(&run_id(name)).await.unwrap();
        rows.into_iter().map(|m| (m.slot, m.pos)).collect()
    };
    let named = |slots: &[(&str, i64)]| -> Vec<(String, i64)> {
        slots.iter().map(|(slot, pos)| ((*slot).to_owned(), *pos)).collect()
    };
    assert_eq!(places("run_a").await, named(&[("goal", 1), ("ask:1", 3), ("final", 5)]));
    assert_eq!(places("run_b").await, named(&[("goal", 2), ("final", 4)]));
}
