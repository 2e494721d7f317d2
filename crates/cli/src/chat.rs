//! The chat: one terminal conversation per home, continued by every new process.
//!
//! ```text
//!   line ──► front door ──► Session::hear ──► words │ follow a run │ a yes is wanted │ leave
//!                                                       │
//!   worker task: drives what is ready      ticker: fires reminders       (both while we live)
//! ```
//!
//! On a terminal `person` talks, with an editor and a live plan; elsewhere `lines` does, one line
//! one input. Deliberately absent: what commands do (`assistant`), what runs do (`engine`).

mod asked;
mod care;
mod confirm;
mod earlier;
mod editor;
mod entrance;
mod follow;
mod history;
mod keys;
mod left;
mod lines;
mod live;
mod look;
mod news;
mod person;
mod queue;
mod session;
mod settle;
mod talk;
mod terminals;

pub(crate) use earlier::Earlier;
pub(crate) use entrance::door;

use crate::app::App;
use crate::args;
use crate::commands::run::default_model;
use crate::exit::{Exit, Failure};
use crate::{setup, terminal};
use session::Session;

pub(crate) async fn chat(app: &App, args: &args::Chat) -> Result<Exit, Failure> {
    let at_terminal = app.interactive && terminal::answers_are_seen();
    let no_model = args.how.model.is_none() && default_model(app).is_empty();
    // Nobody may be asked, and nothing would come: a terminal is no pipe of commands.
    if no_model && !app.interactive && terminal::person_is_there() {
        let words = crate::trouble::no_model(app);
        return Err(Failure { exit: Exit::Configuration, words });
    }
    let app = match at_terminal && no_model && !app.sources.path.exists() {
        true => setup::first_run(app).await?,
        false => app.clone(),
    };
    let session = Session::open(app, args).await?;
    match at_terminal {
        true => person::talk(session, args.message.clone()).await,
        false => lines::talk(session, args.message.clone()).await,
    }
}
