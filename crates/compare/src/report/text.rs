//! Tables for a terminal.

use super::columns::{ALL, Column, number};
use super::grid::lines;
use super::{Detail, Manner, word};
use crate::{Results, Tally, Task};
use everloop_assistant::show::Table;
use everloop_types::Lang;
use std::sync::Arc;

/// One table for each model, and with detail one of all tasks.
#[must_use]
pub fn text(results: &Results, manner: Manner) -> String {
    let several = results.contest.models.len() > 1;
    let mut parts = Vec::new();
    for model in &results.contest.models {
        if several || manner.detail == Detail::PerTask {
            parts.push(everloop_text::get(manner.lang, "compare.model", &[("name", model)]));
        }
        parts.push(lines(&totals(results, model, manner.lang)));
        if manner.detail == Detail::PerTask {
            parts.push(lines(&per_task(results, model, manner)));
        }
    }
    if !results.is_complete() {
        let (done, all) = (number(results.cells.len() as u64), results.contest.size().to_string());
        let args = [("done", done.as_str()), ("all", all.as_str())];
        parts.push(everloop_text::get(manner.lang, "compare.incomplete", &args));
    }
    parts.join("\n\n")
}

fn totals(results: &Results, model: &str, lang: Lang) -> Vec<Vec<String>> {
    rows(results, model, lang, &ALL)
}

/// The loops as rows under heads.
pub(super) fn rows(
    results: &Results,
    model: &str,
    lang: Lang,
    columns: &[Column],
) -> Vec<Vec<String>> {
    let head = [word(lang, "compare.head.loop")];
    let heads = head.into_iter().chain(columns.iter().map(|column| column.head(lang)));
    let row = |name: &String| {
        let tally = results.total(model, name);
        let cells = columns.iter().map(|column| column.cell(&tally, lang));
        [name.clone()].into_iter().chain(cells).collect()
    };
    [heads.collect()].into_iter().chain(results.contest.loops.iter().map(row)).collect()
}

/// The tasks as rows, the loops as columns.
pub(super) fn per_task(results: &Results, model: &str, manner: Manner) -> Vec<Vec<String>> {
    let contest = &results.contest;
    let head = [word(manner.lang, "compare.head.task")];
    let heads = head.into_iter().chain(contest.loops.iter().cloned());
    let row = |task: &Arc<Task>| {
        let cells = contest
            .loops
            .iter()
            .map(|loop_name| mark(&results.cell(model, loop_name, &task.name), manner));
        [task.name.clone()].into_iter().chain(cells).collect()
    };
    [heads.collect()].into_iter().chain(contest.tasks.iter().map(row)).collect()
}

/// A mark and the model calls; how many of several runs succeeded; a dash for what was not run.
pub(super) fn mark(tally: &Tally, manner: Manner) -> String {
    let mark = if tally.succeeded == tally.runs { manner.marks.0 } else { manner.marks.1 };
    let calls = number(tally.model_calls);
    match tally.runs {
        0 => "–".to_owned(),
        1 => format!("{mark} {calls}"),
        runs => format!("{mark} {}/{runs} {calls}", tally.succeeded),
    }
}

/// The tasks, for `--list`.
#[must_use]
pub fn list(tasks: &[Arc<Task>], lang: Lang, width: Option<usize>) -> String {
    let heads = ["compare.head.task", "compare.head.kind", "compare.head.sentences"];
    let heads = heads.into_iter().chain(["compare.head.goal"]).map(|key| word(lang, key));
    let mut table = Table::new(heads.collect());
    for task in tasks {
        let sentences = task.sentences().to_string();
        let kind = task.kind.as_str().to_owned();
        table.row(vec![task.name.clone(), kind, sentences, task.goal.clone()]);
    }
    table.show(width)
}
