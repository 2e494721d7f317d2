//! Cards that need a person: questions, approvals, calls to settle.

use crate::layout::PageFrame;
use crate::parts::{diff, icon};
use everloop_text::Text;
use everloop_text::pages as words;
use everloop_types::{spelled, visible};
use maud::{Markup, html};

/// What a card asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskKind {
    /// The model asks something.
    Question,
    /// A call needs permission.
    Approval,
    /// A call's outcome is unknown.
    Settle,
}

/// A question that waits for a person.
#[derive(Debug, Clone)]
pub struct AskCard {
    /// Its id in the API.
    pub id: String,
    /// The run that asks.
    pub run: String,
    /// The end of the run's id.
    pub short_run: String,
    /// What it asks for.
    pub kind: AskKind,
    /// The question.
    pub text: String,
    /// Answers to choose from.
    pub choices: Vec<String>,
    /// What is to be approved.
    pub request: Option<ApprovalCard>,
    /// When the run stopped for it.
    pub when: String,
    /// The conversation, where the card is shown elsewhere.
    pub conversation: Option<(String, String)>,
    /// Whether it is shown beside something else, where no button of it may be the darkest one.
    pub is_aside: bool,
}

/// What a call would do.
#[derive(Debug, Clone)]
pub struct ApprovalCard {
    /// The tool.
    pub tool: String,
    /// The folder of the run.
    pub folder: String,
    /// Why a person is asked.
    pub cause: String,
    /// The command, or the arguments.
    pub shown: String,
    /// The change of a file, as a diff.
    pub diff: Vec<String>,
    /// What "always" may cover: the word that answers, and what it means.
    pub scopes: Vec<(String, String)>,
    /// The value that may be changed first, if one may.
    pub editable: Option<String>,
}

/// A card. Whatever a model or a tool wrote is shown with [`visible`]: what a reader would not see
/// is spelled out, and what is shown is what runs.
#[must_use]
pub fn card(frame: &PageFrame, ask: &AskCard) -> Markup {
    match (&ask.kind, &ask.request) {
        (AskKind::Approval, Some(request)) => approval(frame, ask, request),
        (AskKind::Approval, None) => plain_approval(frame, ask),
        (AskKind::Question | AskKind::Settle, _) => question(frame, ask),
    }
}

fn heading(frame: &PageFrame, ask: &AskCard) -> Markup {
    let (picture, name) = match ask.kind {
        AskKind::Question => ("s-you", words::ask::question()),
        AskKind::Approval => ("shield", words::ask::approval()),
        AskKind::Settle => ("s-unsettled", words::ask::settle()),
    };
    html! {
        header.ask-head {
            (icon(picture)) span { (frame.say(name))
                @if let Some(request) = &ask.request {
                    " · " span.mono { (visible(&request.tool)) } } }
            span.faint { "· " (frame.say(words::ask::since(&ask.when))) }
            span.grow {}
            a.mono.xs href={ "/runs/" (ask.run) } { (ask.short_run) }
        }
    }
}

/// The address that takes the answer, and the id that a script keeps what was typed under.
fn open(frame: &PageFrame, ask: &AskCard, inside: &Markup) -> Markup {
    let to = format!("/do/interrupts/{}", ask.id);
    // Beside other cards, which may ask the same, a landmark also says whose question it is.
    let name = match &ask.conversation {
        Some(_) => format!("{} · {}", visible(&ask.text), ask.short_run),
        None => visible(&ask.text),
    };
    html! {
        form.ask method="post" action=(to) data-do data-keep={ "ask:" (ask.id) }
            data-ask=(ask.id) aria-label=(name) id={ "card-" (ask.id) } tabindex="-1" {
            (frame.form(&to).hidden())
            (inside)
        }
    }
}

fn question(frame: &PageFrame, ask: &AskCard) -> Markup {
    let field = format!("answer-{}", ask.id);
    let inside = html! {
        fieldset {
            legend.vh { (frame.say(words::ask::question_of(&ask.short_run))) }
            (heading(frame, ask))
            h3.pre { (visible(&ask.text)) }
            @if ask.kind == AskKind::Settle {
                footer {
                    @for (at, (choice, name)) in settling().into_iter().enumerate() {
                        button.btn.sm name="choice" value=(choice) data-digit=(at + 1) {
                            (frame.say(name)) kbd { (at + 1) }
                        }
                    }
                    span.later { (frame.say(words::ask::not_repeated())) }
                }
            } @else {
                div.content {
                    @if !ask.choices.is_empty() { (options(&ask.choices)) }
                    div.field {
                        @let name = match ask.choices.is_empty() {
                            true => words::ask::answer(),
                            false => words::ask::otherwise(),
                        };
                        label for=(field) { (frame.say(name)) }
                        textarea.area id=(field) name="text" rows="2"
                            required[ask.choices.is_empty()] {}
                    }
                }
                footer {
                    button.btn.sm.ink[!ask.is_aside] name="choice" value="respond" {
                        (frame.say(words::ask::send_answer())) kbd { "Ctrl Enter" }
                    }
                    @let none = frame.say(words::ask::no_answer());
                    button.btn.ghost.sm name="choice" value={ "respond:" (none) } formnovalidate
                        data-key="i" { (frame.say(words::ask::ignore())) kbd { "I" } }
                    span.later { (frame.say(words::ask::later())) }
                }
            }
        }
    };
    open(frame, ask, &inside)
}

