//! Whether a task was done: judged by the resulting state, never by what the model claims.
//!
//! The state is collected first ([`Scene`]), so checking is pure.

use everloop_agenda::kept::moment;
use everloop_store::{ScheduleRow, TodoRow};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The state after a run, or before one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scene {
    /// The files of the workspace, by their paths.
    pub files: BTreeMap<String, String>,
    /// Todos.
    pub todos: Vec<SavedTodo>,
    /// Entries of the schedule: their text, and wall time as `YYYY-MM-DD HH:MM`.
    pub entries: Vec<(String, String)>,
    /// The final message of the run.
    pub answer: String,
    /// Questions that the user was asked.
    pub asked: usize,
    /// Searches that reached the search service, whatever it replied.
    pub searched: usize,
}

/// The parts of a todo that checks look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedTodo {
    /// What is to be done.
    pub text: String,
    /// Whether it is done.
    pub done: bool,
    /// The day on which it is due, `YYYY-MM-DD`.
    pub due: Option<String>,
}

impl Scene {
    /// The state before the run.
    #[must_use]
    pub fn before(files: &BTreeMap<String, String>, todos: &[String]) -> Self {
        let kept = |text: &String| SavedTodo { text: text.clone(), ..SavedTodo::default() };
        let todos = todos.iter().map(kept).collect();
        Self { files: files.clone(), todos, ..Self::default() }
    }
}

impl From<&TodoRow> for SavedTodo {
    fn from(row: &TodoRow) -> Self {
        let day = |at| moment(at).to_zoned(TimeZone::UTC).date().to_string();
        Self {
            text: row.said.text.clone(),
            done: row.done_at.is_some(),
            due: row.said.due_at.map(day),
        }
    }
}

/// An entry as [`Scene::entries`] has it.
pub(crate) fn entry(row: &ScheduleRow) -> (String, String) {
    (row.said.title.clone(), row.said.span.starts.replace('T', " "))
}

/// One thing that must hold. Texts of files are compared without their final newline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Check {
    /// A file has exactly this text.
    FileEquals(FilePassage),
    /// A file has this text in it.
    FileHas(FilePassage),
    /// A file is there and does not have this text in it.
    FileLacks(FilePassage),
    /// There is no such file.
    FileAbsent(String),
    /// A line is in a file exactly once, so that a repeated effect is noticed.
    LineOnce(FilePassage),
    /// There is exactly one such todo, and it is open.
    TodoOpen(String),
    /// There is exactly one such todo, and it is done.
    TodoDone(String),
    /// There is no such todo.
    TodoAbsent(String),
    /// There is exactly one such todo, and it is due on that day.
    TodoDue(TimedItem),
    /// The number of all todos.
    Todos(usize),
    /// There is exactly one such entry, and it begins at that time.
    Scheduled(TimedItem),
    /// The number of all entries.
    Entries(usize),
    /// The answer has this in it, as words of their own.
    AnswerHas(String),
    /// The answer does not have this in it.
    AnswerLacks(String),
    /// The user was asked exactly this many times.
    Asked(usize),
    /// The search service was asked at least this many times; failed requests count.
    SearchedAtLeast(usize),
}

/// A text and the file in which it is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePassage {
    /// Its path.
    pub file: String,
    /// The text, or the line.
    pub text: String,
}

/// A todo or an entry, and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimedItem {
    /// What it is called.
    pub text: String,
    /// `YYYY-MM-DD` for a todo, `YYYY-MM-DD HH:MM` for an entry.
    pub at: String,
}

