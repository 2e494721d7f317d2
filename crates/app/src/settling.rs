//! Calls whose outcome nobody knows: a person says what happened, or the tool looks.
//!
//! Deliberately absent: a change of a finished journal, and a second word on the same call.

use crate::call_words::call_words;
use crate::error::{AppError, RunError, SettlingError};
use crate::show::call_args;
use everloop_engine::{Engine, OpenUnknown, SettleResult};
use everloop_ports::Probe;
use everloop_text::OutcomeReport;
use everloop_types::{Lang, RunId, SettledOutcome};
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
/// [`SettlingError::UnknownCall`], [`SettlingError::Nothing`] or [`SettlingError::Several`].
pub fn choose_call<'a>(
    run: &RunId,
    all: &'a [OpenUnknown],
    name: Option<&str>,
) -> Result<&'a OpenUnknown, SettlingError> {
    if let Some(name) = name {
        let is_meant = |open: &&OpenUnknown| {
            open.effect.place().as_str() == name || open.effect.to_string() == name
        };
        let unknown = || SettlingError::UnknownCall { run: run.clone(), call: name.to_owned() };
        return all.iter().find(is_meant).ok_or_else(unknown);
    }
    let open: Vec<&OpenUnknown> = all.iter().filter(|open| open.settled.is_none()).collect();
    match open.as_slice() {
        [only] => Ok(only),
        [] => Err(SettlingError::Nothing(run.clone())),
        several => {
            let calls = several.iter().map(|open| (*open).clone()).collect();
            Err(SettlingError::Several { run: run.clone(), calls })
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
    settle_as(engine, open, word, "user").await
}

/// The same in this name.
///
/// # Errors
/// As [`settle`].
pub(crate) async fn settle_as(
    engine: &Arc<Engine>,
    open: &OpenUnknown,
    word: SettleWord,
    by: &str,
) -> Result<SettleReport, AppError> {
    let mut report = SettleReport { open: open.clone(), probe: None, settling: None };
    let (settled, by) = match word {
        SettleWord::Happened => (SettledOutcome::Happened, by.to_owned()),
        SettleWord::DidNot => (SettledOutcome::Not, by.to_owned()),
        SettleWord::Probe => {
            let found = engine.probe_again(open).await?;
            let settled = match &found {
                Probe::Happened(_) => Some(SettledOutcome::Happened),
                Probe::DidNot => Some(SettledOutcome::Not),
                Probe::Unknown(_) => None,
            };
            report.probe = Some(found);
            let Some(settled) = settled else { return Ok(report) };
            (settled, by.replacen("user", "probe", 1))
        }
    };
    report.settling = Some((settled, engine.settle(&open.effect, settled, &by).await?));
    Ok(report)
}

impl SettleReport {
    /// The call in one line.
    #[must_use]
    pub fn call(&self, lang: Lang) -> String {
        call_words(lang, &self.open.call.tool, &self.open.call.args)
    }

    /// What was settled, if it counts.
    ///
    /// # Errors
    /// [`SettlingError::AlreadySettled`] or [`SettlingError::Nothing`].
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
            SettleResult::Already(first) => Err(RunError::from(SettlingError::AlreadySettled {
                call: format!("{} {}", self.open.call.tool, call_args(&self.open.call.args)),
                first: first.clone(),
            })
            .into()),
            SettleResult::NotOpen => {
                Err(RunError::from(SettlingError::Nothing(run.clone())).into())
            }
        }
    }
}
