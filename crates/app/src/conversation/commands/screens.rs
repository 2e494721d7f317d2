//! Commands about the program itself: what was used, what is remembered, servers, health, set-up.

use super::super::{ChatReply, Conversation};
use crate::slash::SlashResult;
use crate::usage_report::UsageReport;

/// Something that a surface shows in its own way, as its command of the same name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatScreen {
    /// The choice of a model, with its key and a trial.
    Setup,
    /// What is there and whether it works.
    Doctor,
    /// The MCP servers.
    Mcp,
    /// The memory of the workspace, in the person's editor.
    EditMemory,
}

/// `/usage`.
pub(super) async fn usage(chat: &mut Conversation) -> SlashResult {
    let now = chat.app.reader_at(None).now;
    let conversation = &chat.place.id;
    let report = UsageReport::read(&chat.app, chat.store(), conversation, &now).await?;
    Ok(ChatReply::Totals(Box::new(report)).into())
}
