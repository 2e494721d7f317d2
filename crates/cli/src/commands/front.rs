//! The front door of `run`, `-p` and pipes: the same order as in the chat (PR-1).
//!
//! Nobody can be asked here whether a sentence was understood well. So a command that a rule made
//! of one is shown with how to run it, and carried out only if it changes nothing. A question that
//! is open elsewhere is not answered: that needs `-c` or `-r`.

use super::{keep, run};
use crate::app::App;
use crate::args::{Format, How};
use crate::chat;
use crate::exit::{Exit, Failure};
use crate::terminal;
use crate::trouble;
use everloop_agenda::commands::{self, Command};
use everloop_agenda::door::Way;
use everloop_agenda::show;
use everloop_text as text;

/// What came of a line.
pub(crate) enum Front {
    /// It is done.
    Done(Exit),
    /// It is a goal.
    Goal(String),
}

pub(crate) async fn door(
    app: &App,
    line: &str,
    how: &How,
    format: Format,
) -> Result<Front, Failure> {
    let reader = app.reader();
    let model = run::wanted_model(app, how)?;
    let json = format != Format::Text;
    let failure = |exit, words| Err(Failure { exit, words });
    match chat::door(app, &model)?.way(line, &reader.now, None) {
        Way::Nothing => failure(Exit::Usage, app.text(text::run::no_goal())),
        Way::Cancel => {
            terminal::answer(&app.text(text::door::nothing_to_cancel()));
            Ok(Front::Done(Exit::Done))
        }
        Way::Wrong(wrong) if json => {
            terminal::answer(&show::wrong_json(&reader, &wrong).to_string());
            Ok(Front::Done(Exit::Usage))
        }
        Way::Wrong(wrong) => failure(Exit::Usage, show::wrong(&reader, &wrong)),
        Way::Steer => failure(Exit::Usage, app.text(text::chat::nothing_to_steer())),
        Way::Command(Command::Talk(verb, _)) => {
            failure(Exit::Usage, app.text(text::front::only_in_chat(&verb.name)))
        }
        Way::Command(_) => Ok(Front::Done(keep::line(app, line, json).await?)),
        Way::Look(_, command) => {
            app.note(text::command::understood(&command));
            Ok(Front::Done(keep::line(app, &command, json).await?))
        }
        Way::Rule(command) => {
            let command = commands::shown(&command, &reader.now, reader.lang);
            terminal::answer(&command);
            let words = app.text(text::front::not_done(&command));
            failure(Exit::NeedsPerson, words)
        }
        Way::NoModel => failure(Exit::Configuration, trouble::no_model_line(app)),
        // Without a question that was seen there is no answer.
        Way::Answer(_, goal) | Way::Goal(goal) => Ok(Front::Goal(goal)),
    }
}
