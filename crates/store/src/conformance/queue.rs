//! Checks of the queue: claims, stalls, quarantine.

use super::kit::{
    NOW, claim, claimed, create, effect, ending, epoch_started, finished, new_run, parking, run_id,
    status, worker,
};
use crate::{Commit, NewRun, NextStatus, Orphan, RunCreation, Store, StoreError};
use everloop_types::{RunProfile, Status, journal::InboxMessage};
use std::collections::BTreeSet;

pub(super) async fn a_run_is_claimed_once(store: Store) {
    for n in 0..40 {
        create(&store, &format!("run_{n:02}")).await;
    }
    let claims = (0..8).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            store.queue().claim(&worker(&format!("w{n}")), NOW, 7).await.unwrap()
        })
    });
    let mut seen = BTreeSet::new();
    for claims in claims.collect::<Vec<_>>() {
        for claim in claims.await.unwrap() {
            assert_eq!(claim.epoch, 1);
            assert!(seen.insert(claim.run), "claimed twice");
        }
    }
    assert_eq!(seen.len(), 40);
    assert_eq!(store.queue().claim(&worker("late"), NOW, 7).await.unwrap(), []);
}

pub(super) async fn claims_follow_the_time_of_waking(store: Store) {
    let at = |name: &str, now| NewRun { now, ..new_run(name) };
    for new in [at("run_a", NOW + 3), at("run_b", NOW + 2), at("run_c", NOW + 1)] {
        store.queue().create_run(&new).await.unwrap();
    }
    let mut order = Vec::new();
    for _ in 0..3 {
        order.extend(store.queue().claim(&worker("w1"), NOW + 5, 1).await.unwrap());
    }
    let order: Vec<_> = order.iter().map(|claim| claim.run.as_str()).collect();
    assert_eq!(order, ["run_c", "run_b", "run_a"]);
}

pub(super) async fn one_key_makes_one_run(store: Store) {
    let keyed = |name: &str| NewRun { idem_key: Some("k".to_owned()), ..new_run(name) };
    assert_eq!(store.queue().create_run(&keyed("run_a")).await.unwrap(), RunCreation::New);
    let again = store.queue().create_run(&keyed("run_b")).await.unwrap();
    assert_eq!(again, RunCreation::Existing(run_id("run_a")));
    let same_id = store.queue().create_run(&new_run("run_a")).await.unwrap();
    assert_eq!(same_id, RunCreation::Existing(run_id("run_a")));
    assert_eq!(store.runs().get(&run_id("run_b")).await.unwrap(), None);
    assert_eq!(store.runs().messages(&run_id("run_a")).await.unwrap().len(), 1);
    create(&store, "run_c").await;
    create(&store, "run_d").await;
}

pub(super) async fn a_waiting_run_is_due_in_time(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    store.journal().append(&mut ours, parking(Some(NOW + 10))).await.unwrap();
    let row = store.runs().get(&ours.run).await.unwrap().unwrap();
    assert_eq!((row.status, row.times.wake_at), (Status::Waiting, Some(NOW + 10)));
    assert_eq!(row.note.as_deref(), Some("an answer"));
    assert_eq!(store.queue().claim(&worker("w1"), NOW + 9, 5).await.unwrap(), []);
    let due = store.queue().claim(&worker("w1"), NOW + 10, 5).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].epoch, 2);
    assert_eq!(store.runs().get(&ours.run).await.unwrap().unwrap().note, None);
}

pub(super) async fn a_run_can_be_claimed_by_name(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    assert_eq!(
        store.queue().claim_run(&worker("w2"), &ours.run, NOW).await.unwrap(),
        None,
        "driven"
    );
    store.journal().append(&mut ours, parking(None)).await.unwrap();
    assert_eq!(store.runs().get(&ours.run).await.unwrap().unwrap().times.wake_at, None);
    let mut again = claim(&store, "run_a").await;
    assert_eq!((again.epoch, again.loop_name.as_str(), again.loop_ver), (2, "react", 3));
    store.journal().append(&mut again, ending(&ours, Status::Succeeded)).await.unwrap();
    assert_eq!(store.queue().claim_run(&worker("w2"), &ours.run, NOW).await.unwrap(), None, "over");
    assert_eq!(store.queue().claim_run(&worker("w2"), &run_id("run_x"), NOW).await.unwrap(), None);
}

