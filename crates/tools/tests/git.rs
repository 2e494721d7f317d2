//! The git tools on a real repository with a bare remote beside it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, guard, intent, unknown};
use everloop_ports::{CallContext, Intent, Probe, ToolReturn};
use everloop_tools::{Setting, builtin_tools};
use everloop_types::{Ending, Observation};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

fn git(place: &Place, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(place.root()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {text}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository on `main` with one commit, and its remote.
fn place() -> (tempfile::TempDir, Place) {
    let remote = tempfile::TempDir::new().unwrap();
    let bare = ["init", "--quiet", "--bare", "--initial-branch=main"];
    assert!(Command::new("git").args(bare).arg(remote.path()).status().unwrap().success());
    let place = Place::with(|setting| {
        let work = &setting.workspace;
        let init = ["init", "--quiet", "--initial-branch=main"];
        assert!(Command::new("git").args(init).arg(work).status().unwrap().success());
        Setting { guard: Some(guard()), ..setting }
    });
    git(&place, &["config", "user.name", "Test"]);
    git(&place, &["config", "user.email", "test@example.org"]);
    git(&place, &["remote", "add", "origin", remote.path().to_str().unwrap()]);
    git(&place, &["commit", "--quiet", "--allow-empty", "-m", "first"]);
    (remote, place)
}

fn commit_args() -> Value {
    json!({"message": "second", "paths": ["a.txt"]})
}

#[tokio::test]
async fn git_is_offered_only_in_a_repository() {
    assert!(Place::new().registry.get("git_commit").is_none());
    let (_remote, place) = place();
    assert!(place.registry.get("git_commit").is_some());
}

#[tokio::test]
async fn a_commit_holds_the_paths_it_names_runs_no_hook_and_is_known_by_its_effect() {
    let (_remote, place) = place();
    place.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch hook-ran\nexit 1\n");
    let hook = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path(".git/hooks/pre-commit"), hook).unwrap();
    place.write("a.txt", "one");
    place.write("b.txt", "two");
    let tool = place.tool("git_commit");
    let before = tool.before(&commit_args().to_string()).await;
    let probe = async |intent: Intent| tool.probe(&commit_args().to_string(), &intent).await;
    assert_eq!(probe(intent(&before)).await, Probe::DidNot);
    let mut elsewhere = before.clone();
    elsewhere["place"] = json!("moon");
    assert!(unknown(&probe(intent(&elsewhere)).await));
    let made = place.call("git_commit", commit_args()).await;
    let head = git(&place, &["rev-parse", "HEAD"]);
    assert_eq!(made, Observation::ok(format!("committed {head}")));
    assert_eq!(git(&place, &["show", "--name-only", "--format=%s"]), "second\n\na.txt");
    assert!(!place.path("hook-ran").exists());
    assert_eq!(probe(intent(&before)).await, Probe::Happened(made.clone()));
    git(&place, &["commit", "--no-verify", "--quiet", "--allow-empty", "-m", "another"]);
    assert_eq!(probe(intent(&before)).await, Probe::Happened(made));
    let other = Intent { idem_key: "other".to_owned(), ..intent(&before) };
    assert!(unknown(&probe(other).await));
}

#[tokio::test]
async fn the_remote_tells_whether_a_push_happened() {
    let (remote, place) = place();
    let args = json!({"remote": "origin", "branch": "main"});
    let tool = place.tool("git_push");
    let before = tool.before(&args.to_string()).await;
    assert_eq!(before["remote"], "");
    let probe = async || tool.probe(&args.to_string(), &intent(&before)).await;
    assert_eq!(probe().await, Probe::DidNot);
    let pushed = place.call("git_push", args.clone()).await;
    assert!(pushed.is_ok(), "{pushed:?}");
    let head = git(&place, &["rev-parse", "HEAD"]);
    assert_eq!(probe().await, Probe::Happened(Observation::ok(format!("main is at {head}"))));
    git(&place, &["commit", "--quiet", "--allow-empty", "-m", "other"]);
    git(&place, &["push", "--quiet", "origin", "main"]);
    assert!(unknown(&probe().await));
    drop(remote);
    assert!(unknown(&probe().await));
}

#[tokio::test]
async fn names_that_git_could_take_for_something_else_are_refused() {
    let (_remote, place) = place();
    for (remote, branch) in
        [("--exec=x", "main"), ("origin", "+main"), ("origin", "a:b"), ("", "a")]
    {
        let refused = place.call("git_push", json!({"remote": remote, "branch": branch})).await;
        assert_eq!(refused, Observation::error("remote and branch must be plain names"));
    }
    let outside = json!({"message": "m", "paths": ["../secret"]});
    let refused =
        place.tool("git_commit").call(&outside.to_string(), &crate::support::context()).await;
    assert!(matches!(refused, ToolReturn::Seen(seen) if !seen.is_ok()));
}

#[tokio::test]
async fn looking_shows_what_changed() {
    let (_remote, place) = place();
    place.write("a.txt", "one");
    let status = place.call("git_read", json!({"view": "status"})).await;
    assert!(status.text.contains("?? a.txt"), "{status:?}");
    let log = place.call("git_read", json!({"view": "log"})).await;
    assert!(log.text.contains("first"), "{log:?}");
    let diff = place.call("git_read", json!({"view": "diff"})).await;
    assert_eq!(diff, Observation::ok("nothing"));
}

/// Each of these makes git run a program of somebody's choice, and none of it is shown to whoever
/// approves a commit.
#[tokio::test]
async fn a_configuration_that_runs_programs_is_refused_by_its_key() {
    for key in [
        "filter.evil.clean",
        "diff.evil.textconv",
        "diff.external",
        "merge.evil.driver",
        "trailer.Everloop-Effect.cmd",
        "protocol.ext.allow",
        "credential.helper",
        "gpg.program",
        "include.path",
        "includeIf.onbranch:main.path",
        "core.fsmonitor",
        "core.sshCommand",
        "remote.origin.receivepack",
        "url.ext::sh.pushInsteadOf",
    ] {
        let (_remote, place) = place();
        place.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
        place.write("a.txt", "one");
        git(&place, &["config", key, "touch ran; cat"]);
        let push = json!({"remote": "origin", "branch": "main"});
        for (tool, args) in [
            ("git_read", json!({"view": "status"})),
            ("git_read", json!({"view": "diff"})),
            ("git_commit", commit_args()),
            ("git_push", push.clone()),
        ] {
            let (section, last) = (key.split('.').next().unwrap(), key.rsplit('.').next().unwrap());
            let seen = place.call(tool, args).await;
            assert_eq!(seen.ending, Ending::Error, "{tool} {key}: {}", seen.text);
            let words = "this repository's configuration runs programs";
            assert!(seen.text.starts_with(words), "{tool} {key}: {}", seen.text);
            let named = seen.text.to_lowercase();
            assert!(named.contains(&section.to_lowercase()), "{key}: {named}");
            assert!(named.contains(&last.to_lowercase()), "{key}: {named}");
        }
        let before = place.tool("git_push").before(&push.to_string()).await;
        assert_eq!(before["remote"], Value::Null);
        assert!(!place.path("ran").exists(), "{key}");
    }
}

#[tokio::test]
async fn the_configuration_of_a_single_work_tree_is_looked_at_too() {
    let (_remote, place) = place();
    git(&place, &["config", "extensions.worktreeConfig", "true"]);
    assert!(place.call("git_read", json!({"view": "log"})).await.is_ok());
    git(&place, &["config", "--worktree", "filter.evil.clean", "touch ran"]);
    assert!(!place.call("git_read", json!({"view": "log"})).await.is_ok());
}

#[tokio::test]
async fn a_push_goes_only_to_a_remote_that_has_a_name_and_never_through_a_program() {
    let (remote, place) = place();
    let push = async |remote: &str| {
        place.call("git_push", json!({"remote": remote, "branch": "main"})).await
    };
    let path = format!("sub/{}", remote.path().file_name().unwrap().display());
    git(&place, &["clone", "--quiet", "--bare", ".", &path]);
    let nameless = push(&path).await;
    assert_eq!(nameless, Observation::error(format!("there is no remote {path}")));
    git(&place, &["config", "remote.evil.url", "ext::sh -c touch% ran"]);
    let evil = push("evil").await;
    assert_eq!(evil.ending, Ending::Error);
    assert!(evil.text.contains("ext"), "{evil:?}");
    assert!(!place.path("ran").exists());
}

#[tokio::test]
async fn no_file_by_which_git_runs_programs_is_written() {
    let (_remote, place) = place();
    std::os::unix::fs::symlink(".git", place.path("inner")).unwrap();
    std::os::unix::fs::symlink("sub/.gitattributes", place.path("dangling")).unwrap();
    let config = place.content(".git/config");
    let paths = [
        ".git/config",
        ".GIT/config",
        "sub/../.git/hooks/x",
        "new/.git",
        ".gitattributes",
        "sub/.GitAttributes",
        ".gitmodules",
        "inner/config",
        "dangling",
    ];
    for path in paths {
        let seen = place.call("write_file", json!({"path": path, "content": "x"})).await;
        assert_eq!(seen.ending, Ending::Error, "{path}");
        let words = ["tells git which programs to run", "is protected in a workspace"];
        assert!(words.iter().any(|words| seen.text.contains(words)), "{}", seen.text);
    }
    assert_eq!(place.content(".git/config"), config);
    for path in [".gitignore", "git/config", "x.git/config"] {
        assert!(place.call("write_file", json!({"path": path, "content": "x"})).await.is_ok());
    }
}

/// Lets the remote run a script when it changes a branch, with the state of the change in `$1`.
fn on_change(remote: &tempfile::TempDir, script: &str) {
    let hook = remote.path().join("hooks/reference-transaction");
    std::fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(hook, mode).unwrap();
}

#[tokio::test]
async fn a_push_that_the_remote_took_before_it_broke_is_no_error() {
    let (remote, place) = place();
    on_change(&remote, "[ $1 = committed ] && kill -9 $PPID; exit 0");
    let seen = place.call("git_push", json!({"remote": "origin", "branch": "main"})).await;
    let head = git(&place, &["rev-parse", "HEAD"]);
    assert_eq!(seen, Observation::ok(format!("main is at {head}")));
}

#[tokio::test]
async fn a_push_that_the_remote_refused_is_an_error() {
    let (remote, place) = place();
    on_change(&remote, "exit 1");
    let seen = place.call("git_push", json!({"remote": "origin", "branch": "main"})).await;
    assert_eq!(seen.ending, Ending::Error);
    assert!(seen.text.contains("aborted by hook"), "{seen:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_push_that_was_killed_before_the_remote_took_it_is_lost() {
    let (remote, place) = place();
    let kill = "p=$PPID; while [ $p -gt 1 ]; do
        set -- $(cat /proc/$p/stat); case $(tr '\\0' ' ' </proc/$p/cmdline) in
        *git*' push '*) kill -9 $p; exit 1;; esac; p=$4; done; exit 1";
    on_change(&remote, kill);
    let args = json!({"remote": "origin", "branch": "main"}).to_string();
    let done = place.tool("git_push").call(&args, &crate::support::context()).await;
    assert!(matches!(done, ToolReturn::Lost(_)), "{done:?}");
}

#[tokio::test]
async fn a_repository_that_cannot_be_looked_at_says_nothing_about_a_commit() {
    let (_remote, place) = place();
    let tool = place.tool("git_commit");
    let args = commit_args().to_string();
    let before = tool.before(&args).await;
    let hide = |from: &str, to: &str| std::fs::rename(place.path(from), place.path(to)).unwrap();
    hide(".git/HEAD", ".git/HEAD.away");
    assert!(unknown(&tool.probe(&args, &intent(&before)).await));
    let blind = tool.before(&args).await;
    assert_eq!(blind["head"], Value::Null);
    assert!(unknown(&tool.probe(&args, &intent(&blind)).await));
    hide(".git/HEAD.away", ".git/HEAD");
    assert!(unknown(&tool.probe(&args, &intent(&blind)).await));
    assert_eq!(tool.probe(&args, &intent(&before)).await, Probe::DidNot);
}

/// Makes a commit in a process of its own, which can be killed.
#[tokio::test]
async fn makes_one_commit_if_it_is_asked_to() {
    let Some(workspace) = std::env::var_os("EVERLOOP_TEST_WORKSPACE") else { return };
    let registry = builtin_tools(&Setting { guard: Some(guard()), ..Setting::new(workspace) });
    let commit = Arc::clone(registry.unwrap().get("git_commit").unwrap());
    commit.call(&commit_args().to_string(), &CallContext::new("key")).await;
}

/// A call of `git_commit` in another process, whose git holds its lock for long: the file that it
/// adds is huge, and empty on the disk.
#[cfg(target_os = "linux")]
struct Held {
    root: std::path::PathBuf,
    owner: std::process::Child,
}

#[cfg(target_os = "linux")]
impl Held {
    fn begin(place: &Place) -> Self {
        place.write("a.txt", "");
        let file = std::fs::File::options().write(true).open(place.path("a.txt")).unwrap();
        file.set_len(100 << 30).unwrap();
        let owner = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "git::makes_one_commit_if_it_is_asked_to"])
            .env("EVERLOOP_TEST_WORKSPACE", place.root())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let held = Self { root: place.root(), owner };
        held.until(|| place.path(".git/index.lock").exists());
        held
    }

    fn until(&self, holds: impl Fn() -> bool) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !holds() {
            assert!(std::time::Instant::now() < until, "{:?} are there", self.processes());
            std::thread::yield_now();
        }
    }

    fn kill_owner(&mut self) {
        self.owner.kill().unwrap();
        self.owner.wait().unwrap();
    }

    /// The caller, the guards and the gits of the call, by what they were told.
    fn processes(&self) -> Vec<i32> {
        let root = self.root.canonicalize().unwrap();
        let told = [
            format!("GIT_DIR={}", root.join(".git").display()),
            format!("EVERLOOP_TEST_WORKSPACE={}", self.root.display()),
        ];
        let is_theirs = |folder: &Path| {
            let variables = std::fs::read(folder.join("environ")).unwrap_or_default();
            let mut variables = variables.split(|byte| *byte == 0);
            variables.any(|variable| told.iter().any(|told| variable == told.as_bytes()))
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let pid = |path: &Path| path.file_name()?.to_str()?.parse().ok();
        all.filter(|path| is_theirs(path)).filter_map(|path| pid(&path)).collect()
    }

    /// All at once, so that nobody can tidy up.
    fn kill_all(&mut self) {
        for pid in self.processes() {
            rustix::process::kill_process(
                rustix::process::Pid::from_raw(pid).unwrap(),
                rustix::process::Signal::STOP,
            )
            .unwrap();
        }
        // Children first: the system wakes a stopped child whose parent is gone.
        let mut pids = self.processes();
        pids.sort_unstable_by(|a, b| b.cmp(a));
        for pid in pids {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        self.owner.wait().unwrap();
        self.gone();
    }

    fn gone(&self) {
        self.until(|| self.processes().is_empty());
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_git_whose_owner_is_killed_takes_its_lock_away() {
    let (_remote, place) = place();
    let mut held = Held::begin(&place);
    held.kill_owner();
    held.gone();
    assert!(!place.path(".git/index.lock").exists());
    place.write("a.txt", "one");
    assert!(place.call("git_commit", commit_args()).await.is_ok());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_lock_that_a_dead_commit_left_is_removed_by_its_probe_and_no_other_is() {
    let (_remote, place) = place();
    let (tool, args) = (place.tool("git_commit"), commit_args().to_string());
    let probe = async |before: &Value| tool.probe(&args, &intent(before)).await;
    let before = tool.before(&args).await;
    let mut held = Held::begin(&place);
    let at_work = probe(&before).await;
    assert!(
        matches!(&at_work, Probe::Unknown(why) if why.contains("index.lock is there")),
        "{at_work:?}"
    );
    held.kill_all();
    place.write("a.txt", "one");
    // A later call finds it in its way, and did not make it.
    let later = tool.before(&args).await;
    let seen = place.call("git_commit", commit_args()).await;
    assert_eq!(seen.ending, Ending::Error);
    assert!(seen.text.contains("the user removes that file"), "{seen:?}");
    assert_eq!(probe(&later).await, Probe::DidNot);
    let mut elsewhere = before.clone();
    elsewhere["place"] = json!("moon");
    assert!(unknown(&probe(&elsewhere).await));
    assert!(place.path(".git/index.lock").exists());
    assert_eq!(probe(&before).await, Probe::DidNot);
    assert!(!place.path(".git/index.lock").exists());
    assert!(place.call("git_commit", commit_args()).await.is_ok());
}
