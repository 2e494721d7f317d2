//! What was found, by kind.

use crate::layout::{PageFrame, page};
use crate::parts::icon;
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// Things of one kind.
#[derive(Debug, Clone)]
pub struct FoundGroup {
    /// What they are.
    pub name: String,
    /// The things.
    pub items: Vec<FoundItem>,
}

/// One thing.
#[derive(Debug, Clone)]
pub struct FoundItem {
    /// Where it is.
    pub to: String,
    /// What it is called.
    pub name: String,
    /// What there is to say about it.
    pub about: Option<String>,
    /// The command that it is, if it is one.
    pub command: Option<String>,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, asked: &str, groups: &[FoundGroup]) -> Markup {
    let name = frame.say(words::nav::search());
    let main = html! {
        main.main id="main" {
            header.bar { (frame.menu_button()) h1 { (name) } }
            div.banner-place id="banner" {}
            div.scroll { div.page {
                form.row method="get" action="/search" role="search" {
                    label.vh for="q" { (frame.say(words::palette::label())) }
                    input.input id="q" name="q" type="search" value=(asked);
                    button.btn { (icon("search")) (name) }
                }
                @for group in groups {
                    section.found-group data-name=(group.name) {
                        h2.nav-label { (group.name) }
                        ul.found { @for item in &group.items {
                            li { a href=(item.to) data-say=[item.command.as_ref()] {
                                (visible(&item.name)) }
                                @if let Some(about) = &item.about { p.clamp { (visible(about)) } } }
                        } }
                    }
                }
                @if groups.is_empty() { p.hint { (frame.say(words::palette::none())) } }
            } }
        }
    };
    page(frame, &main, None)
}
