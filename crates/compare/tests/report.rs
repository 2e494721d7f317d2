//! What a comparison looks like to programs and people.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{contest, own, run, tasks};
use everloop_compare::report::{self, ReportDetail, ReportHeader, ReportStyle};
use everloop_compare::{Contest, ContestResults, Latency};
use everloop_types::Lang;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;
use unicode_width::UnicodeWidthStr;

fn about() -> ReportHeader {
    let [command, version, date] =
        ["everloop compare --task '<b>'", "0.1.0", "2030-05-01"].map(str::to_owned);
    let limits = [("react".to_owned(), json!({"steps": {"max_steps": 25}}))].into();
    ReportHeader { command, withheld: vec!["loop.completion_mark"], limits, version, date }
}

fn manner(detail: ReportDetail) -> ReportStyle {
    ReportStyle { lang: Lang::En, detail, marks: ("✔", "✖") }
}

async fn results() -> ContestResults {
    let chosen = tasks(&["files-write", "files-copy", "long-move"]);
    let contest = contest(&["plan-replan", "react"], &["competent", "repeats"], chosen);
    run(contest, Vec::new()).await
}

fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Scripts read these names.
#[tokio::test]
async fn the_names_of_json_fields_are_these() {
    let json = report::json(&results().await, &about());
    let sorted = |names: &[&'static str]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    let figures = [
        "runs",
        "succeeded",
        "ended_with_words",
        "model_calls",
        "tool_calls",
        "input_tokens",
        "cached_tokens",
        "output_tokens",
        "steps",
        "wall_ms",
    ];
    let top = [
        "command",
        "version",
        "date",
        "complete",
        "withheld_settings",
        "limits",
        "timeout_ms",
        "latency",
        "seed",
        "runs_per_cell",
        "models",
        "loops",
        "tasks",
        "totals",
        "runs",
    ];
    assert_eq!(fields(&json), sorted(&top));
    assert_eq!(fields(&json["tasks"][0]), sorted(&["name", "kind", "sentences", "goal"]));
    let derived = ["success_percent", "tokens_per_success", "where_both_succeed"];
    let total = [&figures[..], &["model", "loop"], &derived].concat();
    assert_eq!(fields(&json["totals"][0]), sorted(&total));
    let own = ["model", "loop", "task", "seed", "ending", "failed_checks", "answer"];
    assert_eq!(fields(&json["runs"][0]), sorted(&[&figures[..], &own].concat()));
    assert_eq!(json["totals"].as_array().unwrap().len(), 4);
    assert_eq!(json["runs"].as_array().unwrap().len(), 12);
    assert_eq!(json["complete"], true);
}

/// The sums are the sums of the runs, for every figure.
#[tokio::test]
async fn totals_are_the_sums_of_their_runs() {
    let json = report::json(&results().await, &about());
    for total in json["totals"].as_array().unwrap() {
        let runs: Vec<&Value> = json["runs"].as_array().unwrap().iter().collect();
        let of = |run: &&&Value| run["model"] == total["model"] && run["loop"] == total["loop"];
        for figure in ["runs", "succeeded", "model_calls", "input_tokens", "cached_tokens"] {
            let sum: u64 = runs.iter().filter(of).map(|run| run[figure].as_u64().unwrap()).sum();
            assert_eq!(total[figure], sum, "{figure}");
        }
    }
}

#[tokio::test]
async fn tables_have_a_row_for_each_loop_and_with_detail_one_for_each_task() {
    let results = results().await;
    let totals = report::text(&results, manner(ReportDetail::Totals));
    let rows = totals.lines().filter(|line| line.starts_with("react ")).count();
    assert_eq!(rows, 4, "sums and averages of two models: {totals}");
    assert!(!totals.contains("files-copy"));
    let document = report::markdown(&results, manner(ReportDetail::PerTask));
    assert!(document.contains("| files-copy | ✔ 5 | ✔ 3 |"), "{document}");
    assert!(document.contains("Tokens against react"), "{document}");
    let [timed, untimed] = [&totals, &document].map(|text| text.contains("Wall"));
    assert!(timed && !untimed, "what time adds is not for documents");
}

