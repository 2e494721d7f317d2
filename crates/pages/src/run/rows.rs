//! The rows of the waterfall. Each is short, because a run may have thousands of events.

use super::{FILTERS, RunPageView, WaterfallStep, percent};
use crate::assets;
use crate::layout::PageFrame;
use crate::parts::{duration, icon, in_column, state_icon};
use crate::waterfall::{StepKind, TimeAxis, TimeSpan};
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// An item of the plan, as a bracket over the steps that were for it.
#[derive(Debug, Clone)]
pub struct WaterfallGroup {
    /// The first event of its steps.
    pub seq: i64,
    /// Its number and its words.
    pub name: String,
    /// How it ended.
    pub state: &'static str,
    /// From its first step to the end of the last one.
    pub span: TimeSpan,
    /// How long its steps took.
    pub took: i64,
}

pub(super) fn waterfall(frame: &PageFrame, run: &RunPageView) -> Markup {
    let mut spans: Vec<TimeSpan> = run.steps.iter().map(|step| step.span).collect();
    let begin = spans.iter().map(|span| span.from).min().unwrap_or(0);
    // The first page begins with its run, whatever its first step waited for.
    let before = if run.turn.0.is_some() { begin - run.begin } else { 0 };
    let end = spans.iter().map(|span| span.to).max().unwrap_or(0);
    let gap = run.gap.filter(|gap| gap.from >= begin && gap.to <= end);
    let axis = if run.is_unfolded {
        TimeAxis::unfolded(&spans, gap)
    } else {
        spans.extend(gap);
        TimeAxis::of(&spans)
    };
    html! {
        (waterfall_defs(run, &axis))
        table.wf {
            caption.vh { (frame.say(words::run::waterfall())) }
            colgroup { col.n; col; col.d; }
            thead { tr {
                th scope="col" { (frame.say(words::run::step())) }
                th scope="col" {
                    span.vh { (frame.say(words::run::when())) }
                    svg.axis-line aria-hidden="true" {
                        @for at in axis.ticks() {
                            text x=(percent(axis.place(begin + at))) y="22" {
                                @if before + at == 0 { "0" }
                                @else { (duration(frame.lang, before + at)) }
                            }
                        }
                        @for (place, length) in axis.breaks() {
                            text.brk x=(percent(place)) y="22" {
                                "⌇ " (duration(frame.lang, length)) }
                        }
                    }
                }
                th.num scope="col" { (frame.say(words::run::took())) }
            } }
            tbody {
                @for (at, step) in run.steps.iter().enumerate() {
                    @let before = at.checked_sub(1).and_then(|at| run.steps[at].under);
                    @if let Some(group) = step.under.filter(|_| step.under != before) {
                        (group_row(frame, run, &axis, &run.groups[group])) }
                    (waterfall_row(frame, run, &axis, step))
                }
            }
        }
        @if run.steps.is_empty() { p.page.hint { (frame.say(words::run::no_steps())) } }
        (pager(frame, run))
    }
}

/// What rows share, so that each of them is short: icons, crashes, the place that is looked at.
fn waterfall_defs(run: &RunPageView, axis: &TimeAxis) -> Markup {
    let crashes = run.steps.iter().filter(|step| step.kind == StepKind::Recovery);
    let is_past = run.travel.at < run.travel.last;
    html! {
        svg.defs aria-hidden="true" width="0" height="0" {
            defs {
                pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)" { rect.hatch width="1.4" height="5" {} }
                @for picture in ["model", "tool", "clock", "list", "retry", "fork"] {
                    g id={ "w-" (picture) } {
                        use href={ (assets::url(assets::ICONS)) "#" (picture) } width="14"
                            height="14" {}
                    }
                }
                symbol id="w-b" viewBox="0 0 9 5" preserveAspectRatio="none" overflow="visible" {
                    path d="M0 5V0H9V5" vector-effect="non-scaling-stroke" {} }
                symbol id="w-o" viewBox="0 0 9 9" preserveAspectRatio="none" overflow="visible" {
                    path d="M9 0H0V9H9" vector-effect="non-scaling-stroke" {} }
                path id="w-t" d="M0 0l-2.5 2 2.5 2-2.5 2 2.5 2-2.5 2 2.5 2" {}
                g id="w-g" {
                    @for crash in crashes {
                        @let (from, to) = (axis.place(crash.span.from), axis.place(crash.span.to));
                        rect.crash x=(percent(from)) width=(percent((to - from).max(0.6)))
                            height="27" {}
                    }
                    @if is_past {
                        @let x = percent(axis.place(run.travel.moment));
                        line.head x1=(x) x2=(x) y2="27" {}
                    }
                }
            }
        }
    }
}

