//! How a fork is created: a separate run, with its own copy of the entries that it takes over.
//!
//! The parent is neither read nor written here: it may be trimmed or deleted later.

use crate::{
    create::{self, NewRun, RunCreation},
    error::{StoreError, StoreLimit},
    facets::{RunCatalog, RunQueue},
    inbox, row,
    statement::{INSERT_MESSAGE, int, one, params},
};
use everloop_types::{
    RunId, Statement, Write,
    journal::{Entry, InboxMessage},
};

/// A fork to create.
#[derive(Debug, Clone)]
pub struct NewFork {
    /// The run, with its first entry.
    pub new: NewRun,
    /// Where it comes from.
    pub origin: ForkOrigin,
    /// Its entries after the first, from 2 without gaps.
    pub entries: Vec<Entry>,
    /// What the user adds, as a message of the user.
    pub word: Option<String>,
    /// The first message in its inbox, which its first driver reads.
    pub inbox_message: Option<InboxMessage>,
}

/// Where a fork comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkOrigin {
    /// The run that it was forked from.
    pub run: RunId,
    /// The last entry of that run that counts here.
    pub at_seq: i64,
}

const MARK_FORK: Statement = Statement::screened(
    "
    UPDATE runs SET forked_from = $2, forked_at_seq = $3, next_seq = next_seq + $4,
                    bytes = bytes + $5
     WHERE run_id = $1
",
);

const FORKS: &str = "
    SELECT run_id, forked_at_seq FROM runs WHERE forked_from = $1 ORDER BY run_id
";

impl RunQueue<'_> {
    /// Creates a fork that waits for a worker, all of it or nothing.
    ///
    /// A repeated id changes nothing, as in [`crate::RunQueue::create_run`].
    ///
    /// # Errors
    /// [`StoreError::OverLimit`] if it takes over more than a journal may hold.
    pub async fn create_fork(self, fork: &NewFork) -> Result<RunCreation, StoreError> {
        self.create(&fork.new, writes(fork)?).await
    }
}

impl RunCatalog<'_> {
    /// The forks of a run and the entries that they were forked at, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn forks(self, run: &RunId) -> Result<Vec<ForkOrigin>, StoreError> {
        let rows = self.store.rows(FORKS, params![run.as_str()]).await?;
        let read = |row: crate::SqlRow| {
            let mut cells = row.cells();
            Ok(ForkOrigin { run: RunId::new(cells.text()?), at_seq: cells.opt_int()?.unwrap_or(0) })
        };
        rows.into_iter().map(read).collect()
    }
}

/// The first of them fails if the run exists already.
pub(crate) fn writes(fork: &NewFork) -> Result<Vec<Write>, StoreError> {
    let run = &fork.new.run;
    let mut writes = create::writes(&fork.new)?;
    let mut bytes = 0;
    for entry in &fork.entries {
        let laid = row::writes(run, entry)?;
        bytes += laid.bytes;
        writes.extend(laid.blob);
        writes.push(laid.row);
    }
    let over = |limit| StoreError::OverLimit { run: fork.origin.run.clone(), limit };
    if fork.entries.len() >= StoreLimit::Events.most() {
        return Err(over(StoreLimit::Events));
    }
    if bytes > StoreLimit::Bytes.most() {
        return Err(over(StoreLimit::Bytes));
    }
    let origin = &fork.origin;
    let count = int(fork.entries.len());
    let mark = params![run.as_str(), origin.run.as_str(), origin.at_seq, count, int(bytes)];
    writes.push(one(MARK_FORK, mark));
    if let Some(word) = &fork.word {
        let conversation = fork.new.conversation.as_str();
        let id = format!("{run}:word");
        let message =
            params![conversation, id, run.as_str(), "word", "user", word.as_str(), fork.new.now];
        writes.push(one(INSERT_MESSAGE, message));
    }
    if let Some(message) = &fork.inbox_message {
        writes.extend(inbox::put(run, message.kind(), message, fork.new.now)?);
    }
    Ok(writes)
}
