//! `everloop clean` and `everloop runs delete`: less data, by a person's own wish.

use crate::args::{Clean, DeleteRuns};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::error::chain;
use everloop_app::upkeep;
use everloop_store::{Removal, Store};
use everloop_text::{self as text, Text};
use everloop_tools::forget_records;
use everloop_types::RunId;
use serde_json::json;

/// What a cleaning does, or would do.
#[derive(Default)]
struct Cleaned {
    /// Runs whose journal was shortened.
    trimmed: u64,
    /// Runs that are gone.
    deleted: Vec<RunId>,
    /// The size of the database before and after.
    bytes: (u64, u64),
}

pub(crate) async fn clean(app: &Console, args: &Clean) -> Result<Exit, Failure> {
    let fail = |error| app.store_failure(&error);
    let store = app.open_store().await?;
    let engine = app.engine(store.clone()).await?;
    let now = engine.clock().now();
    let old = match args.older_than {
        Some(ms) => {
            store.maintenance().ended_before(now.saturating_sub_unsigned(ms)).await.map_err(fail)?
        }
        None => Vec::new(),
    };
    let bytes = store.maintenance().bytes_on_disk().await.map_err(fail)?;
    let mut cleaned = Cleaned { bytes: (bytes, bytes), ..Cleaned::default() };
    if args.dry_run {
        let keep_ms = upkeep::keep_ms(app);
        cleaned.trimmed = store.maintenance().count_to_trim(now, keep_ms).await.map_err(fail)?;
        cleaned.deleted = old;
        tell(app, &cleaned, args);
        return Ok(Exit::Done);
    }
    if !old.is_empty() {
        agree(app, args.yes, old.len()).await?;
    }
    for run in &old {
        // One that cannot go stays, and so do its children.
        if let Removal::Gone(gone) = store.maintenance().delete_run(run).await.map_err(fail)? {
            forget(app, &gone);
            cleaned.deleted.extend(gone);
        }
    }
    cleaned.trimmed = upkeep::tidy(app, &engine).await.map_err(fail)?.runs;
    cleaned.bytes.1 = store.maintenance().bytes_on_disk().await.map_err(fail)?;
    drop((engine, store));
    if let Some(file) = app.database.file() {
        match everloop_store::copies::compact(file) {
            Ok(()) => cleaned.bytes.1 = std::fs::metadata(file).map_or(0, |file| file.len()),
            Err(error) => app.note(text::clean::busy(&chain(&error))),
        }
    }
    tell(app, &cleaned, args);
    Ok(Exit::Done)
}

fn tell(app: &Console, cleaned: &Cleaned, args: &Clean) {
    let Cleaned { trimmed, deleted, bytes } = cleaned;
    if args.json {
        let told = json!({
            "dry_run": args.dry_run, "trimmed": trimmed, "deleted": deleted,
            "bytes_before": bytes.0, "bytes_after": bytes.1,
        });
        return terminal::answer(&told.to_string());
    }
    let deleted = &deleted.len();
    let before = &bytes.0;
    terminal::answer(&app.text(if args.dry_run {
        text::clean::Would { trimmed, deleted, before }.text()
    } else {
        text::clean::Done { trimmed, deleted, before, after: &bytes.1 }.text()
    }));
}

pub(crate) async fn delete(
    app: &Console,
    store: Store,
    args: &DeleteRuns,
) -> Result<Exit, Failure> {
    let mut runs: Vec<RunId> = Vec::new();
    for id in &args.id {
        let run = app.find_run(&store, id).await?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    if !args.dry_run {
        agree(app, args.yes, runs.len()).await?;
    }
    let mut exit = Exit::Done;
    for run in &runs {
        let removed = match args.dry_run {
            true => Removal::Gone(vec![run.clone()]),
            false => store
                .maintenance()
                .delete_run(run)
                .await
                .map_err(|error| app.store_failure(&error))?,
        };
        if let (Removal::Gone(gone), false) = (&removed, args.dry_run) {
            forget(app, gone);
        }
        if !matches!(removed, Removal::Gone(_)) {
            exit = Exit::Failed;
        }
        say(app, run, &removed, args);
    }
    if !args.dry_run {
        let swept = store.maintenance().sweep_blobs().await;
        swept.map_err(|error| app.store_failure(&error))?;
        store.maintenance().give_space_back().await.map_err(|error| app.store_failure(&error))?;
    }
    Ok(exit)
}

/// What became of one run that was named.
fn say(app: &Console, run: &RunId, removed: &Removal, args: &DeleteRuns) {
    let (word, text) = match removed {
        Removal::Gone(_) if args.dry_run => ("deleted", text::runs::would_delete(run)),
        Removal::Gone(gone) => ("deleted", text::runs::deleted(run, &gone.len().saturating_sub(1))),
        Removal::NotOver(other) => ("not_over", text::runs::not_over(run, other)),
        Removal::Unsent(other) => ("unsent", text::runs::unsent(run, other)),
        Removal::NoSuchRun => ("not_found", text::run::not_found(run)),
    };
    if args.json {
        let told = json!({"run_id": run, "result": word, "dry_run": args.dry_run});
        return terminal::answer(&told.to_string());
    }
    terminal::answer(&app.text(text));
}

/// Records of commands go with their run.
fn forget(app: &Console, runs: &[RunId]) {
    let folder = app.home.data().join("effects");
    for run in runs {
        // What is left is a folder that no run refers to.
        let _ = forget_records(&folder, run);
    }
}

/// Deleting cannot be taken back, so a person says yes, or `--yes` has.
async fn agree(app: &Console, yes: bool, count: usize) -> Result<(), Failure> {
    let count = count.to_string();
    let refused = |text: Text| Err(app.failure(Exit::NeedsPerson, text));
    if yes {
        return Ok(());
    }
    if !app.interactive {
        return refused(text::runs::delete_needs_yes(&count));
    }
    let said = terminal::ask(&app.text(text::runs::delete_sure(&count))).await;
    match said.is_some_and(|said| everloop_text::means_yes(&said)) {
        true => Ok(()),
        false => refused(text::runs::not_deleted()),
    }
}
