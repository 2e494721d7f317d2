//! What is chosen in the agenda, with everything that can be done about it; new runs, files, and
//! the rehearsal.

use super::{AgendaTodo, AgendaView, ReadTime};
use crate::layout::PageFrame;
use crate::parts::{SHARED_FORM, icon, state_icon};
use everloop_text::Text;
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// What is chosen in the agenda.
#[derive(Debug, Clone)]
pub enum AgendaDetail {
    /// A todo.
    Todo(TodoDetail),
    /// An entry.
    Entry(EntryDetail),
}

/// A todo in full.
#[derive(Debug, Clone)]
pub struct TodoDetail {
    /// Its number.
    pub id: i64,
    /// What is to be done.
    pub text: String,
    /// When it is due, as a field for time has it.
    pub due: String,
    /// When it is due, as people read it.
    pub at: Option<ReadTime>,
    /// Its tags, with commas.
    pub tags: String,
    /// Its priority.
    pub priority: i64,
}

/// An entry in full.
#[derive(Debug, Clone)]
pub struct EntryDetail {
    /// Its number.
    pub id: i64,
    /// What it is called.
    pub title: String,
    /// When it takes place, in words.
    pub time: String,
    /// Its beginning, as a field for time has it; nothing if it repeats.
    pub start: Option<String>,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// The next occurrences.
    pub next: Vec<String>,
    /// Whether it starts runs.
    pub starts_runs: bool,
    /// Why it is paused, if it is.
    pub paused: Option<String>,
    /// What becomes of moments that were missed: `once`, `skip`, `all`, or empty.
    pub catch_up: String,
    /// What happens while an earlier run is open.
    pub overlap: String,
    /// What became of its moments: state, when, word, run.
    pub firings: Vec<(&'static str, String, String, Option<String>)>,
    /// As calendars write it.
    pub rule: Option<String>,
}

/// What a rehearsal found.
#[derive(Debug, Clone, Default)]
pub struct RehearsalView {
    /// Its beginning and its end, as they were typed.
    pub span: (String, String),
    /// When the machine is off: from when until when, if it is.
    pub down: (String, String),
    /// Whether the process dies at every firing.
    pub crashes: bool,
    /// What it came to; nothing before it was asked for.
    pub verdict: Option<(bool, String)>,
    /// The firings.
    pub rows: Vec<RehearsalRow>,
}

/// A firing of a rehearsal.
#[derive(Debug, Clone)]
pub struct RehearsalRow {
    /// `succeeded` or `missed`.
    pub state: &'static str,
    /// When.
    pub at: String,
    /// What.
    pub title: String,
    /// How late.
    pub late: String,
    /// Its place in the rehearsed time, in percent.
    pub place: f64,
}

/// Buttons that move what is due, and a field for any other time.
pub(super) fn postpone(frame: &PageFrame, todo: &AgendaTodo) -> Markup {
    let to = format!("/do/todos/{}/move", todo.id);
    html! {
        details.pop {
            summary.btn.ghost.sm aria-label={ (frame.say(words::agenda::postpone())) ": "
                (visible(&todo.text)) } { (icon("clock")) }
            div.pop-body {
                @for (by, name) in [("hour", words::agenda::in_an_hour()),
                    ("day", words::agenda::tomorrow()), ("week", words::agenda::next_week())] {
                    button.btn.sm form=(SHARED_FORM) formaction=(to) name="by" value=(by) {
                        (frame.say(name)) }
                }
            }
        }
    }
}

pub(super) fn detail(frame: &PageFrame, agenda: &AgendaView) -> Markup {
    html! {
        aside.agenda-detail id="detail" tabindex="-1"
            aria-label=(frame.say(words::agenda::detail())) {
            @match &agenda.detail {
                Some(AgendaDetail::Todo(todo)) => (todo_detail(frame, todo)),
                Some(AgendaDetail::Entry(entry)) => (entry_detail(frame, entry)),
                None => p.hint { (frame.say(words::agenda::choose())) },
            }
        }
    }
}

fn move_form(frame: &PageFrame, to: &str, at: &str) -> Markup {
    html! {
        form.row.wrap method="post" action=(to) data-do {
            (frame.form(to).hidden())
            div.field {
                label for="move-at" { (frame.say(words::agenda::move_to())) }
                input.input id="move-at" type="datetime-local" name="at" value=(at) required;
            }
            button.btn { (frame.say(words::agenda::change())) }
        }
    }
}

fn todo_detail(frame: &PageFrame, todo: &TodoDetail) -> Markup {
    let to = format!("/do/todos/{}/edit", todo.id);
    let priorities = [
        (0, words::agenda::pri_none()),
        (1, words::agenda::pri_high()),
        (2, words::agenda::pri_mid()),
        (3, words::agenda::pri_low()),
    ];
    html! {
        h2 { (visible(&todo.text)) }
        @if let Some(at) = &todo.at { p { span.abs { (at.at) } " "
            span.faint { (at.zone) " · " (at.distance) } } }
        form.gap method="post" action=(to) data-do {
            (frame.form(&to).hidden())
            div.field {
                label for="todo-text" { (frame.say(words::agenda::title_of())) }
                input.input id="todo-text" name="text" value=(todo.text) required maxlength="2000";
            }
            div.fields {
                div.field {
                    label for="todo-due" { (frame.say(words::agenda::due())) }
                    input.input id="todo-due" type="datetime-local" name="due" value=(todo.due);
                }
                div.field {
                    label for="todo-priority" { (frame.say(words::agenda::priority())) }
                    select.select id="todo-priority" name="priority" {
                        @for (number, name) in priorities {
                            option value=(number) selected[todo.priority == number] {
                                (frame.say(name)) }
                        }
                    }
                }
                div.field {
                    label for="todo-tags" { (frame.say(words::agenda::tags())) }
                    input.input id="todo-tags" name="tags" value=(todo.tags);
                }
            }
            p.gap-s { button.btn { (frame.say(words::agenda::change())) } }
        }
    }
}

fn entry_detail(frame: &PageFrame, entry: &EntryDetail) -> Markup {
    let to = |verb: &str| format!("/do/schedules/{}/{verb}", entry.id);
    html! {
        h2 { (visible(&entry.title)) }
        @if let Some(why) = &entry.paused {
            p.note { (icon("pause")) span { (frame.say(words::agenda::paused_since(why))) } }
        }
        dl.facts.sm {
            dt { (frame.say(words::agenda::time())) } dd { (entry.time) }
            @for (name, value) in &entry.facts { dt { (name) } dd { (visible(value)) } }
        }
        div.row.wrap.gap-s {
            @if entry.starts_runs {
                (frame.form(&to("run")).button("btn sm", &[],
                    html! { (icon("play")) (frame.say(words::agenda::run_now())) }))
                @let (verb, name, picture) = if entry.paused.is_some() {
                    ("resume", words::agenda::resume(), "play") } else {
                    ("pause", words::agenda::pause(), "pause") };
                (frame.form(&to(verb)).button("btn sm", &[],
                    html! { (icon(picture)) (frame.say(name)) }))
            }
            (frame.form(&to("delete")).button("btn danger sm", &[],
                html! { (icon("trash")) (frame.say(words::agenda::delete())) }))
        }
        @if let Some(start) = &entry.start { div.gap { (move_form(frame, &to("move"), start)) } }
        (edit_form(frame, entry, &to("edit")))
        h3.sub { (frame.say(words::agenda::next_five())) }
        @if entry.next.is_empty() { p.hint { (frame.say(words::agenda::none_next())) } }
        @else { ol.next { @for at in &entry.next { li { span { (at) } } } } }
        (trouble(frame, entry))
        @if !entry.firings.is_empty() {
            h3.sub { (frame.say(words::agenda::firings())) }
            ul.missed { @for (state, when, word, run) in &entry.firings {
                li data-s=(state) { (state_icon(state)) span { (when) }
                    @match run {
                        Some(run) => a href={ "/runs/" (run) } { (word) },
                        None => span.faint { (word) },
                    } }
            } }
        }
        @if let Some(rule) = &entry.rule { p.mono.faint.xs.gap { (rule) } }
    }
}

/// The title, and in words when it takes place from now on.
fn edit_form(frame: &PageFrame, entry: &EntryDetail, to: &str) -> Markup {
    html! {
        form.gap method="post" action=(to) data-do {
            (frame.form(to).hidden())
            div.fields {
                div.field {
                    label for="entry-title" { (frame.say(words::agenda::title_of())) }
                    input.input id="entry-title" name="title" value=(entry.title) required
                        maxlength="500";
                }
                div.field {
                    label for="entry-when" { (frame.say(words::agenda::when_else())) }
                    input.input id="entry-when" name="when" maxlength="500"
                        placeholder=(frame.say(words::agenda::when_hint()));
                }
            }
            p.gap-s { button.btn.sm { (frame.say(words::agenda::change())) } }
        }
    }
}

/// What happens when a moment is missed, or the run before has not ended.
fn trouble(frame: &PageFrame, entry: &EntryDetail) -> Markup {
    let to = format!("/do/schedules/{}/rules", entry.id);
    let missed = [
        ("once", words::agenda::catch_once()),
        ("skip", words::agenda::catch_skip()),
        ("all", words::agenda::catch_all()),
    ];
    let open = [
        ("skip", words::agenda::over_skip()),
        ("queue_one", words::agenda::over_queue_one()),
        ("cancel_previous", words::agenda::over_cancel_previous()),
        ("allow", words::agenda::over_allow()),
    ];
    html! {
        h3.sub { (frame.say(words::agenda::trouble())) }
        form method="post" action=(to) data-do {
            (frame.form(&to).hidden())
            (chooser(frame, "catch_up", words::agenda::when_missed(), &missed, &entry.catch_up))
            @if entry.starts_runs {
                (chooser(frame, "overlap", words::agenda::when_open(), &open, &entry.overlap))
            }
            p.gap-s { button.btn.sm { (frame.say(words::agenda::change())) } }
        }
    }
}

fn chooser(
    frame: &PageFrame,
    name: &str,
    label: Text,
    all: &[(&str, Text)],
    chosen: &str,
) -> Markup {
    html! {
        div.field.gap-s {
            label for=(name) { (frame.say(label)) }
            select.select id=(name) name=(name) {
                @if chosen.is_empty() {
                    option value="" selected { (frame.say(words::agenda::catch_usual())) } }
                @for (value, words) in all {
                    option value=(value) selected[chosen == *value] { (frame.say(words.clone())) }
                }
            }
        }
    }
}

/// A schedule that starts runs.
pub(super) fn new_run(frame: &PageFrame, agenda: &AgendaView) -> Markup {
    html! {
        details.gap id="new-run" {
            summary.btn.ghost.sm { (icon("plus")) (frame.say(words::agenda::new_run())) }
            form.gap-s method="post" action="/do/agenda/run" data-do data-keep="new-run" {
                (frame.form("/do/agenda/run").hidden())
                p.hint { (frame.say(words::agenda::new_run_about())) }
                div.field {
                    label for="run-when" { (frame.say(words::agenda::when())) }
                    input.input id="run-when" name="when" required maxlength="500"
                        placeholder=(frame.say(words::agenda::when_hint()));
                }
                div.field {
                    label for="run-title" { (frame.say(words::agenda::title_of())) }
                    input.input id="run-title" name="title" required maxlength="500";
                }
                div.field {
                    label for="run-goal" { (frame.say(words::agenda::goal())) }
                    textarea.area id="run-goal" name="goal" rows="3" required {}
                }
                div.field {
                    label for="run-loop" { (frame.say(words::agenda::loop_name())) }
                    select.select id="run-loop" name="loop" {
                        option value="" { (frame.say(words::agenda::catch_usual())) }
                        @for name in &agenda.loops { option value=(name) { (name) } }
                    }
                }
                p.gap-s { button.btn.sm { (frame.say(words::agenda::create())) } }
            }
        }
    }
}

/// Files of other programs, out and in.
pub(super) fn files(frame: &PageFrame) -> Markup {
    html! {
        details id="files" {
            summary.btn.ghost.sm { (icon("file")) (frame.say(words::agenda::files())) }
            div.gap-s {
                p.row.wrap {
                    a.btn.sm href="/agenda/export?what=schedule" {
                        (icon("download")) (frame.say(words::agenda::export_ics())) }
                    a.btn.sm href="/agenda/export?what=todos" {
                        (icon("download")) (frame.say(words::agenda::export_txt())) }
                }
                form.gap-s method="post" action="/do/agenda/import" data-do {
                    (frame.form("/do/agenda/import").hidden())
                    p.hint { (frame.say(words::agenda::import_about())) }
                    input type="file" accept=".ics,.txt,text/calendar,text/plain" data-into="import"
                        aria-label=(frame.say(words::agenda::files()));
                    label.vh for="import" { (frame.say(words::agenda::import_text())) }
                    textarea.area.mono.gap-s id="import" name="text" rows="3" required
                        placeholder=(frame.say(words::agenda::import_text())) {}
                    p.gap-s { button.btn.sm { (frame.say(words::agenda::import())) } }
                }
            }
        }
    }
}

/// A rehearsal of the reminders, drawn.
pub(super) fn rehearsal(frame: &PageFrame, agenda: &AgendaView) -> Markup {
    let usual = || RehearsalView { span: agenda.week.clone(), ..RehearsalView::default() };
    let asked = agenda.rehearsal.clone().unwrap_or_else(usual);
    html! {
        details id="rehearse" open[agenda.rehearsal.is_some()] {
            summary.btn.ghost.sm { (icon("play")) (frame.say(words::agenda::rehearse())) }
            @if let Some((is_right, said)) = &asked.verdict { (rehearsed(&asked, *is_right, said)) }
            form.gap-s method="get" action="/agenda#rehearse" {
                p.hint { (frame.say(words::agenda::rehearse_about())) }
                input type="hidden" name="rehearse" value="1";
                div.fields {
                    div.field {
                        label for="re-from" { (frame.say(words::agenda::rehearse_from())) }
                        input.input id="re-from" type="date" name="from" value=(asked.span.0) required;
                    }
                    div.field {
                        label for="re-to" { (frame.say(words::agenda::rehearse_to())) }
                        input.input id="re-to" type="date" name="until" value=(asked.span.1) required;
                    }
                }
                div.fields.gap-s {
                    div.field {
                        label for="re-down" { (frame.say(words::agenda::rehearse_down())) }
                        input.input id="re-down" type="datetime-local" name="down"
                            value=(asked.down.0);
                    }
                    div.field {
                        label for="re-up" { (frame.say(words::agenda::rehearse_up())) }
                        input.input id="re-up" type="datetime-local" name="up" value=(asked.down.1);
                    }
                }
                label.row.gap-s {
                    input type="checkbox" name="crashes" value="all" checked[asked.crashes];
                    span.sm { (frame.say(words::agenda::rehearse_crash())) }
                }
                p.gap-s { button.btn.sm { (frame.say(words::agenda::rehearse())) } }
            }
        }
    }
}

fn rehearsed(view: &RehearsalView, is_right: bool, said: &str) -> Markup {
    let state = if is_right { "succeeded" } else { "failed" };
    html! {
        p.note.gap role="status" data-s=(state) { (state_icon(state)) span { (said) } }
        @if !view.rows.is_empty() {
            svg.rehearsed aria-hidden="true" {
                line.base x1="0" x2="100%" y1="12" y2="12" {}
                @for row in &view.rows {
                    circle data-s=(row.state) cx={ (format!("{:.1}%", row.place)) } cy="12" r="4" {}
                }
            }
            ul.missed { @for row in &view.rows {
                li data-s=(row.state) { (state_icon(row.state))
                    span { (row.at) " " (visible(&row.title)) }
                    span.faint { (row.late) } }
            } }
        }
    }
}
