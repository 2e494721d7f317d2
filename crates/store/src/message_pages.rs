//! Messages one by one and in pages, and what is unread of them.

use crate::{
    conversations::ConversationMessage,
    db::{DbError, SqlCells, SqlRow},
    error::StoreError,
    facets::Conversations,
    statement::{int, params},
};
use everloop_types::{ConversationId, RunId};

/// Which messages of a conversation are wanted, by their positions.
///
/// Positions never change and are never given twice in a conversation that has messages after
/// them, so the position of the last message that was seen leads to the next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRange {
    /// Only those before this position.
    pub before: Option<i64>,
    /// Only those after this position; then the oldest of them come, else the newest.
    pub after: Option<i64>,
    /// Most of them.
    pub most: usize,
}

/// Some messages of a conversation, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessagePage {
    /// The messages.
    pub messages: Vec<ConversationMessage>,
    /// Whether the range has more: earlier ones, or later ones if it was asked for those after a
    /// position.
    pub has_more: bool,
}

/// What nobody has read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnreadTotals {
    /// Conversations with something unread.
    pub conversations: i64,
    /// Messages that are unread.
    pub messages: i64,
}

/// The columns that [`read_message`] expects, of `messages m`.
macro_rules! message_columns {
    () => {
        "m.message_id, m.conversation_id, m.pos, m.run_id, \
         COALESCE((SELECT r.turn_id FROM runs r WHERE r.run_id = m.run_id), m.run_id), \
         COALESCE(m.slot, ''), m.role, m.body, m.parts, m.created_at"
    };
}
pub(crate) use message_columns;

const ONE: &str =
    concat!("SELECT ", message_columns!(), " FROM messages m WHERE m.message_id = $1");

macro_rules! page {
    ($order:literal) => {
        concat!(
            "SELECT ",
            message_columns!(),
            " FROM messages m
     WHERE m.conversation_id = $1 AND m.pos > $2 AND m.pos < $3 AND m.role NOT IN ('anew', 'rewound')
     ORDER BY m.pos ",
            $order,
            " LIMIT $4"
        )
    };
}

const NEWEST: &str = page!("DESC");
const OLDEST: &str = page!("ASC");

const UNREAD: &str = "
    SELECT count(DISTINCT c.conversation_id), count(*)
      FROM conversations c JOIN messages m ON m.conversation_id = c.conversation_id
     WHERE m.pos > c.read_pos AND m.role NOT IN ('anew', 'rewound') AND c.archived_at IS NULL
       AND (CAST($1 AS TEXT) IS NULL OR c.channel_type = CAST($1 AS TEXT))
";

impl Conversations<'_> {
    /// One message by its id.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn message(self, id: &str) -> Result<Option<ConversationMessage>, StoreError> {
        let row = self.store.first(ONE, params![id]).await?;
        Ok(row.map(|row| read_message(&mut row.cells())).transpose()?)
    }

    /// A page of a conversation, without the marks of earlier programs.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn messages_page(
        self,
        conversation: &ConversationId,
        range: MessageRange,
    ) -> Result<MessagePage, StoreError> {
        let most = range.most.max(1);
        let after = range.after.unwrap_or(0);
        let before = range.before.unwrap_or(i64::MAX);
        let sql = if range.after.is_some() { OLDEST } else { NEWEST };
        let values = params![conversation.as_str(), after, before, int(most.saturating_add(1))];
        let rows = self.store.rows(sql, values).await?;
        let read = |row: SqlRow| read_message(&mut row.cells());
        let mut messages = rows.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let has_more = messages.len() > most;
        messages.truncate(most);
        if range.after.is_none() {
            messages.reverse();
        }
        Ok(MessagePage { messages, has_more })
    }

    /// What is unread in all conversations that are not archived, or in those of one channel.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn unread_totals(self, channel: Option<&str>) -> Result<UnreadTotals, StoreError> {
        let row = self.store.first(UNREAD, params![channel]).await?;
        let Some(row) = row else { return Ok(UnreadTotals::default()) };
        let mut cells = row.cells();
        Ok(UnreadTotals { conversations: cells.int()?, messages: cells.int()? })
    }
}

/// Reads the columns of [`message_columns`].
pub(crate) fn read_message(cells: &mut SqlCells) -> Result<ConversationMessage, DbError> {
    Ok(ConversationMessage {
        id: cells.text()?,
        conversation: ConversationId::new(cells.text()?),
        pos: cells.int()?,
        run: cells.opt_text()?.map(RunId::new),
        turn: cells.opt_text()?.map(RunId::new),
        slot: cells.text()?,
        role: cells.text()?,
        body: cells.text()?,
        parts: cells.opt_text()?,
        created_at: cells.int()?,
    })
}
