//! The desk: where commands about todos and the schedule are carried out.
//!
//! Whoever asks, a person by a slash, a subcommand or a model through a tool, gets the same typed
//! answer. Success is what the answer says, never a guess from its words.

mod entries;
mod todos;

use crate::commands::{Command, ScheduleCommand, Stretch, TodoCommand, View};
use crate::kept::{Customs, reminders};
use everloop_store::{Deed, Firing, ScheduleRow, Store, StoreError, TodoRow};
use jiff::civil::Date;
use jiff::{Timestamp, Zoned};

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A todo, and what was done to it.
    Todo(Did, TodoRow),
    /// A todo is gone.
    TodoDeleted(i64),
    /// Todos, by a view or a search.
    Todos(View, Option<String>, Vec<TodoRow>),
    /// The views.
    Views,
    /// What came of each of several commands.
    Several(Vec<Answer>),
    /// An entry, what was done to it, and what fired of it last.
    Entry(Did, Box<ScheduleRow>, Vec<Firing>),
    /// An entry is gone.
    EntryDeleted(i64),
    /// A stretch of the schedule.
    Entries(Range, Vec<ScheduleRow>),
}

/// What was done to a todo or an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Did {
    /// It was made.
    Added,
    /// It was changed.
    Changed,
    /// It was marked as done.
    Finished,
    /// It was marked as not done.
    Reopened,
    /// Nothing; it is shown.
    Shown,
}

/// Which part of the schedule is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// From this moment.
    pub from: Timestamp,
    /// To this one.
    pub to: Timestamp,
    /// As a stretch of the calendar around a day, or as a list.
    pub calendar: Option<(Stretch, Date)>,
}

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// There is no todo of that number.
    NoSuchTodo(i64),
    /// There is no entry of that number.
    NoSuchEntry(i64),
    /// Others take place at the same time: each with the moment.
    Conflict(Vec<(ScheduleRow, Timestamp)>),
    /// It would begin again before it has ended.
    OverlapsItself,
    /// A reminder needs a due date.
    ReminderNeedsDue,
    /// It has no rule by which it could repeat.
    DoesNotRepeat(i64),
    /// It has no reminder that could begin somewhere.
    DoesNotRemind(i64),
    /// Others change the same at the same moment, again and again.
    Contested,
    /// It is not the desk's to carry out.
    NotHere,
}

/// What came of a command: what was done, or why not.
pub type Answer = Result<Reply, Refusal>;

/// Where commands are carried out.
#[derive(Debug, Clone)]
pub struct Desk {
    store: Store,
    customs: Customs,
}

impl Desk {
    /// A desk over a store.
    #[must_use]
    pub fn new(store: Store, customs: Customs) -> Self {
        Self { store, customs }
    }

    /// What the person has set.
    #[must_use]
    pub fn customs(&self) -> &Customs {
        &self.customs
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Fires what is due. A change says when to remind next, and would forget what was due before.
    pub(crate) async fn settle_due(&self, deed: Deed<'_>) -> Result<(), StoreError> {
        reminders::fire_due(&self.store, &self.customs, deed.now).await.map(drop)
    }

    /// Carries a command out. With a `key`, trying it again does not do it again.
    ///
    /// # Errors
    /// If the store fails. Then, with a key, it may be tried again.
    pub async fn perform(
        &self,
        command: &Command,
        now: &Zoned,
        key: Option<&str>,
    ) -> Result<Answer, StoreError> {
        let deed = Deed { key, now: now.timestamp().as_millisecond() };
        if is_change(command) {
            self.settle_due(deed).await?;
        }
        match command {
            Command::Todo(command) => self.todo(command, now, deed).await,
            Command::Schedule(command) => self.schedule(command, now, deed).await,
            Command::Talk(..) => Ok(Err(Refusal::NotHere)),
        }
    }
}

/// How often a change is tried again that others were faster with.
const TRIES_MAX: usize = 16;

/// Whether a command changes something that may have a reminder.
fn is_change(command: &Command) -> bool {
    use ScheduleCommand as S;
    use TodoCommand as T;
    match command {
        Command::Todo(T::Update(..) | T::Done(_) | T::Reopen(_) | T::Delete(_) | T::Each(_)) => {
            true
        }
        Command::Schedule(S::Update(..) | S::Repeat(..) | S::Delete(_)) => true,
        Command::Todo(_) | Command::Schedule(_) | Command::Talk(..) => false,
    }
}

/// A name that no other program gives.
fn uid(kind: &str, deed: Deed<'_>) -> String {
    let fresh = everloop_engine::fresh_id(&format!("{kind}_"), deed.now);
    format!("{fresh}@everloop")
}
