//! The sandbox around shell commands, on real processes: what gets out, and what is left over.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::sandbox_scene::{Scene, Things, bearing};
use crate::support::{Place, folder, guard, observed};
use everloop_ports::{CallContext, CallPolicy, UnsandboxedReason};
use everloop_tools::{
    GitAccess, RuleAction, RuleExamples, SandboxLevel, SandboxMode, SandboxSupport, Setting,
    ShellRule, builtin_tools,
};
use everloop_types::Ending::{Canceled, Denied, Ok};
use everloop_types::Observation;
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Why a call would run without a sandbox; empty if it would not.
fn why_unsandboxed(policy: &CallPolicy) -> &str {
    match policy {
        CallPolicy::Unsandboxed(UnsandboxedReason::Unavailable(why)) => why,
        _ => "",
    }
}

#[tokio::test]
async fn an_everyday_command_works_in_the_sandbox() {
    let place = Place::sandboxed();
    let seen = place.shell("echo made > file && cat file && pwd && ls").await;
    let root = place.root().canonicalize().unwrap();
    let expected = format!("made\n{}\nfile\n[exit code 0]", root.display());
    assert_eq!(seen, observed(Ok, &expected));
    assert_eq!(place.content("file"), "made\n");
    let seen = place.shell("echo x > $TMPDIR/x && cat $HOME/x && mktemp && exit 3").await;
    assert!(seen.text.starts_with("x\n") && seen.text.ends_with("[exit code 3]"), "{seen:?}");
    let server = "perl -MIO::Socket::INET -e '$l=IO::Socket::INET->new(Listen=>1,\
        LocalAddr=>\"127.0.0.1\") or die; IO::Socket::INET->new(PeerAddr=>\"127.0.0.1\",\
        PeerPort=>$l->sockport) or die; print \"talked\"'";
    if SandboxSupport::here(&guard()).level() == SandboxLevel::Full {
        assert_eq!(place.shell(server).await, observed(Ok, "talked\n[exit code 0]"));
    }
}

/// Runs until it is canceled, and says when and in how many processes it is left.
async fn canceled(command: &str) -> (Observation, Duration, usize) {
    let scene = Scene::new(Things::None, |setting| setting);
    let (send, mut lines) = tokio::sync::mpsc::unbounded_channel();
    let on_output = Arc::new(move |text: &str| drop(send.send(text.to_owned())));
    let context = CallContext { on_output: Some(on_output), ..CallContext::new("key") };
    let cancel = context.cancel.clone();
    let canceler = tokio::spawn(async move {
        lines.recv().await.unwrap();
        cancel.cancel();
        Instant::now()
    });
    let command = json!({ "command": scene.filled(command) });
    let seen = scene.place.call_in("shell", command, &context).await;
    let took = canceler.await.unwrap().elapsed();
    (seen, took, scene.processes())
}

