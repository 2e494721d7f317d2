//! The list that a model keeps with `todo_write`: pure, so that it can be folded from the calls.

use crate::{ItemState, PlanItem, ToolCall};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The tool that writes the list.
pub const TODO_WRITE: &str = "todo_write";
/// Items of a list.
const ITEMS_MAX: usize = 100;

/// What a model intends to do, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoList {
    items: Vec<PlanItem>,
    /// The names of the items; empty for a list that was written without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<String>,
    versions: u32,
}

#[derive(Deserialize)]
struct ListWrite {
    todos: Vec<ListedTodo>,
    #[serde(default)]
    merge: bool,
}

#[derive(Deserialize)]
struct ListedTodo {
    id: String,
    #[serde(default)]
    content: Option<String>,
    status: ListedStatus,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ListedStatus {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

impl From<ListedStatus> for ItemState {
    fn from(status: ListedStatus) -> Self {
        match status {
            ListedStatus::Pending => Self::Pending,
            ListedStatus::InProgress => Self::InProgress,
            ListedStatus::Completed => Self::Completed,
            ListedStatus::Cancelled => Self::Skipped,
        }
    }
}

impl TodoList {
    /// The items, in order.
    #[must_use]
    pub fn items(&self) -> &[PlanItem] {
        &self.items
    }

    /// How often it was written.
    #[must_use]
    pub fn versions(&self) -> u32 {
        self.versions
    }

    /// Whether it was never written.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        *self == Self::default()
    }

    /// The first item that is worked on.
    #[must_use]
    pub fn in_progress(&self) -> Option<usize> {
        self.items.iter().position(|item| item.state == ItemState::InProgress)
    }

    /// The first item that is not closed.
    #[must_use]
    pub fn first_open(&self) -> Option<usize> {
        self.items.iter().position(is_open)
    }

    /// The place of the item of that name.
    #[must_use]
    pub fn place(&self, id: &str) -> Option<usize> {
        self.ids.iter().position(|known| known == id)
    }

    /// The name of an item: its own, or its number.
    #[must_use]
    pub fn id(&self, place: usize) -> String {
        self.ids.get(place).cloned().unwrap_or_else(|| (place + 1).to_string())
    }

    /// Takes in a call that worked, if it names the items of a list.
    pub fn follow(&mut self, call: &ToolCall) {
        if call.tool == TODO_WRITE
            && Self::is_named(&call.args)
            && let Ok(after) = self.after(&call.args)
        {
            *self = after;
        }
    }

    /// Says how far an item is, without the model.
    pub fn mark(&mut self, place: usize, state: ItemState) {
        if let Some(item) = self.items.get_mut(place) {
            item.state = state;
        }
    }

    /// The open items, one a line.
    #[must_use]
    pub fn open_lines(&self) -> String {
        self.lines(is_open)
    }

    /// The items that failed, one a line.
    #[must_use]
    pub fn failed_lines(&self) -> String {
        self.lines(has_failed)
    }

    fn lines(&self, of: fn(&PlanItem) -> bool) -> String {
        let these = self.items.iter().enumerate().filter(|(_, item)| of(item));
        let lines = these.map(|(place, item)| format!("- {}: {}", self.id(place), line(item)));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Whether an item has failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.items.iter().any(has_failed)
    }

    /// Whether these arguments of `todo_write` name their items, so that the whole list answers
    /// them.
    #[must_use]
    pub fn is_named(args: &str) -> bool {
        serde_json::from_str::<serde_json::Value>(args)
            .is_ok_and(|args| args.get("todos").is_some())
    }

    /// The list after a call with these arguments. The list itself stays as it is.
    ///
    /// # Errors
    /// What is wrong with them, for the model.
    pub fn after(&self, args: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Unnamed {
            items: Vec<PlanItem>,
        }
        let versions = self.versions + 1;
        if !Self::is_named(args) {
            let Unnamed { items } = serde_json::from_str(args).map_err(|e| e.to_string())?;
            return Ok(Self { items, ids: Vec::new(), versions });
        }
        let written: ListWrite = serde_json::from_str(args).map_err(|e| e.to_string())?;
        let mut list = match written.merge {
            true if written.todos.is_empty() => {
                return Err("todos: there is nothing to update".to_owned());
            }
            true => self.clone(),
            false => Self::default(),
        };
        list.versions = versions;
        list.ids = (0..list.items.len()).map(|place| list.id(place)).collect();
        let mut seen = BTreeSet::new();
        for (at, todo) in written.todos.into_iter().enumerate() {
            if !seen.insert(todo.id.clone()) {
                return Err(format!("todos[{at}].id: {:?} comes twice", todo.id));
            }
            list.take(todo).map_err(|wrong| format!("todos[{at}].{wrong}"))?;
        }
        match list.items.len() {
            0..=ITEMS_MAX => Ok(list),
            many => Err(format!("todos: at most {ITEMS_MAX}, not {many}")),
        }
    }

    fn take(&mut self, todo: ListedTodo) -> Result<(), String> {
        if todo.id.trim().is_empty() {
            return Err("id: is empty".to_owned());
        }
        let blank = todo.content.as_ref().is_some_and(|text| text.trim().is_empty());
        match (self.place(&todo.id), todo.content) {
            _ if blank => Err("content: is empty".to_owned()),
            (Some(place), content) => {
                let item = &mut self.items[place];
                item.state = todo.status.into();
                item.text = content.unwrap_or_else(|| item.text.clone());
                Ok(())
            }
            (None, Some(text)) => {
                self.items.push(PlanItem::new(text, todo.status.into()));
                self.ids.push(todo.id);
                Ok(())
            }
            (None, None) => Err("content: is missing".to_owned()),
        }
    }

    /// The whole list with its counts, so that the model need not remember.
    #[must_use]
    pub fn shown(&self) -> String {
        if self.items.is_empty() {
            return "the list is empty".to_owned();
        }
        let count = |state: ItemState| self.items.iter().filter(|i| i.state == state).count();
        use ItemState::{Completed, Failed, InProgress, Pending, Skipped};
        let counts = [Pending, InProgress, Completed, Failed, Skipped]
            .into_iter()
            .filter(|state| count(*state) > 0)
            .map(|state| format!("{} {}", count(state), word(state)));
        let counts: Vec<String> = counts.collect();
        let head = format!("{} items: {}", self.items.len(), counts.join(", "));
        let rows = self.items.iter().enumerate().map(|(place, item)| {
            format!("- {} [{}] {}", self.id(place), word(item.state), line(item))
        });
        [head].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
    }
}

fn is_open(item: &PlanItem) -> bool {
    matches!(item.state, ItemState::Pending | ItemState::InProgress)
}

fn has_failed(item: &PlanItem) -> bool {
    item.state == ItemState::Failed
}

fn line(item: &PlanItem) -> String {
    item.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn word(state: ItemState) -> &'static str {
    match state {
        ItemState::Pending => "pending",
        ItemState::InProgress => "in_progress",
        ItemState::Completed => "completed",
        ItemState::Failed => "failed",
        ItemState::Skipped => "cancelled",
    }
}

#[cfg(test)]
mod tests {
    use super::TodoList;
    use serde_json::{Value, json};

