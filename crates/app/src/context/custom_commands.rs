//! Commands that people write themselves: a Markdown file each, whose name is the command's.
//!
//! ```text
//!   <settings folder>/commands/review.md       the person's own
//!   ~/.agents/commands/review.md               the same, shared with other programs
//!   <workspace>/.agents/commands/release.md    of the repository: whoever wrote it is a stranger
//!                                              until the person has seen it and said yes
//! ```
//!
//! The text is the goal; `$ARGUMENTS` and `$1` … `$9` stand for what follows the command. One of a
//! workspace counts only with the text that was approved: another text is another command.

use super::front_matter;
use crate::app::App;
use crate::home::Home;
use crate::settings::file;
use crate::slash;
use everloop_agenda::commands::CommandWords;
use everloop_types::digest_bytes;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where they lie in a workspace, and below the person's home.
const FOLDER: &str = ".agents/commands";

/// Bytes of one command's file.
const COMMAND_BYTES_MAX: u64 = 64 * 1_024;

/// Files that are read of a folder.
const COMMANDS_MAX: usize = 200;

/// Characters of a description and of a hint.
const LINE_CHARS_MAX: usize = 120;

/// Approvals that are kept; the oldest files are looked at anyway when they are used.
const APPROVED_MAX: usize = 1_000;

/// A command that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCommand {
    /// Its name, without the slash: that of its file.
    pub name: String,
    /// What it does, in one line.
    pub description: String,
    /// What may follow it, for people.
    pub hint: String,
    /// The loop that it wants.
    pub loop_name: Option<String>,
    /// The model that it wants.
    pub model: Option<String>,
    /// Whose it is.
    pub owner: CommandOwner,
    /// Its file.
    pub file: PathBuf,
    /// The text of the goal.
    pub body: String,
    /// Of the whole file.
    digest: String,
}

/// Whose command it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandOwner {
    /// The person's own.
    User,
    /// It came with the workspace.
    Workspace,
}

/// Why a file is no command.
#[derive(Debug, thiserror::Error)]
pub enum CustomCommandError {
    /// It cannot be read, or leads out of its place.
    #[error("it cannot be read")]
    Unreadable(#[source] io::Error),
    /// It is longer than a command may be.
    #[error("it has more than {COMMAND_BYTES_MAX} bytes")]
    TooLarge,
    /// Its name could not be typed as a command.
    #[error("its name is not made of letters, digits, - and _")]
    Name,
    /// A built-in command has this name.
    #[error("/{0} is a built-in command")]
    BuiltIn(String),
    /// The person has a command of this name.
    #[error("you have your own /{0}")]
    Hidden(String),
    /// It says nothing.
    #[error("it has no text")]
    Empty,
}

/// The commands of a person and a workspace.
#[derive(Debug, Default)]
pub struct CustomCommands {
    /// The commands, by name.
    pub all: Vec<CustomCommand>,
    /// What cannot be used, and why.
    pub bad: Vec<(PathBuf, CustomCommandError)>,
}

impl CustomCommands {
    /// Looks for the commands of a person and a workspace.
    #[must_use]
    pub fn find(app: &App, workspace: &Path) -> Self {
        let mut found = Self::default();
        let mut by_name: BTreeMap<String, CustomCommand> = BTreeMap::new();
        let own = (app.home.commands(), CommandOwner::User);
        // In a workspace around the person's home, runs may write there.
        let shared = Home::of_user().map(|home| home.join(FOLDER));
        let shared = shared.filter(|folder| !folder.starts_with(workspace));
        let shared = shared.map(|folder| (folder, CommandOwner::User));
        let of_workspace = (workspace.join(FOLDER), CommandOwner::Workspace);
        for (folder, owner) in [own].into_iter().chain(shared).chain([of_workspace]) {
            for path in files(&folder) {
                let read = CustomCommand::read(&path, owner, workspace);
                match read {
                    Ok(command) if by_name.contains_key(&command.name) => {
                        found.bad.push((path, CustomCommandError::Hidden(command.name)));
                    }
                    Ok(command) => drop(by_name.insert(command.name.clone(), command)),
                    Err(why) => found.bad.push((path, why)),
                }
            }
        }
        found.all = by_name.into_values().collect();
        found
    }

    /// The command that a line names, and what follows it.
    #[must_use]
    pub fn named_by(&self, line: &str) -> Option<(&CustomCommand, String)> {
        let line = slash::normal(line);
        let mut words = CommandWords::of(line.trim_start_matches('/'));
        let name = words.next().unwrap_or_default().to_lowercase();
        let command = self.get(&name)?;
        Some((command, words.rest().trim().to_owned()))
    }

    /// The command of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CustomCommand> {
        self.all.iter().find(|command| command.name == name)
    }
}

