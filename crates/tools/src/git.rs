//! `git_read`, `git_commit` and `git_push`: the repository of the workspace, by its own program.
//!
//! ```text
//!   before: the ref as it is ──► git … ──► probe: the ref again
//!     as it was ──► did not happen      what it was to become ──► happened      else ──► unknown
//! ```
//!
//! Arguments are a list and never a shell's. Hooks do not run and signing is off: they would run
//! programs that nobody was asked about; a repository whose own configuration runs others is
//! refused. Nothing prompts: a missing password is an error.
//!
//! Deliberately absent: clone, checkout, merge, reset, force. `shell` has them, and asks.

use crate::capture::Capture;
use crate::clean::clean;
use crate::git_config::runs_programs;
use crate::process::{Ended, Launch, environment};
use crate::{CallContext, Done, Intent, Probe, Tool, Workspace, clip};
use everloop_types::{Approval, EffectClass, Ending, Handling, Observation, OnUnknown};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// Bytes of git's output that are looked at.
const OUTPUT_BYTES_MAX: usize = 1_000_000;

/// How long git may take to stop before it is killed.
const GRACE_MS: u64 = 1_000;

/// Options before every subcommand: no hooks, no signing, nothing that goes on in the background.
const SAFE: [&str; 16] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "push.gpgSign=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "--no-pager",
    "--literal-pathspecs",
];

/// Whether git is there and the folder is the root of a repository's work tree.
#[must_use]
pub(crate) fn is_repository(folder: &Path) -> bool {
    let found = std::process::Command::new("git").arg("--version").stdout(Stdio::null()).status();
    folder.join(".git").exists() && found.is_ok_and(|status| status.success())
}

/// Variables of every git: nothing may ask, and its words are those that are looked for.
const VARIABLES: [(&str, &str); 6] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "true"),
    ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
    ("GIT_ALLOW_PROTOCOL", "https:ssh:file"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("LC_ALL", "C"),
];

/// Runs git in the workspace.
#[derive(Debug, Clone)]
pub struct Git {
    /// The root of the work tree.
    pub workspace: Arc<Workspace>,
    /// The program around each git that changes something, so that none outlives us.
    pub guard: Option<PathBuf>,
}

impl Git {
    /// A git that may change something.
    async fn act(&self, args: &[&str], context: &CallContext) -> Observation {
        if let Err(refused) = self.check_config().await {
            return Observation::error(refused);
        }
        let argv: Vec<&str> = ["git"].into_iter().chain(SAFE).chain(args.iter().copied()).collect();
        let launch = Launch {
            guard: self.guard.as_deref(),
            record: None,
            folder: self.workspace.root(),
            argv: &argv,
            variables: &VARIABLES,
        };
        let running = match launch.start() {
            Ok(running) => running,
            Err(error) => return Observation::error(format!("cannot run git: {error}")),
        };
        let mut capture = Capture::new(OUTPUT_BYTES_MAX, context.on_output.clone());
        let grace = Duration::from_millis(GRACE_MS);
        let (ended, stop) = running.follow(&mut capture, context.cancel.cancelled(), grace).await;
        let text = capture.text(context.observation_chars);
        let ending = match (stop, ended) {
            (None, Ended::Exit(0)) => Ending::Ok,
            (None, Ended::Exit(_) | Ended::Signal(_) | Ended::NeverStarted(_)) => Ending::Error,
            // It may have come far enough.
            (Some(()), _) | (_, Ended::Lost | Ended::Stuck) => Ending::Unknown,
        };
        Observation { ending, text }
    }

    /// A git that only looks; its output, if it ended well.
    async fn look(&self, args: &[&str]) -> Result<String, String> {
        self.check_config().await?;
        let output = self.run(args).await?;
        let kept = |bytes: &[u8]| clean(&bytes[..bytes.len().min(OUTPUT_BYTES_MAX)]);
        match output.status.success() {
            true => Ok(kept(&output.stdout)),
            false => Err(kept(&output.stderr)),
        }
    }

    /// The names of the repository's own settings; refuses one that runs programs.
    async fn check_config(&self) -> Result<Vec<String>, String> {
        let list = ["config", "--no-includes", "--show-scope", "--list", "--name-only"];
        let output = self.run(&list).await?;
        if !output.status.success() {
            let why = clean(&output.stderr);
            return Err(format!("cannot read the repository's configuration: {why}"));
        }
        let lines = String::from_utf8_lossy(&output.stdout);
        let own = lines.lines().filter_map(|line| line.split_once('\t'));
        let own = own.filter(|(scope, _)| matches!(*scope, "local" | "worktree"));
        let names: Vec<String> = own.map(|(_, name)| name.to_owned()).collect();
        match names.iter().find(|name| runs_programs(name)) {
            Some(name) => {
                let name = clean(name.as_bytes());
                Err(format!("this repository's configuration runs programs: {name}; ask for shell"))
            }
            None => Ok(names),
        }
    }

