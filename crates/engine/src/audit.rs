//! The audit log: every attempt at every tool call, and every decision on a message, read from the
//! journal and from nothing else.
//!
//! Field names are stable, for scripts. One entry at a time goes in, so that a database of any size
//! is read in pages.

use everloop_loops::read_decision;
use everloop_store::{ForkOrigin, RunRow};
use everloop_types::journal::{
    EffectFinished, EffectPlanned, Entry, EntryKind, InboxMessage, Outcome, PlannedToolCall,
};
use everloop_types::{Contract, EffectId, Ending, ToolCall, UtcMs};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Characters of arguments, results and messages that are shown.
const SHOWN_CHARS_MAX: usize = 2_000;

/// The name under which decisions are listed.
const DECISION: &str = "decision";

/// One attempt at one tool call, or one decision.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditCall {
    /// The journal entry that says how it ended; for one that has not, the one that planned it.
    pub seq: i64,
    /// When the attempt began, as exactly as the journal says.
    pub at: UtcMs,
    /// The effect's place in its run: all attempts at a call share it.
    pub effect: String,
    /// From 1.
    pub attempt: u32,
    /// The tool; `None` where the journal was shortened since.
    pub tool: Option<String>,
    /// Its arguments as the model wrote them, without secrets.
    pub args: String,
    /// Who gave permission, where it was needed.
    pub approved_by: Option<String>,
    /// The user message that the call belongs to.
    pub user_message: String,
    /// How it ended.
    pub end: AuditEnd,
    /// Whether it was made by the run that this one was forked from.
    pub copied: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEnd {
    /// An [`Ending`] in its own words, or `retried`, or `open`.
    pub ending: &'static str,
    /// What came back.
    pub result: String,
    /// How long it took; `None` where it was not measured.
    pub duration_ms: Option<u64>,
}

impl AuditCall {
    /// Whether it did not do what was asked.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        !matches!(self.end.ending, "ok" | "open")
    }

    /// Whether it is a decision on a message, and no call of a tool.
    #[must_use]
    pub fn is_decision(&self) -> bool {
        self.tool.as_deref() == Some(DECISION)
    }

    fn event(&self) -> &'static str {
        if self.is_decision() { DECISION } else { "tool_call" }
    }

    /// For scripts.
    #[must_use]
    pub fn json(&self, row: &RunRow) -> Value {
        let args = match serde_json::from_str(&self.args) {
            Ok(args) if self.args.chars().count() <= SHOWN_CHARS_MAX => args,
            _ => Value::from(short(&self.args)),
        };
        json!({
            "event": self.event(), "ts": self.at, "run_id": row.run, "session_id": row.conversation,
            "turn_id": row.origin.turn, "loop": row.loop_name,
            "forked_from": row.origin.forked.as_ref().map(|from| &from.run),
            "parent_run_id": row.origin.parent, "imported": row.origin.imported,
            "copied": self.copied, "seq": self.seq, "effect": self.effect,
            "attempt": self.attempt, "tool": self.tool, "arguments": args,
            "user_message": short(&self.user_message), "approved_by": self.approved_by,
            "ending": self.end.ending, "result": short(&self.end.result),
            "duration_ms": self.end.duration_ms,
        })
    }
}

/// Follows the journal of one run and reports its tool calls.
#[derive(Debug)]
pub struct Auditor {
    open: BTreeMap<EffectId, UnfinishedCall>,
    user_message: String,
    /// The model call that is to bring a decision.
    deciding: Option<EffectId>,
    /// Calls of a fork until it is known whether they were copied.
    waiting: Option<Vec<AuditCall>>,
}

/// A call without an outcome.
#[derive(Debug)]
struct UnfinishedCall {
    tool: String,
    args: String,
    approved_by: Option<String>,
    attempt: u32,
    planned_seq: i64,
    begun: UtcMs,
    /// Whether the journal says when the attempt began.
    is_timed: bool,
}

impl UnfinishedCall {
    fn planned(call: &ToolCall, entry: &Entry) -> Self {
        Self {
            tool: call.tool.clone(),
            args: call.args.clone(),
            approved_by: None,
            attempt: 1,
            planned_seq: entry.seq,
            begun: entry.at,
            is_timed: false,
        }
    }
}

impl Auditor {
    /// For a run, by where it comes from.
    #[must_use]
    pub fn new(forked: Option<&ForkOrigin>) -> Self {
        let waiting = forked.map(|_| Vec::new());
        Self { open: BTreeMap::new(), user_message: String::new(), deciding: None, waiting }
    }

