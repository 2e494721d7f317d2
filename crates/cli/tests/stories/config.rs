//! `everloop config`: settings are looked at, changed and repaired.

use crate::support::{Home, says};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const RUN: [&str; 4] = ["run", "--loop", "react", "go"];

fn file(home: &Home) -> PathBuf {
    home.data().join("config.toml")
}

fn text(home: &Home) -> String {
    std::fs::read_to_string(file(home)).unwrap_or_default()
}

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn rights(path: &std::path::Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_setting_is_written_read_and_taken_back_and_the_rest_of_the_file_stays() {
    let home = Home::new();
    let path = home.run(["config", "path"]).ends_with(0).stdout;
    assert_eq!(path.trim_end(), file(&home).to_str().unwrap());
    assert_eq!(home.run(["config", "get", "loop.max_steps"]).ends_with(0).stdout, "0\n");
    assert!(!file(&home).exists(), "looking writes nothing");
    home.run(["config", "set", "loop.max_steps", "7"])
        .ends_with(0)
        .says(&["loop.max_steps is now 7"]);
    assert_eq!(mode(&file(&home)), 0o600);
    let mine = format!("# mine\n{}", text(&home).replace("7", "7 # enough"));
    std::fs::write(file(&home), &mine).unwrap();
    home.run(["config", "set", "loop.max_steps", "9"]).ends_with(0);
    assert_eq!(text(&home), mine.replace("7", "9"));
    home.run(["config", "set", "model.patience", "3s"]).ends_with(0);
    assert_eq!(home.run(["config", "get", "model.patience"]).ends_with(0).stdout, "3s\n");
    home.run(["config", "unset", "model.patience"])
        .ends_with(0)
        .says(&["model.patience is now 8s"]);
    home.run(["config", "unset", "model.patience"]).ends_with(0).says(&["was not set"]);
    let left: Vec<_> = std::fs::read_dir(home.data()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "no temporary file is left: {left:?}");
}

#[test]
fn a_setting_that_was_written_is_in_force_at_the_next_run() {
    let home = Home::scripted(&[says("done")]);
    home.run(["config", "set", "loop.default", "react"]).ends_with(0);
    home.run(["run", "go"]).ends_with(0);
    assert_eq!(home.show(&home.newest())["loop"], "react");
}

#[test]
fn an_unknown_key_and_a_value_that_does_not_fit_are_named_and_nothing_is_written() {
    let home = Home::new();
    for args in [["set", "loop.max_stepz", "3"].as_slice(), &["get", "loop.max_stepz"]] {
        let args = ["config"].iter().chain(args);
        home.run(args).ends_with(2).says(&["Did you mean loop.max_steps?"]);
    }
    let many = ["config", "set", "loop.max_steps", "many"];
    home.run(many).ends_with(2).says(&["0..1000000"]);
    home.run(["config", "set", "store.database", "mysql://a/b"]).ends_with(2);
    home.run(["config", "unset", "loop.max_stepz"]).ends_with(2).says(&["loop.max_steps"]);
    let zh = home.run(many.iter().chain(&["--lang", "zh-CN"])).ends_with(2);
    zh.says(&["不能是", "0..1000000"]);
    assert!(!file(&home).exists());
    // What nobody knows but stands in the file can be taken out.
    std::fs::write(file(&home), "[loop]\nmax_stepz = 3\nmax_steps = 4\n").unwrap();
    home.run(["config", "unset", "loop.max_stepz"]).ends_with(0);
    assert_eq!(text(&home), "[loop]\nmax_steps = 4\n");
}

#[test]
fn what_overrides_the_file_is_told() {
    let home = Home::new().with("EVERLOOP_LOOP__MAX_STEPS", "5");
    let set = ["config", "set", "loop.max_steps", "7"];
    home.run(set).ends_with(0).says(&["EVERLOOP_LOOP__MAX_STEPS takes precedence", "still 5"]);
    let flag = ["--set", "loop.max_steps=6"];
    home.run(set.iter().chain(&flag)).ends_with(0).says(&["--set takes precedence", "still 6"]);
    let zh = home.run(set.iter().chain(&["--lang", "zh-CN"])).ends_with(0);
    zh.says(&["EVERLOOP_LOOP__MAX_STEPS 优先", "现在仍是 5"]);
    let home = Home::new().with("EVERLOOP_MODEL", "openai/a");
    let set = ["config", "set", "model.default", "openai/b"];
    home.run(set).ends_with(0).says(&["EVERLOOP_MODEL takes precedence", "still openai/a"]);
}

#[test]
fn show_names_the_layer_that_won_for_every_setting() {
    let home = Home::new().with("EVERLOOP_LOOP__REPETITIONS", "4");
    home.run(["config", "set", "loop.max_steps", "7"]).ends_with(0);
    let args = ["config", "show", "--origin", "--set", "model.attempts=2"];
    let shown = home.run(args).ends_with(0).stdout;
    let line = |key: &str| {
        let line = shown.lines().find(|line| line.starts_with(&format!("{key} ")));
        line.unwrap_or_default().split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("loop.max_steps"), format!("7 {}", file(&home).display()));
    assert_eq!(line("loop.repetitions"), "4 EVERLOOP_LOOP__REPETITIONS");
    assert_eq!(line("model.attempts"), "2 --set");
    assert_eq!(line("loop.default"), "plan-replan default");
    assert_eq!(line("ui.language"), "en EVERLOOP_LANG");
    let json = home.run(["config", "show", "--json"]).ends_with(0).json();
    let all = json["settings"].as_array().unwrap();
    let steps = all.iter().find(|setting| setting["key"] == "loop.max_steps").unwrap();
    assert_eq!((&steps["value"], &steps["layer"]), (&"7".into(), &"file".into()));
}

#[test]
fn secrets_are_neither_written_nor_shown() {
    let home = Home::new();
    let key = "sk-abcdefghijklmnop";
    let refused = home.run(["config", "set", "model.key_env", key]).ends_with(2);
    assert!(!refused.stderr.contains(key) && !file(&home).exists(), "{}", refused.stderr);
    let astray = format!(
        "[model]\nkey_env = \"{key}\"\nbase_url = \"http://me:hunter2@localhost/v1\"\n\
         [store]\ndatabase = \"postgres://me:hunter2@localhost/x\"\n"
    );
    std::fs::write(file(&home), astray).unwrap();
    for args in [&["show"][..], &["show", "--json"], &["get", "model.key_env"]] {
        let said = home.run(["config"].iter().chain(args)).ends_with(0);
        let said = format!("{}{}", said.stdout, said.stderr);
        assert!(!said.contains(key) && !said.contains("hunter2"), "{said}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_stays() {
    let home = Home::new();
    // A folder stands where the file should be: not even the superuser can write there.
    std::fs::create_dir(file(&home)).unwrap();
    let set = ["config", "set", "loop.max_steps", "7"];
    home.run(set).ends_with(5).says(&["config.toml", "nothing was changed"]);
    std::fs::remove_dir(file(&home)).unwrap();
    let below = home.path("user").join("file");
    std::fs::write(&below, "x").unwrap();
    let home = home.with("EVERLOOP_HOME", below.join("home").to_str().unwrap());
    home.run(set).ends_with(5).says(&["file/home"]);
    let zh = home.run(set.iter().chain(&["--lang", "zh-CN"])).ends_with(5);
    zh.says(&["无法写入设置文件"]);
}

#[test]
fn a_broken_file_is_not_written_over_and_can_be_repaired() {
    let home = Home::new();
    std::fs::write(file(&home), "[loop\n").unwrap();
    let set = ["config", "set", "loop.max_steps", "7"];
    home.run(set).ends_with(5).says(&["everloop config edit", "line 1"]);
    assert_eq!(text(&home), "[loop\n");
    home.run(["config", "path"]).ends_with(0);
    home.run(["config", "show"]).ends_with(5).says(&["not valid TOML"]);
    std::fs::write(file(&home), "[loop]\nmax_steps = \"many\"\n").unwrap();
    home.run(["run", "go"]).ends_with(5);
    home.run(set).ends_with(0);
    assert_eq!(text(&home), "[loop]\nmax_steps = 7\n");
}

#[test]
fn the_editor_is_started_and_faults_are_named_with_their_lines() {
    let home = Home::new();
    let write = |text: &str| {
        std::fs::write(home.path("new.toml"), text).unwrap();
        format!("cp {}", home.path("new.toml").display())
    };
    let edit = |editor: &str, args: &[&str]| {
        let args = ["config", "edit"].iter().chain(args);
        home.run_with(args, "EDITOR", std::ffi::OsStr::new(editor))
    };
    let faulty = write("# mine\n[loop]\nmax_stepz = 1\nmax_steps = \"many\"\n");
    let told = edit(&faulty, &[]).ends_with(5);
    told.says(&["Line 3: ", "Did you mean loop.max_steps?", "Line 4: ", "0..1000000"]);
    edit(&faulty, &["--lang", "zh-CN"]).ends_with(5).says(&["第 4 行：", "不能是"]);
    let good = write("[loop]\nmax_steps = 3\n");
    edit(&good, &[]).ends_with(0).says(&["is valid"]);
    assert_eq!(home.run(["config", "get", "loop.max_steps"]).stdout, "3\n");
    edit(&write("[loop"), &[]).ends_with(5).says(&["line 1"]);
    edit("false", &[]).ends_with(1).says(&["The editor false"]);
}

#[test]
fn a_key_lies_in_a_file_of_its_own_which_nobody_else_may_read() {
    let server = FakeServer::openai(vec![ScriptedReply::says("done"), ScriptedReply::says("done")]);
    let home = Home::new().endpoint(&server.url());
    let key = home.data().join("model.key");
    std::fs::write(&key, "sk-from-the-file\n").unwrap();
    rights(&key, 0o644);
    home.run(RUN).ends_with(5).says(&["model.key", "chmod 600"]);
    let zh = home.run(RUN.iter().chain(&["--lang", "zh-CN"])).ends_with(5);
    zh.says(&["其他人也能读", "chmod 600"]);
    assert!(server.seen().is_empty() && !home.database().exists());
    rights(&key, 0o600);
    home.run(RUN).ends_with(0);
    assert!(server.seen()[0].head.contains("sk-from-the-file"));
    // The variable comes first; a file that was named must be there.
    let home = home.with("OPENAI_API_KEY", "sk-from-the-variable");
    home.run(RUN).ends_with(0);
    assert!(server.seen()[1].head.contains("sk-from-the-variable"));
    let mut home = home;
    home.unset("OPENAI_API_KEY");
    let named = ["--set", "model.key_file=/no/such/file"];
    home.run(RUN.iter().chain(&named)).ends_with(5).says(&["/no/such/file"]);
}
