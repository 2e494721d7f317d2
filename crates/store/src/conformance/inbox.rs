//! Checks of the inbox: a message is never lost, never counted twice, never waited past.

use super::kit::{
    NOW, answer, claimed, create, ending, input, message, new_run, parking, run_id, status, worker,
};
use crate::{
    Claim, Commit, ForkOrigin, InboxSendResult, NewFork, NewMessage, Store, StoreError, StoreLimit,
    TakenMessage, UnreadMessages,
};
use everloop_types::{Status, journal::InboxMessage};

pub(super) async fn a_message_before_parking_keeps_the_run_awake(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    ours.inbox_ctr = store.inbox().unread(&ours.run).await.unwrap().inbox_ctr;
    assert_eq!(
        store.inbox().send(&ours.run, "q1", &answer("yes"), NOW).await.unwrap(),
        InboxSendResult::Accepted
    );
    store.journal().append(&mut ours, parking(None)).await.unwrap();
    assert_eq!(status(&store, "run_a").await, Status::Queued);
    assert_eq!(store.queue().claim(&worker("w1"), NOW, 5).await.unwrap().len(), 1);
}

pub(super) async fn a_message_after_parking_wakes_the_run(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    store.journal().append(&mut ours, parking(Some(NOW + 99_999))).await.unwrap();
    assert_eq!(status(&store, "run_a").await, Status::Waiting);
    assert_eq!(
        store.inbox().send(&ours.run, "q1", &answer("yes"), NOW).await.unwrap(),
        InboxSendResult::Accepted
    );
    assert_eq!(status(&store, "run_a").await, Status::Queued);
    assert_eq!(store.inbox().runs_with_mail().await.unwrap(), [run_id("run_a")]);
    assert_eq!(store.queue().claim(&worker("w1"), NOW, 5).await.unwrap().len(), 1);
}

/// Parks as an engine does: reads what is unread, takes it, parks only on an empty inbox.
async fn read_and_park(store: &Store, claim: &mut Claim) {
    let unread = store.inbox().unread(&claim.run).await.unwrap();
    claim.inbox_ctr = unread.inbox_ctr;
    if unread.messages.is_empty() {
        store.journal().append(claim, parking(None)).await.unwrap();
    }
}

pub(super) async fn every_order_of_message_and_parking_is_safe(store: Store) {
    for n in 0..30 {
        let name = format!("run_{n:02}");
        let mut ours = claimed(&store, &name).await;
        let (sender, run) = (store.clone(), ours.run.clone());
        let sent = tokio::spawn(async move {
            sender.inbox().send(&run, "q1", &answer("yes"), NOW).await.unwrap();
        });
        read_and_park(&store, &mut ours).await;
        sent.await.unwrap();
        let unread = store.inbox().unread(&ours.run).await.unwrap();
        assert_eq!(unread.messages.len(), 1);
        assert_ne!(status(&store, &name).await, Status::Waiting, "waiting with unread mail");
    }
}

pub(super) async fn the_first_answer_wins(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    store.journal().append(&mut ours, parking(None)).await.unwrap();
    let sends = ["yes", "no", "maybe"].map(|text| {
        let (store, run) = (store.clone(), ours.run.clone());
        tokio::spawn(
            async move { store.inbox().send(&run, "q1", &answer(text), NOW).await.unwrap() },
        )
    });
    let mut accepted = 0;
    for sent in sends {
        match sent.await.unwrap() {
            InboxSendResult::Accepted => accepted += 1,
            other => assert_eq!(other, InboxSendResult::AlreadySent),
        }
    }
    assert_eq!(accepted, 1);
    let unread = store.inbox().unread(&ours.run).await.unwrap();
    assert_eq!((unread.messages.len(), unread.inbox_ctr), (1, 1), "the others changed nothing");
}

pub(super) async fn messages_come_in_order_and_are_taken_once(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    let steer = |text: &str| InboxMessage::Steer { text: text.to_owned() };
    let messages = [("z", steer("first")), ("a", steer("second")), ("m", InboxMessage::AnswerNow)];
    for (dedupe, message) in &messages {
        store.inbox().send(&ours.run, dedupe, message, NOW).await.unwrap();
    }
    let all: Vec<_> = messages.iter().map(|(d, l)| ((*d).to_owned(), l.clone())).collect();
    let unread = store.inbox().unread(&ours.run).await.unwrap();
    assert_eq!(unread, UnreadMessages { messages: all.clone(), inbox_ctr: 3 });
    let take = || {
        let drafts = vec![input("z", steer("first")), input("a", steer("second"))];
        let mut commit = Commit::new(drafts, NOW);
        commit.taken.push(TakenMessage { dedupe: "z".to_owned(), draft: 0 });
        commit.taken.push(TakenMessage { dedupe: "a".to_owned(), draft: 1 });
        commit
    };
    store.journal().append(&mut ours, take()).await.unwrap();
    assert_eq!(store.inbox().unread(&ours.run).await.unwrap().messages, all[2..]);
    let again = store.journal().append(&mut ours, take()).await;
    assert!(matches!(again, Err(StoreError::Violation { index: "inbox_taken" })));
    assert_eq!(store.violations(), 1);
}

