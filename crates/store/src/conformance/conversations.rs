//! Conversations as rows.

use super::kit::{
    BY, NOW, claim, claimed, create, emitted, ending, message, new_run, parking, run_id,
};
use crate::{
    Commit, ConversationEdit, ConversationFilter, ConversationListPlace, ConversationMessage,
    ConversationRow, Deleter, DeletionRow, NewConversation, NewRun, RunCreation, SourceRef, Store,
    TurnRecord, UnreadTotals,
};
use everloop_types::{ConversationId, Status};

fn id(name: &str) -> ConversationId {
    ConversationId::new(name)
}

fn new(name: &str, workspace: &str) -> NewConversation {
    let workspace = Some(workspace.to_owned());
    NewConversation {
        id: id(name),
        channel: "terminal".to_owned(),
        thread: None,
        workspace,
        now: NOW,
    }
}

/// A conversation with one run, whose goal was said at `at`.
async fn begun(store: &Store, name: &str, workspace: &str, goal: &str, at: i64) {
    store.conversations().ensure(&new(name, workspace)).await.unwrap();
    let mut run = new_run(&format!("run_{name}"));
    run.conversation = id(name);
    run.created.goal.text = goal.to_owned();
    run.now = at;
    store.queue().create_run(&run).await.unwrap();
}

async fn listed(store: &Store, filter: ConversationFilter) -> Vec<String> {
    let filter = ConversationFilter { most: 9, ..filter };
    let rows = store.conversations().list(&filter).await.unwrap();
    rows.into_iter().map(|row| row.id.to_string()).collect()
}

async fn row(store: &Store, name: &str) -> ConversationRow {
    store.conversations().get(&id(name)).await.unwrap().unwrap()
}

pub(super) async fn a_conversation_is_written_once_and_listed_by_its_last_word(store: Store) {
    begun(&store, "conv_a", "/a", "first of a", NOW + 1).await;
    begun(&store, "conv_b", "/b", "first of b", NOW + 3).await;
    begun(&store, "conv_c", "/a", "first of c", NOW + 2).await;
    store.conversations().ensure(&new("conv_empty", "/a")).await.unwrap();
    store.conversations().ensure(&new("conv_a", "/elsewhere")).await.unwrap();
    let a = row(&store, "conv_a").await;
    assert_eq!((a.workspace.as_deref(), a.first_goal.as_deref()), (Some("/a"), Some("first of a")));
    assert_eq!((a.created_at, a.updated_at, a.counts.working), (NOW, NOW + 1, 1));
    let all = listed(&store, ConversationFilter::default()).await;
    assert_eq!(all, ["conv_b", "conv_c", "conv_a"], "one without a word is not listed");
    let of = |channel: &str, thread: Option<&str>| ConversationFilter {
        channel: Some(channel.to_owned()),
        thread: thread.map(str::to_owned),
        workspace: Some("/a".to_owned()),
        ..ConversationFilter::default()
    };
    assert_eq!(listed(&store, of("terminal", None)).await, ["conv_c", "conv_a"]);
    assert_eq!(listed(&store, of("terminal", Some("another home"))).await, [""; 0]);
    assert_eq!(listed(&store, of("print", None)).await, [""; 0]);
    assert!(store.conversations().archive(&id("conv_c"), Some(NOW), NOW).await.unwrap());
    assert_eq!(listed(&store, of("terminal", None)).await, ["conv_a"]);
    let archived = ConversationFilter { archived: true, ..of("terminal", None) };
    assert_eq!(listed(&store, archived).await, ["conv_c", "conv_a"]);
    let only = ConversationFilter { only_archived: true, ..ConversationFilter::default() };
    assert_eq!(listed(&store, only).await, ["conv_c"]);
    let but = ConversationFilter {
        but_channel: Some("terminal".to_owned()),
        ..ConversationFilter::default()
    };
    assert_eq!(listed(&store, but).await, [""; 0]);
    let after = Some(ConversationListPlace::of(&row(&store, "conv_b").await));
    let next = ConversationFilter { after, ..ConversationFilter::default() };
    assert_eq!(listed(&store, next).await, ["conv_a"], "the page after conv_b");
    assert!(store.conversations().keep_out_of_memory(&id("conv_a"), true, NOW).await.unwrap());
    assert!(row(&store, "conv_a").await.out_of_memory);
}

