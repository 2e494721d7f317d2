//! The first visit: what works now, before what is missing, and how to add a model.

use crate::agenda::{QuickAdd, quick};
use crate::layout::{PageFrame, page};
use crate::parts::{icon, state_icon};
use everloop_text::pages as words;
use maud::{Markup, html};

/// The first visit.
#[derive(Debug, Clone, Default)]
pub struct FirstVisit {
    /// A server of this machine: provider, address, models.
    pub local: Option<LocalOffer>,
    /// The providers that can be chosen: name and label.
    pub providers: Vec<(String, String)>,
    /// What was typed last, but for the key.
    pub typed: TypedModel,
    /// The problem with the last try.
    pub problem: Option<String>,
    /// Where the data is.
    pub folder: String,
}

/// A model server of this machine.
#[derive(Debug, Clone)]
pub struct LocalOffer {
    /// Who it is.
    pub provider: String,
    /// Where it listens.
    pub address: String,
    /// What it offers.
    pub models: Vec<String>,
}

/// What was typed about a model.
#[derive(Debug, Clone, Default)]
pub struct TypedModel {
    /// The provider.
    pub provider: String,
    /// The address.
    pub url: String,
    /// The name.
    pub name: String,
    /// Whether the name is meant although nobody offers it.
    pub is_doubted: bool,
    /// Whether it is of this machine.
    pub is_local: bool,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, visit: &FirstVisit) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar { (frame.menu_button()) span.grow {} }
            div.banner-place id="banner" {}
            div.scroll { div.first {
                div.first-grid {
                    (works(frame))
                    section.choose aria-labelledby="ways-title" id="ways" data-live {
                        (ways(frame, visit))
                    }
                }
                footer.first-foot {
                    span { (icon("db")) (frame.say(words::first::foot_data(&visit.folder))) }
                    span { (icon("eye")) (frame.say(words::first::foot_quiet())) }
                }
            } }
        }
    };
    page(frame, &main, None)
}

fn works(frame: &PageFrame) -> Markup {
    html! {
        section {
            h1 { (frame.say(words::first::hero_1())) br; (frame.say(words::first::hero_2())) }
            p.first-lede { (frame.say(words::first::lede())) }
            (ledger(frame))
            h2 { (frame.say(words::first::works())) }
            (quick(frame, &QuickAdd::default()))
            div id="told" data-live {}
            ul.ready {
                li { (icon("check")) a href="/agenda" { (frame.say(words::first::agenda())) } }
                li { (icon("check")) span { (frame.say(words::first::sentences())) } }
                li { (icon("check")) a href="/agenda#files" { (frame.say(words::first::imports())) } }
            }
        }
    }
}

/// Three steps, a process that dies, and the next step of another one.
pub(crate) fn ledger(frame: &PageFrame) -> Markup {
    html! {
        svg.ledger viewBox="0 0 420 112" role="img" aria-label=(frame.say(words::first::scene())) {
            path.base d="M6 56h408" {}
            g.done { @for x in [30, 102, 174, 282] { circle cx=(x) cy="56" r="6" {} } }
            rect.gap x="196" y="38" width="58" height="36" {}
            path.hatch d="M196 62l12 -12M208 62l12 -12M220 62l12 -12M232 62l12 -12M244 62l10 -10" {}
            path.kill d="M196 30v52" {}
            circle.live cx="354" cy="56" r="6" {}
            g.t { @for (at, x) in [30, 102, 174, 282, 354].into_iter().enumerate() {
                text x=(x) y="90" { "#" (at + 1) } } }
            text.say x="196" y="20" { "kill -9" }
            text.say x="282" y="20" { (frame.say(words::first::goes_on())) }
        }
    }
}

