//! What a new run is told of facts: the newest that fit, each with its id and its day.

use super::{active_in, short_id};
use crate::app::App;
use crate::context::prompt;
use crate::error::AppError;
use everloop_agenda::kept::moment;
use everloop_store::{FactRow, Store};
use everloop_types::{Frame, Labels, UNTRUSTED_MARK};
use std::path::Path;

/// The name by which labels say that a run was told facts.
const SOURCE: &str = "memory";

/// The facts that a new run in a folder is told, the oldest first: those of the folder and those
/// for all, as many as the settings allow.
///
/// # Errors
/// If the store fails.
pub async fn active_facts(
    app: &App,
    store: &Store,
    workspace: &Path,
) -> Result<Vec<FactRow>, AppError> {
    Ok(chosen(app, store, workspace).await?.0)
}

/// The facts that are told, and how many are not.
async fn chosen(
    app: &App,
    store: &Store,
    workspace: &Path,
) -> Result<(Vec<FactRow>, usize), AppError> {
    let limits = &app.settings.memory;
    if limits.prompt_facts == 0 || limits.prompt_chars == 0 {
        return Ok((Vec::new(), 0));
    }
    let workspace = workspace.to_string_lossy();
    let all = active_in(&app.settings, store, Some(&workspace)).await?;
    let count = all.len();
    let mut left = limits.prompt_chars;
    let fits = |fact: &FactRow| {
        let chars = fact.text.chars().count();
        let fits = chars <= left;
        left -= if fits { chars } else { 0 };
        fits
    };
    let mut told: Vec<FactRow> = all.into_iter().filter(fits).take(limits.prompt_facts).collect();
    told.reverse();
    let untold = count - told.len();
    Ok((told, untold))
}

/// Tells a new run the active facts: adds them to the end of its system text, and their labels to
/// its policy. Comes after the policy was made, and before the run is submitted.
///
/// # Errors
/// If the store fails.
pub async fn brief(app: &App, store: &Store, frame: &mut Frame) -> Result<(), AppError> {
    let (told, untold) = chosen(app, store, Path::new(&frame.workspace)).await?;
    if told.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = told.iter().map(line).collect();
    frame.system.push_str(&prompt::facts(&lines, untold));
    let untrusted = told.iter().any(|fact| fact.untrusted);
    frame.policy.inherited.take(Labels { untrusted, ..Labels::PRIVATE }, SOURCE);
    Ok(())
}

/// One fact as the model reads it. The mark stands before the words, where a cut cannot lose it.
pub(super) fn line(fact: &FactRow) -> String {
    let day = moment(fact.updated_at).strftime("%Y-%m-%d");
    let mark = if fact.untrusted { format!(" {UNTRUSTED_MARK}") } else { String::new() };
    format!("- ({}, {day}){mark} {}", short_id(&fact.id), fact.text)
}