/// Every task has all figures wherever tasks are shown, and a screen of 100 columns is enough.
#[tokio::test]
async fn each_task_is_shown_with_every_figure() {
    let results = results().await;
    let cell = |name: &str| results.cell("competent", name, "files-copy");
    let figures = |name: &str| {
        let tally = cell(name);
        let numbers = [tally.model_calls, tally.tool_calls, tally.steps];
        let tokens = [tally.input_tokens, tally.cached_tokens, tally.output_tokens];
        (numbers.map(|n| n.to_string()), tokens.map(grouped))
    };
    for lang in [Lang::En, Lang::ZhCn] {
        let text = report::text(&results, ReportStyle { lang, ..manner(ReportDetail::PerTask) });
        let page = report::page(&results, &about(), lang);
        let widest = text.lines().map(UnicodeWidthStr::width).max();
        assert!(widest <= Some(100), "{widest:?}\n{text}");
        let (_, section) = text.split_once("\nfiles-copy\n").unwrap();
        let (_, folded) = page.split_once("<summary>files-copy</summary>").unwrap();
        for (name, row) in ["plan-replan", "react"].iter().zip(section.lines()) {
            let ([calls, tools, steps], [input, cached, output]) = figures(name);
            let shown: Vec<&str> = row.split_whitespace().collect();
            let wanted = [name, "✔", &calls, &tools, &input, &cached, &output, &steps, "✔"];
            assert_eq!(shown[..9], wanted, "{row}");
            assert_eq!(shown.len(), 11, "the time and its unit: {row}");
            let cells = wanted.map(|cell| format!("<td>{cell}</td>")).concat();
            assert!(folded.contains(&cells), "{cells}");
        }
    }
    let ([calls, tools, steps], [input, cached, output]) = figures("react");
    let row = ["files-copy", "react", "✔", &calls, &tools, &input, &cached, &output, &steps, "✔"];
    let row = format!("| {} |", row.join(" | "));
    let document = report::markdown(&results, manner(ReportDetail::PerTask));
    assert!(document.contains(&row), "{row}\n{document}");
}

fn grouped(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        _ => format!("{},{:03}", n / 1_000, n % 1_000),
    }
}

/// A loop that gives up early must not look cheap.
#[tokio::test]
async fn what_a_success_takes_stands_beside_the_plain_sums() {
    let all = ["files-write", "files-copy", "long-move"];
    let contest = contest(&["plan-replan", "react"], &["competent"], tasks(&all));
    let results = run(contest, Vec::new()).await;
    let json = report::json(&results, &about());
    let (rounds, react) = (&json["totals"][0], &json["totals"][1]);
    assert_eq!((&rounds["succeeded"], &react["succeeded"]), (&json!(2), &json!(3)));
    let tokens = |loop_name: &str, tasks: &[&str]| -> u64 {
        tasks.iter().map(|task| results.cell("competent", loop_name, task).tokens()).sum()
    };
    assert_eq!(rounds["tokens_per_success"], tokens("plan-replan", &all) / 2);
    let both = json!({
        "with": "react",
        "runs": 2,
        "tokens": tokens("plan-replan", &all[..2]),
        "tokens_of_the_other": tokens("react", &all[..2]),
    });
    assert_eq!(rounds["where_both_succeed"], both);
    let text = report::text(&results, manner(ReportDetail::Totals));
    assert!(text.contains("% (2)\n") && text.ends_with("+0% (3)"), "{text}");
}

/// Several seeds are useful only if their spread is shown.
#[tokio::test]
async fn several_seeds_are_shown_with_their_spread() {
    let one = contest(&["react"], &["repeats"], tasks(&["files-copy", "files-index", "data-sum"]));
    let results = run(Contest { repeats: 4, ..one }, Vec::new()).await;
    let seeds = results.by_seed("repeats", "react");
    let succeeded: Vec<u64> = seeds.iter().map(|tally| tally.succeeded).collect();
    let (least, most) = (succeeded.iter().min().unwrap(), succeeded.iter().max().unwrap());
    assert!(seeds.len() == 4 && least < most, "{succeeded:?}");
    let document = report::markdown(&results, manner(ReportDetail::Totals));
    assert!(document.contains("Success by seed"), "{document}");
    assert!(document.contains(&format!("| {least}–{most} |")), "{document}");
}

