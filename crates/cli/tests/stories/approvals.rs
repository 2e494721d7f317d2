//! Permission: nothing dangerous runs without it.

use crate::support::{Home, calls, done, goes_on, of_type, plan, says, short, thought};
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
        let words = ["Run this command?", "echo x >> made", "--answer"];
        asked.says(&words).says(&[&format!("everloop runs resume {}", short(&run))]);
        let ended = home.run(["runs", "resume", &run, "--answer", "y"]).ends_with(0);
        assert_eq!((ended.stdout.as_str(), home.read("made").as_str()), ("I am done.\n", "x\n"));
        home.verified(&run);
    }
}

#[test]
fn a_no_denies_and_the_model_is_told_why() {
    for answer in ["n", "no", "yes, but in another folder", "不，换个目录"] {
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
fn no_flag_covers_a_command_without_a_sandbox() {
    let home = Home::scripted(&touching());
    let asked = home.run(RUN.iter().chain(&["--yes"]).chain(&BARE)).ends_with(3);
    assert!(!home.work("made").exists());
    let run = asked.stdout.trim().to_owned();
    asked.says(&["tools.shell_sandbox = off", "this command is not sandboxed"]);
    assert_eq!(home.status(&run), "waiting");
    let answer = ["runs", "resume", &run, "--answer", "y"];
    home.run(answer.iter().chain(&BARE)).ends_with(0);
    assert_eq!(home.read("made"), "x\n");
    home.verified(&run);
}

/// The tool is another one than the person was asked about, so the grant lapses.
#[test]
fn a_yes_to_a_command_in_a_sandbox_is_none_to_the_same_without() {
    let home = Home::scripted(&touching());
    let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
    let answer = ["runs", "resume", &run, "--answer", "y"];
    let again = home.run(answer.iter().chain(&BARE)).ends_with(3);
    assert!(!home.work("made").exists());
    again.says(&["this command is not sandboxed"]);
    home.run(answer.iter().chain(&BARE)).ends_with(0);
    assert_eq!(home.read("made"), "x\n");
    home.verified(&run);
}

fn writes(path: &str) -> Value {
    calls("write_file", json!({ "path": path, "content": "x" }))
}

fn configured(home: &Home, text: &str) {
    std::fs::write(home.data().join("config.toml"), text).unwrap();
}

const RULES: &str = r#"
[[approvals.rules]]
tool = "write_file"
decision = "ask"
arg = "path"
matches = "src/**"
match = ["src/a"]

[[approvals.rules]]
tool = "*"
decision = "deny"
arg = "path"
matches = "**/secret*"
match = ["src/secret.txt"]

[[approvals.rules]]
tool = "shell"
decision = "allow"
"#;

#[test]
fn rules_allow_ask_and_deny_and_a_denial_wins_over_yes() {
    let replies = [
        writes("a.txt"),
        writes("src/secret.txt"),
        calls("read_file", json!({ "path": "./x/../secret.txt" })),
        calls("shell", json!({ "command": "echo x >> made" })),
        writes("src/b.txt"),
        says("Done."),
    ];
    for yes in [&["--yes"][..], &[]] {
        let home = Home::scripted(&replies);
        configured(&home, RULES);
        std::fs::create_dir(home.work("src")).unwrap();
        let ran = home.run(RUN.iter().chain(yes)).ends_with(if yes.is_empty() { 3 } else { 0 });
        let run = home.newest();
        let events = home.events(&run);
        let denied = of_type(&events, "tool.failed");
        assert_eq!(denied.len(), 2, "{denied:?}");
        for event in denied {
            assert_eq!(event["ending"], "denied");
            assert!(event["result"].as_str().unwrap().contains("the rule * path = **/secret*"));
        }
        assert_eq!((home.read("a.txt").as_str(), home.read("made").as_str()), ("x", "x\n"));
        assert!(!home.work("src/secret.txt").exists());
        if yes.is_empty() {
            let scope = "always = write_file on src/b.txt, with any content";
            ran.says(&["Create src/b.txt?", "src/b.txt", scope]);
            assert!(!home.work("src/b.txt").exists());
            home.run(["runs", "resume", &run, "--answer", "y"]).ends_with(0);
        }
        assert_eq!(home.read("src/b.txt"), "x");
        home.verified(&run);
    }
}

/// Rules are frozen with the run: what the file says later is for later runs.
#[test]
fn a_run_keeps_the_rules_that_it_was_created_with() {
    let home = Home::scripted(&[writes("src/a"), writes("src/secret"), says("Done.")]);
    configured(&home, RULES);
    std::fs::create_dir(home.work("src")).unwrap();
    let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
    configured(&home, "");
    home.run(["runs", "resume", &run, "--answer", "y"]).ends_with(0);
    assert_eq!(home.read("src/a"), "x");
    assert!(!home.work("src/secret").exists());
    home.verified(&run);
}

#[test]
fn a_rule_with_a_wrong_example_is_a_fault_with_its_line() {
    let home = Home::scripted(&touching());
    configured(
        &home,
        "[[approvals.rules]]\ntool = \"write_file\"\ndecision = \"allow\"\n\
                       arg = \"path\"\nmatches = \"src/*\"\nmatch = [\"src/a/b\"]\n",
    );
    home.run(RUN).ends_with(5).says(&["line 1", "write_file path = src/*", "src/a/b"]);
    configured(&home, "[[approvals]]\ntool = \"shell\"\ndecision = \"deny\"\n");
    home.run(RUN).ends_with(5).says(&["[[approvals.rules]]"]);
}

/// Always covers the same call in the same folder, in later runs too, until it is withdrawn.
#[test]
fn always_is_kept_for_the_same_call_and_can_be_withdrawn() {
    for word in ["always", "总是"] {
        let home = Home::scripted(&touching());
        let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
        home.run(["runs", "resume", &run, "--answer", word]).ends_with(0);
        let given = of_type(&home.events(&run), "tool.approved")[0]["by"].clone();
        assert!(given.as_str().unwrap().starts_with("user, always: "), "{given}");
        home.run(RUN).ends_with(0);
        assert_eq!(home.read("made"), "x\nx\n");
        let list = home.run(["approvals", "list", "--json"]).ends_with(0).json();
        let one = &list["data"][0];
        assert_eq!((&one["tool"], &one["by"]), (&json!("shell"), &json!("user")));
        assert_eq!(one["resource"], "args:{\"command\":\"echo x >> made\"}");
        let id = one["id"].as_str().unwrap();
        assert!(home.run(["approvals"]).ends_with(0).stdout.contains(id));
        // Another command is another matter, and so is the same one without a sandbox.
        home.run(RUN.iter().chain(&BARE)).ends_with(3).says(&["not sandboxed"]);
        home.rewrite(&[calls("shell", json!({"command": "echo y >> made"})), says("no")]);
        home.run(RUN).ends_with(3).says(&["echo y"]);
        home.rewrite(&touching());
        home.run(["approvals", "remove", id]).ends_with(0).says(&["Withdrawn: shell"]);
        home.run(["approvals", "remove", id]).ends_with(2);
        home.run(RUN).ends_with(3);
    }
}

#[test]
fn a_run_that_nobody_attends_says_what_needs_a_person_and_may_deny_it() {
    let home = Home::scripted(&touching());
    home.run(RUN).ends_with(3).says(&["Not a terminal", "shell", "waits"]);
    let json = home.run(RUN.iter().chain(&["--output-format", "json"])).ends_with(3).json();
    assert_eq!(json["needs_person"], json!(["shell"]));
    assert_eq!(json["question"]["id"], json["approval"]["question"]);
    let chinese = home.run(RUN.iter().chain(&["--lang", "zh-CN"])).ends_with(3);
    chinese.says(&["现在不是交互终端", "shell"]);
    let deny = ["--set", "approvals.unattended=deny"];
    home.run(RUN.iter().chain(&deny)).ends_with(0).says(&["are denied", "shell"]);
    assert!(!home.work("made").exists());
    let events = home.events(&home.newest());
    let told = of_type(&events, "tool.failed")[0]["result"].as_str().unwrap().to_owned();
    assert!(told.contains("nobody is there"), "{told}");
}

#[test]
fn what_a_person_would_not_see_is_spelled_out_in_the_question() {
    let command = format!("ls \u{202e}txt.esaelp\u{202c};{}rm -rf x", " ".repeat(500));
    let home = Home::scripted(&[calls("shell", json!({ "command": command })), says("No.")]);
    let asked = home.run(RUN).ends_with(3);
    assert!(!asked.stderr.contains('\u{202e}'), "{}", asked.stderr);
    asked.says(&["ls \\u{202e}txt.esaelp\\u{202c};", "[+460 blank]rm -rf x"]);
}

#[test]
fn a_file_that_others_take_instructions_from_is_asked_about_unless_it_is_allowed() {
    let write = |path: &str| {
        let content = json!({ "path": path, "content": "x" });
        Home::scripted(&[calls("write_file", content), says("Done.")])
    };
    write("notes.md").run(RUN).ends_with(0);
    for path in ["AGENTS.md", ".vscode/tasks.json", ".husky/pre-commit"] {
        let home = write(path);
        home.run(RUN).ends_with(3).says(&[&format!("Create {path}?")]);
        assert!(!home.work(path).exists());
        let home = write(path);
        home.run(RUN.iter().chain(&["--yes"])).ends_with(0);
        assert!(home.work(path).exists());
        let home = write(path);
        let rule = "[[approvals.rules]]\ntool = \"write_file\"\ndecision = \"allow\"\n";
        std::fs::write(home.data().join("config.toml"), rule).unwrap();
        home.run(RUN).ends_with(0);
        assert!(home.work(path).exists());
    }
}

#[test]
fn an_answer_to_a_question_that_is_over_answers_no_other_one() {
    let touch = |name: &str| calls("shell", json!({"command": format!("touch {name}")}));
    let home = Home::scripted(&[touch("E1"), touch("E2"), says("done")]);
    let asked = home.run(["run", "--loop", "react", "go"]).ends_with(3);
    let line = asked.stderr.lines().last().unwrap();
    let to = line.split(" --to ").nth(1).expect("the line names the question");
    let id = home.newest();
    let answer = ["runs", "resume", &id, "--answer", "y", "--to", to];
    home.run(answer).ends_with(3).says(&["The answer to: Run this command?", "touch E1"]);
    let late = home.run(answer).ends_with(2);
    late.says(&["now asks another one", "touch E2"]);
    let zh = home.run(answer.iter().chain(&["--lang", "zh-CN"])).ends_with(2);
    zh.says(&["现在问的是另一个"]);
    assert!(home.work("E1").exists() && !home.work("E2").exists());
}
