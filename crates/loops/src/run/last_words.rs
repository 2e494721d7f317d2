//! Last words: the model's own or an account of the journal, and why the run ended.

use super::account::{is_open, listed};
use super::{Decision, Run};
use crate::{AgentLoop, LoopSpec, StepUnit, broken};
use everloop_text as text;
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
                [vec![said], listed(text::closing::open(), &items, open)].concat()
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
        Reason::Canceled => text::reason::canceled().words(),
    }
}
