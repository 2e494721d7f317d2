//! Effects before the cut that may have happened: what is known of them by now.
//!
//! ```text
//!   the parent's journal ──► a settlement ──► a probe ──► the fork is refused
//! ```
//!
//! An effect that may have happened is never simply repeated.

use super::{Fork, ForkError, Forker, ParentHistory, Provenance};
use everloop_loops::UnknownEffect;
use everloop_ports::Probe;
use everloop_types::journal::{
    EffectPlanned, EffectStarted, EntryKind, InboxMessage, Input, Outcome, PlannedToolCall,
};
use everloop_types::{
    EffectClass, EffectId, Ending, Goal, Observation, SettledOutcome, Status, ToolCall,
};
use std::collections::BTreeMap;

/// What is known by now of effects that had no outcome, or an unknown one, at the cut.
#[derive(Debug, Default)]
pub(super) struct UnsettledEffects {
    /// They had begun and had no outcome yet.
    begun: BTreeMap<EffectId, Observation>,
    /// Their outcome was recorded as unknown.
    unknown: BTreeMap<EffectId, (ToolCall, Observation)>,
}

impl UnsettledEffects {
    pub(super) fn of(&self, effect: &EffectId) -> Option<Observation> {
        self.begun.get(effect).cloned()
    }

    pub(super) fn settled(&self) -> Vec<String> {
        self.unknown.keys().map(EffectId::place).collect()
    }

    /// Adds to the message what became of effects that the model knows as unknown.
    pub(super) fn describe_in(&self, word: &mut Goal) {
        for (call, seen) in self.unknown.values() {
            let news = format!("[now known of {} {}: {}]", call.tool, call.args, seen.text);
            if !word.context.is_empty() {
                word.context.push('\n');
            }
            word.context.push_str(&news);
        }
    }
}

impl Forker<'_> {
    /// Finds out what became of every effect that may have happened.
    pub(super) async fn account_for(
        &self,
        fork: &Fork,
        past: &ParentHistory,
    ) -> Result<UnsettledEffects, ForkError> {
        self.no_child_at_work(past).await?;
        let mut known = UnsettledEffects::default();
        let mut open = Vec::new();
        let written = past.state.unknowns();
        for unknown in past.state.unaccounted() {
            let Some(seen) = self.find_out(fork, past, &unknown).await? else {
                open.push(unknown);
                continue;
            };
            match written.contains(&unknown) {
                true => drop(known.unknown.insert(unknown.effect, (unknown.call, seen))),
                false => drop(known.begun.insert(unknown.effect, seen)),
            }
        }
        if open.is_empty() { Ok(known) } else { Err(ForkError::Unsettled(open)) }
    }

    /// A child reports to one parent only, so a fork cannot wait for it.
    async fn no_child_at_work(&self, past: &ParentHistory) -> Result<(), ForkError> {
        let Some(child) = past.state.living_child() else { return Ok(()) };
        let heard = past.history.entries.iter().any(|entry| match &entry.kind {
            EntryKind::Input(Input { message: InboxMessage::Child(ended), .. }) => {
                ended.child == *child
            }
            _ => false,
        });
        let at = self.engine.store.runs().position(child).await?;
        match at.is_some_and(|at| !at.status.is_final()) && !heard {
            true => Err(ForkError::ChildAtWork(child.clone())),
            false => Ok(()),
        }
    }

    async fn find_out(
        &self,
        fork: &Fork,
        past: &ParentHistory,
        unknown: &UnknownEffect,
    ) -> Result<Option<Observation>, ForkError> {
        if let Some(seen) = past.learned(&unknown.effect) {
            return Ok(Some(seen));
        }
        let settlements = self.engine.store.journal().settlements(&past.history.run).await?;
        let written = settlements.iter().find(|one| one.effect == unknown.effect);
        let said = written.map(|one| one.settled);
        if let Some(said) = said.or_else(|| fork.settled.get(&unknown.effect).copied()) {
            return Ok(Some(as_said(said)));
        }
        // A probe would go where the file says: to a folder or an address.
        let may_look = past.provenance == Provenance::Here
            && past.class(&unknown.effect) == Some(EffectClass::Probeable);
        if !may_look {
            return Ok(None);
        }
        let frame = past.history.frame();
        let (tools, started) =
            (self.engine.environment.tools(frame), past.started(&unknown.effect));
        match self.engine.look(&tools, frame, &unknown.effect, &unknown.call, started).await {
            Probe::Happened(seen) => Ok(Some(seen)),
            Probe::DidNot if self.is_not_driven(past, started).await? => {
                let seen = "it did not happen, as a look shows; it may be done again";
                Ok(Some(Observation::error(seen)))
            }
            Probe::DidNot | Probe::Unknown(_) => Ok(None),
        }
    }

    /// While the parent may still be driven, what has not happened may happen later.
    async fn is_not_driven(
        &self,
        past: &ParentHistory,
        started: Option<&EffectStarted>,
    ) -> Result<bool, ForkError> {
        let at = self.engine.store.runs().position(&past.history.run).await?;
        let driven = at.is_none_or(|at| at.status == Status::Running);
        let over = started.and_then(|started| started.over_by);
        let over = over.is_some_and(|by| by <= self.engine.clock.now());
        Ok(over || !driven && !self.engine.rules.owners_may_live)
    }
}

fn as_said(settled: SettledOutcome) -> Observation {
    match settled {
        SettledOutcome::Happened => Observation::ok("it happened, as the user says"),
        SettledOutcome::Not => {
            Observation::error("it did not happen, as the user says; it may be done again")
        }
    }
}

impl ParentHistory {
    /// The outcome that the parent recorded after the cut.
    fn learned(&self, effect: &EffectId) -> Option<Observation> {
        self.history.entries.iter().find_map(|entry| match (&entry.kind, &entry.effect) {
            (EntryKind::EffectFinished(finished), Some(of)) if of == effect => {
                match &finished.outcome {
                    Outcome::Observed(seen) if seen.ending != Ending::Unknown => Some(seen.clone()),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    fn class(&self, effect: &EffectId) -> Option<EffectClass> {
        self.entries.iter().find_map(|entry| match (&entry.kind, &entry.effect) {
            (
                EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall {
                    class, ..
                })),
                Some(of),
            ) if of == effect => Some(*class),
            _ => None,
        })
    }

    /// The last intent of an effect.
    fn started(&self, effect: &EffectId) -> Option<&EffectStarted> {
        self.entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::EffectStarted(started) if entry.effect.as_ref() == Some(effect) => {
                Some(started)
            }
            _ => None,
        })
    }
}
