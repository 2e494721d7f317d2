//! `everloop run --background`: queues a run for a worker, and drives nothing.

use crate::args::OutputFormat;
use everloop_app::run_types::submit;
use everloop_app::worker::has_worker;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_engine::Submission;
use everloop_store::Store;
use everloop_text as text;
use everloop_types::RunId;
use serde_json::json;

/// Its end opens a conversation of its own: nobody watches it.
pub(super) async fn queue(
    app: &Console,
    store: Store,
    submission: Submission,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let workspace = submission.frame.workspace.clone();
    let engine = app.engine(store).await?;
    let run = app.checked(submit(app, &engine, submission, None).await)?;
    queued(app, engine.store(), &run, format).await?;
    app.warn_of_sandbox(&workspace);
    Ok(Exit::Done)
}

/// Says that a run waits for a worker.
pub(super) async fn queued(
    app: &Console,
    store: &Store,
    run: &RunId,
    format: OutputFormat,
) -> Result<(), Failure> {
    terminal::print_line(&match format {
        OutputFormat::Text => run.to_string(),
        OutputFormat::Json | OutputFormat::StreamJson => {
            json!({"run_id": run, "status": "queued"}).to_string()
        }
    });
    app.note(text::run::queued(&run.short()));
    if !app.checked(has_worker(app, store, None).await)? {
        terminal::eprint_line(&app.text(text::run::no_worker()));
    }
    Ok(())
}
