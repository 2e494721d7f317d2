//! Other chats of the same folder that nobody has open, and what they left.

use super::{Conversation, Queue};
use crate::conversations::{ListedConversation, resumable};
use crate::error::AppError;
use everloop_types::Status;

/// Conversations that are looked at.
const LOOKED_AT: usize = 20;

/// A chat that nobody has open, with something that is not done.
#[derive(Debug, Clone)]
pub struct LeftConversation {
    /// The conversation.
    pub one: ListedConversation,
    /// The goal of a run of it that is under way.
    pub working: Option<String>,
    /// Lines that were typed ahead in it and not sent.
    pub queued: Vec<String>,
}

impl Conversation {
    /// Other chats of this folder that nobody has open, with work under way or lines that were not
    /// sent. What the leftovers tell of is left out.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn left_conversations(&self) -> Result<Vec<LeftConversation>, AppError> {
        let folder = self.choice.workspace().to_string_lossy().into_owned();
        let mut all = resumable(&self.app, self.store(), Some(&folder)).await?;
        all.retain(|one| one.row.workspace.as_deref() == Some(folder.as_str()));
        all.retain(|one| one.row.id != *self.id() && !one.is_in_use);
        all.truncate(LOOKED_AT);
        let mut left = Vec::new();
        for one in all {
            let open = self.store().conversations().open_runs_of(&one.row.id).await?;
            let mut under_way = open
                .iter()
                .filter(|(_, status)| matches!(status, Status::Queued | Status::Running));
            let working = match under_way.next() {
                Some((run, _)) => self.store().runs().get(run).await?.map(|row| row.goal),
                None => None,
            };
            let queued = Queue::left_of(&self.app, &one.row.id);
            if working.is_some() || !queued.is_empty() {
                left.push(LeftConversation { one, working, queued });
            }
        }
        Ok(left)
    }
}