pub(super) async fn a_conversation_is_found_by_its_id_its_title_and_its_words(store: Store) {
    begun(&store, "conv_01aa77", "/a", "Mend the fence, 100% of it", NOW + 1).await;
    begun(
        &store,
        "conv_01bb77",
        "/b",
        "\u{4fee}\u{4e00}\u{4e0b}\u{767b}\u{5f55}\u{9875}\u{9762}\u{7684}\u{6d4b}\u{8bd5}",
        NOW + 2,
    )
    .await;
    let find = async |part: &str| -> Vec<String> {
        let found = store.conversations().find(part).await.unwrap();
        found.into_iter().map(|row| row.id.to_string()).collect()
    };
    assert_eq!(find("01AA").await, ["conv_01aa77"]);
    assert_eq!(find("b77").await, ["conv_01bb77"]);
    assert_eq!(find("77").await, ["conv_01bb77", "conv_01aa77"]);
    assert_eq!(find("conv_01aa77").await, ["conv_01aa77"]);
    assert_eq!(find("a7").await, [""; 0], "the middle of an id says nothing");
    let with = |words: &str| ConversationFilter {
        words: Some(words.to_owned()),
        ..ConversationFilter::default()
    };
    assert_eq!(listed(&store, with("\u{767b}\u{5f55}\u{9875}\u{9762}")).await, ["conv_01bb77"]);
    assert_eq!(listed(&store, with("MEND the")).await, ["conv_01aa77"]);
    assert_eq!(listed(&store, with("100%")).await, ["conv_01aa77"]);
    assert_eq!(listed(&store, with("1%0")).await, [""; 0], "a percent sign is one");
    assert!(
        store
            .conversations()
            .rename(&id("conv_01aa77"), Some("\u{82b1}\u{56ed}"), NOW)
            .await
            .unwrap()
    );
    assert!(!store.conversations().rename(&id("conv_x"), Some("x"), NOW).await.unwrap());
    assert_eq!(listed(&store, with("\u{82b1}")).await, ["conv_01aa77"]);
    // Words of messages: in a conversation with another title, and only where all of them are.
    store
        .conversations()
        .say(&id("conv_01bb77"), "m1", "user", "gates and hinges", NOW + 3)
        .await
        .unwrap();
    assert_eq!(listed(&store, with("hinges GATES")).await, ["conv_01bb77"]);
    assert_eq!(listed(&store, with("hinges roof")).await, [""; 0]);
    let newest = async |of: &str, words: &str| {
        let hit = store.conversations().newest_hit(&id(of), words).await.unwrap();
        hit.map(|hit| (hit.message.id, hit.at))
    };
    assert_eq!(newest("conv_01bb77", "Hinges").await, Some(("m1".to_owned(), 10)));
    assert_eq!(newest("conv_01aa77", "hinges").await, None);
    assert_eq!(newest("conv_01bb77", "").await, None);
}

