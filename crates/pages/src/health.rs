//! Health: what was looked at, and how many runs there are.

use crate::layout::{PageFrame, page};
use crate::parts::{icon, state_icon};
use everloop_text::pages as words;
use maud::{Markup, html};

/// Health.
#[derive(Debug, Clone, Default)]
pub struct HealthView {
    /// What was looked at: whether it is well, its name, what was seen.
    pub checks: Vec<(bool, String, String)>,
    /// What the doctor saw, if it was asked.
    pub doctor: Option<Vec<DoctorLine>>,
    /// The processes that drive runs.
    pub workers: Vec<String>,
    /// How many runs have each status.
    pub runs: Vec<(&'static str, String, i64)>,
}

/// One thing that the doctor looked at.
#[derive(Debug, Clone)]
pub struct DoctorLine {
    /// `succeeded`, `unsettled` or `failed`.
    pub state: &'static str,
    /// What it is.
    pub name: String,
    /// What was seen.
    pub seen: String,
    /// What mends it.
    pub advice: Option<String>,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, health: &HealthView) -> Markup {
    let name = frame.say(words::nav::health());
    let main = html! {
        main.main id="main" {
            header.bar { (frame.menu_button()) h1 { (name) } }
            div.banner-place id="banner" {}
            div.scroll tabindex="0" role="region" aria-label=(name) {
                div.page id="health" data-live {
                    h2.sub { (frame.say(words::health::checks())) }
                    ul.checks {
                        @for (well, name, seen) in &health.checks {
                            @let state = if *well { "succeeded" } else { "failed" };
                            li data-s=(state) {
                                (state_icon(state)) b { (name) } span.dim { (seen) }
                            }
                        }
                    }
                    h2.sub { (frame.say(words::nav::runs())) }
                    @if health.runs.is_empty() { p.hint { (frame.say(words::run::none())) } }
                    ul.checks {
                        @for (state, name, count) in &health.runs {
                            li data-s=(state) {
                                (state_icon(state)) b { (name) } span.num { (count) }
                            }
                        }
                    }
                    @if !health.workers.is_empty() {
                        h2.sub { (frame.say(words::health::workers())) }
                        ul.checks { @for worker in &health.workers { li.mono.sm { (worker) } } }
                    }
                    @match &health.doctor {
                        None => p.gap { a.btn href="/health?doctor=1" {
                            (icon("shield")) (frame.say(words::health::doctor())) } },
                        Some(lines) => {
                            h2.sub { (frame.say(words::health::doctor_saw())) }
                            ul.checks { @for line in lines {
                                li data-s=(line.state) { (state_icon(line.state)) b { (line.name) }
                                    span.dim { (line.seen)
                                        @if let Some(advice) = &line.advice {
                                            span.block.hint { (advice) } } } }
                            } }
                        }
                    }
                    p.hint.gap { (frame.say(words::health::more())) " " code { "everloop doctor" } }
                }
            }
        }
    };
    page(frame, &main, None)
}
