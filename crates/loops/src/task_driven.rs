//! Task-driven: the code walks the list; the model works on one item and marks it itself.
//!
//! ```text
//!   Planning ──list──► Working on an item ──closed by todo_write──► the next … ──► Reporting
//!                          └──words while it is open──► again, twice ──► failed, the next
//! ```

use crate::replies;
use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::stages::{Planning, Stages, Turn, in_stages};
use everloop_types::{ItemState, ToolOffer};
use serde::{Deserialize, Serialize};

const NOT_CLOSED: &str = include_str!("prompts/not_closed.md");
/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskDriven {
    stages: Stages,
    /// The item that is worked on, and how often the model stopped before it was closed.
    item: String,
    tries: u32,
}

in_stages!(
    TaskDriven,
    LoopSpec {
        name: "task-driven",
        version: 1,
        audience: LoopAudience::People,
        step_unit: StepUnit::Iteration,
        max_steps: 50,
        settings: &["loop.item_retries", "loop.contract_retries"],
        keeps_list: true,
        delegates: true,
        reply_form: ReplyForm::NativeCalls,
        alternative: "react",
        golden: golden!["v0.1/task-driven-1-errand"],
        sample: replies::closing_items,
    }
);

impl TaskDriven {
    const INSTRUCTIONS: &'static str = include_str!("prompts/task_driven.md");
    const PLANNING: Planning = Planning::Free;

    /// The tools of the work.
    fn offer(&self) -> ToolOffer {
        ToolOffer::All
    }

    fn take(&mut self, turn: &Turn) {
        match turn {
            // Without a list the whole request is the work.
            Turn::WorkBegins if self.stages.dialogue.list.items().is_empty() => {
                self.stages.dialogue.push_user("phase: execution");
            }
            Turn::WorkBegins => self.work(),
            Turn::Acted if !self.item.is_empty() && !self.is_open() => self.work(),
            Turn::Said(_) if self.is_open() => self.retry(),
            Turn::Said(_) => self.work(),
            Turn::Acted | Turn::Nothing => {}
        }
    }

    fn place(&self) -> Option<usize> {
        let list = &self.stages.dialogue.list;
        list.place(&self.item).or_else(|| {
            // A list without names is known by its numbers.
            (0..list.items().len()).find(|place| list.id(*place) == self.item)
        })
    }

    fn is_open(&self) -> bool {
        let state = self.place().map(|place| self.stages.dialogue.list.items()[place].state);
        matches!(state, Some(ItemState::Pending | ItemState::InProgress))
    }

    /// On to the first open item, or to the report.
    fn work(&mut self) {
        let dialogue = &mut self.stages.dialogue;
        let Some(place) = dialogue.list.first_open() else { return self.stages.report() };
        dialogue.list.mark(place, ItemState::InProgress);
        self.item = dialogue.list.id(place);
        self.tries = 0;
        let (number, total) = (place + 1, dialogue.list.items().len());
        let (id, text) = (&self.item, dialogue.list.items()[place].text.clone());
        dialogue.push_user(format!("phase: execution\nitem {number} of {total}, id {id}: {text}"));
    }

    /// The model stopped before the item was closed.
    fn retry(&mut self) {
        let allowed = self.stages.dialogue.frame.limits.steps.list.item_retries;
        if self.tries < allowed {
            self.tries += 1;
            let text = NOT_CLOSED.replace("{id}", &self.item);
            return self.stages.dialogue.push_user(text.trim_end());
        }
        if let Some(place) = self.place() {
            self.stages.dialogue.list.mark(place, ItemState::Failed);
        }
        self.work();
    }
}
