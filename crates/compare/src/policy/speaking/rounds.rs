//! Rounds: all steps that can be planned in one call, then a review of their results.

use super::Speaker;
use crate::policy::skill::{CallOrder, SentenceStatus};
use everloop_loops::replies::{round_plan, round_step, round_thought};
use everloop_types::Reply;
use serde_json::{Value, json};

impl Speaker<'_> {
    pub(super) fn plan_round(&self, steps_max: usize) -> Reply {
        let acts = self.outlook(self.everything(), CallOrder::InOrder).acts;
        let mut steps: Vec<Value> = acts
            .iter()
            .take(steps_max)
            .map(|act| round_step(act.tool, &act.args, act.only_reads()))
            .collect();
        if steps.is_empty() {
            // A round must have a step: one that changes nothing.
            steps.push(round_step("list_dir", &json!({ "path": "." }), false));
        }
        let reasoning = format!("{} steps can be foreseen.", steps.len());
        round_plan(&steps, &reasoning)
    }

    pub(super) fn think(&self) -> Reply {
        let outlook = self.outlook(self.everything(), CallOrder::InOrder);
        let over = outlook.tasks.iter().all(|task| task.status != SentenceStatus::Open);
        round_thought(&self.answer(), over)
    }
}
