//! The same analysis under every loop: the same report, whatever the loop.

use crate::support::Home;
use everloop_loops::replies::SampleTask;
use everloop_loops::{LOOPS, LoopSpec};
use everloop_types::Reply;
use serde_json::{Value, json};

const SALES: &str = "region,amount\nEast,4812.6\nEast,3927.1\nWest,2050.25\nWest,2134.75\n";

const TOTALS: &str =
    "SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY total DESC";

fn scripted(reply: &Reply) -> Value {
    let calls: Vec<Value> = reply
        .calls
        .iter()
        .map(|call| {
            let args: Value = serde_json::from_str(&call.args).unwrap();
            json!({"tool": call.tool, "args": args})
        })
        .collect();
    match calls.is_empty() {
        true => json!({"text": reply.text}),
        false => json!({"text": reply.text, "calls": calls}),
    }
}

#[test]
fn an_analysis_under_every_loop_ends_with_the_same_numbers() {
    for name in LOOPS {
        let mark = if name == "tool-driven" { "\n\n[ANALYSIS_COMPLETE]" } else { "" };
        let report =
            format!("# East sells most\n\nEast sold {{{{q1.r1.total}}}}, West 4,185.{mark}");
        let batches = vec![
            vec![("read_dataset".to_owned(), json!({"path": "sales.csv"}))],
            vec![("query_dataset".to_owned(), json!({"sql": TOTALS}))],
        ];
        let task = SampleTask::single("totals by region", batches, &report);
        let spec = LoopSpec::named(name).unwrap();
        let replies: Vec<Value> = (spec.sample)(&task).iter().map(scripted).collect();
        let home = Home::scripted(&replies);
        std::fs::write(home.work("sales.csv"), SALES).unwrap();
        let args = ["analyze", "--loop", name, "--out", "report", "sales.csv", "which region?"];
        let ran = home.run(args).ends_with(0);
        assert!(ran.stdout.contains("East sold 8,739.7, West 4,185."), "{name}: {}", ran.stdout);
        let words = home.read("report/report.md");
        assert!(words.contains("2 of 2 numbers have a source."), "{name}: {words}");
        home.run(["analyze", "--check", "report"]).ends_with(0);
        home.verified(&home.newest());
    }
}
