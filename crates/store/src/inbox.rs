//! Letters to a run: the only way in for whoever does not drive it.

use crate::{
    db::{DbError, Urgency},
    error::{Limit, StoreError},
    facets::RunInbox,
    family,
    statement::{one, params},
};
use everloop_types::{RunId, Statement, Status, UtcMs, Write, journal::InboxMessage};

/// What became of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It is in the inbox, and the run is awake.
    Accepted,
    /// A letter with the same key came first; this one changed nothing.
    AlreadySent,
    /// The run is over.
    Finished(Status),
    /// There is no such run.
    NoSuchRun,
}

/// What a run has not read yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unread {
    /// Key and letter, in the order of arrival.
    pub letters: Vec<(String, InboxMessage)>,
    /// The counter at that moment; parking with it cannot miss a letter.
    pub inbox_ctr: i64,
}

/// Before the letter itself: the row orders us against a run that is about to park.
pub(crate) const RING: Statement = Statement::screened(
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
    /// Sends a letter. The first one with its `dedupe` counts; a repeated one changes nothing.
    ///
    /// A cancel goes to every run below it as well, in the same transaction: whoever is at work
    /// down there hears of it at once.
    ///
    /// # Errors
    /// [`StoreError::OverLimit`] if the letter is too large. After [`StoreError::Unknown`] send
    /// it again.
    pub async fn send(
        self,
        run: &RunId,
        dedupe: &str,
        letter: &InboxMessage,
        now: UtcMs,
    ) -> Result<Sent, StoreError> {
        let mut writes = put(run, dedupe, letter, now)?.to_vec();
        if matches!(letter, InboxMessage::Cancel { .. }) {
            writes.extend(family::to_descendants(run, letter, now));
        }
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(Sent::Accepted),
            Err(DbError::Expectation { index: 0, .. }) => {
                Ok(match self.store.runs().position(run).await? {
                    Some(at) => Sent::Finished(at.status),
                    None => Sent::NoSuchRun,
                })
            }
            Err(DbError::Expectation { .. }) => Ok(Sent::AlreadySent),
            Err(error) => Err(error.into()),
        }
    }

    /// The letters that no entry has taken yet, and the counter, read at the same moment.
    ///
    /// # Errors
    /// [`StoreError::NewerEntry`] or [`StoreError::Damaged`], at entry 0, for a letter that this
    /// program cannot read.
    pub async fn unread(self, run: &RunId) -> Result<Unread, StoreError> {
        let mut unread = Unread::default();
        for row in self.store.rows(UNREAD, params![run.as_str()]).await? {
            let mut cells = row.cells();
            unread.inbox_ctr = cells.int()?;
            let Some(dedupe) = cells.opt_text()? else { break };
            let (kind, body) = (cells.text()?, cells.text()?);
            unread.letters.push((dedupe, read_letter(run, kind, &body)?));
        }
        Ok(unread)
    }

    /// The runs that have unread letters. Cheap when there are none.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn runs_with_mail(self) -> Result<Vec<RunId>, StoreError> {
        let rows = self.store.rows(WITH_MAIL, params![]).await?;
        rows.into_iter().map(|row| Ok(RunId::new(row.cells().text()?))).collect()
    }
}

/// The letter in the inbox of a run that is not over; the run is awake then.
pub(crate) fn put(
    run: &RunId,
    dedupe: &str,
    letter: &InboxMessage,
    now: UtcMs,
) -> Result<[Write; 2], StoreError> {
    let body = serde_json::to_string(letter).expect("our own types always have a JSON form");
    if body.len() > Limit::InboxMessage.most() {
        return Err(StoreError::OverLimit { run: run.clone(), limit: Limit::InboxMessage });
    }
    let put = params![run.as_str(), dedupe, letter.kind(), body, now];
    Ok([one(RING, params![run.as_str(), now]), one(PUT, put)])
}

fn read_letter(run: &RunId, kind: String, body: &str) -> Result<InboxMessage, StoreError> {
    serde_json::from_str(body).map_err(|_| match kind.as_str() {
        "answer" | "cancel" | "steer" | "answer_now" | "switch" | "child" => {
            StoreError::Damaged { run: run.clone(), seq: 0 }
        }
        _ => StoreError::NewerEntry { run: run.clone(), seq: 0, kind, fmt: 1 },
    })
}
