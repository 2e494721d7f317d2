//! Checks of facts.

use super::kit::{BY, NOW, claimed, effect, ending, epoch_started, finished, planned};
use crate::{
    Commit, FactChangeKind, FactFilter, FactRow, FactState, FactUpdate, NewConversation, NewFact,
    Removal, Store,
};
use everloop_types::{ConversationId, FactId, FactProposal, FactSource, FactStatus, RunId, Status};

fn proposal(id: &str, text: &str, workspace: Option<&str>) -> FactProposal {
    FactProposal {
        id: FactId::new(id),
        text: text.to_owned(),
        workspace: workspace.map(str::to_owned),
        source: FactSource {
            conversation: Some(ConversationId::new("conv_1")),
            run: Some(RunId::new("run_a")),
            message: Some("run_a:goal".to_owned()),
        },
        untrusted: false,
        accept: false,
    }
}

fn written(id: &str, text: &str, workspace: Option<&str>) -> NewFact {
    let fact = FactProposal { source: FactSource::default(), ..proposal(id, text, workspace) };
    NewFact::written(fact, "user", NOW)
}

async fn fact(store: &Store, id: &str) -> FactRow {
    store.facts().get(&FactId::new(id)).await.unwrap().unwrap()
}

async fn listed(store: &Store, filter: FactFilter) -> Vec<String> {
    let facts = store.facts().list(&filter).await.unwrap();
    facts.into_iter().map(|fact| fact.id.as_str().to_owned()).collect()
}

fn update<'a>(change: FactChangeKind, to: &'a FactState, now: i64) -> FactUpdate<'a> {
    FactUpdate { change, to, by: "user", now }
}

pub(super) async fn a_proposal_comes_with_the_outcome_of_its_call_or_not_at_all(store: Store) {
    let mut claim = claimed(&store, "run_a").await;
    let id = effect(&claim, 1);
    let new = NewFact::proposed(proposal("fact_1", "likes thé", Some("/w")), "model", NOW);
    let mut commit = Commit::new(vec![epoch_started(), planned(id.clone())], NOW);
    commit.writes.extend(new.writes());
    let mut stale = claim.clone();
    stale.epoch -= 1;
    assert!(store.journal().append(&mut stale, commit.clone()).await.is_err());
    assert_eq!(store.facts().get(new.id()).await.unwrap(), None);
    commit.drafts.push(finished(id, "proposed"));
    store.journal().append(&mut claim, commit).await.unwrap();
    let row = fact(&store, "fact_1").await;
    assert_eq!((row.text.as_str(), row.status), ("likes thé", FactStatus::Proposed));
    assert_eq!((row.workspace.as_deref(), row.version), (Some("/w"), 1));
    assert_eq!(row.source, proposal("fact_1", "", None).source);
    let proposed = store.facts().of_run(&claim.run).await.unwrap();
    assert_eq!(proposed, std::slice::from_ref(&row));
    let history = store.facts().history(&row.id).await.unwrap();
    assert_eq!(history.len(), 1);
    let first = &history[0];
    assert_eq!((first.change, &first.after), (FactChangeKind::Proposed, &row.state()));
    assert_eq!((first.by.as_str(), first.run.as_ref()), ("model", Some(&claim.run)));
    let goal = store.facts().last_message(&claim.run).await.unwrap().unwrap();
    assert_eq!(goal, "run_a:goal");
    assert_eq!(store.facts().message(&goal).await.unwrap().as_deref(), Some("goal of run_a"));
}

pub(super) async fn an_untrusted_fact_is_never_active_by_itself(store: Store) {
    for (id, untrusted, accept, status) in [
        ("fact_1", false, true, FactStatus::Active),
        ("fact_2", true, true, FactStatus::Proposed),
        ("fact_3", false, false, FactStatus::Proposed),
        ("fact_4", true, false, FactStatus::Proposed),
    ] {
        let wanted = FactProposal { untrusted, accept, ..proposal(id, "x", None) };
        assert!(store.facts().add(&NewFact::proposed(wanted, "model", NOW)).await.unwrap());
        let row = fact(&store, id).await;
        assert_eq!((row.status, row.untrusted), (status, untrusted), "{id}");
    }
    assert_eq!(store.facts().count(FactStatus::Proposed).await.unwrap(), 3);
    assert_eq!(store.facts().count(FactStatus::Active).await.unwrap(), 1);
}

pub(super) async fn facts_are_listed_by_status_and_folder_newest_first(store: Store) {
    for (id, workspace) in [("fact_1", Some("/a")), ("fact_2", None), ("fact_3", Some("/b"))] {
        assert!(store.facts().add(&written(id, "words", workspace)).await.unwrap());
    }
    let proposed = NewFact::proposed(proposal("fact_4", "words", None), "model", NOW);
    assert!(store.facts().add(&proposed).await.unwrap());
    let all = FactFilter { most: 9, ..FactFilter::default() };
    assert_eq!(listed(&store, all.clone()).await, ["fact_4", "fact_3", "fact_2", "fact_1"]);
    let two = FactFilter { most: 2, before: Some(FactId::new("fact_4")), ..all.clone() };
    assert_eq!(listed(&store, two).await, ["fact_3", "fact_2"]);
    let here = FactFilter { workspace: Some("/a".to_owned()), ..all.clone() };
    assert_eq!(listed(&store, here.clone()).await, ["fact_4", "fact_2", "fact_1"]);
    let told = FactFilter { status: Some(FactStatus::Active), ..here };
    assert_eq!(listed(&store, told).await, ["fact_2", "fact_1"]);
    let found = |end: &'static str| {
        let store = store.clone();
        async move { store.facts().find(end).await.unwrap().len() }
    };
    assert_eq!((found("fact_3").await, found("CT_3").await, found("_3").await), (1, 1, 0));
    assert_eq!((found("%").await, found("").await), (0, 0));
}

