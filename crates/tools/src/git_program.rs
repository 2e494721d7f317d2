//! The git program: the options of every call, and the checks before it runs.
//!
//! ```text
//!   .git within the workspace? ──► settings that run programs? ──► git, pinned to both folders,
//!                                                                  in a sandbox where there is one
//! ```
//!
//! Hooks do not run and signing is off, because both would run programs without approval. A
//! repository whose own configuration runs programs is refused. Nothing prompts. What only looks or
//! commits sees the workspace and the system, has no network, and of the person's own settings only
//! who they are. What asks a remote runs with all of them, unless they lie in a workspace.

use crate::capture::Capture;
use crate::clean::clean;
use crate::git_call::{GitCall, forwarded_options, global_settings, own_settings};
use crate::git_config::runs_programs;
use crate::git_place::GitPlace;
use crate::process::{CommandEnd, Launch, ProgramSearch};
use crate::programs::{self, find_program};
use crate::protected::real;
use crate::{Workspace, sandbox};
use everloop_ports::CallContext;
use everloop_types::{Ending, Observation};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of git's output that are looked at.
const OUTPUT_BYTES_MAX: usize = 1_000_000;

/// How long git may take to stop before it is killed, by us or once we are gone: it takes its lock
/// files away.
pub(crate) const GRACE_MS: u64 = 1_000;

/// Options before every subcommand: no hooks, no signing, no other repository, nothing that goes on
/// in the background.
const SAFE: [&str; 30] = [
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
    "-c",
    "submodule.recurse=false",
    "-c",
    "push.recurseSubmodules=no",
    "-c",
    "status.submoduleSummary=false",
    "-c",
    "diff.ignoreSubmodules=dirty",
    "-c",
    "core.quotePath=false",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "safe.bareRepository=explicit",
    "--no-pager",
    "--literal-pathspecs",
];

/// Options of a git without a network.
const LOCAL: [&str; 12] = [
    "-c",
    "protocol.allow=never",
    "-c",
    "core.sshCommand=false",
    "-c",
    "credential.helper=",
    "-c",
    "core.editor=:",
    "-c",
    "core.askPass=true",
    "-c",
    "commit.template=",
];

/// What a git may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GitReach {
    /// The workspace, to look at it.
    Look,
    /// The workspace, and its repository to write to.
    Write,
    /// Remotes.
    Remote,
}

/// Whether git is there and the folder is the root of a repository's work tree.
#[must_use]
pub(crate) fn is_repository(folder: &Path) -> bool {
    folder.join(".git").exists() && find_program("git").is_some()
}

