//! `everloop fork`: a new run from any entry of another one, driven here.

use super::foreground::{Foreground, drive_here, history};
use super::run;
use crate::app::App;
use crate::args;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::show::call_args;
use crate::terminal;
use everloop_engine::{Engine, Fork, ForkError, Forking, History};
use everloop_loops::Unknown;
use everloop_store::Store;
use everloop_text as text;
use everloop_types::journal::{InboxMessage, Kind, RunCreated};
use everloop_types::{Goal, RunId, Settled};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) async fn fork(app: &App, args: args::Fork) -> Result<Exit, Failure> {
    let store = app.open_store().await?;
    let parent = app.find_run(&store, &args.id).await?;
    let foreign = is_foreign(app, &store, &parent).await?;
    let wanted = wanted(app, &args, &history(app, &store, &parent).await?, foreign)?;
    if foreign == Foreign::Yes {
        app.note(text::fork::foreign(&wanted.frame.workspace));
    }
    let engine = app.engine(store).await?;
    let Forking { run, at } = make(app, &engine, wanted).await?;
    let at = at.to_string();
    app.note(text::fork::Begun { id: &run, parent: &parent, at: &at }.text());
    drive_here(Foreground { app, engine, run, format: args.output_format }).await
}

/// A run goes on as a new one, from its end, with this in its inbox.
pub(crate) async fn again(
    app: &App,
    engine: &Engine,
    parent: &RunId,
    word: &str,
    letter: Option<InboxMessage>,
) -> Result<RunId, Failure> {
    let args = args::Fork { message: Some(word.to_owned()), ..plain(parent) };
    let foreign = is_foreign(app, engine.store(), parent).await?;
    let wanted = wanted(app, &args, &history(app, engine.store(), parent).await?, foreign)?;
    let wanted = Fork { letter, ..wanted };
    let fork = engine.fork(wanted.clone()).await;
    fork.map(|made| made.run).map_err(|error| failure(app, &wanted.parent, &error))
}

/// A fork from the end of a run that changes nothing.
pub(crate) fn plain(parent: &RunId) -> args::Fork {
    args::Fork {
        id: parent.to_string(),
        message: None,
        at: None,
        loop_name: None,
        model: None,
        output_format: args::Format::Text,
        workspace: None,
        yes: false,
    }
}

/// The loop that decides a run.
pub(crate) fn decides(parent: &History) -> Option<&String> {
    created(parent).map(|created| &created.loop_name)
}

fn created(parent: &History) -> Option<&RunCreated> {
    parent.entries.iter().find_map(|entry| match &entry.kind {
        Kind::RunCreated(created) => Some(created),
        _ => None,
    })
}

/// Whether a run came in a file: then it is words, and chooses neither workspace nor model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    Yes,
    No,
}

pub(crate) async fn is_foreign(app: &App, store: &Store, run: &RunId) -> Result<Foreign, Failure> {
    match store.is_foreign(run).await {
        Ok(true) => Ok(Foreign::Yes),
        Ok(false) => Ok(Foreign::No),
        Err(error) => Err(app.store_failure(&error)),
    }
}

/// Everything about the fork that never changes, checked before anything is written.
pub(crate) fn wanted(
    app: &App,
    args: &args::Fork,
    parent: &History,
    foreign: Foreign,
) -> Result<Fork, Failure> {
    let old = parent.frame();
    let decides = decides(parent).map(String::as_str);
    let name = args.loop_name.as_deref().or(decides).unwrap_or_default();
    let loop_name = run::loop_name(app, name)?;
    let (there, name) = match foreign {
        Foreign::Yes => (Path::new("."), run::default_model(app)),
        Foreign::No => (Path::new(&old.workspace), old.model.name.clone()),
    };
    let workspace = run::workspace(app, Some(args.workspace.as_deref().unwrap_or(there)))?;
    let model = run::model(app, args.model.clone().unwrap_or(name))?;
    let persona = context::persona(app, None)?;
    let mut frame = run::frame(app, &loop_name, &workspace, model, &persona)?;
    frame.policy = run::policy(app, args.yes);
    frame.policy.inherited.join(&context::held(app, &workspace));
    run::suit(app, &mut frame, created(parent).map_or("", |created| &created.goal.text));
    let text = args.message.as_deref().unwrap_or_default().trim().to_owned();
    let word = Goal { text, context: run::place_of(&workspace), ..Goal::default() };
    let settled = BTreeMap::new();
    let (parent, letter) = (parent.run.clone(), None);
    Ok(Fork { parent, at: args.at, loop_name, frame, word, settled, letter })
}

/// Whatever may have happened is settled first: by a look, or by the person.
async fn make(app: &App, engine: &Engine, mut fork: Fork) -> Result<Forking, Failure> {
    loop {
        match engine.fork(fork.clone()).await {
            Ok(made) => return Ok(made),
            Err(ForkError::Unsettled(open)) if app.interactive => {
                for unknown in &open {
                    let Some(said) = ask(app, unknown).await else {
                        return Err(unsettled(app, &fork.parent, &open));
                    };
                    fork.settled.insert(unknown.effect.clone(), said);
                }
            }
            Err(error) => return Err(failure(app, &fork.parent, &error)),
        }
    }
}

async fn ask(app: &App, unknown: &Unknown) -> Option<Settled> {
    let shown = call_args(&unknown.call.args);
    terminal::complain(&app.text(text::settle::question(&unknown.call.tool, &shown)));
    let said = terminal::ask(&app.text(text::settle::prompt())).await?;
    match said.to_lowercase().as_str() {
        "happened" | "yes" | "y" | "1" => Some(Settled::Happened),
        "not" | "no" | "n" | "2" => Some(Settled::Not),
        _ => None,
    }
}

fn failure(app: &App, parent: &RunId, error: &ForkError) -> Failure {
    let id = parent.as_str();
    let (exit, words) = match error {
        ForkError::NoRun(_) => (Exit::Usage, app.text(text::run::not_found(&id))),
        ForkError::NoEntry { at, last } => {
            let (at, last) = (at.to_string(), last.to_string());
            (Exit::Usage, app.text(text::replay::no_event(&at, &last)))
        }
        ForkError::NotWhole(_) => (Exit::Failed, app.text(text::fork::not_whole(&id))),
        ForkError::ChildAtWork(child) => {
            (Exit::Failed, app.text(text::fork::child_at_work(&id, &child)))
        }
        ForkError::Unsettled(open) => return unsettled(app, parent, open),
        ForkError::Store(error) => return app.store_failure(error),
    };
    Failure { exit, words }
}

fn unsettled(app: &App, parent: &RunId, open: &[Unknown]) -> Failure {
    let calls = open.iter().map(|unknown| {
        let place = unknown.effect.place();
        format!("  {place}  {} {}", unknown.call.tool, call_args(&unknown.call.args))
    });
    let calls = calls.collect::<Vec<_>>().join("\n");
    Failure { exit: Exit::Unsettled, words: app.text(text::fork::unsettled(&parent, &calls)) }
}
