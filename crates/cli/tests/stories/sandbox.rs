//! The sandbox and the rules for commands, as a person meets them.

use crate::support::{Home, calls, of_type, says};
use serde_json::{Value, json};

const RUN: [&str; 4] = ["run", "--loop", "react", "touch a file"];

fn with_rules(command: &str, rules: &str) -> Home {
    let home = Home::scripted(&[calls("shell", json!({ "command": command })), says("Done.")]);
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(home.data().join("config.toml"), rules).unwrap();
    home
}

const ALLOW: &str = r#"
[[tools.shell_rules]]
allow = "touch *"
match = ["touch a b"]
no_match = ["touch a > b"]
"#;

const DENY: &str = r#"
[[tools.shell_rules]]
deny = "touch *"
match = ["touch a b", "echo $(touch a)"]
"#;

#[test]
fn a_rule_allows_a_command_without_a_question() {
    let home = with_rules("touch made", ALLOW);
    home.run(RUN).ends_with(0);
    assert!(home.work("made").exists());
    home.verified(&home.newest());
    let other = with_rules("touch made; echo x > other", ALLOW);
    other.run(RUN).ends_with(3).says(&["Run this command?"]);
    assert!(!other.work("made").exists());
}

#[test]
fn a_rule_does_not_allow_a_command_without_a_sandbox() {
    let home = with_rules("touch made", ALLOW);
    let bare = ["--yes", "--set", "tools.shell_sandbox=off"];
    home.run(RUN.iter().chain(&bare)).ends_with(3).says(&["not sandboxed"]);
    assert!(!home.work("made").exists());
}

#[test]
fn a_rule_denies_a_command_whatever_else_allows_it() {
    let home = with_rules("echo x; touch made", &format!("{ALLOW}{DENY}"));
    home.run(RUN.iter().chain(&["--yes"])).ends_with(0);
    assert!(!home.work("made").exists());
    let events = home.events(&home.newest());
    let denied = of_type(&events, "tool.failed");
    assert_eq!(denied[0]["ending"], "denied");
    assert!(denied[0]["result"].as_str().unwrap().contains("touch *"));
}

#[test]
fn a_command_whose_program_nobody_knows_is_asked_about_where_some_are_denied() {
    let home = with_rules("x=touch; $x made", &format!("{ALLOW}{DENY}"));
    home.run(RUN.iter().chain(&["--yes"]))
        .ends_with(3)
        .says(&["Everloop cannot tell which program this runs"]);
    assert!(!home.work("made").exists());
    let home = with_rules("x=touch; $x made", ALLOW);
    home.run(RUN.iter().chain(&["--yes"])).ends_with(0);
    assert!(home.work("made").exists());
}

#[test]
fn a_rule_that_does_not_fit_its_example_is_an_error_with_its_line() {
    let wrong = "\n[[tools.shell_rules]]\nallow = \"git *\"\nmatch = [\"git log; ls\"]\n";
    let home = with_rules("true", wrong);
    home.run(RUN).ends_with(5).says(&["config.toml, line 2", "git *", "git log; ls"]);
    let seen = home.run(["doctor", "--json"]).ends_with(5).json();
    assert!(seen["config_faults"][0].as_str().unwrap().contains("line 2"));
}

#[test]
fn the_doctor_tries_each_part_of_the_sandbox() {
    let home = Home::scripted(&[]);
    let seen = home.run(["doctor", "--json"]).json();
    let checks = seen["checks"].as_array().unwrap();
    let state = |name: &str| {
        let of = |check: &&Value| check["name"] == name;
        checks.iter().find(of).unwrap()["state"].as_str().unwrap().to_owned()
    };
    for part in ["bubblewrap", "landlock", "seccomp"] {
        let works = seen[format!("sandbox_{part}")].as_bool().unwrap();
        assert_eq!(state(part), if works { "ok" } else { "note" });
    }
    if seen["sandbox_bubblewrap"] == true {
        assert_eq!(seen["sandbox"], "full");
    }
    let off = home.run(["doctor", "--json", "--set", "tools.shell_sandbox=off"]).json();
    assert_eq!(off["sandbox"], "off");
    let none = home.run_with(["doctor"], "PATH", "/nonexistent".as_ref());
    assert!(none.stdout.contains("bwrap is not installed"), "{}", none.stdout);
    assert!(none.stdout.contains("apt install bubblewrap"), "{}", none.stdout);
}

#[test]
fn a_command_sees_nothing_of_the_data_folder() {
    let home = with_rules("true", ALLOW);
    let file = home.data().join("config.toml");
    let look = format!("cat {} && touch escaped; touch looked", file.display());
    home.rewrite(&[calls("shell", json!({ "command": look })), says("Done.")]);
    home.run(RUN.iter().chain(&["--yes"])).ends_with(0);
    assert!(home.work("looked").exists() && !home.work("escaped").exists());
}

#[test]
fn a_command_in_the_home_makes_no_settings_for_later_runs() {
    let steal = "mkdir -p .config/everloop; echo '[model]' > .config/everloop/config.toml; \
        mv .config aside; touch looked";
    let mut home = Home::scripted(&[calls("shell", json!({ "command": steal })), says("Done.")]);
    home.unset("EVERLOOP_HOME");
    let work = home.work("").display().to_string();
    home.set("HOME", work.trim_end_matches('/'));
    home.run(RUN.iter().chain(&["--yes"])).ends_with(0);
    assert!(home.work("looked").exists() && !home.work("aside").exists());
    assert!(!home.work(".config/everloop/config.toml").exists());
    // Where our files lie in the workspace itself, a missing one cannot be hidden.
    home.set("EVERLOOP_HOME", &work);
    home.run(RUN.iter().chain(&["--yes"])).ends_with(3).says(&["not sandboxed"]);
}

#[test]
fn a_file_that_holds_a_key_is_hidden_from_commands_and_tools() {
    let look = "cat kf && touch escaped; touch looked";
    let replies = [
        calls("shell", json!({ "command": look })),
        calls("read_file", json!({ "path": "kf" })),
        says("Done."),
    ];
    let home = Home::scripted(&replies);
    std::fs::write(home.work("kf"), "sk-planted-0123456789").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(home.work("kf"), mode).unwrap();
    let key = format!("model.key=file:{}", home.work("kf").display());
    home.run(RUN.iter().chain(&["--yes", "--set", &key])).ends_with(0);
    assert!(home.work("looked").exists() && !home.work("escaped").exists());
    let events = home.events(&home.newest());
    let failed = of_type(&events, "tool.failed");
    assert!(failed[0]["result"].as_str().unwrap().contains("belongs to everloop itself"));
}
