//! `shell`: one command line, in the workspace and in a sandbox, with a time-out and a bounded
//! output.
//!
//! Without a sandbox a call is refused, unless a person approved exactly this call unsandboxed.

use crate::after::{self, AfterCommand};
use crate::capture::Capture;
use crate::process::{CommandEnd, Launch, ProgramSearch};
use crate::protected::real;
use crate::readable::without_own;
use crate::record::{self, CommandRecord, Origin, RecordFolder};
use crate::sandbox::{self, PreparedSandbox, SandboxBuilder};
use crate::shell_prefix::propose_pattern;
use crate::shell_rules::{self, RuleAction};
use crate::{GitAccess, Network, SandboxMode, SandboxSetting, ShellRule, Workspace, clip};
use everloop_ports::{CallContext, CallPolicy, Intent, Probe, Tool, ToolReturn, UnsandboxedReason};
use everloop_types::{
    Approval, CallPreview, DataFlow, EffectClass, Ending, Handling, Labels, Observation, OnUnknown,
    RunId, SendTarget, instructs,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The arguments of `shell`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellArgs {
    /// For sh -c.
    pub command: String,
}

/// What bounds a command.
#[derive(Debug, Clone, Copy)]
pub struct ShellLimits {
    /// How long it may take; 0 for no limit of its own.
    pub timeout_ms: u64,
    /// How long it may take to stop before it is killed.
    pub grace_ms: u64,
    /// Bytes of its output that are kept in memory; of more, the middle is dropped.
    pub output_bytes_max: usize,
}

impl Default for ShellLimits {
    fn default() -> Self {
        Self { timeout_ms: 120_000, grace_ms: 400, output_bytes_max: 1_000_000 }
    }
}

/// What bounds commands, and the sandbox around them.
#[derive(Debug, Clone, Default)]
pub struct ShellSetting {
    /// Time and output.
    pub limits: ShellLimits,
    /// What it may reach and use.
    pub sandbox: SandboxSetting,
    /// What is allowed and denied by its words.
    pub rules: Vec<ShellRule>,
    /// What takes secrets out of the records of commands.
    pub redact: Option<fn(&str) -> String>,
}

/// Runs a command.
#[derive(Debug)]
pub struct Shell {
    /// Where it runs.
    pub workspace: Arc<Workspace>,
    /// The program that is run as `<guard> __guard -- …` around the command.
    pub guard: Option<PathBuf>,
    /// What bounds it, and the sandbox around it.
    pub setting: ShellSetting,
    /// The private folder in which guards write down what became of their commands. With it an
    /// interrupted command can be probed; without, its outcome is unknown.
    pub records: Option<PathBuf>,
    /// Files and folders of the program itself, which are hidden from commands.
    pub own: Vec<PathBuf>,
}

const DESCRIPTION: &str = "Run a command with sh in the workspace, such as wc, awk, sort or cp: \
    better than counting or adding up by yourself. No input; no background processes.";

/// The same where commands only read the repository.
const SHUT_DESCRIPTION: &str = "Run a command with sh in the workspace, such as wc, awk, sort or \
    cp: better than counting or adding up by yourself. No input; no background processes. .git is \
    read-only: commit with git_commit.";

/// Said of a command that was not run.
const NO_SANDBOX: &str = "there is no sandbox around commands here; nothing was done";

/// Why a command is stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CommandStop {
    Canceled,
    TimedOut,
}

impl Tool for Shell {
    const NAME: &'static str = "shell";
    type Args = ShellArgs;

