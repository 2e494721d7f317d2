//! The calendar: hours as rows of a table, days as its columns; a month as weeks.

use super::AgendaView;
use crate::layout::PageFrame;
use crate::parts::icon;
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// Entries that an hour of a week shows, and an hour of a day.
const HOUR_MAX: (usize, usize) = (4, 20);

/// What of the time is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CalendarSpan {
    /// One day.
    Day,
    /// Seven days from Monday on.
    #[default]
    Week,
    /// The weeks of a month.
    Month,
}

impl CalendarSpan {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    /// Its name in addresses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    fn label(self) -> everloop_text::Text {
        match self {
            Self::Day => words::agenda::cal_day(),
            Self::Week => words::agenda::cal_week(),
            Self::Month => words::agenda::cal_month(),
        }
    }
}

/// The calendar.
#[derive(Debug, Clone, Default)]
pub struct Calendar {
    /// What of the time is shown.
    pub span: CalendarSpan,
    /// What it is called.
    pub title: String,
    /// The first and the last hour of the grid.
    pub hours: (i8, i8),
    /// The time of day now.
    pub now: String,
    /// The day that was chosen.
    pub date: String,
    /// The days that lead to the spans before and after.
    pub turn: (String, String),
    /// The days.
    pub days: Vec<CalendarDay>,
}

/// A day of the calendar.
#[derive(Debug, Clone)]
pub struct CalendarDay {
    /// As `2026-11-18`.
    pub date: String,
    /// The name of the day.
    pub name: String,
    /// Its number in the month.
    pub number: String,
    /// Whether it is today.
    pub is_today: bool,
    /// Whether it is a day of the weekend.
    pub is_weekend: bool,
    /// Whether it is of another month than the one that is shown.
    pub is_other: bool,
    /// What takes place.
    pub entries: Vec<CalendarEntry>,
    /// How many more there are.
    pub more: usize,
}

/// What something in the calendar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CalendarMark {
    /// The person does it.
    #[default]
    Mine,
    /// A run starts.
    Auto,
    /// Its run was started.
    Done,
    /// Its run was started later, because no process ran when it was due.
    MadeUp,
    /// An earlier run had not ended.
    Skipped,
    /// No process ran.
    Missed,
    /// No run could be made.
    Failed,
    /// It starts nothing until it is resumed.
    Paused,
    /// A todo is due.
    Due,
}

/// Something in the calendar.
#[derive(Debug, Clone, Default)]
pub struct CalendarEntry {
    /// When.
    pub time: String,
    /// Its hour.
    pub hour: i8,
    /// The quarter of that hour.
    pub quarter: i8,
    /// How long it takes; 0 for a moment.
    pub minutes: i64,
    /// What.
    pub title: String,
    /// What it is.
    pub mark: CalendarMark,
    /// What of the address shows it.
    pub to: String,
    /// How many occurrences it stands for, if they are too many to be drawn one by one.
    pub count: Option<usize>,
    /// What is asked for to move it; nothing if it cannot be moved by itself.
    pub movable: Option<String>,
}

pub(super) fn calendar(frame: &PageFrame, agenda: &AgendaView) -> Markup {
    let calendar = &agenda.calendar;
    let at = |span: CalendarSpan, date: &str| format!("/agenda?cal={}&date={date}", span.name());
    html! {
        section {
            div.sec-head.wrap {
                h2 { (calendar.title) }
                a.btn.ghost.sm.icon-only href=(at(calendar.span, &calendar.turn.0))
                    aria-label=(frame.say(words::agenda::before())) { (icon("left")) }
                a.btn.ghost.sm.icon-only href=(at(calendar.span, &calendar.turn.1))
                    aria-label=(frame.say(words::agenda::after())) { (icon("right")) }
                a.btn.ghost.sm href={ "/agenda?cal=" (calendar.span.name()) } {
                    (frame.say(words::agenda::today())) }
                span.grow {}
                nav.seg aria-label=(frame.say(words::agenda::cal())) {
                    @for span in CalendarSpan::ALL {
                        a href=(at(span, &calendar.date))
                            aria-current=[(span == calendar.span).then_some("true")] {
                            (frame.say(span.label())) }
                    }
                }
            }
            @match calendar.span {
                CalendarSpan::Month => (month(frame, calendar)),
                CalendarSpan::Day | CalendarSpan::Week => (grid(frame, calendar)),
            }
        }
    }
}

