//! Checks of the agenda: ids, keys, firings.

use super::kit::{NOW, claim, create, ending, run_id};
use crate::{
    Applied, DueReminder, Firing, FiringBatch, FiringKind, FiringOutcome, ReminderRule, RepeatRule,
    ScheduleGuard, ScheduleRow, ScheduleText, Span, Store, TodoRow, TodoText, UndoResult, WriteKey,
};
use everloop_types::{ConversationId, Status};

const PLAIN: WriteKey<'static> = WriteKey { key: None, now: NOW };
const ANYWAY: ScheduleGuard = ScheduleGuard::None;

fn keyed(key: &str) -> WriteKey<'_> {
    WriteKey { key: Some(key), now: NOW }
}

fn todo(uid: &str) -> TodoRow {
    TodoRow {
        id: 0,
        uid: uid.to_owned(),
        said: TodoText {
            text: format!("caf\u{e9} \u{4e70}\u{725b}\u{5976} {uid}"),
            tags: vec!["home".to_owned(), "b\u{fc}ro \u{5bb6}".to_owned()],
            priority: 2,
            due_at: Some(NOW + 20),
            remind_at: Some(NOW + 10),
            remind_lead: Some(10),
        },
        remind_next: Some(NOW + 10),
        done_at: None,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

fn entry(uid: &str) -> ScheduleRow {
    ScheduleRow {
        id: 0,
        uid: uid.to_owned(),
        said: ScheduleText {
            title: "stand-up".to_owned(),
            span: Span {
                starts: "2026-11-16T09:00".to_owned(),
                zone: "Europe/Rome".to_owned(),
                starts_at: NOW + 100,
                minutes: 30,
            },
            repeat: Some(RepeatRule { rrule: "FREQ=DAILY".to_owned(), times: Some(3), on: 1 }),
            remind: Some(ReminderRule { lead_ms: 95, from: Some(NOW) }),
            catch_up: Some("all".to_owned()),
            run: None,
        },
        remind_next: Some(NOW + 5),
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

pub(super) async fn what_is_kept_comes_back_whole(store: Store) {
    let Applied::Now(id) = store.agenda().add_todo(&todo("a"), PLAIN).await.unwrap() else {
        panic!()
    };
    assert_eq!(store.agenda().todo(id).await.unwrap(), Some(TodoRow { id, ..todo("a") }));
    let Applied::Now(id) = store.agenda().add_schedule(&entry("b"), ANYWAY, PLAIN).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(store.agenda().schedule(id).await.unwrap(), Some(ScheduleRow { id, ..entry("b") }));
    let bare = ScheduleRow {
        said: ScheduleText { repeat: None, remind: None, catch_up: None, ..entry("c").said },
        remind_next: None,
        id,
        ..entry("b")
    };
    assert_eq!(
        store.agenda().change_schedule(&bare, ANYWAY, PLAIN).await.unwrap(),
        Applied::Now(id)
    );
    assert_eq!(store.agenda().schedules().await.unwrap(), [ScheduleRow { version: 2, ..bare }]);
}

/// What undoing the newest change did.
async fn undo(store: &Store) -> Option<UndoResult> {
    let record = store.agenda().last_change().await.unwrap()?;
    Some(store.agenda().undo_change(&record, NOW + 1).await.unwrap())
}

pub(super) async fn the_last_changes_of_the_agenda_are_undone(store: Store) {
    let agenda = store.agenda();
    let untagged = TodoRow { said: TodoText { tags: Vec::new(), ..todo("b").said }, ..todo("b") };
    agenda.add_todo(&todo("a"), PLAIN).await.unwrap();
    agenda.add_todo(&untagged, PLAIN).await.unwrap();
    agenda.add_schedule(&entry("c"), ANYWAY, PLAIN).await.unwrap();
    let all = agenda.todos().await.unwrap();
    let entries = agenda.schedules().await.unwrap();
    assert!(all[1].said.tags.is_empty());
    let due = all[0].said.due_at.unwrap();
    assert_eq!(agenda.count_due_todos(due).await.unwrap(), 0);
    assert_eq!(agenda.count_due_todos(due + 1).await.unwrap(), 2);
    let done: Vec<TodoRow> =
        all.iter().map(|todo| TodoRow { done_at: Some(NOW), ..todo.clone() }).collect();
    agenda.change_todos(&done, PLAIN).await.unwrap();
    assert_eq!(agenda.count_due_todos(due + 1).await.unwrap(), 0, "what is done is not due");
    agenda.delete_todos(&[1, 2], PLAIN).await.unwrap();
    let moved = ScheduleRow { remind_next: None, ..entries[0].clone() };
    agenda.change_schedule(&moved, ANYWAY, PLAIN).await.unwrap();
    agenda.delete_schedules(&[1], PLAIN).await.unwrap();
    for _ in 0..2 {
        assert_eq!(undo(&store).await, Some(UndoResult::Undone));
    }
    let back = agenda.schedules().await.unwrap();
    assert_eq!((&back[0].said, back[0].remind_next), (&entries[0].said, entries[0].remind_next));
    assert_eq!(undo(&store).await, Some(UndoResult::Undone));
    let finished = agenda.todos().await.unwrap();
    assert_eq!(finished.iter().map(|todo| todo.id).collect::<Vec<_>>(), [1, 2]);
    assert!(finished.iter().all(|todo| todo.done_at == Some(NOW)));
    assert_eq!(undo(&store).await, Some(UndoResult::Undone));
    for (todo, was) in agenda.todos().await.unwrap().iter().zip(&all) {
        assert_eq!((&todo.said, todo.done_at, &todo.uid), (&was.said, None, &was.uid));
    }
    for _ in 0..3 {
        assert_eq!(undo(&store).await, Some(UndoResult::Undone));
    }
    assert_eq!(undo(&store).await, None, "there is nothing left to undo");
    assert!(
        agenda.todos().await.unwrap().is_empty() && agenda.schedules().await.unwrap().is_empty()
    );
}

pub(super) async fn a_change_on_top_is_not_undone_with_the_one_below(store: Store) {
    let agenda = store.agenda();
    agenda.add_todo(&todo("a"), keyed("k1")).await.unwrap();
    agenda.add_todo(&todo("b"), keyed("k1")).await.unwrap();
    let record = agenda.last_change().await.unwrap().unwrap();
    assert_eq!((record.number, record.items.len()), (1, 1), "a repeated write is no change");
    let mut row = agenda.todo(1).await.unwrap().unwrap();
    row.said.text = "else".to_owned();
    agenda.change_todos(&[row], PLAIN).await.unwrap();
    assert_eq!(agenda.undo_change(&record, NOW).await.unwrap(), UndoResult::ChangedSince(1));
    let due = DueReminder { kind: FiringKind::Todo, subject: 1, due_at: NOW + 10 };
    assert!(agenda.fire(&FiringBatch { due, firings: Vec::new(), next: None }).await.unwrap());
    assert_eq!(undo(&store).await, Some(UndoResult::Undone), "a reminder that fired is no change");
    assert_eq!(agenda.todo(1).await.unwrap().unwrap().said, todo("a").said);
}

pub(super) async fn a_number_is_never_given_twice(store: Store) {
    for (uid, number) in [("a", 1), ("b", 2)] {
        assert_eq!(store.agenda().add_todo(&todo(uid), PLAIN).await.unwrap(), Applied::Now(number));
    }
    assert_eq!(store.agenda().delete_todos(&[2], PLAIN).await.unwrap(), Applied::Now(2));
    assert_eq!(store.agenda().delete_todos(&[2], PLAIN).await.unwrap(), Applied::NotFound);
    assert_eq!(store.agenda().add_todo(&todo("c"), PLAIN).await.unwrap(), Applied::Now(3));
    assert_eq!(
        store.agenda().add_schedule(&entry("a"), ANYWAY, PLAIN).await.unwrap(),
        Applied::Now(1)
    );
    assert_eq!(store.agenda().delete_schedules(&[7], PLAIN).await.unwrap(), Applied::NotFound);
}

pub(super) async fn one_key_makes_one_change(store: Store) {
    assert_eq!(store.agenda().add_todo(&todo("a"), keyed("k1")).await.unwrap(), Applied::Now(1));
    assert_eq!(
        store.agenda().add_todo(&todo("b"), keyed("k1")).await.unwrap(),
        Applied::Already(1)
    );
    assert_eq!(store.agenda().add_todo(&todo("c"), keyed("k2")).await.unwrap(), Applied::Now(2));
    assert_eq!(store.agenda().delete_todos(&[1], keyed("k3")).await.unwrap(), Applied::Now(1));
    assert_eq!(store.agenda().delete_todos(&[1], keyed("k3")).await.unwrap(), Applied::Already(1));
    assert_eq!(store.agenda().todos().await.unwrap().len(), 1);
    // A change that found nothing leaves no key behind.
    assert_eq!(store.agenda().delete_todos(&[9], keyed("k4")).await.unwrap(), Applied::NotFound);
    assert_eq!(store.agenda().delete_todos(&[2], keyed("k4")).await.unwrap(), Applied::Now(2));
    store.agenda().forget_write_keys(NOW + 1).await.unwrap();
    assert_eq!(store.agenda().add_todo(&todo("d"), keyed("k1")).await.unwrap(), Applied::Now(3));
}

pub(super) async fn a_change_of_what_was_changed_meanwhile_is_refused(store: Store) {
    store.agenda().add_todo(&todo("a"), PLAIN).await.unwrap();
    store.agenda().add_schedule(&entry("b"), ANYWAY, PLAIN).await.unwrap();
    let (read, seen) = (TodoRow { id: 1, ..todo("a") }, ScheduleRow { id: 1, ..entry("b") });
    let done = TodoRow { done_at: Some(NOW), ..read.clone() };
    assert_eq!(
        store.agenda().change_todos(std::slice::from_ref(&done), keyed("k1")).await.unwrap(),
        Applied::Now(1)
    );
    assert_eq!(
        store.agenda().change_todos(std::slice::from_ref(&read), keyed("k2")).await.unwrap(),
        Applied::Conflict
    );
    let now = store.agenda().todo(1).await.unwrap().unwrap();
    assert_eq!((now.done_at, now.version), (Some(NOW), 2), "nothing of it was written");
    // The key of a change that was refused is free; that of one that was made is not.
    assert_eq!(
        store.agenda().change_todos(std::slice::from_ref(&now), keyed("k2")).await.unwrap(),
        Applied::Now(1)
    );
    assert_eq!(
        store.agenda().change_todos(std::slice::from_ref(&read), keyed("k2")).await.unwrap(),
        Applied::Already(1)
    );
    assert_eq!(
        store.agenda().change_todos(std::slice::from_ref(&read), keyed("k1")).await.unwrap(),
        Applied::Already(1)
    );
    let due = DueReminder { kind: FiringKind::Schedule, subject: 1, due_at: NOW + 5 };
    assert!(store.agenda().fire(&batch(due, None)).await.unwrap());
    assert_eq!(
        store.agenda().change_schedule(&seen, ANYWAY, PLAIN).await.unwrap(),
        Applied::Conflict,
        "it has fired"
    );
    let seen = store.agenda().schedule(1).await.unwrap().unwrap();
    assert_eq!(seen.remind_next, None);
    let both = (
        store.agenda().change_schedule(&seen, ANYWAY, PLAIN),
        store.agenda().change_schedule(&seen, ANYWAY, PLAIN),
    );
    let both = tokio::join!(both.0, both.1);
    let both = [both.0.unwrap(), both.1.unwrap()];
    assert!(both.contains(&Applied::Now(1)) && both.contains(&Applied::Conflict), "{both:?}");
    assert_eq!(store.agenda().delete_schedules(&[1], PLAIN).await.unwrap(), Applied::Now(1));
    assert_eq!(
        store.agenda().change_schedule(&seen, ANYWAY, PLAIN).await.unwrap(),
        Applied::NotFound
    );
}

pub(super) async fn many_at_once_get_different_numbers(store: Store) {
    let adding: Vec<_> = (0..40)
        .map(|n| {
            let store = store.clone();
            let row = todo(&format!("u{n}"));
            tokio::spawn(async move { store.agenda().add_todo(&row, PLAIN).await.unwrap() })
        })
        .collect();
    for task in adding {
        assert!(matches!(task.await.unwrap(), Applied::Now(_)));
    }
    let numbers: Vec<i64> =
        store.agenda().todos().await.unwrap().iter().map(|todo| todo.id).collect();
    assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
}

pub(super) async fn several_are_changed_together_or_not_at_all(store: Store) {
    for uid in ["a", "b", "c"] {
        store.agenda().add_todo(&todo(uid), PLAIN).await.unwrap();
    }
    let rows = store.agenda().todos().await.unwrap();
    let done = |row: &TodoRow| TodoRow { done_at: Some(NOW), ..row.clone() };
    let all: Vec<TodoRow> = rows.iter().map(done).collect();
    let gone = TodoRow { id: 9, ..all[0].clone() };
    let with_gone = [all[0].clone(), gone];
    assert_eq!(
        store.agenda().change_todos(&with_gone, keyed("k1")).await.unwrap(),
        Applied::NotFound
    );
    assert_eq!(store.agenda().todos().await.unwrap(), rows, "nothing of it was written");
    assert_eq!(store.agenda().change_todos(&all[..1], PLAIN).await.unwrap(), Applied::Now(1));
    assert_eq!(store.agenda().change_todos(&all, keyed("k1")).await.unwrap(), Applied::Conflict);
    assert_eq!(store.agenda().change_todos(&all[1..], keyed("k1")).await.unwrap(), Applied::Now(2));
    assert_eq!(
        store.agenda().change_todos(&all[1..], keyed("k1")).await.unwrap(),
        Applied::Already(2)
    );
    assert_eq!(store.agenda().delete_todos(&[1, 9], PLAIN).await.unwrap(), Applied::NotFound);
    assert_eq!(store.agenda().todos().await.unwrap().len(), 3);
    assert_eq!(store.agenda().delete_todos(&[1, 3], keyed("k2")).await.unwrap(), Applied::Now(1));
    assert_eq!(
        store.agenda().delete_todos(&[1, 3], keyed("k2")).await.unwrap(),
        Applied::Already(1)
    );
    assert_eq!(store.agenda().todos().await.unwrap().len(), 1);
}

pub(super) async fn of_writers_who_saw_the_same_schedule_one_writes(store: Store) {
    const WRITERS: usize = 12;
    store.agenda().add_schedule(&entry("first"), ANYWAY, PLAIN).await.unwrap();
    let first = store.agenda().schedule(1).await.unwrap().unwrap();
    for round in 0..5 {
        let seen = ScheduleGuard::Revision(store.agenda().schedule_revision().await.unwrap());
        let here = store.agenda().schedules().await.unwrap();
        let first = here.iter().find(|row| row.id == first.id).unwrap().clone();
        let writing: Vec<_> = (0..WRITERS)
            .map(|n| {
                let (store, first) = (store.clone(), first.clone());
                tokio::spawn(async move {
                    let key = format!("k{round}_{n}");
                    match n {
                        0 => {
                            store.agenda().change_schedule(&first, seen, keyed(&key)).await.unwrap()
                        }
                        _ => store
                            .agenda()
                            .add_schedule(&entry(&key), seen, keyed(&key))
                            .await
                            .unwrap(),
                    }
                })
            })
            .collect();
        let mut made = Vec::new();
        for task in writing {
            made.push(task.await.unwrap());
        }
        let wrote = made.iter().filter(|made| matches!(made, Applied::Now(_))).count();
        let outrun = made.iter().filter(|made| **made == Applied::Conflict).count();
        assert_eq!((wrote, outrun), (1, WRITERS - 1), "round {round}: {made:?}");
        let is = store.agenda().schedules().await.unwrap();
        assert_ne!(is, here, "round {round}");
        assert!(is.len() <= here.len() + 1, "round {round}");
    }
    // Writers without a guard are not held up, and are seen by those with one.
    let seen = ScheduleGuard::Revision(store.agenda().schedule_revision().await.unwrap());
    assert!(matches!(
        store.agenda().add_schedule(&entry("x"), ANYWAY, PLAIN).await.unwrap(),
        Applied::Now(_)
    ));
    assert_eq!(
        store.agenda().add_schedule(&entry("y"), seen, PLAIN).await.unwrap(),
        Applied::Conflict
    );
}

fn batch(due: DueReminder, next: Option<i64>) -> FiringBatch {
    let firing = Firing {
        due,
        occurs_at: due.due_at + 95,
        fired_at: NOW + 50,
        state: FiringOutcome::Late,
        title: "stand-up".to_owned(),
    };
    FiringBatch { due, firings: vec![firing], next }
}

pub(super) async fn a_reminder_fires_once(store: Store) {
    store.agenda().add_todo(&todo("a"), PLAIN).await.unwrap();
    store.agenda().add_schedule(&entry("b"), ANYWAY, PLAIN).await.unwrap();
    assert_eq!(store.agenda().next_reminder().await.unwrap(), Some(NOW + 5));
    assert_eq!(store.agenda().due_reminders(NOW + 4, 9).await.unwrap(), []);
    let due = store.agenda().due_reminders(NOW + 50, 9).await.unwrap();
    let schedule = DueReminder { kind: FiringKind::Schedule, subject: 1, due_at: NOW + 5 };
    assert_eq!(
        due,
        [schedule, DueReminder { kind: FiringKind::Todo, subject: 1, due_at: NOW + 10 }]
    );
    assert!(store.agenda().fire(&batch(schedule, Some(NOW + 200))).await.unwrap());
    assert!(
        !store.agenda().fire(&batch(schedule, Some(NOW + 200))).await.unwrap(),
        "the step is made"
    );
    assert_eq!(store.agenda().unread_firings(9).await.unwrap(), batch(schedule, None).firings);
    // A process that set the clock of the entry back gets the step, but no second firing.
    let back = ScheduleRow { id: 1, version: 2, ..entry("b") };
    assert_eq!(
        store.agenda().change_schedule(&back, ANYWAY, PLAIN).await.unwrap(),
        Applied::Now(1)
    );
    assert!(store.agenda().fire(&batch(schedule, None)).await.unwrap());
    assert_eq!(store.agenda().count_unread_firings().await.unwrap(), 1);
    assert_eq!(store.agenda().next_reminder().await.unwrap(), Some(NOW + 10));
}

pub(super) async fn a_firing_is_shown_by_one_surface_and_read_once(store: Store) {
    store.agenda().add_schedule(&entry("b"), ANYWAY, PLAIN).await.unwrap();
    let due = DueReminder { kind: FiringKind::Schedule, subject: 1, due_at: NOW + 5 };
    store.agenda().fire(&batch(due, None)).await.unwrap();
    assert_eq!(store.agenda().new_firings(9).await.unwrap().len(), 1);
    assert!(store.agenda().announce(due, NOW).await.unwrap());
    assert!(!store.agenda().announce(due, NOW).await.unwrap());
    assert_eq!(store.agenda().new_firings(9).await.unwrap(), []);
    assert_eq!(store.agenda().count_unread_firings().await.unwrap(), 1);
    // One that was due at the same time, but was not shown, stays unread.
    let shown = store.agenda().unread_firings(1).await.unwrap();
    let todo = DueReminder { kind: FiringKind::Todo, ..due };
    store
        .agenda()
        .add_todo(&TodoRow { remind_next: Some(NOW + 5), ..self::todo("a") }, PLAIN)
        .await
        .unwrap();
    assert!(store.agenda().fire(&batch(todo, None)).await.unwrap());
    assert_eq!(store.agenda().read_firings(&shown, NOW).await.unwrap(), 1);
    assert_eq!(store.agenda().read_firings(&shown, NOW).await.unwrap(), 0, "it is read already");
    assert_eq!(store.agenda().unread_firings(9).await.unwrap(), batch(todo, None).firings);
    assert_eq!(store.agenda().firings_of(FiringKind::Schedule, 1, 9).await.unwrap().len(), 1);
    assert_eq!(store.agenda().firings_of(FiringKind::Todo, 2, 9).await.unwrap().len(), 0);
}

pub(super) async fn a_conversation_knows_its_runs_and_words(store: Store) {
    create(&store, "run_a").await;
    create(&store, "run_b").await;
    let conversation = ConversationId::new("conv_1");
    let runs = store.conversations().runs_of(&conversation, 9).await.unwrap();
    assert_eq!(runs, [run_id("run_b"), run_id("run_a")]);
    let open = |name: &str, status| (run_id(name), status);
    let both = [open("run_b", Status::Queued), open("run_a", Status::Queued)];
    assert_eq!(store.conversations().open_runs_of(&conversation).await.unwrap(), both);
    let mut ours = claim(&store, "run_b").await;
    let end = ending(&ours, Status::Canceled);
    store.journal().append(&mut ours, end).await.unwrap();
    assert_eq!(store.conversations().open_runs_of(&conversation).await.unwrap(), both[1..]);
    let said = store.conversations().messages(&conversation, 2).await.unwrap();
    assert_eq!((said.len(), said[1].slot.as_str()), (2, "final"));
    assert_eq!((said[0].slot.as_str(), said[0].body.as_str()), ("goal", "goal of run_b"));
    assert_eq!(store.conversations().runs_of(&ConversationId::new("conv_2"), 9).await.unwrap(), []);
}
