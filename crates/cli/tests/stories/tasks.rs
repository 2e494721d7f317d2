//! Runs of a fixed type from the command line, retries, and the conversations that tell of ends.

use crate::support::{Home, eventually, says};
use serde_json::{Value, json};

fn conversations(home: &Home) -> Vec<Value> {
    let listed = home.run(["conversations", "list", "--all", "--json"]).ends_with(0).json();
    listed["data"].as_array().cloned().unwrap_or_default()
}

#[test]
fn a_wait_survives_the_death_of_its_worker_and_tells_of_its_end_in_a_conversation_of_its_own() {
    let home = Home::scripted(&[says("never asked")]);
    let args = ["run", "--type", "sleep", "--input", r#"{"seconds":2}"#, "--title", "nap"];
    let queued = home.run(args.into_iter().chain(["--background"])).ends_with(0);
    let id = queued.stdout.trim_end().to_owned();
    let mut worker = home.spawn(["worker"]);
    worker.until("Ready");
    eventually("the run sleeps", || (home.status(&id) == "waiting").then_some(()));
    worker.kill9();
    assert!(matches!(home.status(&id).as_str(), "waiting" | "queued"));
    let mut worker = home.spawn(["worker"]);
    worker.until(&format!("{id} ended: succeeded"));
    let shown = home.show(&id);
    assert_eq!((&shown["run_type"], &shown["title"]), (&json!("sleep"), &json!("nap")));
    assert_eq!(shown["text"], "The wait of 2 s is over.");
    let told = conversations(&home);
    let told: Vec<&Value> =
        told.iter().filter(|one| one["title"] == "Task completed: nap").collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["has_unread"], &told[0]["channel_type"]), (&json!(true), &json!("task")));
    let list = home.run(["runs"]).ends_with(0);
    assert!(list.stdout.contains("sleep") && list.stdout.contains("nap"), "{}", list.stdout);
}

#[test]
fn a_task_in_the_foreground_ends_here_and_a_bad_input_is_refused_in_words() {
    let home = Home::scripted(&[says("never asked")]);
    let slept = home.run(["run", "--type", "sleep", "--input", r#"{"seconds":0}"#]).ends_with(0);
    assert!(slept.stdout.contains("The wait of 0 s is over."), "{}", slept.stdout);
    for (args, words) in [
        (&["--type", "fly"][..], "There is no run type fly"),
        (&["--type", "sleep"], "missing field `seconds`"),
        (&["--type", "sleep", "--input", "{"], "--input is not JSON"),
        (&["--type", "sleep", "--input", r#"{"seconds":1,"x":2}"#], "unknown field `x`"),
        (&["--type", "sleep", "--input", r#"{"seconds":99999999}"#], "tasks.max_sleep"),
        (&["--type", "fetch_web", "--input", r#"{"url":"ftp://a"}"#], "http or https"),
        (&["--type", "agent", "--input", r#"{"goal":" "}"#], "goal: is empty"),
        (&["--type", "agent", "--input", r#"{"goal":"x","loop":"task"}"#], "Unknown loop task"),
        (&["--type", "summarize_conversation"], "conversation_id: is missing"),
    ] {
        let args: Vec<&str> = ["run"].iter().chain(args).copied().collect();
        home.run(args).ends_with(2).says(&[words]);
    }
    assert_eq!(home.run(["runs", "--json"]).ends_with(0).json()["data"][1], Value::Null);
}

#[test]
fn a_folder_is_indexed_and_a_conversation_summarized() {
    let home = Home::scripted(&[says("It was about cranes.")]);
    std::fs::write(home.work("a.txt"), "a crane stands here\n").unwrap();
    let indexed = home.run(["run", "--type", "index_repo"]).ends_with(0);
    assert!(indexed.stdout.contains("Indexed"), "{}", indexed.stdout);
    home.run(["run", "--loop", "react", "tell me of cranes"]).ends_with(0);
    let talk = conversations(&home);
    let talk = talk.iter().find(|one| one["title"] == "tell me of cranes").expect("listed");
    let input = json!({"conversation_id": talk["conversation_id"]}).to_string();
    let summed =
        home.run(["run", "--type", "summarize_conversation", "--input", &input]).ends_with(0);
    assert!(summed.stdout.contains("It was about cranes."), "{}", summed.stdout);
    let run = home.newest();
    assert_eq!(home.show(&run)["loop"], "task");
    home.run(["fork", &run]).ends_with(2).says(&["everloop runs retry"]);
}

#[test]
fn a_run_that_has_ended_is_done_again_as_a_new_one_and_one_that_works_is_not() {
    let home = Home::scripted(&[says("first"), says("second")]);
    home.run(["run", "--loop", "react", "go"]).ends_with(0);
    let first = home.newest();
    let journal = home.run(["runs", "events", &first]).ends_with(0).stdout;
    home.run(["runs", "retry", &first, "--key", "k"]).ends_with(0);
    let second = home.newest();
    let shown = home.show(&second);
    assert_eq!((&shown["retry_of"], &shown["goal"]), (&json!(first), &json!("go")));
    assert_eq!(home.show(&first)["retries"], json!([second]));
    assert_eq!(home.run(["runs", "events", &first]).ends_with(0).stdout, journal);
    home.run(["runs", "retry", &first, "--key", "k", "--background"]).ends_with(0);
    assert_eq!(home.newest(), second, "one key makes one run");
    let queued =
        home.run(["run", "--type", "sleep", "--input", r#"{"seconds":60}"#, "--background"]);
    let waits = queued.ends_with(0).stdout.trim_end().to_owned();
    home.run(["runs", "retry", &waits]).ends_with(2).says(&["has not ended (queued)"]);
    home.run(["worker", "--drain"]).ends_with(0);
    assert_eq!(home.status(&waits), "waiting");
    home.run(["runs", "cancel", &waits]).ends_with(0);
    assert_eq!(home.status(&waits), "canceled");
    let titles: Vec<Value> = conversations(&home).iter().map(|one| one["title"].clone()).collect();
    assert!(titles.contains(&json!("Task canceled: Wait 60 seconds")), "{titles:?}");
    let again = home.run(["runs", "retry", &waits, "--background"]).ends_with(0);
    let again = again.stdout.trim_end().to_owned();
    let shown = home.show(&again);
    assert_eq!((&shown["run_type"], &shown["retry_of"]), (&json!("sleep"), &json!(waits)));
    home.run(["runs", "cancel", &again]).ends_with(0);
}
