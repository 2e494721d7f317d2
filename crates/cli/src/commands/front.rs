//! The front door of `run`, `-p` and pipes: the same order as in the chat (PR-1).
//!
//! Nobody can be asked here whether a sentence was understood well. So a command that a rule made
//! of one is shown with how to run it, and carried out only if it changes nothing. A question that
//! is open elsewhere is not answered: that needs `-c` or `-r`.

use super::keep;
use crate::args::{OutputFormat, RunOptionArgs};
use crate::chat;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use crate::trouble;
use everloop_agenda::commands;
use everloop_agenda::show;
use everloop_app::frames::{self, RunOptions};
use everloop_app::router::Route;
use everloop_app::slash::SlashKind;
use everloop_text as text;

/// What came of a line.
pub(crate) enum FrontDoor {
    /// It is done.
    Done(Exit),
    /// It is a goal.
    Goal(String),
}

pub(crate) async fn door(
    app: &Console,
    line: &str,
    how: &RunOptionArgs,
    format: OutputFormat,
) -> Result<FrontDoor, Failure> {
    let reader = app.reader();
    let model = app.checked(frames::wanted_model(app, &RunOptions::from(how)))?;
    let json = format != OutputFormat::Text;
    let failure = |exit, words| Err(Failure { exit, words });
    match chat::router(app, &model)?.route(line, &reader.now, None) {
        Route::Nothing => failure(Exit::Usage, app.text(text::run::no_goal())),
        Route::Cancel => Ok(FrontDoor::Done(nothing_to_cancel(app))),
        Route::Wrong(wrong) if json => {
            terminal::answer(&show::wrong_json(&reader, &wrong).to_string());
            Ok(FrontDoor::Done(Exit::Usage))
        }
        Route::Wrong(wrong) => failure(Exit::Usage, show::wrong(&reader, &wrong)),
        Route::Steer => failure(Exit::Usage, app.text(text::chat::nothing_to_steer())),
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
            terminal::answer(&command);
            let words = app.text(text::front::not_done(&command));
            failure(Exit::NeedsPerson, words)
        }
        Route::NoModel => failure(Exit::Configuration, trouble::no_model_line(app)),
        // Without a question that was seen there is no answer.
        Route::Answer(_, goal) | Route::Goal(goal) => Ok(FrontDoor::Goal(goal)),
    }
}

fn nothing_to_cancel(app: &Console) -> Exit {
    terminal::answer(&app.text(text::door::nothing_to_cancel()));
    Exit::Done
}
