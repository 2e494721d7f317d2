//! Checks of parents and children: made together, told together, ended together.

use super::kit::{
    NOW, claim, claimed, draft, effect, ending, epoch_started, new_run, parking, planned, run_id,
    status,
};
use crate::{ChildReport, Claim, Commit, FinalMessage, NewChild, Store, StoreError};
use everloop_types::journal::{BudgetUse, ChildEnded, Delegated, EntryKind, InboxMessage, Spawned};
use everloop_types::{Labels, RunId, Status};

fn child_of(parent: &Claim, name: &str) -> NewChild {
    NewChild { new: new_run(name), by: effect(parent, 1) }
}

fn delegating(parent: &Claim, name: &str) -> Commit {
    let by = effect(parent, 1);
    let delegated = EntryKind::Delegated(Delegated { to: run_id(name) });
    let drafts = vec![planned(by.clone()), draft(Some(by), delegated)];
    let mut commit = Commit::new(drafts, NOW);
    commit.relations.child = Some(Box::new(child_of(parent, name)));
    commit
}

async fn with_child(store: &Store) -> Claim {
    let mut parent = claimed(store, "run_a").await;
    let commit = delegating(&parent, "run_c");
    store.journal().append(&mut parent, commit).await.unwrap();
    parent
}

fn report(status: Status) -> ChildReport {
    let (child, text) = (run_id("run_c"), "words".to_owned());
    let ended =
        ChildEnded { child, status, text, used: BudgetUse::default(), labels: Labels::default() };
    ChildReport { to: run_id("run_a"), ended }
}

async fn mail(store: &Store, run: &str) -> Vec<(String, InboxMessage)> {
    store.inbox().unread(&run_id(run)).await.unwrap().messages
}

pub(super) async fn a_child_and_its_parents_record_come_together(store: Store) {
    let mut parent = with_child(&store).await;
    let children = store.runs().children(&parent.run).await.unwrap();
    assert_eq!(children.iter().map(|it| &it.run).collect::<Vec<_>>(), [&run_id("run_c")]);
    assert_eq!(store.runs().parent(&run_id("run_c")).await.unwrap(), Some(parent.run.clone()));
    let row = store.runs().get(&run_id("run_c")).await.unwrap().unwrap();
    assert_eq!((row.origin.parent, row.status), (Some(parent.run.clone()), Status::Queued));
    let second = store.journal().entries(&run_id("run_c"), 1, 9).await.unwrap();
    let spawned = EntryKind::Spawned(Spawned { by: effect(&parent, 1) });
    assert_eq!(second.iter().map(|entry| &entry.kind).collect::<Vec<_>>(), [&spawned]);
    // The place after its two entries is free.
    let mut child = claim(&store, "run_c").await;
    store.journal().append(&mut child, Commit::new(vec![epoch_started()], NOW)).await.unwrap();
    // A commit that is refused leaves no child.
    let again = effect(&parent, 1);
    let mut refused = Commit::new(vec![planned(again)], NOW);
    refused.relations.child = Some(Box::new(child_of(&parent, "run_d")));
    let refused = store.journal().append(&mut parent, refused).await;
    assert!(matches!(refused, Err(StoreError::Violation { .. })), "{refused:?}");
    assert_eq!(store.runs().get(&run_id("run_d")).await.unwrap(), None);
}

pub(super) async fn a_childs_end_and_its_report_come_together(store: Store) {
    let mut parent = with_child(&store).await;
    store.journal().append(&mut parent, parking(None)).await.unwrap();
    assert_eq!(status(&store, "run_a").await, Status::Waiting);
    let mut child = claim(&store, "run_c").await;
    let mut end = ending(&child, Status::Succeeded);
    end.relations.report = Some(Box::new(report(Status::Succeeded)));
    let mut stale = Claim { epoch: 7, ..child.clone() };
    let refused = store.journal().append(&mut stale, end.clone()).await;
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    assert_eq!(mail(&store, "run_a").await, []);
    assert_eq!(status(&store, "run_a").await, Status::Waiting);
    store.journal().append(&mut child, end).await.unwrap();
    assert_eq!(status(&store, "run_a").await, Status::Queued, "the message wakes the parent");
    let message = InboxMessage::Child(Box::new(report(Status::Succeeded).ended));
    assert_eq!(mail(&store, "run_a").await, [("run_c".to_owned(), message)]);
}

