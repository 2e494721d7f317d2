//! `git_read`, `git_commit` and `git_push`: the repository of the workspace, by its own program.
//!
//! ```text
//!   before: the ref as it is ──► git … ──► probe: the ref again
//!     as it was ──► did not happen      what it was to become ──► happened      else ──► unknown
//! ```
//!
//! Arguments are a list and never go through a shell. Hooks do not run and signing is off, because
//! both would run programs without approval. A repository whose own configuration runs programs is
//! refused. Nothing prompts: a missing password is an error. After a git that did not end well the
//! ref is compared at once, because an exit code does not say what was done.
//!
//! A git that was killed leaves lock files (`git_locks`): a probe removes those of its own call.
//!
//! Deliberately absent: clone, checkout, merge, reset, force. `shell` has them where commands may
//! write the repository (`tools.shell_git`), and asks.

use crate::git_locks::{LockSnapshot, advice};
use crate::git_program::{GRACE_MS, Git};
use crate::place::{here, only_here};
use crate::{Workspace, clip};
use everloop_ports::{CallContext, Intent, Probe, Tool, ToolReturn};
use everloop_types::{
    Approval, DataFlow, EffectClass, Ending, Handling, Labels, Observation, OnUnknown, SendTarget,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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
        flow: Some(DataFlow::NOTHING),
        ..Handling::default()
    }
}

/// What `git_read` shows.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a description of each one would turn the schema into variants")]
pub enum GitView {
    Status,
    Diff,
    Log,
}

/// The arguments of `git_read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GitReadArgs {
    /// What to show.
    pub view: GitView,
}

/// Reading must not wait for locks.
const LOCKLESS: &str = "--no-optional-locks";

/// Reading a submodule would run git with the configuration of the submodule.
const SHALLOW: &str = "--ignore-submodules=dirty";

/// Looks at the repository.
#[derive(Debug)]
pub struct GitRead(pub Git);

impl Tool for GitRead {
    const NAME: &'static str = "git_read";
    type Args = GitReadArgs;

    fn description(&self) -> &'static str {
        "Look at the git repository: status, diff or log."
    }

    fn handling(&self) -> Handling {
        let flow = Some(DataFlow::below());
        Handling { flow, ..handling(EffectClass::Pure, Approval::Allow) }
    }

    async fn call(&self, args: GitReadArgs, context: &CallContext) -> ToolReturn {
        let args: &[&str] = match args.view {
            GitView::Status => &[LOCKLESS, "status", "--short", "--branch", SHALLOW],
            GitView::Diff => &[LOCKLESS, "diff", "--no-ext-diff", "--no-textconv", SHALLOW, "HEAD"],
            GitView::Log => &["log", "--max-count=30", "--format=%h %ad %an %s", "--date=short"],
        };
        let chars = context.observation_chars;
        tokio::select! {
            said = self.0.look(args) => ToolReturn::Seen(match said {
                Ok(text) if text.trim().is_empty() => Observation::ok("nothing"),
                Ok(text) => Observation::ok(shown(&text, chars)),
                Err(text) => Observation::error(clip::ends(&text, chars)),
            }),
            () = context.cancel.cancelled() => {
                ToolReturn::Seen(Observation { ending: Ending::Canceled, text: "stopped".to_owned() })
            }
        }
    }
}

/// Begins the part of each file.
const PART: &str = "diff --git ";

/// The ends of a text. The second one says which file it is of, since labels go by names.
fn shown(text: &str, chars: usize) -> String {
    let Some(cut) = text.chars().count().checked_sub(chars).filter(|more| *more > 0) else {
        return text.to_owned();
    };
    let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let clipped = || clip::ends(text, chars);
    let before = &text[..at(chars / 2 + cut)];
    let Some(part) = before.rfind(PART).filter(|at| *at == 0 || text[..*at].ends_with('\n')) else {
        return clipped();
    };
    let name = text[part..].lines().next().unwrap_or_default();
    let room = chars.saturating_sub(name.chars().count() + MARK.len() + 2) / 2;
    match room {
        0 => clipped(),
        room => {
            let end = text.chars().count().saturating_sub(room);
            format!("{}\n{MARK}\n{name}\n{}", &text[..at(room)], &text[at(end)..])
        }
    }
}