fn ways(frame: &PageFrame, visit: &FirstVisit) -> Markup {
    let is_local = visit.typed.is_local;
    html! {
        h2 id="ways-title" { (frame.say(words::first::add_title())) }
        p.dim.sm { (frame.say(words::first::add_about())) }
        ol.ways {
            @match &visit.local {
                Some(local) => (of_this_machine(frame, visit, local, is_local)),
                None => li.way { div.row { (icon("model"))
                    h3.grow { (frame.say(words::first::local())) } }
                    p { (frame.say(words::first::none_local())) } },
            }
            (with_key(frame, visit, is_local))
            li.way.plain { div.row { (icon("arrow"))
                h3.grow { a href="/agenda" { (frame.say(words::first::later())) } } } }
            li.way.plain { div.row { (icon("play"))
                h3.grow { a href="/tour" { (frame.say(words::first::tour())) } }
                span.faint.sm { (frame.say(words::first::tour_about())) } } }
        }
    }
}

fn problem(visit: &FirstVisit, id: &str, is_here: bool) -> Markup {
    html! {
        @if let Some(said) = visit.problem.as_ref().filter(|_| is_here) {
            p.hint.bad role="alert" id=(id) { (icon("warn")) span { (said) } }
        }
    }
}

fn of_this_machine(
    frame: &PageFrame,
    visit: &FirstVisit,
    local: &LocalOffer,
    is_here: bool,
) -> Markup {
    html! {
        li.way.pick {
            div.row {
                (icon("model")) h3.grow { (frame.say(words::first::local())) }
                span.st.sm data-s="succeeded" { (state_icon("succeeded"))
                    (frame.say(words::first::local_found(&local.models.len()))) }
            }
            p { (frame.say(words::first::local_at(&local.provider, &local.address))) }
            form.row.wrap.gap method="post" action="/do/first/local" data-do data-busy {
                (frame.form("/do/first/local").hidden())
                input type="hidden" name="provider" value=(local.provider);
                input type="hidden" name="url" value=(local.address);
                label.vh for="local-model" { (frame.say(words::first::model())) }
                select.select.grow id="local-model" name="model" {
                    @for name in &local.models {
                        option value=(name) selected[visit.typed.name == *name] { (name) }
                    }
                }
                button.btn.ink data-busy-words=(frame.say(words::settings_page::testing())) {
                    span { (frame.say(words::first::use_it())) } }
            }
            (problem(visit, "local-problem", is_here))
        }
    }
}

fn with_key(frame: &PageFrame, visit: &FirstVisit, is_local: bool) -> Markup {
    let typed = if is_local { &TypedModel::default() } else { &visit.typed };
    let bad = (visit.problem.is_some() && !is_local).then_some("key-problem");
    html! {
        li.way.pick[visit.local.is_none()] {
            div.row { (icon("key")) h3.grow { (frame.say(words::first::keyed())) } }
            p { (frame.say(words::first::key_about())) }
            form.gap method="post" action="/do/first/model" data-do data-busy autocomplete="off" {
                (frame.form("/do/first/model").hidden())
                @if typed.is_doubted { input type="hidden" name="insists" value=(typed.name); }
                div.fields {
                    div.field {
                        label for="provider" { (frame.say(words::first::provider())) }
                        select.select id="provider" name="provider" {
                            @for (name, label) in &visit.providers {
                                option value=(name) selected[typed.provider == *name] { (label) }
                            }
                            option value="custom" selected[typed.provider == "custom"] {
                                (frame.say(words::first::custom())) }
                        }
                    }
                    div.field {
                        label for="key" { (frame.say(words::first::key())) }
                        input.input id="key" type="password" name="key" autocomplete="off"
                            spellcheck="false" placeholder=(frame.say(words::first::paste_key()));
                    }
                    div.field {
                        label for="model" { (frame.say(words::first::model())) }
                        input.input id="model" name="model" value=(typed.name) spellcheck="false"
                            autocomplete="off" aria-describedby=[bad]
                            placeholder=(frame.say(words::first::model_hint()));
                    }
                    div.field {
                        label for="url" { (frame.say(words::first::address())) }
                        input.input id="url" name="url" value=(typed.url) inputmode="url"
                            spellcheck="false" autocomplete="off"
                            placeholder="http://127.0.0.1:8080/v1";
                    }
                }
                (problem(visit, "key-problem", !is_local))
                p.gap-s {
                    button.btn.ink[visit.local.is_none()]
                        data-busy-words=(frame.say(words::settings_page::testing())) {
                        span { (frame.say(words::first::use_it())) } }
                }
            }
        }
    }
}