pub(super) async fn a_parents_end_stops_its_children(store: Store) {
    let mut parent = with_child(&store).await;
    let mut child = claim(&store, "run_c").await;
    store.journal().append(&mut child, parking(None)).await.unwrap();
    let mut end = ending(&parent, Status::Canceled);
    end.relations.stops_children = true;
    store.journal().append(&mut parent, end).await.unwrap();
    assert_eq!(status(&store, "run_c").await, Status::Queued, "the message wakes the child");
    let cancel = InboxMessage::Cancel { by: "parent run_a".to_owned() };
    assert_eq!(mail(&store, "run_c").await, [("cancel".to_owned(), cancel)]);
    // The parent has ended and gets no report; the child ends all the same.
    let mut child = claim(&store, "run_c").await;
    let mut end = ending(&child, Status::Canceled);
    end.relations.report = Some(Box::new(report(Status::Canceled)));
    store.journal().append(&mut child, end).await.unwrap();
    assert_eq!(store.inbox().runs_with_mail().await.unwrap(), Vec::<RunId>::new());
}

fn cancel() -> InboxMessage {
    InboxMessage::Cancel { by: "user".to_owned() }
}

/// The parent decided to delegate before it read the cancel.
pub(super) async fn a_child_that_begins_under_a_cancel_is_told_of_it(store: Store) {
    let mut parent = claimed(&store, "run_a").await;
    store.inbox().send(&parent.run, "cancel", &cancel(), NOW).await.unwrap();
    let commit = delegating(&parent, "run_c");
    store.journal().append(&mut parent, commit).await.unwrap();
    let unread = store.inbox().unread(&run_id("run_c")).await.unwrap();
    assert_eq!(unread.messages, [("cancel".to_owned(), cancel())]);
    assert_eq!(unread.inbox_ctr, 1, "it does not park past its letter");
}

pub(super) async fn every_order_of_a_cancel_and_a_beginning_tells_the_child(store: Store) {
    for n in 0..30 {
        let mut parent = claimed(&store, &format!("run_a{n:02}")).await;
        let (sender, run) = (store.clone(), parent.run.clone());
        let sent = tokio::spawn(async move {
            sender.inbox().send(&run, "cancel", &cancel(), NOW).await.unwrap();
        });
        let child = format!("run_c{n:02}");
        let commit = delegating(&parent, &child);
        store.journal().append(&mut parent, commit).await.unwrap();
        sent.await.unwrap();
        assert_eq!(mail(&store, &child).await, [("cancel".to_owned(), cancel())], "{n}");
    }
}

pub(super) async fn a_cancel_reaches_every_level_below(store: Store) {
    let mut above = with_child(&store).await;
    store.journal().append(&mut above, parking(None)).await.unwrap();
    let mut child = claim(&store, "run_c").await;
    let commit = delegating(&child, "run_g");
    store.journal().append(&mut child, commit).await.unwrap();
    store.journal().append(&mut child, parking(None)).await.unwrap();
    store.inbox().send(&above.run, "cancel", &cancel(), NOW).await.unwrap();
    for run in ["run_a", "run_c", "run_g"] {
        assert_eq!(mail(&store, run).await, [("cancel".to_owned(), cancel())], "{run}");
        assert_eq!(status(&store, run).await, Status::Queued, "{run} is awake");
    }
}

pub(super) async fn a_child_that_is_put_aside_is_reported_and_takes_its_children_along(
    store: Store,
) {
    let mut parent = with_child(&store).await;
    store.journal().append(&mut parent, parking(None)).await.unwrap();
    let mut child = claim(&store, "run_c").await;
    let commit = delegating(&child, "run_g");
    store.journal().append(&mut child, commit).await.unwrap();
    for _ in 0..2 {
        let report = Some(report(Status::Quarantined));
        let word = FinalMessage { message: "stuck".to_owned(), report, title: None };
        store.queue().quarantine(&child.run, None, "stuck", NOW, Some(word)).await.unwrap();
    }
    assert_eq!(status(&store, "run_a").await, Status::Queued);
    assert_eq!(mail(&store, "run_a").await.len(), 1, "said once, however often it was tried");
    assert_eq!(mail(&store, "run_g").await.len(), 1, "a grandchild is told to end");
}
