//! What is behind the items that a plan or a list calls done.

use crate::siblings::same_task::task;
use crate::support::{Played, Scenario, fold};
use everloop_loops::{Decision, LOOPS, carried};
use everloop_types::journal::{EffectFinished, Entry, EntryKind, Forked, Outcome};
use everloop_types::{EffectId, Goal, ItemState, PlanItem, Reply, RunId};
use serde_json::{Value, json};

const TWO: [(&str, &str, &str); 2] = [("a", "read a", "pending"), ("b", "read b", "pending")];

fn noted(scenario: Scenario) -> Played {
    scenario.limits(|limits| limits.steps.list.evidence = true).play()
}

/// How often the model was told of an item that it only claims.
fn told(played: &Played, item: &str) -> usize {
    let last = played.prompts.last().expect("a prompt");
    let told = |text: &str| text.contains("you called this done") && text.contains(item);
    last.iter().filter(|message| told(message.text())).count()
}

/// The only work was done for a; b was never begun, and closing both at once does not hide that.
#[test]
fn an_item_that_was_never_begun_is_not_backed_by_the_work_for_another() {
    for name in ["tool-driven", "react", "hybrid"] {
        let played = noted(
            Scenario::of(name, "what do a and b hold?")
                .lists(false, &TWO)
                .marks("a", "in_progress")
                .calls("read_file", &json!({"path": "a"}))
                .sees("1")
                .lists(true, &[("a", "read a", "completed"), ("b", "read b", "completed")])
                .says("both")
                .says("both"),
        );
        let items = played.run.progress().items;
        assert!(items[0].is_done() && items[1].used_no_tool(), "{name}: {items:?}");
        assert_eq!((told(&played, "read a"), told(&played, "read b")), (0, 1), "{name}");
    }
}

fn is_success(entry: &Entry) -> bool {
    match &entry.kind {
        EntryKind::EffectFinished(finished) => {
            matches!(&finished.outcome, Outcome::Observed(seen) if seen.is_ok())
        }
        _ => false,
    }
}

/// An item called done before anything was done, as each loop lets a model do it.
fn claims(name: &str) -> Option<Scenario> {
    let start = Scenario::of(name, "what do a and b hold?");
    let two = json!({"path": "b"});
    let scenario = match name {
        "plan-replan" => start
            .plans(&["read a", "read b"])
            .closes_item(None)
            .replans(&[("read a", true), ("read b", false)])
            .acts("read_file", &two)
            .closes_item(None)
            .concludes("only b"),
        "tool-driven" => start
            .lists(false, &TWO)
            .lists(true, &[("a", "read a", "completed"), ("b", "read b", "in_progress")])
            .calls("read_file", &two)
            .marks("b", "completed")
            .says("only b"),
        "task-driven" => start
            .lists(false, &TWO)
            .marks("a", "completed")
            .calls("read_file", &two)
            .marks("b", "completed")
            .says("only b"),
        "staged" => start
            .lists(false, &TWO)
            .says("a is surely 1")
            .calls("read_file", &two)
            .says("b holds 2")
            .says("only b"),
        "hybrid" | "react" => start
            .lists(false, &TWO)
            .marks("a", "completed")
            .calls("read_file", &two)
            .marks("b", "completed")
            .says("only b")
            .says("only b"),
        "autonomous" => {
            let list = |status: &str| {
                json!({"merge": false, "todos": [
                    {"id": "a", "content": "read a", "status": "completed"},
                    {"id": "b", "content": "read b", "status": status},
                ]})
            };
            start
                .says(&format!("<tool name=\"todo_write\">{}</tool>", list("pending")))
                .says(&format!("<tool name=\"read_file\">{two}</tool>"))
                .says(&format!("<tool name=\"todo_write\">{}</tool>", list("completed")))
                .says("<final>only b</final>")
        }
        // Its steps are calls: there is nothing to claim.
        "plan-execute-think" => return None,
        other => panic!("how would {other} claim?"),
    };
    Some(scenario.sees("2"))
}

