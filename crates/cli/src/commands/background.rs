//! `everloop run --background`: queues a goal for a worker, and drives nothing.

use super::run;
use crate::args::{self, OutputFormat};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::worker::has_worker;
use everloop_text as text;
use serde_json::json;

pub(super) async fn queue(app: &Console, args: &args::RunArgs) -> Result<Exit, Failure> {
    // Nobody follows the run, so nobody here can be asked.
    let app = &app.clone().with_person(false);
    let submission = run::submission(app, args)?;
    let workspace = submission.frame.workspace.clone();
    let store = app.open_store().await?;
    let engine = app.engine(store).await?;
    let run = engine.submit(submission).await.map_err(|error| app.store_failure(&error))?;
    terminal::answer(&match args.output_format {
        OutputFormat::Text => run.to_string(),
        OutputFormat::Json | OutputFormat::StreamJson => {
            json!({"run_id": run, "status": "queued"}).to_string()
        }
    });
    app.note(text::run::queued(&run));
    app.warn_of_sandbox(&workspace);
    if !app.checked(has_worker(app, engine.store()).await)? {
        terminal::complain(&app.text(text::run::no_worker()));
    }
    Ok(Exit::Done)
}
