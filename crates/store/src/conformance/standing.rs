//! Checks of standing approvals.

use super::kit::{BY, NOW, claim, claimed, effect, finished};
use crate::{Commit, ConversationRemoval, NewConversation, Store, StoreError, allow_for_good};
use everloop_types::{ConversationId, StandingApproval};

fn approval(id: &str, resource: &str) -> StandingApproval {
    StandingApproval {
        id: id.to_owned(),
        workspace: "/\u{9879}\u{76ee}".to_owned(),
        tool: "write_file".to_owned(),
        resource: resource.to_owned(),
        by: "user".to_owned(),
        at: NOW,
    }
}

pub(super) async fn an_approval_for_good_comes_with_its_commit_or_not_at_all(store: Store) {
    let mut stale = claimed(&store, "run_a").await;
    store.queue().release(&stale, NOW).await.unwrap();
    let mut ours = claim(&store, "run_a").await;
    let wanted = approval("a", "path:a.txt");
    let commit = |claim: &crate::Claim| {
        let mut commit = Commit::new(vec![finished(effect(claim, 1), "ok")], NOW);
        commit.writes = vec![allow_for_good(&wanted)];
        commit
    };
    let too_late = commit(&stale);
    let lost = store.journal().append(&mut stale, too_late).await;
    assert!(matches!(lost, Err(StoreError::LeaseLost { .. })));
    assert_eq!(store.approvals().find(&wanted).await.unwrap(), None);
    let good = commit(&ours);
    store.journal().append(&mut ours, good).await.unwrap();
    assert_eq!(store.approvals().find(&wanted).await.unwrap(), Some(wanted.clone()));
}

pub(super) async fn an_approval_for_good_covers_what_it_names_until_it_is_withdrawn(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let (one, other) = (approval("a", "path:a.txt"), approval("b", "path:b.txt"));
    let again = StandingApproval { by: "somebody else".to_owned(), at: NOW + 9, ..one.clone() };
    let mut commit = Commit::new(vec![finished(effect(&ours, 1), "ok")], NOW);
    commit.writes = [&one, &other, &again].map(allow_for_good).to_vec();
    store.journal().append(&mut ours, commit).await.unwrap();
    assert_eq!(store.approvals().all().await.unwrap(), [one.clone(), other.clone()]);
    // The same digest for another call is not a permission.
    let elsewhere = StandingApproval { workspace: "/elsewhere".to_owned(), ..one.clone() };
    assert_eq!(store.approvals().find(&elsewhere).await.unwrap(), None);
    assert!(store.approvals().withdraw("a").await.unwrap());
    assert!(!store.approvals().withdraw("a").await.unwrap());
    assert_eq!(store.approvals().find(&one).await.unwrap(), None);
    assert_eq!(store.approvals().all().await.unwrap(), [other]);
}

pub(super) async fn an_approval_for_a_conversation_ends_with_it(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let here = approval("a", "conversation:conv_over");
    let there = approval("b", "conversation:conv_2");
    let file = approval("c", "path:a.txt");
    let mut commit = Commit::new(vec![finished(effect(&ours, 1), "ok")], NOW);
    commit.writes = [&here, &there, &file].map(allow_for_good).to_vec();
    store.journal().append(&mut ours, commit).await.unwrap();
    let over = ConversationId::new("conv_over");
    store
        .conversations()
        .ensure(&NewConversation {
            id: over.clone(),
            channel: "terminal".to_owned(),
            thread: None,
            workspace: None,
            now: NOW,
        })
        .await
        .unwrap();
    let gone = store.maintenance().delete_conversation(&over, BY).await.unwrap();
    assert_eq!(gone, ConversationRemoval::Gone(Vec::new()));
    assert_eq!(store.approvals().all().await.unwrap(), [there, file]);
}
