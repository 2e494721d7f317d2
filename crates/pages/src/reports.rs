//! The reports of analyses: the list of them with the form for a new one, and one as a document
//! whose numbers lead to their queries.
//!
//! HTML in the view is made by the analysis, which escapes what models and data say.

use crate::layout::{PageFrame, page, rendered};
use crate::parts::{icon, state_icon, state_mark};
use everloop_text::pages as words;
use maud::{Markup, html};

/// The list.
#[derive(Debug, Clone)]
pub struct ReportListView {
    /// The reports, newest first.
    pub rows: Vec<ReportRowView>,
    /// Analyses that have not ended: id, title, status and its word.
    pub under_way: Vec<(String, String, &'static str, String)>,
    /// The loops, the usual one first.
    pub loops: Vec<String>,
}

/// A report of the list.
#[derive(Debug, Clone)]
pub struct ReportRowView {
    /// Its run.
    pub run: String,
    /// Its title.
    pub title: String,
    /// What was asked.
    pub question: String,
    /// When it was made.
    pub when: String,
    /// Numbers with a source, and all.
    pub numbers: (usize, usize),
}

/// A heading and words as HTML of the analysis, and the numbers of their queries.
pub type ReportPart = (String, String, Vec<u32>);

/// A report.
#[derive(Debug, Clone)]
pub struct ReportView {
    /// Its run.
    pub run: String,
    /// Its title as HTML of the analysis.
    pub title_html: String,
    /// When it was made, and what was asked.
    pub about: String,
    /// Figures: label, value and what follows, the last two as HTML of the analysis.
    pub keys: Vec<(String, String, String)>,
    /// The parts.
    pub sections: Vec<ReportPart>,
    /// The numbers.
    pub numbers: Vec<ReportNumberView>,
    /// The queries.
    pub queries: Vec<ReportQueryView>,
    /// Cells of code: number, code, output.
    pub cells: Vec<(u32, String, String)>,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// What to know before relying on it.
    pub caveats: Vec<String>,
    /// Files: name, size, address.
    pub files: Vec<(String, String, String)>,
    /// Whether somebody changed its files.
    pub is_changed: bool,
    /// What a check of just now found.
    pub checked: Option<String>,
}

/// A number of a report.
#[derive(Debug, Clone)]
pub struct ReportNumberView {
    /// As it is written.
    pub text: String,
    /// Whether it has a source; none if it needs none.
    pub is_proven: Option<bool>,
    /// What is known of it.
    pub status: String,
    /// The expression that gives it.
    pub source: String,
    /// The query that the expression begins with.
    pub query: Option<u32>,
    /// The exact value.
    pub value: String,
}

/// A query of a report.
#[derive(Debug, Clone)]
pub struct ReportQueryView {
    /// Its number.
    pub number: u32,
    /// The SQL.
    pub sql: String,
    /// How many rows, and how long it took.
    pub size: String,
    /// All its rows.
    pub row_count: usize,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The first rows.
    pub rows: Vec<Vec<String>>,
    /// The address of all rows.
    pub csv: Option<String>,
}

/// The page with the list.
#[must_use]
pub fn list(frame: &PageFrame, view: &ReportListView) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar { (frame.menu_button()) h1 { (frame.say(words::reports::list_title())) } }
            div.banner-place id="banner" {}
            div.scroll {
                div id="reports" data-live { (rows(frame, view)) }
                div.page { (begin(frame, view)) }
            }
        }
    };
    page(frame, &main, None)
}

fn rows(frame: &PageFrame, view: &ReportListView) -> Markup {
    html! {
        @if view.rows.is_empty() && view.under_way.is_empty() {
            div.page { div.empty {
                h2 { (frame.say(words::reports::none())) }
                p { (frame.say(words::reports::none_about())) }
            } }
        }
        @for (run, title, status, said) in &view.under_way {
            article.item data-s=(status) {
                (state_icon(status))
                h2 { a href={ "/runs/" (run) } { (everloop_types::visible(title)) } }
                p { span { (said) } " · " (frame.say(words::reports::under_way())) }
            }
        }
        @for row in &view.rows {
            article.item.read {
                (icon("report"))
                h2 { a href={ "/reports/" (row.run) } { (everloop_types::visible(&row.title)) } }
                span.when { (row.when) }
                p {
                    span { (row.question) } " · "
                    @let said = frame.say(words::reports::checked(&row.numbers.0, &row.numbers.1));
                    @if row.numbers.0 < row.numbers.1 { (state_mark("unsettled", &said)) }
                    @else { span { (said) } }
                }
            }
        }
    }
}