/// Variables of every git: nothing may ask, and its words are those that are looked for.
const VARIABLES: [(&str, &str); 8] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    // What is missing is not asked for.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ASKPASS", "true"),
    ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
    ("GIT_ALLOW_PROTOCOL", "https:ssh:file"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
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
    /// A git that commits.
    pub(crate) async fn act(&self, args: &[&str], context: &CallContext) -> Observation {
        self.change(args, GitReach::Write, context).await
    }

    /// A git that pushes.
    pub(crate) async fn send(&self, args: &[&str], context: &CallContext) -> Observation {
        self.change(args, GitReach::Remote, context).await
    }

    async fn change(&self, args: &[&str], reach: GitReach, context: &CallContext) -> Observation {
        let call = match self.checked(args, reach).await {
            Ok((call, _)) => call,
            Err(refused) => return Observation::error(refused),
        };
        let argv: Vec<&str> = call.argv.iter().map(String::as_str).collect();
        let variables: Vec<(&str, &str)> =
            call.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let launch = Launch {
            guard: self.guard.as_deref(),
            grace_ms: Some(GRACE_MS),
            record: None,
            folder: self.workspace.root(),
            sandbox: call.sandbox.as_ref(),
            argv: &argv,
            variables: &variables,
            search: ProgramSearch::Trusted,
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
            (None, CommandEnd::Exit(0)) => Ending::Ok,
            (None, CommandEnd::Exit(_) | CommandEnd::NeverStarted(_)) => Ending::Error,
            // It may already have taken effect.
            (Some(()), _) | (_, CommandEnd::Signal(_) | CommandEnd::Lost | CommandEnd::Stuck) => {
                Ending::Unknown
            }
        };
        Observation { ending, text }
    }

    /// A git that only looks; its output, if it ended well.
    pub(crate) async fn look(&self, args: &[&str]) -> Result<String, String> {
        self.read(args, GitReach::Look).await
    }

    async fn read(&self, args: &[&str], reach: GitReach) -> Result<String, String> {
        let output = self.run(args, reach).await?;
        let kept = |bytes: &[u8]| clean(&bytes[..bytes.len().min(OUTPUT_BYTES_MAX)]);
        match output.status.success() {
            true => Ok(kept(&output.stdout)),
            false => Err(kept(&output.stderr)),
        }
    }

    async fn run(&self, args: &[&str], reach: GitReach) -> Result<Output, String> {
        self.checked(args, reach).await?.0.output().await
    }

    /// The call, if the repository lies in the workspace and its own settings run nothing; and the
    /// names of those.
    async fn checked(
        &self,
        args: &[&str],
        reach: GitReach,
    ) -> Result<(GitCall, Vec<String>), String> {
        let place = GitPlace::of(self.workspace.root())?;
        let list = ["config", "--no-includes", "--show-scope", "--list", "-z"];
        let output = self.call(&place, &list, GitReach::Look, &[])?.output().await?;
        if !output.status.success() {
            let why = clean(&output.stderr);
            return Err(format!("cannot read the repository's configuration: {why}"));
        }
        let own = own_settings(&output.stdout);
        let refused = own.iter().find(|(name, value)| {
            runs_programs(name) || name == "core.worktree" && !self.is_root(&place, value)
        });
        if let Some((name, _)) = refused {
            let name = clean(name.as_bytes());
            let words = "this repository's configuration runs programs or leads elsewhere";
            return Err(format!("{words}: {name}; ask the user"));
        }
        let names: Vec<String> = own.into_iter().map(|(name, _)| name).collect();
        let call = self.call(&place, args, reach, &names)?;
        if reach == GitReach::Write && call.sandbox.is_none() {
            self.check_nested(&place).await?;
        }
        Ok((call, names))
    }

    /// Git also works in nested repositories that the index names, by their own settings. Without a
    /// sandbox they are refused.
    async fn check_nested(&self, place: &GitPlace) -> Result<(), String> {
        let list = ["ls-files", "--stage", "-z"];
        let output = self.call(place, &list, GitReach::Look, &[])?.output().await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let nested = text.split('\0').filter(|line| line.starts_with("160000 "));
        let paths = nested.filter_map(|line| line.split_once('\t')).map(|(_, path)| path);
        let mut live = paths.filter(|path| {
            let inner = self.workspace.root().join(path).join(".git");
            std::fs::symlink_metadata(inner).is_ok()
        });
        match live.next() {
            Some(path) => Err(format!(
                "{} is a repository of its own, and git is not sandboxed here; ask the user",
                clean(path.as_bytes())
            )),
            None => Ok(()),
        }
    }

    fn is_root(&self, place: &GitPlace, value: &str) -> bool {
        place.common.join(value).canonicalize().is_ok_and(|goal| goal == self.workspace.root())
    }

    fn call(
        &self,
        place: &GitPlace,
        args: &[&str],
        reach: GitReach,
        own: &[String],
    ) -> Result<GitCall, String> {
        let program = find_program("git").ok_or("git is not installed")?;
        let text = |path: &Path| path.to_str().map(str::to_owned).ok_or("a path is not text");
        let root = self.workspace.root();
        let mut variables: Vec<(&'static str, String)> =
            VARIABLES.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        variables.push(("GIT_DIR", text(&place.folder)?));
        variables.push(("GIT_WORK_TREE", text(root)?));
        let mut argv = vec![text(&program)?];
        argv.extend(SAFE.map(str::to_owned));
        let local = reach != GitReach::Remote;
        if local {
            argv.extend(LOCAL.map(str::to_owned));
            // Nothing of the person's home counts.
            variables.push(("HOME", "/dev/null".to_owned()));
        }
        if reach == GitReach::Look {
            variables.push(("GIT_OPTIONAL_LOCKS", "0".to_owned()));
        }
        if local || programs::is_in_workspace(&global_settings()) {
            variables.push(("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()));
        }
        if reach == GitReach::Write {
            argv.extend(forwarded_options(&program, own));
        }
        argv.extend(args.iter().map(|arg| (*arg).to_owned()));
        let helper = self.guard.as_deref().filter(|_| local);
        let sandbox = helper.and_then(|helper| {
            let is_written = reach == GitReach::Write;
            sandbox::prepare_for_git(
                helper,
                &program,
                root,
                [&place.common, &place.folder],
                is_written,
            )
        });
        Ok(GitCall { argv, variables, sandbox, root: root.to_owned() })
    }

    /// The commit that HEAD names; empty before the first.
    pub(crate) async fn head(&self) -> Result<String, String> {
        let output =
            self.run(&["rev-parse", "--verify", "--quiet", "HEAD"], GitReach::Look).await?;
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
        let branch = format!("refs/heads/{branch}");
        let ask = ["ls-remote", "--", remote, &branch];
        let (call, names) = self.checked(&ask, GitReach::Remote).await?;
        // Anything else git would take for an address.
        if !names.contains(&format!("remote.{remote}.url")) {
            return Err(format!("there is no remote {remote}"));
        }
        self.check_remote(remote).await?;
        let output = call.output().await?;
        match output.status.success() {
            true => {
                let line = clean(&output.stdout);
                Ok(line.split_whitespace().next().unwrap_or_default().to_owned())
            }
            false => Err(clean(&output.stderr)),
        }
    }

    /// Whether an address is a path into the workspace, or may be one.
    fn is_inside(&self, url: &str) -> bool {
        let path = match url.strip_prefix("file://") {
            Some(_) if url.contains('%') => return true,
            Some(rest) => &rest[rest.find('/').unwrap_or(0)..],
            // A colon before any slash means another machine, or another program.
            None if url.split('/').next().is_some_and(|first| first.contains(':')) => return false,
            None => url,
        };
        real(&self.workspace.root().join(path)).starts_with(self.workspace.root())
    }

    /// A remote in the workspace has hooks that any command may have written.
    async fn check_remote(&self, remote: &str) -> Result<(), String> {
        for key in ["url", "pushurl"] {
            let key = format!("remote.{remote}.{key}");
            let urls = self.look(&["config", "--local", "--get-all", &key]).await;
            for url in urls.unwrap_or_default().lines() {
                if self.is_inside(url) {
                    return Err(format!("the remote {remote} lies in the workspace; ask the user"));
                }
            }
        }
        Ok(())
    }
}
