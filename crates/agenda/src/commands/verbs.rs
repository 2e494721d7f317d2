//! The names of the agenda's own commands.

use everloop_text::command_name;

/// A command of the agenda, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgendaVerb {
    /// Adds, shows and changes todos.
    Todo,
    /// Adds, shows and changes entries of the schedule.
    Schedule,
    /// Shows todos by view.
    View,
    /// Puts off a reminder.
    Snooze,
    /// Marks the todo of a reminder as done.
    Done,
}

impl AgendaVerb {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Todo, Self::Schedule, Self::View, Self::Snooze, Self::Done];

    /// The canonical name, without the slash.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::Schedule => "schedule",
            Self::View => "view",
            Self::Snooze => "snooze",
            Self::Done => "done",
        }
    }

    /// The command of that name or alias.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let name = command_name(name);
        Self::ALL.into_iter().find(|verb| verb.name() == name)
    }
}

/// The name of a command that is most similar to `name`, if there is one.
#[must_use]
pub fn nearest_name(name: &str, all: &[&'static str]) -> Option<&'static str> {
    let name = name.to_lowercase();
    let begins = |known: &&&'static str| !name.is_empty() && known.starts_with(&name);
    if let Some(known) = all.iter().find(begins) {
        return Some(known);
    }
    let distance = |known: &str| strsim::damerau_levenshtein(&name, known);
    let best = all.iter().min_by_key(|known| distance(known))?;
    (distance(best) <= 2 && distance(best) < best.len()).then_some(*best)
}
