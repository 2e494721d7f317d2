//! The inbox of a run: the only way in for a process that does not drive it.

use crate::{
    db::{DbError, Urgency},
    error::{StoreError, StoreLimit},
    facets::RunInbox,
    family,
    statement::{int, one, params},
    turn_receipts::TurnRecord,
};
use everloop_types::{
    ConversationId, RunId, Statement, Status, UtcMs, Write, journal::InboxMessage,
};

/// What became of a message that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxSendResult {
    /// It is in the inbox, and the run is awake.
    Accepted,
    /// A message with the same key arrived earlier; this one changed nothing.
    AlreadySent,
    /// The run has finished.
    Finished(Status),
    /// There is no such run.
    NoSuchRun,
}

/// What a run has not read yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadMessages {
    /// Key and message, in the order of arrival.
    pub messages: Vec<(String, InboxMessage)>,
    /// The counter when they were read; parking with it cannot miss a message.
    pub inbox_ctr: i64,
}

/// Runs before the message is inserted: the row lock orders us against a run that is about to park.
pub(crate) const NOTIFY: Statement = Statement::screened(
    "
    UPDATE runs
       SET inbox_ctr = inbox_ctr + 1,
           status = CASE WHEN status = 'waiting' THEN 'queued' ELSE status END,
           wake_at = CASE WHEN wake_at > $2 THEN $2 ELSE wake_at END
     WHERE run_id = $1 AND status IN ('queued', 'running', 'waiting')
",
);

const PUT: Statement = Statement::screened(
    "
    INSERT INTO inbox (run_id, dedupe, pos, kind, body, created_at)
    SELECT run_id, $2, inbox_ctr, $3, $4, $5 FROM runs WHERE run_id = $1
    ON CONFLICT DO NOTHING
",
);

const UNREAD: &str = "
    SELECT r.inbox_ctr, i.dedupe, i.kind, i.body
      FROM runs r LEFT JOIN inbox i ON i.run_id = r.run_id AND i.taken_seq IS NULL
     WHERE r.run_id = $1 ORDER BY i.pos
";

const WITH_MAIL: &str = "
    SELECT DISTINCT run_id FROM inbox WHERE taken_seq IS NULL ORDER BY run_id
";

/// Runs that work for a run of the conversation have conversations of their own.
const ANSWERS: &str = "
    SELECT i.run_id, i.body FROM inbox i JOIN runs r ON r.run_id = i.run_id
     WHERE i.kind = 'answer' AND COALESCE(r.turn_id, r.run_id) IN (
           SELECT COALESCE(turn_id, run_id) FROM runs WHERE conversation_id = $1)
     ORDER BY i.created_at DESC, i.run_id LIMIT $2
";

const GIVEN: &str = "
    SELECT body, created_at FROM inbox WHERE run_id = $1 AND dedupe = $2 AND kind = 'answer'
";

const LAST_GIVEN: &str = "
    SELECT run_id, dedupe FROM inbox WHERE kind = 'answer'
     ORDER BY created_at DESC, run_id, dedupe LIMIT $1
";

/// The answer that was given to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenAnswer {
    /// The answer, as it was sent.
    pub text: String,
    /// Who gave it.
    pub by: String,
    /// When.
    pub at: UtcMs,
}

