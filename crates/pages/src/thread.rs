//! The thread of a chat: what was said, what was answered, what works.

use crate::activity::activity;
use crate::ask::card;
use crate::assets::{ICONS, url};
use crate::chat::{AnswerBlock, ChatBlock, ChatView, EventLink, LiveRun, RunSummary, SaidBlock};
use crate::layout::{PageFrame, rendered};
use crate::parts::{icon, short_button, state_icon, state_mark};
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// A question that was answered, in one line.
#[derive(Debug, Clone)]
pub struct AnsweredLine {
    /// The id of the message that asked.
    pub id: String,
    /// The event that it became.
    pub event: Option<EventLink>,
    /// What was asked: its first line.
    pub question: String,
    /// What the answer was, as in "you allowed it once".
    pub answer: String,
    /// When, and where if it was not here.
    pub when: String,
}

/// A picture that went with a message.
#[derive(Debug, Clone)]
pub struct SentPicture {
    /// Its address.
    pub to: String,
    /// What it is called.
    pub name: String,
}

pub(crate) fn thread(frame: &PageFrame, chat: &ChatView) -> Markup {
    html! {
        @if let Some(older) = &chat.older {
            p.older { a.btn.sm href=(older) data-older { (frame.say(words::chat::older())) } }
        }
        @if chat.head.is_none() { (empty(frame)) }
        @let last = chat.blocks.iter().rposition(|block| matches!(block, ChatBlock::Said(_)));
        @for (at, block) in chat.blocks.iter().enumerate() {
            @match block {
                ChatBlock::Said(said) => {
                    @let again = said.again.as_deref().filter(|_| last == Some(at));
                    (said_block(frame, said, again))
                },
                ChatBlock::Answer(answer) => (answer_block(frame, answer)),
                ChatBlock::Answered(line) => (answered_line(frame, line)),
            }
        }
        @if let Some(reply) = &chat.reply {
            div.ev.tight { div.seq {} div.body { pre.shown tabindex="0" { (reply) } } }
        }
        @for live in &chat.live { (live_run(frame, live)) }
        @for ask in &chat.asks {
            div.ev id={ "ask-" (ask.id) } { div.seq {} div.body { (card(frame, ask)) } }
        }
    }
}

fn empty(frame: &PageFrame) -> Markup {
    html! {
        div.hello {
            h2 { (frame.say(words::chat::hello())) }
            p.dim { (frame.say(words::chat::hello_about())) }
        }
    }
}

fn margin(event: Option<&EventLink>) -> Markup {
    html! {
        div.seq {
            @if let Some(event) = event {
                a href={ "/runs/" (event.run) "?at=" (event.seq) } { "#" (event.seq) }
            }
        }
    }
}

/// Only the newest message has actions of its own; an earlier one has them below its answer.
fn said_block(frame: &PageFrame, said: &SaidBlock, again: Option<&str>) -> Markup {
    html! {
        div.ev.turn id={ "m-" (said.id) } {
            (margin(said.event.as_ref()))
            div.body {
                div.said {
                    h2.when { (frame.say(words::chat::you())) " · " (said.when) }
                    div.pre { (said.text) }
                    @if !said.pictures.is_empty() { (pictures(frame, &said.pictures)) }
                }
                @if let Some(run) = again { (said_actions(frame, run)) }
            }
        }
    }
}

/// Doing it again, or going another way from its first event on. Both cost tokens, and say so.
fn said_actions(frame: &PageFrame, run: &str) -> Markup {
    let retry = format!("/do/runs/{run}/retry");
    html! {
        div.acts.said-acts {
            (short_button(&retry, "btn ghost sm",
                &html! { (icon("retry")) (frame.say(words::run::retry())) }))
            a.btn.ghost.sm href={ "/runs/" (run) "?at=1#fork" } {
                (icon("fork")) (frame.say(words::run::fork()))
            }
            span.meta { (frame.say(words::chat::again_costs())) }
        }
    }
}

fn answer_block(frame: &PageFrame, answer: &AnswerBlock) -> Markup {
    html! {
        @if let Some(run) = &answer.run { (activity_line(frame, run)) }
        div.ev id={ "m-" (answer.id) } data-unread[answer.is_first_unread] {
            (margin(answer.event.as_ref()))
            div.body {
                @if answer.is_question {
                    div.mark-line { (icon("s-you")) div { (rendered(&answer.html)) } }
                } @else {
                    div.prose { (rendered(&answer.html)) }
                    @if answer.is_stopped {
                        p.st.sm data-s="canceled" {
                            (state_icon("canceled")) (frame.say(words::chat::stopped()))
                        }
                    }
                    @if !answer.files.is_empty() { (written(frame, &answer.files)) }
                    (answer_actions(frame, answer))
                }
            }
        }
    }
}

