//! Reminders, as lines in the terminal.

use super::DisplayContext;
use everloop_store::{Firing, FiringKind, FiringOutcome};
use everloop_text::{self as text, reminder};
use everloop_types::one_line;

/// Moments of one batch that are named.
const NAMED_MAX: usize = 3;

/// Reminders, one per line; missed ones have one line per item.
#[must_use]
pub fn firing_lines(reader: &DisplayContext, firings: &[Firing]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = firings;
    while let Some(first) = rest.first() {
        let same = |firing: &&Firing| {
            firing.state == FiringOutcome::Missed
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

/// The same, with the commands that answer the last one.
#[must_use]
pub fn hinted_lines(reader: &DisplayContext, firings: &[Firing]) -> Vec<String> {
    let mut lines = firing_lines(reader, firings);
    let newest = firings.iter().max_by_key(|firing| (firing.fired_at, firing.due.due_at));
    lines.extend(newest.map(|firing| {
        reader.text(match firing.due.kind {
            FiringKind::Todo => reminder::hint::todo(),
            FiringKind::Schedule => reminder::hint::entry(),
        })
    }));
    lines
}

fn missed_line(reader: &DisplayContext, missed: &[Firing]) -> String {
    let last = missed.iter().rev().take(NAMED_MAX).rev();
    let mut moments: Vec<String> = last.map(|firing| reader.moment(firing.due.due_at)).collect();
    if missed.len() > NAMED_MAX {
        moments.insert(0, "…".to_owned());
    }
    let (count, moments) = (missed.len().to_string(), reader.joined(&moments));
    let (id, title) = (missed[0].due.subject.to_string(), one_line(&missed[0].title));
    reader.text(
        text::reminder::MissedBatch { count: &count, id: &id, title: &title, moments: &moments }
            .text(),
    )
}

/// A reminder, as its line in the terminal.
#[must_use]
pub fn firing_line(reader: &DisplayContext, firing: &Firing) -> String {
    // It reminds at its own time: it begins now, or is only a reminder.
    let at_its_time = firing.due.due_at == firing.occurs_at;
    let id = &firing.due.subject;
    let title = &one_line(&firing.title);
    let due = &reader.moment(firing.due.due_at);
    let at = &reader.moment(firing.occurs_at);
    reader.text(match (firing.due.kind, firing.state) {
        (FiringKind::Schedule, FiringOutcome::Fired) if at_its_time => {
            reminder::Now { id, title, at }.text()
        }
        (FiringKind::Schedule, FiringOutcome::Late) if at_its_time => {
            reminder::NowLate { id, title, due }.text()
        }
        (FiringKind::Schedule, FiringOutcome::Missed) if at_its_time => {
            reminder::NowMissed { id, title, due }.text()
        }
        (FiringKind::Todo, FiringOutcome::Fired) => reminder::Todo { id, title, at }.text(),
        (FiringKind::Todo, FiringOutcome::Late) => reminder::TodoLate { due, id, title, at }.text(),
        (FiringKind::Todo, FiringOutcome::Missed) => {
            reminder::TodoMissed { due, id, title, at }.text()
        }
        (FiringKind::Schedule, FiringOutcome::Fired) => reminder::Schedule { id, title, at }.text(),
        (FiringKind::Schedule, FiringOutcome::Late) => {
            reminder::ScheduleLate { due, id, title, at }.text()
        }
        (FiringKind::Schedule, FiringOutcome::Missed) => {
            reminder::ScheduleMissed { due, id, title, at }.text()
        }
    })
}
