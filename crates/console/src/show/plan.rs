//! The plan of a run, line by line.

use crate::console::Console;
use crate::terminal::Marks;
use everloop_app::plan_change::PlanChange;
use everloop_markdown::{StyledLine, Tone};
use everloop_text as text;
use everloop_types::{ItemState, Lang, PlanItem, Progress, one_line};

/// Where a plan stands: its version and the steps used, or the round and the step of it (PET-9).
pub fn plan_head(app: &Console, progress: &Progress) -> StyledLine {
    StyledLine::new(Tone::Accent, &head_words(app, progress))
}

fn head_words(app: &Console, progress: &Progress) -> String {
    let Some(round) = progress.round else {
        let version = progress.version.to_string();
        let (steps, most) = (progress.steps.to_string(), progress.steps_max.to_string());
        let head = app.text(
            text::progress::Plan { version: &version, steps: &steps, steps_max: &most }.text(),
        );
        return [vec![head], current(app, progress)].concat().join(" · ");
    };
    let run = progress.items.iter().filter(|item| item.state != ItemState::Pending).count();
    let rounds = &round.most;
    let round = &round.number;
    let steps = &progress.items.len();
    app.text(match progress.current {
        Some(place) => text::progress::Round { round, rounds, step: &(place + 1), steps }.text(),
        None => text::progress::RoundOver { round, rounds, step: &run, steps }.text(),
    })
}

/// The current item as i/N, and how many actions failed (PR-12).
fn current(app: &Console, progress: &Progress) -> Vec<String> {
    let place = progress.current.map(|place| {
        let (n, total) = ((place + 1).to_string(), progress.items.len().to_string());
        app.text(text::progress::current(&n, &total))
    });
    let failed = (progress.failed > 0).then(|| {
        let count = progress.failed.to_string();
        app.text(text::progress::failed(&count))
    });
    place.into_iter().chain(failed).collect()
}

/// The line about a plan that was changed, if it was: which step failed, and what is new.
pub(crate) fn replanned(app: &Console, before: &Progress, now: &Progress) -> Option<String> {
    let change = PlanChange::between(before, now)?;
    let failed = change
        .failed
        .map(|(number, item)| app.text(text::progress::step_failed(&number, &one_line(&item))));
    let new: Vec<String> = change.new.iter().map(|item| one_line(item)).collect();
    let new = (!new.is_empty()).then(|| app.text(text::progress::new_steps(&new.join(" · "))));
    let reason: Vec<String> = failed.into_iter().chain(new).collect();
    let between = if app.lang == Lang::ZhCn { "\u{ff1b}" } else { "; " };
    Some(app.text(if reason.is_empty() {
        text::progress::replanned(&change.version)
    } else {
        text::progress::replanned_for(&change.version, &reason.join(between))
    }))
}

/// The items of a plan, one a line. What was closed without a tool has a word of its own.
pub fn plan_lines(app: &Console, progress: &Progress, marks: &Marks) -> Vec<StyledLine> {
    let no_tool = app.text(text::progress::no_tool());
    let look = |item: &PlanItem| match item.state {
        ItemState::Pending => (Tone::Plain, marks.open),
        ItemState::InProgress => (Tone::Strong, marks.now),
        ItemState::Completed => (Tone::Good, marks.done),
        ItemState::Failed => (Tone::Bad, marks.failed),
        ItemState::Skipped => (Tone::Dim, marks.skipped),
    };
    let line = |(number, item): (i32, &PlanItem)| {
        let (tone, mark) = look(item);
        let claim = if item.used_no_tool() { no_tool.as_str() } else { "" };
        let words = format!("  {mark} {number} {}{claim}", one_line(&item.text));
        StyledLine::new(tone, &words).hanging(4)
    };
    (1..).zip(&progress.items).map(line).collect()
}

/// The same, with the journal entries behind each closed item.
pub fn backed_plan_lines(app: &Console, progress: &Progress, marks: &Marks) -> Vec<StyledLine> {
    let lines = plan_lines(app, progress, marks).into_iter().zip(&progress.items);
    let line = |(line, item): (StyledLine, &PlanItem)| match item.evidence.as_deref() {
        None | Some([]) => line,
        Some(entries) => line.with(Tone::Dim, &format!("  ({})", entry_numbers(entries))),
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
