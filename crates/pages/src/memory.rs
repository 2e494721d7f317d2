//! Memory: facts with their source, proposals that wait for a decision.

use crate::layout::{PageFrame, page};
use crate::parts::icon;
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// Memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryView {
    /// What was searched for.
    pub query: String,
    /// Which facts are shown: `all`, `everywhere`, `folder` or `archived`.
    pub shown: String,
    /// How many of each.
    pub totals: [usize; 4],
    /// Whether a person is asked about what runs propose.
    pub asks: bool,
    /// Facts that wait for a decision.
    pub proposed: Vec<FactItem>,
    /// Facts that later runs are told.
    pub active: Vec<FactItem>,
    /// The fact that is chosen.
    pub chosen: Option<FactView>,
}

/// A fact of the list.
#[derive(Debug, Clone)]
pub struct FactItem {
    /// Its id.
    pub id: String,
    /// What is remembered.
    pub text: String,
    /// Where it applies and since when.
    pub line: String,
}

/// A fact in full.
#[derive(Debug, Clone)]
pub struct FactView {
    /// The fact.
    pub item: FactItem,
    /// Whether later runs are told.
    pub is_active: bool,
    /// What the person said before it was proposed.
    pub said: Option<String>,
    /// The conversation: id and title.
    pub conversation: Option<(String, String)>,
    /// Whether that conversation is kept out of memory.
    pub is_out: bool,
    /// The newest runs that were told it: id, title, when.
    pub uses: Vec<(String, String, String)>,
    /// Every change: what and when.
    pub history: Vec<(String, String)>,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, memory: &MemoryView) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar {
                (frame.menu_button()) h1 { (frame.say(words::nav::memory())) }
                span.grow {}
                a.btn.ghost.sm href="/memory/export" {
                    (icon("download")) span.hide-s { (frame.say(words::memory::export())) } }
            }
            div.banner-place id="banner" {}
            div.two {
                div.scroll { div.mem-list {
                    (tools(frame, memory))
                    div id="facts" data-live { (lists(frame, memory)) }
                } }
                aside.aside id="fact" data-live aria-label=(frame.say(words::memory::chosen())) {
                    @match &memory.chosen {
                        Some(fact) => (fact_detail(frame, fact)),
                        None => p.hint { (frame.say(words::memory::choose())) },
                    }
                }
            }
        }
    };
    page(frame, &main, None)
}

fn tools(frame: &PageFrame, memory: &MemoryView) -> Markup {
    html! {
        form.row.wrap method="get" action="/memory" role="search" {
            div.find {
                (icon("search"))
                label.vh for="fact-q" { (frame.say(words::memory::search())) }
                input.input id="fact-q" name="q" value=(memory.query)
                    placeholder=(frame.say(words::memory::search()));
            }
            button.btn { (frame.say(words::memory::search_now())) }
        }
        form.row.wrap.gap method="post" action="/do/memory/add" data-do data-keep="fact" {
            (frame.form("/do/memory/add").hidden())
            label.vh for="new-fact" { (frame.say(words::memory::add())) }
            input.input.grow id="new-fact" name="text" required maxlength="2000"
                placeholder=(frame.say(words::memory::add_hint()));
            button.btn { (icon("plus")) (frame.say(words::memory::add())) }
        }
    }
}

/// Which facts are wanted.
pub const SHOWN: [&str; 4] = ["all", "everywhere", "folder", "archived"];

fn filter(frame: &PageFrame, memory: &MemoryView) -> Markup {
    let names = [
        words::inbox::all(),
        words::memory::of_everywhere(),
        words::memory::of_folders(),
        words::memory::archived(),
    ];
    html! {
        nav.seg.gap aria-label=(frame.say(words::inbox::filter())) {
            @for ((name, label), count) in SHOWN.iter().zip(names).zip(memory.totals) {
                a href={ "/memory?show=" (name) }
                    aria-current=[(memory.shown == *name).then_some("true")] {
                    (frame.say(label)) " " (count) }
            }
        }
        @let to = "/do/settings/memory.accept/set";
        form.row.gap-s method="post" action=(to) data-do {
            (frame.form(to).hidden())
            button.switch type="submit" role="switch" name="value" aria-checked=(memory.asks)
                value=(if memory.asks { "auto" } else { "ask" }) aria-labelledby="asks" {}
            span.sm id="asks" { (frame.say(words::memory::asks_first())) }
        }
    }
}