    fn todo(id: &str, content: &str, status: &str) -> Value {
        json!({"id": id, "content": content, "status": status})
    }

    fn after(list: &TodoList, todos: &[Value], merge: bool) -> Result<TodoList, String> {
        list.after(&json!({"todos": todos, "merge": merge}).to_string())
    }

    fn two() -> TodoList {
        let todos = [todo("a", "read", "in_progress"), todo("b", "tell", "pending")];
        after(&TodoList::default(), &todos, false).expect("a list")
    }

    #[test]
    fn a_merge_updates_by_id_and_adds_what_is_new() {
        let todos = [todo("b", "tell all", "completed"), todo("c", "rest", "cancelled")];
        let list = after(&two(), &todos, true).expect("a list");
        assert_eq!(
            list.shown(),
            "3 items: 1 in_progress, 1 completed, 1 cancelled\n- a [in_progress] read\n\
             - b [completed] tell all\n- c [cancelled] rest"
        );
        let state = json!({"id": "a", "status": "completed"});
        let list = after(&list, &[state], true).expect("a list");
        assert_eq!((list.first_open(), list.versions()), (None, 3));
        assert_eq!(list.items()[0].text, "read");
    }

    #[test]
    fn without_merge_the_list_is_replaced() {
        let list = after(&two(), &[todo("z", "new", "pending")], false).expect("a list");
        assert_eq!(list.shown(), "1 items: 1 pending\n- z [pending] new");
        assert_eq!(after(&list, &[], false).expect("a list").shown(), "the list is empty");
    }

    #[test]
    fn bad_input_is_refused_with_the_reason() {
        let many: Vec<Value> = (0..101).map(|n| todo(&n.to_string(), "x", "pending")).collect();
        for (todos, merge, wrong) in [
            (vec![todo("a", "x", "pending"); 2], true, "todos[1].id: \"a\" comes twice"),
            (vec![todo("a", " ", "pending")], true, "todos[0].content: is empty"),
            (vec![todo(" ", "x", "pending")], false, "todos[0].id: is empty"),
            (vec![json!({"id": "x", "status": "pending"})], true, "todos[0].content: is missing"),
            (vec![], true, "todos: there is nothing to update"),
            (many, false, "todos: at most 100, not 101"),
        ] {
            assert_eq!(after(&two(), &todos, merge), Err(wrong.to_owned()));
        }
        let wrong = after(&two(), &[todo("a", "x", "done")], true).expect_err("no such status");
        assert!(wrong.contains("unknown variant `done`"), "{wrong}");
    }

    #[test]
    fn the_form_without_names_is_still_read() {
        let old = r#"{"items":[{"text":"one","state":"failed"}]}"#;
        let list = two().after(old).expect("a list");
        assert_eq!(list.shown(), "1 items: 1 failed\n- 1 [failed] one");
        assert!(two().after("{").is_err());
        assert_eq!(serde_json::to_value(&list).expect("JSON").get("ids"), None);
    }
}
