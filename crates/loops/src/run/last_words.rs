//! Last words: the model's own or an account of the journal, and why the run ended.

use super::account::{is_open, listed};
use super::{Decision, Run};
use crate::{AgentLoop, LoopSpec, StepUnit, broken};
use everloop_types::{Answer, BudgetKind, Frame, Money, Reason, Words, without_tags};

impl<L: AgentLoop> Run<L> {
    /// The model's last words and what it left open (TD-5), or an account from the journal; then
    /// why it ended.
    pub(super) fn last_words(&self, reason: Option<Reason>, text: &str) -> Decision {
        let items = self.progress().items;
        let text = &without_tags(text);
        let mut words = match text.trim() {
            "" => {
                let limited = reason.as_ref().is_some_and(Reason::is_limit);
                vec![self.account.words(&items, !limited)]
            }
            said => {
                let said = Words::Said(said.to_owned()).without(self.frame.mark());
                // An answer that the user wanted early is an answer, and no account.
                let open = |item: &_| reason.is_some() && is_open(item);
                [vec![said], listed("closing.open", &items, open)].concat()
            }
        };
        match &reason {
            Some(Reason::BrokenContract) => {
                words.push(broken::why(&L::SPEC, "", &self.frame));
                if text.trim().is_empty() {
                    words.extend(broken::said(self.inner.transcript()));
                }
                words.push(broken::advice(&L::SPEC, &self.frame));
            }
            Some(reason) => words.push(reason_line(reason, &L::SPEC)),
            None => {}
        }
        let words = if words.len() == 1 { words.remove(0) } else { Words::All(words) };
        self.end(Answer { words, trouble: reason })
    }
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
            Words::with("limit.rounds", [("limit", limit.to_string())])
        }
        Reason::StepLimit { limit } => {
            Words::with("reason.step_limit", [("limit", limit.to_string())])
        }
        Reason::Budget { what: BudgetKind::Money, limit } => {
            Words::with("reason.budget_money", [("limit", Money::written(*limit))])
        }
        Reason::Budget { what, limit } => {
            let key = match what {
                BudgetKind::ModelCalls => "reason.budget_model_calls",
                BudgetKind::ToolCalls => "reason.budget_tool_calls",
                BudgetKind::Tokens => "reason.budget_tokens",
                BudgetKind::WorkMs | BudgetKind::Money => "reason.budget_work",
            };
            Words::with(key, [("limit", limit.to_string())])
        }
        Reason::Repetition { tool } => Words::with("reason.repetition", [("tool", tool.clone())]),
        Reason::ContextFull => Words::key("reason.context_full"),
        Reason::JournalFull => Words::key("reason.journal_full"),
        Reason::Model(error) => Words::with("reason.model", [("detail", error.detail.clone())]),
        Reason::BrokenContract => Words::key("reason.broken_contract"),
        Reason::RepeatedQuestion => Words::key("reason.repeated_question"),
        Reason::TooManyQuestions { .. } => Words::key("reason.too_many_questions"),
        Reason::Canceled => Words::key("reason.canceled"),
    }
}
