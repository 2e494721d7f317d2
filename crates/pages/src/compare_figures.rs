//! The figures of a comparison: the finding as a sentence, bars on one scale, tasks as a matrix and
//! as a table.

use crate::layout::PageFrame;
use crate::parts::{grouped, icon, state_icon};
use everloop_text::pages as words;
use maud::{Markup, html};

/// A result, for one of its models.
#[derive(Debug, Clone)]
pub struct ComparedResult {
    /// The finding.
    pub verdict: VerdictSentence,
    /// What the figures are.
    pub about: String,
    /// When and with what it was made.
    pub made: String,
    /// Whether every run ended.
    pub is_complete: bool,
    /// The models: name, address, whether it is shown.
    pub models: Vec<(String, String, bool)>,
    /// The loops, the cheapest first.
    pub rows: Vec<ComparedLoop>,
    /// The loop that the others are compared with.
    pub base: String,
    /// Whether the time is simulated.
    pub is_time_simulated: bool,
    /// The kinds of tasks, and the tasks of each.
    pub groups: Vec<(String, Vec<String>)>,
    /// Loops, and a cell for each task in the same order.
    pub cells: Vec<(String, Vec<ComparedCell>)>,
    /// The fields of a form that compares the same again.
    pub again: Vec<(String, String)>,
}

/// A sentence around the name of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictSentence {
    /// What stands before it.
    pub before: String,
    /// The name.
    pub name: String,
    /// What stands after it.
    pub after: String,
}

/// A loop of a comparison.
#[derive(Debug, Clone)]
pub struct ComparedLoop {
    /// Its name.
    pub name: String,
    /// What it does, in a line.
    pub about: String,
    /// Runs that were done, and all.
    pub done: (u64, u64),
    /// Model calls of a run.
    pub calls: String,
    /// Tokens of a run: cached input, new input, output.
    pub tokens: [u64; 3],
    /// Tokens for each run that was done.
    pub per_success: String,
    /// The difference in tokens; none for the baseline.
    pub against: Option<String>,
    /// How long all runs took.
    pub time: String,
}

/// A task under a loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComparedCell {
    /// Runs that were done.
    pub done: u64,
    /// All runs.
    pub runs: u64,
    /// Model calls.
    pub calls: u64,
}

/// The finding and all figures.
#[must_use]
pub fn figures(frame: &PageFrame, result: &ComparedResult) -> Markup {
    let verdict = &result.verdict;
    html! {
        div.lede {
            h2 { (verdict.before) span.mono { (verdict.name) } (verdict.after) }
            p.dim { (result.about) }
            p.faint.sm { (result.made) " · " (frame.say(words::compare::kept_note())) }
            @if !result.is_complete {
                p.note { (icon("warn")) span { (frame.say(words::compare::incomplete())) } }
            }
        }
        div.row.wrap.compare-head {
            @if result.models.len() > 1 {
                nav.seg aria-label=(frame.say(words::compare::model())) {
                    @for (name, to, is_shown) in &result.models {
                        a href=(to) aria-current=[is_shown.then_some("true")] { (name) }
                    }
                }
            }
            span.grow {}
            div.legend {
                span { i.lg.cached {} (frame.say(words::compare::legend_cached())) }
                span { i.lg.fresh {} (frame.say(words::compare::legend_fresh())) }
                span { i.lg.out {} (frame.say(words::compare::legend_output())) }
            }
        }
        (loops(frame, result))
        (matrix(frame, result))
    }
}

