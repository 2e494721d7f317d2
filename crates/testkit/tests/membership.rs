//! Membership: exclusive on a file, leased on a server, and what follows from each.

use everloop_engine::{Clock, LeaseTimes, Membership, MembershipPolicy, SystemClock};
use everloop_store::{ClaimLockError, Store};
use everloop_types::WorkerId;

fn exclusive(folder: &tempfile::TempDir) -> MembershipPolicy {
    MembershipPolicy::Exclusive { lock: folder.path().join("a.lock") }
}

#[test]
fn an_exclusive_membership_is_held_by_one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let policy = exclusive(&folder);
    let first = policy.acquire(&WorkerId::new("first")).unwrap();
    let refused = policy.acquire(&WorkerId::new("second"));
    assert!(
        matches!(&refused, Err(ClaimLockError::Held(by)) if by.worker.as_str() == "first"),
        "{refused:?}"
    );
    drop(first);
    assert!(policy.acquire(&WorkerId::new("second")).is_ok());
}

#[test]
fn a_leased_membership_is_held_by_many_and_presumes_that_owners_live() {
    let folder = tempfile::tempdir().unwrap();
    let policy = MembershipPolicy::Leased(LeaseTimes::default());
    let first = policy.acquire(&WorkerId::new("first")).unwrap();
    let second = policy.acquire(&WorkerId::new("second")).unwrap();
    assert!(matches!((first, second), (Membership::Leased(_), Membership::Leased(_))));
    assert!(policy.owners_may_live());
    assert!(!exclusive(&folder).owners_may_live());
}

#[tokio::test]
async fn members_of_a_shared_database_use_its_clock() {
    let store = Store::memory();
    let machine = SystemClock.now();
    let shown = store.workers().time().await.unwrap();
    let shared = MembershipPolicy::Leased(LeaseTimes::default()).clock(&store).await.unwrap();
    assert!(shared.now() - shown < 60_000, "the clock of the database");
    let folder = tempfile::tempdir().unwrap();
    let own = exclusive(&folder).clock(&store).await.unwrap();
    assert!(own.now() - machine < 60_000, "the clock of the machine");
}
