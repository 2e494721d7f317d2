//! What a typed line means: a todo or an entry, with its absolute time, before anything is saved.

use super::frame::PageRequest;
use super::respond::page;
use axum::extract::Query;
use axum::response::Response;
use everloop_agenda::commands::{
    AgendaCommand, AgendaVerb, CommandError, NewEntry, NewTodo, ScheduleCommand, TodoCommand,
};
use everloop_agenda::desk::EntryChange;
use everloop_agenda::{kept, show as words_of};
use everloop_app::agenda::arguments::AgendaLine;
use everloop_pages::agenda::{self as view, QuickAdd, QuickReading, ReadTime};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::say;
use everloop_store::{RepeatRule, ScheduleRow, ScheduleText, Span};
use everloop_text::pages as words;
use jiff::Timestamp;
use jiff::civil::{Date, Weekday};
use serde::Deserialize;

/// Occurrences that are shown before an entry is saved.
const NEXT_SHOWN: usize = 5;

/// How far ahead the next occurrences are looked for.
const AHEAD_HOURS: i64 = 24 * 800;

/// A line that is being typed.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct LineParams {
    #[serde(default)]
    text: String,
    /// `todo` or `schedule`, if the person has chosen.
    #[serde(default, rename = "as")]
    kind: String,
}

/// What a line can be read as.
struct LineReadings {
    todo: Result<AgendaCommand, CommandError>,
    entry: Result<AgendaCommand, CommandError>,
}

impl LineReadings {
    fn of(request: &PageRequest, text: &str) -> Self {
        let (plain, priority) = without_priority(text);
        let line = AgendaLine::new(AgendaVerb::Todo, "add").words(&[plain]);
        let todo = line.option("priority", priority.as_ref()).parse(&request.reader);
        let typed: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let line = AgendaLine::new(AgendaVerb::Schedule, "add").words(&typed);
        Self { todo, entry: line.parse(&request.reader) }
    }

    /// A line with a time and nothing else is something to do; what repeats or lasts takes place.
    fn usual(&self) -> &'static str {
        match (&self.todo, &self.entry) {
            (Ok(_), Ok(AgendaCommand::Schedule(ScheduleCommand::Add(entry)))) => {
                let takes_place = entry.repeat.is_some() || entry.minutes.is_some();
                if takes_place { "schedule" } else { "todo" }
            }
            (Err(_), Ok(_)) => "schedule",
            _ => "todo",
        }
    }

    fn take(self, kind: &str) -> Result<AgendaCommand, CommandError> {
        match kind {
            "schedule" => self.entry,
            _ => self.todo,
        }
    }
}

/// The line without a word such as `!high`, and that word's meaning.
fn without_priority(text: &str) -> (String, Option<String>) {
    let mut priority = None;
    let kept = text.split_whitespace().filter(|word| {
        let Some(name) = word.strip_prefix(['!', '！']) else { return true };
        let known = match everloop_agenda::commands::priority(name) {
            Some(1) => "high",
            Some(2) => "medium",
            Some(3) => "low",
            _ => return true,
        };
        priority = Some(known.to_owned());
        false
    });
    (kept.collect::<Vec<_>>().join(" "), priority)
}

/// The command that a line is, as it was chosen or as it is usually read.
pub(super) fn read_line(
    request: &PageRequest,
    text: &str,
    kind: &str,
) -> Result<AgendaCommand, CommandError> {
    let readings = LineReadings::of(request, text);
    let usual = readings.usual();
    readings.take(if kind.is_empty() { usual } else { kind })
}

fn reading(request: &PageRequest, text: &str, kind: &str) -> Option<QuickReading> {
    if text.trim().is_empty() {
        return None;
    }
    let readings = LineReadings::of(request, text);
    let kind = match kind {
        "todo" | "schedule" => kind,
        _ => readings.usual(),
    };
    let kind = if kind == "schedule" { "schedule" } else { "todo" };
    let other = match kind {
        "todo" => readings.entry.is_ok(),
        _ => readings.todo.is_ok(),
    };
    let mut read = QuickReading { kind, has_other: other, ..QuickReading::default() };
    match readings.take(kind) {
        Ok(AgendaCommand::Todo(TodoCommand::Add(new))) => of_todo(request, &new, &mut read),
        Ok(AgendaCommand::Schedule(ScheduleCommand::Add(new))) => {
            read.title = new.title.clone().unwrap_or_default();
            let next = next_times(request, &new);
            let start = new.start.as_ref().map(|start| start.at);
            read.at = start.map(|at| read_time(request, at));
            let shown = if next.is_empty() { start.into_iter().collect() } else { next.clone() };
            read.slots = shown.into_iter().map(|at| slot(request, at)).collect();
            read.next = next.into_iter().map(|at| read_time(request, at).at).collect();
        }
        Ok(_) => {}
        Err(wrong) => read.problem = Some(wrong_words(request, &wrong)),
    }
    Some(read)
}

/// What is wrong with a line, without the usage of a command: here nobody typed one.
pub(super) fn wrong_words(request: &PageRequest, wrong: &CommandError) -> String {
    let said = || words_of::wrong(&request.reader, wrong);
    match wrong {
        CommandError::Usage(_) => say(request.lang(), words::agenda::unread_line()),
        CommandError::Twice(..) | CommandError::BadValue(..) | CommandError::NoSuchOption(..) => {
            said().lines().next().unwrap_or_default().to_owned()
        }
        _ => said(),
    }
}