#[tokio::test]
async fn a_cancel_leaves_nobody_in_the_sandbox_within_a_second() {
    let deaf = "trap '' TERM; nohup setsid sh -c 'trap \"\" TERM; sleep 1000; :' {token} & \
        (sh -c 'trap \"\" TERM; sleep 1000; :' {token} &) ; echo up; sleep 1000; sleep 1000";
    for command in ["echo up; sh -c 'sleep 1000; :' {token}", deaf] {
        let (seen, took, left) = canceled(command).await;
        assert_eq!(seen.ending, Canceled, "{seen:?}");
        assert_eq!(left, 0);
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}

#[tokio::test]
async fn what_needs_a_moment_to_end_gets_it_in_the_sandbox() {
    let command = "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.01; done";
    let (seen, ..) = canceled(command).await;
    assert!(seen.text.ends_with("saved\n[stopped: canceled]"), "{}", seen.text);
}

#[tokio::test]
async fn runs_one_command_if_it_is_asked_to() {
    let Some(workspace) = std::env::var_os("EVERLOOP_TEST_WORKSPACE") else { return };
    let command = std::env::var("EVERLOOP_TEST_COMMAND").unwrap();
    let registry = builtin_tools(&Setting { guard: Some(guard()), ..Setting::new(workspace) });
    let args = json!({ "command": command }).to_string();
    let shell = Arc::clone(registry.unwrap().get("shell").unwrap());
    shell.call(&args, &CallContext::new("key")).await;
}

#[test]
fn nobody_is_left_when_the_parent_is_killed() {
    let place = Place::sandboxed();
    let pipe = place.path("alive");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let token = format!("token{}", std::process::id());
    let command = format!(
        "exec 3>alive; setsid sh -c 'trap \"\" TERM; sleep 1000; :' {token} & \
         (sh -c 'sleep 1000; :' {token} &); echo up >&3; sleep 1000"
    );
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sandbox::runs_one_command_if_it_is_asked_to"])
        .env("EVERLOOP_TEST_WORKSPACE", place.root())
        .env("EVERLOOP_TEST_COMMAND", command)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(fs::File::open(pipe).unwrap());
    reader.read_line(&mut String::new()).unwrap();
    assert!(bearing(&token) >= 3);
    parent.kill().unwrap();
    parent.wait().unwrap();
    // Comes to an end when the last of the command has closed the pipe by ending.
    reader.read_to_end(&mut Vec::new()).unwrap();
    let until = Instant::now() + Duration::from_secs(5);
    while bearing(&token) > 0 {
        assert!(Instant::now() < until, "{} processes are left", bearing(&token));
        std::thread::yield_now();
    }
}

/// A folder that commands may read brings the sockets of its programs with it.
#[tokio::test]
async fn a_socket_in_a_readable_folder_leads_nowhere() {
    if SandboxSupport::here(&guard()).level() == SandboxLevel::None {
        println!("SKIPPED: there is no sandbox here");
        return;
    }
    let readable = folder();
    fs::create_dir(readable.path().join("run")).unwrap();
    let socket = readable.path().join("run/agent");
    let _listener = UnixListener::bind(&socket).unwrap();
    let place = Place::with(|mut setting| {
        setting.shell.sandbox.readable = vec![readable.path().to_owned()];
        Setting { guard: Some(guard()), ..setting }
    });
    let command = format!(
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1; \
         exit !connect(S,sockaddr_un(\"{}\"))' && echo ESCAPED",
        socket.display()
    );
    assert!(!place.shell(&command).await.text.contains("ESCAPED"));
    let seen = place.shell(&format!("ls {}", readable.path().display())).await;
    assert!(seen.text.starts_with("run"), "{}", seen.text);
}

async fn judged(place: &Place) -> CallPolicy {
    place.tool("shell").judge(r#"{"command":"touch file"}"#).await
}

#[tokio::test]
async fn a_command_without_a_sandbox_is_never_run_unless_a_person_knows() {
    let off = Place::guarded();
    assert_eq!(judged(&off).await, CallPolicy::Unsandboxed(UnsandboxedReason::Off));
    // No program to build them with.
    let none = Place::new();
    assert!(matches!(
        judged(&none).await,
        CallPolicy::Unsandboxed(UnsandboxedReason::Unavailable(_))
    ));
    let required = Place::with(|mut setting| {
        setting.shell.sandbox.mode = SandboxMode::Require;
        setting
    });
    assert!(matches!(judged(&required).await, CallPolicy::Deny(_)));
    let command = json!({"command": "touch file"});
    let unaware = CallContext { may_run_bare: false, ..CallContext::new("key") };
    for (place, context) in
        [(&off, &unaware), (&none, &unaware), (&required, &CallContext::new("key"))]
    {
        let seen = place.call_in("shell", command.clone(), context).await;
        assert_eq!(seen.ending, Denied);
        assert!(place.names(".").is_empty());
    }
    assert_eq!(off.call_in("shell", command, &CallContext::new("key")).await.ending, Ok);
    assert_eq!(off.names("."), ["file"]);
}

#[tokio::test]
async fn a_protected_path_that_is_a_link_is_leaves_no_sandbox() {
    let place = Place::sandboxed();
    if SandboxSupport::here(&guard()).level() != SandboxLevel::None {
        assert_eq!(judged(&place).await, CallPolicy::Default);
    }
    place.write("elsewhere/config", "");
    std::os::unix::fs::symlink("elsewhere", place.path(".git")).unwrap();
    let judged = judged(&place).await;
    assert!(why_unsandboxed(&judged).contains(".git is a link"));
}

#[tokio::test]
async fn what_is_ours_and_not_there_yet_is_leaves_no_sandbox_until_it_is_made() {
    let place = Place::with(|setting| Setting {
        guard: Some(guard()),
        protected: vec![setting.workspace.join(".config/everloop/config.toml")],
        ..setting
    });
    let bare = judged(&place).await;
    assert!(why_unsandboxed(&bare).contains("config.toml"), "{bare:?}");
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        return;
    }
    place.write(".config/everloop/config.toml", "ours");
    assert_eq!(judged(&place).await, CallPolicy::Default);
    for command in [
        "echo theirs > .config/everloop/config.toml",
        "rm -rf .config/everloop",
        "mv .config aside && mkdir -p .config/everloop",
    ] {
        place.shell(command).await;
        assert_eq!(place.content(".config/everloop/config.toml"), "ours", "{command}");
    }
}

/// Nothing is written there: where it would lie is enough.
#[tokio::test]
async fn what_is_ours_below_a_folder_of_the_system_is_leaves_no_sandbox() {
    for folder in ["/usr/share", "/usr/local", "/opt", "/etc", "/bin"] {
        let ours = Path::new(folder).join("no-such-everloop");
        let data = Place::with(|setting| Setting {
            guard: Some(guard()),
            records: Some(ours.join("effects")),
            ..setting
        });
        let database = Place::with(|setting| Setting {
            guard: Some(guard()),
            protected: vec![ours.join("everloop.db")],
            ..setting
        });
        for place in [data, database] {
            let bare = judged(&place).await;
            let words = "lies where every command may read";
            assert!(why_unsandboxed(&bare).contains(words), "{folder}: {bare:?}");
        }
    }
}

fn repository(git: GitAccess) -> Option<Place> {
    let place = Place::with(|mut setting| {
        setting.guard = Some(guard());
        setting.shell.sandbox.git = git;
        setting
    });
    let script = "git init -q . && git config user.name T && git config user.email t@example.org \
        && git commit -q --allow-empty -m first";
    let made = Command::new("sh").args(["-c", script]).current_dir(place.root()).status().unwrap();
    assert!(made.success());
    (SandboxSupport::here(&guard()).level() == SandboxLevel::Full).then_some(place)
}

#[tokio::test]
async fn a_command_reads_the_repository_and_is_told_how_to_commit() {
    let Some(place) = repository(GitAccess::Read) else { return };
    let seen = place.shell("git status --short && git log --format=%s && git diff").await;
    assert_eq!(seen, observed(Ok, "first\n[exit code 0]"));
    let seen = place.shell("git commit --allow-empty -m second").await;
    assert!(seen.text.contains("Read-only file system"), "{}", seen.text);
    assert!(seen.text.ends_with("use git_commit, or ask the user]"), "{}", seen.text);
}

#[tokio::test]
async fn a_command_that_may_write_the_repository_commits_and_leads_git_nowhere() {
    let Some(place) = repository(GitAccess::Write) else { return };
    let seen = place.shell("git commit -q --allow-empty -m second && git log --format=%s").await;
    assert_eq!(seen, observed(Ok, "second\nfirst\n[exit code 0]"));
    for command in ["echo x > .git/hooks/pre-commit", "git config core.fsmonitor x"] {
        assert_ne!(place.shell(command).await.ending, Ok, "{command}");
    }
    let seen = place.shell("mkdir evil; echo ../evil > .git/commondir").await;
    assert!(seen.text.contains("renamed to .git/commondir-set-aside"), "{}", seen.text);
    assert!(!place.path(".git/commondir").exists());
}

#[tokio::test]
async fn a_repository_that_a_command_makes_stays_unless_it_runs_programs() {
    if SandboxSupport::here(&guard()).level() == SandboxLevel::None {
        return;
    }
    for (command, why) in [
        ("git init -q . && echo x > .git/hooks/pre-commit", "hooks/pre-commit"),
        ("git init -q . && git config core.fsmonitor 'touch x'", "core.fsmonitor"),
        ("git init -q . && git config core.hooksPath x", "core.hookspath"),
        ("git init -q . && echo ../evil > .git/commondir", "commondir"),
        ("git init -q --separate-git-dir=elsewhere .", "it leads elsewhere"),
        ("mkdir .hg && echo x > .hg/hgrc", "hgrc"),
        ("git init -q --bare .", "git takes the folder for a repository"),
        ("git init -q new && echo x > new/.git/hooks/pre-commit", "hooks/pre-commit"),
    ] {
        let place = Place::sandboxed();
        let seen = place.shell(command).await;
        assert!(seen.text.contains("-set-aside") && seen.text.contains(why), "{}", seen.text);
        let obeyed = [".git", ".hg", "HEAD", "new/.git"].map(|name| place.path(name).exists());
        assert_eq!(obeyed, [false; 4], "{command}");
    }
    let place = Place::sandboxed();
    let seen = place.shell("git init -q .").await;
    assert_eq!(seen, observed(Ok, "[exit code 0]"));
    assert!(place.path(".git/HEAD").exists());
}

#[tokio::test]
async fn a_command_whose_program_nobody_knows_is_asked_about_where_some_are_denied() {
    let rule = |say, pattern: &str, example: &str| {
        let examples = RuleExamples { fits: vec![example.to_owned()], fits_not: Vec::new() };
        ShellRule::new(say, pattern, &examples).unwrap()
    };
    let place = |rules: Vec<ShellRule>| {
        Place::with(|mut setting| {
            setting.guard = Some(guard());
            setting.shell.rules = rules;
            setting
        })
    };
    let deny = rule(RuleAction::Deny, "rm -rf *", "rm -rf d");
    let place = [place(vec![deny, rule(RuleAction::Allow, "ls *", "ls")]), place(Vec::new())];
    if SandboxSupport::here(&guard()).level() == SandboxLevel::None {
        return;
    }
    for (command, with_denial) in [
        ("x=rm; $x -rf d", Some("$x -rf d")),
        ("$(echo rm) -rf d", Some("$ -rf d")),
        ("rm${IFS}-rf${IFS}d", Some("rm${IFS}-rf${IFS}d")),
        ("echo $x", None),
    ] {
        let command = json!({ "command": command }).to_string();
        let judged = place[0].tool("shell").judge(&command).await;
        let expected =
            with_denial.map_or(CallPolicy::Default, |part| CallPolicy::AlwaysAsk(part.to_owned()));
        assert_eq!(judged, expected, "{command}");
        assert_eq!(place[1].tool("shell").judge(&command).await, CallPolicy::Default);
    }
    for command in ["find . -exec rm -rf d ;", "stdbuf -o0 rm -rf d", "ionice rm -rf d"] {
        let judged = place[0].tool("shell").judge(&json!({"command": command}).to_string()).await;
        assert!(matches!(judged, CallPolicy::Deny(_)), "{command}: {judged:?}");
    }
}

/// A look that ends early must not leave a socket within reach.
#[tokio::test]
async fn no_socket_is_reached_where_there_is_too_much_to_look_at() {
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED: bubblewrap does not stand here");
        return;
    }
    let place = Place::sandboxed();
    for n in 0..600 {
        fs::create_dir_all(place.path(&format!("aa/{n}/.git"))).unwrap();
    }
    fs::create_dir(place.path("zz")).unwrap();
    let listener = UnixListener::bind(place.path("zz/agent.sock")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let connect = "perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(\"zz/agent.sock\") ? \
        \"ESCAPED\" : \"no: $!\"'";
    let seen = place.shell(connect).await;
    assert!(seen.text.contains("no: ") && listener.accept().is_err(), "{seen:?}");
}

/// Another program may put a link where a folder was while the sandbox is built.
#[test]
fn a_command_does_not_begin_where_a_place_is_another_than_was_looked_at() {
    use std::os::unix::fs::MetadataExt;
    let outer = folder();
    let (inside, link) = (outer.path().join("inside"), outer.path().join("link"));
    fs::create_dir(&inside).unwrap();
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    let found = fs::metadata(&inside).unwrap();
    let id = format!("{}:{}", found.dev(), found.ino());
    let spec = r#"{"files": null, "kernel": null,
        "limits": {"cpu_s": 0, "memory_bytes": 0, "file_bytes": 0, "processes": 0}}"#;
    for (path, id, runs) in [
        (&inside, id.as_str(), true),
        (&inside, "1:1", false),
        (&link, id.as_str(), false),
        (&outer.path().join("none"), id.as_str(), false),
    ] {
        let mut helper = Command::new(guard());
        helper.args(["__sandbox", spec, "--same"]).arg(path).args([id, "--", "echo", "ran"]);
        let output = helper.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.contains("ran"), runs, "{path:?} {id}: {output:?}");
    }
}
