//! Edits of a conversation by its owner: all of them in one write, or none.

use crate::{
    conversation_rows::ConversationRow,
    db::{DbError, Urgency},
    error::StoreError,
    facets::Conversations,
    statement::{one, params},
};
use everloop_types::{ConversationId, Statement, UtcMs};

/// What is to be changed of a conversation; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationEdit {
    /// A title that a person gives.
    pub title: Option<String>,
    /// Whether it is archived.
    pub archived: Option<bool>,
    /// Whether nothing of it may become a memory.
    pub out_of_memory: Option<bool>,
}

/// `$6` says whether `$7` to `$9` count: what the editor has seen. The row is locked by the update
/// itself, so of editors who have seen the same one writes.
const EDIT: Statement = Statement::screened(
    "
    UPDATE conversations
       SET title = COALESCE(CAST($2 AS TEXT), title),
           title_source = CASE WHEN CAST($2 AS TEXT) IS NULL THEN title_source END,
           archived_at = CASE CAST($3 AS BIGINT) WHEN 1 THEN COALESCE(archived_at, $5)
                              WHEN 0 THEN NULL ELSE archived_at END,
           out_of_memory = COALESCE(CAST($4 AS BIGINT), out_of_memory), updated_at = $5
     WHERE conversation_id = $1
       AND (CAST($6 AS BIGINT) = 0
            OR (COALESCE(title, '') = CAST($7 AS TEXT)
                AND CASE WHEN archived_at IS NULL THEN 0 ELSE 1 END = CAST($8 AS BIGINT)
                AND out_of_memory = CAST($9 AS BIGINT)))
",
);

impl Conversations<'_> {
    /// Makes an edit. With `seen`, only if nothing that can be edited was changed since that row
    /// was read. `false` if it was, or if there is no such conversation.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn edit(
        self,
        id: &ConversationId,
        edit: &ConversationEdit,
        seen: Option<&ConversationRow>,
        now: UtcMs,
    ) -> Result<bool, StoreError> {
        let values = params![
            id.as_str(),
            edit.title.as_deref(),
            edit.archived.map(i64::from),
            edit.out_of_memory.map(i64::from),
            now,
            i64::from(seen.is_some()),
            seen.and_then(|row| row.title.as_deref()).unwrap_or_default(),
            i64::from(seen.is_some_and(|row| row.archived_at.is_some())),
            i64::from(seen.is_some_and(|row| row.out_of_memory)),
        ];
        match self.store.db.commit(vec![one(EDIT, values)], Urgency::Critical).await {
            Ok(_) => Ok(true),
            Err(DbError::Expectation { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