pub(super) async fn conversations_come_in_pages_that_miss_nothing_and_repeat_nothing(store: Store) {
    // Two have the same last word's time: their ids order them.
    for (name, at) in [("conv_a", 1), ("conv_b", 2), ("conv_c", 2), ("conv_d", 3), ("conv_e", 4)] {
        begun(&store, name, "/a", "go on", NOW + at).await;
    }
    store.conversations().mark_read(&id("conv_d"), None, NOW).await.unwrap();
    store.conversations().archive(&id("conv_e"), Some(NOW), NOW).await.unwrap();
    let all = async |filter: ConversationFilter| {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let filter = ConversationFilter { most: 2, after: after.take(), ..filter.clone() };
            let page = store.conversations().list(&filter).await.unwrap();
            found.extend(page.iter().map(|row| row.id.to_string()));
            let Some(last) = page.last() else { return found };
            after = Some(ConversationListPlace::of(last));
        }
    };
    let plain = ConversationFilter::default();
    assert_eq!(all(plain.clone()).await, ["conv_d", "conv_c", "conv_b", "conv_a"]);
    let archived = ConversationFilter { archived: true, ..plain.clone() };
    assert_eq!(all(archived).await, ["conv_e", "conv_d", "conv_c", "conv_b", "conv_a"]);
    let unread = ConversationFilter { unread: true, ..plain.clone() };
    assert_eq!(all(unread.clone()).await, ["conv_c", "conv_b", "conv_a"]);
    let with_words = ConversationFilter { words: Some("GO".to_owned()), ..unread };
    assert_eq!(all(with_words).await, ["conv_c", "conv_b", "conv_a"]);
    let script = NewConversation { channel: "print".to_owned(), ..new("conv_p", "/a") };
    store.conversations().ensure(&script).await.unwrap();
    store.conversations().say(&id("conv_p"), "m1", "user", "x", NOW + 9).await.unwrap();
    assert_eq!(all(plain.clone()).await.first().map(String::as_str), Some("conv_p"));
    let chats = ConversationFilter { chats_only: true, ..plain };
    assert_eq!(all(chats).await, ["conv_d", "conv_c", "conv_b", "conv_a"]);
}

pub(super) async fn what_is_unread_follows_from_what_was_read(store: Store) {
    begun(&store, "conv_1", "/a", "go", NOW).await;
    assert!(row(&store, "conv_1").await.has_unread());
    assert!(store.conversations().mark_read(&id("conv_1"), None, NOW + 1).await.unwrap());
    let read = row(&store, "conv_1").await;
    assert!(!read.has_unread() && read.last_read_at == Some(NOW + 1));
    let mut ours = claim(&store, "run_conv_1").await;
    let end = ending(&ours, Status::Succeeded);
    store.journal().append(&mut ours, end).await.unwrap();
    assert!(row(&store, "conv_1").await.has_unread());
    let unread = || async { store.conversations().unread_ends(&id("conv_1"), 9).await.unwrap() };
    assert_eq!(unread().await, [everloop_types::RunId::new("run_conv_1")]);
    // A position that there is not, and one that was read long ago, change nothing.
    for pos in [99, 1] {
        store.conversations().mark_read(&id("conv_1"), Some(pos), NOW + 2).await.unwrap();
        assert!(row(&store, "conv_1").await.has_unread());
    }
    assert_eq!(row(&store, "conv_1").await.counts.unread, 1);
    let total = UnreadTotals { conversations: 1, messages: 1 };
    assert_eq!(store.conversations().unread_totals(None).await.unwrap(), total);
    assert_eq!(store.conversations().unread_totals(Some("terminal")).await.unwrap(), total);
    let none = UnreadTotals::default();
    assert_eq!(store.conversations().unread_totals(Some("print")).await.unwrap(), none);
    assert!(store.conversations().mark_read(&id("conv_1"), None, NOW + 3).await.unwrap());
    assert!(store.conversations().mark_unread(&id("conv_1")).await.unwrap());
    assert_eq!(row(&store, "conv_1").await.counts.unread, 1, "the answer is unread again");
    begun(&store, "conv_2", "/a", "go", NOW).await;
    assert!(!store.conversations().mark_unread(&id("conv_2")).await.unwrap(), "nothing to read");
    assert!(store.conversations().mark_read(&id("conv_2"), None, NOW + 3).await.unwrap());
    store.conversations().mark_read(&id("conv_1"), Some(2), NOW + 3).await.unwrap();
    assert!(!row(&store, "conv_1").await.has_unread());
    assert_eq!(row(&store, "conv_1").await.counts.unread, 0);
    assert_eq!(store.conversations().unread_totals(None).await.unwrap(), none);
    assert_eq!(unread().await, []);
}

