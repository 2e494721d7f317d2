//! What happened to a run and what a person was asked, from its journal: one entry at a time.

use super::AuditEvent;
use crate::show::timestamp;
use everloop_store::RunRow;
use everloop_types::journal::{EffectPlanned, Entry, EntryKind, Outcome, WaitingOn};
use everloop_types::{EffectId, Ending, UtcMs};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A change of a run, or of a permission.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditStep {
    /// [`AuditEvent::Run`] or [`AuditEvent::Approval`].
    pub event: AuditEvent,
    /// The journal entry.
    pub seq: i64,
    /// When.
    pub at: UtcMs,
    /// What happened: `created`, `retried`, `forked`, `claimed`, `waiting`, `ended`; `asked`,
    /// `given`, `denied`.
    pub what: &'static str,
    /// What is known of it.
    pub detail: Value,
}

impl AuditStep {
    /// For programs.
    #[must_use]
    pub fn json(&self, row: &RunRow) -> Value {
        json!({
            "event": self.event.as_str(), "ts": self.at, "time": timestamp(self.at),
            "run_id": row.run, "session_id": row.conversation, "turn_id": row.origin.turn,
            "loop": row.loop_name, "imported": row.origin.imported, "seq": self.seq,
            "what": self.what, "detail": self.detail,
        })
    }
}

/// Follows the journal of one run.
pub(super) struct AuditStepReader<'a> {
    row: &'a RunRow,
    /// Whether the entries are those of the run that this one was forked from.
    is_copied: bool,
    /// Calls that were planned and not done yet, and whether permission was asked for.
    calls: BTreeMap<EffectId, (String, bool)>,
}

impl<'a> AuditStepReader<'a> {
    pub(super) fn new(row: &'a RunRow) -> Self {
        Self { row, is_copied: row.origin.forked.is_some(), calls: BTreeMap::new() }
    }

    /// What an entry says. What was copied is told by the run that it comes from.
    pub(super) fn entry(&mut self, entry: &Entry) -> Option<AuditStep> {
        let (event, what, detail) = self.read(entry)?;
        if matches!(entry.kind, EntryKind::Forked(_)) {
            self.is_copied = false;
        }
        (!self.is_copied).then_some(AuditStep { event, seq: entry.seq, at: entry.at, what, detail })
    }

    fn read(&mut self, entry: &Entry) -> Option<(AuditEvent, &'static str, Value)> {
        let of_run = |what, detail| Some((AuditEvent::Run, what, detail));
        match (&entry.kind, &entry.effect) {
            (EntryKind::RunCreated(created), _) => {
                let profile = &self.row.profile;
                let what = if profile.retry_of.is_some() { "retried" } else { "created" };
                let detail = json!({"type": profile.run_type, "title": profile.title,
                    "loop": created.loop_name, "retry_of": profile.retry_of,
                    "parent_run_id": self.row.origin.parent});
                of_run(what, detail)
            }
            (EntryKind::Forked(forked), _) => {
                of_run("forked", json!({"from": forked.from, "at_seq": forked.at_seq}))
            }
            (EntryKind::EpochStarted(epoch), _) => {
                of_run("claimed", json!({"worker": epoch.worker, "epoch": entry.epoch}))
            }
            (EntryKind::Waiting(waiting), _) => {
                let mut detail = json!({"on": json!(waiting.on)["for"], "until": waiting.until});
                if let WaitingOn::Person { question } = &waiting.on {
                    detail["question"] = json!(question.id);
                    detail["kind"] = json!(question.kind);
                }
                of_run("waiting", detail)
            }
            (EntryKind::RunFinished(end), _) => {
                of_run("ended", json!({"status": end.status, "reason": end.reason}))
            }
            (kind, Some(effect)) => self.permission(kind, effect),
            _ => None,
        }
    }

    fn permission(
        &mut self,
        kind: &EntryKind,
        effect: &EffectId,
    ) -> Option<(AuditEvent, &'static str, Value)> {
        let place = effect.place();
        match kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(planned)) => {
                self.calls.insert(effect.clone(), (planned.call.tool.clone(), false));
                None
            }
            EntryKind::ApprovalAsked(asked) => {
                let (tool, is_asked) = self.calls.get_mut(effect)?;
                *is_asked = true;
                let detail = json!({"tool": tool, "effect": place, "arguments": asked.args_hash});
                Some((AuditEvent::Approval, "asked", detail))
            }
            EntryKind::ApprovalGiven(given) => {
                let tool = self.calls.get(effect).map(|(tool, _)| tool);
                let detail = json!({"tool": tool, "effect": place, "arguments": given.args_hash,
                    "by": given.by, "edited": given.edited_args.is_some(),
                    "releases": given.releases});
                Some((AuditEvent::Approval, "given", detail))
            }
            EntryKind::EffectFinished(finished) => {
                let (tool, is_asked) = self.calls.remove(effect)?;
                let Outcome::Observed(seen) = &finished.outcome else { return None };
                let detail = json!({"tool": tool, "effect": place, "asked": is_asked});
                let is_denied = seen.ending == Ending::Denied;
                is_denied.then_some((AuditEvent::Approval, "denied", detail))
            }
            _ => None,
        }
    }
}