fn lists(frame: &PageFrame, memory: &MemoryView) -> Markup {
    html! {
        (filter(frame, memory))
        @if !memory.proposed.is_empty() {
            h2.sub { (frame.say(words::memory::proposed())) " " (memory.proposed.len()) }
            @for fact in &memory.proposed {
                div.ask.gap-s {
                    h3 { a.plain href={ "/memory?fact=" (fact.id) } { (visible(&fact.text)) } }
                    p.content.hint { (fact.line) }
                    footer { (decide(frame, &fact.id, true)) }
                }
            }
        }
        @let heading = if memory.shown == "archived" { words::memory::archived() }
            else { words::memory::active() };
        h2.sub { (frame.say(heading)) " " (memory.active.len()) }
        @if memory.active.is_empty() { p.hint { (frame.say(words::memory::none())) } }
        @for fact in &memory.active {
            @let chosen = memory.chosen.as_ref().is_some_and(|one| one.item.id == fact.id);
            article.fact.sel[chosen] {
                h3 { a href={ "/memory?fact=" (fact.id) } { (visible(&fact.text)) } }
                p { (fact.line) }
            }
        }
    }
}

fn decide(frame: &PageFrame, id: &str, is_proposed: bool) -> Markup {
    let to = format!("/do/memory/{id}/decide");
    html! {
        @if is_proposed {
            (frame.form(&to).button("btn ink sm", &[("verdict", "accept")],
                html! { (frame.say(words::memory::accept())) }))
            (frame.form(&to).button("btn sm", &[("verdict", "reject")],
                html! { (frame.say(words::memory::reject())) }))
        } @else {
            (frame.form(&to).button("btn danger sm", &[("verdict", "withdraw")],
                html! { (icon("trash")) (frame.say(words::memory::withdraw())) }))
        }
    }
}

fn fact_detail(frame: &PageFrame, fact: &FactView) -> Markup {
    let edit = format!("/do/memory/{}/edit", fact.item.id);
    html! {
        p.faint.xs { (fact.item.line) }
        h2.mem-title { (visible(&fact.item.text)) }
        h3.sub { (frame.say(words::memory::source())) }
        @match (&fact.said, &fact.conversation) {
            (None, None) => p.hint { (frame.say(words::memory::by_hand())) },
            (said, conversation) => blockquote.quote {
                @if let Some(said) = said { p { (said) } }
                @if let Some((id, title)) = conversation {
                    footer { a href={ "/chat/" (id) } { (visible(title)) } }
                }
            },
        }
        @if let Some((id, _)) = &fact.conversation {
            @let to = format!("/do/chat/{id}/memory");
            form.row.gap-s method="post" action=(to) data-do {
                (frame.form(&to).hidden())
                button.switch type="submit" role="switch" name="out" aria-checked=(!fact.is_out)
                    value=(if fact.is_out { "off" } else { "on" }) aria-labelledby="may" {}
                span.sm id="may" { (frame.say(words::memory::conversation_may())) }
            }
        }
        h3.sub { (frame.say(words::memory::used_in())) " " (fact.uses.len()) }
        @if fact.uses.is_empty() { p.hint { (frame.say(words::memory::never_used())) } }
        ul.uses { @for (run, title, when) in &fact.uses {
            li { a.clip href={ "/runs/" (run) } { (visible(title)) } span { (when) } }
        } }
        h3.sub { (frame.say(words::memory::edit())) }
        form method="post" action=(edit) data-do {
            (frame.form(&edit).hidden())
            label.vh for="fact-text" { (frame.say(words::memory::edit())) }
            textarea.area id="fact-text" name="text" rows="3" required { (fact.item.text) }
            p.gap-s { button.btn.sm { (frame.say(words::memory::save())) } }
        }
        h3.sub { (frame.say(words::memory::history())) }
        ul.uses { @for (what, when) in &fact.history { li { (what) span { (when) } } } }
        div.row.gap { (decide(frame, &fact.item.id, !fact.is_active)) }
        @if fact.is_active {
            h3.sub { (frame.say(words::memory::deleting())) }
            p.hint { (frame.say(words::memory::withdraw_about())) " "
                (frame.say(words::memory::runs_stay(&fact.uses.len()))) }
        }
    }
}
