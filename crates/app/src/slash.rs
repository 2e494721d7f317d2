//! Slash commands: what a row of their table is, and how a line finds its row.
//!
//! ```text
//!   line ──read──► SlashLine { row, rest } ──► its handler ──► Reaction
//!           └── unknown: the nearest name
//! ```
//!
//! The rows and their handlers are in [`crate::conversation::SLASH_COMMANDS`]. A new command is one
//! row there, the handler beside it, and its texts.

use crate::conversation::{Conversation, Reaction, SLASH_COMMANDS};
use crate::error::AppError;
use everloop_agenda::commands::{CommandError, CommandWords, nearest_name, normal_with};
use everloop_agenda::show::padded;
use everloop_text::{self as text, Text, command_name, command_names};
use everloop_types::Lang;
use std::pin::Pin;

/// Columns of a command's name in `/help`.
const NAME_COLUMNS: usize = 14;

/// What came of a command.
pub(crate) type SlashResult = Result<Reaction, AppError>;

/// A handler that is under way.
pub(crate) type SlashFuture<'a> = Pin<Box<dyn Future<Output = SlashResult> + Send + 'a>>;

/// Carries a command out.
pub(crate) type SlashHandler = for<'a> fn(&'a mut Conversation, &'a SlashLine) -> SlashFuture<'a>;

/// One slash command: a row of the table.
#[derive(Debug)]
pub struct SlashCommand {
    /// The canonical name, without the slash.
    pub name: &'static str,
    /// What others must know about it.
    pub kind: SlashKind,
    /// The words that may follow it.
    parts: &'static [&'static str],
    /// The options that may follow one of these words.
    options: fn(&str) -> &'static [&'static str],
    does: fn() -> Text,
    usages: &'static [fn() -> Text],
    handler: SlashHandler,
}

/// What the router, a live view and other surfaces must know about a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlashKind {
    /// Nothing: its handler does everything, also while a run is watched.
    Plain,
    /// It is a command of the agenda, and needs no conversation.
    Agenda,
    /// It leads to a run. While another run is watched, it waits.
    Follow,
    /// It lists the commands.
    Help,
    /// It cancels the current task.
    Cancel,
    /// It changes the loop, of the run that is watched if there is one.
    Loop,
    /// It leaves the conversation.
    Quit,
}

/// A line that names a slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlashLine {
    /// The command.
    pub command: &'static SlashCommand,
    /// The whole line, with a plain slash.
    pub line: String,
    /// What follows the name, without quotes.
    pub rest: String,
}

impl SlashCommand {
    /// A plain command, with how it is written or how each of its parts is.
    pub(crate) const fn new(
        name: &'static str,
        does: fn() -> Text,
        usages: &'static [fn() -> Text],
        handler: SlashHandler,
    ) -> Self {
        Self { name, kind: SlashKind::Plain, parts: &[], options: |_| &[], does, usages, handler }
    }

    pub(crate) const fn kind(self, kind: SlashKind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) const fn parts(self, parts: &'static [&'static str]) -> Self {
        Self { parts, ..self }
    }

    pub(crate) const fn options(self, options: fn(&str) -> &'static [&'static str]) -> Self {
        Self { options, ..self }
    }

    /// What it does, in one line.
    #[must_use]
    pub fn summary(&self, lang: Lang) -> String {
        (self.does)().in_lang(lang)
    }

    /// How it is written, or how each of its parts is.
    #[must_use]
    pub fn usages(&self, lang: Lang) -> Vec<String> {
        self.usages.iter().map(|usage| usage().in_lang(lang)).collect()
    }
}

/// Names are unique.
impl PartialEq for SlashCommand {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for SlashCommand {}

impl SlashLine {
    /// The command of a kind, without anything behind it.
    #[must_use]
    pub(crate) fn of_kind(kind: SlashKind) -> Option<Self> {
        let command = SLASH_COMMANDS.iter().find(|command| command.kind == kind)?;
        Some(Self { command, line: format!("/{}", command.name), rest: String::new() })
    }

