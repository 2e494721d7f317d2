//! Leases: which workers are presumed dead, and what happens to their runs.
//!
//! No check waits: a lease of no length has run out at once, one of an hour holds.

use super::kit::{NOW, claim, claimed, create, run_id, status, worker};
use crate::{Heartbeat, Store};
use everloop_types::Status;

const HOUR: i64 = 3_600_000;

pub(super) async fn a_lease_is_measured_on_the_databases_clock(store: Store) {
    let before = store.workers().time().await.unwrap();
    let registered = store.workers().register(&worker("w1"), "test", "here", HOUR).await.unwrap();
    let workers = store.workers().all().await.unwrap();
    let [row] = workers.as_slice() else { panic!("one worker, not {workers:?}") };
    assert!(registered >= before && row.expires_at >= before + HOUR);
    assert_eq!((row.worker.as_str(), row.place.as_str()), ("w1", "here"));
    let Heartbeat::Kept(now) = store.workers().heartbeat(&worker("w1"), 2 * HOUR).await.unwrap()
    else {
        panic!("the lease holds")
    };
    assert!(now >= before);
    let renewed = store.workers().all().await.unwrap();
    assert!(renewed[0].expires_at >= row.expires_at + HOUR);
}

pub(super) async fn a_lease_that_ran_out_is_not_renewed(store: Store) {
    store.workers().register(&worker("w1"), "test", "", 0).await.unwrap();
    assert_eq!(store.workers().heartbeat(&worker("w1"), HOUR).await.unwrap(), Heartbeat::Lost);
    assert_eq!(store.workers().heartbeat(&worker("nobody"), HOUR).await.unwrap(), Heartbeat::Lost);
    store.workers().register(&worker("w1"), "test", "", HOUR).await.unwrap();
    assert!(matches!(
        store.workers().heartbeat(&worker("w1"), HOUR).await.unwrap(),
        Heartbeat::Kept(_)
    ));
}

pub(super) async fn the_reaper_takes_from_the_dead_only(store: Store) {
    store.workers().register(&worker("alive"), "test", "", HOUR).await.unwrap();
    store.workers().register(&worker("dead"), "test", "", 0).await.unwrap();
    for (run, owner) in [("kept", "alive"), ("freed", "dead"), ("orphan", "unlisted")] {
        create(&store, run).await;
        store.queue().claim_run(&worker(owner), &run_id(run), NOW).await.unwrap().unwrap();
    }
    let orphans = store.workers().reap(NOW).await.unwrap();
    let names: Vec<&str> = orphans.iter().map(|orphan| orphan.run.as_str()).collect();
    assert_eq!(names, ["freed", "orphan"]);
    assert_eq!(status(&store, "kept").await, Status::Running);
    assert_eq!(status(&store, "freed").await, Status::Queued);
    let (left, now) = (store.workers().all().await.unwrap(), store.workers().time().await.unwrap());
    let alive = left.iter().filter(|row| row.expires_at > now).count();
    assert_eq!((alive, left.len()), (1, 2), "where the dead lived is known for a day: {left:?}");
    assert!(store.workers().reap(NOW).await.unwrap().is_empty(), "nothing is reaped twice");
}

pub(super) async fn the_reaper_puts_poison_aside(store: Store) {
    create(&store, "poison").await;
    for round in 1..=5 {
        assert_eq!(status(&store, "poison").await, Status::Queued, "round {round}");
        claim(&store, "poison").await;
        store.workers().reap(NOW).await.unwrap();
    }
    assert_eq!(status(&store, "poison").await, Status::Quarantined);
    let still = store.workers().reap(NOW).await.unwrap();
    assert_eq!(still.len(), 1, "until it has its last message it is named again");
}

pub(super) async fn one_worker_can_be_buried(store: Store) {
    store.workers().register(&worker("w1"), "test", "", HOUR).await.unwrap();
    claimed(&store, "mine").await;
    create(&store, "other").await;
    store.queue().claim_run(&worker("w2"), &run_id("other"), NOW).await.unwrap().unwrap();
    let orphans = store.workers().bury(&worker("w1"), NOW).await.unwrap();
    assert_eq!(orphans.len(), 1);
    assert_eq!(status(&store, "mine").await, Status::Queued);
    assert_eq!(status(&store, "other").await, Status::Running);
    let (left, now) = (store.workers().all().await.unwrap(), store.workers().time().await.unwrap());
    assert!(left.iter().all(|row| row.expires_at <= now), "{left:?}");
}

pub(super) async fn a_reaped_owner_cannot_write(store: Store) {
    let mut stale = claimed(&store, "r1").await;
    store.workers().reap(NOW).await.unwrap();
    let commit = crate::Commit::new(vec![super::kit::epoch_started()], NOW);
    let refused = store.journal().append(&mut stale, commit).await.unwrap_err();
    assert!(matches!(refused, crate::StoreError::LeaseLost { .. }), "{refused:?}");
    assert_eq!(status(&store, "r1").await, Status::Queued);
}
