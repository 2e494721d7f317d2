//! The loop of runs of a fixed type: one call, then the ending.

use crate::support::{Played, Point, Scenario, fold, relay};
use everloop_loops::{Decision, LOOPS, LoopAudience, LoopSpec};
use everloop_text::render;
use everloop_types::{Ending, Lang, ModelErrorKind, Reason, Status, TaskCall, TaskSpec};
use serde_json::{Value, json};

fn task(run_type: &str, input: Value, call: TaskCall) -> Scenario {
    let mut scenario = Scenario::of("task", "do it");
    scenario.frame.task = Some(TaskSpec { run_type: run_type.to_owned(), input, call });
    scenario
}

pub(crate) fn tool_task() -> Scenario {
    let args = json!({"path": "a"}).to_string();
    task("read", json!({}), TaskCall::Tool { tool: "read_file".to_owned(), args })
}

pub(crate) fn model_task() -> Scenario {
    let instructions = "Summarize it.".to_owned();
    task("summarize_conversation", json!({}), TaskCall::Model { instructions })
}

fn ended(played: &Played) -> (Status, Option<Reason>, String) {
    let Decision::Finish { status, reason, words } = &played.ending else { panic!("no ending") };
    (*status, reason.clone(), render(words, Lang::En))
}

#[test]
fn a_task_makes_its_one_call_and_ends_with_the_result() {
    let played = tool_task().sees("one").play();
    assert_eq!(ended(&played), (Status::Succeeded, None, "one".to_owned()));
    let counts = played.run.counts();
    assert_eq!((counts.model_calls, counts.tool_calls), (0, 1));
    let asked = model_task().says("Two lines.").play();
    assert_eq!(ended(&asked), (Status::Succeeded, None, "Two lines.".to_owned()));
    assert_eq!(asked.run.counts().model_calls, 1);
    let system = format!("{:?}", asked.prompts[0][0]);
    assert!(system.contains("Summarize it."), "{system}");
}

#[test]
fn a_call_that_fails_ends_the_run_as_failed_with_its_reason_and_asks_no_model() {
    for ending in [Ending::Error, Ending::Denied, Ending::TimedOut] {
        let played = tool_task().observes(ending, "no such file").play();
        let detail = "no such file".to_owned();
        let expected = "The task failed: no such file".to_owned();
        assert_eq!(ended(&played), (Status::Failed, Some(Reason::TaskFailed { detail }), expected));
        assert_eq!(played.run.counts().model_calls, 0);
    }
    let played = tool_task().without_tool("read_file").play();
    assert_eq!(ended(&played).0, Status::Failed);
    let played = model_task().fails(ModelErrorKind::Unauthorized, "401").play();
    let (status, reason, _) = ended(&played);
    assert_eq!(status, Status::Failed);
    assert!(matches!(reason, Some(Reason::Model(_))), "{reason:?}");
}

#[test]
fn a_run_without_a_task_fails_in_words() {
    let played = Scenario::of("task", "do it").play();
    let (status, _, words) = ended(&played);
    assert_eq!((status, words.as_str()), (Status::Failed, "The task failed: the run has no task"));
}

#[test]
fn the_results_of_each_type_are_told_in_words_of_their_own() {
    let look = |run_type: &str, input: Value, seen: &str| {
        let args = json!({"path": "a"}).to_string();
        let call = TaskCall::Tool { tool: "read_file".to_owned(), args };
        ended(&task(run_type, input, call).sees(seen).play()).2
    };
    assert_eq!(look("sleep", json!({"seconds": 5}), "x"), "The wait of 5 s is over.");
    let page = look("fetch_web", json!({"url": "https://a.test"}), "Words");
    assert_eq!(page, "Text of https://a.test:\nWords");
    let counts = json!({"path": ".", "files": 9, "added": 2, "changed": 1, "removed": 0,
                        "complete": false});
    let indexed = look("index_repo", json!({}), &counts.to_string());
    assert!(indexed.contains("files: 9 (2 new, 1 changed, 0 removed)"), "{indexed}");
    assert!(indexed.contains("index.max_files"), "{indexed}");
}

#[test]
fn a_crash_at_any_point_leaves_a_task_unchanged() {
    for scenario in [tool_task().sees("one"), model_task().says("Two.")] {
        let calm = scenario.clone().play();
        for n in 2..calm.journal.len() {
            for upset in [scenario.clone(), scenario.clone().by_snapshots()] {
                let upset = upset.crash_after(n).play();
                assert_eq!((&upset.trace, &upset.ending), (&calm.trace, &calm.ending));
            }
        }
        assert_eq!(fold(&calm.journal, &calm.frame), calm.run);
        assert_eq!(relay(&calm.journal, &calm.frame), calm.run);
    }
}

#[test]
fn a_reply_that_is_cut_short_is_asked_for_again() {
    let played = model_task().breaks_off("Two li").says("Two lines.").play();
    assert_eq!(ended(&played).2, "Two lines.");
    let steered = model_task().steers(Point::During(1), "be brief").says("Two.").play();
    assert_eq!(ended(&steered).2, "Two.");
}

#[test]
fn nobody_is_offered_the_loop_of_tasks() {
    let spec = LoopSpec::named("task").expect("registered");
    assert_eq!(spec.audience, LoopAudience::Program);
    assert!(!LOOPS.contains(&"task"));
    assert!(LoopSpec::all().all(|spec| spec.audience == LoopAudience::People));
    assert_eq!(LoopSpec::all().count(), LOOPS.len());
    assert!(LoopSpec::registered().count() > LOOPS.len());
}
