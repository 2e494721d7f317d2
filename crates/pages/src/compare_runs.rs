//! Two runs side by side, and the choice of the second one.

use crate::layout::{PageFrame, page};
use crate::parts::{icon, state_icon, state_mark};
use crate::run_list::RunRowView;
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// Two runs.
#[derive(Debug, Clone)]
pub struct RunPairView {
    /// The runs.
    pub sides: [PairSide; 2],
    /// Where they part, in a sentence.
    pub sentence: String,
    /// The rows.
    pub rows: Vec<PairRow>,
    /// Rows that are not shown.
    pub hidden: usize,
}

/// One of two runs.
#[derive(Debug, Clone)]
pub struct PairSide {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Its loop.
    pub loop_name: String,
    /// Its status, and the word for it.
    pub status: (&'static str, String),
    /// Names, values, and the difference from the first run.
    pub facts: Vec<(String, String, Option<String>)>,
}

/// One row, or rows that are folded into one.
#[derive(Debug, Clone)]
pub enum PairRow {
    /// Entries that both have.
    Equal(Vec<[PairLine; 2]>),
    /// Entries that differ, or that only one has.
    Differs {
        /// Whether it is the first difference.
        is_first: bool,
        /// What each run has here.
        lines: [Option<PairLine>; 2],
    },
}

/// An entry.
#[derive(Debug, Clone)]
pub struct PairLine {
    /// Its place in the journal.
    pub seq: i64,
    /// Its icon.
    pub icon: &'static str,
    /// What it says.
    pub words: String,
}

/// The page with two runs.
#[must_use]
pub fn view(frame: &PageFrame, view: &RunPairView) -> Markup {
    let [one, other] = &view.sides;
    let main = html! {
        main.main id="main" {
            header.bar {
                (frame.menu_button()) h1 { (frame.say(words::compare::runs_title())) } span.grow {}
                a.btn.ghost.sm href={ "/compare?a=" (other.id) "&b=" (one.id) } {
                    (icon("compare")) (frame.say(words::compare::swap())) }
                a.btn.ghost.sm href="/compare" {
                    span.hide-s { (frame.say(words::compare::title())) }
                    (icon("right")) }
            }
            div.banner-place id="banner" {}
            div.scroll { div.page.wide id="pair" data-live {
                p.lede-line { (view.sentence) }
                div.vs {
                    header { @for side in &view.sides { (side_head(side)) } }
                    @for (at, row) in view.rows.iter().enumerate() {
                        (pair_row(frame, view, at, row))
                    }
                    div.pair.sum {
                        @for side in &view.sides {
                            dl.facts { @for (name, value, delta) in &side.facts {
                                dt { (name) }
                                dd {
                                    (value)
                                    @if let Some(delta) = delta { " " b.delta { (delta) } }
                                }
                            } }
                        }
                    }
                }
                @if view.hidden > 0 {
                    p.hint { (frame.say(words::compare::more_rows(&view.hidden))) }
                }
            } }
        }
    };
    page(frame, &main, None)
}

fn side_head(side: &PairSide) -> Markup {
    html! {
        div {
            span.grow.pair-title {
                a href={ "/runs/" (side.id) } { (visible(&side.title)) }
                span.mono.faint { (tail(&side.id)) } " " span.mono.dim { (side.loop_name) }
            }
            (state_mark(side.status.0, &side.status.1))
        }
    }
}

/// The end of an id, by which a run is named.
#[must_use]
pub fn tail(id: &str) -> &str {
    &id[id.len().saturating_sub(6)..]
}

fn pair_row(frame: &PageFrame, view: &RunPairView, at: usize, row: &PairRow) -> Markup {
    match row {
        PairRow::Equal(lines) => {
            let seq = |line: Option<&[PairLine; 2]>| line.map_or(0, |[one, _]| one.seq);
            let (from, to) = (seq(lines.first()), seq(lines.last()));
            let count = lines.len();
            let (from, to) = (format!("#{from}"), format!("#{to}"));
            let said = words::compare::EqualEvents { count: &count, from: &from, to: &to }.text();
            html! {
                details.same-box id={ "same-" (at) } {
                    summary.same { (icon("right")) (frame.say(said)) }
                    @for [one, other] in lines {
                        div.pair {
                            (cell(&view.sides[0].id, one)) (cell(&view.sides[1].id, other))
                        }
                    }
                }
            }
        }
        PairRow::Differs { is_first, lines } => html! {
            div.pair.part[*is_first] {
                @for (line, side) in lines.iter().zip(&view.sides) {
                    @match line {
                        Some(line) => (cell(&side.id, line)),
                        None => div.none { (frame.say(words::compare::no_counterpart())) },
                    }
                }
            }
        },
    }
}

fn cell(run: &str, line: &PairLine) -> Markup {
    html! {
        div {
            a.seq href={ "/runs/" (run) "?at=" (line.seq) } { "#" (line.seq) }
            (icon(line.icon))
            span.pair-words { (visible(&line.words)) }
        }
    }
}

/// The page that asks for the second run.
#[must_use]
pub fn choose(frame: &PageFrame, run: (&str, &str), rows: &[(RunRowView, bool)]) -> Markup {
    let (id, title) = run;
    let main = html! {
        main.main id="main" {
            header.bar { (frame.menu_button()) h1 { (frame.say(words::compare::runs_title())) } }
            div.banner-place id="banner" {}
            div.scroll {
                p.page { (frame.say(words::compare::choose(&title))) }
                @if rows.is_empty() { p.page.hint { (frame.say(words::compare::too_few_runs())) } }
                @for (row, is_related) in rows {
                    article.item.read data-s=(row.state) {
                        (state_icon(row.state))
                        h2 { a href={ "/compare?a=" (id) "&b=" (row.id) } {
                            (visible(&row.title)) } }
                        span.when { (row.when) }
                        p { span { (row.words) } " · " span.mono { (row.loop_name) } " · "
                            (frame.say(words::run::events_count(&row.events)))
                            @if *is_related { " · " (frame.say(words::compare::of_it())) } }
                    }
                }
            }
        }
    };
    page(frame, &main, None)
}
