//! Checks of the journal: order, fences, uniqueness, limits.

use super::kit::{
    NOW, blob, claim, claimed, create, draft, effect, epoch_started, finished, new_run, planned,
    raw, run_finished, run_id, started,
};
use crate::{Commit, NextStatus, Position, Store, StoreError, StoreLimit};
use everloop_types::{
    SqlValue, Status, digest_bytes,
    journal::{EntryKind, EpochStarted, InboxMessage},
};

pub(super) async fn entries_have_places_without_gaps(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let id = effect(&ours, 1);
    let first =
        store.journal().append(&mut ours, Commit::new(vec![epoch_started()], NOW)).await.unwrap();
    let drafts = vec![planned(id.clone()), started(id.clone()), finished(id, "ok")];
    let rest = store.journal().append(&mut ours, Commit::new(drafts, NOW)).await.unwrap();
    assert_eq!(ours.next_seq, 6);
    let all = store.journal().entries(&ours.run, 0, 100).await.unwrap();
    assert_eq!(all.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(matches!(all[0].kind, EntryKind::RunCreated(_)));
    assert_eq!([&first[..], &rest[..]].concat(), all[1..], "what was returned is what is read");
    assert_eq!(store.journal().load(&ours.run).await.unwrap().entries, all);
    assert_eq!(store.journal().entries(&ours.run, 2, 2).await.unwrap(), all[2..4]);
}

pub(super) async fn a_stale_epoch_cannot_append(store: Store) {
    let mut old = claimed(&store, "run_a").await;
    let release = Commit::new(vec![epoch_started()], NOW).then(NextStatus::Release);
    store.journal().append(&mut old.clone(), release).await.unwrap();
    let mut new = claim(&store, "run_a").await;
    assert_eq!(new.epoch, old.epoch + 1);
    old.next_seq = new.next_seq;
    let late = store.journal().append(&mut old, Commit::new(vec![epoch_started()], NOW)).await;
    assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
    store.journal().append(&mut new, Commit::new(vec![epoch_started()], NOW)).await.unwrap();
    assert_eq!(store.journal().load(&new.run).await.unwrap().entries.len(), 3);
    assert_eq!(store.violations(), 0, "the fence held, not an index");
}

pub(super) async fn a_stale_place_cannot_append(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let mut copy = ours.clone();
    store.journal().append(&mut ours, Commit::new(vec![epoch_started()], NOW)).await.unwrap();
    let late = store.journal().append(&mut copy, Commit::new(vec![epoch_started()], NOW)).await;
    assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
    assert_eq!(copy.next_seq, 2, "a claim moves only on success");
    assert_eq!(store.violations(), 0);
}

pub(super) async fn an_effect_has_one_plan_start_and_outcome(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let id = effect(&ours, 1);
    let all = || vec![planned(id.clone()), started(id.clone()), finished(id.clone(), "once")];
    store.journal().append(&mut ours, Commit::new(all(), NOW)).await.unwrap();
    let next = ours.next_seq;
    for (draft, name) in all().into_iter().zip(["journal_plan", "journal_start", "journal_outcome"])
    {
        let again = store.journal().append(&mut ours, Commit::new(vec![draft], NOW)).await;
        assert!(
            matches!(again, Err(StoreError::Violation { index }) if index == name),
            "{name}: {again:?}"
        );
    }
    assert_eq!(store.violations(), 3);
    assert_eq!(ours.next_seq, next);
    assert_eq!(
        store.journal().load(&ours.run).await.unwrap().entries.len(),
        4,
        "nothing was written"
    );
}

pub(super) async fn a_large_body_lies_in_a_blob_once(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let text = "x".repeat(40_000);
    let drafts = vec![finished(effect(&ours, 1), &text), finished(effect(&ours, 2), &text)];
    let body = drafts[0].kind.body();
    let written = store.journal().append(&mut ours, Commit::new(drafts, NOW)).await.unwrap();
    assert_eq!(store.journal().load(&ours.run).await.unwrap().entries[1..], written);
    let stored = blob(&store, &digest_bytes(body.as_bytes())).await.unwrap();
    assert_eq!(stored, body.into_bytes());
    let count = store.rows("SELECT count(*) FROM blobs", Vec::new()).await.unwrap();
    assert_eq!(count[0].0, [SqlValue::Int(2)], "one for both bodies, one for the frame");
}

pub(super) async fn a_body_of_over_100_mb_is_refused(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let huge = EpochStarted { worker: super::kit::worker("w"), build: "x".repeat(101 << 20) };
    let commit = Commit::new(vec![draft(None, EntryKind::EpochStarted(huge))], NOW);
    let refused = store.journal().append(&mut ours, commit).await;
    assert!(matches!(refused, Err(StoreError::OverLimit { limit: StoreLimit::Blob, .. })));
}

pub(super) async fn a_journal_has_an_end(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    raw(&store, "UPDATE runs SET next_seq = 50001", Vec::new()).await;
    ours.next_seq = 50_001;
    let refused = store.journal().append(&mut ours, Commit::new(vec![epoch_started()], NOW)).await;
    assert!(matches!(refused, Err(StoreError::OverLimit { limit: StoreLimit::Events, .. })));
    let last = Commit::new(vec![run_finished(Status::Failed)], NOW);
    store.journal().append(&mut ours, last.then(NextStatus::Finish(Status::Failed))).await.unwrap();
}

pub(super) async fn a_journal_has_a_size(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    raw(&store, "UPDATE runs SET bytes = 67108850", Vec::new()).await;
    let refused = store.journal().append(&mut ours, Commit::new(vec![epoch_started()], NOW)).await;
    assert!(matches!(refused, Err(StoreError::OverLimit { limit: StoreLimit::Bytes, .. })));
    let last = Commit::new(vec![run_finished(Status::Failed)], NOW);
    store.journal().append(&mut ours, last.then(NextStatus::Finish(Status::Failed))).await.unwrap();
}

pub(super) async fn a_frame_comes_back_whole(store: Store) {
    create(&store, "run_a").await;
    let frame = store.journal().frame(&run_id("run_a")).await.unwrap();
    assert_eq!(frame, Some(new_run("run_a").frame));
    assert_eq!(store.journal().frame(&run_id("run_b")).await.unwrap(), None);
    let first = store.journal().entries(&run_id("run_a"), 0, 1).await.unwrap().remove(0);
    assert_eq!(first.kind, EntryKind::RunCreated(new_run("run_a").created));
}

pub(super) async fn a_position_tells_where_a_run_stands(store: Store) {
    let ours = claimed(&store, "run_a").await;
    let at = store.runs().position(&ours.run).await.unwrap().unwrap();
    assert_eq!(at, Position { epoch: 1, next_seq: 2, status: Status::Running });
    assert!(at.is_held_by(&ours));
    assert_eq!(store.runs().position(&run_id("run_b")).await.unwrap(), None);
}

pub(super) async fn any_text_comes_back_as_it_was(store: Store) {
    let odd =
        "nul \0, mark \u{1a}0\u{1a}, \\ud800 as JSON writes it, \u{ffff}, '$1 ? {now}', \u{feff}";
    let mut new = new_run("run_a");
    new.created.goal.text = odd.to_owned();
    store.queue().create_run(&new).await.unwrap();
    assert_eq!(store.runs().get(&new.run).await.unwrap().unwrap().goal, odd);
    let mut ours = claim(&store, "run_a").await;
    let note = Commit::new(vec![finished(effect(&ours, 1), odd)], NOW);
    let park = NextStatus::Park { wake_at: None, note: odd.to_owned() };
    let written = store.journal().append(&mut ours, note.then(park)).await.unwrap();
    assert_eq!(store.journal().load(&ours.run).await.unwrap().entries[1..], written);
    assert_eq!(store.runs().get(&ours.run).await.unwrap().unwrap().note.as_deref(), Some(odd));
    assert_eq!(store.runs().messages(&ours.run).await.unwrap()[0].body, odd);
    let lone = InboxMessage::Answer { question: "q\0".into(), text: odd.into(), by: "user".into() };
    store.inbox().send(&ours.run, "d\0", &lone, NOW).await.unwrap();
    let unread = store.inbox().unread(&ours.run).await.unwrap();
    assert_eq!(unread.messages, [("d\0".to_owned(), lone)]);
}
