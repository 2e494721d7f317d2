//! Which rows are screened for secrets, and which are sealed by a digest.

use super::kit::{NOW, claimed, effect, finished, message};
use crate::{Commit, Redactor, SECRET_MARK, Store};
use everloop_types::{digest_bytes, journal::EntryKind};

const KEY: &str = "sk-fake-4f9Q2zL8aVbN0pXr";

/// The engine removes secrets before it appends. This check does not, so that
/// sealed rows prove that the store leaves them alone, and other rows that it does not.
pub(super) async fn rows_with_a_digest_are_sealed_and_other_rows_are_screened(store: Store) {
    let redactor = Redactor::default();
    assert!(redactor.learn(KEY));
    let store = store.with_redactor(redactor);
    let mut claim = claimed(&store, "run_1").await;
    let large = format!("{KEY} {}", "x".repeat(20 << 10));
    let drafts = vec![finished(effect(&claim, 1), KEY), finished(effect(&claim, 2), &large)];
    let kinds: Vec<EntryKind> = drafts.iter().map(|draft| draft.kind.clone()).collect();
    let state = format!(r#"{{"state":"{KEY}"}}"#);
    let mut commit = Commit::new(drafts, NOW);
    commit.snapshot = Some((digest_bytes(state.as_bytes()), state.clone()));
    commit.messages.push(message(&claim, "final", KEY));
    store.journal().append(&mut claim, commit).await.unwrap();

    let entries = store.journal().entries(&claim.run, 1, 9).await.unwrap();
    let read: Vec<EntryKind> = entries.into_iter().map(|entry| entry.kind).collect();
    assert_eq!(read, kinds, "the checksum of the row and the digest of the blob hold");
    let loaded = store.journal().load(&claim.run).await.unwrap();
    assert_eq!(loaded.snapshot.map(|snapshot| snapshot.state), Some(state));
    let messages = store.runs().messages(&claim.run).await.unwrap();
    assert_eq!(messages.last().map(|message| message.body.as_str()), Some(SECRET_MARK));
}
