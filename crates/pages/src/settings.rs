//! Settings: a row a setting, with a control by its type and the layer that decided it; beside them
//! what belongs to a section (models, tools, skills, MCP servers, approvals, audit).

mod audit;
mod catalogs;
mod models;

pub use audit::{AuditFilter, AuditItem, AuditView};
pub use catalogs::{
    ApprovalItem, ApprovalsView, CatalogItem, CatalogView, ServerItem, ServerToolItem,
};
pub use models::{ModelItem, ModelsView, ProviderItem};

use crate::layout::{PageFrame, page};
use crate::parts::{coded, icon};
use everloop_text::pages as words;
use maud::{Markup, html};

/// Settings.
#[derive(Debug, Clone)]
pub struct SettingsView {
    /// The sections: name, and what people call it.
    pub sections: Vec<(String, String)>,
    /// The name of the section that is shown.
    pub section: String,
    /// Its settings.
    pub items: Vec<SettingRowView>,
    /// What belongs to it beside them.
    pub part: SettingsPart,
    /// The file that changes are written to.
    pub file: String,
    /// What a change came to.
    pub told: Option<String>,
}

/// What belongs to a section beside its settings.
#[derive(Debug, Clone)]
pub enum SettingsPart {
    /// Nothing.
    Nothing,
    /// Models and providers.
    Models(ModelsView),
    /// Approvals that stand.
    Approvals(ApprovalsView),
    /// Tools or skills.
    Catalog(CatalogView),
    /// MCP servers.
    Servers(Vec<ServerItem>),
    /// Calls and changes.
    Audit(AuditView),
}

/// A setting.
#[derive(Debug, Clone)]
pub struct SettingRowView {
    /// Its key.
    pub key: String,
    /// What people call it.
    pub name: String,
    /// What else is to be said of it.
    pub about: String,
    /// How it is changed.
    pub control: SettingControl,
    /// What decided it: `default`, the name of the file, of a variable or of a flag.
    pub origin: String,
    /// Whether a variable or a flag decides it, so that the file does not count now.
    pub is_overridden: bool,
    /// Whether the file has it.
    pub is_in_file: bool,
    /// Whether it counts from the next start on.
    pub needs_restart: bool,
    /// What is wrong with what was typed.
    pub problem: Option<String>,
}

/// How a setting is changed. Values are without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingControl {
    /// On or off.
    Switch(bool),
    /// One of some words: the word, and all.
    Choice(String, Vec<String>),
    /// A number, with its least, its most and whether it has a point.
    Number {
        /// As it stands.
        value: String,
        /// The least and the most.
        range: Option<(String, String)>,
        /// Whether digits after the point count.
        is_decimal: bool,
    },
    /// A number with a unit.
    Measure {
        /// The number.
        number: String,
        /// Its unit.
        unit: String,
        /// All units.
        units: Vec<&'static str>,
    },
    /// A text, and what one looks like.
    Line(String, String),
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, settings: &SettingsView) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar {
                (frame.menu_button()) h1 { (frame.say(words::nav::settings())) }
                span.grow {}
                a.btn.ghost.sm href="/health" {
                    (icon("shield")) span.hide-s { (frame.say(words::nav::health())) }
                }
            }
            div.banner-place id="banner" {}
            div.scroll { div.set {
                (contents(frame, settings))
                div.set-main {
                    div id="set-main" data-live { (section(frame, settings)) }
                    @if settings.section == "ui" { (crate::keys::notify_section(frame)) }
                    @if settings.section == "server" { (sign_out(frame)) }
                }
            } }
        }
    };
    page(frame, &main, None)
}

/// A program that shows the token has no session to end.
fn sign_out(frame: &PageFrame) -> Markup {
    html! {
        @if !frame.csrf.is_empty() {
            // The next page is another one, so no script sends it.
            form.gap method="post" action="/do/signout" {
                (frame.form("/do/signout").hidden())
                button.btn { (frame.say(words::signin::out())) }
            }
        }
    }
}

fn contents(frame: &PageFrame, settings: &SettingsView) -> Markup {
    html! {
        nav.set-nav aria-label=(frame.say(words::settings_page::sections())) {
            @for (name, label) in &settings.sections {
                a href={ "/settings?section=" (name) }
                    aria-current=[(settings.section == *name).then_some("true")] { (label) }
            }
        }
    }
}

