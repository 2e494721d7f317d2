//! `todo_write`: the model's own list of what it intends to do. Nothing is stored here: the loop
//! folds the list from the calls, and `Run` answers calls that name their items with all of it.

use crate::clip;
use everloop_ports::{CallContext, Tool, ToolReturn};
use everloop_types::{
    Approval, DataFlow, EffectClass, Handling, ItemState, Observation, OnUnknown, PlanItem,
    TODO_WRITE, TodoList,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Items of a list.
const ITEMS_MAX: usize = 100;

/// The arguments of `todo_write`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoWriteArgs {
    /// The items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todos: Option<Vec<TodoEntry>>,
    /// true: update by id, add. false: replace all.
    #[serde(default)]
    pub merge: bool,
    /// The older form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub items: Option<Vec<TodoItem>>,
}

/// One item with its name.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoEntry {
    /// A short name.
    pub id: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far a named item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a description of each state would turn the schema into variants")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

/// One item of the list.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoItem {
    /// What is to be done.
    pub text: String,
    /// How far it is. At most one item is in progress.
    pub state: TodoState,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a description of each state would turn the schema into variants")]
pub enum TodoState {
    Pending,
    InProgress,
    Completed,
    Failed,
    Skipped,
}

impl From<TodoState> for ItemState {
    fn from(state: TodoState) -> Self {
        match state {
            TodoState::Pending => Self::Pending,
            TodoState::InProgress => Self::InProgress,
            TodoState::Completed => Self::Completed,
            TodoState::Failed => Self::Failed,
            TodoState::Skipped => Self::Skipped,
        }
    }
}

impl From<TodoItem> for PlanItem {
    fn from(item: TodoItem) -> Self {
        Self::new(item.text, item.state.into())
    }
}

/// Writes the list.
#[derive(Debug)]
pub struct TodoWrite;

impl Tool for TodoWrite {
    const NAME: &'static str = TODO_WRITE;
    type Args = TodoWriteArgs;

    fn description(&self) -> &'static str {
        "Keep your list of steps: in_progress before you begin one, completed when it is done."
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Transactional,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 5_000,
            flow: Some(DataFlow::NOTHING),
            ..Handling::default()
        }
    }

    async fn call(&self, args: TodoWriteArgs, context: &CallContext) -> ToolReturn {
        let seen = match &args.items {
            Some(items) if args.todos.is_none() => match refusal(items) {
                Some(why) => Err(why),
                None => Ok(as_text(args.items.into_iter().flatten().map(PlanItem::from))),
            },
            Some(_) => Err("items: cannot be given beside todos".to_owned()),
            None if args.todos.is_none() => Err("todos: is missing".to_owned()),
            // Within a run the list is known, and `Run` answers; here it begins.
            None => serde_json::to_string(&args)
                .map_err(|error| error.to_string())
                .and_then(|args| TodoList::default().after(&args))
                .map(|list| list.shown()),
        };
        ToolReturn::Seen(match seen {
            Ok(text) => Observation::ok(clip::head(&text, context.observation_chars)),
            Err(why) => Observation::error(why),
        })
    }
}

fn refusal(items: &[TodoItem]) -> Option<String> {
    let busy = items.iter().filter(|item| item.state == TodoState::InProgress).count();
    if items.len() > ITEMS_MAX {
        return Some(format!("items: at most {ITEMS_MAX}, not {}", items.len()));
    }
    if let Some(at) = items.iter().position(|item| item.text.trim().is_empty()) {
        return Some(format!("items[{at}].text: is empty"));
    }
    (busy > 1).then(|| format!("items: at most one may be in_progress, not {busy}"))
}

fn as_text(items: impl Iterator<Item = PlanItem>) -> String {
    let rows: Vec<String> = items
        .enumerate()
        .map(|(at, item)| {
            let text = item.text.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{}. [{}] {text}", at + 1, word(item.state))
        })
        .collect();
    if rows.is_empty() { "the list is empty".to_owned() } else { rows.join("\n") }
}

fn word(state: ItemState) -> &'static str {
    match state {
        ItemState::Pending => "pending",
        ItemState::InProgress => "in_progress",
        ItemState::Completed => "completed",
        ItemState::Failed => "failed",
        ItemState::Skipped => "skipped",
    }
}