fn of_todo(request: &PageRequest, new: &NewTodo, read: &mut QuickReading) {
    read.title = new.text.clone().unwrap_or_default();
    read.at = new.due.flatten().map(|due| read_time(request, due));
    read.slots = new.due.flatten().map(|due| slot(request, due)).into_iter().collect();
    read.tags = new.tags.iter().flatten().chain(&new.more_tags).cloned().collect();
    read.priority = new.priority.and_then(|number| priority_words(request, number));
}

/// The word for a priority; none for the usual one.
pub(super) fn priority_words(request: &PageRequest, number: i64) -> Option<String> {
    let name = match number {
        0 => return None,
        1 => words::agenda::pri_high(),
        2 => words::agenda::pri_mid(),
        3 => words::agenda::pri_low(),
        other => return Some(format!("!{other}")),
    };
    Some(say(request.lang(), name))
}

/// A moment as a person checks it: date, day of the week, clock; zone and distance beside it.
pub(super) fn read_time(request: &PageRequest, at: Timestamp) -> ReadTime {
    let now = &request.reader.now;
    let zoned = at.to_zoned(now.time_zone().clone());
    let day = weekday(request, zoned.date());
    let zone = now.time_zone().iana_name().unwrap_or("UTC").to_owned();
    ReadTime {
        at: format!("{} {day} {}", zoned.strftime("%Y-%m-%d"), zoned.strftime("%H:%M")),
        zone,
        distance: distance(request, at.as_millisecond() - now.timestamp().as_millisecond()),
    }
}

/// How far away a moment is, in words.
pub(super) fn distance(request: &PageRequest, ms: i64) -> String {
    let minutes = ms.abs() / 60_000;
    let (days, hours, rest) = (minutes / 1_440, minutes / 60, minutes % 60);
    let far = match (days, hours) {
        (1.., _) => words::agenda::distance_days(&days, &(hours % 24)),
        (0, 1..) => words::agenda::distance_hours(&hours, &rest),
        _ => words::agenda::distance_minutes(&rest),
    };
    let far = say(request.lang(), far);
    let text = if ms < 0 { words::agenda::ago(&far) } else { words::agenda::in_distance(&far) };
    say(request.lang(), text)
}

pub(super) fn weekday(request: &PageRequest, day: Date) -> String {
    let name = match day.weekday() {
        Weekday::Monday => words::weekday::monday(),
        Weekday::Tuesday => words::weekday::tuesday(),
        Weekday::Wednesday => words::weekday::wednesday(),
        Weekday::Thursday => words::weekday::thursday(),
        Weekday::Friday => words::weekday::friday(),
        Weekday::Saturday => words::weekday::saturday(),
        Weekday::Sunday => words::weekday::sunday(),
    };
    say(request.lang(), name)
}

/// The next occurrences of an entry that is not saved yet.
fn next_times(request: &PageRequest, new: &NewEntry) -> Vec<Timestamp> {
    let change = EntryChange::of(new, &request.reader.now, None);
    let (Some(start), Some(Some(repeat))) = (change.start, change.repeat) else {
        return Vec::new();
    };
    let row = ScheduleRow {
        id: 0,
        uid: String::new(),
        said: ScheduleText {
            title: String::new(),
            span: Span {
                starts: start.wall.strftime("%Y-%m-%dT%H:%M").to_string(),
                zone: start.zone,
                starts_at: start.at,
                minutes: change.minutes.unwrap_or(0),
            },
            repeat: Some(RepeatRule {
                rrule: repeat.to_rrule(),
                times: change.times.flatten(),
                on: 1,
            }),
            remind: None,
            catch_up: None,
            run: None,
        },
        remind_next: None,
        created_at: 0,
        updated_at: 0,
        version: 1,
    };
    next_moments(request, &row)
}

/// The place of a moment in the calendar.
fn slot(request: &PageRequest, at: Timestamp) -> String {
    at.to_zoned(request.reader.now.time_zone().clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The next occurrences of an entry.
pub(super) fn next_of(request: &PageRequest, row: &ScheduleRow) -> Vec<String> {
    next_moments(request, row).into_iter().map(|at| read_time(request, at).at).collect()
}

fn next_moments(request: &PageRequest, row: &ScheduleRow) -> Vec<Timestamp> {
    let from = request.reader.now.timestamp();
    let until = from.checked_add(jiff::SignedDuration::from_hours(AHEAD_HOURS)).unwrap_or(from);
    let found = kept::occurrences_between(std::iter::once(row), from, until);
    let ahead = found.held.iter().filter(|held| held.from >= from);
    ahead.take(NEXT_SHOWN).map(|held| held.from).collect()
}

/// How a line is read, as a piece of a page.
pub(crate) async fn parse(Query(params): Query<LineParams>, request: PageRequest) -> Response {
    let frame = request.fragment(NavPlace::Agenda);
    let reading = reading(&request, &params.text, &params.kind);
    page(view::parsed(&frame, &QuickAdd { text: params.text, reading }))
}

#[cfg(test)]
mod tests {
    use super::without_priority;

    #[test]
    fn a_word_with_an_exclamation_mark_is_a_priority_only_if_it_names_one() {
        let read = |text| {
            let (rest, priority) = without_priority(text);
            (rest, priority.unwrap_or_default())
        };
        let seen = |rest: &str, priority: &str| (rest.to_owned(), priority.to_owned());
        assert_eq!(
            read("明天下午三点 交周报 #工作 !高"),
            seen("明天下午三点 交周报 #工作", "high")
        );
        assert_eq!(read("call Ann ！低"), seen("call Ann", "low"));
        assert_eq!(read("say !hello now"), seen("say !hello now", ""));
    }
}
