//! Staged: planning, execution and reporting, one after the other, each with its own tools.
//!
//! ```text
//!   Planning ──list──► Working on item 1 ──words──► on item 2 … ──► Reporting ──► Finished
//! ```
//!
//! The list is fixed once it is planned; the code closes its items.

use crate::replies;
use crate::spec::{LoopSpec, ReplyForm, StepUnit, golden};
use crate::stages::{Planning, Stages, Turn, in_stages};
use everloop_types::{ItemState, Offer};
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
    fn offer(&self) -> Offer {
        self.stages.talk.without_list()
    }

    fn take(&mut self, turn: &Turn) {
        match turn {
            // Without a list the whole request is the work.
            Turn::StartResult if self.stages.talk.list.items().is_empty() => {
                self.stages.talk.say("phase: execution");
            }
            Turn::StartResult => self.work(),
            Turn::Said(_) => {
                let list = &mut self.stages.talk.list;
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
        let talk = &mut self.stages.talk;
        let Some(place) = talk.list.first_open() else { return self.stages.report() };
        talk.list.mark(place, ItemState::InProgress);
        let (number, total) = (place + 1, talk.list.items().len());
        let text = talk.list.items()[place].text.clone();
        talk.say(format!("phase: execution\nitem {number} of {total}: {text}"));
    }
}
