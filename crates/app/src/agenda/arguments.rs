//! Commands about todos and the schedule as the arguments of a shell.

use everloop_agenda::commands::{self, AgendaCommand, AgendaVerb, CommandError, CommandWords};
use everloop_agenda::show::DisplayContext;
use serde::Serialize;
use serde_json::{Value, json};
use std::ffi::OsString;

/// The dashes that input methods write in place of two hyphens.
const WIDE_DASHES: [&str; 4] = ["——", "－－", "––", "—"];

/// Options of todos and entries that people write with one dash.
const ONE_DASH: [&str; 8] =
    ["due", "remind", "tag", "priority", "duration", "repeat", "times", "interval"];

/// A command that is put together from arguments. Its words stay apart: a shell has cut them
/// already, and what it says is a text stays one.
#[derive(Debug, Clone)]
pub struct AgendaLine {
    verb: AgendaVerb,
    words: Vec<AgendaWord>,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgendaWord {
    /// Of a text or a value, even if it looks like an option.
    Text(String),
    /// The name of an option.
    Option(String),
}

impl AgendaLine {
    /// A command of this verb, such as `todo add`.
    #[must_use]
    pub fn new(verb: AgendaVerb, part: &str) -> Self {
        Self { verb, words: vec![AgendaWord::Text(part.to_owned())] }
    }

    /// A command of these words.
    #[must_use]
    pub fn of(verb: AgendaVerb, words: Vec<AgendaWord>) -> Self {
        Self { verb, words }
    }

    /// With the id of a todo or an entry.
    #[must_use]
    pub fn id(self, id: &str) -> Self {
        self.with(AgendaWord::Text(id.to_owned()))
    }

    /// With words of a text.
    #[must_use]
    pub fn words(self, words: &[String]) -> Self {
        words.iter().fold(self, |line, word| line.with(AgendaWord::Text(word.clone())))
    }

    /// With an option, if it has a value.
    #[must_use]
    pub fn option(self, name: &str, value: Option<&String>) -> Self {
        match value {
            Some(value) => self.flag(name, true).with(AgendaWord::Text(value.clone())),
            None => self,
        }
    }

    /// With an option that has no value, if it is set.
    #[must_use]
    pub fn flag(self, name: &str, is_set: bool) -> Self {
        if is_set { self.with(AgendaWord::Option(name.to_owned())) } else { self }
    }

    fn with(mut self, word: AgendaWord) -> Self {
        self.words.push(word);
        self
    }

    fn command_words(&self) -> CommandWords {
        self.words.iter().fold(CommandWords::default(), |all, word| match word {
            AgendaWord::Text(text) => all.text(text),
            AgendaWord::Option(name) => all.option(name),
        })
    }

    /// The words, joined.
    #[must_use]
    pub fn typed(&self) -> String {
        self.command_words().rest()
    }

    /// The command as a server takes it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"verb": self.verb.name(), "words": self.words})
    }

    /// The command that the words mean.
    ///
    /// # Errors
    /// What is wrong with the words.
    pub fn parse(self, reader: &DisplayContext) -> Result<AgendaCommand, CommandError> {
        commands::parse_words(self.verb, self.command_words(), &reader.now)
    }
}

/// Whether arguments are a command about todos or the schedule.
#[must_use]
pub fn is_about_agenda(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "todo" || arg == "schedule" || arg == "view")
}

/// Options of todos and entries with two hyphens, where an input method wrote `——due`, `—due` or
/// `－－due`. Other commands stay as they are.
#[must_use]
pub fn plain_dashes(args: Vec<OsString>) -> Vec<OsString> {
    if !is_about_agenda(&args) {
        return args;
    }
    let plain = |arg: OsString| {
        let rest =
            arg.to_str().and_then(|arg| WIDE_DASHES.iter().find_map(|dash| arg.strip_prefix(dash)));
        let is_name = |rest: &&str| rest.starts_with(|c: char| c.is_ascii_alphabetic());
        match rest.filter(is_name) {
            Some(rest) => OsString::from(format!("--{rest}")),
            None => arg,
        }
    };
    args.into_iter().map(plain).collect()
}

/// An option of todos or entries that was written with one dash.
#[must_use]
pub fn one_dash(args: &[OsString]) -> Option<String> {
    if !is_about_agenda(args) {
        return None;
    }
    let mut names = args.iter().filter_map(|arg| arg.to_str()?.strip_prefix('-'));
    let named = |name: &&str| {
        let name = name.split('=').next().unwrap_or_default();
        ONE_DASH.contains(&name)
    };
    names.find(named).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{one_dash, plain_dashes};
    use std::ffi::OsString;

    fn args(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn wide_dashes_become_hyphens_in_commands_about_the_agenda_only() {
        for dash in ["——", "－－", "––", "—"] {
            let option = format!("{dash}due");
            let typed = ["everloop", "todo", "add", "x", &option, "— — y"];
            let plain = args(&["everloop", "todo", "add", "x", "--due", "— — y"]);
            assert_eq!(plain_dashes(args(&typed)), plain);
            let other = args(&["everloop", "run", &option]);
            assert_eq!(plain_dashes(other.clone()), other);
        }
    }

    #[test]
    fn an_option_with_one_dash_is_found_in_commands_about_the_agenda_only() {
        let found = |words: &[&str]| one_dash(&args(words));
        assert_eq!(found(&["everloop", "todo", "add", "x", "-due=5"]), Some("due=5".to_owned()));
        assert_eq!(found(&["everloop", "todo", "add", "x", "--due", "-5"]), None);
        assert_eq!(found(&["everloop", "run", "-due"]), None);
    }
}
