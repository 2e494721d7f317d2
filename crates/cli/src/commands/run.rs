//! `everloop run`: one goal to its end.

use super::background;
use super::foreground::{Foreground, drive_here};
use super::front::{self, FrontDoor};
use crate::args::{self, OutputFormat};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::frames::{self, RunOptions};
use everloop_app::one_shot::{PipedInput, submit};
use everloop_app::trouble::RunNotBegun;
use everloop_engine::Submission;
use everloop_text as text;
use everloop_types::{ConversationId, Unattended};

pub(crate) async fn run(app: &Console, args: args::RunArgs) -> Result<Exit, Failure> {
    match front::door(app, &args.goal, &args.how, args.output_format).await? {
        FrontDoor::Done(exit) => Ok(exit),
        FrontDoor::Goal(goal) if args.background => {
            background::queue(app, &args::RunArgs { goal, ..args }).await
        }
        FrontDoor::Goal(goal) => {
            run_with(app, args::RunArgs { goal, ..args }, PipedInput::Nothing, None).await
        }
    }
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
    let workspace = submission.frame.workspace.clone();
    let asks = submission.frame.tools_that_ask().join(", ");
    let store = app.open_store().await?;
    let engine = app.engine(store).await?;
    let run = submit(app, &engine, submission, conversation).await;
    let run = app.checked(run)?;
    app.note(text::run::begun(&run));
    app.warn_of_sandbox(&workspace);
    if !app.interactive && !asks.is_empty() {
        let key = match app.settings.approvals.unattended {
            Unattended::Deny => text::run::unattended_deny,
            _ => text::run::unattended_wait,
        };
        app.note(key(&asks));
    }
    let foreground = Foreground { app, engine, run, format: args.output_format };
    drive_here(foreground).await
}

/// Everything about the run that never changes, checked before anything is written. Programs are
/// told in their form why it does not begin.
pub(super) fn submission(app: &Console, args: &args::RunArgs) -> Result<Submission, Failure> {
    let options = RunOptions::from(&args.how);
    let checked = frames::submission(app, &options, &args.goal);
    checked.map_err(|error| app.fail(error)).inspect_err(|failure| {
        if args.output_format != OutputFormat::Text {
            let is_configuration = failure.exit == Exit::Configuration;
            terminal::answer_json(&RunNotBegun::new(app, &failure.words, is_configuration));
        }
    })
}
