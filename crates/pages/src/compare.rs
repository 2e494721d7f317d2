//! Loops compared: the form, how far a comparison is, the finding, and two runs to choose.

use crate::compare_figures::{self, ComparedResult};
use crate::layout::{PageFrame, page};
use crate::parts::icon;
use everloop_text::pages as words;
use maud::{Markup, html};

/// The page.
#[derive(Debug, Clone)]
pub struct ComparePageView {
    /// What can be chosen.
    pub form: CompareForm,
    /// The comparison that is under way.
    pub under_way: Option<CompareProgressView>,
    /// What became of an earlier one, or of the form.
    pub said: Option<String>,
    /// The fields of a comparison that was cut off.
    pub cut_off: Option<Vec<(String, String)>>,
    /// The last result.
    pub result: Option<ComparedResult>,
    /// The newest runs: id and what is said of each.
    pub runs: Vec<(String, String)>,
}

/// What can be compared.
#[derive(Debug, Clone)]
pub struct CompareForm {
    /// The loops.
    pub loops: Vec<String>,
    /// The simulated policies, and what is said of them.
    pub policies: Vec<(String, String)>,
    /// The model of the settings, and whether it asks somebody who may want money.
    pub model: Option<(String, bool)>,
    /// Kinds of tasks: name, words, how many.
    pub kinds: Vec<(String, String, usize)>,
}

/// How far a comparison is.
#[derive(Debug, Clone)]
pub struct CompareProgressView {
    /// Runs that are over.
    pub done: usize,
    /// Runs in all; none before the first is over.
    pub all: usize,
    /// Loops, the runs of each that are over, and those that were not done.
    pub loops: Vec<(String, usize, usize)>,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, view: &ComparePageView) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar {
                (frame.menu_button()) h1 { (frame.say(words::compare::title())) } span.grow {}
                @if let Some(result) = &view.result {
                    a.btn.ghost.sm href="/compare/export" download {
                        (icon("download")) span.hide-s { (frame.say(words::compare::export())) }
                    }
                    @if view.under_way.is_none() { (again(frame, &result.again)) }
                }
            }
            div.banner-place id="banner" {}
            div.scroll { div.page.wide {
                div id="compare-now" data-live { (now(frame, view)) }
                div id="compare-result" data-live {
                    @match &view.result {
                        Some(result) => (compare_figures::figures(frame, result)),
                        None => @if view.under_way.is_none() { (nothing(frame)) },
                    }
                }
                (form(frame, view))
                (runs_form(frame, &view.runs))
            } }
        }
    };
    page(frame, &main, None)
}

fn again(frame: &PageFrame, fields: &[(String, String)]) -> Markup {
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    frame.form("/do/compare/begin").button(
        "btn sm",
        &fields,
        html! {
            (icon("play")) (frame.say(words::compare::run_again()))
        },
    )
}

fn nothing(frame: &PageFrame) -> Markup {
    html! {
        div.lede {
            h2 { (frame.say(words::compare::none())) }
            p.dim { (frame.say(words::compare::none_about())) }
        }
    }
}

fn now(frame: &PageFrame, view: &ComparePageView) -> Markup {
    html! {
        @if let Some(said) = &view.said { p.note role="status" { (icon("info")) span { (said) } } }
        @if let Some(fields) = &view.cut_off {
            div.note.row.wrap {
                (icon("warn")) span.grow { (frame.say(words::compare::cut_off())) }
                (again(frame, fields))
            }
        }
        @if let Some(progress) = &view.under_way { (under_way(frame, progress)) }
    }
}

fn under_way(frame: &PageFrame, progress: &CompareProgressView) -> Markup {
    let (done, all) = (progress.done, progress.all);
    html! {
        section.card.comparing aria-label=(frame.say(words::compare::under_way())) {
            div.row {
                (crate::parts::state_icon("running"))
                h2 { (frame.say(words::compare::under_way())) }
                span.grow {}
                (frame.form("/do/compare/stop").button("btn sm", &[], html! {
                    (icon("stop")) (frame.say(words::compare::stop()))
                }))
            }
            progress max=(all.max(1)) value=(done)
                aria-label=(frame.say(words::compare::progress(&done, &all))) {}
            p.num-line { (frame.say(words::compare::progress(&done, &all))) }
            ul.comparing-loops {
                @for (name, over, bad) in &progress.loops {
                    li {
                        span.mono { (name) } " " span.dim { (over) }
                        @if *bad > 0 { " " span.st.sm data-s="failed" {
                            (crate::parts::state_icon("failed"))
                            span { (frame.say(words::compare::failed_so_far(bad))) } } }
                    }
                }
            }
            p.hint { (frame.say(words::compare::under_way_about())) }
        }
    }
}

