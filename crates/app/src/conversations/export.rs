//! A conversation as a file: for people, or for programs.

use super::listed::ListedConversation;
use super::messages::{MessageRecord, all_messages};
use crate::app::App;
use crate::error::AppError;
use everloop_store::Store;
use everloop_text as text;
use serde_json::{Value, json};

/// The form of an exported conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConversationFormat {
    /// Markdown, for people.
    #[default]
    Markdown,
    /// One JSON object: the conversation with all its messages.
    Json,
    /// One JSON object a line: the conversation, then each message.
    JsonLines,
}

/// The conversation with all its messages, in a form. `folder` is its folder in words.
///
/// # Errors
/// If the store fails.
pub async fn export(
    app: &App,
    store: &Store,
    one: &ListedConversation,
    folder: &str,
    format: ConversationFormat,
) -> Result<String, AppError> {
    let said = all_messages(store, &one.row.id).await?;
    let records = || said.iter().map(MessageRecord::from);
    Ok(match format {
        ConversationFormat::Json => whole_json(one, records()).to_string(),
        ConversationFormat::JsonLines => {
            let head = one.to_json().to_string();
            let lines = records().map(|record| json!(record).to_string());
            std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
        }
        ConversationFormat::Markdown => {
            let reader = app.reader_at(None);
            let mut text = format!("# {}\n\n{folder}\n", one.title());
            for said in &said {
                let who = match said.role.as_str() {
                    "user" => text::conversations::export::you(),
                    _ => text::conversations::export::assistant(),
                };
                let (who, at) = (who.in_lang(app.lang), reader.moment(said.created_at));
                text.push_str(&format!("\n## {who} · {at}\n\n{}\n", said.body.trim_end()));
            }
            text
        }
    })
}

/// A conversation with messages, for programs.
pub fn whole_json(one: &ListedConversation, records: impl Iterator<Item = MessageRecord>) -> Value {
    let mut object = one.to_json();
    object["messages"] = records.map(|record| json!(record)).collect();
    object
}
