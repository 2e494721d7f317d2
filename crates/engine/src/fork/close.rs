//! Calls under way at the cut: each planned effect gets its outcome, and nothing is inherited.
//!
//! A model call is superseded, as if it had never been planned. A call that had not begun was not
//! performed, and the model can read that. A batch that was copied only in part is planned to its
//! end first, because a transcript must have a result for every call.

use super::ParentHistory;
use super::unsettled::UnsettledEffects;
use crate::drive::fold_from_start;
use everloop_loops::{Decision, OpenToolCall, PlannedEffect};
use everloop_types::journal::{
    EffectFinished, EffectPlanned, Entry, EntryKind, Outcome, PlannedToolCall,
};
use everloop_types::{EffectId, Ending, Labels, Observation};

impl ParentHistory {
    /// The entries that close what was under way, in order.
    pub(super) fn closing(&self, known: &UnsettledEffects) -> Vec<(EffectId, EntryKind)> {
        if let Some(open) = self.state.open_model_call() {
            return vec![(open.effect.clone(), finished(Outcome::Superseded))];
        }
        let open_calls = self.state.open_tool_calls();
        match open_calls.first() {
            Some(first) => self.close_batch(open_calls, &first.effect, known),
            None => Vec::new(),
        }
    }

    fn close_batch(
        &self,
        open_calls: &[OpenToolCall],
        first: &EffectId,
        known: &UnsettledEffects,
    ) -> Vec<(EffectId, EntryKind)> {
        let batch = self.decided_at(first.cause);
        let id = |index: u32| EffectId { index, ..first.clone() };
        let planned = self.planned_at(first.cause);
        let late: Vec<(EffectId, EntryKind)> = (0..)
            .zip(&batch)
            .skip(planned)
            .map(|(index, late)| (id(index), EntryKind::EffectPlanned(late.planned.clone())))
            .collect();
        let open: Vec<EffectId> = open_calls.iter().map(|open| open.effect.clone()).collect();
        let open: Vec<EffectId> =
            open.into_iter().chain(late.iter().map(|(effect, _)| effect.clone())).collect();
        let refused = |effect: &EffectId| {
            let place = usize::try_from(effect.index).unwrap_or(usize::MAX);
            batch.get(place).and_then(|planned| planned.refused.clone())
        };
        let (could_not, could): (Vec<EffectId>, Vec<EffectId>) =
            open.into_iter().partition(|effect| refused(effect).is_some());
        let close = |effect: EffectId| {
            let begun = known.of(&effect).filter(|_| refused(&effect).is_none());
            let labels = begun.as_ref().map(|seen| self.brought(&effect, seen)).unwrap_or_default();
            let seen = refused(&effect).or(begun).unwrap_or_else(not_performed);
            let outcome = Outcome::Observed(seen);
            let finished = EffectFinished { labels, ..EffectFinished::unlabeled(outcome, 0) };
            (effect, EntryKind::EffectFinished(finished))
        };
        late.into_iter().chain(could_not.into_iter().chain(could).map(close)).collect()
    }

    /// The labels of what became known of a call that was under way.
    fn brought(&self, effect: &EffectId, seen: &Observation) -> Labels {
        let mut labels = Labels::default();
        for entry in self.history.entries.iter().filter(|e| e.effect.as_ref() == Some(effect)) {
            let more = match &entry.kind {
                EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall {
                    call, ..
                })) => self.history.frame().brings(call, &seen.text),
                EntryKind::EffectFinished(finished) => finished.labels,
                _ => Labels::default(),
            };
            labels.private |= more.private;
            labels.untrusted |= more.untrusted;
        }
        labels
    }

    /// The batch that was decided at an entry, if the loop still decides what the journal has.
    fn decided_at(&self, cause: i64) -> Vec<PlannedEffect> {
        let upto: Vec<Entry> =
            self.entries.iter().take_while(|entry| entry.seq <= cause).cloned().collect();
        let run = &self.history.run;
        let Ok(folded) = fold_from_start(run, &upto, self.history.frame().clone()) else {
            return Vec::new();
        };
        match folded.run.decide() {
            Decision::Do(batch) if self.agrees(cause, &batch) => batch,
            Decision::Do(_) | Decision::Finish { .. } => Vec::new(),
        }
    }

    fn agrees(&self, cause: i64, batch: &[PlannedEffect]) -> bool {
        let plans: Vec<&EffectPlanned> = self.plans_at(cause).collect();
        plans.len() <= batch.len()
            && plans.iter().zip(batch).all(|(plan, decided)| **plan == decided.planned)
    }

    fn planned_at(&self, cause: i64) -> usize {
        self.plans_at(cause).count()
    }

    fn plans_at(&self, cause: i64) -> impl Iterator<Item = &EffectPlanned> {
        self.entries.iter().filter_map(move |entry| match (&entry.kind, &entry.effect) {
            (EntryKind::EffectPlanned(plan), Some(effect)) if effect.cause == cause => Some(plan),
            _ => None,
        })
    }
}

fn finished(outcome: Outcome) -> EntryKind {
    EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 0))
}

fn not_performed() -> Observation {
    let text = "not performed: the run was forked before this call began; nothing was done";
    Observation { ending: Ending::Canceled, text: text.to_owned() }
}
