//! The front door of `run`, `-p` and pipes: the same order as in the chat (PR-1).
//!
//! Nobody can be asked here whether a sentence was understood well. So a command that a rule made
//! of one is shown with how to run it, and carried out only if it changes nothing. A question that
//! is open elsewhere is not answered: that needs `-c` or `-r`.

use super::keep;
use crate::args::{OutputFormat, RunOptionArgs};
use everloop_agenda::commands::{self, CommandError};
use everloop_agenda::show;
use everloop_app::context::custom_commands::CustomCommands;
use everloop_app::conversation::router;
use everloop_app::frames::{self, RunOptions};
use everloop_app::router::Route;
use everloop_app::slash::SlashKind;
use everloop_console::{Console, Exit, Failure, terminal, trouble};
use everloop_text as text;

/// What came of a line.
pub(crate) enum FrontDoor {
    /// It is done.
    Done(Exit),
    /// It is a goal.
    Goal(String),
}

pub(crate) async fn route(
    app: &Console,
    line: &str,
    how: &mut RunOptionArgs,
    format: OutputFormat,
) -> Result<FrontDoor, Failure> {
    let reader = app.reader();
    let model = app.checked(frames::wanted_model(app, &RunOptions::from(&*how)))?;
    let json = format != OutputFormat::Text;
    let failure = |exit, words| Err(Failure { exit, words });
    match router(app, &model).route(line, &reader.now, None) {
        Route::Nothing => failure(Exit::Usage, app.text(text::run::no_goal())),
        Route::Cancel => Ok(FrontDoor::Done(nothing_to_cancel(app))),
        Route::Wrong(wrong @ CommandError::NoSuchCommand(..)) => {
            custom(app, line, how, wrong, json)
        }
        Route::Wrong(wrong) if json => {
            terminal::print_line(&show::wrong_json(&reader, &wrong).to_string());
            Ok(FrontDoor::Done(Exit::Usage))
        }
        Route::Wrong(wrong) => failure(Exit::Usage, show::wrong(&reader, &wrong)),
        Route::OwnCommand(_) => failure(Exit::Usage, app.text(text::own::only_terminal())),
        Route::Slash(slash) => match slash.command.kind {
            SlashKind::Cancel => Ok(FrontDoor::Done(nothing_to_cancel(app))),
            SlashKind::Agenda => Ok(FrontDoor::Done(keep::line(app, line, json).await?)),
            _ => failure(Exit::Usage, app.text(text::front::only_in_chat(&slash.command.name))),
        },
        Route::Look(_, command) => {
            app.note(text::command::understood(&command));
            Ok(FrontDoor::Done(keep::line(app, &command, json).await?))
        }
        Route::Rule(command) => {
            let command = commands::shown(&command, &reader.now, reader.lang);
            terminal::print_line(&command);
            let words = app.text(text::front::not_done(&command));
            failure(Exit::NeedsPerson, words)
        }
        Route::NoModel => failure(Exit::Configuration, trouble::no_model_line(app)),
        // Without a question that was seen there is no answer.
        Route::Answer(_, goal) | Route::Goal(goal) => Ok(FrontDoor::Goal(goal)),
    }
}

/// A command that somebody wrote, as a goal. One of the workspace must be approved: nobody can be
/// asked here.
fn custom(
    app: &Console,
    line: &str,
    how: &mut RunOptionArgs,
    wrong: CommandError,
    json: bool,
) -> Result<FrontDoor, Failure> {
    let workspace = app.checked(frames::workspace(how.workspace.as_deref()))?;
    let all = CustomCommands::find(app, &workspace);
    let Some((command, arguments)) = all.named_by(line) else {
        let reader = app.reader();
        if json {
            terminal::print_line(&show::wrong_json(&reader, &wrong).to_string());
            return Ok(FrontDoor::Done(Exit::Usage));
        }
        return Err(Failure { exit: Exit::Usage, words: show::wrong(&reader, &wrong) });
    };
    if !command.is_approved(app) {
        let file = command.file.display();
        let text = text::custom::needs_terminal(&command.name, &file);
        return Err(app.failure(Exit::NeedsPerson, text));
    }
    // What the command line says goes before what the file wants.
    how.loop_name = how.loop_name.take().or_else(|| command.loop_name.clone());
    how.model = how.model.take().or_else(|| command.model.clone());
    Ok(FrontDoor::Goal(command.goal(&arguments)))
}

fn nothing_to_cancel(app: &Console) -> Exit {
    terminal::print_line(&app.text(text::door::nothing_to_cancel()));
    Exit::Done
}
