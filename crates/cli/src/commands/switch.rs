//! Going on under another loop: `runs switch`, `/loop` in the middle of a run, and whoever follows.

use super::foreground::{Foreground, drive_here, history};
use super::{fork, run, runs};
use crate::app::App;
use crate::args::{self, Format};
use crate::exit::{Exit, Failure};
use everloop_engine::Engine;
use everloop_store::{Sent, Store};
use everloop_text as text;
use everloop_types::RunId;

/// Asks a run to go on under another loop from its next step border on, in words for the person;
/// `Err` says why that cannot be asked. What the run itself was allowed does not go over: `yes` is
/// said anew.
pub(crate) async fn wish(
    app: &App,
    engine: &Engine,
    run: &RunId,
    loop_name: &str,
    yes: bool,
) -> Result<Result<String, String>, Failure> {
    let parent = history(app, engine.store(), run).await?;
    let args = args::Fork { loop_name: Some(loop_name.to_owned()), yes, ..fork::plain(run) };
    let wanted = match fork::wanted(app, &args, &parent, fork::Foreign::No) {
        Ok(wanted) => wanted,
        Err(failure) => return Ok(Err(failure.words)),
    };
    let name = &wanted.loop_name;
    if fork::decides(&parent) == Some(&wanted.loop_name) {
        return Ok(Err(app.text(text::switch::same(name, run))));
    }
    let context = wanted.word.context;
    let sent = engine.switch(run, &wanted.loop_name, &wanted.frame, context).await;
    let (_, sent) = sent.map_err(|error| app.store_failure(&error))?;
    Ok(match sent {
        Sent::Finished(status) => Err(app.text(text::run::already_finished(run, &status))),
        Sent::NoSuchRun => Err(app.text(text::run::not_found(run))),
        Sent::Accepted | Sent::AlreadySent => Ok(app.text(text::switch::wanted(name, run))),
    })
}

/// `everloop runs switch`: asks for it, and follows.
pub(crate) async fn switch(
    app: &App,
    store: Store,
    id: &str,
    loop_name: &str,
    yes: bool,
    format: Format,
) -> Result<Exit, Failure> {
    let loop_name = run::loop_name(app, loop_name)?;
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    match wish(app, &engine, &run, &loop_name, yes).await? {
        Ok(words) if !app.quiet => crate::terminal::complain(&words),
        Ok(_) => {}
        Err(words) => return Err(Failure { exit: Exit::Usage, words }),
    }
    engine.store().reset_stall_count(&run).await.map_err(|error| app.store_failure(&error))?;
    drive_here(Foreground { app, engine, run, format }).await
}

/// The line that says which run goes on, and that run; nothing if the run did not end for another.
pub(crate) async fn successor(
    app: &App,
    store: &Store,
    run: &RunId,
) -> Result<Option<(String, RunId)>, Failure> {
    let shown = runs::shown(app, store, run).await?;
    Ok(shown.goes_on().map(|(to, loop_name)| {
        (app.text(text::switch::Done { id: &run, r#loop: &loop_name, to: &to }.text()), to.clone())
    }))
}

impl Foreground<'_> {
    /// Whether another run goes on in place of the one that is over; then that is followed.
    pub(super) async fn goes_on(&mut self) -> Result<bool, Failure> {
        let Some((words, to)) = successor(self.app, self.engine.store(), &self.run).await? else {
            return Ok(false);
        };
        if !self.app.quiet {
            crate::terminal::complain(&words);
        }
        self.run = to;
        if self.format == Format::StreamJson {
            self.show_beginning().await?;
        }
        Ok(true)
    }
}
