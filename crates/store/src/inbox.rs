//! The inbox of a run: the only way in for a process that does not drive it.

use crate::{
    db::{DbError, Urgency},
    error::{StoreError, StoreLimit},
    facets::RunInbox,
    family,
    statement::{one, params},
};
use everloop_types::{RunId, Statement, Status, UtcMs, Write, journal::InboxMessage};

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

impl RunInbox<'_> {
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
        let mut writes = put(run, dedupe, message, now)?.to_vec();
        if matches!(message, InboxMessage::Cancel { .. }) {
            writes.extend(family::to_descendants(run, message, now));
        }
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(InboxSendResult::Accepted),
            Err(DbError::Expectation { index: 0, .. }) => {
                Ok(match self.store.runs().position(run).await? {
                    Some(at) => InboxSendResult::Finished(at.status),
                    None => InboxSendResult::NoSuchRun,
                })
            }
            Err(DbError::Expectation { .. }) => Ok(InboxSendResult::AlreadySent),
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
