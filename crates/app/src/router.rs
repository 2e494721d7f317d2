//! The front door: where every line of every surface comes in, and which way it goes.
//!
//! ```text
//!   empty? ► cancel? ► command? ► no model? ► answer to an open question? ► a new goal
//! ```
//!
//! The order is the specification's (PR-1). A bare word that asks to stop, to leave or for help is
//! one of the first three, unless the open question offers that word.
//!
//! Deliberately absent: carrying anything out.

use crate::slash::{self, SlashKind, SlashLine};
use everloop_agenda::commands::{self, AgendaCommand, CommandError};
use everloop_engine::History;
use everloop_store::{Store, StoreError};
use everloop_text::BareCommand;
use everloop_types::journal::{EntryKind, WaitingOn};
use everloop_types::{Question, QuestionKind, RunId, Status};
use jiff::Zoned;

/// Which way a line goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    /// Nothing was said.
    Nothing,
    /// A phrase that cancels the current task, if there is one.
    Cancel,
    /// A slash command.
    Slash(SlashLine),
    /// A line that was meant as a command.
    Wrong(CommandError),
    /// A command of the person's own: `!` and what the shell is to run.
    OwnCommand(String),
    /// There is no model; a sentence that rules understand, as the command it becomes.
    Rule(String),
    /// The same, and the command changes nothing: nobody has to be asked.
    Look(Box<AgendaCommand>, String),
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
pub struct Router {
    /// The words that cancel, beside `/cancel`.
    pub cancel_phrases: Vec<String>,
    /// Whether a model is configured.
    pub model: ModelState,
}

/// Whether goals can be worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelState {
    /// They can.
    Configured,
    /// They cannot.
    Missing,
}

impl Router {
    /// Whether a line is one of the phrases that cancel, whatever stands around it.
    #[must_use]
    pub fn is_cancel(&self, line: &str) -> bool {
        let said = everloop_text::bare(line);
        !said.is_empty() && self.cancel_phrases.iter().any(|it| everloop_text::bare(it) == said)
    }

    /// Whether a line cancels, by phrase or by command.
    #[must_use]
    pub fn is_cancel_request(&self, line: &str) -> bool {
        self.is_cancel(line) || slash::is_cancel(line)
    }

    /// Which way a line goes. `seen` is the question that the person had before them when they
    /// began to type: no other one may take the line for its answer.
    #[must_use]
    pub fn route(&self, line: &str, now: &Zoned, seen: Option<OpenQuestion>) -> Route {
        let said = slash::normal(line);
        if said.is_empty() {
            return Route::Nothing;
        }
        if self.is_cancel(&said) {
            return Route::Cancel;
        }
        if slash::is_command(&said) {
            return slash::read(&said).map_or_else(Route::Wrong, Route::Slash);
        }
        if let Some(way) = bare(&said, seen.as_ref()) {
            return way;
        }
        let said = match said.strip_prefix("//") {
            Some(rest) => format!("/{rest}"),
            None => said,
        };
        match (self.model, seen) {
            (ModelState::Missing, _) => by_rules(&said, now),
            (ModelState::Configured, Some(question)) => Route::Answer(question, said),
            (ModelState::Configured, None) => Route::Goal(said),
        }
    }
}

/// Where a bare word goes that is meant for the program. A question that offers the word wants it.
fn bare(said: &str, seen: Option<&OpenQuestion>) -> Option<Route> {
    if seen.is_some_and(|open| open.offers(said)) {
        return None;
    }
    if let Some(command) = said.strip_prefix(['!', '\u{ff01}']) {
        return Some(Route::OwnCommand(command.trim().to_owned()));
    }
    let approves = |open: &OpenQuestion| open.question.kind == QuestionKind::Approve;
    if seen.is_some_and(|open| !approves(open)) && everloop_text::is_stop(said) {
        return Some(Route::Cancel);
    }
    let kind = match everloop_text::bare_word(said)? {
        BareCommand::Leave => SlashKind::Quit,
        BareCommand::Help => SlashKind::Help,
    };
    SlashLine::of_kind(kind).map(Route::Slash)
}

/// Where a sentence goes that no model reads.
fn by_rules(said: &str, now: &Zoned) -> Route {
    let line = match everloop_agenda::rules::understand(said, now) {
        Some(Ok(line)) => line,
        Some(Err(wrong)) => return Route::Wrong(wrong),
        None => return Route::NoModel,
    };
    match commands::parse(&line, now) {
        Ok(command) if command.is_read_only() => Route::Look(Box::new(command), line),
        _ => Route::Rule(line),
    }
}

impl OpenQuestion {
    /// Its id among all questions: the run's and that within the run.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}.{}", self.run, self.question.id)
    }

    /// Whether a word stands in the question itself, so that it may be what is asked for.
    #[must_use]
    pub fn offers(&self, word: &str) -> bool {
        let (text, word) = (everloop_text::bare(&self.text), everloop_text::bare(word));
        self.question.kind == QuestionKind::Ask && !word.is_empty() && text.contains(&word)
    }
}

/// The question that a run waits with, its own or that of a run below it.
///
/// # Errors
/// If the store fails.
pub(crate) async fn question_of(
    store: &Store,
    run: &RunId,
) -> Result<Option<OpenQuestion>, StoreError> {
    let below = store.runs().descendants(run).await?;
    let run = below.last().unwrap_or(run);
    // A run that does not wait is not worth reading its journal, which may be long.
    if store.runs().position(run).await?.is_none_or(|at| at.status != Status::Waiting) {
        return Ok(None);
    }
    own_question(store, run).await
}

/// The question that a run which waits has asked itself.
///
/// # Errors
/// If the store fails.
pub(crate) async fn own_question(
    store: &Store,
    run: &RunId,
) -> Result<Option<OpenQuestion>, StoreError> {
    let Some(history) = History::read(store, run).await? else { return Ok(None) };
    let waits = history.entries.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Waiting(waiting) => Some(waiting.on.clone()),
        _ => None,
    });
    let Some(WaitingOn::Person { question }) = waits else { return Ok(None) };
    let slot = format!("ask:{}", question.id);
    let said = store.runs().messages(run).await?.into_iter().find(|said| said.slot == slot);
    let text = said.map_or_else(|| question.text.clone(), |said| said.body);
    Ok(Some(OpenQuestion { run: run.clone(), question, text }))
}
