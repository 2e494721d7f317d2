//! Checks of damage: it is noticed, and it stays where it is.

use super::kit::{NOW, claimed, create, effect, epoch_started, finished, raw, run_id};
use crate::{Claim, Commit, LoadedJournal, Store, StoreError};
use everloop_types::digest_bytes;

async fn with_entries(store: &Store, name: &str) -> Claim {
    let mut ours = claimed(store, name).await;
    let drafts = vec![epoch_started(), finished(effect(&ours, 1), "the outcome")];
    store.journal().append(&mut ours, Commit::new(drafts, NOW)).await.unwrap();
    ours
}

fn is_damaged(result: Result<LoadedJournal, StoreError>, at: i64) -> bool {
    matches!(result, Err(StoreError::Damaged { seq, .. }) if seq == at)
}

pub(super) async fn a_flipped_byte_stops_that_run_only(store: Store) {
    let a = with_entries(&store, "run_a").await;
    let b = with_entries(&store, "run_b").await;
    raw(
        &store,
        "UPDATE journal SET body = replace(body, 'the outcome', 'thf outcome')
          WHERE run_id = 'run_a' AND seq = 3",
        Vec::new(),
    )
    .await;
    assert!(is_damaged(store.journal().load(&a.run).await, 3));
    assert_eq!(store.journal().load(&b.run).await.unwrap().entries.len(), 3);
    raw(
        &store,
        "UPDATE journal SET effect_id = '2:0' WHERE run_id = 'run_b' AND seq = 3",
        Vec::new(),
    )
    .await;
    assert!(
        is_damaged(store.journal().load(&b.run).await, 3),
        "an outcome may not change its effect"
    );
}

pub(super) async fn a_missing_entry_is_damage(store: Store) {
    let ours = with_entries(&store, "run_a").await;
    raw(&store, "DELETE FROM journal WHERE seq = 3", Vec::new()).await;
    assert!(is_damaged(store.journal().load(&ours.run).await, 3), "the last one");
    let other = with_entries(&store, "run_b").await;
    raw(&store, "DELETE FROM journal WHERE seq = 2 AND run_id = 'run_b'", Vec::new()).await;
    assert!(is_damaged(store.journal().load(&other.run).await, 2), "one in the middle");
    let nobody = store.journal().load(&run_id("run_x")).await.unwrap();
    assert_eq!(nobody, LoadedJournal { snapshot: None, entries: Vec::new() });
}

pub(super) async fn a_damaged_snapshot_is_passed_over(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    for n in 1..=3 {
        let mut commit = Commit::new(vec![finished(effect(&ours, n), "ok")], NOW);
        let state = format!("state {n}");
        commit.snapshot = Some((digest_bytes(state.as_bytes()), state));
        store.journal().append(&mut ours, commit).await.unwrap();
    }
    let newest = store.journal().load(&ours.run).await.unwrap();
    let snapshot = newest.snapshot.unwrap();
    assert_eq!((snapshot.seq, snapshot.state.as_str()), (4, "state 3"));
    assert_eq!((newest.entries.len(), ours.snap_seq, snapshot.loop_ver), (0, 4, 3));
    raw(&store, "UPDATE snapshots SET state = 'stale 3' WHERE seq = 4", Vec::new()).await;
    let older = store.journal().load(&ours.run).await.unwrap();
    assert_eq!((older.snapshot.unwrap().seq, older.entries.len()), (3, 1));
    raw(&store, "UPDATE snapshots SET fmt = 99 WHERE seq = 3", Vec::new()).await;
    let whole = store.journal().load(&ours.run).await.unwrap();
    assert_eq!((whole.snapshot, whole.entries.len()), (None, 4));
}

pub(super) async fn a_damaged_blob_is_noticed(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let text = "x".repeat(20_000);
    let draft = finished(effect(&ours, 1), &text);
    let body = draft.kind.body();
    let hash = digest_bytes(body.as_bytes());
    store.journal().append(&mut ours, Commit::new(vec![draft], NOW)).await.unwrap();
    let flip = "UPDATE blobs SET bytes = $2 WHERE hash = $1";
    raw(&store, flip, vec![hash.as_str().into(), body.replacen("xx", "xy", 1).into_bytes().into()])
        .await;
    assert!(is_damaged(store.journal().load(&ours.run).await, 2));
    raw(&store, "DELETE FROM blobs WHERE hash = $1", vec![hash.into()]).await;
    assert!(is_damaged(store.journal().load(&ours.run).await, 2));
    raw(&store, "DELETE FROM blobs", Vec::new()).await;
    let frame = store.journal().frame(&ours.run).await;
    assert!(matches!(frame, Err(StoreError::Damaged { seq: 0, .. })));
}

/// The row is written as a newer program would: with a checksum that fits.
pub(super) async fn a_newer_kind_is_refused(store: Store) {
    let ours = with_entries(&store, "run_a").await;
    let other = with_entries(&store, "run_b").await;
    crate::row::write_raw_for_checks(&store, &ours.run, 4, "EffectTeleported", 1).await;
    let refused = store.journal().load(&ours.run).await;
    assert!(
        matches!(&refused, Err(StoreError::NewerEntry { seq: 4, kind, fmt: 1, .. })
            if kind == "EffectTeleported"),
        "{refused:?}"
    );
    crate::row::write_raw_for_checks(&store, &other.run, 4, "EpochStarted", 9).await;
    let refused = store.journal().load(&other.run).await;
    assert!(matches!(refused, Err(StoreError::NewerEntry { fmt: 9, .. })));
    assert_eq!(store.journal().entries(&other.run, 0, 3).await.unwrap().len(), 3);
}

pub(super) async fn a_newer_message_is_refused(store: Store) {
    create(&store, "run_a").await;
    raw(
        &store,
        "INSERT INTO inbox (run_id, dedupe, pos, kind, body, created_at)
         VALUES ('run_a', 'd', 1, 'whisper', '{\"letter\":\"whisper\"}', 1)",
        Vec::new(),
    )
    .await;
    let refused = store.inbox().unread(&run_id("run_a")).await;
    assert!(matches!(refused, Err(StoreError::NewerEntry { seq: 0, .. })));
}
