//! The shell tool on real processes, with and without a guard.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, bare, guard, observed};
use everloop_ports::{CallContext, ToolReturn};
use everloop_tools::{Setting, builtin_tools};
use everloop_types::Ending::{Canceled, Error, Ok, TimedOut, Unknown};
use everloop_types::Observation;
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A tree over four groups and sessions; each process holds the pipe `alive` open.
const TREE: &str = "exec 3>alive; sleep 1000 & setsid sleep 1000 &
    (setsid sh -c 'sleep 1000 & sleep 1000' &); echo $$; echo $$ >&3; sleep 1000";

/// The same within one group: all that can be ended without a guard.
const GROUP: &str = "exec 3>alive; sleep 1000 & (sleep 1000 &); echo $$; echo $$ >&3; sleep 1000";

fn both() -> [Place; 2] {
    [Place::new(), Place::guarded()]
}

/// A context, and the lines of output as they come.
fn watched() -> (CallContext, UnboundedReceiver<String>) {
    let (send, lines) = unbounded_channel();
    let on_output = Arc::new(move |text: &str| drop(send.send(text.to_owned())));
    (CallContext { on_output: Some(on_output), ..CallContext::new("key") }, lines)
}

/// A pipe in the workspace whose reading end tells when the last process that holds it is gone.
fn alive(folder: &Path) -> PathBuf {
    let path = folder.join("alive");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// Living members of a process group.
fn members(group: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|entry| std::fs::read(entry.path().join("stat")).ok());
    stats
        .filter(|stat| {
            let stat = String::from_utf8_lossy(stat);
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
            fields[0] != "Z" && fields[2] == group
        })
        .count()
}

#[tokio::test]
async fn output_comes_back_in_order_with_the_exit_code() {
    for place in both() {
        let seen = place.shell("echo out; echo err >&2; echo more").await;
        assert_eq!(seen, observed(Ok, "out\nerr\nmore\n[exit code 0]"));
        let seen = place.shell("echo broken >&2; exit 3").await;
        assert_eq!(seen, observed(Error, "broken\n[exit code 3]"));
        assert_eq!(place.shell("printf x").await, observed(Ok, "x\n[exit code 0]"));
        assert_eq!(place.shell("true").await, observed(Ok, "[exit code 0]"));
        assert_eq!(place.shell("kill -9 $$").await, observed(Error, "[killed by signal 9]"));
        assert_eq!(place.shell("no_such_program_here").await.ending, Error);
    }
}

#[tokio::test]
async fn a_command_runs_in_the_workspace_without_input() {
    for place in both() {
        place.write("file", "x");
        let root = place.root().canonicalize().unwrap();
        let expected = format!("{}\nfile\n[exit code 0]", root.display());
        assert_eq!(place.shell("pwd; ls; cat").await, observed(Ok, &expected));
        assert_eq!(place.shell("exec 3</dev/tty").await.ending, Error);
    }
}

#[tokio::test]
async fn output_is_clean_and_cut_in_its_middle() {
    let place = Place::guarded();
    let seen = place.shell(r"printf '\033[31mred\033[0m a\000b \377\n'").await;
    assert_eq!(seen, observed(Ok, "red ab \u{fffd}\n[exit code 0]"));
    let context = CallContext { observation_chars: 80, ..CallContext::new("key") };
    let seen = place.call_in("shell", json!({"command": "seq 1 1000"}), &context).await;
    let expected =
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n[987 lines left out]\n997\n998\n999\n1000\n[exit code 0]";
    assert_eq!(seen, observed(Ok, expected));
}

#[tokio::test]
async fn a_hundred_megabytes_of_output_stay_bounded() {
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let place = Place::guarded();
    let before = peak();
    let seen = place.shell("yes 0123456789 | head -c 110000000; echo; echo end").await;
    assert!(peak() - before < 20_000, "grew by {} kB", peak() - before);
    assert!(seen.text.chars().count() <= 10_000);
    assert!(seen.text.starts_with("0123456789\n"));
    assert!(seen.text.ends_with("0123456789\n\nend\n[exit code 0]"), "{}", seen.text);
    assert!(seen.text.contains(" bytes left out]\n"));
}

