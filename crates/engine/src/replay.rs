//! Replay: a run's state at any entry, and whether the loop still decides what its journal has.

use crate::drive::fold_from_start;
use everloop_loops::{AnyRun, Decision};
use everloop_store::{Store, StoreError};
use everloop_types::journal::{Entry, EntryKind, Outcome, RunFinished};
use everloop_types::{Counts, EffectId, Frame, Labels, Reason, RunId, Status, Taint};
use std::sync::Arc;

/// A run's whole past.
#[derive(Debug, Clone)]
pub struct History {
    /// The run.
    pub run: RunId,
    /// Its journal from the beginning.
    pub entries: Vec<Entry>,
    frame: Arc<Frame>,
    final_text: Option<String>,
}

/// What a verification found. The four are never merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// Every decision in the journal is what the loop decides today.
    Verified {
        /// How many decisions were recomputed.
        decisions: usize,
    },
    /// The loop decides differently at this entry.
    Diverged {
        /// The entry.
        at: i64,
        /// What the loop decides today.
        expected: String,
        /// What the journal has.
        found: String,
    },
    /// Every decision agrees, but the last message differs.
    OutcomeDiffers {
        /// The message of today.
        expected: String,
        /// The message in the store.
        found: String,
    },
    /// It cannot be checked.
    Cannot {
        /// Why.
        reason: String,
    },
}

impl History {
    /// Reads a run's past.
    ///
    /// # Errors
    /// If it cannot be read whole.
    pub async fn read(store: &Store, run: &RunId) -> Result<Option<Self>, StoreError> {
        let Some(frame) = store.journal().frame(run).await? else { return Ok(None) };
        let entries = store.journal().entries(run, 0, usize::MAX).await?;
        let messages = store.runs().messages(run).await?;
        let last = messages.into_iter().find(|message| message.slot == "final");
        let final_text = last.map(|message| message.body);
        Ok(Some(Self { run: run.clone(), entries, frame: Arc::new(frame), final_text }))
    }

    /// The frame of the run.
    #[must_use]
    pub fn frame(&self) -> &Arc<Frame> {
        &self.frame
    }

    /// The last message, once the run has ended.
    #[must_use]
    pub fn final_text(&self) -> Option<&str> {
        self.final_text.as_deref()
    }

    /// The state after entry `seq`; the last state for anything beyond the end.
    ///
    /// # Errors
    /// If the beginning of the journal is missing, or it names an unknown loop.
    pub fn state_at(&self, seq: i64) -> Result<AnyRun, StoreError> {
        let count = self.entries.iter().take_while(|entry| entry.seq <= seq).count();
        let entries = &self.entries[..count.max(1).min(self.entries.len())];
        Ok(fold_from_start(&self.run, entries, self.frame.clone())?.run)
    }

    /// What the run has read, and where it may send that; also for a trimmed journal. A run from
    /// before labels has no record, so it may have read anything.
    #[must_use]
    pub fn holding(&self) -> Taint {
        let mut holding = match self.state_at(i64::MAX) {
            Ok(state) => state.holding().clone(),
            Err(_) => Taint::default(),
        };
        let labeled = self.frame.policy.label_guard.is_some();
        for entry in &self.entries {
            if let EntryKind::EffectFinished(finished) = &entry.kind
                && let Outcome::Observed(_) = finished.outcome
                && !(labeled && self.is_whole())
            {
                let labels = if labeled { finished.labels } else { Labels::ALL };
                holding.take(labels, &format!("{} #{}", self.run, entry.seq));
            }
        }
        holding
    }

