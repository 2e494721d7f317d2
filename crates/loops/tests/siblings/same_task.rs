//! Each loop reads two files and says what they hold.

use super::{path, survives};
use crate::support::{Reply, Scenario};
use everloop_loops::replies::{SampleItem, SampleTask};
use everloop_loops::{LOOPS, LoopSpec};
use everloop_types::{Status, Words};
use serde_json::json;

pub(crate) fn task(name: &str) -> Scenario {
    let spec = LoopSpec::named(name).expect("a loop of that name");
    let item = |file: &str, result: &str| SampleItem {
        text: format!("read {file}"),
        batches: vec![vec![("read_file".to_owned(), path(file))]],
        result: result.to_owned(),
    };
    let items = vec![item("a", "a holds 1"), item("b", "b holds 2")];
    let sample = SampleTask { items, answer: "1 and 2".to_owned() };
    let start = Scenario::of(name, "what do a and b hold?");
    let replies = (spec.sample)(&sample).into_iter().map(Reply::Whole);
    replies.fold(start, Scenario::replies).sees("it holds 1111").sees("it holds 2222")
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
