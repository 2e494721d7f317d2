//! The table of conversations: what they are called, where they belong, what was read of them.
//!
//! ```text
//!   conversations ──1:n── messages        title, unread, last activity: computed when read
//!                 └──1:n── runs
//! ```
//!
//! A conversation without a message is not listed: it was opened and nothing was said in it.

use crate::{
    db::{DbError, SqlRow, Urgency},
    error::StoreError,
    facets::Conversations,
    statement::{any, int, one, params},
};
use everloop_types::{ConversationId, RunId, Statement, UtcMs, Write};

/// A conversation to write down before its first message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConversation {
    /// Its id.
    pub id: ConversationId,
    /// Where its messages come from: `terminal`, `print`, ….
    pub channel: String,
    /// Which conversation of the channel it is: for a terminal the home, if homes share a server.
    pub thread: Option<String>,
    /// The folder that its runs work in.
    pub workspace: Option<String>,
    /// The present time.
    pub now: UtcMs,
}

/// One conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRow {
    /// Its id.
    pub id: ConversationId,
    /// The title that it was given, or that was made for it.
    pub title: Option<String>,
    /// Whether the model made the title.
    pub title_is_made: bool,
    /// Where its messages come from.
    pub channel: String,
    /// Which conversation of the channel it is.
    pub thread: Option<String>,
    /// The folder that its runs work in.
    pub workspace: Option<String>,
    /// When it began.
    pub created_at: UtcMs,
    /// When something was said last.
    pub updated_at: UtcMs,
    /// When a person read it last.
    pub last_read_at: Option<UtcMs>,
    /// When it was archived.
    pub archived_at: Option<UtcMs>,
    /// Whether nothing of it may become a memory.
    pub out_of_memory: bool,
    /// Its first goal.
    pub first_goal: Option<String>,
    /// How many messages it has, and how many of them a person has read.
    pub counts: ConversationCounts,
}

/// Messages and unfinished runs of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConversationCounts {
    /// The position of its last message.
    pub last_pos: i64,
    /// The position up to which it was read.
    pub read_pos: i64,
    /// Messages after that position.
    pub unread: i64,
    /// Runs that are queued or running.
    pub working: i64,
    /// Runs that wait.
    pub waiting: i64,
}

impl ConversationRow {
    /// Whether something was said since it was read last.
    #[must_use]
    pub fn has_unread(&self) -> bool {
        self.counts.last_pos > self.counts.read_pos
    }

    /// Whether a run of it has not ended.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.counts.working + self.counts.waiting > 0
    }
}

/// A run of another conversation that asks something that nobody has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionOutside {
    /// The run.
    pub run: RunId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// The question's id.
    pub question: String,
    /// The position of the question.
    pub pos: i64,
    /// The position up to which the conversation was read.
    pub read_pos: i64,
}

macro_rules! select_conversations {
    ($rest:literal) => {
        concat!(
            "
    SELECT * FROM (
    SELECT c.conversation_id, c.title, COALESCE(c.title_source, '') AS source, c.channel_type,
           c.channel_thread_id, c.workspace, c.created_at,
           COALESCE((SELECT m.created_at FROM messages m
                      WHERE m.conversation_id = c.conversation_id ORDER BY m.pos DESC LIMIT 1),
                    c.updated_at) AS active_at,
           c.last_read_at, c.archived_at, c.out_of_memory,
           (SELECT m.body FROM messages m
             WHERE m.conversation_id = c.conversation_id AND m.slot = 'goal'
             ORDER BY m.pos LIMIT 1) AS first_goal,
           COALESCE((SELECT MAX(m.pos) FROM messages m
                      WHERE m.conversation_id = c.conversation_id), 0) AS last_pos,
           c.read_pos,
           (SELECT count(*) FROM messages m WHERE m.conversation_id = c.conversation_id
               AND m.pos > c.read_pos AND m.role NOT IN ('anew', 'rewound')) AS unread,
           (SELECT count(*) FROM runs r WHERE r.conversation_id = c.conversation_id
               AND r.status IN ('queued','running')) AS working,
           (SELECT count(*) FROM runs r WHERE r.conversation_id = c.conversation_id
               AND r.status = 'waiting') AS waiting
      FROM conversations c) AS found ",
            $rest
        )
    };
}
pub(crate) use select_conversations;

const ONE: &str = select_conversations!("WHERE conversation_id = $1");

/// By a part of the id; which part is for the caller to see.
const WITH_ID: &str = select_conversations!(
    "WHERE LOWER(conversation_id) LIKE $1 ESCAPE '!' ORDER BY active_at DESC LIMIT 100"
);

