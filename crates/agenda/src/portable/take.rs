//! Imports the content of a file by unique id, so that a second import changes nothing.
//!
//! Conflicting entries are imported and counted, because nobody can be asked. Past reminders do not
//! fire.

use super::{
    CompletionTime, FileProblem, FileProblemKind, ImportSummary, ImportedEntry, ImportedTodo,
};
use crate::desk::Agenda;
use crate::kept::{conflicts, moment, reminders};
use everloop_store::{ScheduleRow, ScheduleText, StoreError, TodoRow, TodoText, WriteKey};
use everloop_types::UtcMs;
use jiff::Zoned;
use std::collections::{HashMap, HashSet};

impl Agenda {
    /// Imports all of the todos or none.
    ///
    /// # Errors
    /// If the store fails; then nothing was imported.
    pub async fn import_todos(
        &self,
        todos: Vec<ImportedTodo>,
        now: &Zoned,
    ) -> Result<ImportSummary, StoreError> {
        self.settle_due(at_once(now)).await?;
        loop {
            let here = self.store().agenda().todos().await?.into_iter();
            let here: HashMap<String, TodoRow> =
                here.map(|todo| (todo.uid.clone(), todo)).collect();
            let (mut done, mut seen) = (ImportSummary::default(), HashSet::new());
            let (mut adds, mut changes) = (Vec::new(), Vec::new());
            for todo in &todos {
                if !seen.insert(todo.uid.as_str()) {
                    done.problems.push(twice(todo.line, &todo.said.text));
                    continue;
                }
                match here.get(&todo.uid) {
                    Some(row) if is_same_todo(row, todo, now) => done.same += 1,
                    Some(row) => changes.push(todo_row(todo, Some(row), now)),
                    None => adds.push(todo_row(todo, None, now)),
                }
            }
            (done.added, done.changed) = (adds.len(), changes.len());
            // Each retry means that another write succeeded, so this ends.
            if self.store().agenda().import_todos(&adds, &changes, at_once(now).now).await? {
                return Ok(done);
            }
        }
    }

    /// Imports all of the entries or none.
    ///
    /// # Errors
    /// If the store fails; then nothing was imported.
    pub async fn import_schedule(
        &self,
        entries: Vec<ImportedEntry>,
        now: &Zoned,
    ) -> Result<ImportSummary, StoreError> {
        self.settle_due(at_once(now)).await?;
        let at = at_once(now).now;
        loop {
            let mut rows = self.store().agenda().schedules().await?;
            let places = rows.iter().zip(0..).map(|(row, place)| (row.uid.clone(), place));
            let places: HashMap<String, usize> = places.collect();
            let (mut done, mut seen) = (ImportSummary::default(), HashSet::new());
            let (mut adds, mut changes) = (Vec::new(), Vec::new());
            for entry in &entries {
                if !seen.insert(entry.uid.as_str()) {
                    done.problems.push(twice(entry.line, &entry.said.title));
                    continue;
                }
                match places.get(&entry.uid) {
                    Some(&place) if plain(&rows[place].said) == plain(&entry.said) => {
                        done.same += 1;
                    }
                    Some(&place) => {
                        let row = entry_row(entry, Some(&rows[place]), at);
                        rows[place] = row.clone();
                        changes.push(row);
                    }
                    None => adds.push(entry_row(entry, None, at)),
                }
            }
            (done.added, done.changed) = (adds.len(), changes.len());
            let taken = self.store().agenda().import_schedules(&adds, &changes, at).await?;
            let Some(numbers) = taken else { continue };
            for (row, id) in adds.iter_mut().zip(numbers) {
                row.id = id;
            }
            rows.extend(adds.iter().cloned());
            let written = adds.iter().chain(&changes);
            done.conflicts = written.filter(|row| is_in_the_way(row, &rows)).count();
            return Ok(done);
        }
    }
}

fn at_once(now: &Zoned) -> WriteKey<'static> {
    WriteKey { key: None, now: now.timestamp().as_millisecond() }
}

fn twice(line: usize, text: &str) -> FileProblem {
    FileProblem { line, trouble: FileProblemKind::Twice, detail: text.to_owned() }
}

fn is_in_the_way(row: &ScheduleRow, rows: &[ScheduleRow]) -> bool {
    conflicts::overlaps_itself(row) || !conflicts::conflicts(row, rows).is_empty()
}

/// Calendars know seconds, not milliseconds.
fn seconds(at: UtcMs) -> UtcMs {
    at.div_euclid(1_000)
}

fn is_same_todo(row: &TodoRow, todo: &ImportedTodo, now: &Zoned) -> bool {
    let plain = |said: &TodoText| TodoText {
        due_at: said.due_at.map(seconds),
        remind_at: said.remind_at.map(seconds),
        // Not every format can express it.
        remind_lead: None,
        ..said.clone()
    };
    let is_done = match (row.done_at, todo.done) {
        (None, None) | (Some(_), Some(CompletionTime::Sometime)) => true,
        (Some(at), Some(CompletionTime::At(done))) => seconds(at) == seconds(done),
        (Some(at), Some(CompletionTime::On(day))) => {
            moment(at).to_zoned(now.time_zone().clone()).date() == day
        }
        (None, Some(_)) | (Some(_), None) => false,
    };
    is_done && plain(&row.said) == plain(&todo.said)
}

fn todo_row(todo: &ImportedTodo, before: Option<&TodoRow>, now: &Zoned) -> TodoRow {
    let at = now.timestamp().as_millisecond();
    let done_at = todo.done.map(|done| match done {
        CompletionTime::At(at) => at,
        CompletionTime::On(day) => {
            let midnight = now.time_zone().to_ambiguous_timestamp(day.into()).compatible();
            midnight.map_or(at, |midnight| midnight.as_millisecond())
        }
        CompletionTime::Sometime => before.and_then(|row| row.done_at).unwrap_or(at),
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
    if said.due_at.zip(said.remind_at).map(|(due, remind)| due.saturating_sub(remind)) == lead {
        said.remind_lead = said.remind_lead.or(lead);
    }
    TodoRow {
        id: before.map_or(0, |row| row.id),
        uid: todo.uid.clone(),
        said,
        remind_next,
        done_at,
        created_at: todo.created_at.unwrap_or(at),
        updated_at: at,
        version: before.map_or(1, |row| row.version),
    }
}

/// The parts of an entry that a calendar can express.
fn plain(said: &ScheduleText) -> ScheduleText {
    let mut said = said.clone();
    // It follows from the local time and the zone.
    said.span.starts_at = 0;
    if let Some(remind) = &mut said.remind {
        remind.lead_ms = seconds(remind.lead_ms);
        remind.from = remind.from.map(seconds);
    }
    said
}

fn entry_row(entry: &ImportedEntry, before: Option<&ScheduleRow>, now: UtcMs) -> ScheduleRow {
    let mut row = ScheduleRow {
        id: before.map_or(0, |row| row.id),
        uid: entry.uid.clone(),
        said: ScheduleText {
            run: before.and_then(|row| row.said.run.clone()),
            ..entry.said.clone()
        },
        remind_next: None,
        created_at: entry.created_at.unwrap_or(now),
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
