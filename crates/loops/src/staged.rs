//! Staged: planning, execution and reporting, one after the other, each with its own tools.
//!
//! ```text
//!   Planning ──list──► Working on item 1 ──words──► on item 2 … ──► Reporting ──► Finished
//! ```
//!
//! The list is fixed once it is planned; the code closes its items.

use crate::replies;
use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::stages::{Planning, Stages, Turn, in_stages};
use everloop_types::{ItemState, ToolOffer};
use serde::{Deserialize, Serialize};

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Staged {
    stages: Stages,
}

in_stages!(
    Staged,
    LoopSpec {
        name: "staged",
        version: 1,
        audience: LoopAudience::People,
        step_unit: StepUnit::Iteration,
        max_steps: 50,
        settings: &["loop.contract_retries"],
        keeps_list: true,
        delegates: true,
        reply_form: ReplyForm::NativeCalls,
        alternative: "react",
        golden: golden!["v0.1/staged-1-errand"],
        sample: replies::item_by_item,
    }
);

impl Staged {
    const INSTRUCTIONS: &'static str = include_str!("prompts/staged.md");
    const PLANNING: Planning = Planning::Forced;

    /// The tools of the work.
    fn offer(&self) -> ToolOffer {
        self.stages.dialogue.without_list()
    }

    fn take(&mut self, turn: &Turn) {
        match turn {
            // Without a list the whole request is the work.
            Turn::WorkBegins if self.stages.dialogue.list.items().is_empty() => {
                self.stages.dialogue.push_user("phase: execution");
            }
            Turn::WorkBegins => self.work(),
            Turn::Said(_) => {
                let list = &mut self.stages.dialogue.list;
                if let Some(place) = list.in_progress() {
                    list.mark(place, ItemState::Completed);
                }
                self.work();
            }
            Turn::Acted | Turn::Nothing => {}
        }
    }

    /// On to the first open item, or to the report.
    fn work(&mut self) {
        let dialogue = &mut self.stages.dialogue;
        let Some(place) = dialogue.list.first_open() else { return self.stages.report() };
        dialogue.list.mark(place, ItemState::InProgress);
        let (number, total) = (place + 1, dialogue.list.items().len());
        let text = dialogue.list.items()[place].text.clone();
        dialogue.push_user(format!("phase: execution\nitem {number} of {total}: {text}"));
    }
}
