//! Tables for a document, without times, so that they are reproducible.

use super::averages::averages;
use super::columns::decided;
use super::text::{per_task, rows};
use super::{ReportDetail, ReportStyle, word};
use crate::ContestResults;
use everloop_text as text;

/// One table per model with averages below it. With detail also two tables of all tasks: whether
/// each was done and in how many calls, and all other figures, folded.
#[must_use]
pub fn markdown(results: &ContestResults, style: ReportStyle) -> String {
    let mut parts = Vec::new();
    for model in &results.contest.models {
        parts.push(format!("**{model}**"));
        parts.push(table(&rows(results, model, style.lang, &decided(results, model))));
        parts.push(table(&averages(results, model, style.lang)));
        if style.detail == ReportDetail::PerTask {
            parts.push(table(&per_task(results, model, style)));
            let title = word(style.lang, text::compare::every_figure());
            parts.push(format!("<details><summary>{title}</summary>"));
            parts.push(table(&every_figure(results, model, style)));
            parts.push("</details>".to_owned());
        }
    }
    parts.join("\n\n")
}

/// Each task under each loop, with everything that is counted.
fn every_figure(results: &ContestResults, model: &str, style: ReportStyle) -> Vec<Vec<String>> {
    let columns = decided(results, model);
    let heads = [text::compare::head::task(), text::compare::head::r#loop()]
        .map(|key| word(style.lang, key));
    let heads = heads.into_iter().chain(columns.iter().map(|column| column.head(style.lang)));
    let mut rows: Vec<Vec<String>> = vec![heads.collect()];
    for task in &results.contest.tasks {
        rows.extend(results.contest.loops.iter().map(|name| {
            let tally = results.cell(model, name, &task.name);
            let cells = columns.iter().map(|column| column.brief(&tally, style));
            [task.name.clone(), name.clone()].into_iter().chain(cells).collect()
        }));
    }
    rows
}

fn table(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let Some((heads, rest)) = rows.split_first() else { return String::new() };
    let ruler = ["---"].into_iter().chain(heads.iter().skip(1).map(|_| "--:"));
    let ruler = format!("| {} |", ruler.collect::<Vec<_>>().join(" | "));
    [line(heads), ruler].into_iter().chain(rest.iter().map(line)).collect::<Vec<_>>().join("\n")
}