#[tokio::test]
async fn a_cancel_ends_the_whole_tree_at_once() {
    for (place, command) in both().into_iter().zip([GROUP, TREE]) {
        let (context, mut lines) = watched();
        let pipe = alive(&place.root());
        let writer = File::options().read(true).write(true).open(&pipe).unwrap();
        let mut reader = File::open(pipe).unwrap();
        let cancel = context.cancel.clone();
        let canceler = tokio::spawn(async move {
            let group = lines.recv().await.unwrap();
            cancel.cancel();
            (group.trim().to_owned(), Instant::now())
        });
        let seen = place.call_in("shell", json!({ "command": command }), &context).await;
        let (group, canceled_at) = canceler.await.unwrap();
        assert!(canceled_at.elapsed() < Duration::from_secs(1), "{:?}", canceled_at.elapsed());
        assert_eq!(seen, observed(Canceled, &format!("{group}\n[stopped: canceled]")));
        assert_eq!(members(&group), 0);
        // Our own end was the only one left, so this comes to an end.
        drop(writer);
        reader.read_to_end(&mut Vec::new()).unwrap();
    }
}

#[tokio::test]
async fn a_command_that_was_canceled_before_is_never_started() {
    let place = Place::guarded();
    let context = CallContext::new("key");
    context.cancel.cancel();
    let seen = place.call_in("shell", json!({"command": "touch file"}), &context).await;
    assert_eq!(seen, observed(Canceled, "not started: canceled"));
    assert!(place.names(".").is_empty());
}

#[tokio::test]
async fn what_ignores_the_request_to_end_is_killed_after_the_grace() {
    for place in both() {
        let (context, mut lines) = watched();
        let cancel = context.cancel.clone();
        let canceler = tokio::spawn(async move {
            let group = lines.recv().await.unwrap();
            cancel.cancel();
            group.trim().to_owned()
        });
        let command = "trap '' TERM; sleep 1000 & echo $$; while :; do sleep 1000; done";
        let seen = place.call_in("shell", json!({ "command": command }), &context).await;
        assert_eq!(seen.ending, Canceled);
        assert_eq!(members(&canceler.await.unwrap()), 0);
    }
}

#[tokio::test]
async fn what_needs_a_moment_to_end_gets_it() {
    for place in both() {
        let (context, mut lines) = watched();
        let cancel = context.cancel.clone();
        tokio::spawn(async move {
            lines.recv().await.unwrap();
            cancel.cancel();
        });
        let command = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
        let seen = place.call_in("shell", json!({ "command": command }), &context).await;
        assert_eq!(seen.ending, Canceled);
        assert!(seen.text.ends_with("saved\n[stopped: canceled]"), "{}", seen.text);
    }
}

#[tokio::test]
async fn a_command_out_of_time_is_stopped_and_its_output_kept() {
    for guard in [None, Some(guard())] {
        let place = Place::with(|setting| {
            let mut setting = Setting { guard, ..bare(setting) };
            setting.shell.limits.timeout_ms = 300;
            setting
        });
        let seen = place.shell("echo begun; sleep 1000").await;
        assert_eq!(seen, observed(TimedOut, "begun\n[stopped: out of time]"));
    }
    let context = CallContext { deadline: Some(Instant::now()), ..CallContext::new("key") };
    let command = json!({"command": "sleep 1000"});
    let seen = Place::guarded().call_in("shell", command, &context).await;
    assert_eq!(seen.ending, TimedOut);
}

