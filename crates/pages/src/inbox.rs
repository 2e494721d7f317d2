//! The inbox: what needs a person, what is unread, what runs, what failed.

use crate::ask::{AskCard, card};
use crate::layout::{PageFrame, page};
use crate::parts::{SHARED_FORM, icon, state_icon};
use everloop_text::Text;
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// The inbox.
#[derive(Debug, Clone, Default)]
pub struct InboxView {
    /// Which part is shown: `all`, `needs`, `unread`, `running` or `failed`.
    pub part: String,
    /// Questions that wait for a person.
    pub needs: InboxGroup,
    /// The question that is shown whole.
    pub open: Option<AskCard>,
    /// Conversations with something unread.
    pub unread: InboxGroup,
    /// Runs that have not ended.
    pub running: InboxGroup,
    /// Runs that did not end well.
    pub failed: InboxGroup,
    /// Runs of schedules, by schedule.
    pub schedules: Vec<ScheduleFold>,
    /// What an answer came to.
    pub told: Option<String>,
}

/// One page of a group of the inbox.
#[derive(Debug, Clone, Default)]
pub struct InboxGroup {
    /// How many there are; nothing on a later page of what is not counted.
    pub count: String,
    /// The rows of this page.
    pub rows: Vec<InboxRow>,
    /// The address of the next page.
    pub more: Option<String>,
}

/// A row of the inbox.
#[derive(Debug, Clone, Default)]
pub struct InboxRow {
    /// Where it leads.
    pub to: String,
    /// What it is called.
    pub title: String,
    /// Its state.
    pub state: &'static str,
    /// When it changed.
    pub when: String,
    /// What there is to say about it.
    pub line: String,
    /// What can be done.
    pub actions: Vec<InboxAction>,
    /// Whether it is shown whole beside the list.
    pub is_open: bool,
}

/// What can be done about a row.
#[derive(Debug, Clone)]
pub struct InboxAction {
    /// Where to.
    pub to: String,
    /// The words.
    pub name: String,
    /// What is said when it was done.
    pub done: String,
    /// The address that takes it back, if it can be.
    pub undo: Option<String>,
    /// The key that does it while the row has the focus.
    pub key: Option<&'static str>,
}

/// The runs of one schedule.
#[derive(Debug, Clone)]
pub struct ScheduleFold {
    /// What it is called.
    pub title: String,
    /// Its last runs, the oldest first.
    pub strip: Vec<FiringMark>,
    /// Its last runs in one sentence.
    pub line: String,
    /// The state of the last one.
    pub state: &'static str,
}

/// A run of a schedule, as small as a mark.
#[derive(Debug, Clone)]
pub struct FiringMark {
    /// The state of it.
    pub state: &'static str,
    /// When it was due, and its state in words.
    pub words: String,
    /// Where it leads.
    pub to: String,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, inbox: &InboxView) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar {
                (frame.menu_button())
                h1 { (frame.say(words::nav::inbox())) }
                span.grow {}
                (crate::keys::notify_button(frame))
                (frame.form("/do/inbox/read").button("btn ghost sm", &[],
                    html! { (icon("check")) span.hide-s { (frame.say(words::inbox::all_read())) } }))
            }
            div.banner-place id="banner" {}
            div.tools id="inbox-parts" data-live { (parts(frame, inbox)) }
            div.two {
                div.scroll.inbox-list id="inbox" data-live {
                    @if let Some(told) = &inbox.told {
                        p.note role="status" { (icon("info")) span { (told) } }
                    }
                    (groups(frame, inbox))
                }
                aside.aside id="request" data-live
                    aria-label=(frame.say(words::inbox::request())) { (request(frame, inbox)) }
            }
        }
    };
    page(frame, &main, None)
}

fn parts(frame: &PageFrame, inbox: &InboxView) -> Markup {
    let all = [
        ("all", words::inbox::all(), ""),
        ("needs", words::inbox::needs(), inbox.needs.count.as_str()),
        ("unread", words::inbox::unread(), inbox.unread.count.as_str()),
        ("running", words::inbox::running(), inbox.running.count.as_str()),
        ("failed", words::inbox::failed(), inbox.failed.count.as_str()),
    ];
    html! {
        nav.seg aria-label=(frame.say(words::inbox::filter())) {
            @for (part, name, count) in all {
                a href={ "/inbox?part=" (part) }
                    aria-current=[(inbox.part == part).then_some("true")] {
                    (frame.say(name))
                    @if !matches!(count, "" | "0") {
                        " " span.count.ink[part == "needs"] { (count) } }
                }
            }
        }
    }
}

