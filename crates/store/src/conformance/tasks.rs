//! Checks of runs that another run starts: begun with its commit, once, in its turn.

use super::kit::{NOW, claim, claimed, create, draft, effect, ending, new_run, planned, run_id};
use crate::{
    Claim, Commit, InboxSendResult, MessageRange, NewRun, RunLink, Store, StoreError, TurnRecord,
};
use everloop_types::journal::{EntryKind, InboxMessage, MessageEmitted};
use everloop_types::{ConversationId, RunId, Status};

fn task(name: &str, turn: &str, key: Option<&str>) -> NewRun {
    let mut new = new_run(name);
    new.created.turn = Some(run_id(turn));
    new.link = RunLink { task_key: key.map(str::to_owned), is_quiet: true };
    new
}

fn starting(new: NewRun) -> Commit {
    let kind = EntryKind::MessageEmitted(MessageEmitted { slot: "note".to_owned() });
    Commit { started: vec![new], ..Commit::new(vec![draft(None, kind)], NOW) }
}

async fn end(store: &Store, claim: &mut Claim) {
    let commit = ending(claim, Status::Succeeded);
    store.journal().append(claim, commit).await.unwrap();
}

/// The run and the turn of every message of the conversation.
async fn turns_of_messages(store: &Store) -> Vec<(String, String)> {
    let range = MessageRange { before: None, after: Some(0), most: 9 };
    let here = ConversationId::new("conv_1");
    let page = store.conversations().messages_page(&here, range);
    let name = |run: Option<RunId>| run.unwrap().to_string();
    let messages = page.await.unwrap().messages;
    messages.into_iter().map(|said| (name(said.run), name(said.turn))).collect()
}

pub(super) async fn a_run_that_a_commit_starts_comes_with_it_or_not_at_all(store: Store) {
    let mut first = claimed(&store, "run_a").await;
    let commit = starting(task("run_t", "run_a", None));
    store.journal().append(&mut first, commit).await.unwrap();
    let row = store.runs().get(&run_id("run_t")).await.unwrap().unwrap();
    assert_eq!((row.origin.turn, row.status), (run_id("run_a"), Status::Queued));
    assert_eq!(store.runs().messages(&run_id("run_t")).await.unwrap(), [], "nobody wrote its goal");
    let mut started = claim(&store, "run_t").await;
    assert_eq!(started.turn, run_id("run_a"));
    end(&store, &mut started).await;
    let turns =
        [("run_a", "run_a"), ("run_t", "run_a")].map(|(run, turn)| (run.into(), turn.into()));
    assert_eq!(turns_of_messages(&store).await, turns);
    // A commit that is refused starts nothing, and so does one of a worker that lost the run.
    let by = effect(&first, 1);
    let mut refused = starting(task("run_u", "run_a", None));
    refused.drafts = vec![planned(by.clone()), planned(by)];
    let refused = store.journal().append(&mut first, refused).await;
    assert!(matches!(refused, Err(StoreError::Violation { .. })), "{refused:?}");
    let mut stale = Claim { epoch: 7, ..first.clone() };
    let lost = store.journal().append(&mut stale, starting(task("run_u", "run_a", None))).await;
    assert!(matches!(lost, Err(StoreError::LeaseLost { .. })), "{lost:?}");
    assert_eq!(store.runs().get(&run_id("run_u")).await.unwrap(), None);
}

