//! How questions are answered, and how an answer was understood.

use super::approval::answers_line;
use super::preview;
use crate::console::Console;
use crate::terminal::marks;
use everloop_app::answers::{AlwaysScope, AnswerMeaning};
use everloop_app::settling::SettleWord;
use everloop_markdown::{StyledLine, Tone};
use everloop_text as text;
use everloop_types::{Question, QuestionKind, one_line};

/// How a question is to be answered.
pub fn how_to_answer(app: &Console, question: &Question) -> String {
    match question.kind {
        QuestionKind::Ask => app.text(text::ask::later()),
        QuestionKind::Approve => answers_line(app, question),
        QuestionKind::Settle => app.text(text::settle::prompt()),
    }
}

/// That an answer was not understood.
pub fn unclear(app: &Console, question: &Question, text: &str) -> String {
    let key = match question.kind {
        QuestionKind::Settle => text::answer::unclear_settle,
        QuestionKind::Ask | QuestionKind::Approve => text::answer::unclear,
    };
    app.text(key(&text.trim()))
}

/// How an answer was understood, in the color of what it means.
pub fn answered_line(app: &Console, meaning: &AnswerMeaning) -> StyledLine {
    let tone = match meaning {
        AnswerMeaning::Words(_) | AnswerMeaning::Settled(_) => Tone::Dim,
        AnswerMeaning::AllowedOnce | AnswerMeaning::AllowedAlways(_) | AnswerMeaning::Edited(_) => {
            Tone::Good
        }
        AnswerMeaning::Denied(_) => Tone::Bad,
    };
    StyledLine::new(tone, &answered(app, meaning)).hanging(2)
}

/// How an answer was understood.
pub fn answered(app: &Console, meaning: &AnswerMeaning) -> String {
    let marks = marks();
    match meaning {
        AnswerMeaning::Words(text) => app.text(text::answer::given(&preview(text))),
        AnswerMeaning::AllowedOnce => app.text(text::answer::once(&marks.done)),
        AnswerMeaning::AllowedAlways(scope) => {
            let mark = &marks.done;
            app.text(match scope {
                AlwaysScope::Standing => text::answer::always(mark),
                AlwaysScope::AskedEachTime => text::answer::always_asked(mark),
                AlwaysScope::ThisPlace => text::answer::always_here(mark),
                AlwaysScope::Pattern(pattern) => text::answer::always_pattern(mark, &pattern),
                AlwaysScope::Conversation(tool) => text::answer::always_conversation(mark, &tool),
            })
        }
        AnswerMeaning::Edited(text) => app.text(text::answer::edited(&marks.done, &one_line(text))),
        AnswerMeaning::Denied(None) => app.text(text::answer::denied(&marks.failed)),
        AnswerMeaning::Denied(Some(reason)) => {
            app.text(text::answer::denied_for(&marks.failed, &reason))
        }
        AnswerMeaning::Settled(word) => {
            let key = match word {
                SettleWord::Happened => text::settle::happened(),
                SettleWord::DidNot => text::settle::not(),
                SettleWord::Probe => text::settle::unsure(),
            };
            app.text(text::answer::given(&app.text(key)))
        }
    }
}
