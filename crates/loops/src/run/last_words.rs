//! Last words: the model's own or an account of the journal, and why the run ended.

use super::account::{is_open, listed};
use super::call_planner::shown;
use super::{Decision, Run};
use crate::{AgentLoop, LoopSpec, StepUnit, broken};
use everloop_text as text;
use everloop_types::planted::{self, Bug};
use everloop_types::{
    Answer, BudgetKind, Frame, Money, Reason, Status, ToolCall, Words, without_tags,
};
use serde_json::Value;

/// The endings of a run, each with its words.
pub(super) struct EndingWords<'r, L: AgentLoop> {
    run: &'r Run<L>,
}

impl<'r, L: AgentLoop> EndingWords<'r, L> {
    pub(super) fn of(run: &'r Run<L>) -> Self {
        Self { run }
    }

    /// The ending that the user asked for, with the run that goes on if there is one.
    pub(super) fn canceled(&self) -> Decision {
        let progress = self.run.progress();
        let done = progress.items.iter().filter(|item| item.is_done());
        let words = match (self.run.ledger.switched(), progress.items.len()) {
            (Some(words), _) => words,
            (None, 0) => text::run::canceled_early().words(),
            (None, total) => text::run::canceled(&done.count(), &total).words(),
        };
        let words = self.with_unknowns(words);
        Decision::Finish { status: Status::Canceled, reason: Some(Reason::Canceled), words }
    }

    /// The model's last words and what it left open (TD-5), or an account from the journal; then
    /// why it ended.
    pub(super) fn last_words(&self, reason: Option<Reason>, text: &str) -> Decision {
        let items = self.run.progress().items;
        let text = &without_tags(text);
        let mut words = match text.trim() {
            "" => {
                let limited = reason.as_ref().is_some_and(Reason::is_limit);
                vec![self.run.account.words(&items, !limited)]
            }
            said => {
                let said = Words::Said(said.to_owned()).without(self.run.frame.mark());
                // An answer that the user wanted early is an answer, and no account.
                let open = |item: &_| reason.is_some() && is_open(item);
                [vec![said], listed(text::closing::open(), &items, open)].concat()
            }
        };
        match &reason {
            Some(Reason::BrokenContract) => {
                words.push(broken::why(&L::SPEC, "", &self.run.frame));
                if text.trim().is_empty() {
                    words.extend(broken::said(self.run.inner.transcript()));
                }
                words.push(broken::advice(&L::SPEC, &self.run.frame));
            }
            Some(reason) => words.push(reason_line(reason, &L::SPEC)),
            None => {}
        }
        let words = if words.len() == 1 { words.remove(0) } else { Words::All(words) };
        self.end(Answer { words, trouble: reason })
    }

    /// The ending with this answer.
    pub(super) fn end(&self, answer: Answer) -> Decision {
        let open = !self.run.ledger.unknowns.is_empty() && !planted::is_on(Bug::UnknownHidden);
        let status = match (&answer.trouble, open) {
            (_, true) => Status::Unsettled,
            (None, false) => Status::Succeeded,
            (Some(_), false) => Status::Failed,
        };
        let words = self.with_unknowns(answer.words);
        Decision::Finish { status, reason: answer.trouble, words }
    }

    /// An unknown cannot hide: the first line of the answer says which effect.
    fn with_unknowns(&self, words: Words) -> Words {
        if self.run.ledger.unknowns.is_empty() {
            return words;
        }
        let calls: Vec<String> = self.run.ledger.unknowns.iter().map(|u| said(&u.call)).collect();
        let line = text::run::unsettled(&calls.join("; ")).words();
        Words::All(vec![line, words])
    }
}

/// A call in one line without the form that programs read: its values, with names if there are
/// several.
fn said(call: &ToolCall) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(&call.args) else { return shown(call) };
    let value = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let line = match fields.len() {
        1 => fields.values().map(value).collect::<String>(),
        _ => {
            let named = fields.iter().map(|(name, it)| format!("{name}: {}", value(it)));
            named.collect::<Vec<_>>().join(", ")
        }
    };
    let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(120).collect();
    format!("{} {line}", call.tool).trim_end().to_owned()
}

/// Why a run ended as it did, in words.
pub(crate) fn why(reason: &Reason, spec: &LoopSpec, frame: &Frame) -> Vec<Words> {
    match reason {
        Reason::BrokenContract => {
            vec![broken::why(spec, "", frame), broken::advice(spec, frame)]
        }
        reason => vec![reason_line(reason, spec)],
    }
}

/// The catalogue's line for a reason.
fn reason_line(reason: &Reason, spec: &LoopSpec) -> Words {
    match reason {
        Reason::StepLimit { limit } if spec.step_unit == StepUnit::Round => {
            text::limit::rounds(&limit).words()
        }
        Reason::StepLimit { limit } => text::reason::step_limit(&limit).words(),
        Reason::Budget { what: BudgetKind::Money, limit } => {
            text::reason::budget_money(&Money::written(*limit)).words()
        }
        Reason::Budget { what, limit } => {
            let key = match what {
                BudgetKind::ModelCalls => text::reason::budget_model_calls,
                BudgetKind::ToolCalls => text::reason::budget_tool_calls,
                BudgetKind::Tokens => text::reason::budget_tokens,
                BudgetKind::WorkMs | BudgetKind::Money => text::reason::budget_work,
            };
            key(&limit).words()
        }
        Reason::Repetition { tool } => text::reason::repetition(&tool).words(),
        Reason::ContextFull => text::reason::context_full().words(),
        Reason::JournalFull => text::reason::journal_full().words(),
        Reason::Model(error) => text::reason::model(&error.detail).words(),
        Reason::BrokenContract => text::reason::broken_contract().words(),
        Reason::RepeatedQuestion => text::reason::repeated_question().words(),
        Reason::TooManyQuestions { .. } => text::reason::too_many_questions().words(),
        Reason::TaskFailed { detail } => text::tasks::failed(&detail).words(),
        Reason::Canceled => text::reason::canceled().words(),
    }
}
