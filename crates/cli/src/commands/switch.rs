//! Going on under another loop: `runs switch`, `/loop` in the middle of a run, and whoever follows.

use super::foreground::{Foreground, drive_here};
use super::runs;
use crate::args::OutputFormat;
use everloop_app::{forks, frames};
use everloop_console::{Console, Exit, Failure};
use everloop_store::Store;
use everloop_text as text;
use everloop_types::RunId;

/// `everloop runs switch`: asks for it, and follows.
pub(crate) async fn switch(
    app: &Console,
    store: Store,
    id: &str,
    loop_name: &str,
    yes: bool,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let loop_name = frames::loop_name(loop_name).map_err(|error| app.fail(error))?;
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    let requested = forks::request_switch(app, &engine, &run, &loop_name, yes).await;
    let name = requested.map_err(|error| app.fail(error))?;
    app.note(text::switch::wanted(&name, &run.short()));
    let reset = engine.store().queue().reset_stall_count(&run).await;
    reset.map_err(|error| app.store_failure(&error))?;
    drive_here(Foreground { app, engine, run, format }).await
}

/// The line that says which run goes on, and that run; nothing if the run did not end for another.
pub(crate) async fn successor(
    app: &Console,
    store: &Store,
    run: &RunId,
) -> Result<Option<(String, RunId)>, Failure> {
    let details = runs::details(app, store, run).await?;
    Ok(details.successor().map(|(to, loop_name)| {
        let done = text::switch::Done { id: &run.short(), r#loop: &loop_name, to: &to.short() };
        (app.text(done.text()), to.clone())
    }))
}

impl Foreground<'_> {
    /// Whether another run goes on in place of the one that is over; then that is followed.
    pub(super) async fn goes_on(&mut self) -> Result<bool, Failure> {
        let Some((words, to)) = successor(self.app, self.engine.store(), &self.run).await? else {
            return Ok(false);
        };
        if !self.app.quiet {
            everloop_console::terminal::eprint_line(&words);
        }
        self.run = to;
        if self.format == OutputFormat::StreamJson {
            self.show_beginning().await?;
        }
        Ok(true)
    }
}
