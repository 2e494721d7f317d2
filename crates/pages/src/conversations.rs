//! All conversations: found again, archived, deleted.

use crate::layout::{PageFrame, page};
use crate::parts::{SHARED_FORM, icon, state_icon};
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// The list.
#[derive(Debug, Clone, Default)]
pub struct ConversationsView {
    /// What was searched for.
    pub query: String,
    /// Whether the archive is shown.
    pub archived: bool,
    /// The conversations of this page.
    pub rows: Vec<ConversationItem>,
    /// The address of the next page.
    pub more: Option<String>,
}

/// A conversation of the list.
#[derive(Debug, Clone)]
pub struct ConversationItem {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Whether something in it is unread.
    pub is_unread: bool,
    /// `running`, `you`, `waiting`, `unread` or nothing.
    pub state: Option<&'static str>,
    /// When something was said last.
    pub when: String,
    /// Its folder and where it comes from.
    pub line: String,
    /// Where the words of a search were found.
    pub excerpt: Option<String>,
    /// How many messages it has.
    pub messages: i64,
    /// Whether it is archived.
    pub archived: bool,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, list: &ConversationsView) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar { (frame.menu_button()) h1 { (frame.say(words::conversations::title())) } }
            div.banner-place id="banner" {}
            (tools(frame, list))
            div.scroll id="conversations" data-live { (rows(frame, list)) }
        }
    };
    page(frame, &main, None)
}

fn tools(frame: &PageFrame, list: &ConversationsView) -> Markup {
    let part = |archived: bool| (list.archived == archived).then_some("true");
    html! {
        div.tools.wrap {
            nav.seg aria-label=(frame.say(words::conversations::which())) {
                a href="/conversations" aria-current=[part(false)] {
                    (frame.say(words::conversations::current()))
                }
                a href="/conversations?archived=yes" aria-current=[part(true)] {
                    (frame.say(words::conversations::archived()))
                }
            }
            form.row method="get" action="/conversations" role="search" {
                @if list.archived { input type="hidden" name="archived" value="yes"; }
                div.find {
                    (icon("search"))
                    label.vh for="conversation-q" { (frame.say(words::conversations::find())) }
                    input.input id="conversation-q" name="q" value=(list.query) type="search"
                        placeholder=(frame.say(words::conversations::find()));
                }
                button.btn { (frame.say(words::conversations::find_now())) }
            }
        }
    }
}

fn rows(frame: &PageFrame, list: &ConversationsView) -> Markup {
    html! {
        @if list.rows.is_empty() {
            div.page { div.empty {
                @if list.query.is_empty() {
                    h2 { (frame.say(words::conversations::none())) }
                    p { (frame.say(words::conversations::none_about())) }
                } @else {
                    h2 { (frame.say(words::conversations::not_found(&list.query))) }
                }
                a.btn.ink href="/chat" { (frame.say(words::nav::new_chat())) }
            } }
        }
        @for one in &list.rows { (row(frame, one)) }
        @if let Some(more) = &list.more {
            p.page { a.btn.sm href=(more) { (frame.say(words::conversations::more())) } }
        }
    }
}

fn row(frame: &PageFrame, one: &ConversationItem) -> Markup {
    let archive = format!("/do/chat/{}/archive", one.id);
    let (archived, name, done) = match one.archived {
        true => ("no", words::chat::unarchive(), words::done::unarchived()),
        false => ("yes", words::chat::archive(), words::done::archived()),
    };
    let back = if one.archived { "archived=yes" } else { "archived=no" };
    html! {
        article.item.read[one.state.is_none()] data-s=[one.state] {
            @match one.state {
                Some(state) => (state_icon(state)),
                None => (icon("chat")),
            }
            h2 { a href={ "/chat/" (one.id) } { (visible(&one.title)) } }
            span.when { (one.when) }
            p { (frame.say(words::conversations::count(&one.messages)))
                @if !one.line.is_empty() { " · " (one.line) } }
            @if let Some(excerpt) = &one.excerpt { p.clamp { (visible(excerpt)) } }
            div.do {
                (read(frame, one))
                button.btn.ghost.sm form=(SHARED_FORM) formaction=(archive) name="archived"
                    value=(archived) data-done=(frame.say(done)) data-undo=(back) {
                    (icon("archive")) (frame.say(name)) }
                (delete(frame, one))
            }
        }
    }
}

/// Marks a conversation as read, or as unread: the key `u` turns it round.
fn read(frame: &PageFrame, one: &ConversationItem) -> Markup {
    let (verb, back, name) = match one.is_unread {
        true => ("read", "unread", words::inbox::mark_read()),
        false => ("unread", "read", words::chat::mark_unread()),
    };
    let to = |verb: &str| format!("/do/chat/{}/{verb}", one.id);
    let done = if one.is_unread { words::done::read() } else { words::done::unread() };
    html! {
        button.btn.ghost.sm form=(SHARED_FORM) formaction=(to(verb)) data-key="u"
            data-done=(frame.say(done)) data-undo="" data-undo-to=(to(back)) {
            (icon("s-unread")) (frame.say(name)) }
    }
}

fn delete(frame: &PageFrame, one: &ConversationItem) -> Markup {
    let to = format!("/do/chat/{}/delete", one.id);
    html! {
        details.confirm id={ "delete-" (one.id) } {
            summary.btn.ghost.sm { (icon("trash")) (frame.say(words::conversations::delete())) }
            div.confirm-body {
                p { (frame.say(words::conversations::delete_about(&one.messages))) }
                button.btn.danger.sm form=(SHARED_FORM) formaction=(to)
                    data-done=(frame.say(words::done::deleted())) {
                    (frame.say(words::conversations::delete_now())) }
            }
        }
    }
}
