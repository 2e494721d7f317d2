//! `everloop fork`: a new run from any entry of another one, driven here.

use super::foreground::{Foreground, drive_here};
use crate::args;
use everloop_app::forks::{ForkOptions, RunSource, prepare_fork, read_settled};
use everloop_console::show::call_args;
use everloop_console::{Console, Exit, Failure, failure, terminal};
use everloop_engine::{Engine, Fork, ForkError, ForkResult};
use everloop_loops::UnknownEffect;
use everloop_text as text;
use everloop_types::SettledOutcome;

pub(crate) async fn fork(app: &Console, args: args::ForkArgs) -> Result<Exit, Failure> {
    let store = app.open_store().await?;
    let parent = app.find_run(&store, &args.id).await?;
    let prepared = prepare_fork(app, &store, &parent, &ForkOptions::from(&args)).await;
    let (source, wanted) = app.checked(prepared)?;
    if source == RunSource::Imported {
        app.note(text::fork::foreign(&wanted.frame.workspace));
    }
    let engine = app.engine(store).await?;
    let ForkResult { run, at } = make(app, &engine, wanted).await?;
    let at = at.to_string();
    let (id, parent) = (run.short(), parent.short());
    app.note(text::fork::Begun { id: &id, parent: &parent, at: &at }.text());
    drive_here(Foreground { app, engine, run, format: args.output_format.or_json(args.json) }).await
}

/// Whatever may have happened is settled first: by a look, or by the person.
async fn make(app: &Console, engine: &Engine, mut fork: Fork) -> Result<ForkResult, Failure> {
    loop {
        match engine.fork(fork.clone()).await {
            Ok(made) => return Ok(made),
            Err(ForkError::Unsettled(open)) if app.interactive => {
                for unknown in &open {
                    let Some(said) = ask(app, unknown).await else {
                        return Err(failure::unsettled(app, &fork.parent, &open));
                    };
                    fork.settled.insert(unknown.effect.clone(), said);
                }
            }
            Err(error) => return Err(failure::fork(app, &fork.parent, &error)),
        }
    }
}

async fn ask(app: &Console, unknown: &UnknownEffect) -> Option<SettledOutcome> {
    let shown = call_args(&unknown.call.args);
    terminal::eprint_line(&app.text(text::settle::question(&unknown.call.tool, &shown)));
    let said = terminal::ask(&app.text(text::settle::prompt())).await?;
    read_settled(&said)
}
