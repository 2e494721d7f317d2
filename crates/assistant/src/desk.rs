//! The desk: where commands about todos and the schedule are carried out.
//!
//! Whoever asks, a person by a slash, a subcommand or a model through a tool, gets the same typed
//! answer. Success is what the answer says, never a guess from its words.

use crate::commands::{
    Command, NewEntry, NewTodo, ScheduleCommand, Stretch, Switch, TodoCommand, View,
};
use crate::kept::{self, Customs, DEFAULT_TAG, conflicts, reminders};
use everloop_store::{
    Deed, Firing, FiringKind, Made, Reminding, Repeating, ScheduleRow, ScheduleText, Span, Store,
    StoreError, TodoRow, TodoText,
};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan, Zoned};

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

/// Firings that are shown with their entry.
const FIRINGS_SHOWN: usize = 5;

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
        match command {
            Command::Todo(command) => self.todo(command, now, deed).await,
            Command::Schedule(command) => self.schedule(command, now, deed).await,
            Command::Talk(..) => Ok(Err(Refusal::NotHere)),
        }
    }

    async fn todo(
        &self,
        command: &TodoCommand,
        now: &Zoned,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        Ok(match command {
            TodoCommand::Add(new) => return self.add_todo(new, deed).await,
            TodoCommand::Update(id, new) => return self.update_todo(*id, new, deed).await,
            TodoCommand::Done(id) => {
                let at = deed.now;
                let finish = |todo: &mut TodoRow| {
                    todo.done_at = todo.done_at.or(Some(at));
                    todo.remind_next = None;
                };
                return self.change_todo(*id, Did::Finished, deed, finish).await;
            }
            TodoCommand::Reopen(id) => {
                let at = deed.now;
                let reopen = |todo: &mut TodoRow| {
                    todo.done_at = None;
                    todo.remind_next = todo.said.remind_at.filter(|remind| *remind > at);
                };
                return self.change_todo(*id, Did::Reopened, deed, reopen).await;
            }
            TodoCommand::Delete(id) => match self.store.delete_todo(*id, deed).await? {
                Made::NoSuch => Err(Refusal::NoSuchTodo(*id)),
                Made::Now(id) | Made::Before(id) => Ok(Reply::TodoDeleted(id)),
            },
            TodoCommand::Get(id) => {
                let todo = self.store.todo(*id).await?;
                todo.map(|todo| Reply::Todo(Did::Shown, todo)).ok_or(Refusal::NoSuchTodo(*id))
            }
            TodoCommand::List(view, filter) => {
                let todos = kept::viewed(self.store.todos().await?, *view, filter, now);
                Ok(Reply::Todos(*view, None, todos))
            }
            TodoCommand::Search(word, filter) => {
                let all = kept::viewed(self.store.todos().await?, View::All, filter, now);
                let wanted = word.to_lowercase();
                let found = all.into_iter().filter(|todo| has_word(todo, &wanted)).collect();
                Ok(Reply::Todos(View::All, Some(word.clone()), found))
            }
            TodoCommand::Views => Ok(Reply::Views),
        })
    }

    async fn add_todo(&self, new: &NewTodo, deed: Deed<'_>) -> Result<Answer, StoreError> {
        let at = |moment: Option<Option<Timestamp>>| moment.flatten().map(|m| m.as_millisecond());
        let said = TodoText {
            text: new.text.clone(),
            tag: new.tag.clone().unwrap_or_else(|| DEFAULT_TAG.to_owned()),
            priority: new.priority.unwrap_or(0),
            due_at: at(new.due),
            remind_at: at(new.remind),
        };
        let row = TodoRow {
            id: 0,
            uid: uid("todo", deed),
            remind_next: said.remind_at,
            said,
            done_at: None,
            created_at: deed.now,
            updated_at: deed.now,
        };
        if row.said.remind_at.is_some() && row.said.due_at.is_none() {
            return Ok(Err(Refusal::ReminderNeedsDue));
        }
        let (Made::Now(id) | Made::Before(id)) = self.store.add_todo(&row, deed).await? else {
            return Ok(Err(Refusal::NoSuchTodo(0)));
        };
        let row = self.store.todo(id).await?.unwrap_or(TodoRow { id, ..row });
        Ok(Ok(Reply::Todo(Did::Added, row)))
    }

    async fn update_todo(
        &self,
        id: i64,
        new: &NewTodo,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let Some(mut todo) = self.store.todo(id).await? else {
            return Ok(Err(Refusal::NoSuchTodo(id)));
        };
        let said = &mut todo.said;
        said.text.clone_from(&new.text);
        said.tag = new.tag.clone().unwrap_or_else(|| said.tag.clone());
        said.priority = new.priority.unwrap_or(said.priority);
        if let Some(due) = new.due {
            said.due_at = due.map(|due| due.as_millisecond());
        }
        if let Some(remind) = new.remind {
            let remind = remind.map(|remind| remind.as_millisecond());
            // A reminder that has fired does not fire again because something else changed.
            if remind != said.remind_at {
                todo.remind_next = remind.filter(|_| todo.done_at.is_none());
            }
            said.remind_at = remind;
        }
        if said.due_at.is_none() && said.remind_at.is_some() {
            return Ok(Err(Refusal::ReminderNeedsDue));
        }
        self.write_todo(todo, Did::Changed, deed).await
    }

    async fn change_todo(
        &self,
        id: i64,
        did: Did,
        deed: Deed<'_>,
        change: impl FnOnce(&mut TodoRow),
    ) -> Result<Answer, StoreError> {
        let Some(mut todo) = self.store.todo(id).await? else {
            return Ok(Err(Refusal::NoSuchTodo(id)));
        };
        change(&mut todo);
        self.write_todo(todo, did, deed).await
    }

    async fn write_todo(
        &self,
        todo: TodoRow,
        did: Did,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let made = self.store.change_todo(&todo, deed).await?;
        if made == Made::NoSuch {
            return Ok(Err(Refusal::NoSuchTodo(todo.id)));
        }
        let todo = self.store.todo(todo.id).await?.unwrap_or(todo);
        Ok(Ok(Reply::Todo(did, todo)))
    }

    async fn schedule(
        &self,
        command: &ScheduleCommand,
        now: &Zoned,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        Ok(match command {
            ScheduleCommand::Add(new) => return self.add_entry(new, now, deed).await,
            ScheduleCommand::Update(id, new) => {
                return self.update_entry(*id, new, now, deed).await;
            }
            ScheduleCommand::Repeat(id, switch) => {
                return self.switch_repeat(*id, *switch, deed).await;
            }
            ScheduleCommand::Delete(id) => match self.store.delete_schedule(*id, deed).await? {
                Made::NoSuch => Err(Refusal::NoSuchEntry(*id)),
                Made::Now(id) | Made::Before(id) => Ok(Reply::EntryDeleted(id)),
            },
            ScheduleCommand::Get(id) => return self.shown(*id, Did::Shown).await,
            ScheduleCommand::List => {
                let at = now.timestamp().as_millisecond();
                let from = kept::moment(at.saturating_sub(self.customs.list_back_ms));
                let to = kept::moment(at.saturating_add(self.customs.list_ahead_ms));
                let range = Range { from, to, calendar: None };
                Ok(Reply::Entries(range, self.store.schedules().await?))
            }
            ScheduleCommand::View(stretch, date) => {
                let range = stretch_around(*stretch, *date, now);
                Ok(Reply::Entries(range, self.store.schedules().await?))
            }
        })
    }

    async fn shown(&self, id: i64, did: Did) -> Result<Answer, StoreError> {
        let Some(entry) = self.store.schedule(id).await? else {
            return Ok(Err(Refusal::NoSuchEntry(id)));
        };
        let firings = self.store.firings_of(FiringKind::Schedule, id, FIRINGS_SHOWN).await?;
        Ok(Ok(Reply::Entry(did, Box::new(entry), firings)))
    }

    async fn add_entry(
        &self,
        new: &NewEntry,
        now: &Zoned,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let said = ScheduleText {
            title: new.title.clone(),
            span: span(new, now, self.customs.minutes),
            repeat: new.repeat.as_ref().map(|repeat| Repeating {
                rrule: repeat.to_rrule(),
                times: new.times.flatten(),
                on: 1,
            }),
            remind: new.remind.flatten().map(|remind| reminding(new, remind)),
            catch_up: new.catch_up.clone(),
        };
        let mut entry = ScheduleRow {
            id: 0,
            uid: uid("schedule", deed),
            said,
            remind_next: None,
            created_at: deed.now,
            updated_at: deed.now,
        };
        entry.remind_next = reminders::first_reminder(&entry, deed.now);
        if let Some(refusal) = self.in_the_way(&entry).await? {
            // Tried again after a crash, it would be in its own way.
            return self.already_made(deed, refusal).await;
        }
        match self.store.add_schedule(&entry, deed).await? {
            Made::Now(id) | Made::Before(id) => self.shown(id, Did::Added).await,
            Made::NoSuch => Ok(Err(Refusal::NoSuchEntry(0))),
        }
    }

    async fn already_made(&self, deed: Deed<'_>, refusal: Refusal) -> Result<Answer, StoreError> {
        match self.store.deed_done(deed).await? {
            Some(id) => self.shown(id, Did::Added).await,
            None => Ok(Err(refusal)),
        }
    }

    async fn update_entry(
        &self,
        id: i64,
        new: &NewEntry,
        now: &Zoned,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let Some(before) = self.store.schedule(id).await? else {
            return Ok(Err(Refusal::NoSuchEntry(id)));
        };
        let mut entry = before.clone();
        let said = &mut entry.said;
        said.title.clone_from(&new.title);
        said.span = span(new, now, said.span.minutes);
        if let Some(repeat) = &new.repeat {
            let times = said.repeat.as_ref().and_then(|rule| rule.times);
            said.repeat = Some(Repeating { rrule: repeat.to_rrule(), times, on: 1 });
        }
        if let (Some(times), Some(rule)) = (new.times, said.repeat.as_mut()) {
            rule.times = times;
        }
        if let Some(remind) = new.remind {
            said.remind = remind.map(|remind| reminding(new, remind));
        } else if let (Some(from), Some(remind)) = (new.remind_from, said.remind.as_mut()) {
            remind.from = Some(from.as_millisecond());
        }
        said.catch_up = new.catch_up.clone().or_else(|| said.catch_up.clone());
        self.write_entry(before, entry, deed).await
    }

    async fn switch_repeat(
        &self,
        id: i64,
        switch: Switch,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let Some(before) = self.store.schedule(id).await? else {
            return Ok(Err(Refusal::NoSuchEntry(id)));
        };
        let mut entry = before.clone();
        let Some(rule) = entry.said.repeat.as_mut() else {
            return Ok(Err(Refusal::DoesNotRepeat(id)));
        };
        rule.on = i64::from(switch == Switch::On);
        self.write_entry(before, entry, deed).await
    }

    async fn write_entry(
        &self,
        before: ScheduleRow,
        mut entry: ScheduleRow,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let (was, is) = (&before.said, &entry.said);
        // What has fired does not fire again because the title changed.
        if (&was.span, &was.repeat, &was.remind) != (&is.span, &is.repeat, &is.remind) {
            entry.remind_next = reminders::first_reminder(&entry, deed.now);
        }
        if let Some(refusal) = self.in_the_way(&entry).await? {
            return Ok(Err(refusal));
        }
        match self.store.change_schedule(&entry, deed).await? {
            Made::NoSuch => Ok(Err(Refusal::NoSuchEntry(entry.id))),
            Made::Now(id) | Made::Before(id) => self.shown(id, Did::Changed).await,
        }
    }

    async fn in_the_way(&self, entry: &ScheduleRow) -> Result<Option<Refusal>, StoreError> {
        if conflicts::overlaps_itself(entry) {
            return Ok(Some(Refusal::OverlapsItself));
        }
        let others = self.store.schedules().await?;
        let found = conflicts::conflicts(entry, &others);
        let found: Vec<_> = found.iter().map(|held| (held.entry.clone(), held.from)).collect();
        Ok((!found.is_empty()).then_some(Refusal::Conflict(found)))
    }
}