pub(super) async fn an_answer_is_taken_together_with_its_message_or_not_at_all(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    store.inbox().send(&ours.run, "q1", &answer("yes"), NOW).await.unwrap();
    let taking = |claim: &Claim, dedupe: &str| {
        let mut commit = Commit::new(vec![input(dedupe, answer("yes"))], NOW);
        commit.taken.push(TakenMessage { dedupe: dedupe.to_owned(), draft: 0 });
        let said = message(claim, "answer:q1", "yes");
        commit.messages.push(NewMessage { role: "user".to_owned(), ..said });
        commit
    };
    let nothing = taking(&ours, "q9");
    assert!(store.journal().append(&mut ours, nothing).await.is_err(), "there is no such letter");
    assert_eq!(
        store.conversations().messages(&ours.conversation, 9).await.unwrap().len(),
        1,
        "the goal"
    );
    let answered = taking(&ours, "q1");
    store.journal().append(&mut ours, answered).await.unwrap();
    assert_eq!(store.inbox().unread(&ours.run).await.unwrap().messages, []);
    let said = store.conversations().messages(&ours.conversation, 1).await.unwrap().remove(0);
    let said = (said.run, said.slot, said.role, said.body);
    let words = |word: &str| word.to_owned();
    assert_eq!(said, (Some(ours.run), words("answer:q1"), words("user"), words("yes")));
}

pub(super) async fn a_finished_run_takes_no_messages(store: Store) {
    let mut ours = claimed(&store, "run_a").await;
    store.inbox().send(&ours.run, "early", &InboxMessage::AnswerNow, NOW).await.unwrap();
    let end = ending(&ours, Status::Canceled);
    store.journal().append(&mut ours, end).await.unwrap();
    let late = store.inbox().send(&ours.run, "late", &answer("yes"), NOW).await.unwrap();
    assert_eq!(late, InboxSendResult::Finished(Status::Canceled));
    let nowhere = store.inbox().send(&run_id("run_x"), "late", &answer("yes"), NOW).await.unwrap();
    assert_eq!(nowhere, InboxSendResult::NoSuchRun);
    assert!(store.inbox().runs_with_mail().await.unwrap().is_empty(), "nobody will read it");
    assert_eq!(store.inbox().unread(&run_id("run_x")).await.unwrap(), UnreadMessages::default());
}

pub(super) async fn a_large_message_is_refused(store: Store) {
    create(&store, "run_a").await;
    let message = answer(&"x".repeat(3 << 20));
    let refused = store.inbox().send(&run_id("run_a"), "q1", &message, NOW).await;
    assert!(matches!(refused, Err(StoreError::OverLimit { limit: StoreLimit::InboxMessage, .. })));
}

/// One transaction: the first driver of the fork has its message.
pub(super) async fn a_forks_message_is_there_before_anybody_can_claim_it(store: Store) {
    create(&store, "run_a").await;
    let origin = ForkOrigin { run: run_id("run_a"), at_seq: 1 };
    let inbox_message = Some(InboxMessage::AnswerNow);
    let new = new_run("run_f");
    let mut fork = NewFork { new, origin, entries: Vec::new(), word: None, inbox_message };
    store.queue().create_fork(&fork).await.unwrap();
    let there = UnreadMessages {
        messages: vec![("answer_now".to_owned(), InboxMessage::AnswerNow)],
        inbox_ctr: 1,
    };
    assert_eq!(store.inbox().unread(&run_id("run_f")).await.unwrap(), there);
    // A message that is refused leaves no fork.
    fork.new = new_run("run_g");
    fork.inbox_message = Some(answer(&"x".repeat(StoreLimit::InboxMessage.most())));
    let refused = store.queue().create_fork(&fork).await;
    assert!(matches!(refused, Err(StoreError::OverLimit { .. })), "{refused:?}");
    assert_eq!(store.runs().get(&run_id("run_g")).await.unwrap(), None);
}