    fn description(&self) -> &'static str {
        let has_git = self.workspace.root().join(".git").exists();
        match has_git && self.setting.sandbox.git == GitAccess::Read {
            true => SHUT_DESCRIPTION,
            false => DESCRIPTION,
        }
    }

    fn handling(&self) -> Handling {
        Handling {
            class: match self.records() {
                Some(_) => EffectClass::Probeable,
                None => EffectClass::Dangerous,
            },
            approval: Approval::Ask,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: self.setting.limits.timeout_ms,
            grace_ms: self.setting.limits.grace_ms,
            // Only for a command that certainly never started.
            retries: 3,
            flow: Some(DataFlow::brings(Labels::ALL).sends(self.sends())),
            ..Handling::default()
        }
    }

    fn text_arg() -> Option<&'static str> {
        Some("command")
    }

    async fn call(&self, args: ShellArgs, context: &CallContext) -> ToolReturn {
        if context.cancel.is_cancelled() {
            let text = "not started: canceled".to_owned();
            return ToolReturn::Seen(Observation { ending: Ending::Canceled, text });
        }
        let after = match self.sandbox(context).await {
            Ok(sandbox) => AfterCommand::of(sandbox),
            Err(refused) => return ToolReturn::Seen(Observation::denied(refused)),
        };
        let record = self.record(context);
        let launch = Launch {
            guard: self.guard.as_deref(),
            grace_ms: None,
            record: record.as_deref(),
            folder: self.workspace.root(),
            sandbox: after.sandbox(),
            argv: &["/bin/sh", "-c", &args.command],
            variables: &[],
            search: ProgramSearch::Anywhere,
        };
        let running = match launch.start() {
            Ok(running) => running,
            Err(error) => return ToolReturn::passing(format!("cannot start the shell: {error}")),
        };
        let mut capture =
            Capture::new(self.setting.limits.output_bytes_max, context.on_output.clone());
        let grace = Duration::from_millis(self.setting.limits.grace_ms);
        let (ended, stop) = running.follow(&mut capture, self.stop(context), grace).await;
        self.clean(record);
        let patience = stop.is_some().then_some(PATIENCE);
        let notes = after.check(patience).await;
        self.done(capture, &ended, stop, notes, context.observation_chars)
    }

    async fn judge(&self, args: &ShellArgs) -> CallPolicy {
        let said = shell_rules::decision(&self.setting.rules, &args.command);
        if let Some((RuleAction::Deny, rule)) = said {
            return CallPolicy::Deny(format!("the rule {rule} denies it"));
        }
        let unknown_program = shell_rules::unknown_program(&self.setting.rules, &args.command);
        match self.judge_sandbox().await {
            CallPolicy::Default => match (said, unknown_program) {
                (_, Some(part)) => CallPolicy::AlwaysAsk(part),
                (Some((RuleAction::Allow, rule)), None) => CallPolicy::Allow(rule.to_owned()),
                (Some((_, rule)), None) => CallPolicy::Ask(rule.to_owned()),
                (None, None) => CallPolicy::Default,
            },
            without => without,
        }
    }

    async fn preview(&self, args: &ShellArgs) -> CallPreview {
        let sandboxed = self.look(|builder| builder.check()).await.is_ok();
        let network = !sandboxed || self.setting.sandbox.network == Network::On;
        let pattern = propose_pattern(&args.command);
        CallPreview::Command { command: args.command.clone(), sandboxed, network, pattern }
    }

    async fn before(&self, _: &ShellArgs, run: Option<&RunId>) -> Value {
        let (Some(records), Some(run)) = (self.records(), run) else { return Value::Null };
        let run = run.clone();
        let origin = tokio::task::spawn_blocking(move || records.origin(&run).ok()).await;
        serde_json::to_value(origin.ok().flatten()).unwrap_or_default()
    }

    async fn probe(&self, _: ShellArgs, intent: &Intent) -> Probe {
        let origin = serde_json::from_value::<Option<Origin>>(intent.before.clone());
        let (Some(records), Ok(Some(origin))) = (self.records(), origin) else {
            return Probe::unknown("there is no record of it");
        };
        let (key, attempt) = (intent.idem_key.clone(), intent.attempt);
        let file = records.file(&origin.run, &key, attempt);
        let look = move || records.settle(&origin, &key, attempt);
        let looked = tokio::task::spawn_blocking(look).await;
        self.clean(file);
        match looked {
            Ok(Ok(record)) => from_record(record, intent.observation_chars),
            Ok(Err(why)) => Probe::Unknown(why),
            Err(error) => Probe::Unknown(error.to_string()),
        }
    }
}