/// What can be said about a call whose outcome is unknown.
fn settling() -> [(&'static str, Text); 3] {
    [
        ("respond:happened", words::ask::happened()),
        ("respond:not", words::ask::did_not()),
        ("probe", words::run::look_first()),
    ]
}

/// Answers to choose from, each with its digit.
fn options(choices: &[String]) -> Markup {
    html! {
        div.options {
            @for (at, choice) in choices.iter().enumerate() {
                label.option {
                    input.box type="radio" name="pick" value=(choice) data-digit=(at + 1);
                    span { (visible(choice)) }
                    kbd { (at + 1) }
                }
            }
        }
    }
}

fn plain_approval(frame: &PageFrame, ask: &AskCard) -> Markup {
    let inside = html! {
        fieldset {
            legend.vh { (frame.say(words::ask::approval())) }
            (heading(frame, ask))
            h3.pre { (visible(&ask.text)) }
            footer { (verdicts(frame, ask)) }
        }
    };
    open(frame, ask, &inside)
}

fn verdicts(frame: &PageFrame, ask: &AskCard) -> Markup {
    html! {
        button.btn.sm.ink[!ask.is_aside] name="choice" value="accept" data-key="y" {
            (frame.say(words::ask::allow())) kbd { "Y" }
        }
        button.btn.ghost.sm name="choice" value="decline" data-key="i" {
            (frame.say(words::ask::ignore())) kbd { "I" }
        }
    }
}

fn approval(frame: &PageFrame, ask: &AskCard, request: &ApprovalCard) -> Markup {
    let edit = format!("edit-{}", ask.id);
    let why = format!("why-{}", ask.id);
    let shown = visible(&request.shown);
    let inside = html! {
        fieldset {
            legend.vh { (frame.say(words::ask::approval())) }
            (heading(frame, ask))
            h3.pre { (visible(first_line(&ask.text))) }
            div.content {
                @if !request.cause.is_empty() {
                    p.note { (icon("info")) span { (visible(&request.cause)) } }
                }
                @if request.diff.is_empty() {
                    pre.shown tabindex="0" aria-label=(frame.say(words::ask::exactly())) {
                        (shown)
                    }
                } @else {
                    p.mono.sm { (shown) }
                    (diff(&request.diff, &shown))
                }
                p.hint { (frame.say(words::ask::in_folder(&visible(&request.folder)))) }
            }
            footer { (verdicts(frame, ask)) span.later { (frame.say(words::ask::later())) } }
            (more_answers(frame, request, &edit, &why))
        }
    };
    open(frame, ask, &inside)
}

/// Changing the call, saying no with a reason, allowing more than this once.
fn more_answers(frame: &PageFrame, request: &ApprovalCard, edit: &str, why: &str) -> Markup {
    html! {
        div.more-answers {
            @if let Some(value) = &request.editable {
                details data-key="e" {
                    summary { (icon("edit")) (frame.say(words::ask::edit())) }
                    div.field {
                        label for=(edit) { (frame.say(words::ask::edited_call())) }
                        textarea.area.mono id=(edit) name="edited" rows="2" { (spelled(value)) }
                    }
                    button.btn.sm name="choice" value="edit" {
                        (frame.say(words::ask::send_edited()))
                    }
                }
            }
            details data-key="r" {
                summary { (icon("reply")) (frame.say(words::ask::respond())) }
                div.field {
                    label for=(why) { (frame.say(words::ask::reason())) }
                    textarea.area id=(why) name="reason" rows="2" {}
                }
                button.btn.sm name="choice" value="respond_no" {
                    (frame.say(words::ask::send_no()))
                }
            }
            @if !request.scopes.is_empty() {
                details {
                    summary { (icon("repeat")) (frame.say(words::ask::always())) }
                    @for (word, meaning) in &request.scopes {
                        button.btn.sm name="choice" value={ "always:" (word) } {
                            (visible(meaning)) }
                    }
                }
            }
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_outcome_has_three_answers_each_with_its_digit() {
        let choices: Vec<&str> = settling().into_iter().map(|(choice, _)| choice).collect();
        assert_eq!(choices, ["respond:happened", "respond:not", "probe"]);
    }
}