    /// Whether no entry is missing; old runs are trimmed to their outcomes.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.entries.is_empty()
            && self.entries.iter().zip(1..).all(|(entry, seq)| entry.seq == seq)
    }

    /// What was used, from the outcomes alone: all that a trimmed journal still has.
    #[must_use]
    pub fn counts_of_outcomes(&self) -> Counts {
        let mut counts = Counts::default();
        for entry in &self.entries {
            let finished = match &entry.kind {
                EntryKind::EffectFinished(finished) => finished,
                EntryKind::Forked(_) => {
                    counts = Counts::default();
                    continue;
                }
                _ => continue,
            };
            match &finished.outcome {
                Outcome::Replied(reply) => {
                    counts.model_calls += 1;
                    counts.usage.add(reply.usage);
                }
                Outcome::ModelFailed(_) | Outcome::Superseded | Outcome::Canceled => {
                    counts.model_calls += 1;
                }
                Outcome::Observed(seen) => {
                    counts.tool_calls += 1;
                    counts.tool_failures += u32::from(!seen.is_ok());
                }
            }
        }
        counts
    }

    /// Recomputes every decision that the journal shows.
    #[must_use]
    pub fn verify(&self) -> ReplayVerdict {
        if !self.is_whole() {
            return ReplayVerdict::Cannot { reason: "the journal is not whole".to_owned() };
        }
        let Some(Entry { kind: EntryKind::RunCreated(created), .. }) = self.entries.first() else {
            return ReplayVerdict::Cannot { reason: "the journal has no beginning".to_owned() };
        };
        match AnyRun::new(created, self.frame.clone()) {
            Ok(run) => self.check(run),
            Err(unknown) => {
                ReplayVerdict::Cannot { reason: format!("this program has no {unknown}") }
            }
        }
    }

    fn check(&self, mut run: AnyRun) -> ReplayVerdict {
        let mut decisions = 0;
        let mut rest = self.entries.as_slice();
        // An ending is decided before its message is written, which takes time.
        let mut before_words: Option<AnyRun> = None;
        while let [entry, after @ ..] = rest {
            let mut taken = 1;
            match &entry.kind {
                EntryKind::MessageEmitted(_) => {
                    before_words.get_or_insert_with(|| run.clone());
                }
                EntryKind::RunFinished(_) => {}
                _ => before_words = None,
            }
            match &entry.kind {
                EntryKind::EffectPlanned(_) if run.is_idle() => {
                    match self.check_plan(&run, rest) {
                        Ok(count) => taken = count,
                        Err(verdict) => return verdict,
                    }
                    decisions += 1;
                }
                EntryKind::RunFinished(finished) => {
                    let decider = before_words.as_ref().unwrap_or(&run);
                    if let Err(verdict) = self.check_ending(decider, entry.seq, finished) {
                        return verdict;
                    }
                    decisions += 1;
                }
                _ => {}
            }
            rest[..taken].iter().for_each(|entry| run.apply(entry));
            rest = if taken == 1 { after } else { &rest[taken..] };
        }
        ReplayVerdict::Verified { decisions }
    }

    /// Compares a batch; returns how many entries it takes up.
    fn check_plan(&self, run: &AnyRun, rest: &[Entry]) -> Result<usize, ReplayVerdict> {
        let at = rest[0].seq;
        let found: Vec<String> = rest
            .iter()
            .map_while(|entry| match &entry.kind {
                EntryKind::EffectPlanned(planned) => {
                    Some(format!("{:?} {planned:?}", entry.effect))
                }
                _ => None,
            })
            .collect();
        let decision = run.decide();
        let expected: Vec<String> = match &decision {
            Decision::Do(effects) => {
                let name = |index| EffectId { run: self.run.clone(), cause: run.last_seq(), index };
                (0..)
                    .zip(effects)
                    .map(|(index, effect)| format!("{:?} {:?}", Some(name(index)), effect.planned))
                    .collect()
            }
            Decision::Finish { status, .. } => vec![format!("finish {status}")],
        };
        if expected != found {
            let (expected, found) = (expected.join("\n"), found.join("\n"));
            return Err(ReplayVerdict::Diverged { at, expected, found });
        }
        self.check_refusals(&decision, &rest[found.len()..])?;
        Ok(found.len())
    }

    /// Calls that could not be performed must have their outcome right after the plan.
    fn check_refusals(&self, decision: &Decision, rest: &[Entry]) -> Result<(), ReplayVerdict> {
        let Decision::Do(effects) = decision else { return Ok(()) };
        let refused = effects.iter().filter_map(|effect| effect.refused.as_ref());
        for (seen, entry) in refused.zip(rest) {
            let same = matches!(&entry.kind, EntryKind::EffectFinished(finished)
                if finished.outcome == Outcome::Observed(seen.clone()));
            if !same {
                return Err(ReplayVerdict::Diverged {
                    at: entry.seq,
                    expected: format!("{seen:?}"),
                    found: format!("{:?}", entry.kind),
                });
            }
        }
        Ok(())
    }

    fn check_ending(
        &self,
        run: &AnyRun,
        at: i64,
        found: &RunFinished,
    ) -> Result<(), ReplayVerdict> {
        let decision = match (found.status, &found.reason) {
            (Status::Canceled, _) => run.canceled(),
            (_, Some(Reason::JournalFull)) => run.journal_full(),
            _ => run.decide(),
        };
        let diverged = |expected: String| ReplayVerdict::Diverged {
            at,
            expected,
            found: format!("finish {} {:?}", found.status, found.reason),
        };
        match decision {
            Decision::Do(effects) => Err(diverged(format!("{} more effects", effects.len()))),
            Decision::Finish { status, reason, words } => {
                if (status, &reason) != (found.status, &found.reason) {
                    return Err(diverged(format!("finish {status} {reason:?}")));
                }
                let expected = everloop_text::render(&words, self.frame.language);
                // The numbers of a report are inserted from results that no journal holds.
                let is_report = self.frame.analysis.is_some();
                match &self.final_text {
                    Some(found) if *found != expected && !is_report => {
                        Err(ReplayVerdict::OutcomeDiffers { expected, found: found.clone() })
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}
