//! Commands about todos.

use super::changes::is_past;
use super::{
    Agenda, AgendaNotice, AgendaResult, CommandOutcome, CommandRefusal, DeletedItem, ItemAction,
    RemindWhen, TRIES_MAX, TodoChange, TodoListing, uid,
};
use crate::commands::{TodoCommand, TodoMark, TodoView, add_tags};
use crate::kept;
use everloop_store::{Applied, StoreError, TodoRow, TodoText, WriteKey};
use jiff::Zoned;

impl Agenda {
    pub(super) async fn todo(
        &self,
        command: &TodoCommand,
        now: &Zoned,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        Ok(match command {
            TodoCommand::Add(new) => {
                return self.add_todo(&TodoChange::of(new, now, None), write).await;
            }
            TodoCommand::Update(id, new) => {
                let todo = self.store.agenda().todo(*id).await?;
                let due = todo.as_ref().and_then(|todo| todo.said.due_at);
                let needs_due = new.shift.is_some() && new.due.is_none();
                if todo.is_some() && due.is_none() && needs_due {
                    return Ok(Err(CommandRefusal::NotDue(*id)));
                }
                return self.update_todo(*id, &TodoChange::of(new, now, due), write).await;
            }
            TodoCommand::UpdateAll(ids, new) => {
                let changed = |todo: &mut TodoRow| {
                    let due = todo.said.due_at;
                    if due.is_none() && new.shift.is_some() && new.due.is_none() {
                        return Err(CommandRefusal::NotDue(todo.id));
                    }
                    let change = TodoChange::of(new, now, due);
                    update(todo, &change, write.now).map(|()| ItemAction::Changed)
                };
                return Ok(self.change_todos(&in_order(ids), write, changed).await?.map(marked));
            }
            TodoCommand::Mark(mark, ids) => return self.mark(*mark, ids, write).await,
            TodoCommand::MarkAll(mark, view, filter) => {
                return self.marked_by_filter(*mark, *view, filter, now).await;
            }
            TodoCommand::Snooze(id, until) => {
                return self.snooze(*id, until.as_millisecond(), write).await;
            }
            TodoCommand::DoneReminded => return self.finish_reminded(write).await,
            TodoCommand::Undo(count) => return self.undo(*count, write).await,
            TodoCommand::Get(id) => match self.store.agenda().todo(*id).await? {
                Some(todo) => Ok(CommandOutcome::Todo(ItemAction::Shown, todo, Vec::new())),
                None => Err(CommandRefusal::NoSuchTodo(*id)),
            },
            TodoCommand::List(view, filter) => {
                let todos = kept::viewed(self.store.agenda().todos().await?, *view, filter, now);
                let (view, filter) = (*view, filter.clone());
                Ok(CommandOutcome::Todos(TodoListing { view, word: None, filter, todos }))
            }
            TodoCommand::Search(word, filter) => {
                let all =
                    kept::viewed(self.store.agenda().todos().await?, TodoView::All, filter, now);
                let wanted = word.to_lowercase();
                let todos = all.into_iter().filter(|todo| has_word(todo, &wanted)).collect();
                let (word, filter) = (Some(word.clone()), filter.clone());
                Ok(CommandOutcome::Todos(TodoListing { view: TodoView::All, word, filter, todos }))
            }
            TodoCommand::Views => Ok(CommandOutcome::Views),
        })
    }

    async fn mark(
        &self,
        mark: TodoMark,
        ids: &[i64],
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        match mark {
            TodoMark::Done => self.finish_todos(ids, write).await,
            TodoMark::Reopen => self.reopen_todos(ids, write).await,
            TodoMark::Delete => self.delete_todos(ids, write).await,
        }
    }

