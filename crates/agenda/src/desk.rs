//! The desk: where commands about todos and the schedule are carried out.
//!
//! Whoever asks, a person by a slash, a subcommand or a model through a tool, gets the same typed
//! answer. Success is what the answer says, never a guess from its words.

mod changes;
mod entries;
mod todos;

pub use changes::{EntryChange, EntryStart, RemindWhen, TodoChange};

use crate::commands::{
    AgendaCommand, CalendarView, ScheduleCommand, TodoCommand, TodoFilter, TodoView,
};
use crate::kept::{AgendaConfig, reminders};
use everloop_store::{Firing, ScheduleRow, Store, StoreError, TodoRow, WriteKey};
use everloop_types::UtcMs;
use jiff::civil::Date;
use jiff::{Timestamp, Zoned};

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOutcome {
    /// A todo, what was done to it, and what the person should know about that.
    Todo(ItemAction, TodoRow, Vec<AgendaNotice>),
    /// Several todos, and what was done to each.
    Marked(Vec<(ItemAction, TodoRow)>),
    /// Todos are gone.
    TodosDeleted(Vec<DeletedItem>),
    /// Todos, by a view or a search.
    Todos(TodoListing),
    /// The views.
    Views,
    /// An entry, what was done to it, what fired of it last, and what the person should know.
    Entry(ItemAction, Box<ScheduleRow>, Vec<Firing>, Vec<AgendaNotice>),
    /// Entries are gone.
    EntriesDeleted(Vec<DeletedItem>),
    /// A stretch of the schedule.
    Entries(ScheduleRange, Vec<ScheduleRow>),
}

/// Something that the person should know about what was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgendaNotice {
    /// It was to begin at this moment, which is past.
    StartPast(UtcMs),
    /// It was due at this moment, which is past.
    DuePast(UtcMs),
    /// It was to remind at this moment, which is past.
    ReminderPast(UtcMs),
    /// It was to remind at this moment, and no longer does, because it is no longer due.
    ReminderGone(UtcMs),
}

/// Something that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedItem {
    /// Its number.
    pub id: i64,
    /// Its text; none if the same call had deleted it before.
    pub text: Option<String>,
}

/// Todos, and by what they were chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoListing {
    /// The view.
    pub view: TodoView,
    /// A word that each of them has.
    pub word: Option<String>,
    /// What else was asked of them.
    pub filter: TodoFilter,
    /// The todos.
    pub todos: Vec<TodoRow>,
}

/// What was done to a todo or an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemAction {
    /// It was made.
    Added,
    /// It was changed.
    Changed,
    /// It was marked as done.
    Finished,
    /// It was done before, and stays as it was.
    WasFinished,
    /// It was marked as not done.
    Reopened,
    /// Nothing; it is shown.
    Shown,
}

/// Which part of the schedule is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRange {
    /// From this moment.
    pub from: Timestamp,
    /// To this one.
    pub to: Timestamp,
    /// As a stretch of the calendar around a day, or as a list.
    pub calendar: Option<(CalendarView, Date)>,
}

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandRefusal {
    /// There is no todo of that number.
    NoSuchTodo(i64),
    /// There is no entry of that number.
    NoSuchEntry(i64),
    /// Others take place at the same time.
    Conflict(EntryConflict),
    /// It would begin again before it has ended.
    OverlapsItself,
    /// A reminder needs a due date.
    ReminderNeedsDue,
    /// What is not due cannot become due earlier or later.
    NotDue(i64),
    /// It has no rule by which it could repeat.
    DoesNotRepeat(i64),
    /// It has no reminder that could begin somewhere.
    DoesNotRemind(i64),
    /// Others change the same at the same moment, again and again.
    Contested,
    /// It is not the desk's to carry out.
    NotHere,
}

/// What is in the way of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryConflict {
    /// The entries that take place at the same time, each with the moment.
    pub with: Vec<(ScheduleRow, Timestamp)>,
    /// How long the entry was to take.
    pub minutes: i64,
    /// The next start at which it would be in nobody's way, if one was found.
    pub next_free: Option<Timestamp>,
}

/// What came of a command: what was done, or why not.
pub type AgendaResult = Result<CommandOutcome, CommandRefusal>;

/// Where commands are carried out.
#[derive(Debug, Clone)]
pub struct Agenda {
    store: Store,
    customs: AgendaConfig,
}

impl Agenda {
    /// A desk over a store.
    #[must_use]
    pub fn new(store: Store, customs: AgendaConfig) -> Self {
        Self { store, customs }
    }

    /// What the person has set.
    #[must_use]
    pub fn customs(&self) -> &AgendaConfig {
        &self.customs
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Fires what is due. A change says when to remind next, and would forget what was due before.
    pub(crate) async fn settle_due(&self, write: WriteKey<'_>) -> Result<(), StoreError> {
        reminders::fire_due(&self.store, &self.customs, write.now).await.map(drop)
    }

    /// Carries a command out. With a `key`, trying it again does not do it again.
    ///
    /// # Errors
    /// If the store fails. Then, with a key, it may be tried again.
    pub async fn perform(
        &self,
        command: &AgendaCommand,
        now: &Zoned,
        key: Option<&str>,
    ) -> Result<AgendaResult, StoreError> {
        let write = WriteKey { key, now: now.timestamp().as_millisecond() };
        if is_change(command) {
            self.settle_due(write).await?;
        }
        match command {
            AgendaCommand::Todo(command) => self.todo(command, now, write).await,
            AgendaCommand::Schedule(command) => self.schedule(command, now, write).await,
        }
    }
}

/// How often a change is tried again that others were faster with.
const TRIES_MAX: usize = 16;

/// Whether a command changes something that may have a reminder.
fn is_change(command: &AgendaCommand) -> bool {
    use ScheduleCommand as S;
    use TodoCommand as T;
    match command {
        AgendaCommand::Todo(T::Update(..) | T::Mark(..)) => true,
        AgendaCommand::Schedule(S::Update(..) | S::Repeat(..) | S::Delete(_)) => true,
        AgendaCommand::Todo(_) | AgendaCommand::Schedule(_) => false,
    }
}

/// A name that no other program gives.
fn uid(kind: &str, write: WriteKey<'_>) -> String {
    let fresh = everloop_engine::fresh_id(&format!("{kind}_"), write.now);
    format!("{fresh}@everloop")
}

#[cfg(test)]
#[path = "desk/desk_tests.rs"]
mod tests;
