//! The models that are named, and the providers with their keys.

use crate::layout::PageFrame;
use crate::parts::{icon, state_icon};
use everloop_text::pages as words;
use maud::{Markup, html};

/// Models and providers.
#[derive(Debug, Clone, Default)]
pub struct ModelsView {
    /// The models that the settings name, in the order in which they are asked.
    pub models: Vec<ModelItem>,
    /// The providers.
    pub providers: Vec<ProviderItem>,
}

/// A model that the settings name.
#[derive(Debug, Clone)]
pub struct ModelItem {
    /// Its full name.
    pub name: String,
    /// What it is used for.
    pub role: String,
    /// What a test came to: whether each part works, and its words.
    pub test: Vec<(bool, String)>,
    /// What is wrong with it, if the test says so.
    pub trouble: Option<String>,
}

/// A provider of models.
#[derive(Debug, Clone)]
pub struct ProviderItem {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub address: String,
    /// Where its key comes from.
    pub key: Option<String>,
    /// Whether it can be asked.
    pub is_ready: bool,
    /// Whether it wants a key.
    pub wants_key: bool,
}

pub(super) fn models(frame: &PageFrame, view: &ModelsView) -> Markup {
    html! {
        p.dim { (frame.say(words::settings_page::models_about())) }
        @if view.models.is_empty() {
            p.note { (icon("info")) span { (frame.say(words::settings_page::no_model())) " "
                a href="/first" { (frame.say(words::first::add())) } } }
        } @else {
            ul.models { @for model in &view.models { (model_row(frame, model)) } }
            p { a.btn.sm href="/first" { (icon("plus")) (frame.say(words::first::add())) } }
        }
        @if !view.providers.is_empty() {
            h3.sub { (frame.say(words::settings_page::providers())) }
            ul.models { @for provider in &view.providers { (provider_row(frame, provider)) } }
        }
        h3.sub { (frame.say(words::settings_page::all_settings())) }
    }
}

fn model_row(frame: &PageFrame, model: &ModelItem) -> Markup {
    let state = match (model.test.is_empty() && model.trouble.is_none(), &model.trouble) {
        (true, _) => "pending",
        (false, None) if model.test.iter().all(|(works, _)| *works) => "succeeded",
        (false, None) => "unsettled",
        (false, Some(_)) => "failed",
    };
    html! {
        li {
            div.row.wrap {
                span.st data-s=(state) { (state_icon(state)) }
                b.mono.clip { (model.name) } span.chip { (model.role) } span.grow {}
                form.one method="post" action="/do/settings/test" data-do data-busy {
                    (frame.form("/do/settings/test").hidden())
                    input type="hidden" name="model" value=(model.name);
                    button.btn.sm data-busy-words=(frame.say(words::settings_page::testing()))
                        aria-label={ (frame.say(words::settings_page::test())) ": " (model.name) } {
                        (icon("retry")) span { (frame.say(words::settings_page::test())) }
                    }
                }
            }
            @if !model.test.is_empty() {
                p.tests { @for (works, said) in &model.test {
                    @let part = if *works { "succeeded" } else { "failed" };
                    span.st data-s=(part) { (icon(if *works { "check" } else { "x" })) (said) }
                } }
            }
            @if let Some(trouble) = &model.trouble {
                p.hint.bad role="alert" { (icon("warn")) span { (trouble) } }
            }
        }
    }
}

fn provider_row(frame: &PageFrame, provider: &ProviderItem) -> Markup {
    let state = if provider.is_ready { "succeeded" } else { "pending" };
    let to = format!("/do/providers/{}/key", provider.name);
    let id = format!("key-{}", provider.name);
    html! {
        li {
            div.row.wrap {
                span.st data-s=(state) { (state_icon(state)) }
                b { (provider.name) } span.mono.faint.clip { (provider.address) }
                span.grow {}
                span.faint.sm {
                    @match &provider.key {
                        Some(key) => (frame.say(words::settings_page::key_from(key))),
                        None if provider.wants_key => (frame.say(words::settings_page::no_key())),
                        None => (frame.say(words::settings_page::needs_no_key())),
                    }
                }
            }
            @if provider.wants_key {
                details.key-change id={ "change-" (provider.name) } {
                    summary.btn.ghost.sm { (icon("key"))
                        (frame.say(words::settings_page::enter_key())) }
                    form.row.wrap.gap-s method="post" action=(to) data-do autocomplete="off" {
                        (frame.form(&to).hidden())
                        label.vh for=(id) { (frame.say(words::settings_page::enter_key())) " "
                            (provider.name) }
                        input.input.grow id=(id) type="password" name="key" required
                            autocomplete="off" placeholder=(frame.say(words::first::paste_key()));
                        button.btn.sm { (frame.say(words::settings_page::save())) }
                    }
                    p.hint { (frame.say(words::first::key_about())) }
                }
            }
        }
    }
}
