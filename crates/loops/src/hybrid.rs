//! Hybrid: the code controls the stages, and within the work the model is free.
//!
//! ```text
//!   Planning ──list──► Working ──calls, outcomes──► Working ──words──► Reporting ──► Finished
//! ```

use crate::replies;
use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::stages::{Planning, Stages, Turn, in_stages};
use everloop_types::ToolOffer;
use serde::{Deserialize, Serialize};

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hybrid {
    stages: Stages,
}

in_stages!(
    Hybrid,
    LoopSpec {
        name: "hybrid",
        version: 1,
        audience: LoopAudience::People,
        step_unit: StepUnit::Iteration,
        max_steps: 50,
        settings: &["loop.contract_retries"],
        keeps_list: true,
        delegates: true,
        reply_form: ReplyForm::NativeCalls,
        alternative: "react",
        golden: golden!["v0.1/hybrid-1-errand"],
        sample: replies::closing_items_and_reporting,
    }
);

impl Hybrid {
    const INSTRUCTIONS: &'static str = include_str!("prompts/hybrid.md");
    const PLANNING: Planning = Planning::Forced;

    /// The tools of the work.
    fn offer(&self) -> ToolOffer {
        ToolOffer::All
    }

    fn take(&mut self, turn: &Turn) {
        match turn {
            Turn::WorkBegins => self.stages.dialogue.push_user("phase: execution"),
            Turn::Said(_) => self.stages.report(),
            Turn::Acted | Turn::Nothing => {}
        }
    }
}