    /// Whether its command is of this kind.
    #[must_use]
    pub fn is(&self, kind: SlashKind) -> bool {
        self.command.kind == kind
    }

    /// Carries it out.
    ///
    /// # Errors
    /// As its handler.
    pub(crate) async fn handle(&self, conversation: &mut Conversation) -> SlashResult {
        (self.command.handler)(conversation, self).await
    }
}

/// The command of that name, or of one that means the same.
#[must_use]
pub fn find(name: &str) -> Option<&'static SlashCommand> {
    let name = command_name(name);
    SLASH_COMMANDS.iter().find(|command| command.name == name)
}

/// The line with a plain slash and plain spaces at its beginning.
#[must_use]
pub(crate) fn normal(line: &str) -> String {
    normal_with(line, |name| find(name).is_some())
}

/// Whether a line is a command. Two slashes send a literal one.
#[must_use]
pub fn is_command(line: &str) -> bool {
    let line = normal(line);
    line.starts_with('/') && !line.starts_with("//")
}

/// The command that a line names.
///
/// # Errors
/// If there is no such command.
pub fn read(line: &str) -> Result<SlashLine, CommandError> {
    let line = normal(line);
    let mut words = CommandWords::of(line.trim_start_matches('/'));
    let name = words.next().unwrap_or_default();
    let Some(command) = find(&name) else {
        let names: Vec<&'static str> = SLASH_COMMANDS.iter().map(|known| known.name).collect();
        let nearest = nearest_name(&name, &names);
        return Err(CommandError::NoSuchCommand(format!("/{name}"), nearest));
    };
    let rest = words.rest().trim().to_owned();
    Ok(SlashLine { command, line, rest })
}

/// Whether a line is the command that cancels.
#[must_use]
pub fn is_cancel(line: &str) -> bool {
    is_command(line) && read(line).is_ok_and(|slash| slash.is(SlashKind::Cancel))
}

/// What may follow `line`, which begins with a slash: whole words that replace its last one.
#[must_use]
pub fn completions(line: &str) -> Vec<String> {
    let Some(rest) = line.strip_prefix('/') else { return Vec::new() };
    let Some((name, typed)) = rest.split_once(' ') else {
        let aliases = command_names().iter().map(|(alias, _)| *alias);
        let names = SLASH_COMMANDS.iter().map(|command| command.name);
        let names = names.chain(aliases.filter(|_| !rest.is_empty()));
        return names.filter(|name| name.starts_with(rest)).map(|n| format!("/{n}")).collect();
    };
    let Some(command) = find(name) else { return Vec::new() };
    let part = typed.split(' ').next().unwrap_or_default();
    let last = typed.rsplit(' ').next().unwrap_or_default();
    let known = if last.starts_with('-') {
        (command.options)(part)
    } else if typed.contains(' ') {
        &[]
    } else {
        command.parts
    };
    known.iter().filter(|word| word.starts_with(last)).map(|word| (*word).to_owned()).collect()
}

/// What `/help` shows: all commands, or how one is written.
#[must_use]
pub fn help_text(command: Option<&SlashCommand>, lang: Lang) -> String {
    let Some(command) = command else {
        let row = |command: &SlashCommand| {
            let name = padded(&format!("/{}", command.name), NAME_COLUMNS);
            format!("  {name}  {}", command.summary(lang))
        };
        let mut lines = vec![text::chat::help::commands().in_lang(lang)];
        lines.extend(SLASH_COMMANDS.iter().map(row));
        lines.push(text::chat::help::dates().in_lang(lang));
        return lines.join("\n");
    };
    let mut lines = vec![format!("/{}: {}", command.name, command.summary(lang))];
    lines.extend(command.usages(lang).into_iter().map(|usage| format!("  {usage}")));
    lines.join("\n")
}
