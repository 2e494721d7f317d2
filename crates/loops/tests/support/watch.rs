//! What must hold at every moment of every run, checked while scenarios play.

use super::play::fold;
use everloop_loops::Decision;
use everloop_types::journal::{Entry, EntryKind, Outcome};
use everloop_types::{CallId, EffectId, Frame, Message, Purpose, Status};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct Watch {
    planned: HashSet<EffectId>,
    finished: HashSet<EffectId>,
    /// What the next prompt has to start with, and what this one had to.
    grown: Vec<Message>,
    before: Vec<Message>,
    pub(crate) prompts: Vec<Vec<Message>>,
}

impl Watch {
    pub(crate) fn planned(&mut self, id: &EffectId) {
        assert!(self.planned.insert(id.clone()), "{id} was planned twice");
    }

    pub(crate) fn finished(&mut self, id: &EffectId) {
        assert!(self.planned.contains(id), "{id} was never planned");
        assert!(self.finished.insert(id.clone()), "{id} has two outcomes");
    }

    /// A model call goes out: everything planned before has its outcome, in journal and prompt.
    pub(crate) fn prompt(&mut self, messages: &[Message]) {
        assert_eq!(self.planned.len(), self.finished.len() + 1, "an effect has no outcome");
        assert!(messages.starts_with(&self.grown), "the prompt must only grow");
        self.before = std::mem::replace(&mut self.grown, messages.to_vec());
        calls_pair_up(messages);
        self.prompts.push(messages.to_vec());
    }

    /// Only the reply to a compaction rewrites the prompt; a superseded call counts as never made.
    pub(crate) fn replied(&mut self, purpose: Purpose, outcome: &Outcome) {
        match outcome {
            // An empty summary is none: then nothing may be rewritten.
            Outcome::Replied(reply)
                if purpose == Purpose::Compact && !reply.text.trim().is_empty() =>
            {
                self.grown = self.before.iter().take(2).cloned().collect();
            }
            Outcome::Superseded => self.grown = std::mem::take(&mut self.before),
            _ => {}
        }
    }
}

/// Every call is answered right after the reply that made it, once, and nothing else is answered.
fn calls_pair_up(messages: &[Message]) {
    let mut ids: HashSet<&CallId> = HashSet::new();
    let mut open: Vec<&CallId> = Vec::new();
    for message in messages {
        match message {
            Message::Tool { call, .. } => {
                let place = open.iter().position(|id| *id == call);
                open.remove(place.unwrap_or_else(|| panic!("{call} was not asked for")));
            }
            Message::Assistant { calls, .. } => {
                assert!(open.is_empty(), "no answer to {open:?}");
                open.extend(calls.iter().map(|call| &call.id));
                assert!(calls.iter().all(|call| ids.insert(&call.id)), "a call id came twice");
            }
            Message::System { .. } | Message::User { .. } => {
                assert!(open.is_empty(), "no answer to {open:?}");
                assert!(!message.text().is_empty(), "an empty message");
            }
        }
    }
    assert!(open.is_empty(), "no answer to {open:?}");
}

/// Wherever a journal shows a decision, the fold up to there decides the same.
pub(crate) fn decisions_hold(journal: &[Entry], frame: &Arc<Frame>) {
    let mut run = fold(&journal[..1], frame);
    let mut rest = &journal[1..];
    // An ending is decided before its words are written, which takes time of its own.
    let mut before_words = None;
    while let Some((entry, tail)) = rest.split_first() {
        if run.is_idle() && matches!(entry.kind, EntryKind::EffectPlanned(_)) {
            let Decision::Do(effects) = run.decide() else {
                panic!("entry {} was planned, and now the run ends", entry.seq)
            };
            for (planned, entry) in effects.into_iter().zip(rest) {
                let EntryKind::EffectPlanned(before) = &entry.kind else {
                    panic!("entry {} is no plan, and now there is one", entry.seq)
                };
                assert_eq!(&planned.planned, before, "entry {}", entry.seq);
            }
        }
        match &entry.kind {
            EntryKind::MessageEmitted(_) => drop(before_words.get_or_insert_with(|| run.clone())),
            EntryKind::RunFinished(_) => {}
            _ => before_words = None,
        }
        if let EntryKind::RunFinished(finished) = &entry.kind {
            let decider = before_words.as_ref().unwrap_or(&run);
            let ending = match finished.status {
                Status::Canceled => decider.canceled(),
                _ => decider.decide(),
            };
            let Decision::Finish { status, reason, .. } = ending else { panic!("not the end") };
            assert_eq!((status, reason), (finished.status, finished.reason.clone()));
        }
        run.apply(entry);
        rest = tail;
    }
}
