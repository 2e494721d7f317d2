//! Programs that everloop starts itself: never one of the workspace, and never another everloop
//! than the one that runs.

use crate::support::{Home, calls, eventually, says};
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const RUN: [&str; 5] = ["run", "--loop", "react", "--yes", "go"];

fn program(file: &Path, script: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn shell(command: &str) -> serde_json::Value {
    calls("shell", json!({ "command": command }))
}

fn repository(home: &Home) {
    let made = Command::new("git").args(["init", "-q"]).arg(home.path("work")).status();
    assert!(made.unwrap().success());
}

#[test]
fn a_cloned_project_that_ships_programs_of_everyday_names_runs_none_of_them() {
    let home =
        Home::scripted(&[shell("ls"), calls("git_read", json!({"view": "status"})), says("x")]);
    repository(&home);
    for name in ["git", "bwrap", "sh", "ssh", "secret-tool", "everloop"] {
        let trace = home.path("trace").display().to_string();
        program(
            &home.work(&format!("bin/{name}")),
            &format!("env >> {trace}; exec /usr/bin/{name} \"$@\""),
        );
    }
    let path = format!("{}:bin::{}", home.work("bin").display(), std::env::var("PATH").unwrap());
    let home = home.with("PATH", &path).with("OPENAI_API_KEY", "sk-SECRETKEY-1234567");
    home.run(RUN).ends_with(0);
    home.run(["doctor"]);
    home.run(["tools"]).ends_with(0);
    let trace = fs::read_to_string(home.path("trace")).unwrap_or_default();
    // A command in the sandbox may run what it likes, but it never has the key.
    assert!(!home.path("trace").exists() && !trace.contains("SECRETKEY"), "{trace}");
}

#[test]
fn a_program_that_a_command_plants_on_the_search_path_is_not_run_outside() {
    let home = Home::new();
    let plant = format!(
        "printf '#!/bin/sh\\nid > {}\\nexec /usr/bin/git \"$@\"\\n' > .venv/bin/git; \
         chmod +x .venv/bin/git",
        home.path("trace").display()
    );
    let home =
        home.script(&[shell(&plant), calls("git_read", json!({"view": "status"})), says("x")]);
    repository(&home);
    fs::create_dir_all(home.work(".venv/bin")).unwrap();
    let path = format!("{}:{}", home.work(".venv/bin").display(), std::env::var("PATH").unwrap());
    let home = home.with("PATH", &path);
    home.run(RUN).ends_with(0);
    assert!(home.work(".venv/bin/git").exists() && !home.path("trace").exists());
}

/// A copy of the program under test, as whoever builds it in a checkout has it.
fn own(home: &Home, name: &str) -> PathBuf {
    let file = home.path(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_everloop"), &file).unwrap();
    file
}

#[test]
fn everloop_in_the_workspace_is_changed_by_no_tool_and_no_other_is_run_in_its_place() {
    let home = Home::new();
    let evil = format!("#!/bin/sh\nid >> {}\n", home.path("trace").display());
    let path = "target/release/everloop";
    let home = home.script(&[
        calls("write_file", json!({"path": path, "content": evil})),
        shell(&format!("printf '{}' > {path}", evil.replace('\n', "\\n"))),
        shell(&format!("mv {path} x; printf '#!/bin/sh\\n' > {path}; chmod +x {path}")),
        shell("mv target away; mkdir -p target/release; echo x > target/release/everloop"),
        shell("echo fine > made"),
        says("x"),
    ]);
    let program = own(&home, "work/target/release/everloop");
    let length = fs::metadata(&program).unwrap().len();
    home.spawn_by(&program, RUN).ended();
    assert!(!home.path("trace").exists());
    assert_eq!(fs::metadata(&program).unwrap().len(), length);
}

#[test]
fn an_everloop_that_is_replaced_while_it_runs_goes_on_with_itself() {
    let home = Home::new();
    let mut first = shell("echo one > one");
    first["delay_ms"] = json!(1_000);
    let home = home.script(&[first, shell("echo two > two"), says("x")]);
    let file = own(&home, "bin/everloop");
    let run = home.spawn_by(&file, RUN);
    eventually("the database", || home.database().exists().then_some(()));
    let trace = home.path("trace");
    program(&home.path("evil"), &format!("touch {}", trace.display()));
    fs::copy(home.path("evil"), home.path("bin/everloop (deleted)")).unwrap();
    fs::rename(home.path("evil"), &file).unwrap();
    run.ended().ends_with(0);
    assert!(!trace.exists() && home.work("one").exists() && home.work("two").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn no_core_file_is_left_with_what_everloop_knows() {
    let home = Home::scripted(&[shell("echo up > up; exec sleep 20"), says("x")]);
    let home = home.with("OPENAI_API_KEY", "sk-SECRETKEY-1234567");
    let run = home.spawn(RUN);
    eventually("the command", || home.work("up").exists().then_some(()));
    let limits = fs::read_to_string(format!("/proc/{}/limits", run.pid())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let numbers: Vec<&str> = core.split_whitespace().skip(4).take(2).collect();
    assert_eq!(numbers, ["0", "0"], "{core}");
    run.signal(rustix::process::Signal::ABORT);
    run.ended();
    let names = fs::read_dir(home.path("work")).unwrap().flatten().map(|entry| entry.file_name());
    let cores: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("core")).collect();
    assert!(cores.is_empty(), "{cores:?}");
}

#[test]
fn a_program_of_another_project_on_the_search_path_is_not_run_either() {
    let home = Home::scripted(&[calls("git_read", json!({"view": "status"})), says("x")]);
    repository(&home);
    let trace = home.path("trace").display().to_string();
    // One is known by its name, the other by what lies around it.
    let folders = ["other/.venv/bin", "third/tools"].map(|folder| home.path(folder));
    for (folder, name) in folders.iter().flat_map(|f| ["git", "bwrap"].map(|name| (f, name))) {
        program(&folder.join(name), &format!("id > {trace}; exec /usr/bin/{name} \"$@\""));
    }
    fs::write(home.path("third/package.json"), "{}").unwrap();
    let bin = folders.map(|folder| folder.display().to_string()).join(":");
    let home = home.with("PATH", &format!("{bin}:{}", std::env::var("PATH").unwrap()));
    home.run(RUN).ends_with(0);
    home.run(["doctor"]);
    assert!(!home.path("trace").exists());
    // Nor where the system has none of that name.
    let home = home.with("PATH", &bin);
    home.run(["doctor"]);
    assert!(!home.path("trace").exists());
}

#[test]
fn a_program_that_gives_a_key_starts_where_no_run_has_files() {
    let home = Home::new();
    let config = "[model]\nkey = \"command:/usr/bin/python3 -m everloop_no_such_module\"\n";
    fs::create_dir_all(home.data()).unwrap();
    fs::write(home.data().join("config.toml"), config).unwrap();
    let trace = home.path("trace").display().to_string();
    let module = format!("open('{trace}', 'w').write('x')\nprint('sk-x')\n");
    fs::write(home.work("everloop_no_such_module.py"), module).unwrap();
    let home = home.endpoint("http://127.0.0.1:9/v1");
    home.run(["run", "--no-input", "go"]);
    assert!(!home.path("trace").exists());
}

#[test]
fn what_a_command_left_is_looked_at_also_if_it_was_stopped_and_the_look_takes_long() {
    let trap = "git init -q .; git config core.fsmonitor 'touch ../trace #'; \
        perl -e 'for $i (1..60) { mkdir \"t$i\"; mkdir \"t$i/$_\" for 1..1000 }'; sleep 30";
    let home = Home::scripted(&[shell(trap), says("done")]);
    home.run(RUN.iter().chain(&["--set", "tools.shell_timeout=4s"]));
    Command::new("git").arg("status").current_dir(home.work("")).output().unwrap();
    assert!(!home.path("trace").exists() && !home.work(".git").exists());
}

/// A command that leaves a trap and then sleeps; whoever runs git there afterwards springs it.
fn trapped() -> Home {
    let trap = "git init -q .; git config core.fsmonitor 'touch ../trace #'; touch ready; sleep 99";
    Home::scripted(&[shell(trap), says("done")])
}

fn is_disarmed(home: &Home) -> bool {
    Command::new("git").arg("status").current_dir(home.work("")).output().unwrap();
    !home.path("trace").exists() && !home.work(".git").exists()
}

#[test]
fn a_signal_ends_everloop_only_after_the_look_at_what_its_command_left() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let home = trapped();
        let run = home.spawn(RUN);
        eventually("the command", || home.work("ready").exists().then_some(()));
        run.signal(signal);
        run.ended();
        assert!(is_disarmed(&home), "{signal:?}");
    }
}

#[test]
fn who_starts_everloop_so_that_it_outlives_the_terminal_is_not_disappointed() {
    let home = Home::scripted(&[shell("touch ready; until [ -e go ]; do :; done"), says("done")]);
    let run =
        home.spawn_by(Path::new("nohup"), [env!("CARGO_BIN_EXE_everloop")].iter().chain(&RUN));
    eventually("the command", || home.work("ready").exists().then_some(()));
    run.signal(Signal::HUP);
    fs::write(home.work("go"), "").unwrap();
    run.ended().ends_with(0);
}

#[test]
fn a_script_of_the_workspace_gives_no_key() {
    let home = Home::new().endpoint("http://127.0.0.1:9/v1");
    let script = home.work("key.sh");
    let config = format!("[model]\nkey_command = [\"/bin/sh\", \"{}\"]\n", script.display());
    fs::create_dir_all(home.data()).unwrap();
    fs::write(home.data().join("config.toml"), config).unwrap();
    let trace = home.path("trace").display().to_string();
    program(&script, &format!("touch {trace}; echo sk-x"));
    let said = home.run(["run", "--no-input", "go"]).stderr;
    assert!(!home.path("trace").exists() && said.contains("lies in the workspace"), "{said}");
}

#[test]
fn files_that_a_parent_has_open_reach_no_command() {
    let command = "cat <&9; echo EVIL >&8; ls /proc/self/fd/";
    let home = Home::scripted(&[shell(command), says("done")]);
    fs::write(home.path("secret"), "SECRET OUTSIDE").unwrap();
    let (secret, file) = (home.path("secret"), home.path("file"));
    let line = format!(
        "everloop run --loop react --yes go 9<'{}' 8>>'{}'",
        secret.display(),
        file.display()
    );
    home.shell(&line).ends_with(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    let seen = home.run(["audit", "--json"]).stdout;
    assert!(seen.contains("shell") && !seen.contains("SECRET OUTSIDE"), "{seen}");
}

#[test]
fn a_script_that_the_settings_make_us_run_is_not_changed_unasked() {
    let home = Home::new();
    let (server, key) = (home.work("server.py"), home.work("key.sh"));
    let config = format!(
        "[mcp.servers.own]\ncommand = \"/usr/bin/python3\"\nargs = [\"{}\"]\n\
         [model]\nkey_command = [\"/bin/sh\", \"{}\"]\n",
        server.display(),
        key.display()
    );
    fs::create_dir_all(home.data()).unwrap();
    fs::write(home.data().join("config.toml"), config).unwrap();
    let home = home.script(&[
        calls("write_file", json!({"path": "server.py", "content": "evil"})),
        says("done"),
    ]);
    for file in [&server, &key] {
        fs::write(file, "mine").unwrap();
    }
    home.run(["run", "--loop", "react", "go"]).ends_with(3).says(&["write_file"]);
    assert_eq!(fs::read_to_string(&server).unwrap(), "mine");
    home.rewrite(&[shell("echo evil > server.py; echo evil > key.sh"), says("done")]);
    home.run(RUN);
    assert_eq!(fs::read_to_string(&server).unwrap(), "mine");
    assert_eq!(fs::read_to_string(&key).unwrap(), "mine");
}
