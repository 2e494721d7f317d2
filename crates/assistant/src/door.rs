//! The front door: where every line of every surface comes in, and which way it goes.
//!
//! ```text
//!   empty? ► cancel? ► command? ► no model? ► answer to an open question? ► a new goal
//! ```
//!
//! The order is the specification's (PR-1). Deliberately absent: carrying anything out.

use crate::commands::{self, Command, Wrong};
use everloop_engine::History;
use everloop_store::{Store, StoreError};
use everloop_types::journal::{Kind, WaitingOn};
use everloop_types::{ConversationId, Question, RunId, Status};
use jiff::Zoned;

/// Which way a line goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Way {
    /// Nothing was said.
    Nothing,
    /// The current task is to be canceled, if there is one.
    Cancel(Option<RunId>),
    /// A command.
    Command(Command),
    /// A line that was meant as a command.
    Wrong(Wrong),
    /// There is no model; a sentence that rules understand, as the command it becomes.
    Rule(String),
    /// There is no model, and rules do not understand it either.
    NoModel,
    /// The answer to an open question.
    Answer(OpenQuestion, String),
    /// A new goal.
    Goal(String),
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenQuestion {
    /// Who asks.
    pub run: RunId,
    /// What.
    pub question: Question,
    /// The question as the person reads it.
    pub text: String,
}

/// The front door of one surface.
#[derive(Debug, Clone)]
pub struct Door {
    /// The conversation that lines belong to.
    pub conversation: ConversationId,
    /// The words that cancel, beside `/cancel`.
    pub cancel_phrases: Vec<String>,
    /// Whether a model is configured.
    pub model: Model,
}

/// Whether goals can be worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// They can.
    Configured,
    /// They cannot.
    Missing,
}

impl Door {
    /// Whether a line is one of the phrases that cancel.
    #[must_use]
    pub fn is_cancel(&self, line: &str) -> bool {
        self.cancel_phrases.contains(&commands::normal(line))
    }

    /// Which way a line goes. `seen` is the question that the person had before them when they
    /// began to type: no other one may take the line for its answer.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn way(
        &self,
        store: &Store,
        line: &str,
        now: &Zoned,
        seen: Option<OpenQuestion>,
    ) -> Result<Way, StoreError> {
        let said = commands::normal(line);
        if said.is_empty() {
            return Ok(Way::Nothing);
        }
        if self.is_cancel(&said) {
            return Ok(Way::Cancel(self.open_run(store).await?));
        }
        if commands::is_command(&said) {
            return Ok(match commands::parse(&said, now) {
                Ok(Command::Talk(verb, _)) if verb.name == "cancel" => {
                    Way::Cancel(self.open_run(store).await?)
                }
                Ok(command) => Way::Command(command),
                Err(wrong) => Way::Wrong(wrong),
            });
        }
        let said = match said.strip_prefix("//") {
            Some(rest) => format!("/{rest}"),
            None => said,
        };
        if self.model == Model::Missing {
            return Ok(match crate::rules::understand(&said, now) {
                Some(Ok(command)) => Way::Rule(command),
                Some(Err(wrong)) => Way::Wrong(wrong),
                None => Way::NoModel,
            });
        }
        Ok(match seen {
            Some(question) => Way::Answer(question, said),
            None => Way::Goal(said),
        })
    }

    /// The newest run of the conversation that has not ended.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn open_run(&self, store: &Store) -> Result<Option<RunId>, StoreError> {
        Ok(self.open_runs(store).await?.into_iter().next().map(|(run, _)| run))
    }

    /// The runs of the conversation that have not ended, the newest first.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn open_runs(&self, store: &Store) -> Result<Vec<(RunId, Status)>, StoreError> {
        store.open_runs_of(&self.conversation).await
    }

    /// The newest open question of the conversation.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn open_question(&self, store: &Store) -> Result<Option<OpenQuestion>, StoreError> {
        for (run, status) in self.open_runs(store).await? {
            if status == Status::Waiting
                && let Some(question) = question_of(store, &run).await?
            {
                return Ok(Some(question));
            }
        }
        Ok(None)
    }
}

/// The question that a run waits with, its own or that of a run below it.
///
/// # Errors
/// If the store fails.
pub async fn question_of(store: &Store, run: &RunId) -> Result<Option<OpenQuestion>, StoreError> {
    let below = store.descendants(run).await?;
    let run = below.last().unwrap_or(run);
    let waits = store.position(run).await?.is_some_and(|at| at.status == Status::Waiting);
    let Some(history) = History::read(store, run).await?.filter(|_| waits) else {
        return Ok(None);
    };
    let waits = history.entries.iter().rev().find_map(|entry| match &entry.kind {
        Kind::Waiting(waiting) => Some(waiting.on.clone()),
        _ => None,
    });
    let Some(WaitingOn::Person { question }) = waits else { return Ok(None) };
    let slot = format!("ask:{}", question.id);
    let said = store.messages(run).await?.into_iter().find(|said| said.slot == slot);
    let text = said.map_or_else(|| question.text.clone(), |said| said.body);
    Ok(Some(OpenQuestion { run: run.clone(), question, text }))
}
