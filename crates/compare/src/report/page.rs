//! One self-contained HTML file: tables, charts, and every task under every loop.

use super::averages::averages;
use super::chart::{ChartBar, chart};
use super::columns::{ReportColumn, all, number, seconds};
use super::text::{heads, kind, loops_of, mark, rows};
use super::{ReportDetail, ReportHeader, ReportStyle, word};
use crate::{ContestResults, ContestTask, Tally, is_simulated};
use everloop_text::{self as text, Text};
use everloop_types::Lang;
use std::sync::Arc;

const FRAME: &str = include_str!("page.html");

/// The page. All texts of tasks and models are escaped.
#[must_use]
pub fn page(results: &ContestResults, about: &ReportHeader, lang: Lang) -> String {
    let mut body = opening(results, about, lang);
    for model in &results.contest.models {
        body.push_str(&section(results, model, lang));
    }
    body.push_str(&goals(results, lang));
    let title = escape(&word(lang, text::compare::title()));
    FRAME.replace("{lang}", lang.tag()).replace("{title}", &title).replace("{body}", &body)
}

fn opening(results: &ContestResults, about: &ReportHeader, lang: Lang) -> String {
    let contest = &results.contest;
    let say = |text: Text| escape(&text.in_lang(lang));
    let counts = [contest.tasks.len(), contest.loops.len(), contest.models.len()];
    let [tasks, loops, models] = counts.map(|count| count.to_string());
    let (runs, seed) = (results.cells.len().to_string(), contest.seed.to_string());
    let command = format!("<code>{}</code>", escape(&about.command));
    let made = say(text::compare::made_by(&"\u{1}")).replace('\u{1}', &command);
    let mut text = format!(
        "<h1>{}</h1>\n<p>{}</p>\n<p>{}</p>\n<p class=\"soft\">{made}</p>\n\
         <p class=\"soft\">{}</p>\n",
        say(text::compare::title()),
        say(text::compare::Scope {
            tasks: &tasks,
            loops: &loops,
            models: &models,
            runs: &runs,
            seed: &seed
        }
        .text()),
        say(text::compare::rule()),
        say(text::compare::version(&about.version, &about.date)),
    );
    text.push_str(&in_force(about, lang));
    if !results.is_complete() {
        let all = contest.size().to_string();
        let words = say(text::compare::incomplete(&runs, &all));
        text.push_str(&format!("<p><strong>{words}</strong></p>\n"));
    }
    text
}

/// What the figures depend on in addition to the command: limits, and the names of settings.
fn in_force(about: &ReportHeader, lang: Lang) -> String {
    let say = |text: Text| escape(&text.in_lang(lang));
    let mut text = String::new();
    if !about.withheld.is_empty() {
        let words = say(text::compare::withheld(&about.withheld.join(", ")));
        text.push_str(&format!("<p class=\"soft\">{words}</p>\n"));
    }
    let limits = serde_json::to_string_pretty(&about.limits).unwrap_or_default();
    let limits = format!("<pre>{}</pre>\n", escape(&limits));
    text.push_str(&folded(&say(text::compare::limits()), &limits));
    text
}

/// A block that opens when its title is clicked. Both are HTML already.
fn folded(title: &str, inner: &str) -> String {
    format!("<details><summary>{title}</summary>\n{inner}</details>\n")
}

fn section(results: &ContestResults, model: &str, lang: Lang) -> String {
    let say = |text: Text| escape(&text.in_lang(lang));
    let mut text = format!("<h2>{}</h2>\n", say(text::compare::model(&model)));
    if is_simulated(model) {
        let words = say(text::compare::simulated(&model));
        text.push_str(&format!("<p class=\"soft\">{words}</p>\n"));
    }
    text.push_str(&table(&rows(results, model, lang, &all(results, model))));
    text.push_str(&table(&averages(results, model, lang)));
    text.push_str(&charts(results, model, lang));
    text.push_str(&format!("<h3>{}</h3>\n", say(text::compare::grid())));
    text.push_str(&grid(results, model, lang));
    text.push_str(&format!("<h3>{}</h3>\n", say(text::compare::every_figure())));
    text.push_str(&task_by_task(results, model, lang));
    text
}

/// A table for each task, with all figures of all loops.
fn task_by_task(results: &ContestResults, model: &str, lang: Lang) -> String {
    let style = ReportStyle { lang, detail: ReportDetail::PerTask, marks: ("✔", "✖") };
    let one = |task: &Arc<ContestTask>| {
        let mut rows = vec![heads(lang, &all(results, model))];
        rows.extend(loops_of(results, model, &task.name, style));
        folded(&escape(&task.name), &table(&rows))
    };
    results.contest.tasks.iter().map(one).collect()
}

