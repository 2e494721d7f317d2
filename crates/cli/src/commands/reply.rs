//! An answer to an open question: what it means, and the line that says how it was taken.
//!
//! Every surface reads answers here, before anything is sent: what is not understood is asked
//! again, and is never a yes, a no or a new goal.

use crate::app::App;
use crate::terminal::marks;
use everloop_text::{self as text, TextOf};
use everloop_text::{Meaning, Told};
use everloop_types::{Question, QuestionKind};

/// What becomes of an answer.
pub(crate) enum Taken {
    /// It is sent; what the person is told about it.
    Sent { text: String, said: String },
    /// It is not understood; what to say, and then to ask again.
    Again(String),
}

/// What an answer to a question means.
pub(crate) fn taken(app: &App, question: &Question, text: &str) -> Taken {
    match question.kind {
        QuestionKind::Approve => permission(app, question, text),
        QuestionKind::Settle => settling(app, text),
        QuestionKind::Ask => {
            let shown = crate::show::preview(text);
            let said = app.text(text::answer::given(&shown));
            Taken::Sent { text: text.to_owned(), said }
        }
    }
}

/// How a question is to be answered.
pub(crate) fn how(app: &App, question: &Question) -> String {
    match question.kind {
        QuestionKind::Ask => app.text(text::ask::later()),
        QuestionKind::Approve => app.text(text::answer::approve()),
        QuestionKind::Settle => app.text(text::settle::prompt()),
    }
}

fn permission(app: &App, question: &Question, text: &str) -> Taken {
    let marks = marks();
    let said = match everloop_text::meaning(text) {
        Meaning::Yes => app.text(text::answer::once(&marks.done)),
        Meaning::Always => app.text(always(question)(&marks.done)),
        Meaning::No { reason: None } => app.text(text::answer::denied(&marks.skipped)),
        Meaning::No { reason: Some(reason) } => {
            app.text(text::answer::denied_for(&marks.skipped, &reason))
        }
        Meaning::Edit | Meaning::Unclear => {
            return Taken::Again(app.text(text::answer::unclear(&text.trim())));
        }
    };
    Taken::Sent { text: text.to_owned(), said }
}

/// What "always" means depends on what was asked; the id of the question says so.
fn always(question: &Question) -> TextOf {
    match question.id.split('.').nth(2) {
        Some("approve_bare" | "approve_veiled") => text::answer::always_asked,
        Some("approve_labels") => text::answer::always_here,
        _ => text::answer::always,
    }
}

fn settling(app: &App, text: &str) -> Taken {
    let (word, key) = match everloop_text::told(text) {
        Some(Told::Happened) => ("happened", text::settle::happened()),
        Some(Told::DidNot) => ("not", text::settle::not()),
        // The run that waits tells its model to inspect first.
        Some(Told::Look) => ("unknown", text::settle::unsure()),
        None => {
            return Taken::Again(app.text(text::answer::unclear_settle(&text.trim())));
        }
    };
    let said = app.text(text::answer::given(&app.text(key)));
    Taken::Sent { text: word.to_owned(), said }
}