pub(super) async fn a_question_outside_of_a_conversation_is_found_with_its_place(store: Store) {
    store.conversations().ensure(&new("conv_1", "/a")).await.unwrap();
    let mut ours = claimed(&store, "run_a").await;
    let mut asking = Commit::new(vec![emitted("ask:q1")], NOW);
    asking.messages.push(message(&ours, "ask:q1", "Which?"));
    store.journal().append(&mut ours, asking).await.unwrap();
    store.journal().append(&mut ours, parking(None)).await.unwrap();
    let questions = store.conversations().questions_outside(&id("conv_2"), 9).await.unwrap();
    assert_eq!(questions.len(), 1);
    let found = &questions[0];
    assert_eq!((&found.run, found.question.as_str()), (&run_id("run_a"), "q1"));
    assert_eq!((found.pos, found.read_pos), (2, 0));
    assert_eq!(store.conversations().questions_outside(&id("conv_1"), 9).await.unwrap(), []);
}

pub(super) async fn a_conversation_is_deleted_with_its_messages_and_not_while_it_has_a_run(
    store: Store,
) {
    use crate::ConversationRemoval as Removed;
    let delete =
        async |name: &str| store.maintenance().delete_conversation(&id(name), BY).await.unwrap();
    store.conversations().ensure(&new("conv_1", "/a")).await.unwrap();
    let mut first = claimed(&store, "run_a").await;
    let end = ending(&first, Status::Succeeded);
    store.journal().append(&mut first, end).await.unwrap();
    create(&store, "run_b").await;
    store.conversations().say(&id("conv_1"), "m1", "user", "by the way", NOW).await.unwrap();
    let said = store.conversations().messages(&id("conv_1"), 9).await.unwrap();
    assert_eq!(delete("conv_1").await, Removed::Kept(run_id("run_b")));
    // What has ended before the run that is open stays with it.
    assert_eq!(store.conversations().messages(&id("conv_1"), 9).await.unwrap(), said);
    assert!(store.runs().get(&run_id("run_a")).await.unwrap().is_some());
    assert_eq!(store.maintenance().deletions(0, None, 9).await.unwrap(), []);
    let mut ours = claim(&store, "run_b").await;
    let end = ending(&ours, Status::Succeeded);
    store.journal().append(&mut ours, end).await.unwrap();
    assert_eq!(delete("conv_1").await, Removed::Gone(vec![run_id("run_a"), run_id("run_b")]));
    assert_eq!(store.conversations().messages(&id("conv_1"), 9).await.unwrap(), []);
    assert_eq!(store.conversations().get(&id("conv_1")).await.unwrap(), None);
    assert_eq!(delete("conv_1").await, Removed::Contested, "it is gone");
}

pub(super) async fn words_of_the_program_to_a_channel_are_deleted_with_their_conversation(
    store: Store,
) {
    for name in ["conv_1", "conv_2"] {
        let channel = "webhook:ops".to_owned();
        let outside = NewConversation { channel, ..new(name, "/a") };
        store.conversations().ensure(&outside).await.unwrap();
        for note in ["sent", "waiting"] {
            let note = format!("{name}:{note}");
            store.outbox().note(&id(name), &note, "nothing is under way", NOW).await.unwrap();
        }
        store.outbox().mark_sent(&format!("{name}:sent"), NOW).await.unwrap();
    }
    let gone = store.maintenance().delete_conversation(&id("conv_1"), BY).await.unwrap();
    assert_eq!(gone, crate::ConversationRemoval::Gone(Vec::new()));
    let rows = store.db().query("SELECT outbox_id FROM outbox ORDER BY 1", vec![]).await.unwrap();
    let left: Vec<_> = rows.into_iter().map(|row| row.cells().text().unwrap()).collect();
    assert_eq!(left, ["conv_2:sent", "conv_2:waiting"]);
}

pub(super) async fn what_requests_did_is_forgotten_once_it_is_old(store: Store) {
    let record = |key: &str, at| TurnRecord {
        key: key.to_owned(),
        did: "canceled".to_owned(),
        run: None,
        at,
    };
    let (old, new) = (record("old", NOW), record("new", NOW + 1));
    for one in [&old, &new] {
        assert!(store.conversations().keep_turn(one).await.unwrap());
    }
    store.conversations().forget_turns(NOW + 1).await.unwrap();
    assert_eq!(store.conversations().turn_record("old").await.unwrap(), None);
    assert_eq!(store.conversations().turn_record("new").await.unwrap(), Some(new));
}

