//! What a model claims and what the journal has behind it, on every surface.

use crate::support::{Home, calls, says};
use serde_json::{Value, json};

fn todo(id: &str, content: &str, status: &str) -> Value {
    json!({"id": id, "content": content, "status": status})
}

/// A model that writes one file and claims two.
fn claiming() -> Home {
    let both = json!([todo("a", "write a", "pending"), todo("b", "write b", "pending")]);
    let done = json!([{"id": "a", "status": "completed"}]);
    let too = json!([{"id": "b", "status": "completed"}]);
    Home::scripted(&[
        calls("todo_write", json!({"todos": both, "merge": false})),
        calls("write_file", json!({"path": "a.txt", "content": "a"})),
        calls("todo_write", json!({"todos": done, "merge": true})),
        calls("todo_write", json!({"todos": too, "merge": true})),
        says("Both files are written."),
    ])
}

const RUN: [&str; 5] = ["run", "--loop", "tool-driven", "--yes", "write a and b"];

#[test]
fn a_claim_stands_apart_in_the_run_its_story_and_its_json() {
    let home = claiming();
    let ran = home.run(RUN).ends_with(0);
    assert!(ran.stderr.contains("write b (no tool used)"), "{}", ran.stderr);
    let run = home.newest();
    let plan = home.show(&run)["plan"].clone();
    let behind = plan[0]["evidence"].as_array().unwrap();
    assert_eq!(behind.len(), 1, "{plan}");
    assert_eq!(plan[1]["evidence"], json!([]), "{plan}");
    let number = behind[0].as_i64().unwrap();
    let shown = home.run(["runs", "show", &run]).ends_with(0).stdout;
    assert!(shown.contains(&format!("write a  (#{number})")), "{shown}");
    assert!(shown.contains("write b (no tool used)"), "{shown}");
    let story = home.run(["replay", &run]).ends_with(0).stdout;
    assert!(story.contains(&format!("item closed: write a (backed by #{number})")), "{story}");
    assert!(story.contains("item closed: write b (no tool used)"), "{story}");
    let entry = home.run(["replay", "--at", &number.to_string(), &run]).ends_with(0).stdout;
    assert!(entry.contains("a.txt"), "{entry}");
    home.verified(&run);
}

#[test]
fn the_model_hears_of_it_once_and_nobody_notes_anything_when_it_is_off() {
    let home = claiming();
    home.run(RUN).ends_with(0);
    let told = last_prompt(&home).matches("you called this done").count();
    assert_eq!(told, 1);
    let off = claiming().with("EVERLOOP_LOOP__EVIDENCE", "off");
    off.run(RUN).ends_with(0);
    assert!(off.show(&off.newest())["plan"][1].get("evidence").is_none());
}

/// All that the model of the newest run was shown in the end.
fn last_prompt(home: &Home) -> String {
    let run = home.newest();
    let story = home.run(["replay", "--json", &run]).ends_with(0).stdout;
    let last: Value = serde_json::from_str(story.lines().last().unwrap()).unwrap();
    home.run(["replay", "--at", &last["seq"].to_string(), &run]).ends_with(0).stdout
}

#[test]
fn it_is_told_in_chinese_too() {
    let home = claiming().with("EVERLOOP_LANG", "zh-CN");
    let ran = home.run(RUN).ends_with(0);
    assert!(ran.stderr.contains("write b（未使用工具）"), "{}", ran.stderr);
    let story = home.run(["replay", &home.newest()]).ends_with(0).stdout;
    assert!(story.contains("完成一项：write b（未使用工具）"), "{story}");
}