/// What a record means. Only an end of its own is an end.
fn from_record(record: CommandRecord, chars: usize) -> Probe {
    let (ending, status, output) = match record {
        CommandRecord::Never | CommandRecord::Revoked => return Probe::DidNot,
        CommandRecord::Started { .. } | CommandRecord::Killed => {
            return Probe::unknown("it was cut short after it started");
        }
        CommandRecord::Exit { code: 0, output } => (Ending::Ok, "exit code 0".to_owned(), output),
        CommandRecord::Exit { code, output } => {
            (Ending::Error, format!("exit code {code}"), output)
        }
        CommandRecord::Signal { signal, output } => {
            (Ending::Error, format!("killed by signal {signal}"), output)
        }
    };
    let status = format!("{status}; read from the record that it left, after a crash");
    let mut capture = Capture::new(output.len() * 2, None);
    capture.push(output.as_bytes());
    Probe::Happened(Observation { ending, text: observed(capture, &status, chars) })
}

impl Shell {
    /// Who decides about a program that is to run in the sandbox: a person, if there is none.
    pub async fn judge_sandbox(&self) -> CallPolicy {
        match self.look(|builder| builder.check()).await {
            Ok(()) => CallPolicy::Default,
            Err(_) if self.setting.sandbox.mode == SandboxMode::Require => {
                CallPolicy::Deny(NO_SANDBOX.to_owned())
            }
            Err(why) => CallPolicy::Unsandboxed(why),
        }
    }

    /// In a sandbox without a network a command sends nothing.
    fn sends(&self) -> SendTarget {
        let sandbox = &self.setting.sandbox;
        match sandbox.network == Network::On || sandbox.mode == SandboxMode::Off {
            true => SendTarget::Anywhere,
            false => SendTarget::No,
        }
    }

    /// Only a guard keeps records.
    fn records(&self) -> Option<RecordFolder> {
        self.guard.as_ref().and(self.records.clone()).map(RecordFolder::new)
    }

    /// The file in which the guard writes down what becomes of a call that a run makes.
    fn record(&self, context: &CallContext) -> Option<PathBuf> {
        let effect = context.effect.as_ref()?;
        self.records()?.file(&effect.run, &context.idem_key, context.attempt)
    }

    /// A record that cannot be cleaned is removed with the others of its run.
    fn clean(&self, record: Option<PathBuf>) {
        if let (Some(file), Some(redact)) = (record, self.setting.redact) {
            let _ = record::clean(&file, redact);
        }
    }

    /// The sandbox, or none if a person wants none.
    pub(crate) async fn sandbox(
        &self,
        context: &CallContext,
    ) -> Result<Option<PreparedSandbox>, String> {
        // What an earlier command left must not be taken for files of the user.
        after::wait_for_checks().await;
        let bare_is_fine =
            context.may_run_bare && self.setting.sandbox.mode != SandboxMode::Require;
        match self.look(|builder| builder.prepare()).await {
            Ok(sandbox) => Ok(Some(sandbox)),
            Err(_) if bare_is_fine => Ok(None),
            Err(_) => Err(NO_SANDBOX.to_owned()),
        }
    }

    /// Tries the sandbox and looks at files, which may take a moment.
    async fn look<T: Send + 'static>(
        &self,
        at: impl FnOnce(&SandboxBuilder<'_>) -> Result<T, UnsandboxedReason> + Send + 'static,
    ) -> Result<T, UnsandboxedReason> {
        let Some(helper) = self.guard.clone() else {
            return Err(UnsandboxedReason::Unavailable(
                "there is no program to build one".to_owned(),
            ));
        };
        let (workspace, own) = (self.workspace.root().to_owned(), self.own.clone());
        let mut setting = self.setting.sandbox.clone();
        let data = self.records.as_ref().and_then(|records| records.parent()).map(Path::to_owned);
        let look = move || {
            if let Some(own) = data.iter().chain(&own).find(|own| is_shown(own)) {
                let words = format!("{} lies where every command may read", own.display());
                return Err(UnsandboxedReason::Unavailable(words));
            }
            setting.readable = without_own(&setting.readable, &own);
            at(&SandboxBuilder {
                setting: &setting,
                workspace: &workspace,
                own: &own,
                helper: &helper,
            })
        };
        let looked = tokio::task::spawn_blocking(look).await;
        looked.unwrap_or_else(|error| Err(UnsandboxedReason::Unavailable(error.to_string())))
    }

