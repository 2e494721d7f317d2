//! `everloop diff`: where two runs part, and what became of each.

use crate::args::DiffArgs;
use everloop_app::run_diff::{DiffEntry, DiffSide, RunDiff};
use everloop_console::show::{preview, summary};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_engine::DifferenceKind;
use everloop_text::{self as text, Text};
use everloop_types::{one_line, spelled};

pub(crate) async fn diff(app: &Console, args: &DiffArgs) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let diff = app.checked(RunDiff::read(app, &store, [&args.one, &args.other]).await)?;
    match (args.json, diff.differs) {
        (true, _) => terminal::print_json(&diff.report()),
        (false, Some(differs)) => tell(app, differs, &diff.sides),
        (false, None) => terminal::print_line(&app.text(text::diff::same())),
    }
    Ok(if diff.differs.is_none() { Exit::Done } else { Exit::Failed })
}

fn tell(app: &Console, differs: DifferenceKind, sides: &[DiffSide; 2]) {
    terminal::print_line(&app.text(difference(differs)));
    for side in sides {
        let run = side.details.row.run.short();
        let line = match &side.entry {
            Some(DiffEntry { seq, kind, says }) => {
                let says = preview(says);
                app.text(text::diff::At { id: &run, seq, kind, says: &says }.text())
            }
            None => app.text(text::diff::stands(&run)),
        };
        terminal::print_line(&line);
    }
    for side in sides {
        terminal::print_line("");
        terminal::print_line(&after(app, side));
        if let Some(text) = side.details.text() {
            terminal::print_line(&spelled(&text));
        }
    }
}

fn difference(differs: DifferenceKind) -> Text {
    match differs {
        DifferenceKind::Goal => text::diff::goal(),
        DifferenceKind::Loop => text::diff::r#loop(),
        DifferenceKind::Decision => text::diff::decision(),
        DifferenceKind::Reply => text::diff::reply(),
        DifferenceKind::Outcome => text::diff::outcome(),
        DifferenceKind::Input => text::diff::input(),
        DifferenceKind::Ending => text::diff::ending(),
        DifferenceKind::OnlyOne => text::diff::only_one(),
    }
}

/// What became of one of them.
fn after(app: &Console, side: &DiffSide) -> String {
    let tools = one_line(&side.tools_after.join(", "));
    let tools = if tools.is_empty() { "–".to_owned() } else { tools };
    let after = text::diff::after(&side.details.row.run.short(), &tools);
    format!("{}\n{}", app.text(after), summary(app, &side.details))
}
