//! Looking back at a run: its journal as a story, and whether it can be verified.

use crate::error::{AppError, chain};
use crate::runs::history;
use everloop_engine::{History, ReplayVerdict, story};
use everloop_store::Store;
use everloop_text as text;
use everloop_types::{Lang, RunId, UtcMs};
use serde::Serialize;

/// One line of a run's story.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayLine {
    /// The entry of the journal.
    pub seq: i64,
    /// When it was written.
    pub ts: UtcMs,
    /// What happened, in the person's language.
    pub text: String,
}

/// What a verification found.
#[derive(Debug, Clone, Serialize)]
pub struct VerdictReport {
    /// `verified`, `diverged`, `outcome_differs` or `cannot`.
    pub verdict: &'static str,
    /// The first entry at which the loop decides something else.
    pub at: Option<i64>,
    /// What the loop decides today.
    pub expected: Option<String>,
    /// What the journal has.
    pub found: Option<String>,
    /// Why it cannot be verified.
    pub reason: Option<String>,
    /// What no verification checks.
    pub not_checked: String,
}

impl VerdictReport {
    /// A verdict, for programs.
    #[must_use]
    pub fn of(verdict: &ReplayVerdict, lang: Lang) -> Self {
        let report = |name| Self {
            verdict: name,
            at: None,
            expected: None,
            found: None,
            reason: None,
            not_checked: text::verify::not_checked().in_lang(lang),
        };
        match verdict.clone() {
            ReplayVerdict::Verified { .. } => report("verified"),
            ReplayVerdict::Diverged { at, expected, found } => Self {
                at: Some(at),
                expected: Some(expected),
                found: Some(found),
                ..report("diverged")
            },
            ReplayVerdict::OutcomeDiffers { expected, found } => {
                Self { expected: Some(expected), found: Some(found), ..report("outcome_differs") }
            }
            ReplayVerdict::Cannot { reason } => Self { reason: Some(reason), ..report("cannot") },
        }
    }
}

/// The story of a run.
#[must_use]
pub fn tell_story(history: &History, lang: Lang) -> Vec<ReplayLine> {
    let lines = story::story_of(history).into_iter().map(|line| ReplayLine {
        seq: line.seq,
        ts: line.at,
        text: text::render(&line.words, lang),
    });
    lines.collect()
}

/// Whether every decision of a run is what its loop decides today. A journal that cannot be read
/// cannot be verified.
///
/// # Errors
/// If there is no such run.
pub async fn verify_run(store: &Store, run: &RunId, lang: Lang) -> Result<ReplayVerdict, AppError> {
    match history(store, run).await {
        Ok(history) => Ok(history.verify()),
        Err(AppError::Store(error)) => {
            let reason = text::error::store(&chain(&error)).in_lang(lang);
            Ok(ReplayVerdict::Cannot { reason })
        }
        Err(error) => Err(error),
    }
}