const INSERT: Statement = Statement::screened(
    "
    INSERT INTO conversations (conversation_id, channel_type, channel_thread_id, workspace,
                               created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING
",
);

const RENAME: Statement = Statement::screened(
    "
    UPDATE conversations SET title = $2, title_source = NULL, updated_at = $3
     WHERE conversation_id = $1
",
);

/// A title that was given stays, unless another one is asked for.
const SET_MADE_TITLE: Statement = Statement::screened(
    "
    UPDATE conversations SET title = $2, title_source = 'made'
     WHERE conversation_id = $1 AND (title IS NULL OR CAST($3 AS BIGINT) = 1)
",
);

const ARCHIVE: Statement = Statement::screened(
    "UPDATE conversations SET archived_at = $2, updated_at = $3 WHERE conversation_id = $1",
);

const KEEP_OUT: Statement = Statement::screened(
    "UPDATE conversations SET out_of_memory = $2, updated_at = $3 WHERE conversation_id = $1",
);

const MARK_READ: Statement = Statement::screened(
    "
    UPDATE conversations SET last_read_at = $3, read_pos = CASE WHEN $2 > read_pos
           AND $2 <= (SELECT COALESCE(MAX(m.pos), 0) FROM messages m
                       WHERE m.conversation_id = $1) THEN $2 ELSE read_pos END
     WHERE conversation_id = $1
",
);

const READ_ALL: Statement = Statement::screened(
    "
    UPDATE conversations SET last_read_at = $2,
           read_pos = (SELECT COALESCE(MAX(m.pos), 0) FROM messages m
                        WHERE m.conversation_id = $1)
     WHERE conversation_id = $1
",
);

/// Up to the message before the last one that the person did not write.
const MARK_UNREAD: Statement = Statement::screened(
    "
    UPDATE conversations SET read_pos = (
           SELECT MAX(m.pos) FROM messages m WHERE m.conversation_id = $1 AND m.role <> 'user') - 1
     WHERE conversation_id = $1 AND EXISTS (
           SELECT 1 FROM messages m WHERE m.conversation_id = $1 AND m.role <> 'user')
",
);

/// The slot of a question is `ask:` and its id.
const QUESTIONS: &str = "
    SELECT r.run_id, r.conversation_id, m.slot, m.pos, c.read_pos
      FROM runs r
      JOIN conversations c ON c.conversation_id = r.conversation_id
      JOIN messages m ON m.run_id = r.run_id AND m.slot LIKE 'ask:%'
     WHERE r.status = 'waiting' AND r.conversation_id <> $1
       AND m.pos = (SELECT MAX(l.pos) FROM messages l
                     WHERE l.run_id = r.run_id AND l.slot LIKE 'ask:%')
     ORDER BY r.run_id DESC LIMIT $2
";

/// The channel of conversations that tell of the end of a run that belongs to none.
pub const TASK_CHANNEL: &str = "task";

/// A title that somebody gave stays. For other channels there is nothing to do.
const ENTITLE: Statement = Statement::screened(
    "
    UPDATE conversations SET title = $2, updated_at = $3
     WHERE conversation_id = $1 AND channel_type = 'task' AND title IS NULL
",
);

/// Calls the conversation of a run that belongs to none after its end.
pub(crate) fn entitle(id: &str, title: &str, now: UtcMs) -> Write {
    any(ENTITLE, params![id, title, now])
}

/// Writes a conversation down, unless it is there already.
pub(crate) fn insert(new: &NewConversation) -> Write {
    let (channel, thread) = (new.channel.as_str(), new.thread.as_deref());
    let values = params![new.id.as_str(), channel, thread, new.workspace.as_deref(), new.now];
    any(INSERT, values)
}

/// A pattern of `LIKE` that finds `words` as they are.
pub(crate) fn pattern(words: &str) -> String {
    let mut pattern = String::from("%");
    for c in words.chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c.to_ascii_lowercase());
    }
    pattern.push('%');
    pattern
}

