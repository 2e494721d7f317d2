//! A change of one value leaves the others as they are.

use super::*;
use crate::kept::AgendaConfig;
use everloop_store::TodoText;

const NOW: i64 = 1_800_000_000_000;
const HOUR: i64 = 3_600_000;
const WRITE: WriteKey<'static> = WriteKey { key: None, now: NOW };

fn desk() -> Agenda {
    Agenda::new(Store::memory(), AgendaConfig::default())
}

fn todo() -> TodoChange {
    TodoChange {
        text: Some("tax".to_owned()),
        tags: Some(vec!["home".to_owned()]),
        more_tags: Vec::new(),
        priority: Some(2),
        due: Some(Some(NOW + 5 * HOUR)),
        remind: Some(Some(RemindWhen::Before(HOUR))),
    }
}

async fn said(desk: &Agenda) -> TodoText {
    desk.store.agenda().todo(1).await.unwrap().unwrap().said
}

#[tokio::test]
async fn a_todo_changes_in_what_is_named_and_its_relative_reminder_follows_its_due_time() {
    let desk = desk();
    desk.add_todo(&todo(), WRITE).await.unwrap().unwrap();
    let before = said(&desk).await;
    assert_eq!(before.remind_at, Some(NOW + 4 * HOUR));
    let due = TodoChange { due: Some(Some(NOW + 9 * HOUR)), ..TodoChange::default() };
    desk.update_todo(1, &due, WRITE).await.unwrap().unwrap();
    let (due_at, remind_at) = (Some(NOW + 9 * HOUR), Some(NOW + 8 * HOUR));
    assert_eq!(said(&desk).await, TodoText { due_at, remind_at, ..before.clone() });
    assert_eq!(desk.store.agenda().next_reminder().await.unwrap(), remind_at);
    // An absolute reminder stays where it is.
    let at = TodoChange { remind: Some(Some(RemindWhen::At(NOW + HOUR))), ..TodoChange::default() };
    desk.update_todo(1, &at, WRITE).await.unwrap().unwrap();
    desk.update_todo(1, &TodoChange { due: todo().due, ..TodoChange::default() }, WRITE)
        .await
        .unwrap()
        .unwrap();
    let wanted = TodoText { remind_at: Some(NOW + HOUR), remind_lead: None, ..before };
    assert_eq!(said(&desk).await, wanted);
    let none = TodoChange { due: Some(None), ..TodoChange::default() };
    desk.update_todo(1, &none, WRITE).await.unwrap().unwrap();
    let both = TodoChange { remind: Some(None), ..none };
    desk.update_todo(1, &both, WRITE).await.unwrap().unwrap();
    assert_eq!(said(&desk).await, TodoText { due_at: None, remind_at: None, ..wanted });
}

#[tokio::test]
async fn an_entry_changes_in_what_is_named_and_nothing_else() {
    let desk = desk();
    let now: Zoned = "2027-01-15T08:00[Asia/Shanghai]".parse().unwrap();
    let start = |text: &str| {
        let zoned: Zoned = format!("{text}[Asia/Shanghai]").parse().unwrap();
        Some(EntryStart::of(zoned.datetime(), zoned.timestamp(), &now))
    };
    let new = EntryChange {
        title: Some("sync".to_owned()),
        start: start("2027-01-18T10:00"),
        remind: Some(Some(RemindWhen::Before(HOUR))),
        catch_up: Some(Some("all".to_owned())),
        ..EntryChange::default()
    };
    let write = WriteKey { key: None, now: now.timestamp().as_millisecond() };
    desk.add_entry(&new, write).await.unwrap().unwrap();
    let before = desk.store.agenda().schedule(1).await.unwrap().unwrap().said;
    let mut wanted = before.clone();
    wanted.span.minutes = 30;
    let longer = EntryChange { minutes: Some(30), ..EntryChange::default() };
    desk.update_entry(1, &longer, write).await.unwrap().unwrap();
    assert_eq!(desk.store.agenda().schedule(1).await.unwrap().unwrap().said, wanted);
    let moved = EntryChange { start: start("2027-01-19T11:00"), ..EntryChange::default() };
    desk.update_entry(1, &moved, write).await.unwrap().unwrap();
    let row = desk.store.agenda().schedule(1).await.unwrap().unwrap();
    assert_eq!((row.said.title.as_str(), row.said.span.minutes), ("sync", 30));
    assert_eq!(row.remind_next, Some(row.said.span.starts_at - HOUR), "it moved along");
    assert_eq!((row.said.remind, row.said.catch_up), (before.remind, before.catch_up));
    let silent = EntryChange { remind: Some(None), catch_up: Some(None), ..EntryChange::default() };
    desk.update_entry(1, &silent, write).await.unwrap().unwrap();
    let row = desk.store.agenda().schedule(1).await.unwrap().unwrap();
    assert_eq!((row.said.remind, row.said.catch_up, row.remind_next), (None, None, None));
}

#[tokio::test]
async fn several_are_done_or_deleted_together_or_not_at_all() {
    let desk = desk();
    for _ in 0..3 {
        desk.add_todo(&todo(), WRITE).await.unwrap().unwrap();
    }
    let refused = desk.finish_todos(&[1, 9], WRITE).await.unwrap();
    assert_eq!(refused, Err(CommandRefusal::NoSuchTodo(9)));
    assert!(desk.store.agenda().todo(1).await.unwrap().unwrap().done_at.is_none());
    let Ok(CommandOutcome::Todo(ItemAction::Finished, ..)) =
        desk.finish_todos(&[2], WRITE).await.unwrap()
    else {
        panic!("the second is done");
    };
    let Ok(CommandOutcome::Marked(all)) = desk.finish_todos(&[3, 2, 3, 1], WRITE).await.unwrap()
    else {
        panic!("all are done");
    };
    let did: Vec<(i64, ItemAction)> = all.iter().map(|(did, todo)| (todo.id, *did)).collect();
    assert_eq!(
        did,
        [(1, ItemAction::Finished), (2, ItemAction::WasFinished), (3, ItemAction::Finished)]
    );
    let refused = desk.delete_todos(&[1, 9], WRITE).await.unwrap();
    assert_eq!(refused, Err(CommandRefusal::NoSuchTodo(9)));
    assert_eq!(desk.store.agenda().todos().await.unwrap().len(), 3);
    let gone = |id| DeletedItem { id, text: Some("tax".to_owned()) };
    let deleted = desk.delete_todos(&[3, 1], WRITE).await.unwrap();
    assert_eq!(deleted, Ok(CommandOutcome::TodosDeleted(vec![gone(1), gone(3)])));
}
