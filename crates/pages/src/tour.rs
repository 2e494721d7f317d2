//! The tour, scene by scene as it is played.

use crate::first::ledger;
use crate::layout::{PageFrame, page, rendered};
use crate::parts::{icon, state_icon};
use everloop_text::pages as words;
use maud::{Markup, html};

/// The tour.
#[derive(Debug, Clone, Default)]
pub struct TourView {
    /// The scenes that have begun.
    pub scenes: Vec<TourSceneView>,
    /// Whether it goes on.
    pub is_playing: bool,
    /// Why it broke off.
    pub trouble: Option<String>,
}

/// A scene.
#[derive(Debug, Clone)]
pub struct TourSceneView {
    /// What it is about.
    pub title: String,
    /// What was shown.
    pub lines: Vec<TourLine>,
}

/// Something that the tour shows.
#[derive(Debug, Clone)]
pub enum TourLine {
    /// A command that is run.
    Command(String),
    /// What a command printed.
    Output(String),
    /// What the model answered, as HTML that was made of Markdown.
    Answer(String),
    /// A process was killed.
    Killed(String),
    /// What is to be seen.
    Remark(String),
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, tour: &TourView) -> Markup {
    let playing = if tour.is_playing { "yes" } else { "no" };
    let label = match (tour.is_playing, tour.scenes.is_empty()) {
        (true, _) => words::first::tour_plays(),
        (false, true) => words::first::tour_start(),
        (false, false) => words::first::tour_again(),
    };
    let main = html! {
        main.main id="main" {
            header.bar { (frame.menu_button()) h1 { (frame.say(words::first::tour())) } }
            div.banner-place id="banner" {}
            div.scroll { div.page.tour id="tour" data-live data-playing=(playing) {
                p.dim { (frame.say(words::first::tour_about())) }
                @if tour.is_playing {
                    p.st data-s="running" { (state_icon("running")) (frame.say(label)) }
                } @else {
                    (frame.form("/do/tour").button("btn ink", &[],
                        html! { (icon("play")) (frame.say(label)) }))
                }
                @for scene in &tour.scenes {
                    section {
                        h2.sub { (scene.title) }
                        @for line in &scene.lines { (shown(frame, line)) }
                    }
                }
                @if let Some(trouble) = &tour.trouble {
                    p.hint.bad { (icon("warn")) span { (trouble) } }
                }
                @if !tour.is_playing && !tour.scenes.is_empty() {
                    p.gap { a.btn href="/first" { (frame.say(words::first::add())) } }
                }
            } }
        }
    };
    page(frame, &main, None)
}

fn shown(frame: &PageFrame, line: &TourLine) -> Markup {
    html! {
        @match line {
            TourLine::Command(text) => div.code { pre tabindex="0" { "$ " (text) } },
            TourLine::Output(text) => @if !text.is_empty() { pre.tour-out tabindex="0" { (text) } },
            TourLine::Answer(html) => div.prose { (rendered(html)) },
            TourLine::Killed(text) => {
                p.hint.bad { (icon("warn")) span { (text) } }
                (ledger(frame))
            }
            TourLine::Remark(text) => p { b { (text) } },
        }
    }
}