#[test]
fn work_is_behind_every_item_that_was_worked_on() {
    for name in LOOPS {
        let played = noted(task(name));
        for item in played.run.progress().items {
            assert_eq!(item.state, ItemState::Completed, "{name} {}", item.text);
            let behind = item.evidence.expect("something is noted");
            assert!(!behind.is_empty(), "{name}: nothing behind {}", item.text);
            for seq in behind {
                let entry = played.journal.iter().find(|entry| entry.seq == seq).expect("an entry");
                assert!(is_success(entry), "{name}: #{seq} is no success");
            }
        }
        assert_eq!(told(&played, "read"), 0, "{name}");
    }
}

#[test]
fn a_claim_with_nothing_behind_it_is_told_once_and_shown_apart() {
    for name in LOOPS {
        let Some(scenario) = claims(name) else { continue };
        let played = noted(scenario);
        let items = played.run.progress().items;
        let claimed: Vec<&str> = items
            .iter()
            .filter(|item| item.used_no_tool())
            .map(|item| item.text.as_str())
            .collect();
        assert_eq!(claimed, ["read a"], "{name}");
        assert!(items[1].is_done(), "{name}");
        assert_eq!(told(&played, "read a"), 1, "{name}");
        assert_eq!(told(&played, "read b"), 0, "{name}");
        let carried = carried(&played.run);
        let last = carried.last().expect("the plan").text();
        assert!(last.contains("- [x] read a (no tool used)"), "{name}: {last}");
        assert!(last.contains("- [x] read b") && !last.contains("read b (no tool"), "{name}");
    }
}

#[test]
fn a_failed_call_and_a_written_list_are_no_evidence() {
    let start = Scenario::of("tool-driven", "read a").lists(false, &TWO[..1]);
    let failing = start.calls("read_file", &json!({"path": "a"})).marks("a", "completed");
    let played = noted(failing.says("done").observes(everloop_types::Ending::Error, "not there"));
    assert_eq!(played.run.progress().items[0].evidence, None, "no other item used a tool");
    assert_eq!(told(&played, "read a"), 1);
}

#[test]
fn a_crash_after_any_entry_notes_the_same() {
    for name in LOOPS {
        let Some(scenario) = claims(name) else { continue };
        let on = scenario.limits(|limits| limits.steps.list.evidence = true);
        let calm = on.clone().play();
        for n in 2..calm.journal.len() {
            let upset = on.clone().crash_after(n).by_snapshots().play();
            assert_eq!(upset.prompts, calm.prompts, "{name} after entry {n}");
            assert_eq!(upset.run, fold(&upset.journal, &upset.frame), "{name} after entry {n}");
        }
    }
}

#[test]
fn what_a_model_writes_there_is_no_evidence() {
    let forged = json!({"items": [{"text": "read a", "state": "completed", "evidence": [1, 2]}]});
    let read: Vec<PlanItem> = serde_json::from_value(forged["items"].clone()).expect("items");
    assert_eq!(read, [PlanItem::new("read a", ItemState::Completed)]);
}

#[test]
fn runs_from_before_are_folded_as_they_were() {
    for name in LOOPS {
        let Some(scenario) = claims(name) else { continue };
        let played = scenario.play();
        assert!(played.run.progress().items.iter().all(|item| item.evidence.is_none()), "{name}");
        assert_eq!(told(&played, "read a"), 0, "{name}");
        assert!(!played.run.state().contains("evidence"), "{name}");
    }
}

