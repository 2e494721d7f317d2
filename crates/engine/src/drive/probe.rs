//! Probes: checking whether an interrupted call had happened.
//!
//! ```text
//!   happened ──────────────────────────────► its outcome
//!   did not ──its owner is proved dead──────► the next attempt
//!      └─────its owner may live──► wait until its call must be over ──► probe again
//!   cannot tell ───────────────────────────► unknown
//! ```
//!
//! A probe is an effect itself: its finding is an entry, durable before anything follows from it.
//! It changes nothing, so a crash within one leaves no trace and it is run again.

use super::recover::EffectRecovery;
use super::{DriveError, Driver, LoopFlow};
use crate::Engine;
use crate::ids::idem_key;
use crate::lease::EffectOwner;
use everloop_loops::{CallStage, OpenToolCall};
use everloop_ports::{Intent, Probe, Registry};
use everloop_store::NextStatus;
use everloop_types::journal::{EffectProbed, EffectStarted, EntryKind, ProbeFinding};
use everloop_types::planted::{self, Bug};
use everloop_types::{EffectId, Frame, OnUnknown, ToolCall};
use serde_json::Value;

/// How long a probe may take; after that its finding is unknown.
const PROBE_MS_MAX: u64 = 60_000;

/// Characters of what a probe saw that are kept.
const DETAIL_CHARS_MAX: usize = 500;

impl EffectRecovery<'_, '_> {
    /// Probes an interrupted call and acts on the finding.
    pub(super) async fn probe(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
        on_unknown: OnUnknown,
    ) -> Result<LoopFlow, DriveError> {
        let started = match &open.stage {
            CallStage::Started(started) => Some(started),
            _ => None,
        };
        let Driver { engine, tools, run, .. } = &*self.driver;
        let looking = engine.look(tools, run.frame(), &open.effect, call, started);
        let found = tokio::select! {
            biased;
            found = looking => found,
            // Nothing is noted: the next driver probes again.
            () = self.driver.interrupts().during_call() => {
                return Ok(LoopFlow::GoOn);
            }
        };
        let owner_process = EffectOwner { store: &self.driver.engine.store, effect: &open.effect };
        let owner = match self.owner(open, started) {
            CallOwner::Gone => CallOwner::Gone,
            _ if owner_process.is_proved_dead().await => CallOwner::Gone,
            owner => owner,
        };
        let found = match (found, owner) {
            (Probe::DidNot, CallOwner::MayActForEver) => {
                Probe::unknown("its owner may still be about to do it, and has no time limit")
            }
            (found, _) => found,
        };
        if !planted::is_on(Bug::ProbeNotJournaled) {
            let attempt = started.map_or(open.failed_attempts + 1, |started| started.attempt);
            let probed = entry(attempt, &found);
            self.driver.note(Some(open.effect.clone()), EntryKind::EffectProbed(probed));
        }
        match (found, owner) {
            (Probe::Happened(seen), _) => self.driver.note_seen(open, seen, 0),
            (Probe::DidNot, CallOwner::MayActFor(wait_ms)) => {
                return self.wait_for_owner(wait_ms).await;
            }
            (Probe::DidNot, _) => self.again(open, "a probe shows that it did not happen"),
            (Probe::Unknown(why), _) => return self.unknown(open, call, on_unknown, &why).await,
        }
        Ok(LoopFlow::GoOn)
    }

    /// Whether an owner that is not proved dead may still be inside the call.
    fn owner(&self, open: &OpenToolCall, started: Option<&EffectStarted>) -> CallOwner {
        let ours = self.driver.begun_here.contains(&open.effect);
        if ours
            || !self.driver.engine.rules.owners_may_live
            || planted::is_on(Bug::LivingOwnerForgotten)
        {
            return CallOwner::Gone;
        }
        let Some(over_by) = started.and_then(|started| started.over_by) else {
            return CallOwner::MayActForEver;
        };
        match u64::try_from(over_by.saturating_sub(self.driver.engine.clock.now())) {
            Ok(0) | Err(_) => CallOwner::Gone,
            Ok(wait_ms) => CallOwner::MayActFor(wait_ms),
        }
    }

    /// Waits until the old owner's call must be over; the next turn probes again.
    async fn wait_for_owner(&mut self, wait_ms: u64) -> Result<LoopFlow, DriveError> {
        self.driver.commit(NextStatus::GoOn).await?;
        tokio::select! {
            biased;
            () = self.driver.engine.clock.pause(wait_ms) => {}
            () = self.driver.interrupts().during_call() => {}
        }
        Ok(LoopFlow::GoOn)
    }
}

/// What is known of the process that began a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallOwner {
    /// It is dead, or its call must be over.
    Gone,
    /// It may be paused inside the call for so many milliseconds more.
    MayActFor(u64),
    /// Its call has no limit.
    MayActForEver,
}

impl Engine {
    /// Runs the tool's probe with the record of the call.
    pub(crate) async fn look(
        &self,
        tools: &Registry,
        frame: &Frame,
        effect: &EffectId,
        call: &ToolCall,
        started: Option<&EffectStarted>,
    ) -> Probe {
        let Some(tool) = tools.get(&call.tool) else {
            return Probe::Unknown(format!("the tool {} is not available here", call.tool));
        };
        let intent = Intent {
            before: started.map_or(Value::Null, |started| started.before.clone()),
            idem_key: idem_key(effect),
            attempt: started.map_or(1, |started| started.attempt),
            observation_chars: frame.limits.context.observation_chars,
        };
        tokio::select! {
            biased;
            found = tool.probe(&call.args, &intent) => found,
            () = self.clock.pause(PROBE_MS_MAX) => Probe::unknown("the probe took too long"),
        }
    }
}

fn entry(attempt: u32, found: &Probe) -> EffectProbed {
    let (found, detail) = match found {
        Probe::Happened(seen) => (ProbeFinding::Happened, seen.text.as_str()),
        Probe::DidNot => (ProbeFinding::DidNot, ""),
        Probe::Unknown(why) => (ProbeFinding::Unknown, why.as_str()),
    };
    EffectProbed { attempt, found, detail: detail.chars().take(DETAIL_CHARS_MAX).collect() }
}
