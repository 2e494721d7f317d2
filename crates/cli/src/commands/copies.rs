//! `everloop backup` and `everloop restore`: a checked copy of the data, and the way back.

use crate::args;
use crate::console::{Agreement, Console};
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::copies::{self, CopyError, Restoration};
use everloop_app::error::chain;
use everloop_store::{OpenError, StoreError};
use everloop_text as text;
use everloop_types::RunId;
use std::path::Path;

pub(crate) async fn backup(app: &Console, args: args::BackupArgs) -> Result<Exit, Failure> {
    let copy = app.checked(copies::back_up(app, args.file).await)?;
    let file = copy.file.display().to_string();
    terminal::answer(&file);
    let damaged = app.checked(copies::damaged_runs(&copy.file).await)?;
    if !damaged.is_empty() {
        let damaged = damaged.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ");
        return Err(app.failure(Exit::Data, text::backup::damaged(&file, &damaged)));
    }
    app.note(text::backup::Done { runs: &copy.runs, bytes: &copy.bytes, file: &file }.text());
    Ok(Exit::Done)
}

pub(crate) async fn restore(app: &Console, args: args::RestoreArgs) -> Result<Exit, Failure> {
    let restoration = app.checked(Restoration::prepare(app, args.file).await)?;
    if restoration.is_foreign {
        terminal::complain(&app.text(text::restore::foreign(&restoration.copy.display())));
    }
    confirm(app, args.yes, &restoration).await?;
    let restored = app.checked(restoration.restore(app).await)?;
    let copy = restored.copy.display();
    terminal::complain(&app.text(match &restored.kept {
        Some(kept) => text::restore::done(&copy, &kept.display()),
        None => text::restore::done_first(&copy),
    }));
    if restored.approvals_dropped > 0 {
        let dropped = text::restore::approvals_dropped(&restored.approvals_dropped);
        terminal::complain(&app.text(dropped));
    }
    Ok(Exit::Done)
}

/// Asks, unless `--yes` has answered. What open runs did since the copy is not in the copy, so they
/// do not go on.
async fn confirm(app: &Console, yes: bool, restoration: &Restoration) -> Result<(), Failure> {
    let open = copies::open_runs(&restoration.seen);
    if open > 0 {
        terminal::complain(&app.text(text::restore::open_runs(&open)));
    }
    let file = &restoration.copy.display();
    let agreement = Agreement {
        question: text::restore::ask(file),
        needs_yes: text::restore::needs_yes(file),
        declined: text::restore::left(file),
    };
    app.agree(yes, agreement).await
}

/// Why there is no copy, or no way back to one.
pub(crate) fn failure(app: &Console, error: &CopyError) -> Failure {
    let (exit, text) = match error {
        CopyError::Server => (Exit::Usage, text::backup::server()),
        CopyError::NoDatabase(file) => (Exit::Data, text::backup::nothing(&file.display())),
        CopyError::Exists(file) => (Exit::Usage, text::backup::exists(&file.display())),
        CopyError::NotCopied { file, cause } => {
            (Exit::Data, text::backup::failed(&file.display(), cause))
        }
        CopyError::NoFile(copy) => (Exit::Usage, text::restore::no_file(&copy.display())),
        CopyError::SameFile(copy) => (Exit::Usage, text::restore::same(&copy.display())),
        CopyError::Refused { copy, source } => return refused(app, copy, source),
        CopyError::Newer { copy, schema } => {
            (Exit::Data, text::restore::newer(&copy.display(), schema))
        }
        CopyError::Driven(holder) => (Exit::Data, text::restore::driven(&holder.pid)),
        CopyError::NotRestored { database, cause } => {
            (Exit::Data, text::restore::failed(&database.display(), cause))
        }
    };
    app.failure(exit, text)
}

fn refused(app: &Console, copy: &Path, error: &StoreError) -> Failure {
    let text = match error {
        StoreError::Open(OpenError::NewerSchema { .. }) => text::restore::newer,
        StoreError::Open(OpenError::NotOurs { altered: Some(_), .. }) => text::restore::altered,
        StoreError::Open(OpenError::NotOurs { .. }) => text::restore::not_ours,
        _ => text::restore::damaged,
    };
    app.failure(Exit::Data, text(&copy.display(), &chain(error)))
}