/// Replaces what is left out.
const MARK: &str = "[… left out …]";

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

    async fn call(&self, args: GitCommitArgs, context: &CallContext) -> ToolReturn {
        let root = self.0.workspace.clone();
        let paths: Result<Vec<String>, _> =
            args.paths.iter().map(|path| path_text(&root, path)).collect();
        let paths = match paths {
            Ok(paths) if !paths.is_empty() && !args.message.trim().is_empty() => paths,
            Ok(_) => {
                return ToolReturn::Seen(Observation::error("message and paths must not be empty"));
            }
            Err(error) => return ToolReturn::Seen(Observation::error(error)),
        };
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let before = match self.0.head().await {
            Ok(head) => head,
            Err(why) => return ToolReturn::Seen(Observation::error(why)),
        };
        let added = self.0.act(&[&["add", "--"], paths.as_slice()].concat(), context).await;
        if !added.is_ok() {
            // Nothing was committed yet.
            return ToolReturn::Seen(Observation::error(self.explained(added.text).await));
        }
        let trailer = format!("--trailer={TRAILER}: {}", context.idem_key);
        let commit = ["commit", "--no-verify", "--quiet", "-m", &args.message, &trailer, "--"];
        let made = self.0.act(&[&commit, paths.as_slice()].concat(), context).await;
        if context.cancel.is_cancelled() && !made.is_ok() {
            return ToolReturn::Seen(made);
        }
        match (made.is_ok(), self.found(Some(&before), &context.idem_key).await) {
            (true, Probe::Happened(seen)) => ToolReturn::Seen(seen),
            (true, _) => ToolReturn::Seen(Observation::ok("committed")),
            (false, found) => {
                let text = self.explained(made.text).await;
                after_failure(Observation { text, ..made }, found)
            }
        }
    }

    async fn before(&self, _: &GitCommitArgs, _: Option<&everloop_types::RunId>) -> Value {
        let place = here(self.0.records.clone()).await;
        let locks = self.0.locks().await.ok().map(LockSnapshot::now);
        json!({ "head": self.0.head().await.ok(), "place": place, "locks": locks })
    }

    async fn probe(&self, _: GitCommitArgs, intent: &Intent) -> Probe {
        let found = self.found(intent.before["head"].as_str(), &intent.idem_key).await;
        match only_here(found, intent, self.0.records.clone()).await {
            Probe::DidNot => self.unlocked(intent).await,
            found => found,
        }
    }
}

impl GitCommit {
    /// A call that made no commit may have left its locks, or its git may still be at work.
    async fn unlocked(&self, intent: &Intent) -> Probe {
        let seen = serde_json::from_value::<Option<LockSnapshot>>(intent.before["locks"].clone());
        let (Ok(Some(seen)), Ok(locks)) = (seen, self.0.locks().await) else {
            return Probe::DidNot;
        };
        let root = self.0.workspace.root().to_owned();
        let cleared = tokio::task::spawn_blocking(move || seen.clear(&locks, &root)).await;
        match cleared {
            Ok(Ok(())) => Probe::DidNot,
            Ok(Err(lock)) => Probe::Unknown(advice(&lock)),
            Err(error) => Probe::Unknown(error.to_string()),
        }
    }

    /// The output of git, with advice if a lock stopped it.
    async fn explained(&self, said: String) -> String {
        let lock = self.0.locks().await.ok().and_then(|locks| locks.into_iter().next());
        match lock.filter(|_| said.contains(".lock")) {
            Some(lock) => format!("{said}\n{}", advice(&lock)),
            None => said,
        }
    }