fn pager(frame: &PageFrame, run: &RunPageView) -> Markup {
    let (earlier, later) = &run.turn;
    let total = run.totals[FILTERS.iter().position(|name| *name == run.filter).unwrap_or(0)];
    html! {
        @if earlier.is_some() || later.is_some() {
            nav.row.wrap.pager aria-label=(frame.say(words::run::pages())) {
                span.faint.sm.num { (run.place.0) " – " (run.place.1) " / " (total) }
                @if let Some(to) = earlier {
                    a.btn.sm href=(to) { (icon("left")) (frame.say(words::run::earlier_steps())) }
                }
                @if let Some(to) = later {
                    a.btn.sm href=(to) { (frame.say(words::run::more_steps())) (icon("right")) }
                }
            }
        }
    }
}

fn waterfall_row(
    frame: &PageFrame,
    run: &RunPageView,
    axis: &TimeAxis,
    step: &WaterfallStep,
) -> Markup {
    let is_chosen = run.chosen.as_ref().is_some_and(|chosen| chosen.seq == step.seq);
    let is_later = step.seq > run.travel.at;
    let class = match step.state {
        "failed" => "fail",
        "unsettled" => "open",
        "canceled" if step.kind == StepKind::Tool => "lost",
        // Whoever is waited for, nothing works: no color.
        "waiting" => "wait",
        _ => step.kind.class(),
    };
    let (from, to) = (axis.place(step.span.from), axis.place(step.span.to));
    let picture = match step.kind {
        StepKind::Model => "model",
        StepKind::Tool => "tool",
        StepKind::Wait => "clock",
        StepKind::Plan => "list",
        StepKind::Recovery => "retry",
        StepKind::Child => "fork",
    };
    let is_odd = matches!(step.state, "failed" | "unsettled" | "running" | "waiting");
    let odd = is_odd.then_some(step.state);
    let word = odd.and_then(words::status::named).map(|word| frame.say(word));
    let marks = [(is_chosen, "sel"), (is_later, "future"), (step.under.is_some(), "in")];
    let marks: Vec<_> = marks.iter().filter_map(|(is, mark)| is.then_some(*mark)).collect();
    html! {
        tr class=[(!marks.is_empty()).then(|| marks.join(" "))] {
            th scope="row" {
                a.wf-name href={ "?step=" (step.seq) (run.keep) }
                    aria-current=[is_chosen.then_some("true")] data-step data-s=[odd] {
                    svg.icon aria-hidden="true" { use href={ "#w-" (picture) } {} }
                    span { (visible(&step.name)) } i { (visible(&step.note)) }
                }
            }
            td { svg.wt aria-hidden="true" { use href="#w-g" {} (bar(class, from, to)) } }
            td.num {
                @if let Some(word) = word { span.vh { (word) " " } }
                (in_column(frame.lang, step.span.to - step.span.from))
            }
        }
    }
}

/// A bar. What was cut off has a torn end, what is unknown has none.
fn bar(class: &str, from: f64, to: f64) -> Markup {
    let (x, width) = (percent(from), percent((to - from).max(0.4)));
    html! {
        @if matches!(class, "lost" | "open") {
            use class={ "wb " (class) } href="#w-o" x=(x) width=(width) height="12" {}
            @if class == "lost" {
                use.tear href="#w-t" x=(percent(from + (to - from).max(0.4))) {} }
        } @else { rect class={ "wb " (class) } x=(x) width=(width) {} }
    }
}

fn group_row(
    frame: &PageFrame,
    run: &RunPageView,
    axis: &TimeAxis,
    group: &WaterfallGroup,
) -> Markup {
    let (from, to) = (axis.place(group.span.from), axis.place(group.span.to));
    let word = words::status::named(group.state).map(|word| frame.say(word));
    html! {
        tr.group.future[group.seq > run.travel.at] data-s=(group.state) {
            th scope="row" { div.wf-name { (state_icon(group.state))
                span.clip { (visible(&group.name)) }
                @if let Some(word) = word { span.vh { (word) } } } }
            td { svg.wt aria-hidden="true" { use href="#w-g" {}
                use.wb.group href="#w-b" x=(percent(from)) width=(percent((to - from).max(0.4)))
                    height="5" {} } }
            td.num { (in_column(frame.lang, group.took)) }
        }
    }
}
