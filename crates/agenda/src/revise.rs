//! Another time for a command that was proposed: "改成四点", "no, Friday".
//!
//! The correction is read together with the command: a time of day keeps the day, a day keeps the
//! time. A reminder keeps its lead time. Anything else is not a correction.

use crate::commands::{
    self, AgendaCommand, FirstOccurrence, NewEntry, NewTodo, Remind, ScheduleCommand, TodoCommand,
};
use jiff::{Timestamp, Zoned};

/// The command with the time that a correction names, if it names one.
#[must_use]
pub fn revised(line: &str, correction: &str, now: &Zoned) -> Option<String> {
    let phrase = everloop_text::corrected(correction);
    let command = commands::parse(line, now).ok().filter(|_| !phrase.is_empty())?;
    let new = match command {
        AgendaCommand::Schedule(ScheduleCommand::Add(old))
            if old.repeat.as_ref().is_none_or(Option::is_none) =>
        {
            AgendaCommand::Schedule(ScheduleCommand::Add(entry(old, &phrase, now)?))
        }
        AgendaCommand::Todo(TodoCommand::Add(old)) => {
            AgendaCommand::Todo(TodoCommand::Add(todo(old, &phrase, now)?))
        }
        _ => return None,
    };
    Some(commands::canonical(&new, now))
}

fn entry(old: NewEntry, phrase: &str, now: &Zoned) -> Option<NewEntry> {
    let was = old.start?;
    let start = FirstOccurrence::at(commands::shifted(was.at, phrase, now)?, now);
    let remind = old.remind.map(|remind| moved(remind, was.at, start.at));
    Some(NewEntry { start: Some(start), remind, ..old })
}

fn todo(old: NewTodo, phrase: &str, now: &Zoned) -> Option<NewTodo> {
    let due = old.due.flatten()?;
    let new = commands::shifted(due, phrase, now)?;
    let remind = old.remind.map(|remind| moved(remind, due, new));
    Some(NewTodo { due: Some(Some(new)), remind, ..old })
}

/// The reminder with the same lead time. A relative one stays as it is.
fn moved(remind: Remind, from: Timestamp, to: Timestamp) -> Remind {
    match remind {
        Remind::At(at) => Remind::At(to + at.duration_since(from)),
        Remind::Never | Remind::Before(_) => remind,
    }
}

#[cfg(test)]
mod tests {
    use super::revised;
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    #[test]
    fn a_correction_changes_the_time_and_nothing_else() {
        let now = date(2026, 11, 16).at(8, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        let entry = "/schedule add 2026-11-17 15:00 开会 --duration 30";
        for (said, expected) in [
            ("改成下午四点", "/schedule add 2026-11-17 16:00 开会 --duration 30"),
            ("是后天", "/schedule add 2026-11-18 15:00 开会 --duration 30"),
            ("make it 5pm", "/schedule add 2026-11-17 17:00 开会 --duration 30"),
            ("后天下午四点", "/schedule add 2026-11-18 16:00 开会 --duration 30"),
        ] {
            assert_eq!(revised(entry, said, &now).as_deref(), Some(expected), "{said}");
        }
        let todo = "/todo add 交周报 --due \"2026-11-17 18:00\" --remind \"2026-11-17 17:00\"";
        let moved = "/todo add 交周报 --due \"2026-11-18 18:00\" --remind \"2026-11-18 17:00\"";
        assert_eq!(revised(todo, "改到后天", &now).as_deref(), Some(moved));
        for said in ["改成大一点", "没听懂", "", "删掉"] {
            assert_eq!(revised(entry, said, &now), None, "{said}");
        }
    }
}
