//! Full-text search, and messages in pages.

use super::kit::{BY, NOW, claim, claimed, create, ending, new_run, raw, run_id};
use crate::{
    ConversationRemoval, MessageHits, MessageQuery, MessageRange, NewConversation, Redactor, Store,
};
use everloop_types::{ConversationId, Status};

fn id(name: &str) -> ConversationId {
    ConversationId::new(name)
}

async fn conversation(store: &Store, name: &str) {
    let new = NewConversation {
        id: id(name),
        channel: "terminal".to_owned(),
        thread: None,
        workspace: None,
        now: NOW,
    };
    store.conversations().ensure(&new).await.unwrap();
}

async fn says(store: &Store, name: &str, message: &str, body: &str, at: i64) {
    store.conversations().say(&id(name), message, "user", body, at).await.unwrap();
}

async fn search(store: &Store, query: MessageQuery) -> (Vec<String>, Option<i64>) {
    let MessageHits { hits, next } = store.conversations().search(&query).await.unwrap();
    (hits.into_iter().map(|hit| hit.message.id).collect(), next)
}

async fn found(store: &Store, words: &str) -> Vec<String> {
    let words = words.to_owned();
    search(store, MessageQuery { words, most: 50, ..MessageQuery::default() }).await.0
}

async fn terms(store: &Store) -> i64 {
    let rows = store.db().query("SELECT count(*) FROM message_terms", Vec::new()).await.unwrap();
    rows.into_iter().next().unwrap().cells().int().unwrap()
}

pub(super) async fn a_message_is_found_by_its_words_in_any_script_the_newest_first(store: Store) {
    conversation(&store, "conv_1").await;
    conversation(&store, "conv_2").await;
    says(&store, "conv_1", "m1", "Mend the FENCE, 100% of it", NOW).await;
    let mended = concat!(
        "The fence is mended; ",
        "\u{767b}\u{5f55}\u{9875}\u{9762}\u{7684}",
        "\u{6d4b}\u{8bd5}\u{4fee}\u{597d}\u{4e86}\u{3002}"
    );
    says(&store, "conv_2", "m2", mended, NOW + 1).await;
    says(&store, "conv_1", "m3", "\u{5f55}\u{9875} \u{767b}\u{5f55} \u{9762}\u{9875}", NOW + 2)
        .await;
    says(&store, "conv_1", "m4", "\u{8981}\u{4fee}", NOW + 3).await;
    assert_eq!(found(&store, "fence").await, ["m2", "m1"]);
    assert_eq!(found(&store, "THE Fence mend").await, ["m1"], "all words, as whole words");
    assert_eq!(
        found(&store, "\u{767b}\u{5f55}\u{9875}").await,
        ["m2"],
        "as it stands, not its parts somewhere"
    );
    assert_eq!(found(&store, "\u{767b}\u{5f55}").await, ["m3", "m2"]);
    assert_eq!(found(&store, "\u{4fee}").await, ["m4", "m2"], "one character, wherever it stands");
    assert_eq!(found(&store, "fence \u{6d4b}\u{8bd5}").await, ["m2"]);
    assert_eq!(found(&store, "100").await, ["m1"]);
    for nothing in ["teapot", "fenc", "%", "", "\u{767b}\u{9762}"] {
        assert_eq!(found(&store, nothing).await, [""; 0], "{nothing}");
    }
    let query = MessageQuery {
        words: "fence".to_owned(),
        conversation: Some(id("conv_1")),
        most: 9,
        ..MessageQuery::default()
    };
    let hits = store.conversations().search(&query).await.unwrap().hits;
    assert_eq!((hits.len(), hits[0].at, hits[0].message.pos), (1, 9, 1));
}

pub(super) async fn pages_of_hits_miss_nothing_and_repeat_nothing(store: Store) {
    conversation(&store, "conv_1").await;
    for n in 0..25 {
        says(&store, "conv_1", &format!("m{n:02}"), "the same words", NOW + n).await;
    }
    let mut all = Vec::new();
    let mut query =
        MessageQuery { words: "same words".to_owned(), most: 7, ..MessageQuery::default() };
    for _ in 0..4 {
        let (hits, next) = search(&store, query.clone()).await;
        all.extend(hits);
        query.before = next;
        if next.is_none() {
            break;
        }
    }
    let wanted: Vec<String> = (0..25).rev().map(|n| format!("m{n:02}")).collect();
    assert_eq!(all, wanted);
}