fn begin(frame: &PageFrame, view: &ReportListView) -> Markup {
    html! {
        details.compare-new id="report-new" open[view.rows.is_empty()] {
            summary { h2 { (frame.say(words::reports::begin())) } }
            form method="post" action="/do/reports/begin" data-do data-keep="report" {
                (frame.form("/do/reports/begin").hidden())
                div.field.full {
                    label for="files" { (frame.say(words::reports::files())) }
                    textarea.area.mono id="files" name="files" rows="2" spellcheck="false" required {}
                }
                div.field.full {
                    label for="question" { (frame.say(words::reports::question())) }
                    textarea.area id="question" name="question" rows="2" required {}
                }
                div.field {
                    label for="report-loop" { (frame.say(words::reports::loop_name())) }
                    select.select id="report-loop" name="loop" {
                        @for (at, name) in view.loops.iter().enumerate() {
                            option value=(name) {
                                @if at == 0 { (frame.say(words::reports::usual_loop(name))) }
                                @else { (name) }
                            }
                        }
                    }
                }
                p.hint { (frame.say(words::reports::start_about())) }
                button.btn.ink { (icon("play")) (frame.say(words::reports::start())) }
            }
        }
    }
}

/// The page with one report.
#[must_use]
pub fn view(frame: &PageFrame, report: &ReportView) -> Markup {
    let to = format!("/do/reports/{}/check", report.run);
    let main = html! {
        main.main id="main" {
            header.bar {
                (frame.menu_button())
                h1.vh { (frame.title) }
                a.sm href="/reports" { (frame.say(words::reports::list_title())) }
                a.mono.sm href={ "/runs/" (report.run) } {
                    (frame.say(words::reports::run())) " " (crate::compare_runs::tail(&report.run)) }
                span.grow {}
                (frame.form(&to).button("btn ghost sm", &[], html! {
                    (icon("retry")) span.hide-s { (frame.say(words::reports::recheck())) } }))
                button.btn.ghost.sm type="button" data-print hidden {
                    span.hide-s { (frame.say(words::reports::print())) } (icon("file")) }
                (downloads(frame, report))
            }
            div.banner-place id="banner" {}
            div.scroll { div id="report" data-live { article.doc { (document(frame, report)) } } }
        }
    };
    page(frame, &main, None)
}

fn downloads(frame: &PageFrame, report: &ReportView) -> Markup {
    html! {
        details.pop.down {
            summary.btn.sm { (icon("download")) span.hide-s { (frame.say(words::reports::downloads())) } }
            div.pop-body {
                @for (name, size, to) in &report.files {
                    a.btn.sm href=(to) download { span.grow.clip { (name) } span.faint { (size) } }
                }
            }
        }
    }
}

fn document(frame: &PageFrame, report: &ReportView) -> Markup {
    html! {
        @if let Some(checked) = &report.checked {
            p.note.pre role="status" { (icon("check")) span { (checked) } }
        }
        @if report.is_changed {
            p.note.caveat data-s="unsettled" { (icon("warn")) span { (frame.say(words::reports::changed())) } }
        }
        header.doc-head {
            p.faint.sm { (report.about) }
            h2.doc-title { (rendered(&report.title_html)) }
            (keys(frame, report))
        }
        @for (number, (heading, words_of, queries)) in numbered(report) {
            section.doc-sec {
                div.doc-text {
                    @if !heading.is_empty() { h3 { span { (number) } (rendered(heading)) } }
                    div.prose { (rendered(words_of)) }
                }
                (notes(frame, report, queries))
            }
        }
        (data(frame, report))
        (numbers(frame, report))
        (queries(frame, report))
    }
}

/// The parts, each with the number of its heading; what stands before the first has none.
fn numbered(report: &ReportView) -> impl Iterator<Item = (usize, &ReportPart)> {
    let mut headings = 0;
    report.sections.iter().map(move |part| {
        headings += usize::from(!part.0.is_empty());
        (headings, part)
    })
}

fn keys(frame: &PageFrame, report: &ReportView) -> Markup {
    let count = |own| report.numbers.iter().filter(|number| number.is_proven == Some(own)).count();
    let (proven, bad) = (count(true), count(false));
    let first = report.numbers.iter().position(|number| number.is_proven == Some(false));
    html! {
        dl.keys {
            @for (label, value, rest) in &report.keys {
                div { dt { (label) } dd { (rendered(value)) } dd.faint { (rendered(rest)) } }
            }
            div.sum-check {
                dt { (frame.say(words::reports::numbers_checked())) }
                dd { (proven) span.faint { " / " (proven + bad) } }
                dd {
                    @match first {
                        Some(first) => a.st data-s="unsettled" href={ "#n" (first + 1) } {
                            (state_icon("unsettled"))
                            span { (frame.say(everloop_text::analysis::report::unproven(&bad))) }
                        },
                        None => a.st data-s="succeeded" href="#sources" {
                            (state_icon("succeeded"))
                            span { (frame.say(everloop_text::analysis::report::all_checked())) }
                        },
                    }
                }
            }
        }
    }
}