    pub(super) async fn add_todo(
        &self,
        new: &TodoChange,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let said = TodoText {
            text: String::new(),
            tags: Vec::new(),
            priority: 0,
            due_at: None,
            remind_at: None,
            remind_lead: None,
        };
        let mut row = TodoRow {
            id: 0,
            uid: uid("todo", write),
            said,
            remind_next: None,
            done_at: None,
            created_at: write.now,
            updated_at: write.now,
            version: 1,
        };
        if let Err(refusal) = update(&mut row, new, write.now) {
            return Ok(Err(refusal));
        }
        // A requested reminder fires, at once if its moment has passed.
        row.remind_next = row.said.remind_at;
        let (Applied::Now(id) | Applied::Already(id)) =
            self.store.agenda().add_todo(&row, write).await?
        else {
            return Ok(Err(CommandRefusal::NoSuchTodo(0)));
        };
        let row = self.store.agenda().todo(id).await?.unwrap_or(TodoRow { id, ..row });
        let notices = notices(&row, new, write);
        Ok(Ok(CommandOutcome::Todo(ItemAction::Added, row, notices)))
    }

    pub(super) async fn update_todo(
        &self,
        id: i64,
        change: &TodoChange,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let was = self.store.agenda().todo(id).await?.and_then(|todo| todo.said.remind_at);
        let changed =
            |todo: &mut TodoRow| update(todo, change, write.now).map(|()| ItemAction::Changed);
        Ok(self.change_todos(&[id], write, changed).await?.map(|all| match marked(all) {
            CommandOutcome::Todo(did, todo, _) => {
                let mut notices = notices(&todo, change, write);
                let is_gone = change.remind.is_none() && todo.said.remind_at.is_none();
                notices.extend(was.filter(|_| is_gone).map(AgendaNotice::ReminderGone));
                CommandOutcome::Todo(did, todo, notices)
            }
            other => other,
        }))
    }

    /// Changes all of the todos or none, and retries after concurrent changes.
    pub(super) async fn change_todos(
        &self,
        ids: &[i64],
        write: WriteKey<'_>,
        change: impl Fn(&mut TodoRow) -> Result<ItemAction, CommandRefusal>,
    ) -> Result<Result<Vec<(ItemAction, TodoRow)>, CommandRefusal>, StoreError> {
        for _ in 0..TRIES_MAX {
            let mut changed = Vec::new();
            for id in ids {
                let Some(mut todo) = self.store.agenda().todo(*id).await? else {
                    return Ok(Err(CommandRefusal::NoSuchTodo(*id)));
                };
                // The write checks the version that was read here.
                if self.is_outdated(todo.version) {
                    return Ok(Err(CommandRefusal::Outdated(*id)));
                }
                match change(&mut todo) {
                    Ok(did) => changed.push((did, todo)),
                    Err(refusal) => return Ok(Err(refusal)),
                }
            }
            let rows: Vec<TodoRow> = changed.iter().map(|(_, todo)| todo.clone()).collect();
            match self.store.agenda().change_todos(&rows, write).await? {
                Applied::Now(_) | Applied::Already(_) => {
                    for (_, todo) in &mut changed {
                        if let Some(row) = self.store.agenda().todo(todo.id).await? {
                            *todo = row;
                        }
                    }
                    return Ok(Ok(changed));
                }
                Applied::NotFound | Applied::Conflict => {}
            }
        }
        Ok(Err(CommandRefusal::Contested))
    }

    /// Marks todos as done. One that was done before keeps its time, and the reply says so.
    pub(super) async fn finish_todos(
        &self,
        ids: &[i64],
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let is_again =
            write.key.is_some() && self.store.agenda().write_done(write).await?.is_some();
        let finish = |todo: &mut TodoRow| {
            todo.remind_next = None;
            if todo.done_at.is_some() && !is_again {
                return Ok(ItemAction::WasFinished);
            }
            todo.done_at = todo.done_at.or(Some(write.now));
            Ok(ItemAction::Finished)
        };
        Ok(self.change_todos(&in_order(ids), write, finish).await?.map(marked))
    }

