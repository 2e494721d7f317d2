//! An answer to an open question: what it means.
//!
//! Every surface reads answers here, before anything is sent: what is not understood is asked
//! again, and is never a yes, a no or a new goal.

use crate::settling::SettleWord;
use everloop_text::Meaning;
use everloop_types::{Question, QuestionKind};

/// How an answer was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerReading {
    /// It is sent in this form, and means this.
    Send {
        /// What is sent.
        text: String,
        /// What it means.
        meaning: AnswerMeaning,
    },
    /// It is not understood: the question is asked again.
    Unclear,
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerMeaning {
    /// Words for the model.
    Words(String),
    /// Allowed this once.
    AllowedOnce,
    /// Allowed from now on.
    AllowedAlways(AlwaysScope),
    /// Not allowed, and why.
    Denied(Option<String>),
    /// What happened to a call.
    Settled(SettleWord),
}

/// What "always" covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlwaysScope {
    /// Calls like this one.
    Standing,
    /// It counts once: such a call is asked about every time.
    AskedEachTime,
    /// This run, to this place.
    ThisPlace,
}

/// What an answer to a question means.
#[must_use]
pub fn read_answer(question: &Question, line: &str) -> AnswerReading {
    let meaning = match question.kind {
        QuestionKind::Approve => permission(question, line),
        QuestionKind::Settle => SettleWord::read(line).map(AnswerMeaning::Settled),
        QuestionKind::Ask => Some(AnswerMeaning::Words(line.to_owned())),
    };
    let Some(meaning) = meaning else { return AnswerReading::Unclear };
    let text = match meaning {
        AnswerMeaning::Settled(SettleWord::Happened) => "happened".to_owned(),
        AnswerMeaning::Settled(SettleWord::DidNot) => "not".to_owned(),
        // The run that waits tells its model to inspect first.
        AnswerMeaning::Settled(SettleWord::Probe) => "unknown".to_owned(),
        _ => line.to_owned(),
    };
    AnswerReading::Send { text, meaning }
}

fn permission(question: &Question, line: &str) -> Option<AnswerMeaning> {
    match everloop_text::meaning(line) {
        Meaning::Yes => Some(AnswerMeaning::AllowedOnce),
        Meaning::Always => Some(AnswerMeaning::AllowedAlways(always_scope(question))),
        Meaning::No { reason } => Some(AnswerMeaning::Denied(reason)),
        Meaning::Edit | Meaning::Unclear => None,
    }
}

/// The id of the question says what was asked.
fn always_scope(question: &Question) -> AlwaysScope {
    match question.id.split('.').nth(2) {
        Some("approve_bare" | "approve_veiled") => AlwaysScope::AskedEachTime,
        Some("approve_labels") => AlwaysScope::ThisPlace,
        _ => AlwaysScope::Standing,
    }
}