    async fn run(&self, args: &[&str]) -> Result<Output, String> {
        let mut command = Command::new("git");
        command.args(SAFE).args(args).current_dir(self.workspace.root());
        command.env_clear().envs(environment(std::env::vars_os())).envs(VARIABLES);
        command.stdin(Stdio::null()).kill_on_drop(true).process_group(0);
        command.output().await.map_err(|error| format!("cannot run git: {error}"))
    }

    /// The commit that HEAD names; empty before the first.
    async fn head(&self) -> String {
        let head = self.look(&["rev-parse", "--verify", "--quiet", "HEAD"]).await;
        head.unwrap_or_default().trim().to_owned()
    }

    /// The commit that a remote's branch names; empty if it has none.
    async fn remote_head(&self, args: &GitPushArgs) -> Result<String, String> {
        let names = self.check_config().await?;
        // Anything else git would take for an address.
        if !names.contains(&format!("remote.{}.url", args.remote)) {
            return Err(format!("there is no remote {}", args.remote));
        }
        let branch = format!("refs/heads/{}", args.branch);
        let line = self.look(&["ls-remote", "--", &args.remote, &branch]).await?;
        Ok(line.split_whitespace().next().unwrap_or_default().to_owned())
    }
}

/// A name that git cannot take for an option or for several refs.
fn is_plain(name: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control() || ":?*[\\^~".contains(c);
    !name.is_empty() && !name.starts_with(['-', '+', '/']) && !name.contains(odd)
}

fn handling(class: EffectClass, approval: Approval) -> Handling {
    Handling {
        class,
        approval,
        on_unknown: OnUnknown::TellModel,
        timeout_ms: 120_000,
        grace_ms: GRACE_MS,
        ..Handling::default()
    }
}

/// What `git_read` shows.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GitView {
    /// What is changed, staged and untracked.
    Status,
    /// The changes that are not committed.
    Diff,
    /// The last commits.
    Log,
}

/// The arguments of `git_read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GitReadArgs {
    /// What to show.
    pub view: GitView,
}

/// Looking must not wait for others.
const LOCKLESS: &str = "--no-optional-locks";

/// Looking into a submodule would run git by that one's configuration.
const SHALLOW: &str = "--ignore-submodules=dirty";

/// Looks at the repository.
#[derive(Debug)]
pub struct GitRead(pub Git);

impl Tool for GitRead {
    const NAME: &'static str = "git_read";
    type Args = GitReadArgs;

    fn description(&self) -> &'static str {
        "Look at the git repository of the workspace: status, diff or log. Changes nothing."
    }

    fn handling(&self) -> Handling {
        handling(EffectClass::Pure, Approval::Allow)
    }

    async fn call(&self, args: GitReadArgs, context: &CallContext) -> Done {
        let args: &[&str] = match args.view {
            GitView::Status => &[LOCKLESS, "status", "--short", "--branch", SHALLOW],
            GitView::Diff => &[LOCKLESS, "diff", "--no-ext-diff", "--no-textconv", SHALLOW, "HEAD"],
            GitView::Log => &["log", "--max-count=30", "--format=%h %ad %an %s", "--date=short"],
        };
        let chars = context.observation_chars;
        tokio::select! {
            said = self.0.look(args) => Done::Seen(match said {
                Ok(text) if text.trim().is_empty() => Observation::ok("nothing"),
                Ok(text) => Observation::ok(clip::ends(&text, chars)),
                Err(text) => Observation::error(clip::ends(&text, chars)),
            }),
            () = context.cancel.cancelled() => {
                Done::Seen(Observation { ending: Ending::Canceled, text: "stopped".to_owned() })
            }
        }
    }
}

/// The arguments of `git_commit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GitCommitArgs {
    /// The commit message.
    pub message: String,
    /// The files and folders whose changes are committed, relative to the workspace.
    pub paths: Vec<PathBuf>,
}

/// Makes a commit.
#[derive(Debug)]
pub struct GitCommit(pub Git);

/// The trailer by which a commit is known as the one that was wanted.
const TRAILER: &str = "Everloop-Effect";

impl Tool for GitCommit {
    const NAME: &'static str = "git_commit";
    type Args = GitCommitArgs;

