//! What every page has around it: the side bar, the bar on top, language, theme, the palette.

use crate::assets;
use crate::parts::{ActionForm, SHARED_FORM, icon, say, state_icon};
use everloop_text::Text;
use everloop_text::pages as words;
use everloop_types::Lang;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Which entry of the navigation is current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavPlace {
    /// Chat.
    Chat,
    /// All conversations.
    Conversations,
    /// What was searched for.
    Search,
    /// The inbox.
    Inbox,
    /// Todos and schedule.
    Agenda,
    /// Runs.
    Runs,
    /// Comparisons.
    Compare,
    /// Reports.
    Reports,
    /// Memory.
    Memory,
    /// Settings.
    Settings,
    /// Health.
    Health,
}

/// What the navigation counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NavCounts {
    /// Questions that wait for a person.
    pub needs: usize,
    /// Conversations with something unread.
    pub unread: usize,
    /// Open todos that are due today or were due before.
    pub todos: usize,
    /// Facts that wait for a decision.
    pub proposals: usize,
}

/// The part of the list of conversations that one belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayGroup {
    /// Something was said today.
    Today,
    /// Yesterday.
    Yesterday,
    /// Before.
    Earlier,
}

/// A conversation of the side bar.
#[derive(Debug, Clone)]
pub struct SideConversation {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// `running`, `you`, `waiting`, `unread` or nothing.
    pub state: Option<&'static str>,
    /// When something was said last.
    pub group: DayGroup,
}

/// Everything around the content of a page.
#[derive(Debug, Clone)]
pub struct PageFrame {
    /// The language of the reader.
    pub lang: Lang,
    /// `light` or `dark`, if the reader chose one.
    pub theme: Option<&'static str>,
    /// The token that every form sends.
    pub csrf: String,
    /// The path and query of the page.
    pub path: String,
    /// The title.
    pub title: String,
    /// The current entry of the navigation.
    pub here: NavPlace,
    /// The conversation that is open.
    pub open: Option<String>,
    /// What the navigation counts.
    pub counts: NavCounts,
    /// The newest conversations.
    pub conversations: Vec<SideConversation>,
    /// The module of the page, if it has one of its own.
    pub script: Option<&'static str>,
}

impl PageFrame {
    /// Words in the reader's language.
    #[must_use]
    pub fn say(&self, text: Text) -> String {
        say(self.lang, text)
    }

    /// A form that sends to this address and comes back here.
    #[must_use]
    pub fn form<'a>(&'a self, to: &'a str) -> ActionForm<'a> {
        ActionForm { to, csrf: &self.csrf, back: &self.path }
    }

    /// The button that opens the side bar where there is no room for it.
    #[must_use]
    pub fn menu_button(&self) -> Markup {
        let flagged = self.counts.needs > 0;
        html! {
            button.btn.ghost.icon-only.menu.flagged[flagged] type="button" data-open="drawer"
                aria-label=(self.say(words::nav::open_menu())) aria-controls="side"
                aria-expanded="false" { (icon("menu")) }
        }
    }
}

fn head(
    lang: Lang,
    title: &str,
    needs: usize,
    script: Option<&str>,
    place: Option<NavPlace>,
) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover";
        meta name="color-scheme" content="light dark";
        title { @if needs > 0 { "(" (needs) ") " } (everloop_types::visible(title)) " · everloop" }
        @let favicon = if needs > 0 { "badge.svg" } else { "favicon.svg" };
        link rel="icon" id="favicon" href=(assets::url(favicon)) type="image/svg+xml";
        link rel="stylesheet" href=(assets::url("base.css"));
        @for sheet in assets::sheets(place, script) {
            link rel="stylesheet" href=(assets::url(sheet));
        }
        @if let Some(script) = script {
            script type="module" src=(assets::url(script)) data-lang=(lang.tag()) {}
        }
    }
}

/// A page without the side bar: signing in, the first visit, a problem.
#[must_use]
pub fn bare_page(lang: Lang, theme: Option<&str>, title: &str, inside: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(lang.tag()) data-theme=[theme] {
            head { (head(lang, title, 0, None, None)) }
            body { (inside) }
        }
    }
}