pub(super) async fn no_part_of_a_secret_becomes_a_term(store: Store) {
    let redactor = Redactor::default();
    redactor.learn("hunter-tango-9931");
    let store = store.with_redactor(redactor);
    conversation(&store, "conv_1").await;
    says(&store, "conv_1", "m1", "the key is hunter-tango-9931 today", NOW).await;
    assert_eq!(found(&store, "today").await, ["m1"]);
    for part in ["hunter", "tango", "9931"] {
        assert_eq!(found(&store, part).await, [""; 0], "{part}");
    }
}

pub(super) async fn what_is_deleted_leaves_no_term(store: Store) {
    conversation(&store, "conv_1").await;
    create(&store, "run_a").await;
    assert_eq!(found(&store, "goal").await, ["run_a:goal"]);
    let mut ours = claim(&store, "run_a").await;
    let end = ending(&ours, Status::Succeeded);
    store.journal().append(&mut ours, end).await.unwrap();
    assert_eq!(found(&store, "done").await.len(), 1);
    says(&store, "conv_1", "m1", "by the way", NOW).await;
    store.maintenance().delete_run(&run_id("run_a"), BY).await.unwrap();
    assert_eq!(terms(&store).await, 3, "those of the message that is left");
    let gone = store.maintenance().delete_conversation(&id("conv_1"), BY).await.unwrap();
    assert_eq!(gone, ConversationRemoval::Gone(Vec::new()));
    assert_eq!(terms(&store).await, 0);
}

pub(super) async fn messages_of_earlier_programs_are_indexed_later(store: Store) {
    conversation(&store, "conv_1").await;
    let sql = "INSERT INTO messages (conversation_id, pos, message_id, role, body, created_at)
               VALUES ('conv_1', $1, $2, 'user', 'an earlier word', 7)";
    for (pos, name) in [(1, "m1"), (2, "m2"), (3, "m3")] {
        raw(&store, sql, crate::statement::params![pos, name]).await;
    }
    says(&store, "conv_1", "m4", "a later word", NOW).await;
    assert_eq!(found(&store, "word").await, ["m4"]);
    assert_eq!(store.maintenance().count_unindexed().await.unwrap(), 3);
    assert_eq!(store.maintenance().index_messages(2).await.unwrap(), 2);
    assert_eq!(store.maintenance().index_messages(2).await.unwrap(), 1);
    assert_eq!(store.maintenance().index_messages(2).await.unwrap(), 0);
    let mut all = found(&store, "word").await;
    assert_eq!(all.remove(0), "m4", "the newest first");
    all.sort();
    assert_eq!(all, ["m1", "m2", "m3"]);
}

pub(super) async fn the_last_word_of_a_run_that_was_put_aside_is_found(store: Store) {
    conversation(&store, "conv_1").await;
    let ours = claimed(&store, "run_a").await;
    let (run, epoch) = (run_id("run_a"), Some(ours.epoch));
    let last = || Some("it was put aside".to_owned().into());
    store.queue().quarantine(&run, epoch, "why", NOW, last()).await.unwrap();
    assert_eq!(found(&store, "aside").await, ["run_a:final"]);
    let other = Some("said again otherwise".to_owned().into());
    store.queue().quarantine(&run, epoch, "why", NOW, other).await.unwrap();
    assert_eq!(found(&store, "otherwise").await, [""; 0], "the first one stays");
}

pub(super) async fn messages_come_in_pages_by_their_positions(store: Store) {
    conversation(&store, "conv_1").await;
    store.queue().create_run(&new_run("run_a")).await.unwrap();
    for n in 2..=9 {
        says(&store, "conv_1", &format!("m{n}"), &format!("word {n}"), NOW + n).await;
    }
    store.conversations().say(&id("conv_1"), "x", "anew", "", NOW).await.unwrap();
    let page = async |before, after, most| {
        let range = MessageRange { before, after, most };
        let page = store.conversations().messages_page(&id("conv_1"), range).await.unwrap();
        let places: Vec<i64> = page.messages.iter().map(|message| message.pos).collect();
        (places, page.has_more)
    };
    assert_eq!(page(None, None, 3).await, (vec![7, 8, 9], true), "the newest, without marks");
    assert_eq!(page(Some(7), None, 5).await, (vec![2, 3, 4, 5, 6], true));
    assert_eq!(page(Some(2), None, 5).await, (vec![1], false));
    assert_eq!(page(None, Some(0), 4).await, (vec![1, 2, 3, 4], true));
    assert_eq!(page(None, Some(4), 9).await, (vec![5, 6, 7, 8, 9], false));
    assert_eq!(page(Some(6), Some(3), 9).await, (vec![4, 5], false));
    let goal = store.conversations().message("run_a:goal").await.unwrap().unwrap();
    assert_eq!((goal.pos, goal.slot.as_str(), goal.run), (1, "goal", Some(run_id("run_a"))));
    assert_eq!(store.conversations().message("no such").await.unwrap(), None);
}
