//! Todos and the schedule: quick add with the time that it was read as, the calendar, what comes
//! next.

mod calendar;
mod detail;

pub use calendar::{Calendar, CalendarDay, CalendarEntry, CalendarMark, CalendarSpan};
pub use detail::{AgendaDetail, EntryDetail, RehearsalRow, RehearsalView, TodoDetail};

use crate::layout::{PageFrame, page};
use crate::parts::{SHARED_FORM, icon};
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// Todos and schedule.
#[derive(Debug, Clone, Default)]
pub struct AgendaView {
    /// What was typed and how it was read.
    pub quick: QuickAdd,
    /// The view of the todos: `today`, `upcoming`, `all`, `done`.
    pub shown: String,
    /// The todos of the view that are on this page.
    pub todos: Vec<AgendaTodo>,
    /// The address of the page with more of them.
    pub more_todos: Option<String>,
    /// The entries that repeat or start runs.
    pub entries: Vec<ScheduleItem>,
    /// The calendar.
    pub calendar: Calendar,
    /// What is chosen of it.
    pub detail: Option<AgendaDetail>,
    /// The loops that a run can have.
    pub loops: Vec<String>,
    /// What a rehearsal found.
    pub rehearsal: Option<RehearsalView>,
    /// What was not done in time.
    pub missed: Vec<MissedMoment>,
    /// What a change came to.
    pub told: Option<String>,
    /// A line that was not saved because other entries take place then.
    pub conflict: Option<ConflictOffer>,
    /// The days that a rehearsal usually looks at: the first and the last.
    pub week: (String, String),
}

/// A line that can still be saved.
#[derive(Debug, Clone, Default)]
pub struct ConflictOffer {
    /// What is in the way.
    pub said: String,
    /// The line.
    pub text: String,
    /// What it was read as.
    pub kind: String,
    /// The next free moment, in milliseconds and in words.
    pub free: Option<(i64, String)>,
}

/// A moment at which no process ran.
#[derive(Debug, Clone)]
pub struct MissedMoment {
    /// `missed`, or `succeeded` if it was made up for.
    pub state: &'static str,
    /// What.
    pub title: String,
    /// When.
    pub when: String,
    /// What was done about it.
    pub done: String,
}

/// What is typed to add something.
#[derive(Debug, Clone, Default)]
pub struct QuickAdd {
    /// What was typed.
    pub text: String,
    /// How it was read.
    pub reading: Option<QuickReading>,
}

/// How a line was read.
#[derive(Debug, Clone, Default)]
pub struct QuickReading {
    /// `todo` or `schedule`.
    pub kind: &'static str,
    /// Whether it can be read as the other, too.
    pub has_other: bool,
    /// What it is called.
    pub title: String,
    /// The absolute time.
    pub at: Option<ReadTime>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its priority, unless it is the usual one.
    pub priority: Option<String>,
    /// The next occurrences, if it repeats.
    pub next: Vec<String>,
    /// Where it will stand in the calendar: `2026-11-20 16:00`.
    pub slots: Vec<String>,
    /// What is wrong with it.
    pub problem: Option<String>,
}

/// A time as it was read.
#[derive(Debug, Clone)]
pub struct ReadTime {
    /// Date, day of the week, clock.
    pub at: String,
    /// The zone.
    pub zone: String,
    /// How far away it is.
    pub distance: String,
}

/// A todo.
#[derive(Debug, Clone)]
pub struct AgendaTodo {
    /// Its number.
    pub id: i64,
    /// What is to be done.
    pub text: String,
    /// When it is due.
    pub due: Option<String>,
    /// Whether that is over.
    pub is_late: bool,
    /// Whether it is done.
    pub is_done: bool,
    /// Its priority, unless it is the usual one.
    pub priority: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
}