impl RunInbox<'_> {
    /// The answer to a question, whether the run has read it or not. The first one counts.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn given_answer(
        self,
        run: &RunId,
        question: &str,
    ) -> Result<Option<GivenAnswer>, StoreError> {
        let found = self.store.first(GIVEN, params![run.as_str(), question]).await?;
        let Some(row) = found else { return Ok(None) };
        let mut cells = row.cells();
        let (body, at) = (cells.text()?, cells.int()?);
        Ok(match read_message(run, "answer".to_owned(), &body)? {
            InboxMessage::Answer { text, by, .. } => Some(GivenAnswer { text, by, at }),
            _ => None,
        })
    }

    /// The questions that were answered last: the run and the question's id, the newest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn last_answered(self, most: usize) -> Result<Vec<(RunId, String)>, StoreError> {
        let rows = self.store.rows(LAST_GIVEN, params![int(most)]).await?;
        let read = |row: crate::SqlRow| {
            let mut cells = row.cells();
            Ok((RunId::new(cells.text()?), cells.text()?))
        };
        rows.into_iter().map(read).collect()
    }

    /// The run that a request has answered in a conversation, among its last `most` answers. Who
    /// answered is one word and the key of the request.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn answered_by(
        self,
        conversation: &ConversationId,
        request: &str,
        most: usize,
    ) -> Result<Option<RunId>, StoreError> {
        let params = params![conversation.as_str(), int(most)];
        let is_its =
            |by: &str| by.split_once(' ').is_some_and(|(_, request_key)| request_key == request);
        for row in self.store.rows(ANSWERS, params).await? {
            let mut cells = row.cells();
            let (run, body) = (cells.text()?, cells.text()?);
            match serde_json::from_str(&body) {
                Ok(InboxMessage::Answer { by, .. }) if is_its(&by) => {
                    return Ok(Some(RunId::new(run)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Sends a message. The first one with its `dedupe` counts; a repeated one changes nothing.
    ///
    /// A cancel goes to all descendants of the run as well, in the same transaction, so that
    /// their drivers see it at once.
    ///
    /// # Errors
    /// [`StoreError::OverLimit`] if the message is too large. After [`StoreError::Unknown`] send
    /// it again.
    pub async fn send(
        self,
        run: &RunId,
        dedupe: &str,
        message: &InboxMessage,
        now: UtcMs,
    ) -> Result<InboxSendResult, StoreError> {
        self.send_with(run, dedupe, message, now, None).await
    }

    /// The same, and keeps in the same transaction what the request did that it came with. A
    /// request whose key has a record already has sent its message before.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn send_with(
        self,
        run: &RunId,
        dedupe: &str,
        message: &InboxMessage,
        now: UtcMs,
        record: Option<&TurnRecord>,
    ) -> Result<InboxSendResult, StoreError> {
        let mut writes = put(run, dedupe, message, now)?.to_vec();
        if matches!(message, InboxMessage::Cancel { .. }) {
            writes.extend(family::to_descendants(run, message, now));
        }
        writes.extend(record.map(TurnRecord::write));
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(InboxSendResult::Accepted),
            Err(DbError::Expectation { index: 0, .. }) => {
                Ok(match self.store.runs().position(run).await? {
                    Some(at) => InboxSendResult::Finished(at.status),
                    None => InboxSendResult::NoSuchRun,
                })
            }
            Err(DbError::Expectation { .. } | DbError::Unique { .. }) => {
                Ok(InboxSendResult::AlreadySent)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The messages that no entry has taken yet, and the counter, from one snapshot.
    ///
    /// # Errors
    /// [`StoreError::NewerEntry`] or [`StoreError::Damaged`], at entry 0, for a message that this
    /// program cannot read.
    pub async fn unread(self, run: &RunId) -> Result<UnreadMessages, StoreError> {
        let mut unread = UnreadMessages::default();
        for row in self.store.rows(UNREAD, params![run.as_str()]).await? {
            let mut cells = row.cells();
            unread.inbox_ctr = cells.int()?;
            let Some(dedupe) = cells.opt_text()? else { break };
            let (kind, body) = (cells.text()?, cells.text()?);
            unread.messages.push((dedupe, read_message(run, kind, &body)?));
        }
        Ok(unread)
    }

    /// The runs with unread messages. Cheap if there are none.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn runs_with_mail(self) -> Result<Vec<RunId>, StoreError> {
        let rows = self.store.rows(WITH_MAIL, params![]).await?;
        rows.into_iter().map(|row| Ok(RunId::new(row.cells().text()?))).collect()
    }
}

/// Puts a message into the inbox of a run that has not finished, and wakes the run.
pub(crate) fn put(
    run: &RunId,
    dedupe: &str,
    message: &InboxMessage,
    now: UtcMs,
) -> Result<[Write; 2], StoreError> {
    let body = serde_json::to_string(message).expect("our own types always have a JSON form");
    if body.len() > StoreLimit::InboxMessage.most() {
        return Err(StoreError::OverLimit { run: run.clone(), limit: StoreLimit::InboxMessage });
    }
    let put = params![run.as_str(), dedupe, message.kind(), body, now];
    Ok([one(NOTIFY, params![run.as_str(), now]), one(PUT, put)])
}

fn read_message(run: &RunId, kind: String, body: &str) -> Result<InboxMessage, StoreError> {
    serde_json::from_str(body).map_err(|_| match kind.as_str() {
        "answer" | "cancel" | "steer" | "answer_now" | "switch" | "child" => {
            StoreError::Damaged { run: run.clone(), seq: 0 }
        }
        _ => StoreError::NewerEntry { run: run.clone(), seq: 0, kind, fmt: 1 },
    })
}
