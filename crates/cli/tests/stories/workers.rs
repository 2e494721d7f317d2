//! Workers: what they pick up by themselves, and that there is one of them.

use crate::support::{Home, calls, eventually, says, short};
use rustix::process::Signal;
use serde_json::json;

const STREAM: [&str; 5] = ["run", "--loop", "react", "--output-format", "stream-json"];

/// A run whose process was killed while the model spoke.
fn interrupted(home: &Home, goal: &str) -> String {
    home.rewrite(&[json!({"text": "done", "delay_ms": 600_000})]);
    let mut run = home.spawn(STREAM.iter().chain([&goal]));
    run.until("step.started");
    run.kill9();
    home.newest()
}

#[test]
fn a_draining_worker_finishes_interrupted_and_queued_runs_and_says_so() {
    let home = Home::scripted(&[]);
    let first = interrupted(&home, "first");
    // The second one is killed while another process drives, so it is only queued.
    let mut busy = home.spawn(["runs", "resume", &first]);
    busy.until("Recovered");
    let mut waits = home.spawn(["run", "--loop", "react", "second"]);
    waits.until("is saved and waits");
    waits.kill9();
    let second = home.newest();
    assert_eq!(home.status(&second), "queued");
    busy.kill9();
    home.rewrite(&[says("done")]);
    let drained = home.run(["worker", "--drain"]).ends_with(0);
    assert!(drained.stdout.is_empty());
    drained.says(&[
        &format!("Resuming an interrupted run, {first}: first"),
        &format!("{first} ended: succeeded"),
        &format!("{second} ended: succeeded"),
    ]);
    for run in [first, second] {
        assert_eq!(home.show(&run)["text"], "done");
        home.verified(&run);
    }
}

#[test]
fn row_08_a_worker_drives_what_comes_and_a_second_one_names_it_and_leaves() {
    let home = Home::scripted(&[]);
    let first = interrupted(&home, "first");
    home.rewrite(&[says("done")]);
    let mut worker = home.spawn(["worker"]);
    worker.until("Resuming an interrupted run");
    worker.until(&format!("{first} ended: succeeded"));
    let pid = worker.pid().to_string();
    home.run(["worker"]).ends_with(6).says(&[&pid]);
    home.run(["worker", "--drain"]).ends_with(6).says(&[&pid]);
    // A run that another process starts is driven by the worker and followed by its own process.
    let ran = home.run(["run", "--loop", "react", "second"]).ends_with(0);
    assert_eq!(ran.stdout, "done\n");
    ran.says(&[&format!("pid {pid}")]);
    worker.until("ended: succeeded");
    worker.signal(Signal::TERM);
    worker.ended().ends_with(143);
}

