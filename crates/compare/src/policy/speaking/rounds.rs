//! Rounds: all steps that can be foreseen in one call, then a look at what they brought.

use super::{Speaker, calling};
use crate::policy::reading::PLAN_ROUND;
use crate::policy::shown::THINK;
use crate::policy::skill::{Manner, Status};
use everloop_types::Reply;
use serde_json::{Value, json};

impl Speaker<'_> {
    pub(super) fn plan_round(&self, steps_max: usize) -> Reply {
        let acts = self.look(self.everything(), Manner::InOrder).acts;
        let mut steps: Vec<Value> = acts
            .iter()
            .take(steps_max)
            .map(|act| match act.only_reads() {
                true => json!({ "tool": act.tool, "arguments": act.args, "independent": true }),
                false => json!({ "tool": act.tool, "arguments": act.args }),
            })
            .collect();
        if steps.is_empty() {
            // A round must have a step: one that changes nothing.
            steps.push(json!({ "tool": "list_dir", "arguments": { "path": "." } }));
        }
        let reasoning = format!("{} steps can be foreseen.", steps.len());
        calling(vec![(PLAN_ROUND, json!({ "steps": steps, "reasoning": reasoning }))])
    }

    pub(super) fn think(&self) -> Reply {
        let outlook = self.look(self.everything(), Manner::InOrder);
        let over = outlook.tasks.iter().all(|task| task.status != Status::Open);
        let args = json!({ "user_summary": self.answer(), "task_completed": over });
        calling(vec![(THINK, args)])
    }
}