    async fn stop(&self, context: &CallContext) -> CommandStop {
        let own = match self.setting.limits.timeout_ms {
            0 => None,
            ms => Instant::now().checked_add(Duration::from_millis(ms)),
        };
        let deadline = [own, context.deadline].into_iter().flatten().min();
        let expired = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = context.cancel.cancelled() => CommandStop::Canceled,
            () = expired => CommandStop::TimedOut,
        }
    }

    fn done(
        &self,
        capture: Capture,
        ended: &CommandEnd,
        stop: Option<CommandStop>,
        notes: Vec<String>,
        chars: usize,
    ) -> ToolReturn {
        let (ending, status) = match (stop, ended) {
            (None, CommandEnd::NeverStarted(why)) => {
                return ToolReturn::passing(format!("cannot start the shell: {why}"));
            }
            (_, CommandEnd::Lost) => (Ending::Unknown, "its end was not seen".to_owned()),
            (_, CommandEnd::Stuck) => (Ending::Unknown, "killed, but not gone yet".to_owned()),
            (Some(CommandStop::Canceled), _) => (Ending::Canceled, "stopped: canceled".to_owned()),
            (Some(CommandStop::TimedOut), _) => {
                (Ending::TimedOut, "stopped: out of time".to_owned())
            }
            (None, CommandEnd::Exit(0)) => (Ending::Ok, "exit code 0".to_owned()),
            (None, CommandEnd::Exit(code)) => (Ending::Error, format!("exit code {code}")),
            (None, CommandEnd::Signal(signal)) => {
                (Ending::Error, format!("killed by signal {signal}"))
            }
        };
        let status = [vec![status], notes].concat().join("; ");
        let mut text = observed(capture, &status, chars);
        if let Some(hint) = Some(&text).filter(|_| ending == Ending::Error).and_then(|t| hint(t)) {
            text = format!("{}\n[{hint}]", clip::ends(&text, chars.saturating_sub(hint.len() + 3)));
        }
        ToolReturn::Seen(Observation { ending, text })
    }
}

/// Whether a file of ours is where every command can read. Of the system's settings, commands see
/// only what everybody may read.
fn is_shown(own: &Path) -> bool {
    let own = real(own);
    let is_private = || {
        let mut found = own.ancestors().filter_map(|part| part.metadata().ok());
        found.any(|found| found.permissions().mode() & 0o004 == 0)
    };
    match own.starts_with(sandbox::SETTINGS) {
        true => !is_private(),
        false => sandbox::SYSTEM.iter().any(|folder| own.starts_with(folder)),
    }
}

/// How long a stopped call waits for the check after it.
const PATIENCE: Duration = Duration::from_millis(300);

/// Said of a command that tried to write what it may only read.
const SHUT: &str = "commands read repositories (.git) and do not write them: use git_commit, or \
    ask the user";
const HELD: &str = "files that later runs or other programs trust (AGENTS.md, .github, .vscode and \
    the like) are read-only for commands: write_file asks the user";
const BUSY: &str = "a folder with a repository in it is neither moved nor removed by commands: ask \
    the user to do it";

/// Advice for a command that tried to write a protected path.
fn hint(text: &str) -> Option<&'static str> {
    let names_git = |line: &str| {
        let after = line.split(".git").skip(1);
        after.map(|rest| rest.chars().next()).any(|next| !next.is_some_and(char::is_alphanumeric))
    };
    let refused = |words: &str| text.lines().find(|line| line.contains(words));
    match (refused("Read-only file system"), refused("Device or resource busy")) {
        (Some(line), _) if names_git(line) || line.contains("index") => Some(SHUT),
        (Some(line), _) if line.split(['\'', '"', ' ', ':']).any(instructs) => Some(HELD),
        (Some(_), _) => None,
        (None, Some(_)) => Some(BUSY),
        (None, None) => None,
    }
}

fn observed(capture: Capture, status: &str, chars_max: usize) -> String {
    let status = format!("[{status}]");
    let Some(room) = chars_max.checked_sub(status.len() + 1) else {
        return status.chars().take(chars_max).collect();
    };
    if capture.is_empty() {
        return status;
    }
    let output = capture.text(room);
    let newline = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    format!("{output}{newline}{status}")
}