impl CustomCommand {
    fn read(
        path: &Path,
        owner: CommandOwner,
        workspace: &Path,
    ) -> Result<Self, CustomCommandError> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c)) {
            return Err(CustomCommandError::Name);
        }
        if slash::find(&name).is_some() {
            return Err(CustomCommandError::BuiltIn(name));
        }
        let text = text_of(path, owner, workspace)?;
        let (fields, body) =
            front_matter::split(&text).unwrap_or_else(|| (Default::default(), text.as_str()));
        let line = |key: &str| -> String {
            let text = fields.text(key).unwrap_or_default();
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            line.chars().take(LINE_CHARS_MAX).collect()
        };
        let body = body.trim().to_owned();
        if body.is_empty() {
            return Err(CustomCommandError::Empty);
        }
        Ok(Self {
            description: line("description"),
            hint: line("argument-hint"),
            loop_name: fields.text("loop").map(str::to_owned),
            model: fields.text("model").map(str::to_owned),
            owner,
            file: path.to_owned(),
            digest: digest_bytes(text.as_bytes()),
            name,
            body,
        })
    }

    /// The goal, with what followed the command.
    #[must_use]
    pub fn goal(&self, arguments: &str) -> String {
        let arguments = arguments.trim();
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let mut goal = String::with_capacity(self.body.len() + arguments.len());
        let mut used = false;
        let mut rest = self.body.as_str();
        while let Some(at) = rest.find('$') {
            goal.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let digit = after.chars().next().and_then(|c| c.to_digit(10)).filter(|n| *n > 0);
            rest = match (after.strip_prefix("ARGUMENTS"), digit) {
                (Some(more), _) => {
                    goal.push_str(arguments);
                    used = true;
                    more
                }
                (None, Some(number)) => {
                    let place = usize::try_from(number).unwrap_or(1) - 1;
                    goal.push_str(words.get(place).copied().unwrap_or_default());
                    used = true;
                    &after[1..]
                }
                (None, None) => {
                    goal.push('$');
                    after
                }
            };
        }
        goal.push_str(rest);
        if !used && !arguments.is_empty() {
            goal.push_str("\n\n");
            goal.push_str(arguments);
        }
        goal
    }

    /// Whether the person may use it without being asked: it is their own, or they have approved
    /// this text of it.
    #[must_use]
    pub fn is_approved(&self, app: &App) -> bool {
        self.owner == CommandOwner::User
            || approved(app).get(&self.key()).is_some_and(|digest| *digest == self.digest)
    }

    /// Keeps the person's yes to this text.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn approve(&self, app: &App) -> io::Result<()> {
        let mut all = approved(app);
        all.retain(|path, _| Path::new(path).exists());
        while all.len() >= APPROVED_MAX {
            all.pop_first();
        }
        all.insert(self.key(), self.digest.clone());
        let text = serde_json::to_string_pretty(&all).map_err(io::Error::other)?;
        file::write(&approvals_file(app), &format!("{text}\n"))
    }

    fn key(&self) -> String {
        self.file.canonicalize().unwrap_or_else(|_| self.file.clone()).display().to_string()
    }
}

/// The text of a command's file. One of a workspace lies there itself: a link would bring files
/// past the rules for them.
fn text_of(
    path: &Path,
    owner: CommandOwner,
    workspace: &Path,
) -> Result<String, CustomCommandError> {
    let unreadable = CustomCommandError::Unreadable;
    let real = path.canonicalize().map_err(unreadable)?;
    let root = workspace.canonicalize().map_err(unreadable)?;
    if owner == CommandOwner::Workspace && !real.starts_with(root) || !real.is_file() {
        return Err(unreadable(io::ErrorKind::PermissionDenied.into()));
    }
    let mut bytes = Vec::new();
    let file = File::open(real).map_err(unreadable)?;
    file.take(COMMAND_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > COMMAND_BYTES_MAX {
        return Err(CustomCommandError::TooLarge);
    }
    Ok(everloop_tools::clean(&bytes))
}

/// The Markdown files of a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_command = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_command).collect();
    all.sort();
    all.truncate(COMMANDS_MAX);
    all
}

fn approvals_file(app: &App) -> PathBuf {
    app.home.data().join("commands.json")
}

/// What was approved: the digest of each file. A list that cannot be read approves nothing.
fn approved(app: &App) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(approvals_file(app)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{CommandOwner, CustomCommand};
    use std::path::PathBuf;

    fn command(body: &str) -> CustomCommand {
        CustomCommand {
            name: "x".to_owned(),
            description: String::new(),
            hint: String::new(),
            loop_name: None,
            model: None,
            owner: CommandOwner::User,
            file: PathBuf::new(),
            body: body.to_owned(),
            digest: String::new(),
        }
    }

    #[test]
    fn arguments_stand_where_the_text_wants_them_or_behind_it() {
        for (body, arguments, goal) in [
            ("look at $ARGUMENTS now", "a b", "look at a b now"),
            ("from $1 to $2", "x y z", "from x to y"),
            ("from $1 to $2", "x", "from x to "),
            ("costs $5", "", "costs "),
            ("price in $", "", "price in $"),
            ("review", "src/lib.rs", "review\n\nsrc/lib.rs"),
            ("review", "", "review"),
            ("$HOME stays", "a", "$HOME stays\n\na"),
        ] {
            assert_eq!(command(body).goal(arguments), goal, "{body}");
        }
    }
}