/// A list and work in one reply: the work is the next item's.
#[test]
fn work_asked_for_after_the_list_in_the_same_reply_backs_the_next_item() {
    for name in ["tool-driven", "react", "hybrid", "task-driven"] {
        let read = |file: &str| ("read_file", json!({"path": file}));
        let merge = |todos: Value| ("todo_write", json!({"merge": true, "todos": todos}));
        let next =
            json!([{"id": "a", "status": "completed"}, {"id": "b", "status": "in_progress"}]);
        let last = json!([{"id": "b", "status": "completed"}]);
        let scenario = Scenario::of(name, "read both")
            .lists(false, &TWO)
            .calls_all(&[read("a")])
            .calls_all(&[merge(next), read("b")])
            .calls_all(&[merge(last)]);
        let scenario = scenario.says("done").says("done").says("done").sees("1").sees("2");
        let played = noted(scenario);
        let behind: Vec<usize> = played
            .run
            .progress()
            .items
            .iter()
            .map(|item| item.evidence.as_ref().map_or(0, Vec::len))
            .collect();
        assert_eq!(behind, [1, 1], "{name}");
        assert_eq!(told(&played, "read"), 0, "{name}");
    }
}

/// A claim in the same reply as later work is not backed by it.
#[test]
fn a_claim_is_not_backed_by_what_the_same_reply_does_after_it() {
    let claim = json!({"merge": true, "todos": [{"id": "a", "status": "completed"}]});
    let scenario = Scenario::of("tool-driven", "read both")
        .lists(false, &TWO)
        .calls_all(&[("todo_write", claim), ("read_file", json!({"path": "b"}))])
        .marks("b", "completed")
        .says("done")
        .sees("2");
    let played = noted(scenario);
    let items = played.run.progress().items;
    assert!(items[0].used_no_tool() && items[1].is_done(), "{items:?}");
    assert_eq!(told(&played, "read a"), 1);
}

#[test]
fn what_an_earlier_run_has_done_is_no_claim_of_this_one() {
    let earlier = carried(&noted(task("react")).run);
    let done = [("a", "read a", "completed"), ("b", "read b", "pending")];
    let scenario = Scenario::of("tool-driven", "go on")
        .carried(earlier)
        .lists(false, &done)
        .marks("b", "completed")
        .says("done");
    let played = noted(scenario);
    let items = played.run.progress().items;
    assert_eq!(items[0].evidence, None);
    assert_eq!(told(&played, "read b"), 1, "what it closes itself has to be backed");
    assert_eq!(items[1].evidence, None, "no other item of this run used a tool");
}

/// A fork brings today's limits to a past in which nothing was noted.
#[test]
fn a_fork_of_a_run_that_noted_nothing_claims_nothing() {
    let played = task("tool-driven").play();
    let mut limits = played.frame.limits;
    limits.steps.list.evidence = true;
    let last = played.journal.last().expect("an entry");
    let forked = Forked {
        from: RunId::new("run_before"),
        at_seq: last.seq,
        limits,
        settled: Vec::new(),
        word: Goal { text: "go on".to_owned(), ..Goal::default() },
    };
    let mut journal = played.journal.clone();
    journal.push(Entry {
        seq: last.seq + 1,
        effect: None,
        kind: EntryKind::Forked(forked),
        ..last.clone()
    });
    let mut run = fold(&journal, &played.frame);
    let items = run.progress().items;
    assert!(items.iter().all(|item| item.state == ItemState::Completed && item.evidence.is_none()));
    let Decision::Do(effects) = run.decide() else { panic!("it goes on") };
    let effect = EffectId { run: RunId::new("run"), cause: last.seq + 1, index: 0 };
    let reply = Outcome::Replied(Reply { text: "still done".to_owned(), ..Reply::default() });
    let kinds = [
        EntryKind::EffectPlanned(effects[0].planned.clone()),
        EntryKind::EffectFinished(EffectFinished::unlabeled(reply, 0)),
    ];
    for (seq, kind) in (last.seq + 2..).zip(kinds) {
        run.apply(&Entry { seq, effect: Some(effect.clone()), kind, ..last.clone() });
    }
    assert!(run.progress().items.iter().all(|item| !item.used_no_tool()));
}
