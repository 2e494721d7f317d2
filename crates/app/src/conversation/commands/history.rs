//! What was said before, as text.

use crate::App;
use everloop_agenda::show::DisplayContext;
use everloop_store::ConversationMessage;
use everloop_text as text;

/// Messages, one a line, with when and who.
#[must_use]
pub fn history_text(app: &App, reader: &DisplayContext, said: &[ConversationMessage]) -> String {
    let line = |said: &ConversationMessage| {
        let who = match said.role.as_str() {
            "user" => text::chat::role::user().in_lang(app.lang),
            _ => text::chat::role::assistant().in_lang(app.lang),
        };
        format!("[{}] {who}{}", reader.moment(said.created_at), said.body)
    };
    said.iter().map(line).collect::<Vec<_>>().join("\n")
}