impl Conversations<'_> {
    /// Writes a conversation down, unless it is there already.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn ensure(self, new: &NewConversation) -> Result<(), StoreError> {
        self.store.db.commit(vec![insert(new)], Urgency::Critical).await?;
        Ok(())
    }

    /// One conversation.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn get(self, id: &ConversationId) -> Result<Option<ConversationRow>, StoreError> {
        self.store.first(ONE, params![id.as_str()]).await?.map(read_row).transpose()
    }

    /// The conversations whose id, with or without what it begins with, begins or ends so. An id
    /// that is given whole is the only one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn find(self, fragment: &str) -> Result<Vec<ConversationRow>, StoreError> {
        if fragment.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.store.rows(WITH_ID, params![pattern(fragment)]).await?;
        let mut found = rows.into_iter().map(read_row).collect::<Result<Vec<_>, StoreError>>()?;
        if let Some(at) = found.iter().position(|row| row.id.as_str() == fragment) {
            return Ok(vec![found.swap_remove(at)]);
        }
        let fragment = fragment.to_ascii_lowercase();
        let matches = |id: &str| {
            let own = id.split_once('_').map_or(id, |(_, own)| own);
            [id, own].iter().any(|id| id.starts_with(&fragment) || id.ends_with(&fragment))
        };
        found.retain(|row| matches(&row.id.as_str().to_ascii_lowercase()));
        Ok(found)
    }

    /// Gives it a title, or takes it away. `false` if there is no such conversation.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn rename(
        self,
        id: &ConversationId,
        title: Option<&str>,
        now: UtcMs,
    ) -> Result<bool, StoreError> {
        self.change(one(RENAME, params![id.as_str(), title, now])).await
    }

    /// Gives it a title that the model made. `false` if it has one already, which `replaced` says
    /// may go, or if there is no such conversation.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn set_made_title(
        self,
        id: &ConversationId,
        title: &str,
        replaced: bool,
    ) -> Result<bool, StoreError> {
        let values = params![id.as_str(), title, i64::from(replaced)];
        self.change(one(SET_MADE_TITLE, values)).await
    }

    /// Archives it, or takes it back with `None`. `false` if there is no such conversation.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn archive(
        self,
        id: &ConversationId,
        at: Option<UtcMs>,
        now: UtcMs,
    ) -> Result<bool, StoreError> {
        self.change(one(ARCHIVE, params![id.as_str(), at, now])).await
    }

    /// Says whether anything of it may become a memory. `false` if there is no such conversation.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn keep_out_of_memory(
        self,
        id: &ConversationId,
        out: bool,
        now: UtcMs,
    ) -> Result<bool, StoreError> {
        self.change(one(KEEP_OUT, params![id.as_str(), i64::from(out), now])).await
    }

    /// Notes that a person has read it up to a position, or all of it. What was read stays read.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn mark_read(
        self,
        id: &ConversationId,
        upto: Option<i64>,
        now: UtcMs,
    ) -> Result<bool, StoreError> {
        self.change(match upto {
            Some(pos) => one(MARK_READ, params![id.as_str(), pos, now]),
            None => one(READ_ALL, params![id.as_str(), now]),
        })
        .await
    }

    /// Makes the last message that the person did not write, and what follows it, unread again.
    /// `false` if there is no such message.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn mark_unread(self, id: &ConversationId) -> Result<bool, StoreError> {
        self.change(one(MARK_UNREAD, params![id.as_str()])).await
    }

    /// The questions that runs outside of a conversation wait with, the newest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn questions_outside(
        self,
        id: &ConversationId,
        most: usize,
    ) -> Result<Vec<QuestionOutside>, StoreError> {
        let rows = self.store.rows(QUESTIONS, params![id.as_str(), int(most)]).await?;
        let read = |row: SqlRow| {
            let mut cells = row.cells();
            Ok(QuestionOutside {
                run: RunId::new(cells.text()?),
                conversation: ConversationId::new(cells.text()?),
                question: cells.text()?.trim_start_matches("ask:").to_owned(),
                pos: cells.int()?,
                read_pos: cells.int()?,
            })
        };
        rows.into_iter().map(read).collect()
    }

    async fn change(self, write: Write) -> Result<bool, StoreError> {
        match self.store.db.commit(vec![write], Urgency::Critical).await {
            Ok(_) => Ok(true),
            Err(DbError::Expectation { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

pub(crate) fn read_row(row: SqlRow) -> Result<ConversationRow, StoreError> {
    let mut cells = row.cells();
    Ok(ConversationRow {
        id: ConversationId::new(cells.text()?),
        title: cells.opt_text()?,
        title_is_made: cells.text()? == "made",
        channel: cells.text()?,
        thread: cells.opt_text()?,
        workspace: cells.opt_text()?,
        created_at: cells.int()?,
        updated_at: cells.int()?,
        last_read_at: cells.opt_int()?,
        archived_at: cells.opt_int()?,
        out_of_memory: cells.int()? != 0,
        first_goal: cells.opt_text()?,
        counts: ConversationCounts {
            last_pos: cells.int()?,
            read_pos: cells.int()?,
            unread: cells.int()?,
            working: cells.int()?,
            waiting: cells.int()?,
        },
    })
}
