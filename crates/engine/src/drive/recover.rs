//! Effects that a dead process had begun, and folding a run.
//!
//! Recovery follows the record made when the effect was planned, not today's catalog. A crash,
//! and a time-out to which the tool did not respond, are handled alike:
//! [`EffectRecovery::without_outcome`].

use super::ask::QuestionAsker;
use super::cancel::interrupted;
use super::inbox::{InboxNews, InboxReader};
use super::planted::planted_class;
use super::{DriveError, Driver, LoopFlow};
use crate::Engine;
use everloop_loops::{AnyRun, CallStage, OpenToolCall};
use everloop_store::StoreError;
use everloop_types::journal::{EffectAttemptFailed, Entry, EntryKind, PlannedToolCall};
use everloop_types::{EffectClass, Frame, OnUnknown, RunId, ToolCall};
use std::sync::Arc;

/// A run as folded from its journal.
pub(crate) struct FoldedRun {
    pub(crate) run: AnyRun,
    pub(crate) snapshot_seq: i64,
}

/// Continues the effects that began and have no outcome.
pub(super) struct EffectRecovery<'d, 'e> {
    pub(super) driver: &'d mut Driver<'e>,
}

impl EffectRecovery<'_, '_> {
    /// Continues an effect that an earlier driver had begun.
    pub(super) async fn recover(&mut self, open: OpenToolCall) -> Result<LoopFlow, DriveError> {
        let tool = super::log::plain_name(&open.planned.call.tool);
        tracing::info!(effect = %open.effect, tool, "effect of a dead process is recovered");
        self.without_outcome(open).await
    }

    /// Handles an effect that began and has no recorded outcome.
    pub(super) async fn without_outcome(
        &mut self,
        open: OpenToolCall,
    ) -> Result<LoopFlow, DriveError> {
        let PlannedToolCall { call, class, key_until, on_unknown, .. } = &open.planned;
        let now = self.driver.engine.clock.now();
        match planted_class(*class) {
            EffectClass::Pure | EffectClass::Transactional => self.again(&open, "was cut short"),
            EffectClass::Keyed if key_until.is_some_and(|until| now < until) => {
                self.again(&open, "was cut short; its key is still honoured");
            }
            EffectClass::Probeable => return self.probe(&open, call, *on_unknown).await,
            EffectClass::Keyed | EffectClass::Dangerous => {
                return self.unknown(&open, call, *on_unknown, "").await;
            }
        }
        Ok(LoopFlow::GoOn)
    }

    /// Allows the next attempt: the effect did not act, or acting twice is harmless.
    pub(super) fn again(&mut self, open: &OpenToolCall, why: &str) {
        let attempt = match &open.stage {
            CallStage::Started(started) => started.attempt,
            _ => open.failed_attempts + 1,
        };
        let retry_at = self.driver.engine.clock.now();
        let may_have_acted = open.planned.class == EffectClass::Keyed;
        let error = why.to_owned();
        let failed = EffectAttemptFailed { attempt, error, retry_at, may_have_acted };
        self.driver.note(Some(open.effect.clone()), EntryKind::EffectAttemptFailed(failed));
    }

    /// Notes an unknown outcome. `why` is what a probe saw, if one ran.
    pub(super) async fn unknown(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
        on_unknown: OnUnknown,
        why: &str,
    ) -> Result<LoopFlow, DriveError> {
        match on_unknown {
            // After a cancel the user waits for the end, not for a question.
            OnUnknown::AskUser => {
                let version = self.driver.inbox.seen;
                match (InboxReader { driver: self.driver }).read(version).await? {
                    InboxNews::Cancel => Ok(LoopFlow::Over(self.driver.end_canceled().await?)),
                    InboxNews::Nothing => {
                        QuestionAsker { driver: self.driver }.ask_to_settle(open, call).await
                    }
                }
            }
            OnUnknown::TellModel => {
                self.driver.note_seen(open, interrupted(why), 0);
                self.plant_second_outcome(&open.effect, why);
                Ok(LoopFlow::GoOn)
            }
        }
    }
}

impl Engine {
    /// Folds a run: the newest readable snapshot and the entries after it.
    pub(crate) async fn fold(&self, run: &RunId) -> Result<FoldedRun, StoreError> {
        let loaded = self.store.journal().load(run).await?;
        let frame = self.store.journal().frame(run).await?.ok_or_else(|| no_frame(run))?;
        let frame = Arc::new(frame);
        if let Some(snapshot) = &loaded.snapshot
            && let Some(row) = self.store.runs().get(run).await?
            && row.loop_ver == snapshot.loop_ver
            && let Some(folded) = restore(&row.loop_name, snapshot, &loaded.entries, &frame)
        {
            return Ok(folded);
        }
        let entries = match loaded.snapshot {
            Some(_) => self.store.journal().entries(run, 0, usize::MAX).await?,
            None => loaded.entries,
        };
        fold_from_start(run, &entries, frame)
    }
}

fn restore(
    loop_name: &str,
    snapshot: &everloop_store::SnapshotRow,
    tail: &[Entry],
    frame: &Arc<Frame>,
) -> Option<FoldedRun> {
    let (version, state) = (snapshot.loop_ver, &snapshot.state);
    let mut run = AnyRun::restore(loop_name, version, state, frame.clone()).ok()?;
    tail.iter().for_each(|entry| run.apply(entry));
    Some(FoldedRun { run, snapshot_seq: snapshot.seq })
}

pub(crate) fn fold_from_start(
    run: &RunId,
    entries: &[Entry],
    frame: Arc<Frame>,
) -> Result<FoldedRun, StoreError> {
    let damaged = || StoreError::Damaged { run: run.clone(), seq: 1 };
    let Some(Entry { kind: EntryKind::RunCreated(created), .. }) = entries.first() else {
        return Err(damaged());
    };
    // The version in the first entry decides: no other one folds this journal.
    let mut folded = AnyRun::new(created, frame).map_err(|unknown| StoreError::NewerEntry {
        run: run.clone(),
        seq: 1,
        kind: format!("RunCreated under {unknown}"),
        fmt: entries[0].kind.fmt(),
    })?;
    entries.iter().for_each(|entry| folded.apply(entry));
    Ok(FoldedRun { run: folded, snapshot_seq: 0 })
}

fn no_frame(run: &RunId) -> StoreError {
    StoreError::Damaged { run: run.clone(), seq: 1 }
}
