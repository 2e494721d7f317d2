//! Taking in what a file holds: by name, so that the same file twice is the same as once.
//!
//! An import is not a conversation: what takes place at the same time as something else is taken
//! all the same, and counted. Reminders whose time has passed stay silent.

use super::{Done, Imported, Problem, ReadEntry, ReadTodo, Trouble};
use crate::desk::Desk;
use crate::kept::{conflicts, moment, reminders};
use everloop_store::{
    Deed, Made, ScheduleGuard, ScheduleRow, ScheduleText, Store, StoreError, TodoRow, TodoText,
};
use everloop_types::UtcMs;
use jiff::Zoned;
use std::collections::{HashMap, HashSet};

impl Desk {
    /// Takes todos in.
    ///
    /// # Errors
    /// If the store fails; what was taken before stays.
    pub async fn import_todos(
        &self,
        todos: Vec<ReadTodo>,
        now: &Zoned,
    ) -> Result<Imported, StoreError> {
        self.settle_due(at_once(now)).await?;
        let store = self.store();
        let here = store.todos().await?.into_iter().map(|todo| (todo.uid.clone(), todo));
        let here: HashMap<String, TodoRow> = here.collect();
        let (mut done, mut seen) = (Imported::default(), HashSet::new());
        for todo in todos {
            if !seen.insert(todo.uid.clone()) {
                done.problems.push(twice(todo.line, &todo.said.text));
                continue;
            }
            let before = here.get(&todo.uid);
            if before.is_some_and(|row| is_same_todo(row, &todo, now)) {
                done.same += 1;
                continue;
            }
            match take_todo(store, &todo, before.cloned(), now).await? {
                Taken::Changed => done.changed += 1,
                Taken::Added => done.added += 1,
            }
        }
        Ok(done)
    }

    /// Takes entries of the schedule in.
    ///
    /// # Errors
    /// If the store fails; what was taken before stays.
    pub async fn import_schedule(
        &self,
        entries: Vec<ReadEntry>,
        now: &Zoned,
    ) -> Result<Imported, StoreError> {
        self.settle_due(at_once(now)).await?;
        let store = self.store();
        let mut rows = store.schedules().await?;
        let (mut done, mut seen) = (Imported::default(), HashSet::new());
        let mut written = Vec::new();
        for entry in entries {
            if !seen.insert(entry.uid.clone()) {
                done.problems.push(twice(entry.line, &entry.said.title));
                continue;
            }
            let place = rows.iter().position(|row| row.uid == entry.uid);
            let before = place.map(|place| &rows[place]);
            if before.is_some_and(|row| plain(&row.said) == plain(&entry.said)) {
                done.same += 1;
                continue;
            }
            let (taken, row) = take_entry(store, &entry, before.cloned(), now).await?;
            match taken {
                Taken::Changed => done.changed += 1,
                Taken::Added => done.added += 1,
            }
            match place {
                Some(place) => rows[place] = row.clone(),
                None => rows.push(row.clone()),
            }
            written.push(row);
        }
        done.conflicts = written.iter().filter(|row| is_in_the_way(row, &rows)).count();
        Ok(done)
    }
}

/// What became of something that was taken in.
enum Taken {
    Added,
    Changed,
}

fn at_once(now: &Zoned) -> Deed<'static> {
    Deed { key: None, now: now.timestamp().as_millisecond() }
}

/// Writes a todo over what is there. Whoever is faster has got something done, so this ends.
async fn take_todo(
    store: &Store,
    todo: &ReadTodo,
    mut before: Option<TodoRow>,
    now: &Zoned,
) -> Result<Taken, StoreError> {
    while let Some(was) = before {
        let row = todo_row(todo, Some(&was), now);
        match store.change_todo(&row, at_once(now)).await? {
            Made::Now(_) | Made::Before(_) => return Ok(Taken::Changed),
            Made::Outrun | Made::NoSuch => before = store.todo(was.id).await?,
        }
    }
    let row = todo_row(todo, None, now);
    let made = todo.created_at.unwrap_or(row.updated_at);
    store.add_todo(&row, Deed { key: None, now: made }).await?;
    Ok(Taken::Added)
}

