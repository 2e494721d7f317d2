//! How a run is created: row, first entry, frame and the user's message, all or nothing.

use crate::{
    conversation_rows::{self, NewConversation},
    db::{DbError, Urgency},
    error::StoreError,
    facets::RunQueue,
    row,
    statement::{INSERT_MESSAGE, hold_conversation, one, params},
};
use everloop_types::{
    ConversationId, Frame, RunId, RunProfile, Statement, UtcMs, Write, digest_bytes,
    journal::{Entry, EntryKind, RunCreated},
};

/// A run to create.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Its id.
    pub run: RunId,
    /// The conversation that its messages belong to.
    pub conversation: ConversationId,
    /// Its first entry.
    pub created: RunCreated,
    /// Its frame; `created.frame` is its digest.
    pub frame: Frame,
    /// The key of the request: a repeated request has the same key.
    pub idem_key: Option<String>,
    /// What kind of work it is.
    pub profile: RunProfile,
    /// The conversation to write down with it, if it has none yet.
    pub opens: Option<NewConversation>,
    /// The present time.
    pub now: UtcMs,
    /// What is said of it beside its goal.
    pub link: RunLink,
}

/// How a run that no person submitted stands to others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunLink {
    /// What it works on. While it lives, no second run of its conversation can have the same key.
    pub task_key: Option<String>,
    /// Whether its goal is the program's own, and not a message of a person.
    pub is_quiet: bool,
}

/// The result of creating a [`NewRun`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunCreation {
    /// It is queued.
    New,
    /// An earlier request with the same key created this run.
    Existing(RunId),
}

/// `bytes` and `next_seq` count the first entry, which follows in the same transaction.
pub(crate) const INSERT_RUN: Statement = Statement::screened(
    "
    INSERT INTO runs (run_id, conversation_id, loop_name, loop_ver, goal, frame_ref, status,
                      wake_at, next_seq, bytes, idem_key, created_at, updated_at,
                      run_type, title, retry_of, turn_id, task_key)
    VALUES ($1, $2, $3, $4, $5, $6, 'queued', $7, 2, $8, $9, $7, $7, $10, $11, $12, $13, $14)
    ON CONFLICT DO NOTHING
",
);

const FIND_EXISTING: &str = "
    SELECT run_id FROM runs WHERE idem_key = $1 OR run_id = $2 LIMIT 1
";

impl RunQueue<'_> {
    /// Creates a run that waits for a worker.
    ///
    /// A repeated `idem_key`, or a repeated id, changes nothing: so a request whose commit is
    /// [`StoreError::Unknown`] may simply be made again.
    ///
    /// # Errors
    /// See [`StoreError`].
    ///
    /// # Panics
    /// If `created.frame` is not the digest of `frame`.
    pub async fn create_run(self, new: &NewRun) -> Result<RunCreation, StoreError> {
        self.create(new, writes(new)?).await
    }

    /// The first of `writes` fails if the run exists already.
    pub(crate) async fn create(
        self,
        new: &NewRun,
        writes: Vec<Write>,
    ) -> Result<RunCreation, StoreError> {
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(RunCreation::New),
            Err(DbError::Expectation { index: 0, touched }) => {
                let key = params![new.idem_key.clone(), new.run.as_str()];
                let found = self.store.first(FIND_EXISTING, key).await?;
                let existing = found.ok_or(DbError::Expectation { index: 0, touched })?;
                Ok(RunCreation::Existing(RunId::new(existing.cells().text()?)))
            }
            Err(error) => Err(error.into()),
        }
    }
}

pub(crate) fn writes(new: &NewRun) -> Result<Vec<Write>, StoreError> {
    let created = &new.created;
    let frame = serde_json::to_vec(&new.frame).expect("our own types always have a JSON form");
    assert_eq!(created.frame, digest_bytes(&frame), "a run names its frame by digest");
    let kind = EntryKind::RunCreated(created.clone());
    let entry = Entry { seq: 1, epoch: 0, at: new.now, effect: None, kind };
    let first = row::writes(&new.run, &entry)?;
    let run = params![
        new.run.as_str(),
        new.conversation.as_str(),
        created.loop_name.as_str(),
        i64::from(created.loop_ver),
        created.goal.text.as_str(),
        created.frame.as_str(),
        new.now,
        crate::statement::int(first.bytes),
        new.idem_key.clone(),
        new.profile.run_type.as_str(),
        new.profile.title.as_deref(),
        new.profile.retry_of.as_ref().map(RunId::as_str),
        created.turn.as_ref().map(RunId::as_str),
        new.link.task_key.clone(),
    ];
    let goal = params![
        new.conversation.as_str(),
        format!("{}:goal", new.run),
        new.run.as_str(),
        "goal",
        "user",
        created.goal.text.as_str(),
        new.now,
    ];
    let mut writes = vec![one(INSERT_RUN, run), row::insert_blob(created.frame.clone(), frame)];
    writes.extend(first.blob);
    writes.extend(new.opens.as_ref().map(conversation_rows::insert));
    writes.push(first.row);
    if !new.link.is_quiet {
        writes.extend([hold_conversation(new.conversation.as_str()), one(INSERT_MESSAGE, goal)]);
    }
    Ok(writes)
}
