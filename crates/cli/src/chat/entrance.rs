//! The front door of the terminal: its conversation, its phrases, whether there is a model.

use crate::app::App;
use crate::exit::{Exit, Failure};
use everloop_agenda::door::{Model, Router};
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_text as text;
use everloop_types::{ConversationId, Lang};

/// The front door of the chats of this home.
pub(crate) fn door(app: &App, model: &str) -> Result<Router, Failure> {
    Ok(Router {
        conversation: conversation(app)?,
        cancel_phrases: cancel_phrases(app),
        model: model_of(model),
    })
}

pub(super) fn model_of(name: &str) -> Model {
    if name.is_empty() { Model::Missing } else { Model::Configured }
}

/// The terminal conversation of this home. On a server that many homes share each has its own,
/// whose name lies in the data folder.
fn conversation(app: &App) -> Result<ConversationId, Failure> {
    if !app.is_cluster() {
        return Ok(ConversationId::new("conv_terminal"));
    }
    let file = app.home.data().join("conversation");
    if let Ok(name) = std::fs::read_to_string(&file) {
        return Ok(ConversationId::new(name.trim()));
    }
    let name = fresh_id("conv_terminal_", SystemClock.now());
    let written =
        std::fs::create_dir_all(app.home.data()).and_then(|()| std::fs::write(&file, &name));
    written.map_err(|error| app.failure(Exit::Data, text::error::system(&error)))?;
    Ok(ConversationId::new(name))
}

/// What cancels: the person's own phrase, or the one of each language.
fn cancel_phrases(app: &App) -> Vec<String> {
    match app.settings.text("chat.cancel_phrase") {
        "" => [Lang::ZhCn, Lang::En].map(|lang| text::cancel::phrase().in_lang(lang)).to_vec(),
        phrase => vec![phrase.to_owned()],
    }
}
