//! The slider through the events of a run.

use crate::layout::PageFrame;
use crate::parts::icon;
use crate::run::RunPageView;
use everloop_text::pages as words;
use maud::{Markup, html};

/// Ticks of the slider's track.
const TICKS_MAX: usize = 400;

/// Units of the track from its beginning to its end.
const WIDTH: usize = 4_000;

/// The slider through the events.
#[derive(Debug, Clone, Default)]
pub struct TravelView {
    /// The event that is looked at.
    pub at: i64,
    /// The last event.
    pub last: i64,
    /// When it happened.
    pub clock: String,
    /// When it happened, in milliseconds.
    pub moment: i64,
    /// What happened, in a sentence.
    pub sentence: String,
    /// About how many tokens a fork here sends at first.
    pub fork_tokens: Option<String>,
    /// The kind of each event, for the track.
    pub kinds: Vec<&'static str>,
}

/// The slider, and what happened at the event.
pub(crate) fn travel(frame: &PageFrame, run: &RunPageView) -> Markup {
    let travel = &run.travel;
    let fork = format!("/do/runs/{}/fork", run.head.id);
    let here = |at: i64| format!("/runs/{}?at={}", run.head.id, at.clamp(1, travel.last.max(1)));
    html! {
        div.travel id="fork" {
            div.now id="travel-now" data-live {
                a.btn.sm.icon-only href=(here(travel.at - 1)) data-travel-step="-1"
                    aria-label=(frame.say(words::run::back())) { (icon("back")) }
                a.btn.sm.icon-only href=(here(travel.at + 1)) data-travel-step="1"
                    aria-label=(frame.say(words::run::forward())) { (icon("next")) }
                b id="travel-at" { "#" (travel.at) }
                span.faint { "/ " (travel.last) " " (travel.clock) }
                span.say.clip.grow { (travel.sentence) }
                span.faint.hide-m { (frame.say(words::run::free())) }
                form.one method="post" action=(fork) data-do {
                    (frame.form(&fork).hidden())
                    input type="hidden" name="at" value=(travel.at);
                    button.btn.sm { (icon("fork")) (frame.say(words::run::fork_at(&travel.at)))
                        @if let Some(tokens) = &travel.fork_tokens {
                            span.faint { (frame.say(words::run::fork_cost(tokens))) } } }
                }
            }
            div.track {
                svg aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 4000 10"
                    id="track-marks" data-live {
                    (marks(travel))
                }
                input type="range" id="travel" min="1" max=(travel.last.max(1)) value=(travel.at)
                    aria-label=(frame.say(words::run::travel()))
                    aria-valuetext={ "#" (travel.at) " " (travel.sentence) };
            }
        }
    }
}

/// The events as ticks: one path a kind, because a run may have thousands.
fn marks(travel: &TravelView) -> Markup {
    let all = travel.kinds.len().max(1);
    let every = all.div_ceil(TICKS_MAX);
    let mut paths: Vec<(&str, String)> = Vec::new();
    for first in (0..travel.kinds.len()).step_by(every) {
        // A failure within a tick is not hidden by what stands beside it.
        let some = &travel.kinds[first..(first + every).min(travel.kinds.len())];
        let kind = if some.contains(&"fail") { "fail" } else { some[0] };
        let x = first * WIDTH / (all.max(2) - 1);
        let place = match paths.iter().position(|(known, _)| *known == kind) {
            Some(place) => place,
            None => {
                paths.push((kind, String::new()));
                paths.len() - 1
            }
        };
        paths[place].1.push_str(&format!("M{x} 3v4"));
    }
    html! { @for (kind, path) in paths { path class=(kind) d=(path) {} } }
}