fn grid(frame: &PageFrame, calendar: &Calendar) -> Markup {
    html! {
        div.cal-box tabindex="0" role="region" aria-label=(calendar.title) {
            table.cal.one[calendar.days.len() == 1] {
                thead { tr {
                    th.h scope="col" { span.vh { (frame.say(words::agenda::hour())) } }
                    @for day in &calendar.days {
                        th.we[day.is_weekend] scope="col" {
                            span.cal-head.today[day.is_today] { (day.name) " " b { (day.number) } }
                        }
                    }
                } }
                tbody {
                    @for hour in calendar.hours.0..=calendar.hours.1 {
                        tr {
                            th.h scope="row" { (format!("{hour:02}:00")) }
                            @for day in &calendar.days {
                                @let is_now = day.is_today
                                    && calendar.now.starts_with(&format!("{hour:02}:"));
                                td.we[day.is_weekend].now[is_now]
                                    data-drop={ (day.date) " " (format!("{hour:02}:00")) } {
                                    (hour_entries(frame, calendar, day, hour))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What takes place in an hour; what has no room there is on the page of the day.
fn hour_entries(frame: &PageFrame, calendar: &Calendar, day: &CalendarDay, hour: i8) -> Markup {
    let most = if calendar.days.len() == 1 { HOUR_MAX.1 } else { HOUR_MAX.0 };
    let some: Vec<_> = day.entries.iter().filter(|one| one.hour == hour).collect();
    let more = some.len().saturating_sub(most);
    html! {
        @for (at, entry) in some.iter().take(most).enumerate() {
            (calendar_entry(frame, calendar, entry, at))
        }
        @if more > 0 {
            a.faint.xs href={ "/agenda?cal=day&date=" (day.date) } {
                (frame.say(words::agenda::more(&more)))
            }
        }
    }
}

fn month(frame: &PageFrame, calendar: &Calendar) -> Markup {
    html! {
        div.cal-box tabindex="0" role="region" aria-label=(calendar.title) {
            table.cal.month {
                thead { tr { @for day in calendar.days.iter().take(7) {
                    th scope="col" { (day.name) } } } }
                tbody { @for week in calendar.days.chunks(7) {
                    tr { @for day in week {
                        td.we[day.is_weekend].other[day.is_other] data-drop=(day.date) {
                            a.cal-head.today[day.is_today]
                                href={ "/agenda?cal=day&date=" (day.date) } {
                                b { (day.number) } span.vh { " " (day.date) } }
                            @for entry in &day.entries {
                                (calendar_entry(frame, calendar, entry, 0)) }
                            @if day.more > 0 {
                                a.faint.xs href={ "/agenda?cal=day&date=" (day.date) } {
                                    (frame.say(words::agenda::more(&day.more))) }
                            }
                        }
                    } }
                } }
            }
        }
    }
}

fn calendar_entry(
    frame: &PageFrame,
    calendar: &Calendar,
    entry: &CalendarEntry,
    at: usize,
) -> Markup {
    let (class, state, picture) = match entry.mark {
        CalendarMark::Mine => ("me", None, None),
        CalendarMark::Due => ("due", None, Some("flag")),
        CalendarMark::Auto => ("auto", None, Some("repeat")),
        CalendarMark::Paused => ("auto", Some("canceled"), Some("pause")),
        CalendarMark::Done => ("auto", Some("succeeded"), Some("s-succeeded")),
        CalendarMark::MadeUp => ("auto", Some("succeeded"), Some("retry")),
        CalendarMark::Skipped => ("auto miss", Some("skipped"), Some("s-skipped")),
        CalendarMark::Missed => ("auto miss", Some("missed"), Some("s-missed")),
        CalendarMark::Failed => ("auto", Some("failed"), Some("s-failed")),
    };
    let word = match entry.mark {
        CalendarMark::Missed => Some(words::agenda::was_missed()),
        CalendarMark::Paused => Some(words::agenda::paused()),
        CalendarMark::Done => Some(words::agenda::fired()),
        CalendarMark::MadeUp => Some(words::agenda::made_up()),
        CalendarMark::Skipped => Some(words::agenda::was_skipped()),
        CalendarMark::Due => Some(words::agenda::due()),
        CalendarMark::Failed => words::status::named("failed"),
        CalendarMark::Mine | CalendarMark::Auto => None,
    };
    // Half hours, as far as a class for them is worth its bytes.
    let length = ((entry.minutes + 29) / 30).clamp(1, 8);
    let place = format!("ce {class} q{} l{length} c{}", entry.quarter, at.min(3));
    let title = visible(&entry.title);
    let title = match &entry.count {
        Some(count) => frame.say(words::agenda::times(count, &title)),
        None => title,
    };
    let to =
        format!("/agenda?cal={}&date={}&{}#detail", calendar.span.name(), calendar.date, entry.to);
    html! {
        a class=(place) href=(to) data-s=[state] data-move=[entry.movable.as_ref()]
            draggable=[entry.movable.as_ref().map(|_| "true")] title={ (entry.time) " " (title) } {
            @if let Some(picture) = picture { (icon(picture)) }
            @if let Some(word) = word { span.vh { (frame.say(word)) " " } }
            small { (entry.time) } " " (title)
        }
    }
}
