//! A rehearsal of the reminders that are set, by the code that fires them.

use crate::app::App;
use everloop_agenda::kept::simulate::{Crashes, Rehearsal, RehearsalResult, STEPS_MAX, rehearse};
use everloop_agenda::show::{DisplayContext, firing_json};
use everloop_agenda::time::dates;
use everloop_store::{Store, StoreError};
use everloop_types::UtcMs;
use serde::Serialize;
use serde_json::Value;

/// What is to be rehearsed, as it was typed.
#[derive(Debug, Clone)]
pub struct RehearsalRequest<'a> {
    /// Its first moment.
    pub from: &'a str,
    /// Its end.
    pub to: &'a str,
    /// `all`, or the numbers of firings at which the process dies.
    pub crash_at: Option<&'a str>,
    /// Ranges in which nothing runs, as `DATE..DATE`.
    pub down: &'a [String],
}

/// Why a rehearsal cannot be made, with the text that is wrong.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// The end is before the beginning.
    #[error("{0} is not after the beginning")]
    Backwards(String),
    /// Not a list of numbers.
    #[error("{0} is not a list of numbers")]
    NotNumbers(String),
    /// Not a range of dates.
    #[error("{0} is not a range of dates")]
    NotRange(String),
    /// Not a date.
    #[error("{0} is not a date")]
    NotDate(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a rehearsal found.
#[derive(Debug, Clone, Serialize)]
pub struct RehearsalReport {
    /// Whether each moment fired or was missed exactly once.
    pub ok: bool,
    /// Every firing, in order.
    pub firings: Vec<Value>,
    /// How often the process died.
    pub crashes: u64,
    /// Moments that nothing became of.
    pub lost: usize,
    /// Firings that should not be.
    pub wrong: usize,
    /// Moments of a downtime that were too old to be kept.
    pub left_out: usize,
    /// Where it was broken off because there were too many steps.
    pub cut_at: Option<String>,
}

impl RehearsalReport {
    /// What came of a rehearsal, for programs.
    #[must_use]
    pub fn of(rehearsed: &RehearsalResult, reader: &DisplayContext) -> Self {
        Self {
            ok: rehearsed.is_right(),
            firings: rehearsed.firings.iter().map(|row| firing_json(reader, row)).collect(),
            crashes: rehearsed.crashes,
            lost: rehearsed.lost.len(),
            wrong: rehearsed.wrong.len(),
            left_out: rehearsed.left_out,
            cut_at: rehearsed.cut_at.map(|at| reader.moment(at)),
        }
    }
}

/// Rehearses the reminders of the store; nothing is written.
///
/// # Errors
/// [`RehearsalError`].
pub async fn rehearse_reminders(
    app: &App,
    store: &Store,
    request: &RehearsalRequest<'_>,
    reader: &DisplayContext,
) -> Result<RehearsalResult, RehearsalError> {
    let rehearsal = read_request(request, reader)?;
    let entries = store.agenda().schedules().await?;
    let todos = store.agenda().todos().await?;
    Ok(rehearse(&entries, &todos, &app.agenda_config(), &rehearsal).await?)
}

fn read_request(
    request: &RehearsalRequest<'_>,
    reader: &DisplayContext,
) -> Result<Rehearsal, RehearsalError> {
    let from = date(request.from, reader)?;
    let to = date(request.to, reader)?;
    if from >= to {
        return Err(RehearsalError::Backwards(request.to.to_owned()));
    }
    let crashes = match request.crash_at {
        None => Crashes::None,
        Some("all") => Crashes::Everywhere,
        Some(list) => {
            let numbers: Result<Vec<u64>, _> = list.split(',').map(|n| n.trim().parse()).collect();
            Crashes::At(numbers.map_err(|_| RehearsalError::NotNumbers(list.to_owned()))?)
        }
    };
    let mut down = Vec::new();
    for text in request.down {
        let not_range = || RehearsalError::NotRange(text.clone());
        let (begins, ends) = text.split_once("..").ok_or_else(not_range)?;
        let range = (date(begins, reader)?, date(ends, reader)?);
        if range.0 >= range.1 {
            return Err(not_range());
        }
        down.push(range);
    }
    Ok(Rehearsal { from, to, crashes, down, steps_max: STEPS_MAX })
}

fn date(text: &str, reader: &DisplayContext) -> Result<UtcMs, RehearsalError> {
    let when = dates::parse(text, &reader.now);
    let at = when.and_then(|when| when.at.to_zoned(reader.now.time_zone().clone()).ok());
    let at = at.map(|at| at.timestamp().as_millisecond());
    at.ok_or_else(|| RehearsalError::NotDate(text.to_owned()))
}
