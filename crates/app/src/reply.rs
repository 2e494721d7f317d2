//! An answer to an open question: what it means, and the line that says how it was taken.
//!
//! Every surface reads answers here, before anything is sent: what is not understood is asked
//! again, and is never a yes, a no or a new goal.

use crate::app::App;
use crate::terminal::marks;
use everloop_text::{Meaning, Told};
use everloop_types::{Question, QuestionKind};

/// What becomes of an answer.
pub enum Taken {
    /// It is sent; what the person is told about it.
    Sent { text: String, said: String },
    /// It is not understood; what to say, and then to ask again.
    Again(String),
}

/// What an answer to a question means.
pub fn taken(app: &App, question: &Question, text: &str) -> Taken {
    match question.kind {
        QuestionKind::Approve => permission(app, question, text),
        QuestionKind::Settle => settling(app, text),
        QuestionKind::Ask => {
            let shown = crate::show::preview(text);
            let said = app.text("answer.given", &[("text", &shown)]);
            Taken::Sent { text: text.to_owned(), said }
        }
    }
}

/// How a question is to be answered.
pub fn how(app: &App, question: &Question) -> String {
    match question.kind {
        QuestionKind::Ask => app.text("ask.later", &[]),
        QuestionKind::Approve => app.text("answer.approve", &[]),
        QuestionKind::Settle => app.text("settle.prompt", &[]),
    }
}

fn permission(app: &App, question: &Question, text: &str) -> Taken {
    let marks = marks();
    let said = match everloop_text::meaning(text) {
        Meaning::Yes => app.text("answer.once", &[("mark", marks.done)]),
        Meaning::Always => app.text(always(question), &[("mark", marks.done)]),
        Meaning::No { reason: None } => app.text("answer.denied", &[("mark", marks.skipped)]),
        Meaning::No { reason: Some(reason) } => {
            let args = [("mark", marks.skipped), ("reason", reason.as_str())];
            app.text("answer.denied_for", &args)
        }
        Meaning::Edit | Meaning::Unclear => {
            return Taken::Again(app.text("answer.unclear", &[("text", text.trim())]));
        }
    };
    Taken::Sent { text: text.to_owned(), said }
}

/// What "always" means depends on what was asked; the id of the question says so.
fn always(question: &Question) -> &'static str {
    match question.id.split('.').nth(2) {
        Some("approve_bare" | "approve_veiled") => "answer.always_asked",
        Some("approve_labels") => "answer.always_here",
        _ => "answer.always",
    }
}

fn settling(app: &App, text: &str) -> Taken {
    let (word, key) = match everloop_text::told(text) {
        Some(Told::Happened) => ("happened", "settle.happened"),
        Some(Told::DidNot) => ("not", "settle.not"),
        // The run that waits tells its model to inspect first.
        Some(Told::Look) => ("unknown", "settle.unsure"),
        None => {
            return Taken::Again(app.text("answer.unclear_settle", &[("text", text.trim())]));
        }
    };
    let said = app.text("answer.given", &[("text", &app.text(key, &[]))]);
    Taken::Sent { text: word.to_owned(), said }
}