fn notes(frame: &PageFrame, report: &ReportView, numbers: &[u32]) -> Markup {
    let of = numbers.iter().filter_map(|n| report.queries.iter().find(|query| query.number == *n));
    html! {
        div.sn role="group" aria-label=(frame.say(words::reports::section_note())) {
            @for query in of {
                p { a.cite href={ "#q" (query.number) } { (icon("cite")) "Q" (query.number) }
                    span.faint { (query.size)
                        @if let Some(csv) = &query.csv {
                            " · " a href=(csv) download { (frame.say(words::reports::csv())) }
                        } }
                }
            }
            div.trace-place role="status" {}
        }
    }
}

fn data(frame: &PageFrame, report: &ReportView) -> Markup {
    html! {
        @if !report.facts.is_empty() || !report.caveats.is_empty() {
            section.doc-sec { div.doc-text {
                h3 { (frame.say(words::reports::data())) }
                dl.facts.sm { @for (name, value) in &report.facts {
                    dt { (name) } dd { (value) }
                } }
                @if !report.caveats.is_empty() {
                    div.note.caveat data-s="unsettled" {
                        (icon("warn"))
                        div { b { (frame.say(words::reports::caveats())) }
                            ul { @for caveat in &report.caveats { li { (caveat) } } } }
                    }
                }
            } }
        }
    }
}

fn numbers(frame: &PageFrame, report: &ReportView) -> Markup {
    html! {
        section.doc-sec.full id="sources" { div.doc-text {
            h3 { (frame.say(words::reports::numbers())) }
            div.table-box tabindex="0" role="region" aria-label=(frame.say(words::reports::numbers())) {
                table.table.traced {
                    thead { tr {
                        th.num scope="col" { "#" }
                        th scope="col" { (frame.say(words::reports::head_number())) }
                        th scope="col" { (frame.say(words::reports::head_source())) }
                        th.num scope="col" { (frame.say(words::reports::head_value())) }
                        th scope="col" { (frame.say(words::reports::head_status())) }
                    } }
                    tbody {
                        @for (at, number) in report.numbers.iter().enumerate() {
                            (number_row(frame, at + 1, number))
                        }
                    }
                }
            }
        } }
    }
}

fn number_row(frame: &PageFrame, at: usize, number: &ReportNumberView) -> Markup {
    html! {
        tr id={ "n" (at) } data-query=[number.query] {
            td.num.faint { (at) }
            td { b { (number.text) } }
            td {
                @if let Some(query) = number.query {
                    a.cite href={ "#q" (query) } { "Q" (query) } " "
                }
                @if number.source.is_empty() {
                    span.faint { (frame.say(words::reports::no_source())) }
                }
                @else { code { (number.source) } }
            }
            td.num.mono { (number.value) }
            td {
                @match number.is_proven {
                    Some(true) => (state_mark("succeeded", &number.status)),
                    Some(false) => (state_mark("unsettled", &number.status)),
                    None => span.faint { (number.status) },
                }
            }
        }
    }
}

fn queries(frame: &PageFrame, report: &ReportView) -> Markup {
    html! {
        section.doc-sec.full { div.doc-text {
            h3 { (frame.say(words::reports::queries())) }
            @for query in &report.queries { (query_of(frame, query)) }
            @if !report.cells.is_empty() {
                h3 { (frame.say(words::reports::cells())) }
                @for (number, code, output) in &report.cells {
                    h4 id={ "c" (number) } { "C" (number) }
                    pre.shown tabindex="0" { (code) }
                    @if !output.is_empty() { pre.shown tabindex="0" { (output) } }
                }
            }
        } }
    }
}

fn query_of(frame: &PageFrame, query: &ReportQueryView) -> Markup {
    let shown = query.rows.len();
    html! {
        section.query id={ "q" (query.number) } tabindex="-1" {
            h4 { span.cite { "Q" (query.number) } " " span.faint { (query.size) } }
            pre.shown tabindex="0" { (query.sql) }
            @if !query.columns.is_empty() {
                div.table-box tabindex="0" role="region" aria-label={ "Q" (query.number) } {
                    table.table {
                        thead { tr { @for name in &query.columns { th scope="col" { (name) } } } }
                        tbody { @for row in &query.rows {
                            tr { @for cell in row { td { (cell) } } }
                        } }
                    }
                }
                @if shown < query.row_count {
                    p.hint { (frame.say(words::reports::rows_shown(&shown, &query.row_count))) }
                }
            }
        }
    }
}

/// A report that cannot be read.
#[must_use]
pub fn unreadable(frame: &PageFrame, run: &str, detail: &str) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar { (frame.menu_button()) h1 { (frame.title) } }
            div.banner-place id="banner" {}
            div.scroll { div.page {
                p.note { (icon("warn")) span { (frame.say(words::reports::missing(&detail))) } }
                p { a href={ "/runs/" (run) } { (frame.say(words::reports::run())) " "
                    (crate::compare_runs::tail(run)) } }
            } }
        }
    };
    page(frame, &main, None)
}
