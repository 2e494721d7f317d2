//! A run: what happened when, the exact input and output of a step, and its state at any event.

mod rows;

pub use rows::WaterfallGroup;

use crate::chat::{PlanView, plan_list};
use crate::layout::{PageFrame, page};
use crate::parts::{icon, state_icon, state_mark};
pub use crate::travel::TravelView;
use crate::travel::travel;
use crate::waterfall::{StepKind, TimeSpan};
use everloop_text::pages as words;
use everloop_types::{spelled, visible};
use maud::{Markup, html};

/// What can be shown of the steps: all, calls of the model, of tools, waits, what failed.
pub const FILTERS: [&str; 5] = ["all", "model", "tool", "wait", "failed"];

/// A run.
#[derive(Debug, Clone)]
pub struct RunPageView {
    /// What stands above.
    pub head: RunHead,
    /// Which steps are shown: `all`, `model`, `tool`, `wait` or `failed`.
    pub filter: String,
    /// How many of each: all, model, tool, wait, failed.
    pub totals: [usize; 5],
    /// The steps of this page.
    pub steps: Vec<WaterfallStep>,
    /// The items of the plan that steps stand under.
    pub groups: Vec<WaterfallGroup>,
    /// Which of the steps of the filter these are: first and last, from 1.
    pub place: (usize, usize),
    /// The address of the page with earlier steps, and of that with later ones.
    pub turn: (Option<String>, Option<String>),
    /// What links on this page keep: filter, place, waits.
    pub keep: String,
    /// Whether long waits have their whole length.
    pub is_unfolded: bool,
    /// How far before this page something had happened: the beginning of the run.
    pub begin: i64,
    /// A stretch in which the run was not there: between what a fork took over and its own work.
    pub gap: Option<TimeSpan>,
    /// The step that is chosen.
    pub chosen: Option<StepDetail>,
    /// The state at the event that is looked at.
    pub state: StateView,
    /// The slider.
    pub travel: TravelView,
    /// What a verification found, if one was asked for.
    pub verdict: Option<String>,
}

/// What stands above a run.
#[derive(Debug, Clone)]
pub struct RunHead {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Its status.
    pub status: &'static str,
    /// The word for it.
    pub status_words: String,
    /// Its conversation.
    pub conversation: (String, String),
    /// Names and values: when, how long, tokens, loop, model.
    pub stats: Vec<(String, String)>,
    /// Whether it has ended.
    pub is_over: bool,
    /// The loops that it can go on under.
    pub loops: Vec<String>,
    /// Calls whose outcome nobody knows: the effect and its words.
    pub unknowns: Vec<(String, String)>,
    /// Related runs: what they are, and their ids.
    pub related: Vec<(String, String)>,
    /// Work and waiting, in percent of the whole, and in words.
    pub share: Option<(f64, String)>,
    /// How often it went on after its driver had died.
    pub recovered: usize,
    /// Why nothing drives it any more, if it was set aside.
    pub set_aside: Option<String>,
    /// What somebody said of such calls: a line each.
    pub settled: Vec<String>,
    /// The question that it waits for; it is answered on its conversation's page.
    pub asks: Option<String>,
}

/// A bar of the waterfall.
#[derive(Debug, Clone)]
pub struct WaterfallStep {
    /// Its first event.
    pub seq: i64,
    /// What it is.
    pub kind: StepKind,
    /// What it is called.
    pub name: String,
    /// What is said beside it.
    pub note: String,
    /// How it ended; `running` while it has not.
    pub state: &'static str,
    /// The group that it stands under.
    pub under: Option<usize>,
    /// When it began and ended.
    pub span: TimeSpan,
}