pub(super) async fn of_two_who_saw_the_same_fact_one_changes_it(store: Store) {
    assert!(store.facts().add(&written("fact_1", "one", None)).await.unwrap());
    let seen = fact(&store, "fact_1").await;
    let gone = FactState { status: FactStatus::Withdrawn, ..seen.state() };
    let withdraw = update(FactChangeKind::Withdrawn, &gone, NOW + 5);
    assert!(store.facts().update(&seen, withdraw).await.unwrap());
    let other = FactState { text: "two".to_owned(), ..seen.state() };
    let edit = update(FactChangeKind::Edited, &other, NOW + 6);
    assert!(!store.facts().update(&seen, edit).await.unwrap());
    let now = fact(&store, "fact_1").await;
    assert_eq!((now.state(), now.version, now.updated_at), (gone.clone(), 2, NOW + 5));
    assert!(store.facts().update(&now, edit).await.unwrap());
    let history = store.facts().history(&seen.id).await.unwrap();
    let told: Vec<_> = history.iter().map(|one| (one.version, one.change)).collect();
    let expected =
        [(1, FactChangeKind::Added), (2, FactChangeKind::Withdrawn), (3, FactChangeKind::Edited)];
    assert_eq!(told, expected);
    assert_eq!((&history[2].before, &history[2].after), (&Some(gone), &other));
}

pub(super) async fn changes_of_facts_are_read_in_pages_oldest_first(store: Store) {
    for id in ["fact_2", "fact_1", "fact_3"] {
        assert!(store.facts().add(&written(id, "one", None)).await.unwrap());
    }
    let seen = fact(&store, "fact_1").await;
    let to = FactState { status: FactStatus::Withdrawn, ..seen.state() };
    let withdraw = update(FactChangeKind::Withdrawn, &to, NOW + 5);
    assert!(store.facts().update(&seen, withdraw).await.unwrap());
    let (mut told, mut last) = (Vec::new(), None);
    loop {
        let page = store.facts().changes(0, last.as_ref(), 2).await.unwrap();
        let Some(end) = page.last() else { break };
        last = Some(end.clone());
        told.extend(page.into_iter().map(|one| (one.fact.as_str().to_owned(), one.version)));
    }
    let expected = [("fact_1", 1), ("fact_2", 1), ("fact_3", 1), ("fact_1", 2)];
    assert_eq!(told, expected.map(|(id, version)| (id.to_owned(), version)));
    assert_eq!(store.facts().changes(NOW + 1, None, 9).await.unwrap().len(), 1);
}

pub(super) async fn a_conversation_that_is_kept_out_of_memory_adds_no_fact(store: Store) {
    let id = ConversationId::new("conv_1");
    let new = NewConversation {
        id: id.clone(),
        channel: "terminal".to_owned(),
        thread: None,
        workspace: None,
        now: NOW,
    };
    store.conversations().ensure(&new).await.unwrap();
    let run = claimed(&store, "run_a").await.run;
    assert!(!store.facts().is_kept_out(&run).await.unwrap());
    let wanted = NewFact::proposed(proposal("fact_1", "x", None), "model", NOW);
    assert!(store.conversations().keep_out_of_memory(&id, true, NOW).await.unwrap());
    assert!(store.facts().is_kept_out(&run).await.unwrap());
    assert!(!store.facts().add(&wanted).await.unwrap());
    assert_eq!(store.facts().history(wanted.id()).await.unwrap(), []);
    assert!(store.conversations().keep_out_of_memory(&id, false, NOW).await.unwrap());
    assert!(store.facts().add(&wanted).await.unwrap());
}

pub(super) async fn a_fact_outlives_the_run_that_it_came_from(store: Store) {
    let mut claim = claimed(&store, "run_a").await;
    let wanted = NewFact::proposed(proposal("fact_1", "x", None), "model", NOW);
    assert!(store.facts().add(&wanted).await.unwrap());
    let end = ending(&claim, Status::Succeeded);
    store.journal().append(&mut claim, end).await.unwrap();
    let gone = store.maintenance().delete_run(&claim.run, BY).await.unwrap();
    assert_eq!(gone, Removal::Gone(vec![claim.run.clone()]));
    let row = fact(&store, "fact_1").await;
    assert_eq!(row.source.run, Some(claim.run));
    assert_eq!(store.facts().message("run_a:goal").await.unwrap(), None);
    assert_eq!(store.facts().history(&row.id).await.unwrap().len(), 1);
}