/// Writes an entry over what is there, as [`take_todo`] does.
async fn take_entry(
    store: &Store,
    entry: &ReadEntry,
    mut before: Option<ScheduleRow>,
    now: &Zoned,
) -> Result<(Taken, ScheduleRow), StoreError> {
    let deed = at_once(now);
    while let Some(was) = before {
        let row = entry_row(entry, Some(&was), deed.now);
        match store.change_schedule(&row, ScheduleGuard::None, deed).await? {
            Made::Now(_) | Made::Before(_) => return Ok((Taken::Changed, row)),
            Made::Outrun | Made::NoSuch => before = store.schedule(was.id).await?,
        }
    }
    let mut row = entry_row(entry, None, deed.now);
    let made = Deed { key: None, now: entry.created_at.unwrap_or(deed.now) };
    if let Made::Now(id) = store.add_schedule(&row, ScheduleGuard::None, made).await? {
        row.id = id;
    }
    Ok((Taken::Added, row))
}

fn twice(line: usize, text: &str) -> Problem {
    Problem { line, trouble: Trouble::Twice, detail: text.to_owned() }
}

fn is_in_the_way(row: &ScheduleRow, rows: &[ScheduleRow]) -> bool {
    conflicts::overlaps_itself(row) || !conflicts::conflicts(row, rows).is_empty()
}

/// Calendars know seconds, not milliseconds.
fn seconds(at: UtcMs) -> UtcMs {
    at.div_euclid(1_000)
}

fn is_same_todo(row: &TodoRow, todo: &ReadTodo, now: &Zoned) -> bool {
    let plain = |said: &TodoText| TodoText {
        due_at: said.due_at.map(seconds),
        remind_at: said.remind_at.map(seconds),
        // Not every file can say it.
        remind_lead: None,
        ..said.clone()
    };
    let is_done = match (row.done_at, todo.done) {
        (None, None) | (Some(_), Some(Done::Sometime)) => true,
        (Some(at), Some(Done::At(done))) => seconds(at) == seconds(done),
        (Some(at), Some(Done::On(day))) => {
            moment(at).to_zoned(now.time_zone().clone()).date() == day
        }
        (None, Some(_)) | (Some(_), None) => false,
    };
    is_done && plain(&row.said) == plain(&todo.said)
}

fn todo_row(todo: &ReadTodo, before: Option<&TodoRow>, now: &Zoned) -> TodoRow {
    let at = now.timestamp().as_millisecond();
    let done_at = todo.done.map(|done| match done {
        Done::At(at) => at,
        Done::On(day) => {
            let midnight = now.time_zone().to_ambiguous_timestamp(day.into()).compatible();
            midnight.map_or(at, |midnight| midnight.as_millisecond())
        }
        Done::Sometime => before.and_then(|row| row.done_at).unwrap_or(at),
    });
    let ahead = todo.said.remind_at.filter(|remind| *remind > at);
    let remind_next = match before {
        _ if done_at.is_some() => None,
        // A reminder that has fired does not fire again because something else changed.
        Some(row) if row.done_at.is_none() && row.said.remind_at == todo.said.remind_at => {
            row.remind_next
        }
        _ => ahead,
    };
    let mut said = todo.said.clone();
    let lead = before.and_then(|row| row.said.remind_lead);
    if said.due_at.zip(said.remind_at).map(|(due, remind)| due - remind) == lead {
        said.remind_lead = said.remind_lead.or(lead);
    }
    TodoRow {
        id: before.map_or(0, |row| row.id),
        uid: todo.uid.clone(),
        said,
        remind_next,
        done_at,
        created_at: at,
        updated_at: at,
        version: before.map_or(1, |row| row.version),
    }
}

/// What an entry says, as far as a calendar can say it.
fn plain(said: &ScheduleText) -> ScheduleText {
    let mut said = said.clone();
    // That follows from the wall and the zone.
    said.span.starts_at = 0;
    if let Some(remind) = &mut said.remind {
        remind.lead_ms = seconds(remind.lead_ms);
        remind.from = remind.from.map(seconds);
    }
    said
}

fn entry_row(entry: &ReadEntry, before: Option<&ScheduleRow>, now: UtcMs) -> ScheduleRow {
    let mut row = ScheduleRow {
        id: before.map_or(0, |row| row.id),
        uid: entry.uid.clone(),
        said: entry.said.clone(),
        remind_next: None,
        created_at: now,
        updated_at: now,
        version: before.map_or(1, |row| row.version),
    };
    let rings = |said: &ScheduleText| {
        let said = plain(said);
        (said.span, said.repeat, said.remind)
    };
    row.remind_next = match before {
        Some(before) if rings(&before.said) == rings(&row.said) => before.remind_next,
        _ => reminders::coming_reminder(&row, now),
    };
    row
}
