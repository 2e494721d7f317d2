//! What stands beside a chat: the plan, other work, what the run used.

use crate::ask::card;
use crate::chat::ChatView;
use crate::layout::PageFrame;
use crate::parts::{icon, state_icon};
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// A plan, a list of steps, or a round.
#[derive(Debug, Clone)]
pub struct PlanView {
    /// Plan v2, Round 1 of 3, To-do.
    pub title: String,
    /// Its items: state and text.
    pub items: Vec<(&'static str, String)>,
    /// How long each item took, as far as it is known.
    pub times: Vec<String>,
    /// What changed last.
    pub note: Option<String>,
    /// The run.
    pub run: String,
}

/// Work that goes on beside this conversation.
#[derive(Debug, Clone)]
pub struct BackgroundRow {
    /// The run.
    pub run: String,
    /// What it is called.
    pub title: String,
    /// Its state.
    pub state: &'static str,
    /// The word for it.
    pub words: String,
    /// When it is tried again, if it waits for that.
    pub next_try: Option<String>,
}

/// The panel of a chat.
pub(crate) fn panel(frame: &PageFrame, chat: &ChatView) -> Markup {
    html! {
        aside.panel id="panel" aria-label=(frame.say(words::chat::panel())) {
            div id="panel-live" data-live {
                div.panel-close.only-m {
                    button.btn.ghost.sm.icon-only type="button" data-close="drawer"
                        aria-label=(frame.say(words::nav::close())) { (icon("x")) }
                }
                @match &chat.plan {
                    Some(plan) => (plan_section(frame, plan)),
                    None => section {
                        div.panel-head { h2 { (frame.say(words::chat::plan())) } }
                        p.hint { (frame.say(words::chat::no_plan())) }
                    },
                }
                @if !chat.asks_elsewhere.is_empty() { (elsewhere(frame, chat)) }
                (background(frame, &chat.background))
                @if !chat.used.is_empty() {
                    section {
                        div.panel-head { h2 { (frame.say(words::chat::used())) } }
                        dl.facts.sm {
                            @for (name, value) in &chat.used { dt { (name) } dd { (value) } }
                        }
                    }
                }
            }
        }
    }
}

/// The plan as a list.
#[must_use]
pub fn plan_list(plan: &PlanView) -> Markup {
    html! {
        ol.plan {
            @for (at, (state, text)) in plan.items.iter().enumerate() {
                @let is_current = matches!(*state, "running" | "waiting");
                li data-s=(state) aria-current=[is_current.then_some("step")] {
                    (state_icon(state)) span { (visible(text)) }
                    @if let Some(took) = plan.times.get(at).filter(|took| !took.is_empty()) {
                        span.num { (took) }
                    }
                }
            }
        }
    }
}

fn plan_section(frame: &PageFrame, plan: &PlanView) -> Markup {
    let done = plan.items.iter().filter(|(state, _)| *state == "succeeded").count();
    let label = frame.say(words::chat::steps_done(&done, &plan.items.len()));
    html! {
        section {
            div.panel-head {
                h2 { (plan.title) }
                span.grow { a.mono href={ "/runs/" (plan.run) } { (frame.say(words::chat::trace())) } }
            }
            div.segbar role="img" aria-label=(label) {
                @for (state, _) in &plan.items { i data-s=(state) {} }
            }
            (plan_list(plan))
            @if let Some(note) = &plan.note {
                p.mark-line { (icon("edit")) span { (visible(note)) } } }
        }
    }
}

/// What runs of other conversations ask. It can be answered here.
fn elsewhere(frame: &PageFrame, chat: &ChatView) -> Markup {
    let (asks, more) = (&chat.asks_elsewhere, chat.more_elsewhere);
    html! {
        section.elsewhere id="asks-elsewhere" {
            div.panel-head {
                h2 { (frame.say(words::chat::asks_elsewhere())) }
                span.count.ink { (asks.len() + more) }
            }
            @for ask in asks {
                @if let Some((id, title)) = &ask.conversation {
                    p.ask-of { a href={ "/chat/" (id) "#card-" (ask.id) } { (visible(title)) } }
                }
                (card(frame, ask))
            }
            @if more > 0 {
                p.ask-of { a href="/inbox?part=needs" {
                    (frame.say(words::chat::asks_more(&more))) } }
            }
        }
    }
}

fn background(frame: &PageFrame, rows: &[BackgroundRow]) -> Markup {
    html! {
        section {
            div.panel-head {
                h2 { (frame.say(words::chat::background())) }
                @if !rows.is_empty() { span.count { (rows.len()) } }
                span.grow { a href="/inbox" { (frame.say(words::chat::all())) } }
            }
            @if rows.is_empty() { p.hint { (frame.say(words::chat::nothing_else())) } }
            @for row in rows {
                div.bg data-s=(row.state) {
                    (state_icon(row.state))
                    a.clip.plain href={ "/runs/" (row.run) } { (visible(&row.title)) }
                    span.num.faint.xs { (row.words) }
                    @if let Some(when) = &row.next_try {
                        span.meter.wait aria-hidden="true" {}
                        small { (frame.say(words::chat::next_try(when))) }
                    }
                }
            }
        }
    }
}