    /// Marks todos as open again.
    pub(super) async fn reopen_todos(
        &self,
        ids: &[i64],
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let reopen = |todo: &mut TodoRow| {
            todo.done_at = None;
            todo.remind_next = todo.said.remind_at.filter(|remind| *remind > write.now);
            Ok(ItemAction::Reopened)
        };
        Ok(self.change_todos(&in_order(ids), write, reopen).await?.map(marked))
    }

    /// Deletes todos, all or none, and names them.
    pub(super) async fn delete_todos(
        &self,
        ids: &[i64],
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let (ids, mut gone) = (in_order(ids), Vec::new());
        for &id in &ids {
            let text = self.store.agenda().todo(id).await?.map(|todo| todo.said.text);
            gone.push(DeletedItem { id, text });
        }
        let missing = gone.iter().find(|gone| gone.text.is_none()).or(gone.first());
        let missing = missing.map_or(0, |gone| gone.id);
        Ok(match self.store.agenda().delete_todos(&ids, write).await? {
            Applied::Now(_) | Applied::Already(_) => Ok(CommandOutcome::TodosDeleted(gone)),
            Applied::NotFound | Applied::Conflict => Err(CommandRefusal::NoSuchTodo(missing)),
        })
    }
}

/// One todo by itself, several as a list.
fn marked(mut all: Vec<(ItemAction, TodoRow)>) -> CommandOutcome {
    match all.pop() {
        Some((did, todo)) if all.is_empty() => CommandOutcome::Todo(did, todo, Vec::new()),
        Some(last) => {
            all.push(last);
            CommandOutcome::Marked(all)
        }
        None => CommandOutcome::Marked(all),
    }
}

/// Each number once, in order, to avoid deadlocks.
pub(super) fn in_order(ids: &[i64]) -> Vec<i64> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Applies the given values. A relative reminder follows the due time, and one that has fired does
/// not fire again because something else changed.
fn update(todo: &mut TodoRow, change: &TodoChange, now: i64) -> Result<(), CommandRefusal> {
    let said = &mut todo.said;
    said.text = change.text.clone().unwrap_or_else(|| said.text.clone());
    said.tags = change.tags.clone().unwrap_or_else(|| said.tags.clone());
    add_tags(&mut said.tags, change.more_tags.iter().cloned());
    said.priority = change.priority.unwrap_or(said.priority);
    said.due_at = change.due.unwrap_or(said.due_at);
    let was = said.remind_at;
    match change.remind {
        Some(Some(RemindWhen::At(at))) => (said.remind_at, said.remind_lead) = (Some(at), None),
        Some(Some(RemindWhen::Before(lead))) => said.remind_lead = Some(lead),
        Some(None) => (said.remind_at, said.remind_lead) = (None, None),
        None if change.due == Some(None) => (said.remind_at, said.remind_lead) = (None, None),
        None => {}
    }
    if let Some(lead) = said.remind_lead {
        let due = said.due_at.ok_or(CommandRefusal::ReminderNeedsDue)?;
        said.remind_at = Some(due.saturating_sub(lead));
    }
    if said.remind_at.is_some() && said.due_at.is_none() {
        return Err(CommandRefusal::ReminderNeedsDue);
    }
    if said.remind_at != was {
        // A reminder that moved into the past with its todo still fires before the todo is due.
        let is_ahead = |at: &i64| {
            *at >= now || said.remind_lead.is_some() && said.due_at.is_some_and(|due| due > now)
        };
        todo.remind_next = said.remind_at.filter(is_ahead).filter(|_| todo.done_at.is_none());
    }
    Ok(())
}

fn notices(todo: &TodoRow, change: &TodoChange, write: WriteKey<'_>) -> Vec<AgendaNotice> {
    let past = |at: Option<i64>| at.filter(|at| is_past(*at, write.now));
    let due = past(change.due.and(todo.said.due_at)).map(AgendaNotice::DuePast);
    let remind = past(change.remind.and(todo.said.remind_at)).map(AgendaNotice::ReminderPast);
    due.into_iter().chain(remind).collect()
}

fn has_word(todo: &TodoRow, wanted: &str) -> bool {
    todo.said.text.to_lowercase().contains(wanted)
}
