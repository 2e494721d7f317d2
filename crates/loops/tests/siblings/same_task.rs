//! Each loop reads two files and says what they hold.

use super::{TWO, path, survives};
use crate::support::Scenario;
use everloop_loops::LOOPS;
use everloop_types::{Status, Words};
use serde_json::json;

pub(crate) fn task(name: &str) -> Scenario {
    let start = Scenario::of(name, "what do a and b hold?");
    let (one, two) = (path("a"), path("b"));
    match name {
        "plan-replan" => start
            .plans(&["read a", "read b"])
            .acts("read_file", &one)
            .closes_item(None)
            .replans(&[("read a", true), ("read b", false)])
            .acts("read_file", &two)
            .closes_item(None)
            .concludes("1 and 2"),
        "react" => start.calls("read_file", &one).calls("read_file", &two).says("1 and 2"),
        "plan-execute-think" => {
            start.plans_steps(&[("read_file", one), ("read_file", two)]).thinks("1 and 2", true)
        }
        "tool-driven" => start
            .lists(false, &TWO)
            .marks("a", "in_progress")
            .calls("read_file", &one)
            .lists(true, &[("a", "read a", "completed"), ("b", "read b", "in_progress")])
            .calls("read_file", &two)
            .marks("b", "completed")
            .says("1 and 2"),
        "task-driven" => start
            .lists(false, &TWO)
            .calls("read_file", &one)
            .marks("a", "completed")
            .calls("read_file", &two)
            .marks("b", "completed")
            .says("1 and 2"),
        "staged" => start
            .lists(false, &TWO)
            .calls("read_file", &one)
            .says("a holds 1")
            .calls("read_file", &two)
            .says("b holds 2")
            .says("1 and 2"),
        "hybrid" => start
            .lists(false, &TWO)
            .calls_all(&[("read_file", one), ("read_file", two)])
            .lists(true, &[("a", "read a", "completed"), ("b", "read b", "completed")])
            .says("finished")
            .says("1 and 2"),
        "autonomous" => start
            .says(&format!("<think>first a</think><tool name=\"read_file\">{one}</tool>"))
            .says(&format!("<tool name=\"read_file\">{two}</tool>"))
            .says("<final>1 and 2</final>"),
        other => panic!("what would {other} do?"),
    }
    .sees("it holds 1111")
    .sees("it holds 2222")
}

#[test]
fn every_loop_does_the_same_task_with_the_same_two_calls() {
    for name in LOOPS {
        let played = task(name).play();
        let everloop_loops::Decision::Finish { status, words, .. } = &played.ending else {
            panic!("{name} does not end")
        };
        assert_eq!(*status, Status::Succeeded, "{name}");
        assert_eq!(*words, Words::Said("1 and 2".to_owned()), "{name}");
        let reads: Vec<&str> =
            played.trace.lines().filter(|line| line.starts_with("call_tool")).collect();
        let expected =
            ["a", "b"].map(|file| format!("call_tool read_file {}", json!({"path": file})));
        assert_eq!(reads, expected, "{name}");
    }
}

#[test]
fn a_crash_at_any_point_of_it_changes_nothing_under_any_loop() {
    for name in LOOPS {
        survives(&task(name));
    }
}
