//! Tables for a terminal.

use super::averages::averages;
use super::columns::{ReportColumn, all, number};
use super::grid::lines;
use super::{ReportDetail, ReportStyle, word};
use crate::task::TaskKind;
use crate::{ContestResults, ContestTask, Tally};
use everloop_agenda::show::TextTable;
use everloop_text as text;
use everloop_types::Lang;
use std::sync::Arc;

/// For each model the sums and averages of each loop, and with detail every task.
#[must_use]
pub fn text(results: &ContestResults, style: ReportStyle) -> String {
    let several = results.contest.models.len() > 1;
    let mut parts = Vec::new();
    for model in &results.contest.models {
        if several || style.detail == ReportDetail::PerTask {
            parts.push(text::compare::model(&model).in_lang(style.lang));
        }
        let columns = all(results, model);
        parts.push(lines(&rows(results, model, style.lang, &columns)));
        parts.push(lines(&averages(results, model, style.lang)));
        if style.detail == ReportDetail::PerTask {
            parts.push(lines(&task_by_task(results, model, style)));
        }
    }
    if !results.is_complete() {
        let (done, all) = (number(results.cells.len() as u64), results.contest.size().to_string());
        parts.push(text::compare::incomplete(&done.as_str(), &all.as_str()).in_lang(style.lang));
    }
    parts.join("\n\n")
}

/// The loops as rows under heads.
pub(super) fn rows(
    results: &ContestResults,
    model: &str,
    lang: Lang,
    columns: &[ReportColumn],
) -> Vec<Vec<String>> {
    let row = |name: &String| {
        let tally = results.total(model, name);
        let cells = columns.iter().map(|column| column.cell(&tally, lang));
        [name.clone()].into_iter().chain(cells).collect()
    };
    [heads(lang, columns)].into_iter().chain(results.contest.loops.iter().map(row)).collect()
}

/// Each task as a heading, with the loops below it and all their figures.
fn task_by_task(results: &ContestResults, model: &str, style: ReportStyle) -> Vec<Vec<String>> {
    let mut lines = vec![heads(style.lang, &all(results, model))];
    for task in &results.contest.tasks {
        lines.push(vec![task.name.clone()]);
        let rows = loops_of(results, model, &task.name, style).into_iter();
        lines.extend(rows.map(|mut row| {
            row[0].insert_str(0, "  ");
            row
        }));
    }
    lines
}

/// The loops as rows, with all figures of one task.
pub(super) fn loops_of(
    results: &ContestResults,
    model: &str,
    task: &str,
    style: ReportStyle,
) -> Vec<Vec<String>> {
    let columns = all(results, model);
    let row = |name: &String| {
        let tally = results.cell(model, name, task);
        let cells = columns.iter().map(|column| column.brief(&tally, style));
        [name.clone()].into_iter().chain(cells).collect()
    };
    results.contest.loops.iter().map(row).collect()
}

/// The heads of such rows.
pub(super) fn heads(lang: Lang, columns: &[ReportColumn]) -> Vec<String> {
    let head = [word(lang, text::compare::head::r#loop())];
    head.into_iter().chain(columns.iter().map(|column| column.head(lang))).collect()
}

/// The tasks as rows, the loops as columns.
pub(super) fn per_task(
    results: &ContestResults,
    model: &str,
    style: ReportStyle,
) -> Vec<Vec<String>> {
    let contest = &results.contest;
    let head = [word(style.lang, text::compare::head::task())];
    let heads = head.into_iter().chain(contest.loops.iter().cloned());
    let row = |task: &Arc<ContestTask>| {
        let cells = contest
            .loops
            .iter()
            .map(|loop_name| mark(&results.cell(model, loop_name, &task.name), style));
        [task.name.clone()].into_iter().chain(cells).collect()
    };
    [heads.collect()].into_iter().chain(contest.tasks.iter().map(row)).collect()
}

/// A mark and the model calls; how many of several runs succeeded; a dash for what was not run.
pub(super) fn mark(tally: &Tally, style: ReportStyle) -> String {
    let mark = if tally.succeeded == tally.runs { style.marks.0 } else { style.marks.1 };
    let calls = number(tally.model_calls);
    match tally.runs {
        0 => "–".to_owned(),
        1 => format!("{mark} {calls}"),
        runs => format!("{mark} {}/{runs} {calls}", tally.succeeded),
    }
}

/// What a task is about, in words.
pub(super) fn kind(kind: TaskKind, lang: Lang) -> String {
    word(
        lang,
        match kind {
            TaskKind::Files => text::compare::kind::files(),
            TaskKind::Todos => text::compare::kind::todos(),
            TaskKind::Search => text::compare::kind::search(),
            TaskKind::Data => text::compare::kind::data(),
            TaskKind::Recovery => text::compare::kind::recovery(),
            TaskKind::Clarification => text::compare::kind::clarification(),
        },
    )
}

/// The tasks, for `--list`.
#[must_use]
pub fn list(tasks: &[Arc<ContestTask>], lang: Lang, width: Option<usize>) -> String {
    let heads = [
        text::compare::head::task(),
        text::compare::head::kind(),
        text::compare::head::sentences(),
    ];
    let heads = heads.into_iter().chain([text::compare::head::goal()]).map(|key| word(lang, key));
    let mut table = TextTable::new(heads.collect());
    for task in tasks {
        let sentences = task.sentences().to_string();
        let kind = kind(task.kind, lang);
        table.row(vec![task.name.clone(), kind, sentences, task.goal.clone()]);
    }
    table.show(width)
}
