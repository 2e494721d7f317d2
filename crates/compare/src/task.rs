//! A task: its goal, the state before, and what must hold afterwards.
//!
//! ```text
//!   TOML ──read──► ContestTask ──► goal, files, todos, recorded pages, answers     (before)
//!                              └─► checks                                          (afterwards)
//! ```

mod read;
mod set;

pub use read::{TaskError, from_folder};
pub use set::{builtin, group};

use crate::{Check, Scene};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One thing to do, with its checker.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContestTask {
    /// Short, with hyphens; the file's name without its ending.
    pub name: String,
    /// What it is about.
    pub kind: TaskKind,
    /// What the model is told.
    pub goal: String,
    /// What must hold afterwards, all of it.
    pub checks: Vec<Check>,
    /// Todos that are there before.
    #[serde(default)]
    pub todos: Vec<String>,
    /// What the user says to questions.
    #[serde(default)]
    pub answers: Vec<ScriptedAnswer>,
    /// What a search finds.
    #[serde(default)]
    pub search: SearchScript,
    /// Files of the workspace that are there before, by their paths.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// What a task is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// Files are written, copied, changed.
    Files,
    /// Todos and entries of the schedule.
    Todos,
    /// Something is looked up on recorded pages.
    Search,
    /// Arithmetic on data.
    Data,
    /// Something fails on the way.
    Recovery,
    /// The user has to be asked.
    Clarification,
}

impl TaskKind {
    /// The word used in files and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Todos => "todos",
            Self::Search => "search",
            Self::Data => "data",
            Self::Recovery => "recovery",
            Self::Clarification => "clarification",
        }
    }
}

/// What the user says to a question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedAnswer {
    /// Words of the question, in any case.
    pub asks: String,
    /// The answer.
    pub says: String,
}

/// The results of searches, and how many requests fail first.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchScript {
    /// How many of the first requests are answered with an error.
    #[serde(default)]
    pub fails: u32,
    /// Pages of this task in addition to those of the set.
    #[serde(default)]
    pub pages: Vec<RecordedPage>,
}

/// One recorded page of results, in the form in which SearXNG answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedPage {
    /// What was searched for.
    pub query: String,
    /// What was found, the best first.
    pub results: Vec<RecordedHit>,
}

/// One search result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedHit {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Its excerpt.
    pub content: String,
}

impl ContestTask {
    /// The user's answer to a question; without a scripted one the user says that they do not know.
    #[must_use]
    pub fn answer_to(&self, question: &str) -> &str {
        let question = question.to_lowercase();
        let fits = |answer: &&ScriptedAnswer| question.contains(&answer.asks.to_lowercase());
        self.answers.iter().find(fits).map_or("I do not know.", |answer| &answer.says)
    }

    /// The checks that do not hold.
    #[must_use]
    pub fn failed(&self, scene: &Scene) -> Vec<&Check> {
        self.checks.iter().filter(|check| !check.holds(scene)).collect()
    }

    /// The state before the run.
    #[must_use]
    pub fn untouched(&self) -> Scene {
        Scene::before(&self.files, &self.todos)
    }

    /// How many sentences the goal has: how hard the task is, roughly.
    #[must_use]
    pub fn sentences(&self) -> usize {
        let mut quoted = false;
        let mut count = 0;
        for (at, c) in self.goal.char_indices() {
            match c {
                '"' => quoted = !quoted,
                '.' if !quoted => {
                    let after = self.goal[at + 1..].chars().next();
                    count += usize::from(after.is_none_or(char::is_whitespace));
                }
                _ => {}
            }
        }
        count
    }
}
