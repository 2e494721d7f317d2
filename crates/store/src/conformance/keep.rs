//! Checks of lists, retention, copies and inspection.

use super::kit::{
    BY, NOW, blob, claim, claimed, create, effect, ending, epoch_started, finished, planned,
    run_id, started,
};
use crate::{Claim, Commit, Removal, RunFilter, Store, TrimCounts};
use everloop_types::{RunId, Status, digest_bytes, journal::EntryKind};

async fn finish(store: &Store, ours: &mut Claim) {
    for n in 1..=2 {
        let id = effect(ours, n);
        let drafts = vec![
            epoch_started(),
            planned(id.clone()),
            started(id.clone()),
            finished(id, &"x".repeat(20_000)),
        ];
        let mut commit = Commit::new(drafts, NOW);
        commit.snapshot = Some((digest_bytes(b"state"), "state".to_owned()));
        store.journal().append(ours, commit).await.unwrap();
    }
    let end = ending(ours, Status::Succeeded);
    store.journal().append(ours, end).await.unwrap();
}

pub(super) async fn trimming_keeps_what_a_run_led_to(store: Store) {
    let mut old = claimed(&store, "run_a").await;
    finish(&store, &mut old).await;
    let live = claimed(&store, "run_b").await;
    assert_eq!(
        store.maintenance().trim(NOW + 99, 100).await.unwrap(),
        TrimCounts::default(),
        "too early"
    );
    assert_eq!(store.maintenance().count_to_trim(NOW + 99, 100).await.unwrap(), 0);
    assert_eq!(store.maintenance().count_to_trim(NOW + 100, 100).await.unwrap(), 1);
    let trimmed = store.maintenance().trim(NOW + 100, 100).await.unwrap();
    assert_eq!(trimmed, TrimCounts { runs: 1, entries: 5, snapshots: 1, blobs: 0 });
    let kinds: Vec<_> = store.journal().entries(&old.run, 0, 100).await.unwrap();
    let kinds: Vec<_> = kinds.iter().map(|entry| entry.kind.name()).collect();
    let call = ["EffectPlanned", "EffectFinished"];
    assert_eq!(kinds, [&["RunCreated"][..], &call, &call, &["RunFinished"]].concat());
    assert_eq!(store.runs().messages(&old.run).await.unwrap().len(), 2);
    let row = store.runs().get(&old.run).await.unwrap().unwrap();
    assert_eq!((row.status, row.times.trimmed_at), (Status::Succeeded, Some(NOW + 100)));
    assert_eq!(store.journal().load(&live.run).await.unwrap().entries.len(), 1);
    assert_eq!(
        store.maintenance().trim(NOW + 100, 100).await.unwrap(),
        TrimCounts::default(),
        "only once"
    );
}

pub(super) async fn a_run_is_deleted_as_a_whole_and_only_when_it_is_over(store: Store) {
    let mut old = claimed(&store, "run_a").await;
    let live = claimed(&store, "run_b").await;
    assert_eq!(
        store.maintenance().delete_run(&old.run, BY).await.unwrap(),
        Removal::NotOver(old.run.clone())
    );
    finish(&store, &mut old).await;
    assert_eq!(store.maintenance().ended_before(NOW - 1).await.unwrap(), []);
    assert_eq!(store.maintenance().ended_before(NOW).await.unwrap(), [old.run.clone()]);
    let gone = Removal::Gone(vec![old.run.clone()]);
    assert_eq!(store.maintenance().delete_run(&old.run, BY).await.unwrap(), gone);
    assert_eq!(store.maintenance().delete_run(&old.run, BY).await.unwrap(), Removal::NoSuchRun);
    assert_eq!(store.runs().get(&old.run).await.unwrap(), None);
    assert!(store.journal().entries(&old.run, 0, 100).await.unwrap().is_empty());
    assert!(store.runs().messages(&old.run).await.unwrap().is_empty());
    assert!(store.maintenance().sweep_blobs().await.unwrap() > 0, "what only it referred to");
    assert_eq!(store.journal().load(&live.run).await.unwrap().entries.len(), 1);
    store.maintenance().give_space_back().await.unwrap();
}