    fn description(&self) -> &'static str {
        "Commit the changes of some paths in the git repository of the workspace. Hooks do not run."
    }

    fn handling(&self) -> Handling {
        handling(EffectClass::Probeable, Approval::Ask)
    }

    async fn call(&self, args: GitCommitArgs, context: &CallContext) -> Done {
        let root = self.0.workspace.clone();
        let paths: Result<Vec<String>, _> =
            args.paths.iter().map(|path| path_text(&root, path)).collect();
        let paths = match paths {
            Ok(paths) if !paths.is_empty() && !args.message.trim().is_empty() => paths,
            Ok(_) => return Done::Seen(Observation::error("message and paths must not be empty")),
            Err(error) => return Done::Seen(Observation::error(error)),
        };
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let added = self.0.act(&[&["add", "--"], paths.as_slice()].concat(), context).await;
        if !added.is_ok() {
            return Done::Seen(added);
        }
        let trailer = format!("--trailer={TRAILER}: {}", context.idem_key);
        let commit = ["commit", "--no-verify", "--quiet", "-m", &args.message, &trailer, "--"];
        let made = self.0.act(&[&commit, paths.as_slice()].concat(), context).await;
        Done::Seen(if made.is_ok() { committed(&self.0.head().await) } else { made })
    }

    async fn before(&self, _: &GitCommitArgs) -> Value {
        json!({ "head": self.0.head().await })
    }

    /// The new commit names the effect, so it is known among others; staging alone is no commit.
    async fn probe(&self, _: GitCommitArgs, intent: &Intent) -> Probe {
        let head = self.0.head().await;
        if intent.before["head"].as_str() == Some(head.as_str()) {
            return Probe::DidNot;
        }
        let wanted = format!("--grep=^{TRAILER}: {}$", intent.idem_key);
        let found = self.0.look(&["log", "--max-count=1", "--format=%H", &wanted, "HEAD"]).await;
        match found {
            Ok(commit) if !commit.trim().is_empty() => Probe::Happened(committed(commit.trim())),
            _ => Probe::unknown("HEAD is another commit now, and not the one that was to be made"),
        }
    }
}

fn committed(commit: &str) -> Observation {
    Observation::ok(format!("committed {commit}"))
}

fn path_text(workspace: &Workspace, path: &Path) -> Result<String, String> {
    let inside = workspace.resolve(path).map_err(|error| error.text())?;
    inside.to_str().map(str::to_owned).ok_or_else(|| "a path is not text".to_owned())
}

/// The arguments of `git_push`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GitPushArgs {
    /// The name of the remote, such as origin.
    pub remote: String,
    /// The branch, here and there. Never forced.
    pub branch: String,
}

/// Pushes a branch.
#[derive(Debug)]
pub struct GitPush(pub Git);

impl Tool for GitPush {
    const NAME: &'static str = "git_push";
    type Args = GitPushArgs;

    fn description(&self) -> &'static str {
        "Push a branch of the git repository of the workspace to a remote. Never forced."
    }

    fn handling(&self) -> Handling {
        Handling {
            resource_arg: Some("remote".to_owned()),
            on_unknown: OnUnknown::AskUser,
            ..handling(EffectClass::Probeable, Approval::Ask)
        }
    }

    async fn call(&self, args: GitPushArgs, context: &CallContext) -> Done {
        if !is_plain(&args.remote) || !is_plain(&args.branch) {
            return Done::Seen(Observation::error("remote and branch must be plain names"));
        }
        if let Err(why) = self.0.remote_head(&args).await {
            return Done::Seen(Observation::error(why));
        }
        let branch = format!("refs/heads/{0}:refs/heads/{0}", args.branch);
        let push = ["push", "--no-verify", "--porcelain", "--", &args.remote, &branch];
        Done::Seen(self.0.act(&push, context).await)
    }

    async fn before(&self, args: &GitPushArgs) -> Value {
        if !is_plain(&args.remote) || !is_plain(&args.branch) {
            return Value::Null;
        }
        let local = format!("refs/heads/{}", args.branch);
        let local = self.0.look(&["rev-parse", "--verify", "--quiet", &local]).await.ok();
        let local = local.map(|commit| commit.trim().to_owned());
        json!({ "remote": self.0.remote_head(args).await.ok(), "local": local })
    }

    async fn probe(&self, args: GitPushArgs, intent: &Intent) -> Probe {
        let was = |name: &str| intent.before[name].as_str();
        let (Some(before), Some(wanted)) = (was("remote"), was("local")) else {
            return Probe::unknown("nobody saw the remote before");
        };
        match self.0.remote_head(&args).await {
            Err(why) => Probe::Unknown(format!("the remote does not answer: {why}")),
            Ok(now) if now == wanted => {
                Probe::Happened(Observation::ok(format!("{} is at {now}", args.branch)))
            }
            Ok(now) if now == before => Probe::DidNot,
            Ok(now) => Probe::Unknown(format!("the remote's {} is at {now} now", args.branch)),
        }
    }
}