    /// The attempts that end with this entry, in the order of the journal.
    pub fn entry(&mut self, entry: &Entry) -> Vec<AuditCall> {
        let call = self.ended_call(entry);
        match (&mut self.waiting, &entry.kind) {
            (Some(waiting), EntryKind::Forked(_)) => {
                let mut copied = std::mem::take(waiting);
                copied.iter_mut().for_each(|call| call.copied = true);
                self.waiting = None;
                copied
            }
            (Some(waiting), _) => {
                waiting.extend(call);
                Vec::new()
            }
            (None, _) => call.into_iter().collect(),
        }
    }

    /// What the end of the journal leaves open.
    #[must_use]
    pub fn rest(mut self) -> Vec<AuditCall> {
        let mut calls = self.waiting.take().unwrap_or_default();
        for (effect, open) in std::mem::take(&mut self.open) {
            let end = AuditEnd { ending: "open", result: String::new(), duration_ms: None };
            calls.push(self.call(&effect, open.planned_seq, Some(&open), end, open.begun));
        }
        calls
    }

    fn ended_call(&mut self, entry: &Entry) -> Option<AuditCall> {
        match (&entry.kind, &entry.effect) {
            (EntryKind::RunCreated(created), _) => self.user_message.clone_from(&created.goal.text),
            (EntryKind::Forked(forked), _) if !forked.word.text.is_empty() => {
                self.user_message.clone_from(&forked.word.text);
            }
            (EntryKind::Input(input), _) => {
                if let InboxMessage::Steer { text } = &input.message {
                    self.user_message.clone_from(text);
                }
            }
            (
                EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })),
                Some(effect),
            ) => {
                self.open.insert(effect.clone(), UnfinishedCall::planned(call, entry));
            }
            (EntryKind::EffectPlanned(EffectPlanned::CallModel(planned)), Some(effect))
                if planned.call.output == Some(Contract::Decision) =>
            {
                self.deciding = Some(effect.clone());
            }
            (EntryKind::ApprovalGiven(given), Some(effect)) => {
                if let Some(open) = self.open.get_mut(effect) {
                    open.approved_by = Some(given.by.clone());
                    if let Some(args) = &given.edited_args {
                        open.args.clone_from(args);
                    }
                }
            }
            (EntryKind::EffectStarted(started), Some(effect)) => {
                if let Some(open) = self.open.get_mut(effect) {
                    (open.attempt, open.begun, open.is_timed) = (started.attempt, entry.at, true);
                }
            }
            (EntryKind::EffectAttemptFailed(failed), Some(effect)) => {
                return self.retried(entry, effect, &failed.error);
            }
            (EntryKind::EffectFinished(finished), Some(effect)) => {
                let Outcome::Observed(seen) = &finished.outcome else {
                    return self.decided(entry, effect, finished);
                };
                let (ending, result) = (word(seen.ending), seen.text.clone());
                let end = AuditEnd { ending, result, duration_ms: Some(finished.took_ms) };
                let open = self.open.remove(effect);
                let began = entry.at.saturating_sub_unsigned(finished.took_ms);
                let at = open.as_ref().filter(|open| open.is_timed).map_or(began, |it| it.begun);
                return Some(self.call(effect, entry.seq, open.as_ref(), end, at));
            }
            _ => {}
        }
        None
    }

    /// A reply of a model that was asked for a decision, or its failure.
    fn decided(
        &mut self,
        entry: &Entry,
        effect: &EffectId,
        finished: &EffectFinished,
    ) -> Option<AuditCall> {
        self.deciding.take_if(|asked| asked == effect)?;
        let (args, ending, result) = match &finished.outcome {
            Outcome::Replied(reply) => match read_decision(&reply.text) {
                Ok(decision) => {
                    let args = serde_json::to_string(&decision).unwrap_or_default();
                    (args, Ending::Ok, decision.reason)
                }
                Err(wrong) => (reply.text.clone(), Ending::Error, wrong),
            },
            Outcome::ModelFailed(error) => (String::new(), Ending::Error, error.detail.clone()),
            Outcome::Observed(_) | Outcome::Superseded | Outcome::Canceled => return None,
        };
        let duration_ms = Some(finished.took_ms);
        let end = AuditEnd { ending: word(ending), result, duration_ms };
        let at = entry.at.saturating_sub_unsigned(finished.took_ms);
        let call = self.call(effect, entry.seq, None, end, at);
        Some(AuditCall { tool: Some(DECISION.to_owned()), args, ..call })
    }

    fn retried(&mut self, entry: &Entry, effect: &EffectId, error: &str) -> Option<AuditCall> {
        let mut open = self.open.remove(effect)?;
        let took =
            u64::try_from(entry.at.saturating_sub(open.begun)).ok().filter(|_| open.is_timed);
        let end = AuditEnd { ending: "retried", result: error.to_owned(), duration_ms: took };
        let call = self.call(effect, entry.seq, Some(&open), end, open.begun);
        (open.attempt, open.begun, open.is_timed) =
            (open.attempt.saturating_add(1), entry.at, false);
        self.open.insert(effect.clone(), open);
        Some(call)
    }

    fn call(
        &self,
        effect: &EffectId,
        seq: i64,
        open: Option<&UnfinishedCall>,
        end: AuditEnd,
        at: UtcMs,
    ) -> AuditCall {
        AuditCall {
            seq,
            at,
            effect: effect.place(),
            attempt: open.map_or(1, |open| open.attempt),
            tool: open.map(|open| open.tool.clone()),
            args: open.map(|open| open.args.clone()).unwrap_or_default(),
            approved_by: open.and_then(|open| open.approved_by.clone()),
            user_message: self.user_message.clone(),
            end,
            copied: false,
        }
    }
}

