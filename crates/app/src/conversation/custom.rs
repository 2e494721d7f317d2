//! Commands that people wrote: finding one by a line, asking before one of a stranger is used,
//! making a goal of it. And the list of all commands, for menus.

use super::{ChatReply, Conversation, GoalOptions, Reaction, SLASH_COMMANDS};
use crate::app::App;
use crate::context::custom_commands::{
    CommandOwner, CustomCommand, CustomCommandError, CustomCommands,
};
use crate::error::{AppError, chain};
use crate::frames;
use crate::router::ModelState;
use crate::slash;
use everloop_agenda::commands::CommandError;
use std::path::{Path, PathBuf};

/// A command as menus show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEntry {
    /// With the slash.
    pub name: String,
    /// What it does, in one line.
    pub summary: String,
    /// What may follow it, where its file says so.
    pub hint: String,
    /// Whose it is; none for a built-in one.
    pub owner: Option<CommandOwner>,
}

/// A file that would be a command, and why it is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableCommand {
    /// The file.
    pub file: PathBuf,
    /// Why; none in words where the reason has none of its own.
    pub why: UnusableReason,
}

/// Why a file is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnusableReason {
    /// A built-in command has this name.
    BuiltIn(String),
    /// The person has a command of this name.
    Hidden(String),
    /// Something else.
    Other(String),
}

/// The commands of a conversation.
#[derive(Clone, Copy)]
pub struct ConversationCommands<'c> {
    pub(super) app: &'c App,
    pub(super) workspace: &'c Path,
}

impl ConversationCommands<'_> {
    /// Every command that can be typed here: the built-in ones, then those that people wrote.
    #[must_use]
    pub fn list(&self) -> Vec<CommandEntry> {
        let built_in = SLASH_COMMANDS.iter().map(|command| CommandEntry {
            name: format!("/{}", command.name),
            summary: command.summary(self.app.lang),
            hint: String::new(),
            owner: None,
        });
        let custom = self.custom().all.into_iter().map(|command| CommandEntry {
            name: format!("/{}", command.name),
            summary: command.description,
            hint: command.hint,
            owner: Some(command.owner),
        });
        built_in.chain(custom).collect()
    }

    /// The commands that people wrote.
    #[must_use]
    pub fn custom(&self) -> CustomCommands {
        CustomCommands::find(self.app, self.workspace)
    }

    /// Files that would be commands and are none.
    #[must_use]
    pub fn unusable(&self) -> Vec<UnusableCommand> {
        let bad = self.custom().bad.into_iter();
        bad.map(|(file, error)| UnusableCommand { file, why: UnusableReason::of(&error) }).collect()
    }

    /// Whether a line is a command that somebody wrote: it leads to a run.
    #[must_use]
    pub fn has_custom(&self, line: &str) -> bool {
        slash::is_command(line) && slash::read(line).is_err() && self.named_by(line).is_some()
    }

    fn named_by(&self, line: &str) -> Option<(CustomCommand, String)> {
        let all = self.custom();
        all.named_by(line).map(|(command, arguments)| (command.clone(), arguments))
    }
}

impl Conversation {
    /// What a line does that names no built-in command: one that somebody wrote, or a mistake.
    pub(super) async fn custom(
        &mut self,
        line: &str,
        wrong: CommandError,
        key: Option<&str>,
    ) -> Result<Reaction, AppError> {
        let Some((command, arguments)) = self.commands().named_by(line) else {
            return Ok(ChatReply::Wrong(wrong).into());
        };
        if !command.is_approved(&self.app) {
            return Ok(Reaction::Approve(Box::new(command), line.to_owned()));
        }
        let options = GoalOptions {
            loop_name: command.loop_name.as_deref().map(frames::loop_name).transpose()?,
            model: command.model.clone(),
        };
        if options.model.is_none() && self.router.model == ModelState::Missing {
            return Ok(ChatReply::NoModel.into());
        }
        let begun = self.begin(command.goal(&arguments), key, &options).await?;
        Ok(begun.into())
    }
}

impl UnusableReason {
    fn of(error: &CustomCommandError) -> Self {
        match error {
            CustomCommandError::BuiltIn(name) => Self::BuiltIn(name.clone()),
            CustomCommandError::Hidden(name) => Self::Hidden(name.clone()),
            other => Self::Other(chain(other)),
        }
    }
}