pub(super) async fn sweeping_keeps_what_is_used(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    finish(&store, &mut ours).await;
    let loose = crate::row::insert_blob(digest_bytes(b"loose"), b"loose".to_vec());
    store.db().commit(vec![loose], crate::Urgency::Critical).await.unwrap();
    assert!(blob(&store, &digest_bytes(b"loose")).await.is_some());
    assert_eq!(store.maintenance().sweep_blobs().await.unwrap(), 1);
    assert_eq!(blob(&store, &digest_bytes(b"loose")).await, None);
    let entries = store.journal().entries(&ours.run, 0, 100).await.unwrap();
    assert!(entries.iter().any(|entry| matches!(entry.kind, EntryKind::EffectFinished(_))));
    assert!(store.journal().frame(&ours.run).await.unwrap().is_some());
}

pub(super) async fn runs_are_listed_newest_first(store: Store) {
    for n in 1..=4 {
        create(&store, &format!("run_{n}")).await;
    }
    claim(&store, "run_3").await;
    let list = async |statuses: &[Status], before: Option<&str>, most| -> Vec<String> {
        let before = before.map(RunId::new);
        let filter = RunFilter { statuses: statuses.to_vec(), before, most };
        let rows = store.runs().list(&filter).await.unwrap();
        rows.into_iter().map(|row| row.run.as_str().to_owned()).collect()
    };
    assert_eq!(list(&[], None, 10).await, ["run_4", "run_3", "run_2", "run_1"]);
    assert_eq!(list(&[], Some("run_3"), 1).await, ["run_2"]);
    assert_eq!(list(&[Status::Running], None, 10).await, ["run_3"]);
    assert_eq!(list(&[Status::Queued], None, 2).await, ["run_4", "run_2"]);
    let row = store.runs().get(&run_id("run_3")).await.unwrap().unwrap();
    assert_eq!((row.goal.as_str(), row.lease.epoch), ("goal of run_3", 1));
    assert_eq!((row.times.created_at, row.lease.next_seq), (NOW, 2));
}

pub(super) async fn runs_that_changed_are_read_in_pages_oldest_first(store: Store) {
    for n in 1..=3 {
        create(&store, &format!("run_{n}")).await;
    }
    let page = async |since, after: Option<&str>, most| -> Vec<String> {
        let after = after.map(RunId::new);
        let rows = store.runs().runs_since(since, after.as_ref(), most).await.unwrap();
        rows.into_iter().map(|row| row.run.as_str().to_owned()).collect()
    };
    assert_eq!(page(0, None, 2).await, ["run_1", "run_2"]);
    assert_eq!(page(0, Some("run_2"), 2).await, ["run_3"]);
    assert_eq!(page(NOW, None, 9).await.len(), 3);
    assert_eq!(page(NOW + 1_000_000, None, 9).await.len(), 0);
}

pub(super) async fn runs_are_found_by_the_end_of_their_name(store: Store) {
    for name in ["run_01abc", "run_02abc", "run_03xyz"] {
        create(&store, name).await;
    }
    let find = async |fragment: &str| store.runs().find(fragment).await.unwrap();
    assert_eq!(find("abc").await, [run_id("run_02abc"), run_id("run_01abc")]);
    assert_eq!(find("run_03xyz").await, [run_id("run_03xyz")]);
    assert_eq!(find("_3xyz").await, [], "no wild cards");
    assert_eq!(find("%").await, []);
    assert_eq!(find("").await, []);
    assert_eq!(find("ABC").await, []);
}

pub(super) async fn an_inspection_counts_runs(store: Store) {
    create(&store, "run_a").await;
    claimed(&store, "run_b").await;
    let seen = store.maintenance().inspect().await.unwrap();
    assert_eq!((seen.schema_version, seen.quick_check.as_str()), (crate::SCHEMA_VERSION, "ok"));
    assert_eq!(seen.runs_by_status, [(Status::Queued, 1), (Status::Running, 1)]);
    assert!(seen.bytes_on_disk > 0);
    assert_eq!(store.maintenance().runs_by_status().await.unwrap(), seen.runs_by_status);
    let version = store.maintenance().engine_version().await.unwrap();
    assert_eq!(version, (seen.engine, seen.version));
}