fn loops(frame: &PageFrame, result: &ComparedResult) -> Markup {
    let tasks: usize = result.groups.iter().map(|(_, tasks)| tasks.len()).sum();
    let most = result.rows.iter().map(|row| row.tokens.iter().sum::<u64>()).max().unwrap_or(1);
    let time = match result.is_time_simulated {
        true => words::compare::time_simulated(),
        false => words::compare::time(),
    };
    html! {
        div.table-box tabindex="0" role="region" aria-label=(frame.say(words::compare::region())) {
            table.table.cmp {
                caption.vh { (frame.say(words::compare::caption(&tasks))) }
                thead { tr {
                    th scope="col" { (frame.say(everloop_text::compare::head::r#loop())) }
                    th scope="col" { (frame.say(words::compare::success())) }
                    th.num scope="col" { (frame.say(words::compare::calls())) }
                    th.barcell scope="col" { (frame.say(words::compare::tokens())) }
                    th.num scope="col" { span.vh { (frame.say(words::compare::tokens())) } }
                    th.num scope="col" aria-sort="ascending" {
                        (frame.say(words::compare::tokens_success())) " ↑" }
                    th.num scope="col" { (frame.say(words::compare::against(&result.base))) }
                    th.num scope="col" { (frame.say(time)) }
                } }
                tbody { @for row in &result.rows { (loop_row(frame, row, most)) } }
            }
        }
    }
}

fn loop_row(frame: &PageFrame, row: &ComparedLoop, most: u64) -> Markup {
    let [cached, fresh, output] = row.tokens;
    let state = if row.done.0 == row.done.1 { "succeeded" } else { "failed" };
    let part = |n: u64| format!("{:.1}", n as f64 * 100.0 / most.max(1) as f64);
    let [cached_words, fresh_words, output_words] = row.tokens.map(grouped);
    let said =
        words::compare::Bar { cached: &cached_words, fresh: &fresh_words, output: &output_words }
            .text();
    html! {
        tr.base[row.against.is_none()] {
            th scope="row" { span.mono { (row.name) } small { (row.about) } }
            td { span.st.quiet data-s=(state) {
                (state_icon(state)) span { (row.done.0) span.faint { "/" (row.done.1) } } } }
            td.num { (row.calls) }
            td.barcell {
                svg.mini viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
                    rect.cached width=(part(cached)) height="10" {}
                    rect.fresh x=(part(cached)) width=(part(fresh)) height="10" {}
                    rect.out x=(part(cached + fresh)) width=(part(output)) height="10" {}
                }
                span.vh { (frame.say(said)) }
            }
            td.num { (grouped(row.tokens.iter().sum())) }
            td.num { (row.per_success) }
            @match &row.against {
                Some(against) => td.num { (against) },
                None => td.num.faint { span.vh { (frame.say(words::compare::baseline())) }
                    span aria-hidden="true" { "–" } },
            }
            td.num { (row.time) }
        }
    }
}

/// Where the first column of the matrix begins, and how far apart columns and groups are.
const LABELS: usize = 150;
const STEP: usize = 19;
const GAP: usize = 7;

/// Eight tones of the model calls, by their place among the most.
fn tone(calls: u64, most: u64) -> u64 {
    (calls.saturating_sub(1) * 8 / most.max(1)).min(7)
}

fn matrix(frame: &PageFrame, result: &ComparedResult) -> Markup {
    let all = || result.cells.iter().flat_map(|(_, cells)| cells);
    let most = all().map(|cell| cell.calls).max().unwrap_or(1);
    let tasks: usize = result.groups.iter().map(|(_, tasks)| tasks.len()).sum();
    let width = LABELS + tasks * STEP + result.groups.len() * GAP + 4;
    let height = 22 + result.cells.len() * STEP;
    let failed: Vec<String> = result
        .cells
        .iter()
        .filter_map(|(name, cells)| {
            let bad = cells.iter().filter(|cell| cell.done < cell.runs).count();
            (bad > 0).then(|| format!("{name} {bad}"))
        })
        .collect();
    let any_failed = !failed.is_empty();
    let failed = match any_failed {
        true => failed.join(", "),
        false => frame.say(words::compare::nothing_failed()),
    };
    let loops = result.cells.len();
    let said = words::compare::MatrixSays { tasks: &tasks, loops: &loops, failed: &failed }.text();
    html! {
        section.by-task {
            div.row.wrap {
                h2 { (frame.say(words::compare::task_by_task())) }
                span.faint.sm { (frame.say(words::compare::ramp_few())) " "
                    svg.ramp viewBox="0 0 60 10" aria-hidden="true" {
                        @for (at, tone) in [0, 2, 5, 7].into_iter().enumerate() {
                            rect class={ "o" (tone) } x=(at * 12) width="10" height="10" {}
                        }
                    }
                    " " (frame.say(words::compare::ramp_many())) }
            }
            div.fig.matrix-box tabindex="0" role="region"
                aria-label=(frame.say(words::compare::matrix_region())) {
                svg.plot.matrix viewBox=(format!("0 0 {width} {height}")) role="img"
                    width=(width) height=(height) aria-label=(frame.say(said)) {
                    @for (x, kind) in group_places(result) { text.tick x=(x) y="12" { (kind) } }
                    @for (row, (name, cells)) in result.cells.iter().enumerate() {
                        (matrix_row(frame, result, (row, name), cells, most))
                    }
                }
            }
            @if any_failed {
                p.note { (icon("info")) span { (frame.say(words::compare::cross_means())) } }
            }
            (table(frame, result))
        }
    }
}

/// Where each group begins, and what it is about.
fn group_places(result: &ComparedResult) -> Vec<(usize, String)> {
    let mut x = LABELS;
    let place = |(kind, tasks): &(String, Vec<String>)| {
        let at = x;
        x += tasks.len() * STEP + GAP;
        // A name that is wider than its group would run into the next.
        let room = tasks.len() * STEP / 7;
        let kind = match kind.chars().count() > room.max(4) {
            true => kind.chars().take(room.max(4).saturating_sub(1)).chain(['…']).collect(),
            false => kind.clone(),
        };
        (at, kind)
    };
    result.groups.iter().map(place).collect()
}

fn matrix_row(
    frame: &PageFrame,
    result: &ComparedResult,
    (row, name): (usize, &str),
    cells: &[ComparedCell],
    most: u64,
) -> Markup {
    let y = 20 + row * STEP;
    let groups = result.groups.iter().enumerate();
    let places = groups.flat_map(|(group, (_, tasks))| tasks.iter().map(move |task| (group, task)));
    let shown = places.zip(cells).enumerate().filter(|(_, (_, cell))| cell.runs > 0);
    html! {
        text.lab.m x=(LABELS - 8) y=(y + 13) text-anchor="end" { (name) }
        @for (at, ((group, task), cell)) in shown {
            @let x = LABELS + at * STEP + group * GAP;
            @if cell.done == cell.runs { rect class={ "o" (tone(cell.calls, most)) } x=(x) y=(y) {} }
            @else {
                g.bad {
                    @let (name, calls) = (&name, &cell.calls);
                    title { (frame.say(words::compare::CellBad { task, name, calls }.text())) }
                    rect x=(x) y=(y) width="16" height="16" rx="2" {}
                    path d=(format!("M{} {}l6 7m0-7l-6 7", x + 5, y + 5)) {}
                }
            }
        }
    }
}

fn table(frame: &PageFrame, result: &ComparedResult) -> Markup {
    let tasks = result.groups.iter().flat_map(|(_, tasks)| tasks);
    html! {
        details.as-table id="as-table" {
            summary { (frame.say(words::compare::as_table())) }
            div.table-box tabindex="0" role="region" aria-label=(frame.say(words::compare::table_says())) {
                table.table.tasks {
                    caption.vh { (frame.say(words::compare::table_says())) }
                    thead { tr {
                        th scope="col" { (frame.say(words::compare::task())) }
                        @for (name, _) in &result.cells { th.num scope="col" { (name) } }
                    } }
                    tbody {
                        @for (at, task) in tasks.enumerate() {
                            tr {
                                th scope="row" { span.mono { (task) } }
                                @for (_, cells) in &result.cells {
                                    td.num { (cell_words(frame, cells.get(at))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell_words(frame: &PageFrame, cell: Option<&ComparedCell>) -> String {
    match cell {
        None | Some(ComparedCell { runs: 0, .. }) => "–".to_owned(),
        Some(cell) if cell.done == cell.runs => frame.say(words::compare::cell_done(&cell.calls)),
        Some(cell) if cell.runs == 1 => frame.say(words::compare::cell_not_done(&cell.calls)),
        Some(ComparedCell { done, runs, calls }) => {
            frame.say(words::compare::CellSome { done, runs, calls }.text())
        }
    }
}