/// As the journal writes it.
fn word(ending: Ending) -> &'static str {
    match ending {
        Ending::Ok => "ok",
        Ending::Error => "error",
        Ending::Denied => "denied",
        Ending::TimedOut => "timed_out",
        Ending::Canceled => "canceled",
        Ending::Unknown => "unknown",
    }
}

/// Bounded, with a mark where something is left out.
fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::journal::PlannedToolCall;
    use everloop_types::journal::{ApprovalGiven, EffectAttemptFailed, EffectStarted};
    use everloop_types::{CallId, Handling, Observation, RunId, ToolCall};

    fn entry(seq: i64, kind: EntryKind) -> Entry {
        let effect = Some(EffectId { run: RunId::new("run_1"), cause: 1, index: 0 });
        Entry { seq, epoch: 1, at: 1_000 + seq * 100, effect, kind }
    }

    fn planned() -> EntryKind {
        let call = ToolCall { id: CallId::new("c1"), tool: "shell".into(), args: "{}".into() };
        let planned = PlannedToolCall::new(call, &Handling::default(), 0, None);
        let planned = EffectPlanned::CallTool(planned);
        EntryKind::EffectPlanned(planned)
    }

    fn started(attempt: u32) -> EntryKind {
        let before = Value::Null;
        EntryKind::EffectStarted(EffectStarted { attempt, start_by: 0, over_by: None, before })
    }

    fn failed() -> EntryKind {
        let (attempt, error) = (1, "busy".to_owned());
        let failed = EffectAttemptFailed { attempt, error, retry_at: 0, may_have_acted: false };
        EntryKind::EffectAttemptFailed(failed)
    }

    fn finished() -> EntryKind {
        let outcome = Outcome::Observed(Observation::ok("fine"));
        EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 40))
    }

    fn told(kinds: Vec<EntryKind>) -> Vec<(u32, &'static str, Option<u64>, Option<String>)> {
        let mut auditor = Auditor::new(None);
        let entries = (1..).zip(kinds).map(|(seq, kind)| entry(seq, kind));
        let mut calls: Vec<AuditCall> = entries.flat_map(|entry| auditor.entry(&entry)).collect();
        calls.extend(auditor.rest());
        let shown = |call: AuditCall| {
            (call.attempt, call.end.ending, call.end.duration_ms, call.approved_by)
        };
        calls.into_iter().map(shown).collect()
    }

    #[test]
    fn each_attempt_is_told_with_its_own_number_and_time() {
        let given = ApprovalGiven {
            args_hash: String::new(),
            by: "user".to_owned(),
            policy_hash: String::new(),
            releases: None,
            edited_args: None,
        };
        let given = EntryKind::ApprovalGiven(given);
        let (first, second) = (started(1), started(2));
        let by = || Some("user".to_owned());
        assert_eq!(
            told(vec![planned(), given, first, failed(), second, finished()]),
            [(1, "retried", Some(100), by()), (2, "ok", Some(40), by())]
        );
    }

    #[test]
    fn a_call_without_an_outcome_is_open_and_one_without_a_plan_has_no_tool() {
        assert_eq!(told(vec![planned(), started(1)]), [(1, "open", None, None)]);
        let calls = Auditor::new(None).entry(&entry(5, finished()));
        assert_eq!((calls[0].tool.as_deref(), calls[0].end.ending), (None, "ok"));
    }
}
