//! Golden journals: runs of earlier releases, which every later one must fold to the same state.
//!
//! `README.md` beside this file says how a release is added. Nothing here writes over a file that
//! is there: those are history, and `sums.txt` says what they were.

mod versions;

use crate::support::{Point, Scenario, fold, relay, write_line};
use crate::task::{model_task, tool_task};
use everloop_loops::{AnyRun, LoopSpec, golden_entry};
use everloop_types::journal::{Entry, EntryKind};
use everloop_types::{CallId, Ending, Frame, Message, ModelErrorKind, ToolCall, digest_bytes};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

/// What a fold shows to the outside. Prompts may be worded anew: their fixed texts are left out.
fn shown(run: &AnyRun) -> Value {
    let mut messages = serde_json::to_value(run.messages()).expect("messages have a JSON form");
    for message in messages.as_array_mut().expect("a list") {
        let text = message["text"].as_str().unwrap_or_default();
        if message["role"] == "system" || text.starts_with("Notice from the runtime") {
            message["text"] = json!("…");
        }
    }
    json!({
        "messages": messages,
        "progress": run.progress(),
        "counts": run.counts(),
        "unknowns": run.unknowns(),
        "ended": run.ended(),
    })
}

/// Asserts that all that was recorded still stands. What a later version adds is its own affair.
fn assert_stands(recorded: &Value, now: &Value, place: &str) {
    match (recorded, now) {
        (Value::Object(recorded), Value::Object(now)) => {
            for (key, value) in recorded {
                let now = now.get(key).unwrap_or(&Value::Null);
                assert_stands(value, now, &format!("{place}.{key}"));
            }
        }
        (Value::Array(recorded), Value::Array(now)) if recorded.len() == now.len() => {
            for (n, (recorded, now)) in recorded.iter().zip(now).enumerate() {
                assert_stands(recorded, now, &format!("{place}[{n}]"));
            }
        }
        _ => assert_eq!(now, recorded, "{place}"),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The scripts behind the journals of the newest release, by name.
fn runs() -> Vec<(&'static str, Scenario)> {
    vec![
        ("plan-replan-1-errand", errand()),
        ("plan-replan-1-unsettled", unsettled()),
        ("plan-execute-think-1-errand", rounds()),
        ("tool-driven-1-errand", listed("tool-driven")),
        ("task-driven-1-errand", listed("task-driven")),
        ("staged-1-errand", staged_errand("staged")),
        ("hybrid-1-errand", staged_errand("hybrid")),
        ("autonomous-1-errand", tagged()),
        ("react-1-errand", react_errand()),
        ("react-1-compacted", compacted()),
        ("task-1-tool", tool_task().thorough().crash_after(4).sees("one")),
        ("task-1-failed", tool_task().observes(Ending::Error, "no such file")),
        ("task-1-model", model_task().thorough().breaks_off("Two li").says("Two lines.")),
        ("decision-1-start", decision_start()),
        ("decision-1-apology", decision_apology()),
    ]
}

/// Several items, a question, a broken reply, a failed tool, a steering word, two crashes.
fn errand() -> Scenario {
    Scenario::plan_replan("安排明天的会议")
        .thorough()
        .steers(Point::During(2), "不要太早")
        .crash_after(9)
        .crash_after(20)
        .plans(&["看日程", "记下会议"])
        .acts("todo", &json!("/todo list"))
        .sees("1. 买牛奶")
        .says("<think>hm</think>not yet")
        .asks("几点？")
        .sees("下午三点")
        .replans(&[("看日程", true), ("记下会议", false)])
        .acts("write_file", &json!({"path": "meeting.txt", "content": "15:00"}))
        .observes(Ending::Error, "read-only")
        .acts("fly", &json!({}))
        .closes_item(Some("15:00"))
        .concludes("会议定在明天 15:00。")
}

/// An unknown outcome, a model failure, the step limit.
fn unsettled() -> Scenario {
    Scenario::plan_replan("write a")
        .thorough()
        .limits(|limits| limits.steps.max_steps = 6)
        .plans(&["write a"])
        .acts("write_file", &json!({"path": "a", "content": "x"}))
        .observes(Ending::Unknown, "the worker died")
        .fails(ModelErrorKind::Server, "500")
        .acts("write_file", &json!({"path": "./a", "content": "y"}))
        .acts("read_file", &json!({"path": "a"}))
        .sees("half")
}

/// A refused plan, references, steps together, a question, a failed step, a failed thought.
fn rounds() -> Scenario {
    let read =
        |path: &str| json!({"tool": "read_file", "arguments": {"path": path}, "independent": true});
    let copy = json!({"tool": "write_file",
        "arguments": {"path": "c", "content": {"$ref": "steps[0].result"}}});
    let both = json!({"steps": [read("a"), read("b"), copy], "reasoning": "read, then copy"});
    Scenario::plan_execute_think("copy and ask")
        .thorough()
        .limits(|limits| limits.steps.rounds.round_ms = 10_000_000)
        .steers(Point::During(3), "be brief")
        .crash_after(15)
        .by_snapshots()
        .plans_steps(&[("fly", json!({}))])
        .calls("plan_tool_call", &both)
        .sees("one")
        .sees("two")
        .sees("written")
        .says("done")
        .thinks("Copied.", false)
        .plans_steps(&[
            ("ask_user", json!({"question": "which?"})),
            ("read_file", json!({"path": "d"})),
            ("read_file", json!({"path": "e"})),
        ])
        .sees("the red one")
        .observes(Ending::Error, "no such file")
        .fails(ModelErrorKind::Server, "500")
        .plans_steps(&[("read_file", json!({"path": "e"}))])
        .sees("five")
        .thinks("It is the red one, and five.", true)
}

/// A list that is made, refused, worked through; words too early; a question; a crash.
fn listed(loop_name: &str) -> Scenario {
    Scenario::of(loop_name, "read both")
        .thorough()
        .steers(Point::During(4), "be brief")
        .crash_after(14)
        .by_snapshots()
        .lists(true, &[])
        .lists(false, &[("1", "read", "pending"), ("2", "tell", "pending")])
        .calls("read_file", &json!({"path": "a"}))
        .sees("one")
        .calls("write_file", &json!({"path": "b", "content": "one"}))
        .sees("written")
        .says("done")
        .marks("1", "completed")
        .calls("ask_user", &json!({"question": "whom?"}))
        .sees("everybody")
        .marks("2", "cancelled")
        .says("It says one. [ANALYSIS_COMPLETE]")
}

/// A plan that is refused, one that is not, work, a tool that is not on offer, a report.
fn staged_errand(loop_name: &str) -> Scenario {
    Scenario::of(loop_name, "read it")
        .thorough()
        .steers(Point::During(3), "be brief")
        .crash_after(9)
        .calls("read_file", &json!({"path": "a"}))
        .lists(false, &[("1", "read", "pending")])
        .calls("read_file", &json!({"path": "a"}))
        .observes(Ending::Error, "no such file")
        .calls("write_file", &json!({"path": "a", "content": "x"}))
        .sees("written")
        .says("it is there now")
        .calls("read_file", &json!({"path": "a"}))
        .says("a was missing and is there now.")
}

/// Broken tags, several calls, a list, an unknown tool, a question.
fn tagged() -> Scenario {
    let read = "<tool name=\"read_file\">{\"path\":\"a\"}</tool>";
    let list = json!({"todos": [{"id": "1", "content": "read", "status": "in_progress"}]});
    Scenario::of("autonomous", "read it")
        .thorough()
        .steers(Point::During(3), "be brief")
        .crash_after(9)
        .says("I read.")
        .says(&format!("<think>hm</think>{read}<tool name=\"fly\">{{}}</tool>"))
        .sees("one")
        .says(&format!("<tool name=\"todo_write\">{list}</tool>"))
        .says("<tool name=\"ask_user\">{\"question\":\"which?\"}</tool>")
        .sees("the red one")
        .says("<final>It is the red one.</final>")
}

/// Parallel calls, a list, a question, refused calls, repetition, a crash, a carried transcript.
fn react_errand() -> Scenario {
    let read = json!({"path": "a"});
    let call =
        ToolCall { id: CallId::new("c1-0"), tool: "read_file".to_owned(), args: read.to_string() };
    let mut scenario = Scenario::react("go on")
        .thorough()
        .carried(vec![
            Message::user("go"),
            Message::Assistant { text: "I look.".to_owned(), calls: vec![call] },
            Message::Tool { call: CallId::new("c1-0"), text: "one".to_owned() },
        ])
        .steers(Point::During(3), "be brief")
        .crash_after(12)
        .by_snapshots()
        .calls_all(&[
            ("read_file", read.clone()),
            ("write_file", json!({"path": "b", "content": "x"})),
            ("no_such_tool", json!({})),
        ])
        .sees("one")
        .sees("written")
        .calls("todo_write", &json!({"items": [{"text": "tell", "state": "in_progress"}]}))
        .sees("noted")
        .calls("ask_user", &json!({"question": "which?"}))
        .sees("the red one");
    for _ in 0..3 {
        scenario = scenario.calls("read_file", &read).sees("the same");
    }
    scenario.says("").says("It is the red one.")
}

/// A reply that is no decision, a run that begins, a crash.
fn decision_start() -> Scenario {
    Scenario::decision("整理一下")
        .thorough()
        .crash_after(6)
        .by_snapshots()
        .says("<think>hm</think>好的")
        .decides(None, Some(("agent", "整理文件")))
        .sees("{\"started\":\"run_2\"}")
}

/// Nothing that could be read, however often it was asked for.
fn decision_apology() -> Scenario {
    Scenario::decision("hello")
        .limits(|limits| limits.steps.contract_retries = 1)
        .says("{}")
        .says("Hello!")
}

/// A compaction, a budget, an answer wanted now.
fn compacted() -> Scenario {
    let mut scenario = Scenario::react("read on")
        .limits(|limits| limits.context.observations = 4)
        .wants_answer(Point::During(15));
    for n in 0..7 {
        if n == 6 {
            scenario = scenario.says("0 and 1 were read");
        }
        scenario =
            scenario.calls("read_file", &json!({"path": n.to_string()})).sees(&format!("text {n}"));
    }
    scenario.says("I read seven files.")
}

#[test]
fn row_25_golden_journals_of_every_release_fold_to_the_recorded_state() {
    let names = names();
    assert!(names.iter().any(|name| name.starts_with("v0.1/")), "{names:?}");
    for name in &names {
        let (journal, frame, recorded) = read(name);
        assert_stands(&recorded, &shown(&fold(&journal, &frame)), name);
        assert_stands(&recorded, &shown(&relay(&journal, &frame)), name);
    }
}

/// Whoever changes a golden file hides from the test above what the change does to old runs.
#[test]
fn golden_files_are_never_changed() {
    let recorded = sums_recorded();
    let now = sums_now();
    for (file, sum) in &recorded {
        let there = now.get(file).unwrap_or_else(|| panic!("{file} is gone; golden files stay"));
        assert_eq!(there, sum, "{file} was changed: it is history; add a new one beside it");
    }
    let new: Vec<&String> = now.keys().filter(|file| !recorded.contains_key(*file)).collect();
    assert!(new.is_empty(), "add these to sums.txt with UPDATE_GOLDEN: {new:?}");
}

#[test]
fn every_loop_and_every_kind_of_entry_has_a_golden_journal() {
    let mut loops = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for name in names() {
        let (journal, ..) = read(&name);
        for entry in &journal {
            kinds.insert(entry.kind.name());
            if let EntryKind::RunCreated(created) = &entry.kind {
                loops.insert(created.loop_name.clone());
            }
        }
    }
    assert_eq!(loops, LoopSpec::registered().map(|spec| spec.name.to_owned()).collect());
    assert_eq!(
        kinds.into_iter().collect::<Vec<_>>(),
        [
            "ApprovalAsked",
            "ApprovalGiven",
            "EffectAttemptFailed",
            "EffectFinished",
            "EffectPlanned",
            "EffectStarted",
            "EpochStarted",
            "Input",
            "MessageEmitted",
            "RunCreated",
            "RunFinished",
            "SnapshotTaken",
            "Waiting",
        ]
    );
}

/// The journals there are, as `release/name`; missing ones are written first if that is wanted.
fn names() -> BTreeSet<String> {
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(|| {
        if let Ok(release) = std::env::var("UPDATE_GOLDEN") {
            // Each test may be a process of its own: one at a time reads and writes the files.
            let lock = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden.lock");
            let lock = fs::File::create(lock).expect("a lock file");
            lock.lock().expect("the lock");
            write_missing(&release);
            write_sums();
        }
    });
    let names = sums_now().into_keys();
    names.filter_map(|file| file.strip_suffix(".jsonl").map(str::to_owned)).collect()
}

/// Every file of every release, with its digest.
fn sums_now() -> BTreeMap<String, String> {
    let entries = |folder: &Path| -> Vec<fs::DirEntry> {
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")).collect()
    };
    let mut sums = BTreeMap::new();
    for release in entries(&folder()).iter().filter(|entry| entry.path().is_dir()) {
        for file in entries(&release.path()) {
            let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            let bytes = fs::read(file.path()).expect("a file");
            sums.insert(format!("{}/{}", name(release), name(&file)), digest_bytes(&bytes));
        }
    }
    sums
}

fn sums_recorded() -> BTreeMap<String, String> {
    names();
    let text = fs::read_to_string(folder().join("sums.txt")).unwrap_or_default();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(sum, file)| (file.to_owned(), sum.to_owned())).collect()
}

/// Adds what is new; what is there stays, changed or not.
fn write_sums() {
    let path = folder().join("sums.txt");
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    for (file, sum) in sums_now() {
        if !text.contains(&file) {
            text.push_str(&format!("{sum} {file}\n"));
        }
    }
    fs::write(path, text).expect("a file");
}

fn read(name: &str) -> (Vec<Entry>, Arc<Frame>, Value) {
    let text = |ending: &str| {
        let path = folder().join(format!("{name}{ending}"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let journal = text(".jsonl");
    let entry = |line| golden_entry(line).unwrap_or_else(|| panic!("{name}: {line}"));
    let frame = serde_json::from_str(&text(".frame.json")).expect("a frame");
    let state = serde_json::from_str(&text(".state.json")).expect("what the fold shows");
    (journal.lines().map(entry).collect(), Arc::new(frame), state)
}

fn write_missing(release: &str) {
    let folder = folder().join(release);
    fs::create_dir_all(&folder).expect("a folder");
    for (name, scenario) in runs() {
        if folder.join(format!("{name}.jsonl")).exists() {
            continue;
        }
        let played = scenario.play();
        let write = |ending: &str, text: String| {
            fs::write(folder.join(format!("{name}{ending}")), text + "\n").expect("a file");
        };
        let lines: Vec<String> = played.journal.iter().map(write_line).collect();
        let frame = serde_json::to_string_pretty(played.frame.as_ref()).expect("a frame");
        let state = serde_json::to_string_pretty(&shown(&played.run)).expect("JSON");
        write(".frame.json", frame);
        write(".state.json", state);
        write(".jsonl", lines.join("\n"));
    }
}
