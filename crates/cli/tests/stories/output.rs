//! What stands on stdout and what on stderr, and the shape of every JSON.

use crate::support::{Home, calls, done, goes_on, of_type, plan, replanned, says, thought};
use serde_json::{Value, json};

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

fn planned() -> Vec<Value> {
    let write = json!({"path": "a.txt", "content": "x"});
    vec![plan(&["write a file"]), goes_on("write_file", write), thought("ok"), done("Written.")]
}

#[test]
fn json_is_one_object_with_the_promised_fields() {
    let home = Home::scripted(&planned());
    let ran = home.run(["run", "--output-format", "json", "write"]).ends_with(0);
    assert_eq!(ran.stdout.lines().count(), 1);
    let object = ran.json();
    let fields = [
        "status",
        "run_id",
        "loop",
        "text",
        "success",
        "message",
        "steps",
        "model_calls",
        "tool_calls",
        "usage",
        "duration_ms",
        "needs_person",
        "would_ask",
        "model",
        "workspace",
        "error",
    ];
    assert_eq!(sorted(keys(&object)), sorted(fields.to_vec()));
    let tokens = ["input_tokens", "output_tokens", "cached_tokens"];
    assert_eq!(sorted(keys(&object["usage"])), sorted(tokens.to_vec()));
    assert_eq!(object["status"], "succeeded");
    assert_eq!(object["loop"], "plan-replan");
    assert_eq!((&object["needs_person"], &object["would_ask"]), (&json!([]), &json!(["shell"])));
    assert_eq!(object["text"], "Written.");
    assert_eq!((&object["success"], &object["message"]), (&json!(true), &json!("Written.")));
    assert_eq!((&object["model_calls"], &object["tool_calls"]), (&json!(4), &json!(1)));
    assert!(object["usage"]["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(object["run_id"], home.newest());
}

#[test]
fn stream_json_begins_with_the_session_and_ends_with_the_result() {
    let home = Home::scripted(&planned());
    let ran = home.run(["run", "--output-format", "stream-json", "write"]).ends_with(0);
    let lines = ran.lines();
    let session = json!({"type": "session", "run_id": home.newest(), "would_ask": ["shell"]});
    assert_eq!(lines[0], session);
    let last = lines.last().unwrap();
    assert_eq!((&last["type"], &last["text"]), (&json!("result"), &json!("Written.")));
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    for kind in ["step.started", "message.completed", "plan.created", "tool.completed"] {
        assert!(kinds.contains(&kind), "{kind} is not in {kinds:?}");
    }
    assert!(lines.iter().all(|line| line["run_id"] == lines[0]["run_id"]));
}

#[test]
fn text_keeps_stdout_for_the_answer_alone() {
    let home = Home::scripted(&planned());
    let ran = home.run(["run", "write"]).ends_with(0);
    assert_eq!(ran.stdout, "Written.\n");
    let ran = ran.says(&["started", "Plan v1", "write a file", "write_file"]);
    assert!(!ran.stderr.contains("Written."));
    let quiet = home.run(["run", "--quiet", "write"]).ends_with(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("Written.\n", ""));
}

#[test]
fn a_run_ends_with_one_line_of_numbers_on_stderr() {
    let last = |lang: &str, more: &[&str]| {
        let home = Home::scripted(&planned()).with("EVERLOOP_LANG", lang);
        let ran = home.run(["run", "write"].iter().chain(more)).ends_with(0);
        ran.stderr.lines().last().unwrap_or_default().to_owned()
    };
    let english = last("en", &[]);
    assert!(english.starts_with("succeeded · 4 model calls · 1 tool call · "), "{english}");
    assert!(english.contains(" tokens (") && english.ends_with(" s"), "{english}");
    let chinese = last("zh-CN", &[]);
    assert!(chinese.starts_with("成功 · 4 次模型调用 · 1 次工具调用 · "), "{chinese}");
    assert!(chinese.contains(" token（缓存 ") && chinese.ends_with(" 秒"), "{chinese}");
    for format in ["json", "stream-json"] {
        assert!(!last("en", &["--output-format", format]).contains("model calls"));
    }
}

#[test]
fn a_pipe_sees_no_line_that_is_rewritten() {
    let home = Home::scripted(&[json!({"text": "a long answer", "chunk": 1, "delay_ms": 1})]);
    let ran = home.run(["run", "--loop", "react", "say"]).ends_with(0);
    assert!(!ran.stderr.contains(['\r', '\u{1b}']), "{:?}", ran.stderr);
    assert!(!ran.stderr.contains("thinking "), "{:?}", ran.stderr);
}

#[test]
fn runs_are_listed_newest_first_and_page_by_page() {
    let home = Home::scripted(&[says("done")]);
    let goals = ["one", "two", "three", "four", "five"];
    for goal in goals {
        home.run(["run", "--loop", "react", goal]).ends_with(0);
    }
    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    let mut pages = 0;
    loop {
        let mut args = vec!["runs", "list", "--json", "--limit", "2"];
        if let Some(cursor) = &cursor {
            args.extend(["--cursor", cursor]);
        }
        let page = home.run(args).ends_with(0).json();
        assert_eq!(sorted(keys(&page)), ["data", "next_cursor"]);
        for run in page["data"].as_array().unwrap() {
            for field in ["run_id", "status", "loop", "goal", "created_at"] {
                assert!(run[field].is_string(), "{field} of {run}");
            }
            seen.push(run["goal"].as_str().unwrap().to_owned());
        }
        pages += 1;
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(
        (seen, pages),
        (vec!["five", "four", "three", "two", "one"].into_iter().map(str::to_owned).collect(), 3)
    );
    let failed = home.run(["runs", "list", "--json", "--status", "failed"]).ends_with(0).json();
    assert_eq!(failed, json!({"data": [], "next_cursor": null}));
    home.run(["runs", "list", "--status", "sleeping"]).ends_with(2).says(&["waiting", "canceled"]);
}

#[test]
fn the_last_page_that_is_full_has_no_cursor() {
    let home = Home::scripted(&[says("done")]);
    for goal in ["one", "two"] {
        home.run(["run", "--loop", "react", goal]).ends_with(0);
    }
    let page = home.run(["runs", "list", "--json", "--limit", "2"]).ends_with(0).json();
    assert_eq!((page["data"].as_array().unwrap().len(), &page["next_cursor"]), (2, &json!(null)));
}

#[test]
fn an_empty_home_lists_nothing_and_says_what_to_try() {
    let home = Home::new();
    let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
    assert_eq!(list, json!({"data": [], "next_cursor": null}));
    assert!(home.run(["runs", "list"]).ends_with(0).stdout.contains("No runs yet"));
}

#[test]
fn one_run_is_shown_with_its_counts_plan_and_text() {
    let home = Home::scripted(&planned());
    home.run(["run", "write"]).ends_with(0);
    let id = home.newest();
    let shown = home.show(&id);
    for field in ["run_id", "status", "loop", "goal", "created_at"] {
        assert!(shown[field].is_string(), "{field} of {shown}");
    }
    assert_eq!(
        shown["plan"],
        json!([{"text": "write a file", "state": "completed", "evidence": [9]}])
    );
    assert_eq!((&shown["text"], &shown["model_calls"]), (&json!("Written."), &json!(4)));
    // The end of an id is enough, and a wrong one says what to do.
    assert_eq!(home.show(&id[id.len() - 6..])["run_id"], json!(id));
    home.run(["runs", "show", "nosuchrun"]).ends_with(2).says(&["runs list"]);
    let text = home.run(["runs", "show", &id]).ends_with(0).stdout;
    assert!(text.contains("Written.") && text.contains("succeeded"), "{text}");
}

#[test]
fn events_are_read_on_from_where_a_reader_stopped() {
    let home = Home::scripted(&planned());
    home.run(["run", "write"]).ends_with(0);
    let id = home.newest();
    let all = home.events(&id);
    let seqs: Vec<i64> = all.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
    assert!(seqs.is_sorted());
    let middle = seqs[seqs.len() / 2];
    let rest = home.run(["runs", "events", &id, "--after", &middle.to_string()]).lines();
    let expected: Vec<Value> =
        all.iter().filter(|event| event["seq"].as_i64().unwrap() > middle).cloned().collect();
    assert_eq!(rest, expected);
    assert_eq!(all[0]["type"], "run.started");
    assert_eq!(all.last().unwrap()["type"], "run.succeeded");
}

#[test]
fn the_journal_reads_as_a_story_and_shows_the_state_at_any_entry() {
    let home = Home::scripted(&planned());
    home.run(["run", "write"]).ends_with(0);
    let id = home.newest();
    let story = home.run(["replay", &id]).ends_with(0).stdout;
    for words in ["created (plan-replan): write", "plans to call write_file", "ended: succeeded"] {
        assert!(story.contains(words), "{words} is not in {story}");
    }
    let state = home.run(["replay", &id, "--at", "5"]).ends_with(0).stdout;
    assert!(state.contains("state after event 5") && state.contains("[user]"), "{state}");
    home.run(["replay", &id, "--at", "999"]).ends_with(2).says(&["the last one is"]);
    let verdict = home.run(["replay", &id, "--verify"]).ends_with(0).stdout;
    assert!(verdict.starts_with("Verified: all"), "{verdict}");
    assert!(verdict.contains("Not checked"), "{verdict}");
}

#[test]
fn json_of_a_run_that_needs_a_person_says_so() {
    let home = Home::scripted(&[calls("shell", json!({"command": "true"}))]);
    let args = ["run", "--loop", "react", "--output-format", "json", "touch"];
    let object = home.run(args).ends_with(3).json();
    assert_eq!(object["status"], "waiting");
    assert!(object["text"].as_str().unwrap().starts_with("Allow shell to run?"), "{object}");
}

#[test]
fn a_changed_plan_is_told_with_what_is_new_in_it() {
    let home = Home::scripted(&[
        plan(&["read the list", "sum it up"]),
        thought("read"),
        replanned(&[("read the list", true), ("clean the numbers", false)]),
        thought("cleaned"),
        done("Done."),
    ]);
    let told = home.run(["run", "sum up the list"]).ends_with(0);
    told.says(&["✎ Plan changed to v2: next: clean the numbers"]);
}

#[test]
fn stream_json_and_runs_events_show_the_same_events() {
    let home = Home::scripted(&planned());
    let ran = home.run(["run", "--output-format", "stream-json", "write"]).ends_with(0);
    let lines = ran.lines();
    let is_durable = |line: &&Value| line.get("ts").is_some();
    let live: Vec<&Value> = lines.iter().filter(is_durable).collect();
    let later = home.events(&home.newest());
    assert_eq!(live, later.iter().collect::<Vec<_>>());
    let deltas = lines[1..lines.len() - 1].iter().filter(|line| line.get("ts").is_none());
    let asked = of_type(&later, "step.started");
    let belongs = |delta: &Value| asked.iter().any(|step| step["seq"] == delta["seq"]);
    assert!(deltas.into_iter().all(belongs), "a delta belongs to no call");
}