/// Policies reply at once; with a latency their time is how long a person would wait.
#[tokio::test]
async fn with_a_latency_time_is_worked_out_and_is_the_same_every_time() {
    let one = contest(&["react"], &["competent"], tasks(&["files-copy"]));
    let latency = Some(Latency { call_ms: 1_000, token_ms: 20 });
    let results = run(Contest { latency, ..one }, Vec::new()).await;
    let tally = results.cells[0].tally;
    assert_eq!(tally.wall_ms, tally.model_calls * 1_000 + tally.output_tokens * 20);
    let document = report::markdown(&results, manner(ReportDetail::Totals));
    assert!(document.contains("Simulated time"), "{document}");
    let json = report::json(&results, &about());
    assert_eq!(json["latency"], json!({"call_ms": 1_000, "token_ms": 20}));
}

/// Tags are closed in the order in which they were opened.
fn is_well_formed(page: &str) {
    let void = ["meta", "br", "!doctype"];
    let mut open: Vec<&str> = Vec::new();
    for part in page.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag ends");
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "before {part}");
        } else if !tag.ends_with('/') && !void.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[tokio::test]
async fn the_page_is_whole_and_needs_nothing_from_elsewhere() {
    let results = results().await;
    for lang in [Lang::En, Lang::ZhCn] {
        let page = report::page(&results, &about(), lang);
        is_well_formed(&page);
        assert_eq!(page.matches("<svg").count(), 8, "four charts for each model");
        for elsewhere in ["<script", "http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
        assert!(page.contains("prefers-color-scheme: dark"));
        assert!(page.contains("everloop compare --task &#39;&lt;b&gt;&#39;"));
        assert!(!page.contains("compare."), "every word has its text");
        assert!(
            page.contains("loop.completion_mark") && page.contains("&quot;max_steps&quot;: 25")
        );
        for task in &results.contest.tasks {
            assert!(page.contains(&task.name));
        }
    }
    assert!(report::page(&results, &about(), Lang::ZhCn).contains("<html lang=\"zh-CN\">"));
}

#[tokio::test]
async fn a_goal_with_markup_is_shown_as_text() {
    let task = own(r#"
        name = "markup"
        kind = "files"
        goal = 'Write "<script>alert(1)</script> & {body}" to a.txt.'
        checks = [{ file_has = { file = "a.txt", text = "script" } }]
        "#);
    let results = run(contest(&["react"], &["competent"], vec![task]), Vec::new()).await;
    assert!(results.cells[0].is_success(), "{:?}", results.cells[0]);
    let page = report::page(&results, &about(), Lang::En);
    is_well_formed(&page);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; {body}"));
    assert!(!page.contains("<script"));
}

/// The report says that it was stopped, and counts only what ran.
#[tokio::test]
async fn a_comparison_that_was_stopped_tells_what_there_is() {
    let stop = CancellationToken::new();
    let chosen = tasks(&["files-write", "files-copy", "files-replace", "files-index"]);
    let contest = Contest { at_once: 1, ..contest(&["react"], &["competent"], chosen) };
    let host = std::sync::Arc::new(crate::support::TestHost(Vec::new()));
    let results = contest.run(host, stop.clone(), |_| stop.cancel()).await;
    let tasks: BTreeSet<&str> = results.cells.iter().map(|cell| cell.task.as_str()).collect();
    assert!(!results.is_complete() && tasks.contains("files-write"), "{tasks:?}");
    let said = report::text(&results, manner(ReportDetail::PerTask));
    assert!(said.contains("of 4 runs are counted") && said.contains('–'), "{said}");
    let json = report::json(&results, &about());
    assert_eq!(json["complete"], false);
    is_well_formed(&report::page(&results, &about(), Lang::En));
}