fn has_word(todo: &TodoRow, wanted: &str) -> bool {
    todo.said.text.to_lowercase().contains(wanted)
}

fn span(new: &NewEntry, now: &Zoned, minutes: i64) -> Span {
    let zone = now.time_zone().iana_name().unwrap_or("UTC").to_owned();
    Span {
        starts: new.starts.strftime("%Y-%m-%dT%H:%M").to_string(),
        zone,
        starts_at: new.starts_at.as_millisecond(),
        minutes: new.minutes.unwrap_or(minutes),
    }
}

fn reminding(new: &NewEntry, remind: Timestamp) -> Reminding {
    Reminding {
        lead_ms: new.starts_at.as_millisecond() - remind.as_millisecond(),
        from: new.remind_from.map(|from| from.as_millisecond()),
    }
}

/// A name that no other program gives.
fn uid(kind: &str, deed: Deed<'_>) -> String {
    let fresh = everloop_engine::fresh_id(&format!("{kind}_"), deed.now);
    format!("{fresh}@everloop")
}

fn stretch_around(stretch: Stretch, date: Date, now: &Zoned) -> Range {
    let (from, to) = match stretch {
        Stretch::Day => (date, date.saturating_add(1.day())),
        Stretch::Week => {
            let monday = i64::from(date.weekday().to_monday_zero_offset());
            let from = date.saturating_sub(monday.days());
            (from, from.saturating_add(7.days()))
        }
        Stretch::Month => (date.first_of_month(), date.last_of_month().saturating_add(1.day())),
    };
    let midnight = |date: Date| {
        let zoned = date.to_zoned(now.time_zone().clone());
        zoned.map_or(now.timestamp(), |zoned| zoned.timestamp())
    };
    Range { from: midnight(from), to: midnight(to), calendar: Some((stretch, date)) }
}