#[tokio::test]
async fn what_a_command_leaves_in_the_background_ends_with_it() {
    for (place, command) in both().into_iter().zip([
        "sleep 1000 & echo $$",
        "sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 &) ; echo $$",
    ]) {
        let seen = place.shell(command).await;
        assert_eq!(seen.ending, Ok);
        assert_eq!(members(seen.text.lines().next().unwrap()), 0);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_takes_its_processes_along() {
    for (place, command) in both().into_iter().zip([GROUP, TREE]) {
        let pipe = alive(&place.root());
        let tool = place.tool("shell");
        let args = json!({ "command": command }).to_string();
        let call = tokio::spawn(async move { tool.call(&args, &CallContext::new("key")).await });
        let gone = tokio::task::spawn_blocking(move || {
            let mut reader = BufReader::new(File::open(pipe).unwrap());
            let mut group = String::new();
            reader.read_line(&mut group).unwrap();
            call.abort();
            reader.read_to_end(&mut Vec::new())
        });
        assert!(gone.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn a_command_that_kills_its_guard_has_an_unknown_outcome_and_ends() {
    let seen = Place::guarded().shell("echo $$; kill -9 $PPID; sleep 1000").await;
    assert_eq!(seen.ending, Unknown);
    assert!(seen.text.ends_with("[its end was not seen]"), "{}", seen.text);
    assert_eq!(members(seen.text.lines().next().unwrap()), 0);
}

#[tokio::test]
async fn a_shell_that_cannot_be_started_may_be_tried_again() {
    let place =
        Place::with(|setting| Setting { guard: Some("/no/such/guard".into()), ..bare(setting) });
    let done = place.tool("shell").call(r#"{"command":"ls"}"#, &CallContext::new("key")).await;
    assert!(
        matches!(&done, ToolReturn::Passing(why) if why.seen.text.starts_with("cannot start the shell: "))
    );
    let place = Place::guarded();
    std::fs::remove_dir(place.root()).unwrap();
    let done = place.tool("shell").call(r#"{"command":"ls"}"#, &CallContext::new("key")).await;
    assert!(matches!(done, ToolReturn::Passing(_)), "{done:?}");
}

/// Runs the guard as the shell tool does, and gives its exit code and what it reported.
fn run_guard(command: &[&str]) -> (Option<i32>, String) {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut child = Command::new(guard())
        .args(["__guard", "--"])
        .args(command)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .unwrap();
    let mut report = String::new();
    ours.read_to_string(&mut report).unwrap();
    (child.wait().unwrap().code(), report.trim_end().to_owned())
}

#[test]
fn a_guard_forwards_how_its_command_ended() {
    assert_eq!(run_guard(&["sh", "-c", "exit 7"]), (Some(7), "exit 7".to_owned()));
    assert_eq!(run_guard(&["sh", "-c", "kill -9 $$"]), (Some(137), "signal 9".to_owned()));
    let (code, never) = run_guard(&["/no/such/program"]);
    assert_eq!(code, Some(127));
    assert!(never.starts_with("never "), "{never}");
    assert_eq!(run_guard(&[]).0, Some(127));
}

#[test]
fn a_guard_without_anyone_at_its_pipe_ends_its_command() {
    let mut child = Command::new(guard())
        .args(["__guard", "--", "sleep", "1000"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(137));
}

/// This test's own program again, as a process of its own that runs one shell command.
fn parent(workspace: &Path, command: &str, variables: &[(&str, &str)]) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "shell::runs_one_command_if_it_is_asked_to"])
        .env("EVERLOOP_TEST_WORKSPACE", workspace)
        .env("EVERLOOP_TEST_COMMAND", command)
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn runs_one_command_if_it_is_asked_to() {
    let Some(workspace) = std::env::var_os("EVERLOOP_TEST_WORKSPACE") else { return };
    let command = std::env::var("EVERLOOP_TEST_COMMAND").unwrap();
    let setting = Setting { guard: Some(guard()), ..bare(Setting::new(workspace)) };
    let registry = builtin_tools(&setting).unwrap();
    let args = json!({ "command": command }).to_string();
    let done = registry.get("shell").unwrap().call(&args, &CallContext::new("key")).await;
    assert!(matches!(done, ToolReturn::Seen(Observation { ending: Ok, .. })), "{done:?}");
}

#[test]
fn the_tree_is_gone_when_its_parent_is_killed() {
    let place = Place::new();
    let pipe = alive(&place.root());
    let mut parent = parent(&place.root(), TREE, &[]);
    let mut reader = BufReader::new(File::open(pipe).unwrap());
    let mut group = String::new();
    reader.read_line(&mut group).unwrap();
    assert!(members(group.trim()) > 0);
    parent.kill().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&parent.wait().unwrap()), Some(9));
    // Comes to an end when the last of the tree has closed the pipe by ending.
    reader.read_to_end(&mut Vec::new()).unwrap();
}

/// The number of a process's parent.
fn parent_of(pid: &str) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().to_owned()
}

/// Nobody is left to end the command then, so it ends by itself.
#[test]
fn a_command_without_a_sandbox_ends_when_its_guard_and_its_owner_are_killed() {
    let place = Place::new();
    let pipe = alive(&place.root());
    let command = "exec 3>alive; echo $$ >&3; read line < never; echo on > went";
    assert!(Command::new("mkfifo").arg(place.root().join("never")).status().unwrap().success());
    let mut parent = parent(&place.root(), command, &[]);
    let mut reader = BufReader::new(File::open(pipe).unwrap());
    let mut leader = String::new();
    reader.read_line(&mut leader).unwrap();
    let guard = parent_of(leader.trim());
    // Stopped first, so that none of them sees the other go.
    for signal in ["-STOP", "-KILL"] {
        let killed = Command::new("kill").args([signal, &guard, &parent.id().to_string()]).status();
        assert!(killed.unwrap().success());
    }
    parent.wait().unwrap();
    // Comes to an end when the command has closed the pipe by ending.
    reader.read_to_end(&mut Vec::new()).unwrap();
    assert!(!place.root().join("went").exists());
}

#[test]
fn no_secret_of_ours_is_in_the_environment_of_a_command() {
    let place = Place::new();
    let secrets = [
        ("OPENAI_API_KEY", "hidden"),
        ("EVERLOOP_TOKEN", "hidden"),
        ("AWS_SECRET", "hidden"),
        ("LD_PRELOAD_X", "hidden"),
        ("LC_TIME", "C"),
        ("TERM", "xterm"),
    ];
    let mut parent = parent(&place.root(), "env > found", &secrets);
    assert!(parent.wait().unwrap().success());
    let found = place.content("found");
    assert!(!found.contains("hidden"), "{found}");
    let allowed = ["PATH", "HOME", "LANG", "LC_TIME", "TERM", "TZ", "TMPDIR", "USER"];
    // What a shell sets by itself.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    for line in found.lines() {
        let name = line.split('=').next().unwrap();
        assert!([&allowed[..], &own[..]].concat().contains(&name), "{line}");
    }
    assert!(found.contains("LC_TIME=C\n") && found.contains("TERM=dumb\n"), "{found}");
}

mod records {
    use super::*;
    use crate::support::intent;
    use everloop_ports::{AnyTool, Probe};
    use everloop_types::{EffectClass, EffectId, RunId};

    fn run() -> RunId {
        RunId::new("run_1")
    }

    fn context() -> CallContext {
        let effect = Some(EffectId { run: run(), cause: 1, index: 0 });
        CallContext { effect, ..CallContext::new("key") }
    }

    fn shell() -> (tempfile::TempDir, Place, Arc<dyn AnyTool>) {
        let folder = tempfile::TempDir::new().unwrap();
        let records = Some(folder.path().join("effects"));
        let place =
            Place::with(|setting| Setting { guard: Some(guard()), records, ..bare(setting) });
        let tool = place.tool("shell");
        (folder, place, tool)
    }

    #[tokio::test]
    async fn a_command_that_ended_is_known_by_its_record() {
        let (_folder, _place, tool) = shell();
        assert_eq!(tool.spec().handling.class, EffectClass::Probeable);
        let args = r#"{"command":"echo said; echo more >&2; exit 3"}"#;
        let before = tool.before_call(args, &run()).await;
        let ToolReturn::Seen(seen) = tool.call(args, &context()).await else { panic!() };
        assert_eq!((seen.ending, seen.text.as_str()), (Error, "said\nmore\n[exit code 3]"));
        let Probe::Happened(read) = tool.probe(args, &intent(&before)).await else { panic!() };
        assert_eq!(read.ending, Error);
        assert!(read.text.starts_with("said\nmore\n[exit code 3; read from"), "{}", read.text);
    }

    #[tokio::test]
    async fn a_command_without_a_record_did_not_start_and_never_will() {
        let (_folder, place, tool) = shell();
        let args = r#"{"command":"echo once >> log"}"#;
        let before = tool.before_call(args, &run()).await;
        assert_eq!(tool.probe(args, &intent(&before)).await, Probe::DidNot);
        let late = tool.call(args, &context()).await;
        assert!(matches!(late, ToolReturn::Passing(_)), "{late:?}");
        assert!(!place.path("log").exists());
        let again = CallContext { attempt: 2, ..context() };
        assert!(matches!(tool.call(args, &again).await, ToolReturn::Seen(seen) if seen.is_ok()));
        assert_eq!(place.content("log"), "once\n");
    }

    #[tokio::test]
    async fn a_command_that_was_cut_short_stays_unknown() {
        let (_folder, place, tool) = shell();
        let args = r#"{"command":"echo once >> log; mkfifo gate; cat gate"}"#;
        let before = tool.before_call(args, &run()).await;
        let context = context();
        let mut calling = tool.call(args, &context);
        let began = async {
            while !place.path("gate").exists() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = &mut calling => panic!("it cannot end"),
            () = began => {}
        }
        drop(calling);
        let probe = tool.probe(args, &intent(&before)).await;
        assert_eq!(probe, Probe::unknown("it was cut short after it started"));
        assert!(tool.probe(args, &intent(&serde_json::Value::Null)).await != Probe::DidNot);
    }
}
