//! `everloop migrate`: the whole database, copied to another one.

use crate::args::MigrateArgs;
use everloop_app::error::chain;
use everloop_app::migrate::{self, MigrateError};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_store::transfer::{TransferPhase, TransferProgress};
use everloop_text as text;
use serde_json::json;

/// Rows of a table between two lines about it.
const TOLD_EVERY: u64 = 10_000;

pub(crate) async fn migrate(app: &Console, args: &MigrateArgs) -> Result<Exit, Failure> {
    let mut told = |progress: TransferProgress| tell(app, progress);
    let done = migrate::migrate(app, &args.to, &mut told).await;
    let done = done.map_err(|error| failure(app, &error))?;
    if args.json {
        terminal::print_json(&json!(done));
    } else {
        let words = text::migrate::Done {
            from: &done.from,
            to: &done.to,
            runs: &done.runs,
            rows: &done.rows,
            hash: &done.state_hash,
        };
        terminal::print_line(&app.text(words.text()));
    }
    app.note(text::migrate::switch(&done.to));
    Ok(Exit::Done)
}

/// A line for each table, and one for every so many rows of a large one.
fn tell(app: &Console, progress: TransferProgress) {
    let TransferProgress { phase, table, done, total } = progress;
    let is_due = done >= total || done % TOLD_EVERY < 500;
    if total == 0 || !is_due {
        return;
    }
    app.note(match phase {
        TransferPhase::Copying => {
            text::migrate::Copying { table: &table, done: &done, total: &total }.text()
        }
        TransferPhase::Checking => text::migrate::checked(&table, &total),
    });
}

/// Why the database was not copied.
fn failure(app: &Console, error: &MigrateError) -> Failure {
    let (exit, text) = match error {
        MigrateError::Source(error) => (Exit::Data, text::migrate::source(&chain(error))),
        MigrateError::UnknownTarget => (Exit::Usage, text::migrate::unknown_target()),
        MigrateError::Secret(error) => (Exit::Usage, text::migrate::secret(&chain(error))),
        MigrateError::Same(target) => (Exit::Usage, text::migrate::same(target)),
        MigrateError::Version { target, found, known } => {
            (Exit::Data, text::migrate::Version { target, found, known }.text())
        }
        MigrateError::Driven(holder) => (Exit::Data, text::migrate::driven(&holder.pid)),
        MigrateError::InUse(count) => (Exit::Data, text::migrate::in_use(count)),
        MigrateError::Target { target, source } => {
            (Exit::Data, text::migrate::target(target, &chain(source)))
        }
        MigrateError::NotEmpty { target, table, rows } => {
            (Exit::Data, text::migrate::NotEmpty { target, table, rows }.text())
        }
        MigrateError::Failed { target, source } => {
            (Exit::Data, text::migrate::failed(target, &chain(source)))
        }
    };
    app.failure(exit, text)
}