    /// The new commit names the effect in a trailer, which tells it from other commits.
    async fn found(&self, before: Option<&str>, idem_key: &str) -> Probe {
        let (before, head) = match (before, self.0.head().await) {
            (_, Err(why)) => return Probe::Unknown(why),
            (None, Ok(_)) => return Probe::unknown("HEAD before the call was not recorded"),
            (Some(before), Ok(head)) => (before, head),
        };
        if before == head {
            return Probe::DidNot;
        }
        let wanted = format!("--grep=^{TRAILER}: {idem_key}$");
        let found = self.0.look(&["log", "--max-count=1", "--format=%H", &wanted, "HEAD"]).await;
        match found {
            Ok(commit) if !commit.trim().is_empty() => Probe::Happened(committed(commit.trim())),
            _ => Probe::unknown("HEAD is another commit now, and not the one that was to be made"),
        }
    }
}

/// The outcome of a git that failed. One that was cut short may still act elsewhere, so finding no
/// change proves nothing.
fn after_failure(said: Observation, found: Probe) -> ToolReturn {
    match (found, said.ending) {
        (Probe::Happened(seen), _) => ToolReturn::Seen(seen),
        (Probe::DidNot, Ending::Error) => ToolReturn::Seen(said),
        (Probe::DidNot, _) => ToolReturn::Lost(format!("git was cut short: {}", said.text)),
        (Probe::Unknown(why), _) => ToolReturn::Lost(format!("git failed: {}; {why}", said.text)),
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
            // The output of a push contains text of the remote.
            flow: Some(
                DataFlow::brings(Labels::UNTRUSTED).sends(SendTarget::Arg("remote".to_owned())),
            ),
            ..handling(EffectClass::Probeable, Approval::Ask)
        }
    }

    async fn call(&self, args: GitPushArgs, context: &CallContext) -> ToolReturn {
        if !is_plain(&args.remote) || !is_plain(&args.branch) {
            return ToolReturn::Seen(Observation::error("remote and branch must be plain names"));
        }
        let heads = (
            self.0.remote_head(&args.remote, &args.branch).await,
            self.0.local_head(&args.branch).await,
        );
        let (before, wanted) = match heads {
            (Ok(before), Ok(wanted)) => (before, wanted),
            (Err(why), _) => return ToolReturn::Seen(Observation::error(why)),
            (_, Err(_)) => {
                let words = format!("there is no branch {}", args.branch);
                return ToolReturn::Seen(Observation::error(words));
            }
        };
        let branch = format!("refs/heads/{0}:refs/heads/{0}", args.branch);
        let push = ["push", "--no-verify", "--porcelain", "--", &args.remote, &branch];
        let pushed = self.0.send(&push, context).await;
        if pushed.is_ok() || context.cancel.is_cancelled() {
            return ToolReturn::Seen(pushed);
        }
        after_failure(pushed, self.found(&args, &before, &wanted).await)
    }

    async fn before(&self, args: &GitPushArgs, _: Option<&everloop_types::RunId>) -> Value {
        if !is_plain(&args.remote) || !is_plain(&args.branch) {
            return Value::Null;
        }
        let remote = self.0.remote_head(&args.remote, &args.branch).await.ok();
        let local = self.0.local_head(&args.branch).await.ok();
        json!({ "remote": remote, "local": local, "place": here(self.0.records.clone()).await })
    }

    async fn probe(&self, args: GitPushArgs, intent: &Intent) -> Probe {
        let was = |name: &str| intent.before[name].as_str();
        let (Some(before), Some(wanted)) = (was("remote"), was("local")) else {
            return Probe::unknown("the remote before the call was not recorded");
        };
        // Elsewhere the remote's name may mean another one.
        let found = self.found(&args, before, wanted).await;
        only_here(found, intent, self.0.records.clone()).await
    }
}

impl GitPush {
    async fn found(&self, args: &GitPushArgs, before: &str, wanted: &str) -> Probe {
        match self.0.remote_head(&args.remote, &args.branch).await {
            Err(why) => Probe::Unknown(format!("the remote does not answer: {why}")),
            Ok(now) if now == wanted => {
                Probe::Happened(Observation::ok(format!("{} is at {now}", args.branch)))
            }
            Ok(now) if now == before => Probe::DidNot,
            Ok(now) => Probe::Unknown(format!("the remote's {} is at {now} now", args.branch)),
        }
    }
}
