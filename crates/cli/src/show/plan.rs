//! The plan of a run, line by line.

use crate::app::App;
use crate::terminal::Marks;
use everloop_types::{ItemState, PlanItem, Progress};

/// The items of a plan, one a line. What was only claimed has a mark and a word of its own.
pub(crate) fn plan_lines(app: &App, progress: &Progress, marks: &Marks) -> Vec<String> {
    let claimed = app.text("progress.claimed", &[]);
    let mark = |item: &PlanItem| match item.state {
        ItemState::Pending => marks.open,
        ItemState::InProgress => marks.now,
        ItemState::Completed if item.is_only_claimed() => marks.claimed,
        ItemState::Completed => marks.done,
        ItemState::Failed => marks.failed,
        ItemState::Skipped => marks.skipped,
    };
    let line = |(number, item): (i32, &PlanItem)| {
        let claim = if item.is_only_claimed() { claimed.as_str() } else { "" };
        format!("  {} {number} {}{claim}", mark(item), item.text)
    };
    (1..).zip(&progress.items).map(line).collect()
}

/// The same, with the journal entries behind each closed item.
pub(crate) fn backed_plan_lines(app: &App, progress: &Progress, marks: &Marks) -> Vec<String> {
    let lines = plan_lines(app, progress, marks).into_iter().zip(&progress.items);
    let line = |(line, item): (String, &PlanItem)| match item.evidence.as_deref() {
        None | Some([]) => line,
        Some(entries) => format!("{line}  ({})", entry_numbers(entries)),
    };
    lines.map(line).collect()
}

fn entry_numbers(entries: &[i64]) -> String {
    const SHOWN: usize = 6;
    let first: Vec<String> = entries.iter().take(SHOWN).map(|seq| format!("#{seq}")).collect();
    match entries.len().saturating_sub(SHOWN) {
        0 => first.join(" "),
        more => format!("{} … +{more}", first.join(" ")),
    }
}