/// A step in full.
#[derive(Debug, Clone)]
pub struct StepDetail {
    /// Its first event.
    pub seq: i64,
    /// Its last event.
    pub last: i64,
    /// What it is called.
    pub name: String,
    /// How it ended.
    pub state: &'static str,
    /// The word for it.
    pub state_words: String,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// Attempts: state, words.
    pub tries: Vec<(&'static str, String)>,
    /// What went in.
    pub input: String,
    /// What came out.
    pub output: String,
    /// The change of a file.
    pub diff: Vec<String>,
    /// Whether input and output are cut; all of them can be had as files.
    pub is_cut: (bool, bool),
    /// That the prompt is the one that was sent, or that nobody can say so.
    pub exact: Option<String>,
}

/// The state of a run at an event.
#[derive(Debug, Clone, Default)]
pub struct StateView {
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// The plan then.
    pub plan: Option<PlanView>,
    /// The versions of the plan until then.
    pub versions: Vec<u32>,
    /// The two that are compared.
    pub compared: (u32, u32),
    /// Their difference: lines of a diff.
    pub plan_diff: Vec<String>,
    /// What had been said by then.
    pub message: String,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, run: &RunPageView) -> Markup {
    let main = html! {
        main.main.run id="main" data-run=(run.head.id) data-last=(run.travel.last)
            data-over=[run.head.is_over.then_some("yes")] {
            div id="run-head" data-live { (head(frame, run)) }
            div.tools id="run-tools" data-live { (tools(frame, run)) }
            div.split id="run-split" data-live {
                div.wf-box tabindex="0" role="region"
                    aria-label=(frame.say(words::run::waterfall())) {
                    (rows::waterfall(frame, run))
                }
                (detail(frame, run))
            }
            (travel(frame, run))
        }
    };
    page(frame, &main, None)
}

fn head(frame: &PageFrame, run: &RunPageView) -> Markup {
    let head = &run.head;
    html! {
        header.run-head {
            div.row {
                (frame.menu_button())
                div.grow {
                    p.crumbs {
                        a.clip href={ "/chat/" (head.conversation.0) } {
                            (visible(&head.conversation.1)) }
                        (icon("right")) span.mono.clip { (head.id) }
                    }
                    div.row.wrap {
                        h1.clip { (visible(&head.title)) }
                        (state_mark(head.status, &head.status_words))
                        @if head.recovered > 0 { span.chip { (icon("retry"))
                            (frame.say(words::run::recovered_times(&head.recovered))) } }
                    }
                }
                (head_actions(frame, head))
            }
            div.banner-place id="banner" {}
            dl.stats {
                @if let Some((worked, said)) = &head.share {
                    div.share {
                        dt.vh { (frame.say(words::run::worked())) }
                        dd { svg.share-bar aria-hidden="true" {
                                rect.wait width="100%" height="100%" {}
                                rect.work width=(percent(*worked)) height="100%" {} }
                            (said) }
                    }
                }
                @for (name, value) in &head.stats { div { dt { (name) } dd { (value) } } }
                @for (name, id) in &head.related {
                    div { dt { (name) } dd { a.mono href={ "/runs/" (id) } { (tail(id)) } } }
                }
            }
            (unknowns(frame, head))
            @for said in &head.settled {
                p.note { (icon("check")) span { (visible(said)) } }
            }
            @if let Some(said) = &head.set_aside {
                p.note data-s="quarantined" { (state_icon("quarantined")) span { (said) } }
            }
            @if let Some(verdict) = &run.verdict {
                p.note role="status" { (icon("shield")) span { (visible(verdict)) } }
            }
        }
    }
}

fn tail(id: &str) -> &str {
    &id[id.len().saturating_sub(6)..]
}

fn unknowns(frame: &PageFrame, head: &RunHead) -> Markup {
    let to = format!("/do/runs/{}/settle", head.id);
    html! {
        @for (effect, call) in &head.unknowns {
            article.call data-s="unsettled" aria-label=(frame.say(words::run::unknown())) {
                header {
                    (state_icon("unsettled")) span.mono.clip.grow { (visible(call)) }
                    span.st.sm data-s="unsettled" { (frame.say(words::run::unknown())) }
                }
                p.dim.pad { (frame.say(words::run::unknown_about())) }
                footer {
                    @for (verdict, name) in [("happened", words::ask::happened()),
                        ("not", words::ask::did_not()), ("probe", words::run::look_first())] {
                        (frame.form(&to).button("btn sm", &[("effect", effect),
                            ("verdict", verdict)], html! { (frame.say(name)) }))
                    }
                }
            }
        }
    }
}

fn head_actions(frame: &PageFrame, head: &RunHead) -> Markup {
    let to = |verb: &str| format!("/do/runs/{}/{verb}", head.id);
    html! {
        div.row.head-do {
            @if let Some(question) = &head.asks {
                a.btn.ink href={ "/chat/" (head.conversation.0) "#card-" (head.id) "." (question) } {
                    (frame.say(words::run::answer_now())) }
            }
            @if head.is_over {
                (frame.form(&to("retry")).button("btn", &[],
                    html! { (icon("retry")) span.hide-s { (frame.say(words::run::retry())) } }))
            } @else {
                (frame.form(&to("cancel")).button("btn", &[],
                    html! { (icon("stop")) span.hide-s { (frame.say(words::chat::stop())) } }))
            }
            details.pop {
                summary.btn.ghost.icon-only aria-label=(frame.say(words::chat::more())) {
                    (icon("more"))
                }
                div.pop-body {
                    a.btn.sm href={ "/runs/" (head.id) "?verify=1" } {
                        (icon("shield")) (frame.say(words::run::verify()))
                    }
                    a.btn.sm href={ "/runs/" (head.id) "/files" } {
                        (icon("file")) (frame.say(words::files::of_run()))
                    }
                    a.btn.sm href={ "/compare?a=" (head.id) } {
                        (icon("compare")) (frame.say(words::compare::with_run()))
                    }
                    @for (format, name) in [("jsonl", words::run::export_events()),
                        ("json", words::run::export_run()), ("md", words::run::export_story())] {
                        a.btn.sm href={ "/runs/" (head.id) "/export?format=" (format) } {
                            (icon("download")) (frame.say(name)) }
                    }
                    @if !head.is_over { (switch_form(frame, head)) }
                }
            }
        }
    }
}

fn switch_form(frame: &PageFrame, head: &RunHead) -> Markup {
    let to = format!("/do/runs/{}/switch", head.id);
    html! {
        form method="post" action=(to) data-do {
            (frame.form(&to).hidden())
            div.field {
                label for="switch" { (frame.say(words::run::switch())) }
                select.select id="switch" name="loop" {
                    @for name in &head.loops { option value=(name) { (name) } }
                }
            }
            button.btn.sm { (frame.say(words::run::switch_now())) }
        }
    }
}

fn tools(frame: &PageFrame, run: &RunPageView) -> Markup {
    let names = [
        ("all", words::inbox::all()),
        ("model", words::run::model()),
        ("tool", words::run::tool()),
        ("wait", words::run::wait()),
        ("failed", words::inbox::failed()),
    ];
    html! {
        nav.seg aria-label=(frame.say(words::inbox::filter())) {
            @for ((part, name), count) in names.into_iter().zip(run.totals) {
                a href={ "/runs/" (run.head.id) "?show=" (part) }
                    aria-current=[(run.filter == part).then_some("true")] {
                    (frame.say(name)) " " (count)
                }
            }
        }
        span.grow {}
        div.legend.hide-m aria-hidden="true" {
            @for (class, name) in [("model", words::run::model()), ("tool", words::run::tool()),
                ("wait", words::run::wait()), ("fail", words::inbox::failed())] {
                span { svg.key { rect class={ "wb " (class) } width="100%" height="100%" rx="2" {} }
                    (frame.say(name)) }
            }
            span { svg.key { use.wb.lost href="#w-o" width="100%" height="100%" {} }
                (frame.say(words::run::cut_off())) }
        }
        @let fold = if run.is_unfolded { "" } else { "&fold=0" };
        a.btn.ghost.sm href={ "/runs/" (run.head.id) "?show=" (run.filter) (fold) }
            aria-pressed=(!run.is_unfolded) role="button" {
            (icon("break")) span.hide-s { (frame.say(words::run::fold_waits())) }
        }
        button.btn.ghost.sm type="button" data-pause aria-pressed="false" {
            (icon("pause")) (frame.say(words::run::pause()))
        }
    }
}

pub(crate) fn percent(value: f64) -> String {
    format!("{value:.2}%")
}

fn detail(frame: &PageFrame, run: &RunPageView) -> Markup {
    html! {
        aside.detail aria-label=(frame.say(words::run::detail())) {
            div.scroll tabindex="0" {
                @match &run.chosen {
                    Some(step) => (step_detail(frame, run, step)),
                    None => (state_detail(frame, run)),
                }
            }
        }
    }
}

fn shown(
    frame: &PageFrame,
    name: everloop_text::Text,
    text: &str,
    id: &str,
    whole: Option<&str>,
) -> Markup {
    html! {
        @if !text.is_empty() {
            section {
                h3 { span.grow { (frame.say(name)) }
                    @if let Some(whole) = whole {
                        a.btn.ghost.sm href=(whole) { (icon("download"))
                            (frame.say(words::run::show_all())) }
                    }
                    button.btn.ghost.sm type="button" data-copy=(id) {
                        (icon("copy")) (frame.say(words::live::copy())) } }
                div.code { pre id=(id) tabindex="0" { (spelled(text)) } }
            }
        }
    }
}

fn step_detail(frame: &PageFrame, run: &RunPageView, step: &StepDetail) -> Markup {
    html! {
        div {
            div.row {
                h2.grow.clip { b { (visible(&step.name)) } }
                (state_mark(step.state, &step.state_words))
                a.btn.ghost.sm.icon-only href={ "/runs/" (run.head.id) "?show=" (run.filter) }
                    aria-label=(frame.say(words::nav::close())) { (icon("x")) }
            }
            dl.facts.sm {
                @for (name, value) in &step.facts { dt { (name) } dd { (value) } }
                dt { (frame.say(words::run::events())) }
                dd {
                    a href={ "/runs/" (run.head.id) "?at=" (step.seq) } { "#" (step.seq) } "–"
                    a href={ "/runs/" (run.head.id) "?at=" (step.last) } { "#" (step.last) }
                }
            }
            @if !step.tries.is_empty() {
                section {
                    h3 { (frame.say(words::run::attempts())) }
                    ol.tries {
                        @for (state, said) in &step.tries {
                            li data-s=(state) { (state_icon(state)) span { (visible(said)) } }
                        }
                    }
                }
            }
            @if let Some(exact) = &step.exact { p.note { (icon("shield")) span { (exact) } } }
            @let whole = |part: &str| format!("/runs/{}/steps/{}/{part}", run.head.id, step.seq);
            @let (input, output) = (whole("input"), whole("output"));
            (shown(frame, words::run::input(), &step.input, "step-input",
                step.is_cut.0.then_some(input.as_str())))
            @if !step.diff.is_empty() {
                (crate::parts::diff(&step.diff, &frame.say(words::chat::change())))
            }
            (shown(frame, words::run::output(), &step.output, "step-output",
                step.is_cut.1.then_some(output.as_str())))
        }
    }
}

fn state_detail(frame: &PageFrame, run: &RunPageView) -> Markup {
    let state = &run.state;
    html! {
        div {
            h2 { b { (frame.say(words::run::state_at(&run.travel.at))) } }
            dl.facts.sm { @for (name, value) in &state.facts { dt { (name) } dd { (value) } } }
            @if let Some(plan) = &state.plan {
                section { h3 { (plan.title) } (plan_list(plan)) }
            }
            (plan_versions(frame, run))
            (shown(frame, words::run::said(), &state.message, "state-said", None))
        }
    }
}

/// Two versions of the plan, chosen by the reader.
fn plan_versions(frame: &PageFrame, run: &RunPageView) -> Markup {
    let state = &run.state;
    if state.versions.len() < 2 {
        return html! {};
    }
    let choose = |name: &str, label: everloop_text::Text, chosen: u32| {
        html! {
            label.vh for={ "plan-" (name) } { (frame.say(label)) }
            select.select id={ "plan-" (name) } name=(name) {
                @for version in &state.versions {
                    option value=(version) selected[*version == chosen] { "v" (version) }
                }
            }
        }
    };
    html! {
        section {
            h3 { (frame.say(words::run::plan_diff())) }
            form.row.filter method="get" action={ "/runs/" (run.head.id) } {
                input type="hidden" name="at" value=(run.travel.at);
                (choose("older", words::run::plan_older(), state.compared.0)) "→"
                (choose("newer", words::run::plan_newer(), state.compared.1))
                button.btn.sm { (frame.say(words::run::compare_plans())) }
            }
            @if state.plan_diff.is_empty() { p.hint { (frame.say(words::run::plans_equal())) } }
            @else { (crate::parts::diff(&state.plan_diff, &frame.say(words::run::plan_diff()))) }
        }
    }
}