/// A whole page. `main` is the content of the main column, `panel` what stands right of it.
#[must_use]
pub fn page(frame: &PageFrame, main: &Markup, panel: Option<&Markup>) -> Markup {
    let script = frame.script.unwrap_or("core.js");
    html! {
        (DOCTYPE)
        html lang=(frame.lang.tag()) data-theme=[frame.theme] {
            head {
                (head(frame.lang, &frame.title, frame.counts.needs, Some(script), Some(frame.here)))
                meta name="csrf" content=(frame.csrf);
            }
            body {
                a.skip href="#main" { (frame.say(words::nav::skip())) }
                div.shell.with-panel[panel.is_some()] {
                    (side(frame))
                    (main)
                    @if let Some(panel) = panel { (panel) }
                }
                form id=(SHARED_FORM) method="post" data-do hidden {
                    (frame.form(&frame.path).hidden())
                }
                div.veil data-close="drawer" hidden {}
                (palette(frame))
                (crate::keys::dialog(frame))
                div.toasts id="toasts" role="status" {}
                div.vh id="announce" role="status" aria-live="polite" {}
                (script_words(frame))
            }
        }
    }
}

/// The words that scripts show.
fn script_words(frame: &PageFrame) -> Markup {
    html! {
        template id="words" data-lost=(frame.say(words::live::lost()))
            data-again=(frame.say(words::live::again()))
            data-retry=(frame.say(words::live::retry()))
            data-unsent=(frame.say(words::live::not_sent()))
            data-sent=(frame.say(words::live::sent_later()))
            data-failed=(frame.say(words::live::failed()))
            data-copied=(frame.say(words::live::copied()))
            data-paused=(frame.say(words::live::paused(&"#")))
            data-held=(frame.say(words::live::new_rows(&"#")))
            data-missed=(frame.say(words::live::came_meanwhile(&"#")))
            data-copy=(frame.say(words::live::copy()))
            data-complete=(frame.say(words::live::complete()))
            data-new-count=(frame.say(words::live::new_count(&"#")))
            data-queued=(frame.say(words::live::queued()))
            data-remove=(frame.say(words::live::remove()))
            data-undo=(frame.say(words::done::undo()))
            data-none=(frame.say(words::palette::none()))
            data-events=(frame.say(words::palette::events()))
            data-event=(frame.say(words::palette::event(&"#")))
            data-pages=(frame.say(words::palette::pages())) {}
    }
}

fn entry(frame: &PageFrame, place: NavPlace, to: &str, picture: &str, name: Text) -> Markup {
    let current = (frame.here == place && frame.open.is_none()).then_some("page");
    let (count, ink) = match place {
        NavPlace::Inbox if frame.counts.needs > 0 => (frame.counts.needs, true),
        NavPlace::Inbox => (frame.counts.unread, false),
        NavPlace::Agenda => (frame.counts.todos, false),
        NavPlace::Memory => (frame.counts.proposals, false),
        _ => (0, false),
    };
    html! {
        a href=(to) aria-current=[current] {
            (icon(picture)) span.grow { (frame.say(name)) }
            @if count > 0 {
                span.count.ink[ink] { (count) }
                @if ink { span.vh { (frame.say(words::nav::need_you())) } }
            }
        }
    }
}

fn side(frame: &PageFrame) -> Markup {
    html! {
        nav.side id="side" aria-label=(frame.say(words::nav::main())) {
            div.side-top {
                a.brand href="/" { (icon("mark")) span { "everloop" } }
                button.btn.ghost.sm.icon-only.side-close type="button" data-close="drawer"
                    aria-label=(frame.say(words::nav::close_menu())) { (icon("x")) }
            }
            div.nav {
                a href="/chat" data-new-chat {
                    (icon("plus")) span.grow { (frame.say(words::nav::new_chat())) }
                    kbd { "Ctrl ⇧ O" }
                }
                a href="/search" data-open="palette" {
                    (icon("search")) span.grow { (frame.say(words::nav::search())) } kbd { "Ctrl K" }
                }
            }
            div.nav.spaced id="nav-main" data-live {
                (entry(frame, NavPlace::Inbox, "/inbox", "inbox", words::nav::inbox()))
                (entry(frame, NavPlace::Agenda, "/agenda", "agenda", words::nav::agenda()))
                (entry(frame, NavPlace::Runs, "/runs", "runs", words::nav::runs()))
                (entry(frame, NavPlace::Compare, "/compare", "compare", words::nav::compare()))
                (entry(frame, NavPlace::Reports, "/reports", "report", words::nav::reports()))
                (entry(frame, NavPlace::Memory, "/memory", "memory", words::nav::memory()))
            }
            div.side-list.scroll id="side-list" data-live { (side_list(frame)) }
            (side_foot(frame))
        }
    }
}