/// The mark that turns when a line is opened.
fn twist() -> Markup {
    html! {
        svg.icon.twist aria-hidden="true" { use href={ (url(ICONS)) "#right" } {} }
    }
}

fn activity_line(frame: &PageFrame, run: &RunSummary) -> Markup {
    html! {
        div.ev.tight {
            div.seq {}
            div.body {
                div.act-box {
                    details.activity data-activity={ "/runs/" (run.run) "/activity" }
                        id={ "act-" (run.run) } {
                        summary {
                            (twist())
                            @if run.status != "succeeded" {
                                (state_mark(run.status, &run.status_words))
                            }
                            span.clip { (visible(&run.line)) }
                        }
                        div.activity-body {}
                    }
                    a.act-link href={ "/runs/" (run.run) } {
                        (frame.say(words::chat::run_link(&run.short)))
                    }
                }
            }
        }
    }
}

fn answer_actions(frame: &PageFrame, answer: &AnswerBlock) -> Markup {
    html! {
        div.acts {
            button.btn.ghost.sm type="button" data-copy={ "m-" (answer.id) } {
                (icon("copy")) (frame.say(words::live::copy()))
            }
            @if let Some(run) = &answer.run {
                @if run.can_retry {
                    @let to = format!("/do/runs/{}/retry", run.run);
                    (short_button(&to, "btn ghost sm",
                        &html! { (icon("retry")) (frame.say(words::run::retry())) }))
                }
                @if let Some(event) = &answer.event {
                    a.btn.ghost.sm href={ "/runs/" (event.run) "?at=" (event.seq) "#fork" } {
                        (icon("fork")) (frame.say(words::run::fork()))
                    }
                }
            }
            span.meta { (answer.when) }
        }
    }
}

fn live_run(frame: &PageFrame, live: &LiveRun) -> Markup {
    let stop = format!("/do/runs/{}/cancel", live.run);
    html! {
        div.ev.tight.live id={ "live-" (live.run) } data-run=(live.run) data-last=(live.last)
            data-state=(live.state) {
            div.seq { a href={ "/runs/" (live.run) "?at=" (live.last) } { "#" (live.last) } }
            div.body {
                div.act-box {
                    details.activity open id={ "live-act-" (live.run) } {
                        summary {
                            (twist())
                            span.st data-s=(live.state) { (state_icon(live.state)) }
                            span.clip { (visible(&live.line)) }
                        }
                        div.activity-body { (activity(frame, &live.rows)) }
                    }
                    a.act-link href={ "/runs/" (live.run) } {
                        (frame.say(words::chat::run_link(&live.short)))
                    }
                }
                div.acts {
                    (short_button(&stop, "btn sm",
                        &html! { (icon("stop")) (frame.say(words::chat::stop())) }))
                }
            }
        }
    }
}

/// One line is left of a card: what was asked, what was answered, when and where.
fn answered_line(frame: &PageFrame, line: &AnsweredLine) -> Markup {
    html! {
        div.ev.tight id={ "m-" (line.id) } {
            (margin(line.event.as_ref()))
            div.body {
                p.mark-line.answered {
                    (icon("check"))
                    span { span.vh { (frame.say(words::chat::asked())) " " }
                        (visible(&line.question)) " — " b { (visible(&line.answer)) }
                        span.faint { " · " (line.when) } }
                }
            }
        }
    }
}

fn pictures(frame: &PageFrame, all: &[SentPicture]) -> Markup {
    html! {
        ul.sent-files aria-label=(frame.say(words::chat::sent_files())) {
            @for one in all {
                li { a.chip href=(one.to) {
                    img src=(one.to) alt="" loading="lazy"; span.clip { (visible(&one.name)) } } }
            }
        }
    }
}

fn written(frame: &PageFrame, all: &[(String, String)]) -> Markup {
    html! {
        ul.sent-files aria-label=(frame.say(words::files::of_run())) {
            @for (name, to) in all {
                li { a.chip href=(to) { (icon("file")) span.clip { (visible(name)) } } } }
        }
    }
}