fn charts(results: &ContestResults, model: &str, lang: Lang) -> String {
    let loops = &results.contest.loops;
    let totals: Vec<(&String, Tally)> =
        loops.iter().map(|name| (name, results.total(model, name))).collect();
    let bars = |parts: &dyn Fn(&Tally) -> Vec<(&'static str, u64)>,
                value: &dyn Fn(&Tally) -> String| {
        let bar = |(name, tally): &(&String, Tally)| ChartBar {
            name: (*name).clone(),
            parts: parts(tally),
            value: value(tally),
        };
        totals.iter().map(bar).collect::<Vec<ChartBar>>()
    };
    let most = |of: &dyn Fn(&Tally) -> u64| totals.iter().map(|(_, t)| of(t)).max().unwrap_or(0);
    let success = bars(&|t| vec![("good-bar", t.success_percent())], &|t| {
        format!("{}%", t.success_percent())
    });
    let calls = bars(&|t| vec![("a", t.model_calls)], &|t| number(t.model_calls));
    let tokens = bars(
        &|t| {
            let fresh = t.input_tokens.saturating_sub(t.cached_tokens);
            vec![("a", fresh), ("b", t.cached_tokens), ("c", t.output_tokens)]
        },
        &|t| number(t.tokens()),
    );
    let wall = bars(&|t| vec![("a", t.wall_ms)], &|t| seconds(t.wall_ms));
    let time = match all(results, model).last() {
        Some(ReportColumn::Simulated) => text::compare::chart::simulated(),
        _ => text::compare::chart::wall(),
    };
    let legend = [
        ("a", word(lang, text::compare::legend::fresh())),
        ("b", word(lang, text::compare::legend::cached())),
        ("c", word(lang, text::compare::legend::output())),
    ];
    let all = [
        chart(&word(lang, text::compare::chart::success()), &success, 100, &[]),
        chart(&word(lang, text::compare::chart::calls()), &calls, most(&|t| t.model_calls), &[]),
        chart(&word(lang, text::compare::chart::tokens()), &tokens, most(&Tally::tokens), &legend),
        chart(&word(lang, time), &wall, most(&|t| t.wall_ms), &[]),
    ];
    format!("<div class=\"charts\">\n{}</div>\n", all.concat())
}

/// Every task under every loop.
fn grid(results: &ContestResults, model: &str, lang: Lang) -> String {
    let contest = &results.contest;
    let style =
        ReportStyle { lang, detail: ReportDetail::PerTask, marks: ("<b>✔</b>", "<b>✖</b>") };
    let heads = contest.loops.iter().map(|name| format!("<th>{}</th>", escape(name)));
    let mut text = format!(
        "<div class=\"wide\"><table>\n<tr><th>{}</th>{}</tr>\n",
        escape(&word(lang, text::compare::head::task())),
        heads.collect::<String>()
    );
    for task in &contest.tasks {
        let cells = contest.loops.iter().map(|name| {
            let tally = results.cell(model, name, &task.name);
            let class = match (tally.runs, tally.succeeded == tally.runs) {
                (0, _) => "",
                (_, true) => "good",
                (_, false) => "bad",
            };
            format!("<td class=\"{class}\">{}</td>", mark(&tally, style))
        });
        let name = escape(&task.name);
        text.push_str(&format!("<tr><td>{name}</td>{}</tr>\n", cells.collect::<String>()));
    }
    text.push_str("</table></div>\n");
    text
}

fn goals(results: &ContestResults, lang: Lang) -> String {
    let heads =
        [text::compare::head::task(), text::compare::head::kind(), text::compare::head::goal()];
    let heads = heads.map(|key| format!("<th>{}</th>", escape(&word(lang, key))));
    let title = escape(&word(lang, text::compare::tasks()));
    let mut text = format!("<h2>{title}</h2>\n<table>\n<tr>{}</tr>\n", heads.concat());
    for task in &results.contest.tasks {
        text.push_str(&format!(
            "<tr><td>{}</td><td>{}</td><td class=\"goal\">{}</td></tr>\n",
            escape(&task.name),
            escape(&kind(task.kind, lang)),
            escape(&task.goal)
        ));
    }
    text.push_str("</table>\n");
    text
}

fn table(rows: &[Vec<String>]) -> String {
    let mut text = String::from("<div class=\"wide\"><table>\n");
    for (at, row) in rows.iter().enumerate() {
        let tag = if at == 0 { "th" } else { "td" };
        let cell = |cell: &String| format!("<{tag}>{}</{tag}>", escape(cell));
        text.push_str(&format!("<tr>{}</tr>\n", row.iter().map(cell).collect::<String>()));
    }
    text.push_str("</table></div>\n");
    text
}

/// Text as HTML shows it, in attributes too.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
