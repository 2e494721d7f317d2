//! Calls whose outcome nobody knows: a person says what happened, or the tool looks.
//!
//! Deliberately absent: a change of a finished journal, and a second word on the same call.

use crate::error::{AppError, RunError};
use crate::show::call_args;
use everloop_engine::{Engine, OpenUnknown, SettleResult};
use everloop_ports::Probe;
use everloop_text::OutcomeReport;
use everloop_types::{RunId, SettledOutcome};
use std::sync::Arc;

/// What a person says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettleWord {
    /// It happened.
    Happened,
    /// It did not.
    DidNot,
    /// The tool is to look.
    Probe,
}

impl SettleWord {
    /// What a line means, if it means anything.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        everloop_text::reported_outcome(line).map(|told| match told {
            OutcomeReport::Happened => Self::Happened,
            OutcomeReport::DidNot => Self::DidNot,
            OutcomeReport::Look => Self::Probe,
        })
    }
}

/// What came of a word on a call.
#[derive(Debug)]
pub struct SettleReport {
    /// The call.
    pub open: OpenUnknown,
    /// What a probe found, if one was made.
    pub probe: Option<Probe>,
    /// What was settled, and what became of that; none if the probe could not tell.
    pub settling: Option<(SettledOutcome, SettleResult)>,
}

/// The call that is meant: the one that was named, or the only one that is open.
///
/// # Errors
/// [`RunError::UnknownCall`], [`RunError::NothingToSettle`] or [`RunError::SeveralToSettle`].
pub fn choose_call<'a>(
    run: &RunId,
    all: &'a [OpenUnknown],
    name: Option<&str>,
) -> Result<&'a OpenUnknown, RunError> {
    if let Some(name) = name {
        let is_meant = |open: &&OpenUnknown| {
            open.effect.place().as_str() == name || open.effect.to_string() == name
        };
        let unknown = || RunError::UnknownCall { run: run.clone(), call: name.to_owned() };
        return all.iter().find(is_meant).ok_or_else(unknown);
    }
    let open: Vec<&OpenUnknown> = all.iter().filter(|open| open.settled.is_none()).collect();
    match open.as_slice() {
        [only] => Ok(only),
        [] => Err(RunError::NothingToSettle(run.clone())),
        several => {
            let calls = several.iter().map(|open| (*open).clone()).collect();
            Err(RunError::SeveralToSettle { run: run.clone(), calls })
        }
    }
}

/// Says what happened, or looks first.
///
/// # Errors
/// If the store fails, or somebody has said otherwise before.
pub async fn settle(
    engine: &Arc<Engine>,
    open: &OpenUnknown,
    word: SettleWord,
) -> Result<SettleReport, AppError> {
    let mut report = SettleReport { open: open.clone(), probe: None, settling: None };
    let (settled, by) = match word {
        SettleWord::Happened => (SettledOutcome::Happened, "user"),
        SettleWord::DidNot => (SettledOutcome::Not, "user"),
        SettleWord::Probe => {
            let found = engine.probe_again(open).await?;
            let settled = match &found {
                Probe::Happened(_) => Some(SettledOutcome::Happened),
                Probe::DidNot => Some(SettledOutcome::Not),
                Probe::Unknown(_) => None,
            };
            report.probe = Some(found);
            let Some(settled) = settled else { return Ok(report) };
            (settled, "probe")
        }
    };
    report.settling = Some((settled, engine.settle(&open.effect, settled, by).await?));
    Ok(report)
}

impl SettleReport {
    /// The call in one line.
    #[must_use]
    pub fn call(&self) -> String {
        format!("{} {}", self.open.call.tool, call_args(&self.open.call.args))
    }

    /// What was settled, if it counts.
    ///
    /// # Errors
    /// [`RunError::AlreadySettled`] or [`RunError::NothingToSettle`].
    pub fn settled(
        &self,
        run: &RunId,
    ) -> Result<Option<(SettledOutcome, &SettleResult)>, AppError> {
        let Some((settled, settling)) = &self.settling else { return Ok(None) };
        match settling {
            SettleResult::Written | SettleResult::Answered => Ok(Some((*settled, settling))),
            SettleResult::Already(Some(first)) if first.settled == *settled => {
                Ok(Some((*settled, settling)))
            }
            SettleResult::Already(first) => {
                Err(RunError::AlreadySettled { call: self.call(), first: first.clone() }.into())
            }
            SettleResult::NotOpen => Err(RunError::NothingToSettle(run.clone()).into()),
        }
    }
}
