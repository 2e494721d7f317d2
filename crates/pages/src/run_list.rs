//! The list of runs.

use crate::layout::{PageFrame, page};
use crate::parts::state_icon;
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// The page.
#[must_use]
pub fn list(frame: &PageFrame, rows: &[RunRowView], more: Option<&str>) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar { (frame.menu_button()) h1 { (frame.say(words::nav::runs())) } }
            div.banner-place id="banner" {}
            div.scroll id="runs" data-live {
                @if rows.is_empty() {
                    div.page { div.empty {
                        h2 { (frame.say(words::run::none())) }
                        p { (frame.say(words::run::none_about())) }
                        a.btn.ink href="/chat" { (frame.say(words::nav::new_chat())) }
                    } }
                }
                @for row in rows {
                    article.item.read data-s=(row.state) {
                        (state_icon(row.state))
                        h2 { a href={ "/runs/" (row.id) } { (visible(&row.title)) } }
                        span.when { (row.when) }
                        p { span { (row.words) } " · " span.mono { (row.loop_name) } " · "
                            (frame.say(words::run::events_count(&row.events))) }
                    }
                }
                @if let Some(more) = more {
                    p.page { a.btn.sm href=(more) { (frame.say(words::run::older_runs())) } }
                }
            }
        }
    };
    page(frame, &main, None)
}

/// A run of the list.
#[derive(Debug, Clone)]
pub struct RunRowView {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Its status.
    pub state: &'static str,
    /// The word for it.
    pub words: String,
    /// Its loop.
    pub loop_name: String,
    /// How many events it has.
    pub events: i64,
    /// When it changed.
    pub when: String,
}
