//! Small talk looks like talk: one call, no plan, one line of usage.

use crate::support::{Home, done, plan, says, thought};
use serde_json::json;

#[test]
fn a_greeting_is_one_model_call_without_a_plan() {
    for (goal, reply) in [
        ("hello", done("Hello! How can I help?")),
        ("thanks", done("You're welcome.")),
        ("what can you do", done("I work with files,\ncommands and your agenda.")),
        ("你好", done("你好！有什么可以帮你的？")),
    ] {
        let lang = if goal.is_ascii() { "en" } else { "zh-CN" };
        let home = Home::scripted(&[reply]).with("EVERLOOP_LANG", lang);
        let ran = home.run(["run", goal]).ends_with(0);
        let shown = home.show(&home.newest());
        assert_eq!(shown["model_calls"], json!(1), "{goal}: {shown}");
        assert!(!ran.stdout.contains("status"), "{goal}: {}", ran.stdout);
        for machinery in ["Plan v", "计划", "no tool used", "contract", "plain words"] {
            assert!(!ran.stderr.contains(machinery), "{goal}: {}", ran.stderr);
        }
        home.verified(&home.newest());
    }
}

#[test]
fn words_that_come_again_in_place_of_a_plan_are_the_answer() {
    let paris = "Paris is the capital of France.";
    let home = Home::scripted(&vec![says(paris); 3]);
    let ran = home.run(["run", "what is the capital of France?"]).ends_with(0);
    assert_eq!(ran.stdout, format!("{paris}\n"));
    assert_eq!(home.show(&home.newest())["model_calls"], 2);
    home.verified(&home.newest());
}

#[test]
fn an_item_that_named_no_tools_work_claims_nothing() {
    let read = json!({"status": "continue", "current_step": "read",
        "next_action": {"tool": "list_dir", "input": {"path": "."}}});
    let home = Home::scripted(&[
        plan(&["read the folder", "sum up"]),
        says(&read.to_string()),
        thought("empty"),
        says(
            r#"{"status":"replanned","plan":[{"task":"read the folder","completed":true},{"task":"sum up","completed":false}]}"#,
        ),
        thought("summed up"),
        done("The folder is empty."),
    ]);
    let ran = home.run(["run", "what is here?"]).ends_with(0);
    assert_eq!(ran.stdout, "The folder is empty.\n");
    assert!(!ran.stderr.contains("no tool used"), "{}", ran.stderr);
}
