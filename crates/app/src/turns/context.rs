//! What a decision reads beside the message: the conversation so far and the tasks of the
//! conversation, so that none is started twice (DR-3). Its frame has the facts that are known.

use crate::app::App;
use crate::conversation::EarlierTurns;
use crate::error::AppError;
use everloop_loops::DECISION_LOOP;
use everloop_store::{RunRow, Store};
use everloop_types::{ConversationId, RunId, Taint};

/// Tasks of the conversation that are shown, and characters of the goal of each.
const TASKS_MAX: usize = 10;
const GOAL_CHARS_MAX: usize = 200;

/// The part of a prompt that comes from the conversation.
pub(crate) struct TurnContext {
    /// As the model reads it.
    pub(crate) told: String,
    /// What the runs have read that it tells of.
    pub(crate) held: Taint,
}

impl TurnContext {
    /// Everything that a decision reads. `ended` is a run that is about to end: its result is told
    /// apart.
    pub(crate) async fn of_decision(
        app: &App,
        store: &Store,
        conversation: &ConversationId,
        ended: Option<&RunId>,
    ) -> Result<Self, AppError> {
        let mut context = Self::of_history(app, store, conversation).await?;
        let rows = store.runs().of_conversation(conversation, TASKS_MAX * 3).await?;
        let is_task = |row: &&RunRow| row.loop_name != DECISION_LOOP && Some(&row.run) != ended;
        let tasks: Vec<String> = rows.iter().filter(is_task).take(TASKS_MAX).map(shown).collect();
        let tasks = if tasks.is_empty() { "none".to_owned() } else { tasks.join("\n") };
        context.told += &format!("\n[tasks of this conversation, the newest first]\n{tasks}");
        Ok(context)
    }

    /// What was said before, for a run that works on a goal.
    pub(crate) async fn of_history(
        app: &App,
        store: &Store,
        conversation: &ConversationId,
    ) -> Result<Self, AppError> {
        let earlier = EarlierTurns::of(app, store, conversation).await?;
        Ok(Self { told: earlier.told(), held: earlier.held(store).await })
    }
}

/// One task: its status, its name, what it works on.
fn shown(row: &RunRow) -> String {
    let goal = row.goal.split_whitespace().collect::<Vec<_>>().join(" ");
    let goal: String = goal.chars().take(GOAL_CHARS_MAX).collect();
    task_line(row.status.as_str(), row.run.as_str(), &goal)
}

/// One task as decisions read it, in a trial too.
pub(crate) fn task_line(status: &str, run: &str, goal: &str) -> String {
    format!("- {status} ({run}): {goal}")
}