fn groups(frame: &PageFrame, inbox: &InboxView) -> Markup {
    let all = [
        ("needs", words::inbox::needs(), &inbox.needs),
        ("unread", words::inbox::unread(), &inbox.unread),
        ("running", words::inbox::running(), &inbox.running),
        ("failed", words::inbox::failed(), &inbox.failed),
    ];
    let nothing = all.iter().all(|(_, _, group)| group.rows.is_empty());
    html! {
        @for (part, name, group) in all {
            @if inbox.part == "all" || inbox.part == part {
                @if !group.rows.is_empty() || inbox.part == "needs" {
                    (label(frame, name, &group.count))
                }
                @for row in &group.rows { (inbox_row(row)) }
                @if let Some(more) = &group.more {
                    p.pager { a.btn.sm href=(more) { (frame.say(words::inbox::more())) } }
                }
            }
        }
        (schedules(frame, inbox))
        @if nothing {
            div.page { div.empty {
                h2 { (frame.say(words::inbox::empty())) }
                p { (frame.say(words::inbox::empty_about())) }
                a.btn.ink href="/chat" { (frame.say(words::nav::new_chat())) }
            } }
        }
    }
}

fn label(frame: &PageFrame, name: Text, count: &str) -> Markup {
    html! { div.group-label { h2 { (frame.say(name)) } span { (count) } } }
}

fn inbox_row(row: &InboxRow) -> Markup {
    html! {
        article.item.sel[row.is_open] data-s=(row.state) {
            (state_icon(row.state))
            h3 {
                a href=(row.to) aria-current=[row.is_open.then_some("true")] {
                    (visible(&row.title)) }
            }
            span.when { (row.when) }
            @if !row.line.is_empty() { p.clamp { (visible(&row.line)) } }
            @if !row.actions.is_empty() {
                div.do {
                    @for action in &row.actions {
                        button.btn.sm form=(SHARED_FORM) formaction=(action.to)
                            data-key=[action.key] data-done=(action.done)
                            data-undo=[action.undo.as_ref().map(|_| "")]
                            data-undo-to=[action.undo.as_ref()] { (action.name) }
                    }
                }
            }
        }
    }
}

/// The whole request: what is asked, when, where, the exact arguments.
fn request(frame: &PageFrame, inbox: &InboxView) -> Markup {
    html! {
        @match &inbox.open {
            None => p.hint { (frame.say(words::inbox::nothing_open())) },
            Some(ask) => {
                p.request-of {
                    @if let Some((id, title)) = &ask.conversation {
                        a href={ "/chat/" (id) "#ask-" (ask.id) } { (visible(title)) } " · "
                    }
                    a.mono href={ "/runs/" (ask.run) } { (ask.short_run) }
                }
                (card(frame, ask))
            },
        }
    }
}

fn schedules(frame: &PageFrame, inbox: &InboxView) -> Markup {
    let is_shown = |fold: &&ScheduleFold| match inbox.part.as_str() {
        "all" => true,
        "failed" => matches!(fold.state, "failed" | "unsettled" | "quarantined"),
        _ => false,
    };
    let folds: Vec<&ScheduleFold> = inbox.schedules.iter().filter(is_shown).collect();
    html! {
        @if !folds.is_empty() {
            (label(frame, words::inbox::schedules(), &folds.len().to_string()))
            @for fold in folds {
                article.item.schedule data-s=(fold.state) {
                    @match fold.state {
                        "succeeded" => (icon("repeat")),
                        state => (state_icon(state)),
                    }
                    h3 { a href="/agenda" { (visible(&fold.title)) } }
                    span.strip {
                        @for mark in &fold.strip {
                            a data-s=(mark.state) href=(mark.to) aria-label=(mark.words)
                                title=(mark.words) {}
                        }
                    }
                    p { (fold.line) }
                }
            }
        }
    }
}
