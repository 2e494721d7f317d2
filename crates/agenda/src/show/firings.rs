//! Reminders, as lines in the terminal.

use super::Reader;
use everloop_store::{FiredAs, Firing, FiringKind};
use everloop_types::one_line;

/// Moments of one batch that are named.
const NAMED_MAX: usize = 3;

/// Reminders, one a line; of what was missed one line for each thing, however often.
#[must_use]
pub fn firing_lines(reader: &Reader, firings: &[Firing]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = firings;
    while let Some(first) = rest.first() {
        let same = |firing: &&Firing| {
            firing.state == FiredAs::Missed
                && (firing.due.kind, firing.due.subject) == (first.due.kind, first.due.subject)
        };
        let missed = rest.iter().take_while(same).count();
        lines.push(match missed {
            0 | 1 => firing_line(reader, first),
            count => missed_line(reader, &rest[..count]),
        });
        rest = &rest[missed.max(1)..];
    }
    lines
}

fn missed_line(reader: &Reader, missed: &[Firing]) -> String {
    let last = missed.iter().rev().take(NAMED_MAX).rev();
    let mut moments: Vec<String> = last.map(|firing| reader.moment(firing.due.due_at)).collect();
    if missed.len() > NAMED_MAX {
        moments.insert(0, "…".to_owned());
    }
    let (count, moments) = (missed.len().to_string(), reader.joined(&moments));
    let (id, title) = (missed[0].due.subject.to_string(), one_line(&missed[0].title));
    let args = [
        ("id", id.as_str()),
        ("title", title.as_str()),
        ("count", count.as_str()),
        ("moments", moments.as_str()),
    ];
    reader.text("reminder.missed_batch", &args)
}

/// A reminder, as its line in the terminal.
#[must_use]
pub fn firing_line(reader: &Reader, firing: &Firing) -> String {
    // What rings at its own time begins now, or is a reminder and nothing else.
    let at_its_time = firing.due.due_at == firing.occurs_at;
    let key = match (firing.due.kind, firing.state) {
        (FiringKind::Schedule, FiredAs::Fired) if at_its_time => "reminder.now",
        (FiringKind::Schedule, FiredAs::Late) if at_its_time => "reminder.now_late",
        (FiringKind::Schedule, FiredAs::Missed) if at_its_time => "reminder.now_missed",
        (FiringKind::Todo, FiredAs::Fired) => "reminder.todo",
        (FiringKind::Todo, FiredAs::Late) => "reminder.todo_late",
        (FiringKind::Todo, FiredAs::Missed) => "reminder.todo_missed",
        (FiringKind::Schedule, FiredAs::Fired) => "reminder.schedule",
        (FiringKind::Schedule, FiredAs::Late) => "reminder.schedule_late",
        (FiringKind::Schedule, FiredAs::Missed) => "reminder.schedule_missed",
    };
    let (due, occurs) = (reader.moment(firing.due.due_at), reader.moment(firing.occurs_at));
    let (id, title) = (firing.due.subject.to_string(), one_line(&firing.title));
    let args = [
        ("id", id.as_str()),
        ("title", title.as_str()),
        ("due", due.as_str()),
        ("at", occurs.as_str()),
    ];
    reader.text(key, &args)
}
