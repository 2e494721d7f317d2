//! What is done about todos.

use super::{Answer, Desk, Did, Refusal, Reply, TRIES_MAX, uid};
use crate::commands::{NewTodo, Remind, TodoCommand, View};
use crate::kept::{self, DEFAULT_TAG};
use everloop_store::{Deed, Made, StoreError, TodoRow, TodoText};
use jiff::{Timestamp, Zoned};

impl Desk {
    pub(super) async fn todo(
        &self,
        command: &TodoCommand,
        now: &Zoned,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        Ok(match command {
            TodoCommand::Add(new) => return self.add_todo(new, deed).await,
            TodoCommand::Update(id, new) => return self.update_todo(*id, new, now, deed).await,
            TodoCommand::Done(id) => {
                let at = deed.now;
                let finish = |todo: &mut TodoRow| {
                    todo.done_at = todo.done_at.or(Some(at));
                    todo.remind_next = None;
                    Ok(())
                };
                return self.change_todo(*id, Did::Finished, deed, finish).await;
            }
            TodoCommand::Reopen(id) => {
                let at = deed.now;
                let reopen = |todo: &mut TodoRow| {
                    todo.done_at = None;
                    todo.remind_next = todo.said.remind_at.filter(|remind| *remind > at);
                    Ok(())
                };
                return self.change_todo(*id, Did::Reopened, deed, reopen).await;
            }
            TodoCommand::Delete(id) => match self.store.delete_todo(*id, deed).await? {
                Made::NoSuch | Made::Outrun => Err(Refusal::NoSuchTodo(*id)),
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
            TodoCommand::Each(all) => {
                let mut answers = Vec::new();
                for (n, one) in all.iter().enumerate() {
                    let key = deed.key.map(|key| format!("{key}/{n}"));
                    let deed = Deed { key: key.as_deref(), ..deed };
                    answers.push(Box::pin(self.todo(one, now, deed)).await?);
                }
                Ok(Reply::Several(answers))
            }
        })
    }

    async fn add_todo(&self, new: &NewTodo, deed: Deed<'_>) -> Result<Answer, StoreError> {
        let at = |moment: Option<Timestamp>| moment.map(|m| m.as_millisecond());
        let said = TodoText {
            text: new.text.clone().unwrap_or_default(),
            tag: new.tag.clone().unwrap_or_else(|| DEFAULT_TAG.to_owned()),
            priority: new.priority.unwrap_or(0),
            due_at: at(new.due.flatten()),
            remind_at: at(new.remind.and_then(Remind::moment)),
        };
        let row = TodoRow {
            id: 0,
            uid: uid("todo", deed),
            remind_next: said.remind_at,
            said,
            done_at: None,
            created_at: deed.now,
            updated_at: deed.now,
            version: 1,
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
        now: &Zoned,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let update = |todo: &mut TodoRow| {
            let said = &mut todo.said;
            said.text = new.text.clone().unwrap_or_else(|| said.text.clone());
            said.tag = new.tag.clone().unwrap_or_else(|| said.tag.clone());
            said.priority = new.priority.unwrap_or(said.priority);
            if let Some(due) = new.due {
                said.due_at = due.map(|due| due.as_millisecond());
            }
            if let Some(remind) = new.remind {
                let due =
                    said.due_at.map(|due| kept::moment(due).to_zoned(now.time_zone().clone()));
                if remind.is_before() && due.is_none() {
                    return Err(Refusal::ReminderNeedsDue);
                }
                let remind = remind.for_start(due.as_ref()).map(|remind| remind.as_millisecond());
                // A reminder that has fired does not fire again because something else changed.
                if remind != said.remind_at {
                    let ahead = remind.filter(|at| *at >= deed.now);
                    todo.remind_next = ahead.filter(|_| todo.done_at.is_none());
                }
                said.remind_at = remind;
            }
            match (said.due_at, said.remind_at) {
                (None, Some(_)) => Err(Refusal::ReminderNeedsDue),
                _ => Ok(()),
            }
        };
        self.change_todo(id, Did::Changed, deed, update).await
    }

    /// Changes a todo as it is, or as it has become meanwhile.
    async fn change_todo(
        &self,
        id: i64,
        did: Did,
        deed: Deed<'_>,
        change: impl Fn(&mut TodoRow) -> Result<(), Refusal>,
    ) -> Result<Answer, StoreError> {
        for _ in 0..TRIES_MAX {
            let Some(mut todo) = self.store.todo(id).await? else { break };
            if let Err(refusal) = change(&mut todo) {
                return Ok(Err(refusal));
            }
            match self.store.change_todo(&todo, deed).await? {
                Made::Now(_) | Made::Before(_) => {
                    let todo = self.store.todo(id).await?.unwrap_or(todo);
                    return Ok(Ok(Reply::Todo(did, todo)));
                }
                Made::NoSuch | Made::Outrun => {}
            }
        }
        let is_there = self.store.todo(id).await?.is_some();
        Ok(Err(if is_there { Refusal::Contested } else { Refusal::NoSuchTodo(id) }))
    }
}

fn has_word(todo: &TodoRow, wanted: &str) -> bool {
    todo.said.text.to_lowercase().contains(wanted)
}