/// An entry that repeats or starts runs.
#[derive(Debug, Clone)]
pub struct ScheduleItem {
    /// Its number.
    pub id: i64,
    /// What it is called.
    pub title: String,
    /// How it repeats.
    pub repeats: String,
    /// When it is due next.
    pub next: Option<String>,
    /// Whether it starts runs.
    pub starts_runs: bool,
    /// Whether it is paused.
    pub is_paused: bool,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, agenda: &AgendaView) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar {
                (frame.menu_button())
                h1 { (frame.say(words::nav::agenda())) }
                span.grow {}
                (frame.form("/do/agenda/undo").button("btn ghost sm", &[],
                    html! { (icon("undo")) span.hide-s { (frame.say(words::agenda::undo())) } }))
            }
            div.banner-place id="banner" {}
            div.scroll { div.agenda {
                (quick(frame, &agenda.quick))
                div id="told" data-live {
                    @if let Some(told) = &agenda.told {
                        p.note role="status" { (icon("check")) span.pre { (visible(told)) } }
                    }
                    @if let Some(conflict) = &agenda.conflict { (conflicting(frame, conflict)) }
                }
                div.agenda-cols {
                    div id="agenda-lists" data-live {
                        (todos(frame, agenda)) (entries(frame, agenda))
                        (detail::new_run(frame, agenda)) (detail::files(frame))
                        (detail::rehearsal(frame, agenda)) }
                    div id="agenda-week" data-live {
                        (calendar::calendar(frame, agenda))
                        (detail::detail(frame, agenda))
                    }
                }
            } }
        }
    };
    page(frame, &main, None)
}

pub(crate) fn quick(frame: &PageFrame, quick: &QuickAdd) -> Markup {
    html! {
        form.quick method="post" action="/do/agenda/add" id="quick" data-keep="quick" {
            (frame.form("/do/agenda/add").hidden())
            div.quick-in {
                (icon("plus"))
                label.vh for="quick-text" { (frame.say(words::agenda::add())) }
                input id="quick-text" name="text" value=(quick.text) autocomplete="off" required
                    placeholder=(frame.say(words::agenda::hint())) maxlength="2000";
                button.btn.ink.sm { (frame.say(words::agenda::save())) }
            }
            div id="parsed" role="status" { (parsed(frame, quick)) }
        }
    }
}

/// What is in the way of a line, and what can be done with it.
fn conflicting(frame: &PageFrame, conflict: &ConflictOffer) -> Markup {
    html! {
        form method="post" action="/do/agenda/add" data-do {
            (frame.form("/do/agenda/add").hidden())
            input type="hidden" name="text" value=(conflict.text);
            input type="hidden" name="as" value=(conflict.kind);
            div.note role="alert" data-s="failed" {
                (icon("warn"))
                div.grow {
                    p { b { (visible(&conflict.text)) } }
                    p.pre { (visible(&conflict.said)) }
                    p.row.wrap.gap-s {
                        button.btn.sm name="allow" value="yes" {
                            (frame.say(words::agenda::save_anyway())) }
                        @if let Some((at, said)) = &conflict.free {
                            button.btn.sm name="at" value=(at) {
                                (frame.say(words::agenda::save_at(said))) }
                        }
                    }
                }
            }
        }
    }
}

/// How a line was read, before it is saved.
#[must_use]
pub fn parsed(frame: &PageFrame, quick: &QuickAdd) -> Markup {
    let Some(reading) = &quick.reading else { return html! {} };
    let kinds = [("todo", words::agenda::as_todo()), ("schedule", words::agenda::as_entry())];
    html! {
        div.parsed data-slots=[(!reading.slots.is_empty()).then(|| reading.slots.join(","))]
            data-title=(visible(&reading.title)) data-soon=(frame.say(words::agenda::soon())) {
            span.seg role="radiogroup" aria-label=(frame.say(words::agenda::read_as())) {
                @for (kind, name) in kinds {
                    @let is_this = reading.kind == kind;
                    @if is_this || reading.has_other {
                        label.read-as.on[is_this] {
                            input.vh type="radio" name="as" value=(kind) checked[is_this];
                            (frame.say(name))
                        }
                    }
                }
            }
            @if let Some(problem) = &reading.problem {
                span.st data-s="failed" { (icon("warn")) } span { (problem) }
            } @else {
                b { (visible(&reading.title)) }
                @if let Some(priority) = &reading.priority { span.pri { (priority) } }
                @for tag in &reading.tags { span.chip { (icon("tag")) (tag) } }
                @if let Some(at) = &reading.at {
                    span.abs { (at.at) } span.faint { (at.zone) " · " (at.distance) }
                } @else { span.faint { (frame.say(words::agenda::no_time())) } }
                @if !reading.next.is_empty() {
                    div.five {
                        span.faint { (frame.say(words::agenda::next_times())) }
                        ol { @for at in &reading.next { li { (at) } } }
                    }
                }
            }
        }
    }
}

