//! The git program: what it is told each time, and what is refused before it is run.
//!
//! Hooks do not run and signing is off: they would run programs that nobody was asked about; a
//! repository whose own configuration runs others is refused. Nothing prompts.
//!
//! Deliberately absent: distrust of the person's own configuration, outside the repository.

use crate::capture::Capture;
use crate::clean::clean;
use crate::git_config::runs_programs;
use crate::process::{Ended, Launch, environment};
use crate::{CallContext, Workspace};
use everloop_types::{Ending, Observation};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// Bytes of git's output that are looked at.
const OUTPUT_BYTES_MAX: usize = 1_000_000;

/// How long git may take to stop before it is killed, by us or once we are gone: it takes its lock
/// files away.
pub(crate) const GRACE_MS: u64 = 1_000;

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
    /// The private folder that names the place where it runs; see `Shell::records`.
    pub records: Option<PathBuf>,
}

impl Git {
    /// A git that may change something.
    pub(crate) async fn act(&self, args: &[&str], context: &CallContext) -> Observation {
        if let Err(refused) = self.check_config().await {
            return Observation::error(refused);
        }
        let argv: Vec<&str> = ["git"].into_iter().chain(SAFE).chain(args.iter().copied()).collect();
        let launch = Launch {
            guard: self.guard.as_deref(),
            grace_ms: Some(GRACE_MS),
            record: None,
            folder: self.workspace.root(),
            walls: None,
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
            (None, Ended::Exit(_) | Ended::NeverStarted(_)) => Ending::Error,
            // It may have come far enough.
            (Some(()), _) | (_, Ended::Signal(_) | Ended::Lost | Ended::Stuck) => Ending::Unknown,
        };
        Observation { ending, text }
    }

    /// A git that only looks; its output, if it ended well.
    pub(crate) async fn look(&self, args: &[&str]) -> Result<String, String> {
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
                Err(format!("this repository's configuration runs programs: {name}; ask the user"))
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
    pub(crate) async fn head(&self) -> Result<String, String> {
        self.check_config().await?;
        let output = self.run(&["rev-parse", "--verify", "--quiet", "HEAD"]).await?;
        match output.status.code() {
            Some(0) => Ok(clean(&output.stdout).trim().to_owned()),
            Some(1) if output.stderr.is_empty() => Ok(String::new()),
            _ => Err(format!("git does not tell HEAD: {}", clean(&output.stderr).trim())),
        }
    }

    /// Lock files of the repository: each is there while a git works, or since one was killed.
    pub(crate) async fn locks(&self) -> Result<Vec<PathBuf>, String> {
        let folder = self.look(&["rev-parse", "--absolute-git-dir"]).await?;
        // Before the first commit, and without a branch, HEAD itself is locked.
        let branch = self.look(&["symbolic-ref", "--quiet", "HEAD"]).await.unwrap_or_default();
        let branch = format!("{}.lock", branch.trim());
        let branch = self.look(&["rev-parse", "--git-path", &branch]).await?;
        let branch = self.workspace.root().join(branch.trim());
        let entries = std::fs::read_dir(folder.trim()).map_err(|error| error.to_string())?;
        let entries = entries.flatten().map(|entry| entry.path());
        let is_lock = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "lock");
        let mut locks: Vec<PathBuf> = entries.chain([branch]).filter(is_lock).collect();
        locks.retain(|path| path.is_file());
        locks.sort();
        locks.dedup();
        Ok(locks)
    }

    /// The commit that a branch here names.
    pub(crate) async fn local_head(&self, branch: &str) -> Result<String, String> {
        let branch = format!("refs/heads/{branch}");
        let commit = self.look(&["rev-parse", "--verify", "--quiet", &branch]).await?;
        Ok(commit.trim().to_owned())
    }

    /// The commit that a remote's branch names; empty if it has none.
    pub(crate) async fn remote_head(&self, remote: &str, branch: &str) -> Result<String, String> {
        let names = self.check_config().await?;
        // Anything else git would take for an address.
        if !names.contains(&format!("remote.{remote}.url")) {
            return Err(format!("there is no remote {remote}"));
        }
        let branch = format!("refs/heads/{branch}");
        let line = self.look(&["ls-remote", "--", remote, &branch]).await?;
        Ok(line.split_whitespace().next().unwrap_or_default().to_owned())
    }
}
