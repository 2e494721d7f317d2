//! How questions are answered on the command line.

use crate::console::Console;
use everloop_text as text;
use everloop_types::{Question, QuestionKind};

/// How a question is to be answered.
pub(crate) fn how(app: &Console, question: &Question) -> String {
    match question.kind {
        QuestionKind::Ask => app.text(text::ask::later()),
        QuestionKind::Approve => app.text(text::answer::approve()),
        QuestionKind::Settle => app.text(text::settle::prompt()),
    }
}

/// That an answer was not understood.
pub(crate) fn unclear(app: &Console, question: &Question, text: &str) -> String {
    let key = match question.kind {
        QuestionKind::Settle => text::answer::unclear_settle,
        QuestionKind::Ask | QuestionKind::Approve => text::answer::unclear,
    };
    app.text(key(&text.trim()))
}