impl Check {
    /// Whether it holds.
    #[must_use]
    pub fn holds(&self, scene: &Scene) -> bool {
        let file = |name: &String| scene.files.get(name).map(|text| text.trim_end());
        let todo = |text: &String| only(scene.todos.iter().filter(|todo| todo.text == *text));
        match self {
            Self::FileEquals(it) => file(&it.file) == Some(it.text.trim_end()),
            Self::FileHas(it) => file(&it.file).is_some_and(|text| text.contains(&it.text)),
            Self::FileLacks(it) => file(&it.file).is_some_and(|text| !text.contains(&it.text)),
            Self::FileAbsent(name) => file(name).is_none(),
            Self::LineOnce(it) => {
                let lines = file(&it.file).into_iter().flat_map(str::lines);
                only(lines.filter(|line| line.trim_end() == it.text)).is_some()
            }
            Self::TodoOpen(text) => todo(text).is_some_and(|todo| !todo.done),
            Self::TodoDone(text) => todo(text).is_some_and(|todo| todo.done),
            Self::TodoAbsent(text) => !scene.todos.iter().any(|todo| todo.text == *text),
            Self::TodoDue(it) => {
                todo(&it.text).is_some_and(|todo| todo.due.as_ref() == Some(&it.at))
            }
            Self::Todos(count) => scene.todos.len() == *count,
            Self::Scheduled(it) => only(scene.entries.iter().filter(|(text, _)| *text == it.text))
                .is_some_and(|(_, at)| *at == it.at),
            Self::Entries(count) => scene.entries.len() == *count,
            Self::AnswerHas(text) => says(&scene.answer, text),
            Self::AnswerLacks(text) => !says(&scene.answer, text),
            Self::Asked(count) => scene.asked == *count,
            Self::SearchedAtLeast(count) => scene.searched >= *count,
        }
    }

    /// Roughly as it is written in a task's file.
    #[must_use]
    pub fn shown(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Why the check is invalid.
    pub(crate) fn is_wrong(&self) -> Option<&'static str> {
        let empty = match self {
            Self::FileEquals(it) => it.file.is_empty(),
            Self::FileHas(it) | Self::FileLacks(it) | Self::LineOnce(it) => {
                it.file.is_empty() || it.text.is_empty()
            }
            Self::FileAbsent(text)
            | Self::TodoOpen(text)
            | Self::TodoDone(text)
            | Self::TodoAbsent(text)
            | Self::AnswerHas(text)
            | Self::AnswerLacks(text) => text.is_empty(),
            Self::TodoDue(it) | Self::Scheduled(it) => it.text.is_empty() || it.at.is_empty(),
            Self::Todos(_) | Self::Entries(_) | Self::Asked(_) | Self::SearchedAtLeast(_) => false,
        };
        empty.then_some("has an empty text")
    }
}

/// The only item; `None` if there are several.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// Whether a text contains the words, not as part of longer ones: 12 is not in 312, nor in 12.5.
fn says(text: &str, words: &str) -> bool {
    let text = without_thousands(&text.to_lowercase());
    let words = without_thousands(&words.trim().to_lowercase());
    let stands_alone = |(at, found): (usize, &str)| {
        let mut before = text[..at].chars().rev();
        let mut after = text[at + found.len()..].chars();
        let joins = |edge: Option<char>, next: Option<char>, beyond: Option<char>| match next {
            Some(c) if c.is_ascii_alphanumeric() => edge.is_some_and(|e| e.is_ascii_alphanumeric()),
            Some('.') => {
                let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
                digit(edge) && digit(beyond)
            }
            _ => false,
        };
        !joins(found.chars().next(), before.next(), before.next())
            && !joins(found.chars().next_back(), after.next(), after.next())
    };
    !words.is_empty() && text.match_indices(&words).any(stands_alone)
}

/// `1,234` as `1234`.
fn without_thousands(text: &str) -> String {
    let all: Vec<char> = text.chars().collect();
    let digit = |at: Option<usize>| at.and_then(|at| all.get(at)).is_some_and(char::is_ascii_digit);
    let groups = |at: usize| {
        digit(at.checked_sub(1)) && (1..=3).all(|n| digit(Some(at + n))) && !digit(Some(at + 4))
    };
    let kept = all.iter().enumerate().filter(|(at, c)| **c != ',' || !groups(*at));
    kept.map(|(_, c)| *c).collect()
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
