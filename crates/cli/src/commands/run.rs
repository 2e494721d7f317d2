//! `everloop run`: one goal to its end, or work of a fixed type.

use super::background;
use super::foreground::{Foreground, drive_here};
use super::front::{self, FrontDoor};
use crate::args::{self, OutputFormat};
use everloop_app::frames::{self, RunOptions};
use everloop_app::one_shot::{PipedInput, submit};
use everloop_app::run_types::{self, RunRequest};
use everloop_app::trouble::RunNotBegun;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_engine::Submission;
use everloop_store::Store;
use everloop_text as text;
use everloop_types::{ConversationId, Unattended};

pub(crate) async fn run(app: &Console, mut args: args::RunArgs) -> Result<Exit, Failure> {
    if args.run_type.is_some() {
        return run_typed(app, &args).await;
    }
    let goal = args.goal.clone().unwrap_or_default();
    match front::route(app, &goal, &mut args.how, args.output_format).await? {
        FrontDoor::Done(exit) => Ok(exit),
        FrontDoor::Goal(goal) if args.background => {
            let submission = submission(app, &args::RunArgs { goal: Some(goal), ..args })?;
            let store = app.open_store().await?;
            background::queue(app, store, submission, args.output_format).await
        }
        FrontDoor::Goal(goal) => {
            let args = args::RunArgs { goal: Some(goal), ..args };
            run_with(app, args, PipedInput::Nothing, None).await
        }
    }
}

/// Work of a fixed type.
async fn run_typed(app: &Console, args: &args::RunArgs) -> Result<Exit, Failure> {
    let store = app.open_store().await?;
    let submission = typed_submission(app, &store, args).await?;
    if args.background {
        return background::queue(app, store, submission, args.output_format).await;
    }
    follow(app, store, submission, None, args.output_format).await
}

/// A goal that came through the front door, with something that the model reads beside it. In a
/// conversation of its own unless one is named.
pub(crate) async fn run_with(
    app: &Console,
    args: args::RunArgs,
    piped: PipedInput,
    conversation: Option<&ConversationId>,
) -> Result<Exit, Failure> {
    let mut submission = submission(app, &args)?;
    piped.add_to(&mut submission);
    let store = app.open_store().await?;
    follow(app, store, submission, conversation, args.output_format).await
}

/// Creates a run and drives it here.
pub(super) async fn follow(
    app: &Console,
    store: Store,
    submission: Submission,
    conversation: Option<&ConversationId>,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let workspace = submission.frame.workspace.clone();
    let asks = submission.frame.tools_that_ask().join(", ");
    let engine = app.engine(store).await?;
    let run = submit(app, &engine, submission, conversation).await;
    let run = app.checked(run)?;
    app.note(text::run::begun(&run.short()));
    app.warn_of_sandbox(&workspace);
    if !app.interactive && !asks.is_empty() {
        let key = match app.settings.approvals.unattended {
            Unattended::Deny => text::run::unattended_deny,
            _ => text::run::unattended_wait,
        };
        app.note(key(&asks));
    }
    drive_here(Foreground { app, engine, run, format }).await
}

/// Everything about the run that never changes, checked before anything is written. Programs are
/// told in their form why it does not begin.
fn submission(app: &Console, args: &args::RunArgs) -> Result<Submission, Failure> {
    let options = RunOptions::from(&args.how);
    let goal = args.goal.as_deref().unwrap_or_default();
    let app = &asking(app, args);
    let made = frames::submission(app, &options, goal).and_then(|mut made| {
        made.profile.title = args.title.as_deref().map(run_types::checked_title).transpose()?;
        Ok(made)
    });
    made.map_err(|error| app.fail(error)).inspect_err(|failure| report(app, args, failure))
}

async fn typed_submission(
    app: &Console,
    store: &Store,
    args: &args::RunArgs,
) -> Result<Submission, Failure> {
    let input = args.input.as_deref().unwrap_or("{}");
    let input = serde_json::from_str(input)
        .map_err(|error| app.failure(Exit::Usage, text::tasks::not_json(&error)))?;
    let request = RunRequest {
        run_type: args.run_type.clone().unwrap_or_default(),
        title: args.title.clone(),
        input,
        options: RunOptions::from(&args.how),
        ..RunRequest::default()
    };
    let app = &asking(app, args);
    let made = run_types::submission(app, store, &request).await;
    made.map_err(|error| app.fail(error)).inspect_err(|failure| report(app, args, failure))
}

/// Nobody follows a run in the background, so nobody here can be asked.
fn asking(app: &Console, args: &args::RunArgs) -> Console {
    let app = app.clone();
    if args.background { app.with_person(false) } else { app }
}

/// Why there is no run, for programs.
fn report(app: &Console, args: &args::RunArgs, failure: &Failure) {
    if args.output_format != OutputFormat::Text {
        let is_configuration = failure.exit == Exit::Configuration;
        terminal::print_json(&RunNotBegun::new(app, &failure.words, is_configuration));
    }
}