pub(super) async fn five_claims_without_progress_end_the_service(store: Store) {
    create(&store, "run_a").await;
    let orphan =
        |status_now| Orphan { run: run_id("run_a"), goal: "goal of run_a".to_owned(), status_now };
    for _ in 0..4 {
        let mut ours = claim(&store, "run_a").await;
        store.journal().append(&mut ours, Commit::new(vec![epoch_started()], NOW)).await.unwrap();
        assert_eq!(store.queue().requeue_orphans(NOW).await.unwrap(), [orphan(Status::Queued)]);
    }
    store.inbox().send(&run_id("run_a"), "c", &InboxMessage::AnswerNow, NOW).await.unwrap();
    claim(&store, "run_a").await;
    let last = [orphan(Status::Quarantined)];
    assert_eq!(store.queue().requeue_orphans(NOW).await.unwrap(), last);
    let row = store.runs().get(&run_id("run_a")).await.unwrap().unwrap();
    assert!(row.note.unwrap().contains("without progress"));
    assert_eq!(row.lease.stalls, 5);
    assert!(store.inbox().runs_with_mail().await.unwrap().is_empty());
    assert_eq!(
        store.queue().requeue_orphans(NOW).await.unwrap(),
        last,
        "its last message is missing"
    );
    let note = Some("gave up".to_owned().into());
    store.queue().quarantine(&run_id("run_a"), None, "stuck", NOW, note).await.unwrap();
    assert_eq!(store.queue().requeue_orphans(NOW).await.unwrap(), []);
    assert_eq!(store.queue().claim(&worker("w1"), NOW, 5).await.unwrap(), []);
}

pub(super) async fn progress_resets_the_stalls(store: Store) {
    create(&store, "run_a").await;
    for n in 0..6 {
        let mut ours = claim(&store, "run_a").await;
        let drafts = vec![epoch_started(), finished(effect(&ours, n), "ok")];
        store.journal().append(&mut ours, Commit::new(drafts, NOW)).await.unwrap();
        assert_eq!(store.queue().requeue_orphans(NOW).await.unwrap()[0].status_now, Status::Queued);
    }
    assert_eq!(store.runs().get(&run_id("run_a")).await.unwrap().unwrap().lease.stalls, 1);
}

pub(super) async fn a_reset_forgets_the_stalls(store: Store) {
    create(&store, "run_a").await;
    for _ in 0..6 {
        claim(&store, "run_a").await;
        store.queue().reset_stall_count(&run_id("run_a")).await.unwrap();
        assert_eq!(store.queue().requeue_orphans(NOW).await.unwrap()[0].status_now, Status::Queued);
    }
    assert_eq!(store.runs().get(&run_id("run_a")).await.unwrap().unwrap().lease.stalls, 1);
}

pub(super) async fn quarantine_gives_one_last_message(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let words = || Some("taken out of service".to_owned().into());
    let stale = store.queue().quarantine(&ours.run, Some(7), "damaged", NOW, words()).await;
    assert!(matches!(stale, Err(StoreError::LeaseLost { .. })));
    for _ in 0..2 {
        let epoch = Some(ours.epoch);
        store.queue().quarantine(&ours.run, epoch, "damaged", NOW, words()).await.unwrap();
    }
    let messages = store.runs().messages(&ours.run).await.unwrap();
    let slots: Vec<_> = messages.iter().map(|m| (m.slot.as_str(), m.body.as_str())).collect();
    assert_eq!(slots, [("goal", "goal of run_a"), ("final", "taken out of service")]);
    let row = store.runs().get(&ours.run).await.unwrap().unwrap();
    assert_eq!((row.status, row.note.as_deref()), (Status::Quarantined, Some("damaged")));
    let late = store.journal().append(&mut ours, Commit::new(vec![epoch_started()], NOW)).await;
    assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
    let mut done = claimed(&store, "run_b").await;
    let end = ending(&done, Status::Succeeded);
    store.journal().append(&mut done, end).await.unwrap();
    let over = store.queue().quarantine(&done.run, None, "no", NOW, words()).await;
    assert!(matches!(over, Err(StoreError::LeaseLost { .. })));
}

pub(super) async fn released_runs_go_to_the_next_worker(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let release = Commit::new(Vec::new(), NOW).then(NextStatus::Release);
    store.journal().append(&mut ours, release).await.unwrap();
    assert_eq!(status(&store, "run_a").await, Status::Queued);
    let theirs = store.queue().claim(&worker("w2"), NOW, 5).await.unwrap();
    assert_eq!((theirs[0].epoch, theirs[0].next_seq), (2, 2));
    assert_eq!(store.queue().held_by(&worker("w2")).await.unwrap(), theirs);
    assert_eq!(store.queue().held_by(&worker("w1")).await.unwrap(), []);
}

pub(super) async fn a_run_keeps_its_type_its_title_and_what_it_does_again(store: Store) {
    create(&store, "run_1").await;
    let plain = store.runs().get(&run_id("run_1")).await.unwrap().unwrap();
    assert_eq!(plain.profile, RunProfile::default());
    let profile = RunProfile {
        run_type: "sleep".to_owned(),
        title: Some("\u{5348}\u{7761}".to_owned()),
        retry_of: Some(run_id("run_1")),
    };
    let again = NewRun { profile: profile.clone(), ..new_run("run_2") };
    store.queue().create_run(&again).await.unwrap();
    let row = store.runs().get(&run_id("run_2")).await.unwrap().unwrap();
    assert_eq!(row.profile, profile);
    assert_eq!(store.runs().retries(&run_id("run_1")).await.unwrap(), [run_id("run_2")]);
    let claim = claim(&store, "run_2").await;
    assert_eq!(Some(claim.title), profile.title);
}