fn section(frame: &PageFrame, settings: &SettingsView) -> Markup {
    let named = settings.sections.iter().find(|(name, _)| *name == settings.section);
    let label = named.map_or(settings.section.as_str(), |(_, label)| label.as_str());
    html! {
        section {
            h2 { (label) }
            @if let Some(told) = &settings.told {
                p.note.over.told role="status" { (icon("check")) span { (told) } }
            }
            @match &settings.part {
                SettingsPart::Nothing => {},
                SettingsPart::Models(view) => (models::models(frame, view)),
                SettingsPart::Approvals(view) => (catalogs::approvals(frame, view)),
                SettingsPart::Catalog(view) => (catalogs::catalog(frame, view)),
                SettingsPart::Servers(all) => (catalogs::servers(frame, all)),
                SettingsPart::Audit(view) => (audit::audit(frame, view)),
            }
            @for item in &settings.items { (row(frame, item)) }
            @if !settings.items.is_empty() {
                p.hint.gap { (frame.say(words::settings_page::file(&settings.file))) }
            }
        }
    }
}

fn row(frame: &PageFrame, item: &SettingRowView) -> Markup {
    let field = format!("set-{}", item.key);
    let problem = format!("bad-{}", item.key);
    html! {
        div.srow id={ "row-" (item.key) } {
            div {
                @if matches!(item.control, SettingControl::Switch(_)) {
                    span id=(field) { (coded(&item.name)) }
                } @else {
                    label for=(field) { (coded(&item.name)) }
                }
                @if !item.about.is_empty() { p.hint { (coded(&item.about)) } }
            }
            div.ctl {
                (control(frame, item, &field, &problem))
                @if let Some(said) = &item.problem {
                    p.hint.bad id=(problem) role="alert" { (icon("warn")) span { (said) } }
                }
                p.origin { span.mono { (item.key) } span { "· " (item.origin) } }
                @if item.is_overridden {
                    p.hint { (frame.say(words::settings_page::overridden(&item.origin))) }
                }
                @if item.needs_restart {
                    p.hint { (frame.say(words::settings_page::restart())) }
                }
            }
        }
    }
}

fn control(frame: &PageFrame, item: &SettingRowView, field: &str, problem: &str) -> Markup {
    let to = format!("/do/settings/{}/set", item.key);
    if let SettingControl::Switch(is_on) = item.control {
        let next = if is_on { "off" } else { "on" };
        return html! {
            form.one method="post" action=(to) data-do {
                (frame.form(&to).hidden())
                button.switch type="submit" role="switch" name="value" value=(next)
                    aria-checked=(is_on) aria-labelledby=(field) {}
            }
        };
    }
    let clear = format!("/do/settings/{}/unset", item.key);
    html! {
        div.row.top {
            form.row.grow method="post" action=(to) novalidate data-do {
                (frame.form(&to).hidden())
                (input(item, field, problem))
                button.btn.sm
                    aria-label={ (frame.say(words::settings_page::save())) ": " (item.name) }
                    { (frame.say(words::settings_page::save())) }
            }
            @if item.is_in_file {
                form.one method="post" action=(clear) data-do {
                    (frame.form(&clear).hidden())
                    button.btn.ghost.sm.icon-only aria-label={
                        (frame.say(words::settings_page::reset())) ": " (item.name) }
                        title=(frame.say(words::settings_page::reset())) { (icon("undo")) }
                }
            }
        }
    }
}

fn input(item: &SettingRowView, field: &str, problem: &str) -> Markup {
    let bad = item.problem.as_ref().map(|_| "true");
    let why = item.problem.as_ref().map(|_| problem);
    html! {
        @match &item.control {
            SettingControl::Switch(_) => {},
            SettingControl::Choice(value, all) => {
                select.select id=(field) name="value" aria-invalid=[bad] aria-describedby=[why] {
                    @for word in all { option value=(word) selected[word == value] { (word) } }
                }
            }
            SettingControl::Number { value, range, is_decimal } => {
                input.input.num-in id=(field) name="value" type="text" value=(value)
                    inputmode=(if *is_decimal { "decimal" } else { "numeric" })
                    autocomplete="off" aria-invalid=[bad] aria-describedby=[why];
                @if let Some((least, most)) = range {
                    span.faint.sm.nowrap { (least) " – " (most) }
                }
            }
            SettingControl::Measure { number, unit, units } => {
                input.input.num-in id=(field) name="value" type="text" value=(number)
                    inputmode="numeric" autocomplete="off" aria-invalid=[bad]
                    aria-describedby=[why];
                select.select.unit name="unit" aria-label={ (item.key) " unit" } {
                    @for word in units { option value=(word) selected[word == unit] { (word) } }
                }
            }
            SettingControl::Line(value, example) => {
                input.input.mono id=(field) name="value" value=(value) placeholder=(example)
                    autocomplete="off" spellcheck="false" aria-invalid=[bad]
                    aria-describedby=[why];
            }
        }
    }
}
