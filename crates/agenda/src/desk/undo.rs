//! Undoing the last changes, and putting off reminders.

use super::{
    Agenda, AgendaResult, CommandOutcome, CommandRefusal, ItemAction, TRIES_MAX, TodoListing,
};
use crate::commands::{TodoFilter, TodoMark, TodoView};
use crate::kept::{self, reminders};
use everloop_store::{
    Applied, Firing, FiringKind, ScheduleGuard, StoreError, TodoRow, UndoResult, WriteKey,
};
use everloop_types::UtcMs;
use jiff::Zoned;

impl Agenda {
    /// Undoes the last changes of the agenda, the newest first, up to one that was changed since.
    pub(super) async fn undo(
        &self,
        count: u32,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        // A call that is tried again must not undo one more.
        if write.key.is_some() {
            return Ok(Err(CommandRefusal::NotHere));
        }
        let agenda = self.store.agenda();
        let mut undone = Vec::new();
        for _ in 0..count {
            let Some(record) = agenda.last_change().await? else { break };
            match agenda.undo_change(&record, write.now).await? {
                UndoResult::Undone => undone.extend(record.items),
                UndoResult::ChangedSince(_) | UndoResult::Conflict if !undone.is_empty() => break,
                UndoResult::ChangedSince(id) => return Ok(Err(CommandRefusal::ChangedSince(id))),
                UndoResult::Conflict => return Ok(Err(CommandRefusal::Contested)),
            }
        }
        Ok(match undone.is_empty() {
            true => Err(CommandRefusal::NothingToUndo),
            false => Ok(CommandOutcome::Undone(undone)),
        })
    }

    /// The todos that a mark for all of a filter would change.
    pub(super) async fn marked_by_filter(
        &self,
        mark: TodoMark,
        view: TodoView,
        filter: &TodoFilter,
        now: &Zoned,
    ) -> Result<AgendaResult, StoreError> {
        let mut todos = kept::viewed(self.store.agenda().todos().await?, view, filter, now);
        todos.retain(|todo| match mark {
            TodoMark::Done => todo.done_at.is_none(),
            TodoMark::Reopen => todo.done_at.is_some(),
            TodoMark::Delete => true,
        });
        Ok(Ok(if todos.is_empty() {
            let (filter, word) = (filter.clone(), None);
            CommandOutcome::Todos(TodoListing { view, word, filter, todos })
        } else {
            CommandOutcome::Proposed(mark, todos)
        }))
    }

    /// Puts off the newest reminder, or the newest of that number.
    pub(super) async fn snooze(
        &self,
        id: Option<i64>,
        until: UtcMs,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let Some(firing) = self.store.agenda().newest_firing(id).await? else {
            return Ok(Err(CommandRefusal::NoReminder(id)));
        };
        let put_off = match firing.due.kind {
            FiringKind::Todo => self.snooze_todo(firing.due.subject, until, write).await?,
            FiringKind::Schedule => self.snooze_entry(firing.due.subject, until, write).await?,
        };
        self.store.agenda().read_firings(std::slice::from_ref(&firing), write.now).await?;
        Ok(put_off.map(|at| CommandOutcome::Snoozed(firing, at)))
    }

    async fn snooze_todo(
        &self,
        id: i64,
        until: UtcMs,
        write: WriteKey<'_>,
    ) -> Result<Result<UtcMs, CommandRefusal>, StoreError> {
        let snoozed = |todo: &mut TodoRow| {
            if todo.done_at.is_some() {
                return Err(CommandRefusal::NoReminder(Some(id)));
            }
            todo.remind_next = Some(until);
            Ok(ItemAction::Changed)
        };
        Ok(self.change_todos(&[id], write, snoozed).await?.map(|_| until))
    }

    /// A repeating entry may remind sooner by itself; then that reminder comes.
    async fn snooze_entry(
        &self,
        id: i64,
        until: UtcMs,
        write: WriteKey<'_>,
    ) -> Result<Result<UtcMs, CommandRefusal>, StoreError> {
        for _ in 0..TRIES_MAX {
            let Some(mut entry) = self.store.agenda().schedule(id).await? else {
                return Ok(Err(CommandRefusal::NoSuchEntry(id)));
            };
            if entry.said.run.is_some() {
                return Ok(Err(CommandRefusal::DoesNotRemind(id)));
            }
            let coming = reminders::coming_reminder(&entry, write.now);
            let at = coming.map_or(until, |coming| coming.min(until));
            entry.remind_next = Some(at);
            let guard = ScheduleGuard::None;
            match self.store.agenda().change_schedule(&entry, guard, write).await? {
                Applied::Now(_) | Applied::Already(_) => return Ok(Ok(at)),
                Applied::NotFound | Applied::Conflict => {}
            }
        }
        Ok(Err(CommandRefusal::Contested))
    }

    /// Marks the todo of the newest reminder as done. That of an entry is only marked as read.
    pub(super) async fn finish_reminded(
        &self,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let Some(firing) = self.store.agenda().newest_firing(None).await? else {
            return Ok(Err(CommandRefusal::NoReminder(None)));
        };
        self.store.agenda().read_firings(std::slice::from_ref(&firing), write.now).await?;
        match firing {
            Firing { due, .. } if due.kind == FiringKind::Todo => {
                self.finish_todos(&[due.subject], write).await
            }
            firing => Ok(Ok(CommandOutcome::ReminderRead(firing))),
        }
    }
}