fn boxed(name: &str, is_on: bool, inside: &Markup) -> Markup {
    html! {
        label.pick {
            input type="checkbox" name=(name) value="on" checked[is_on];
            span { (inside) }
        }
    }
}

/// The form. A script counts the runs while boxes are ticked; without it the sum of all is shown.
fn form(frame: &PageFrame, view: &ComparePageView) -> Markup {
    let form = &view.form;
    let tasks: usize = form.kinds.iter().map(|(_, _, count)| count).sum();
    let runs = tasks * form.loops.len();
    let model = form.model.as_ref().map(|(name, _)| name.as_str()).unwrap_or_default();
    let paid = words::compare::CostPaid { runs: &"{runs}", paid: &"{paid}", model: &model };
    html! {
        details.compare-new id="compare-new" open[view.result.is_none()] {
            summary { h2 { (frame.say(words::compare::new())) } }
            p.dim { (frame.say(words::compare::new_about())) }
            form method="post" action="/do/compare/begin" data-do data-compare {
                (frame.form("/do/compare/begin").hidden())
                fieldset { legend { (frame.say(words::compare::loops())) }
                    div.picks { @for name in &form.loops {
                        (boxed(&format!("loop:{name}"), true,
                            &html! { span.mono { (name) } }))
                    } }
                }
                fieldset { legend { (frame.say(words::compare::tasks())) }
                    div.picks { @for (name, kind, count) in &form.kinds {
                        label.pick {
                            input type="checkbox" name={ "kind:" (name) } value="on" checked
                                data-count=(count);
                            span { (frame.say(words::compare::kind_count(kind, count))) }
                        }
                    } }
                }
                (models(frame, form))
                div.row.wrap {
                    div.field.short {
                        label for="repeats" { (frame.say(words::compare::repeats())) }
                        input.input id="repeats" name="runs" type="number" min="1" max="100"
                            value="1" inputmode="numeric";
                    }
                    div.field.short {
                        label for="seed" { (frame.say(words::compare::seed())) }
                        input.input id="seed" name="seed" type="number" min="0" value="1"
                            inputmode="numeric";
                    }
                }
                p.hint id="compare-cost" role="status"
                    data-free=(frame.say(words::compare::cost_free(&"{runs}")))
                    data-paid=(frame.say(paid.text())) {
                    (frame.say(words::compare::cost_free(&runs)))
                }
                button.btn.ink disabled[view.under_way.is_some()] {
                    (icon("play")) (frame.say(words::compare::begin()))
                }
            }
        }
    }
}

fn models(frame: &PageFrame, form: &CompareForm) -> Markup {
    html! {
        fieldset { legend { (frame.say(words::compare::models())) }
            div.picks.tall {
                @for (at, (name, about)) in form.policies.iter().enumerate() {
                    (boxed(&format!("model:{name}"), at == 0,
                        &html! { span.mono { (name) } " " span.faint { (about) } }))
                }
                @if let Some((name, costs)) = &form.model {
                    label.pick {
                        input type="checkbox" name="own" value="on" data-paid[*costs];
                        span { span.mono { (name) } " "
                            span.faint { (frame.say(words::compare::your_model())) } }
                    }
                    @if *costs {
                        label.pick.inner {
                            input type="checkbox" name="agree" value="on";
                            span { (frame.say(words::compare::agree())) }
                        }
                    }
                }
            }
        }
    }
}

fn runs_form(frame: &PageFrame, runs: &[(String, String)]) -> Markup {
    let choice = |name: &str, label: String, at: usize| {
        html! {
            div.field {
                label for={ "run-" (name) } { (label) }
                select.select id={ "run-" (name) } name=(name) {
                    @for (n, (id, said)) in runs.iter().enumerate() {
                        option value=(id) selected[n == at] { (said) }
                    }
                }
            }
        }
    };
    html! {
        section.compare-runs {
            h2 { (frame.say(words::compare::runs_title())) }
            p.dim { (frame.say(words::compare::runs_about())) }
            @if runs.len() < 2 { p.hint { (frame.say(words::compare::too_few_runs())) } }
            @else {
                form.two-runs method="get" action="/compare" {
                    (choice("a", frame.say(words::compare::run_a()), 1))
                    (choice("b", frame.say(words::compare::run_b()), 0))
                    button.btn { (icon("compare")) (frame.say(words::compare::show_runs())) }
                }
            }
        }
    }
}