pub(super) async fn what_was_deleted_is_listed_with_who_and_when(store: Store) {
    store.conversations().ensure(&new("conv_1", "/a")).await.unwrap();
    for name in ["run_a", "run_b"] {
        let mut claim = claimed(&store, name).await;
        let end = ending(&claim, Status::Succeeded);
        store.journal().append(&mut claim, end).await.unwrap();
    }
    store.maintenance().delete_run(&run_id("run_a"), BY).await.unwrap();
    let api = Deleter { by: "api", now: NOW + 5 };
    store.maintenance().delete_conversation(&id("conv_1"), api).await.unwrap();
    let listed = store.maintenance().deletions(0, None, 9).await.unwrap();
    let short = |row: &DeletionRow| {
        let run = row.run_id.as_ref().map(ToString::to_string).unwrap_or_default();
        (row.kind.clone(), run, row.by.clone(), row.at)
    };
    let row =
        |kind: &str, run: &str, by: &str, at| (kind.to_owned(), run.to_owned(), by.to_owned(), at);
    let expected = [
        row("run", "run_a", "user", NOW),
        row("conversation", "", "api", NOW + 5),
        row("run", "run_b", "api", NOW + 5),
    ];
    assert_eq!(listed.iter().map(short).collect::<Vec<_>>(), expected);
    assert_eq!(listed[0].turn_id, Some(run_id("run_a")));
    assert!(listed.iter().all(|row| row.conversation_id == id("conv_1")));
    let rest = store.maintenance().deletions(0, Some(&listed[0]), 1).await.unwrap();
    assert_eq!(rest, listed[1..2]);
    assert_eq!(store.maintenance().deletions(NOW + 1, None, 9).await.unwrap(), listed[1..]);
}

pub(super) async fn a_given_title_beats_a_made_one(store: Store) {
    begun(&store, "conv_1", "/a", "go", NOW).await;
    let all = store.conversations();
    assert!(all.set_made_title(&id("conv_1"), "Made", false).await.unwrap());
    let made = row(&store, "conv_1").await;
    assert_eq!((made.title.as_deref(), made.title_is_made), (Some("Made"), true));
    assert!(!all.set_made_title(&id("conv_1"), "Made again", false).await.unwrap(), "once");
    assert!(all.rename(&id("conv_1"), Some("Given"), NOW).await.unwrap());
    assert!(!all.set_made_title(&id("conv_1"), "Made late", false).await.unwrap());
    let given = row(&store, "conv_1").await;
    assert_eq!((given.title.as_deref(), given.title_is_made), (Some("Given"), false));
    assert!(all.set_made_title(&id("conv_1"), "Asked for", true).await.unwrap());
    let asked_for = row(&store, "conv_1").await;
    assert_eq!((asked_for.title.as_deref(), asked_for.title_is_made), (Some("Asked for"), true));
}

pub(super) async fn of_editors_who_saw_the_same_conversation_one_writes(store: Store) {
    begun(&store, "conv_1", "/a", "go", NOW).await;
    let seen = row(&store, "conv_1").await;
    let edits: Vec<_> = (0..8)
        .map(|number| {
            let (store, seen) = (store.clone(), seen.clone());
            let title = Some(format!("title {number}"));
            let archived = Some(number % 2 == 0);
            let edit = ConversationEdit { title, archived, out_of_memory: Some(true) };
            tokio::spawn(async move {
                let done = store.conversations().edit(&seen.id, &edit, Some(&seen), NOW + 1).await;
                done.unwrap().then_some(edit)
            })
        })
        .collect();
    let mut written = Vec::new();
    for edit in edits {
        written.extend(edit.await.unwrap());
    }
    assert_eq!(written.len(), 1, "{written:?}");
    let found = row(&store, "conv_1").await;
    assert_eq!(found.title, written[0].title);
    assert_eq!(
        (Some(found.archived_at.is_some()), found.out_of_memory),
        (written[0].archived, true)
    );
    // Without a row that was seen, the last one counts, and what is not named stays.
    let back = ConversationEdit { archived: Some(false), ..ConversationEdit::default() };
    assert!(store.conversations().edit(&id("conv_1"), &back, None, NOW + 2).await.unwrap());
    let found = row(&store, "conv_1").await;
    assert_eq!((found.title, found.archived_at), (written[0].title.clone(), None));
    assert!(!store.conversations().edit(&id("conv_none"), &back, None, NOW + 2).await.unwrap());
}

