//! `todo_write`: the model's own list of what it intends to do. The list is the call's arguments;
//! the loop reads it from the journal, so nothing is stored here.

use crate::{CallContext, Done, Tool, clip};
use everloop_types::{
    Approval, EffectClass, Handling, ItemState, Observation, OnUnknown, PlanItem,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Items of a list.
const ITEMS_MAX: usize = 100;

/// The arguments of `todo_write`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoWriteArgs {
    /// The whole list, in order; it replaces the one before.
    #[schemars(length(max = 100))]
    pub items: Vec<TodoItem>,
}

/// One item of the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoItem {
    /// What is to be done.
    pub text: String,
    /// How far it is. At most one item is in progress.
    pub state: TodoState,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
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
        Self { text: item.text, state: item.state.into() }
    }
}

/// Writes the list.
#[derive(Debug)]
pub struct TodoWrite;

impl Tool for TodoWrite {
    const NAME: &'static str = "todo_write";
    type Args = TodoWriteArgs;

    fn description(&self) -> &'static str {
        "Write your list of what is to be done, for tasks of several steps. Send the whole list \
         each time; keep at most one item in progress."
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Transactional,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 5_000,
            ..Handling::default()
        }
    }

    async fn call(&self, args: TodoWriteArgs, context: &CallContext) -> Done {
        Done::Seen(match refusal(&args.items) {
            Some(why) => Observation::error(why),
            None => {
                let items = args.items.into_iter().map(PlanItem::from);
                Observation::ok(clip::head(&as_text(items), context.observation_chars))
            }
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
