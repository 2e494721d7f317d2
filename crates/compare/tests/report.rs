//! What a comparison looks like to programs and people.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use everloop_compare::report::{self, About, Detail, Manner};
use everloop_compare::{Contest, Results};
use everloop_types::Lang;
use serde_json::Value;
use std::collections::BTreeSet;
use support::{contest, own, run, tasks};
use tokio_util::sync::CancellationToken;

fn about() -> About {
    let [command, version, date] =
        ["everloop compare --task '<b>'", "0.1.0", "2030-05-01"].map(str::to_owned);
    About { command, version, date }
}

fn manner(detail: Detail) -> Manner {
    Manner { lang: Lang::En, detail, marks: ("✔", "✖") }
}

async fn results() -> Results {
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
    let total = [&figures[..], &["model", "loop", "success_percent"]].concat();
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
    let totals = report::text(&results, manner(Detail::Totals));
    assert_eq!(totals.lines().filter(|line| line.starts_with("react ")).count(), 2, "{totals}");
    assert!(!totals.contains("files-copy"));
    let whole = report::text(&results, manner(Detail::PerTask));
    assert!(whole.contains("files-copy") && whole.contains("✔ 3"), "{whole}");
    let document = report::markdown(&results, manner(Detail::PerTask));
    assert!(document.contains("| files-copy | ✔ 5 | ✔ 3 |"), "{document}");
    assert!(document.contains("Tokens against react"), "{document}");
    let time = report::text(&results, manner(Detail::Totals)).contains("Wall time");
    assert!(time && !document.contains("Wall time"), "what time adds is not for documents");
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

/// What was stopped is said, and nothing that did not run is counted.
#[tokio::test]
async fn a_comparison_that_was_stopped_tells_what_there_is() {
    let stop = CancellationToken::new();
    let chosen = tasks(&["files-write", "files-copy", "files-replace", "files-index"]);
    let contest = Contest { at_once: 1, ..contest(&["react"], &["competent"], chosen) };
    let host = std::sync::Arc::new(support::TestHost(Vec::new()));
    let results = contest.run(host, stop.clone(), |_| stop.cancel()).await;
    let tasks: BTreeSet<&str> = results.cells.iter().map(|cell| cell.task.as_str()).collect();
    assert!(!results.is_complete() && tasks.contains("files-write"), "{tasks:?}");
    let said = report::text(&results, manner(Detail::PerTask));
    assert!(said.contains("of 4 runs are counted") && said.contains('–'), "{said}");
    let json = report::json(&results, &about());
    assert_eq!(json["complete"], false);
    is_well_formed(&report::page(&results, &about(), Lang::En));
}
