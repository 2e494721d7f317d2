//! `everloop clean` and `everloop runs delete`: less data, by a person's own wish.

use crate::args::{CleanArgs, DeleteRunsArgs};
use everloop_app::cleaning::{self, Cleaning, CleaningReport, RunDeletion};
use everloop_app::portable::find_runs;
use everloop_console::{Agreement, Console, Exit, Failure, terminal};
use everloop_store::{Removal, Store};
use everloop_text as text;
use everloop_types::RunId;

pub(crate) async fn clean(app: &Console, args: &CleanArgs) -> Result<Exit, Failure> {
    let cleaning = app.checked(Cleaning::plan(app, args.older_than).await)?;
    if args.dry_run {
        tell(app, &app.checked(cleaning.foresee(app).await)?, args);
        return Ok(Exit::Done);
    }
    if !cleaning.old.is_empty() {
        app.agree(args.yes, deletion(cleaning.old.len())).await?;
    }
    let report = app.checked(cleaning.clean(app).await)?;
    if let Some(cause) = &report.busy {
        app.note(text::clean::busy(cause));
    }
    tell(app, &report, args);
    Ok(Exit::Done)
}

fn tell(app: &Console, report: &CleaningReport, args: &CleanArgs) {
    if args.json {
        return terminal::print_json(report);
    }
    let (trimmed, before, after) = (&report.trimmed, &report.bytes_before, &report.bytes_after);
    let deleted = &report.deleted.len();
    terminal::print_line(&app.text(if args.dry_run {
        text::clean::Would { trimmed, deleted, before }.text()
    } else {
        text::clean::Done { trimmed, deleted, before, after }.text()
    }));
}

pub(crate) async fn delete(
    app: &Console,
    store: Store,
    args: &DeleteRunsArgs,
) -> Result<Exit, Failure> {
    let runs = app.checked(find_runs(app, &store, &args.id).await)?;
    if !args.dry_run {
        app.agree(args.yes, deletion(runs.len())).await?;
    }
    let mut exit = Exit::Done;
    for run in &runs {
        let removed = match args.dry_run {
            true => Removal::Gone(vec![run.clone()]),
            false => app.checked(cleaning::delete_run(app, &store, run, "user").await)?,
        };
        if !matches!(removed, Removal::Gone(_)) {
            exit = Exit::Failed;
        }
        say(app, run, &removed, args);
    }
    if !args.dry_run {
        app.checked(cleaning::give_space_back(&store).await)?;
    }
    Ok(exit)
}

/// What became of one run that was named.
fn say(app: &Console, run: &RunId, removed: &Removal, args: &DeleteRunsArgs) {
    if args.json {
        return terminal::print_json(&RunDeletion::of(run, removed, args.dry_run));
    }
    terminal::print_line(&app.text(match removed {
        Removal::Gone(_) if args.dry_run => text::runs::would_delete(&run.short()),
        Removal::Gone(gone) => text::runs::deleted(&run.short(), &gone.len().saturating_sub(1)),
        Removal::NotOver(other) => text::runs::not_over(&run.short(), &other.short()),
        Removal::Unsent(other) => text::runs::unsent(&run.short(), &other.short()),
        Removal::NoSuchRun => text::run::not_found(run),
    }));
}

/// Deleting cannot be taken back, so a person says yes, or `--yes` has.
fn deletion(count: usize) -> Agreement {
    Agreement {
        question: text::runs::delete_sure(&count),
        needs_yes: text::runs::delete_needs_yes(&count),
        declined: text::runs::not_deleted(),
    }
}
