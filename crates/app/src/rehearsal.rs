//! A rehearsal of the reminders that are set, by the code that fires them.

use crate::app::App;
use everloop_agenda::kept::simulate::{
    Crashes, Rehearsal, RehearsalResult, STEPS_MAX, rehearse_until,
};
use everloop_agenda::show::{DisplayContext, firing_json};
use everloop_agenda::time::dates;
use everloop_store::{Store, StoreError};
use everloop_types::UtcMs;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinError;

/// How long a rehearsal may take. It is cut where it is then.
const TIME_MAX: Duration = Duration::from_secs(30);

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
    /// It panicked, or the process ends.
    #[error("the rehearsal broke off")]
    BrokenOff(#[source] JoinError),
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
    /// Where it was cut: there were too many steps, or it took too long.
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

/// Rehearses the reminders of the store; nothing is written. It works on a thread of its own, and
/// ends with the future.
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
    let config = app.agenda_config();
    let stopped = Arc::new(AtomicBool::new(false));
    // Whoever asked may leave before the end.
    let _stop_with_caller = StopWhenDropped(stopped.clone());
    let seen = stopped.clone();
    let mut work = tokio::task::spawn_blocking(move || {
        let played = rehearse_until(&entries, &todos, &config, &rehearsal, &seen);
        Handle::current().block_on(played)
    });
    let done = tokio::select! {
        done = &mut work => done,
        () = tokio::time::sleep(TIME_MAX) => {
            stopped.store(true, Ordering::Relaxed);
            work.await
        }
    };
    Ok(done.map_err(RehearsalError::BrokenOff)??)
}

/// Stops a rehearsal when it goes out of scope.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
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