fn todos(frame: &PageFrame, agenda: &AgendaView) -> Markup {
    let views = [
        ("today", words::agenda::today()),
        ("upcoming", words::agenda::upcoming()),
        ("all", words::inbox::all()),
        ("done", words::agenda::done()),
    ];
    html! {
        section {
            div.sec-head { h2 { (frame.say(words::agenda::todos())) } }
            nav.seg aria-label=(frame.say(words::inbox::filter())) {
                @for (name, label) in views {
                    a href={ "/agenda?view=" (name) }
                        aria-current=[(agenda.shown == name).then_some("true")] {
                        (frame.say(label))
                    }
                }
            }
            @if agenda.todos.is_empty() { p.hint.gap { (frame.say(words::agenda::no_todos())) } }
            @for todo in &agenda.todos { (todo_row(frame, todo)) }
            @if let Some(more) = &agenda.more_todos {
                p.gap { a.btn.sm href=(more) { (frame.say(words::inbox::more())) } }
            }
        }
    }
}

fn todo_row(frame: &PageFrame, todo: &AgendaTodo) -> Markup {
    let verb = if todo.is_done { "reopen" } else { "done" };
    let to = format!("/do/todos/{}/{verb}", todo.id);
    let delete = format!("/do/todos/{}/delete", todo.id);
    let name = if todo.is_done { words::agenda::reopen() } else { words::agenda::mark_done() };
    let text = visible(&todo.text);
    html! {
        div.todo.late[todo.is_late].done[todo.is_done] {
            button.check.on[todo.is_done] form=(SHARED_FORM) formaction=(to)
                aria-label={ (frame.say(name)) ": " (text) } {
                @if todo.is_done { (icon("check")) }
            }
            div.grow {
                a.t href={ "/agenda?todo=" (todo.id) "#detail" } { (text) }
                @if let Some(priority) = &todo.priority { span.pri { (priority) } }
                p {
                    @if let Some(due) = &todo.due { span.due { (due) } }
                    @for tag in &todo.tags { span { "#" (tag) } }
                    span { (frame.say(words::agenda::number(&todo.id))) }
                }
            }
            @if !todo.is_done { (detail::postpone(frame, todo)) }
            button.btn.ghost.sm.icon-only form=(SHARED_FORM) formaction=(delete)
                aria-label={ (frame.say(words::agenda::delete())) ": " (text) } { (icon("x")) }
        }
    }
}

fn entries(frame: &PageFrame, agenda: &AgendaView) -> Markup {
    html! {
        section.gap {
            div.sec-head { h2 { (frame.say(words::agenda::schedules())) } }
            @if agenda.entries.is_empty() { p.hint { (frame.say(words::agenda::no_entries())) } }
            @for entry in &agenda.entries { (entry_row(frame, entry)) }
            @if !agenda.missed.is_empty() {
                h3.sub { (frame.say(words::agenda::missed())) }
                ul.missed {
                    @for one in &agenda.missed {
                        li data-s=(one.state) { (icon(&format!("s-{}", one.state)))
                            span { (visible(&one.title)) small.faint { (one.done) } }
                            span.faint { (one.when) } }
                    }
                }
            }
        }
    }
}

fn entry_row(frame: &PageFrame, entry: &ScheduleItem) -> Markup {
    let to = |verb: &str| format!("/do/schedules/{}/{verb}", entry.id);
    let title = visible(&entry.title);
    let (verb, name, picture) = match entry.is_paused {
        true => ("resume", words::agenda::resume(), "play"),
        false => ("pause", words::agenda::pause(), "pause"),
    };
    html! {
        div.sched.off[entry.is_paused] {
            (icon(if entry.starts_runs { "repeat" } else { "agenda" }))
            div.grow {
                a href={ "/agenda?entry=" (entry.id) "#detail" } { b { (title) } }
                small { (entry.repeats)
                    @if let Some(next) = &entry.next {
                        " · " (frame.say(words::agenda::next(next))) } }
            }
            @if entry.starts_runs {
                (frame.form(&to("run")).button("btn ghost sm", &[],
                    html! { (frame.say(words::agenda::run_now())) }))
                form.one method="post" action=(to(verb)) data-do {
                    (frame.form(&to(verb)).hidden())
                    button.btn.ghost.sm.icon-only
                        aria-label={ (frame.say(name)) ": " (title) } { (icon(picture)) }
                }
            }
            form.one method="post" action=(to("delete")) data-do {
                (frame.form(&to("delete")).hidden())
                button.btn.ghost.sm.icon-only
                    aria-label={ (frame.say(words::agenda::delete())) ": " (title) } {
                    (icon("x"))
                }
            }
        }
    }
}