fn side_list(frame: &PageFrame) -> Markup {
    let groups = [
        (DayGroup::Today, words::nav::today()),
        (DayGroup::Yesterday, words::nav::yesterday()),
        (DayGroup::Earlier, words::nav::earlier()),
    ];
    let all = (frame.here == NavPlace::Conversations).then_some("page");
    html! {
        @for (group, name) in groups {
            @let mut some = frame.conversations.iter().filter(|one| one.group == group).peekable();
            @if some.peek().is_some() {
                h2.nav-label { (frame.say(name)) }
                div.nav { @for one in some { (side_row(frame, one)) } }
            }
        }
        div.nav.spaced {
            a href="/conversations" aria-current=[all] {
                (icon("archive")) span.grow { (frame.say(words::nav::all_conversations())) }
            }
        }
    }
}

fn side_row(frame: &PageFrame, one: &SideConversation) -> Markup {
    let current = (frame.open.as_deref() == Some(&one.id)).then_some("page");
    let state_words = one.state.map(|state| match state {
        "running" => words::nav::working(),
        "you" => words::nav::needs_you(),
        "waiting" => words::nav::waiting(),
        _ => words::nav::unread(),
    });
    html! {
        a href={ "/chat/" (one.id) } data-s=[one.state] aria-current=[current] {
            @match one.state {
                Some(state) => (state_icon(state)),
                None => span.icon {},
            }
            span.grow.clip { (everloop_types::visible(&one.title)) }
            @if let Some(state) = state_words { span.vh { (frame.say(state)) } }
        }
    }
}

fn side_foot(frame: &PageFrame) -> Markup {
    let (other, name) = match frame.lang {
        Lang::En => ("zh-CN", words::nav::in_chinese()),
        Lang::ZhCn => ("en", words::nav::in_english()),
    };
    // A script turns the first step round where the system is dark.
    let (now, next, theme) = match frame.theme {
        Some("dark") => ("dark", "light", words::nav::theme_dark()),
        Some(_) => ("light", "auto", words::nav::theme_light()),
        None => ("auto", "dark", words::nav::theme_auto()),
    };
    let theme = frame.say(theme);
    html! {
        div.side-foot {
            div.nav {
                (entry(frame, NavPlace::Settings, "/settings", "settings", words::nav::settings()))
                (entry(frame, NavPlace::Health, "/health", "shield", words::nav::health()))
                div.foot-row {
                    form.one.grow method="post" action="/do/view" {
                        (frame.form("/do/view").hidden())
                        button name="lang" value=(other) lang=(other) {
                            (icon("globe")) span { (frame.say(name)) }
                        }
                    }
                    form.one method="post" action="/do/view" data-theme-form {
                        (frame.form("/do/view").hidden())
                        button.theme name="theme" value=(next) data-now=(now) title=(theme)
                            aria-label=(theme) { (icon("theme")) }
                    }
                }
            }
        }
    }
}

fn palette(frame: &PageFrame) -> Markup {
    let name = frame.say(words::nav::search());
    html! {
        div.veil data-close="palette" hidden {}
        div.palette id="palette" role="dialog" aria-modal="true" aria-label=(name) hidden {
            div.palette-in {
                (icon("search"))
                input type="text" role="combobox" aria-expanded="true" aria-controls="pal-list"
                    aria-label=(frame.say(words::palette::label())) autocomplete="off"
                    spellcheck="false";
                kbd { "Esc" }
            }
            div.palette-list id="pal-list" role="listbox"
                aria-label=(frame.say(words::palette::results())) {}
            p.palette-foot {
                span { kbd { "↑" } " " kbd { "↓" } " " (frame.say(words::palette::choose())) }
                span { kbd { "Enter" } " " (frame.say(words::palette::open())) }
                span { kbd { "/" } " " (frame.say(words::palette::only_commands())) }
                span { kbd { "#" } " " (frame.say(words::palette::to_event())) }
            }
        }
    }
}

/// HTML that was made by [`crate::markdown`].
pub(crate) fn rendered(html: &str) -> PreEscaped<&str> {
    PreEscaped(html)
}

/// A problem as a page.
#[must_use]
pub fn problem_page(lang: Lang, theme: Option<&str>, title: &str, detail: Option<&str>) -> Markup {
    let inside = html! {
        main.first id="main" {
            div.first-bar { a.brand href="/" { (icon("mark")) span { "everloop" } } }
            div.problem {
                h1 { (title) }
                @if let Some(detail) = detail { p.mono.dim { (detail) } }
                p { a href="/" { (say(lang, words::problem::home())) } }
            }
        }
    };
    bare_page(lang, theme, title, &inside)
}
