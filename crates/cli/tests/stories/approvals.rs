//! Permission: nothing dangerous runs without it.

use crate::support::{Home, calls, done, goes_on, of_type, plan, says, thought};
use serde_json::{Value, json};

const RUN: [&str; 4] = ["run", "--loop", "react", "touch a file"];

fn touching() -> Vec<Value> {
    vec![calls("shell", json!({"command": "echo x >> made"})), says("I am done.")]
}

#[test]
fn yes_approves_every_request_of_the_run() {
    let home = Home::scripted(&touching());
    let ran = home.run(RUN.iter().chain([&"--yes"])).ends_with(0);
    assert_eq!((ran.stdout.as_str(), home.read("made").as_str()), ("I am done.\n", "x\n"));
    home.verified(&home.newest());
}

#[test]
fn without_a_person_the_run_is_kept_and_its_id_printed() {
    for extra in [&[][..], &["--no-input"][..]] {
        let home = Home::scripted(&touching());
        let asked = home.run(RUN.iter().chain(extra)).ends_with(3);
        assert!(!home.work("made").exists());
        let run = asked.stdout.trim().to_owned();
        assert_eq!((home.newest(), home.status(&run).as_str()), (run.clone(), "waiting"));
        let words = ["Allow shell to run?", "echo x >> made", "--answer"];
        asked.says(&words).says(&[&format!("everloop runs resume {run}")]);
        let ended = home.run(["runs", "resume", &run, "--answer", "y"]).ends_with(0);
        assert_eq!((ended.stdout.as_str(), home.read("made").as_str()), ("I am done.\n", "x\n"));
        home.verified(&run);
    }
}

#[test]
fn any_other_answer_denies_and_the_model_is_told_why() {
    for answer in ["n", "no", "yes, but in another folder", "是的吗"] {
        let home = Home::scripted(&touching());
        let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
        home.run(["runs", "resume", &run, "--answer", answer]).ends_with(0);
        assert!(!home.work("made").exists());
        let events = home.events(&run);
        let denied = of_type(&events, "tool.failed");
        assert_eq!(denied[0]["ending"], "denied");
        assert!(denied[0]["result"].as_str().unwrap().contains(answer));
        home.verified(&run);
    }
}

#[test]
fn each_command_of_a_reply_is_asked_for_on_its_own() {
    let two = json!({"calls": [
        {"tool": "shell", "args": {"command": "echo a >> made"}},
        {"tool": "shell", "args": {"command": "echo b >> made"}},
    ]});
    let home = Home::scripted(&[two, says("done")]);
    let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
    home.run(["runs", "resume", &run, "--answer", "y"]).ends_with(3).says(&["echo b"]);
    assert_eq!(home.read("made"), "a\n");
    home.run(["runs", "resume", &run, "--answer", "no"]).ends_with(0);
    assert_eq!(home.read("made"), "a\n");
    home.verified(&run);
}

#[test]
fn a_worker_never_approves_by_itself() {
    let home = Home::scripted(&[
        plan(&["touch"]),
        goes_on("shell", json!({"command": "echo x >> made"})),
        thought("touched"),
        done("Done."),
    ]);
    let run = home.run(["run", "touch"]).ends_with(3).stdout.trim().to_owned();
    home.run(["worker", "--drain"]).ends_with(0);
    assert!(!home.work("made").exists());
    assert_eq!(home.status(&run), "waiting");
    home.run(["runs", "resume", &run, "--answer", "yes"]).ends_with(0);
    assert_eq!(home.read("made"), "x\n");
}

const BARE: [&str; 2] = ["--set", "tools.shell_sandbox=off"];

#[test]
fn no_flag_covers_a_command_without_walls() {
    let home = Home::scripted(&touching());
    let asked = home.run(RUN.iter().chain(&["--yes"]).chain(&BARE)).ends_with(3);
    assert!(!home.work("made").exists());
    let run = asked.stdout.trim().to_owned();
    asked.says(&["tools.shell_sandbox = off", "no wall stands around this command"]);
    assert_eq!(home.status(&run), "waiting");
    let answer = ["runs", "resume", &run, "--answer", "y"];
    home.run(answer.iter().chain(&BARE)).ends_with(0);
    assert_eq!(home.read("made"), "x\n");
    home.verified(&run);
}

#[test]
fn a_yes_to_a_command_behind_walls_is_none_to_the_same_without() {
    let home = Home::scripted(&touching());
    let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
    let answer = ["runs", "resume", &run, "--answer", "y"];
    home.run(answer.iter().chain(&BARE)).ends_with(0);
    assert!(!home.work("made").exists());
    let events = home.events(&run);
    let denied = of_type(&events, "tool.failed");
    assert_eq!(denied[0]["ending"], "denied");
    assert!(denied[0]["result"].as_str().unwrap().contains("none stands any more"));
    home.verified(&run);
}
