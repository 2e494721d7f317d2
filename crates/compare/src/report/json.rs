//! Everything, for programs. Names of fields do not change.

use super::About;
use crate::{Results, Tally, Task};
use serde_json::{Value, json};
use std::sync::Arc;

/// The whole comparison: sums first, then every run.
#[must_use]
pub fn json(results: &Results, about: &About) -> Value {
    let contest = &results.contest;
    let task = |task: &Arc<Task>| {
        let (kind, sentences) = (task.kind.as_str(), task.sentences());
        json!({"name": task.name, "kind": kind, "sentences": sentences, "goal": task.goal})
    };
    let totals = contest.models.iter().flat_map(|model| {
        contest.loops.iter().map(move |name| total(model, name, &results.total(model, name)))
    });
    json!({
        "command": about.command,
        "version": about.version,
        "date": about.date,
        "complete": results.is_complete(),
        "seed": contest.seed,
        "runs_per_cell": contest.repeats,
        "models": contest.models,
        "loops": contest.loops,
        "tasks": contest.tasks.iter().map(task).collect::<Vec<_>>(),
        "totals": totals.collect::<Vec<_>>(),
        "runs": results.cells,
    })
}

fn total(model: &str, loop_name: &str, tally: &Tally) -> Value {
    let mut total = json!(tally);
    total["model"] = json!(model);
    total["loop"] = json!(loop_name);
    total["success_percent"] = json!(tally.success_percent());
    total
}