pub(super) async fn a_run_and_the_conversation_that_tells_of_it_come_together(store: Store) {
    let mut run = new_run("run_1");
    run.conversation = id("conv_task");
    run.idem_key = Some("k".to_owned());
    run.opens = Some(NewConversation { channel: "task".to_owned(), ..new("conv_task", "/a") });
    let other = NewRun {
        run: run_id("run_2"),
        conversation: id("conv_other"),
        opens: Some(new("conv_other", "/a")),
        ..run.clone()
    };
    assert_eq!(store.queue().create_run(&run).await.unwrap(), RunCreation::New);
    let again = store.queue().create_run(&other).await.unwrap();
    assert_eq!(again, RunCreation::Existing(run_id("run_1")));
    assert!(store.conversations().get(&id("conv_other")).await.unwrap().is_none());
    assert_eq!(row(&store, "conv_task").await.title, None);
    let mut held = claim(&store, "run_1").await;
    assert_eq!(held.title, "goal of run_1");
    let title = Some("Task completed".to_owned());
    let done = Commit { title, ..ending(&held, Status::Succeeded) };
    store.journal().append(&mut held, done.clone()).await.unwrap();
    let told = row(&store, "conv_task").await;
    assert_eq!((told.title.as_deref(), told.has_unread()), (Some("Task completed"), true));
    assert!(store.journal().append(&mut held, done).await.is_err(), "a run ends once");
    let said = store.conversations().messages(&id("conv_task"), 9).await.unwrap();
    let refs: Vec<_> = said.iter().map(ConversationMessage::source_ref).collect();
    let of_run = SourceRef { kind: "run", ref_id: run_id("run_1") };
    assert_eq!(refs, [None, Some(of_run)]);
}

pub(super) async fn a_conversation_of_a_person_keeps_its_title_when_a_run_ends(store: Store) {
    begun(&store, "conv_a", "/a", "mend it", NOW).await;
    let mut held = claim(&store, "run_conv_a").await;
    let title = Some("Task completed".to_owned());
    let done = Commit { title, ..ending(&held, Status::Succeeded) };
    store.journal().append(&mut held, done).await.unwrap();
    assert_eq!(row(&store, "conv_a").await.title, None);
}

pub(super) async fn a_run_that_ended_is_told_of_by_the_position_of_its_final_message(store: Store) {
    store.conversations().ensure(&new("conv_1", "/a")).await.unwrap();
    let mut first = claimed(&store, "run_a").await;
    create(&store, "run_b").await;
    let here = id("conv_1");
    let standing = async |after: i64, upto: i64| {
        let found = store.conversations().run_standings(&here, after, upto).await.unwrap();
        found.into_iter().map(|one| (one.run.to_string(), one.final_pos)).collect::<Vec<_>>()
    };
    let open = |run: &str| (run.to_owned(), None);
    assert_eq!(standing(0, 9).await, [open("run_a"), open("run_b")]);
    let commit = ending(&first, Status::Succeeded);
    store.journal().append(&mut first, commit).await.unwrap();
    // The goals have the positions 1 and 2.
    let ended = ("run_a".to_owned(), Some(3));
    assert_eq!(standing(2, 9).await, [ended, open("run_b")]);
    assert_eq!(standing(3, 9).await, [open("run_b")], "a reader of position 3 has seen it whole");
    assert_eq!(standing(0, 2).await, [open("run_b")], "it comes with its message");
    store.conversations().rename(&here, Some("Named"), NOW).await.unwrap();
    store.conversations().mark_read(&here, Some(2), NOW).await.unwrap();
    let header = store.conversations().header(&here).await.unwrap().unwrap();
    assert_eq!((header.title.as_deref(), header.read_pos, header.last_pos), (Some("Named"), 2, 3));
    assert_eq!(store.conversations().header(&id("conv_none")).await.unwrap(), None);
}