#[test]
fn a_second_run_waits_for_the_first_and_then_finishes() {
    let home =
        Home::scripted(&[calls("shell", json!({"command": "read line < gate"})), says("one")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut first = home.spawn(["run", "--loop", "react", "--yes", "first"]);
    first.until("shell");
    home.rewrite(&[says("two")]);
    let mut second = home.spawn(["run", "--loop", "react", "second"]);
    let told = second.until("is saved and waits");
    assert!(told.contains(&format!("pid {}", first.pid())), "{told}");
    std::fs::write(home.work("gate"), "go\n").unwrap();
    assert_eq!(first.ended().ends_with(0).stdout, "one\n");
    assert_eq!(second.ended().ends_with(0).stdout, "two\n");
}

#[test]
fn a_worker_ends_runs_that_another_process_cancels() {
    let home = Home::scripted(&[]);
    let id = interrupted(&home, "first");
    let mut worker = home.spawn(["worker"]);
    worker.until("started");
    home.run(["runs", "cancel", &id]).ends_with(0).says(&["was canceled"]);
    worker.until(&format!("{id} ended: canceled"));
    home.verified(&id);
}

#[test]
fn a_run_tells_of_others_that_were_interrupted() {
    let home = Home::scripted(&[]);
    let id = interrupted(&home, "the first goal");
    home.rewrite(&[says("done")]);
    let ran = home.run(["run", "--loop", "react", "second"]).ends_with(0);
    let id = short(&id);
    ran.says(&[id, "the first goal", &format!("everloop runs resume {id}")]);
}

#[test]
fn a_run_that_workers_never_get_further_with_is_put_aside_in_words_and_only_once() {
    let home = Home::scripted(&[]);
    let id = interrupted(&home, "first");
    for _ in 0..4 {
        let mut worker = home.spawn(["worker"]);
        worker.until(&format!("{id} started"));
        worker.kill9();
    }
    home.run(["worker", "--drain"]).ends_with(0).says(&["was quarantined", &id]);
    let shown = home.show(&id);
    assert_eq!(shown["status"], "quarantined");
    assert!(shown["text"].as_str().unwrap_or_default().contains("was quarantined"), "{shown}");
    home.rewrite(&[says("done")]);
    let ran = home.run(["run", "--loop", "react", "second"]).ends_with(0);
    assert!(!ran.stderr.contains(&id), "{}", ran.stderr);
    let again = home.run(["runs", "resume", &id]).ends_with(1);
    assert!(again.stdout.contains("was quarantined"), "{}", again.stdout);
}

#[test]
fn a_worker_that_is_stopped_politely_gives_its_runs_back_and_never_puts_them_aside() {
    let home = Home::scripted(&[]);
    let id = interrupted(&home, "first");
    for _ in 0..7 {
        let mut worker = home.spawn(["worker"]);
        worker.until(&format!("{id} started"));
        worker.signal(Signal::TERM);
        worker.ended().ends_with(143);
        assert_eq!(home.status(&id), "queued");
    }
    home.rewrite(&[says("done")]);
    home.run(["worker", "--drain"]).ends_with(0).says(&[&format!("{id} ended: succeeded")]);
    home.verified(&id);
}

#[test]
fn the_audit_of_an_old_run_says_as_much_as_before_its_journal_was_shortened() {
    let home = Home::scripted(&[calls("shell", json!({"command": "echo hi"})), says("Said.")]);
    home.run(["run", "--loop", "react", "--yes", "say hi"]).ends_with(0);
    let run = home.newest();
    // Which process took it up is known of a whole journal alone.
    let audit = || {
        let mut events = home.run(["audit", "--run", &run, "--json"]).ends_with(0).lines();
        events.retain(|event| event["what"] != "claimed");
        // A call's moment is that of its plan or of its start, a millisecond apart.
        for event in &mut events {
            let fields = event.as_object_mut().unwrap();
            ["ts", "time"].iter().for_each(|name| drop(fields.remove(*name)));
        }
        events
    };
    let before = audit();
    assert!(before.iter().any(|event| event["tool"] == "shell"), "{before:#?}");
    let told = home.run(["clean", "--set", "store.keep=0ms"]).ends_with(0).stdout;
    assert!(told.contains("Journals shortened: 1"), "{told}");
    let after = audit();
    assert_eq!(before, after);
    let story = home.run(["replay", &run]).ends_with(0).stdout;
    assert!(story.contains("shell"), "{story}");
}

#[test]
fn a_worker_shortens_old_journals_while_it_lives() {
    let home = Home::scripted(&[says("done")]);
    let worker = home.spawn(["worker", "--set", "store.keep=0ms"]);
    home.run(["run", "go"]);
    eventually("a short journal", || {
        let db = rusqlite::Connection::open(home.database()).ok()?;
        let count = "SELECT count(*) FROM runs WHERE trimmed_at IS NOT NULL";
        (db.query_row(count, [], |row| row.get::<_, i64>(0)) == Ok(1)).then_some(())
    });
    worker.signal(rustix::process::Signal::TERM);
    worker.ended().ends_with(143);
}

#[test]
fn runs_are_deleted_on_request_and_their_space_is_given_back() {
    let home = Home::scripted(&[says("done"), says("done")]);
    for goal in ["one", "two"] {
        home.run(["run", "--loop", "react", goal]).ends_with(0);
    }
    let two = home.newest();
    home.run(["runs", "delete", &two]).ends_with(3).says(&["--yes", "Nothing was deleted"]);
    let would = home.run(["runs", "delete", &two, "--dry-run"]).ends_with(0).stdout;
    assert!(would.contains("Would delete"), "{would}");
    let told = home.run(["runs", "delete", &two, "--yes", "--json"]).ends_with(0).json();
    assert_eq!((&told["run_id"], &told["result"]), (&json!(two), &json!("deleted")));
    home.run(["runs", "show", &two]).ends_with(2);
    let one = home.newest();
    let would = home.run(["clean", "--older-than", "0s", "--dry-run", "--json"]).ends_with(0);
    assert_eq!(would.json()["deleted"], json!([one]));
    home.run(["clean", "--older-than", "0s"]).ends_with(3);
    let zh = ["clean", "--older-than", "0s", "--yes", "--lang", "zh-CN"];
    let told = home.run(zh).ends_with(0).stdout;
    assert!(told.contains("删除 1 个任务"), "{told}");
    home.run(["runs", "show", &one]).ends_with(2);
    let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
    assert_eq!(list["data"], json!([]));
}

#[test]
fn a_run_that_has_not_ended_is_not_deleted() {
    let home = Home::scripted(&[calls("ask_user", json!({"question": "Which?"}))]);
    home.run(["run", "--loop", "react", "go"]).ends_with(3);
    let run = home.newest();
    let told = home.run(["runs", "delete", &run, "--yes"]).ends_with(1).stdout;
    assert!(told.contains("has not ended") && told.contains("cancel"), "{told}");
    assert_eq!(home.status(&run), "waiting");
}

#[test]
fn an_old_run_keeps_its_words_and_numbers_when_its_journal_is_trimmed() {
    let home = Home::scripted(&[calls("list_dir", json!({"path": "."})), says("Nothing there.")]);
    home.run(["run", "--loop", "react", "look"]).ends_with(0);
    let run = home.newest();
    let before = home.show(&run);
    home.run(["worker", "--drain", "--set", "store.keep=0ms"]).ends_with(0);
    let after = home.show(&run);
    for field in ["status", "text", "model_calls", "tool_calls", "usage"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    let verdict = home.run(["replay", "--verify", &run]).ends_with(1);
    assert!(verdict.stdout.starts_with("Cannot be verified"), "{}", verdict.stdout);
}

#[test]
fn a_goal_that_is_only_queued_waits_for_a_worker() {
    let home = Home::scripted(&[says("done")]);
    let queued = home.run(["run", "--loop", "react", "--background", "go"]).ends_with(0);
    let id = queued.stdout.trim_end().to_owned();
    queued.says(&["Queued", "No worker is running", "everloop worker"]);
    assert_eq!(home.status(&id), "queued");
    home.run(["worker", "--drain"]).ends_with(0).says(&[&format!("{id} ended: succeeded")]);
    assert_eq!(home.show(&id)["text"], "done");
    let mut worker = home.spawn(["worker"]);
    worker.until("Ready");
    let args = ["run", "--loop", "react", "--background", "--output-format", "json", "go"];
    let queued = home.run(args).ends_with(0);
    assert!(!queued.stderr.contains("No worker"), "{}", queued.stderr);
    let queued = queued.json();
    assert_eq!(queued["status"], "queued");
    worker.until(&format!("{} ended: succeeded", queued["run_id"].as_str().unwrap()));
    let zh = home.run(["--lang", "zh-CN", "run", "--background", "go"]).ends_with(0);
    assert!(zh.stderr.contains("已排队"), "{}", zh.stderr);
}
