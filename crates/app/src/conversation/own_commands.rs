//! `!command` at an idle prompt: the person's own command, run as a model's would be, and kept for
//! the model.
//!
//! The same sandbox, limits and rules hold as for the tool `shell`. Nobody is asked: who typed it
//! has said so. Its output goes with the next goal, where the journal has it.

use super::Conversation;
use crate::error::{AppError, ChoiceError};
use everloop_ports::{AccessRules, CallContext, CallPolicy, OnOutput, ToolReturn};
use everloop_types::{Approval, Ending, Labels};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Characters of one command's output that are kept for the model.
const OUTPUT_CHARS_MAX: usize = 8_000;

/// Commands that are kept for the next goal; the oldest go first.
const COMMANDS_KEPT: usize = 5;

/// A command that the person ran, as the model will read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnCommand {
    command: String,
    output: String,
}

/// Who watches a command, and may stop it.
pub struct CommandWatch {
    /// Gets its output as it comes.
    pub on_output: OnOutput,
    /// Stops it.
    pub cancel: CancellationToken,
}

/// How a command of the person ended.
#[derive(Debug, PartialEq, Eq)]
pub enum OwnCommandEnd {
    /// It ran: how it ended, and the last line of what the model will read, which says so.
    Ran {
        /// How it ended.
        ending: Ending,
        /// In the words of the tool.
        status: String,
    },
    /// It was not run, and why.
    Refused(String),
}

impl Conversation {
    /// Runs a command of the person in the workspace, and keeps its output for the next goal.
    ///
    /// # Errors
    /// If the workspace is gone.
    pub async fn run_command(
        &mut self,
        command: &str,
        watch: CommandWatch,
    ) -> Result<OwnCommandEnd, AppError> {
        let workspace = self.choice.workspace.clone();
        let environment = self.app.environment(&self.app.settings);
        let registry =
            environment.registry(workspace.clone(), &self.app.zone_name(), self.app.lang);
        let gone = || ChoiceError::Workspace { folder: workspace.clone(), source: None };
        let registry = registry.ok_or_else(gone)?;
        let Some(shell) = registry.get("shell") else { return Err(gone().into()) };
        let args = json!({ "command": command }).to_string();
        let place = workspace.display().to_string();
        let rules = AccessRules::new(&self.choice.policy, "shell", &place);
        if let Some((Approval::Deny, rule)) = rules.about("command", command) {
            return Ok(OwnCommandEnd::Refused(rule));
        }
        if let CallPolicy::Deny(why) = shell.judge(&args).await {
            return Ok(OwnCommandEnd::Refused(why));
        }
        let context = CallContext {
            cancel: watch.cancel,
            observation_chars: OUTPUT_CHARS_MAX,
            on_output: Some(watch.on_output),
            bars: rules,
            ..CallContext::new("own command")
        };
        let seen = match shell.call(&args, &context).await {
            ToolReturn::Seen(seen) => seen,
            ToolReturn::Passing(error) => return Ok(OwnCommandEnd::Refused(error.seen.text)),
            ToolReturn::Lost(why) => return Ok(OwnCommandEnd::Refused(why)),
            ToolReturn::Queued(seen, _)
            | ToolReturn::Proposed(seen, _)
            | ToolReturn::Changed(seen, _) => seen,
            ToolReturn::Ask(_)
            | ToolReturn::Delegate(_)
            | ToolReturn::Sleep(_)
            | ToolReturn::Start(_) => {
                return Err(gone().into());
            }
        };
        if seen.ending == Ending::Denied {
            return Ok(OwnCommandEnd::Refused(seen.text));
        }
        let status = seen.text.lines().next_back().unwrap_or_default().to_owned();
        self.choice.keep_command(command, &seen.text);
        Ok(OwnCommandEnd::Ran { ending: seen.ending, status })
    }
}

impl super::RunChoice {
    fn keep_command(&mut self, command: &str, output: &str) {
        if self.commands.len() >= COMMANDS_KEPT {
            self.commands.remove(0);
        }
        let (command, output) = (command.to_owned(), output.to_owned());
        self.commands.push(OwnCommand { command, output });
        // As the tool's own output: private, and perhaps what others wrote.
        self.policy.inherited.take(Labels::ALL, "!command");
    }

    /// What the model reads of the commands that the person ran.
    pub(super) fn told_commands(&self) -> String {
        let told = |one: &OwnCommand| {
            let OwnCommand { command, output } = one;
            format!("\n[the user ran this command themselves]\n$ {command}\n{output}\n[end]")
        };
        self.commands.iter().map(told).collect()
    }
}
