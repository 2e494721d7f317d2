//! `/approve [MODE]`: what is done without asking.

use crate::conversation::{ChatReply, Conversation};
use crate::slash::{SlashLine, SlashResult};
use everloop_types::ApprovalMode;

/// Shows the mode, or changes that of new goals. A run keeps the mode that it was begun with.
pub(super) fn approve(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let name = line.rest.trim().to_lowercase();
    if name.is_empty() {
        return Ok(ChatReply::ApprovalModeIs(chat.choice.approval_mode()).into());
    }
    let Some(mode) = ApprovalMode::parse(&name) else {
        return Ok(ChatReply::UnknownApprovalMode(name).into());
    };
    chat.choice.use_mode(mode);
    Ok(ChatReply::ApprovalModeChosen(mode).into())
}