pub(super) async fn what_is_worked_on_is_not_started_a_second_time(store: Store) {
    let here = ConversationId::new("conv_1");
    let mut first = claimed(&store, "run_a").await;
    let commit = starting(task("run_t", "run_a", Some("k")));
    store.journal().append(&mut first, commit).await.unwrap();
    let works = store.runs().works_on(&here, "k").await.unwrap();
    assert_eq!(works, Some(run_id("run_t")));
    let mut second = claimed(&store, "run_b").await;
    let before = second.next_seq;
    let again = store.journal().append(&mut second, starting(task("run_u", "run_b", Some("k"))));
    let again = again.await;
    assert!(matches!(again, Err(StoreError::TaskRunning { .. })), "{again:?}");
    assert_eq!(store.runs().get(&run_id("run_u")).await.unwrap(), None);
    let at = store.runs().position(&run_id("run_b")).await.unwrap().unwrap();
    assert_eq!(at.next_seq, before, "nothing of the commit was written");
    // Another conversation may work on the same, and so may this one once the first is over.
    let mut elsewhere = task("run_v", "run_b", Some("k"));
    elsewhere.conversation = ConversationId::new("conv_2");
    store.journal().append(&mut second, starting(elsewhere)).await.unwrap();
    let mut started = claim(&store, "run_t").await;
    end(&store, &mut started).await;
    assert_eq!(store.runs().works_on(&here, "k").await.unwrap(), None);
    let commit = starting(task("run_u", "run_b", Some("k")));
    store.journal().append(&mut second, commit).await.unwrap();
    assert_eq!(store.runs().works_on(&here, "k").await.unwrap(), Some(run_id("run_u")));
}

pub(super) async fn runs_of_a_turn_and_of_a_conversation_are_found(store: Store) {
    let mut keyed = new_run("run_a");
    keyed.idem_key = Some("request".to_owned());
    store.queue().create_run(&keyed).await.unwrap();
    assert_eq!(store.runs().by_idem_key("request").await.unwrap(), Some(run_id("run_a")));
    assert_eq!(store.runs().by_idem_key("other").await.unwrap(), None);
    let mut first = claim(&store, "run_a").await;
    let mut task = task("run_t", "run_a", None);
    task.now = NOW + 1;
    store.journal().append(&mut first, starting(task)).await.unwrap();
    create(&store, "run_b").await;
    let turn = store.runs().of_turn(&run_id("run_a")).await.unwrap();
    assert_eq!(turn, [run_id("run_a"), run_id("run_t")]);
    assert_eq!(store.runs().of_turn(&run_id("run_b")).await.unwrap(), [run_id("run_b")]);
    let here = ConversationId::new("conv_1");
    let all = store.runs().of_conversation(&here, 2).await.unwrap();
    let all: Vec<RunId> = all.into_iter().map(|row| row.run).collect();
    assert_eq!(all, [run_id("run_t"), run_id("run_b")], "the newest first, and no more");
}

pub(super) async fn an_answer_is_found_by_the_request_that_gave_it(store: Store) {
    let here = ConversationId::new("conv_1");
    create(&store, "run_a").await;
    let answer = |by: &str| {
        let (question, text, by) = ("q".to_owned(), "blue".to_owned(), by.to_owned());
        InboxMessage::Answer { question, text, by }
    };
    store.inbox().send(&run_id("run_a"), "q", &answer("user 1"), NOW).await.unwrap();
    let found = store.inbox().answered_by(&here, "1", 10).await.unwrap();
    assert_eq!(found, Some(run_id("run_a")));
    for (place, by) in [("conv_1", "2"), ("conv_1", "user 1"), ("conv_2", "1")] {
        let place = ConversationId::new(place);
        assert_eq!(store.inbox().answered_by(&place, by, 10).await.unwrap(), None, "{by}");
    }
}

pub(super) async fn a_request_cancels_once_and_is_known_again(store: Store) {
    create(&store, "run_a").await;
    create(&store, "run_b").await;
    let cancel = InboxMessage::Cancel { by: "user".to_owned() };
    let record = |run: &str| TurnRecord {
        key: "turn:1".to_owned(),
        did: "cancel".to_owned(),
        run: Some(run_id(run)),
        at: NOW,
    };
    let send = async |run: &str| {
        let (id, record) = (run_id(run), record(run));
        store.inbox().send_with(&id, "cancel", &cancel, NOW, Some(&record)).await.unwrap()
    };
    assert_eq!(send("run_a").await, InboxSendResult::Accepted);
    assert_eq!(send("run_b").await, InboxSendResult::AlreadySent, "another run, the same request");
    assert!(store.inbox().unread(&run_id("run_b")).await.unwrap().messages.is_empty());
    let known = store.conversations().turn_record("turn:1").await.unwrap();
    assert_eq!(known, Some(record("run_a")));
    assert!(!store.conversations().keep_turn(&record("run_b")).await.unwrap());
    assert_eq!(store.conversations().turn_record("turn:2").await.unwrap(), None);
}
