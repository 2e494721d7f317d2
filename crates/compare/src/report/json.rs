//! Everything, for programs. Names of fields do not change.

use super::ReportHeader;
use super::averages::measure;
use crate::{ContestResults, ContestTask};
use serde_json::{Value, json};
use std::sync::Arc;

/// The whole comparison: sums first, then every run.
#[must_use]
pub fn json(results: &ContestResults, about: &ReportHeader) -> Value {
    let contest = &results.contest;
    let task = |task: &Arc<ContestTask>| {
        let (kind, sentences) = (task.kind.as_str(), task.sentences());
        json!({"name": task.name, "kind": kind, "sentences": sentences, "goal": task.goal})
    };
    let totals = contest
        .models
        .iter()
        .flat_map(|model| contest.loops.iter().map(move |name| total(results, model, name)));
    json!({
        "command": about.command,
        "version": about.version,
        "date": about.date,
        "complete": results.is_complete(),
        "withheld_settings": about.withheld,
        "limits": about.limits,
        "timeout_ms": u64::try_from(contest.timeout.as_millis()).unwrap_or(u64::MAX),
        "latency": contest.latency,
        "seed": contest.seed,
        "runs_per_cell": contest.repeats,
        "models": contest.models,
        "loops": contest.loops,
        "tasks": contest.tasks.iter().map(task).collect::<Vec<_>>(),
        "totals": totals.collect::<Vec<_>>(),
        "runs": results.cells,
    })
}

fn total(results: &ContestResults, model: &str, loop_name: &str) -> Value {
    let tally = results.total(model, loop_name);
    let with = measure(results);
    let (here, there) = results.where_both_succeed(model, loop_name, with);
    let mut total = json!(tally);
    total["model"] = json!(model);
    total["loop"] = json!(loop_name);
    total["success_percent"] = json!(tally.success_percent());
    total["tokens_per_success"] = json!(tally.tokens_per_success());
    total["where_both_succeed"] = json!({
        "with": with,
        "runs": here.runs,
        "tokens": here.tokens(),
        "tokens_of_the_other": there.tokens(),
    });
    total
}
