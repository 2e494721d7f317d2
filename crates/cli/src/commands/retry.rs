//! `everloop runs retry`: a run that has ended is done again, as a new one.

use super::background::queued;
use super::foreground::{Foreground, drive_here};
use crate::args::OutputFormat;
use everloop_app::retrying::{self, RetryOptions};
use everloop_console::{Console, Exit, Failure};
use everloop_store::Store;
use everloop_text as text;

pub(super) async fn retry(
    app: &Console,
    store: Store,
    id: &str,
    options: RetryOptions,
    background: bool,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let first = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    let run = app.checked(retrying::retry(app, &engine, &first, &options).await)?;
    app.note(text::tasks::retries(&run.short(), &first.short()));
    if background {
        queued(app, engine.store(), &run, format).await?;
        return Ok(Exit::Done);
    }
    drive_here(Foreground { app, engine, run, format }).await
}
