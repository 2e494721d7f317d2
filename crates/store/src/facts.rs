//! Facts: proposed, accepted, edited, withdrawn. Every change is a row that stays.

use crate::{
    db::{DbError, Urgency},
    error::StoreError,
    facets::Facts,
    fact_rows::{
        FactChange, FactChangeKind, FactRow, FactState, NewFact, read_change, read_fact, state_text,
    },
    statement::{int, one, params},
};
use everloop_types::{FactId, FactStatus, RunId, Statement, UtcMs};

/// Which facts are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactFilter {
    /// Only those with this status.
    pub status: Option<FactStatus>,
    /// Only those that runs in this folder are told: its own and those for all folders.
    pub workspace: Option<String>,
    /// Only those before this one.
    pub before: Option<FactId>,
    /// Most of them.
    pub most: usize,
}

/// A change of a fact.
#[derive(Debug, Clone, Copy)]
pub struct FactUpdate<'a> {
    /// What is done.
    pub change: FactChangeKind,
    /// The fact afterwards.
    pub to: &'a FactState,
    /// Who.
    pub by: &'a str,
    /// When.
    pub now: UtcMs,
}

macro_rules! select_facts {
    ($rest:literal) => {
        concat!(
            "
    SELECT fact_id, body, status, proposed_by, conversation_id, run_id, message_id, workspace,
           untrusted, created_at, updated_at, version
      FROM facts ",
            $rest
        )
    };
}

const ONE: &str = select_facts!("WHERE fact_id = $1");

/// How much of an id's end one has to give.
const SHORTEST_END: usize = 4;

const WITH_END: &str = select_facts!(
    "
     WHERE fact_id LIKE $1 ESCAPE '!' ORDER BY fact_id DESC LIMIT 20"
);

const LIST: &str = select_facts!(
    "
     WHERE (CAST($1 AS TEXT) IS NULL OR status = CAST($1 AS TEXT))
       AND (CAST($2 AS TEXT) IS NULL OR workspace IS NULL OR workspace = CAST($2 AS TEXT))
       AND (CAST($3 AS TEXT) IS NULL OR fact_id < CAST($3 AS TEXT))
     ORDER BY fact_id DESC LIMIT $4"
);

const OF_RUN: &str = select_facts!(
    "
     WHERE run_id = $1 OR run_id IN (
           WITH RECURSIVE family (id) AS (
                  SELECT run_id FROM runs WHERE run_id = $1
                   UNION
                  SELECT r.run_id FROM runs r JOIN family f ON r.parent_run_id = f.id)
           SELECT id FROM family)
     ORDER BY fact_id LIMIT 1000"
);

const COUNT: &str = "SELECT count(*) FROM facts WHERE status = $1";

/// The version is compared: of two who saw the same fact one changes it.
const UPDATE: Statement = Statement::screened(
    "
    UPDATE facts
       SET body = $3, status = $4, workspace = CAST($5 AS TEXT), untrusted = $6, updated_at = $7,
           version = version + 1
     WHERE fact_id = $1 AND version = $2
",
);

const INSERT_CHANGE: Statement = Statement::screened(
    "
    INSERT INTO fact_changes
           (fact_id, version, at, by_whom, run_id, change, fact_before, fact_after)
    VALUES ($1, $2, $3, $4, NULL, $5, $6, $7)
",
);

macro_rules! select_changes {
    ($rest:literal) => {
        concat!(
            "
    SELECT fact_id, version, at, by_whom, run_id, change, fact_before, fact_after
      FROM fact_changes ",
            $rest
        )
    };
}

const HISTORY: &str = select_changes!("WHERE fact_id = $1 ORDER BY version");

/// Two changes may have the same time.
const CHANGES: &str = select_changes!(
    "
     WHERE at >= $1 AND (at > $2 OR (at = $2 AND fact_id > $3)
           OR (at = $2 AND fact_id = $3 AND version > $4))
     ORDER BY at, fact_id, version LIMIT $5"
);

const LAST_MESSAGE: &str = "
    SELECT message_id FROM messages
     WHERE run_id = $1 AND role = 'user' ORDER BY pos DESC LIMIT 1
";

const MESSAGE: &str = "SELECT body FROM messages WHERE message_id = $1";

/// A helper has a conversation of its own; that of the person is its first parent's.
const KEPT_OUT: &str = "
    WITH RECURSIVE line (id) AS (
           SELECT run_id FROM runs WHERE run_id = $1
            UNION
           SELECT r.parent_run_id FROM runs r JOIN line l ON r.run_id = l.id
            WHERE r.parent_run_id IS NOT NULL)
    SELECT count(*) FROM line l JOIN runs r ON r.run_id = l.id
      JOIN conversations c ON c.conversation_id = r.conversation_id
     WHERE c.out_of_memory <> 0
";

impl Facts<'_> {
    /// Writes a fact. `false` if its conversation is kept out of memory.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn add(self, new: &NewFact) -> Result<bool, StoreError> {
        let done = self.store.db.commit(new.writes().into(), Urgency::Critical).await?;
        Ok(done.first().is_some_and(|done| done.touched > 0))
    }

    /// One fact.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn get(self, id: &FactId) -> Result<Option<FactRow>, StoreError> {
        let row = self.store.first(ONE, params![id.as_str()]).await?;
        Ok(row.map(read_fact).transpose()?)
    }

    /// The facts whose id ends so, the newest first. An id that is given whole is the only one.
    /// Fewer than four characters mean none: a mistyped number of a list must not hit an id.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn find(self, end: &str) -> Result<Vec<FactRow>, StoreError> {
        let is_plain =
            end.len() >= SHORTEST_END && end.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_plain {
            return Ok(Vec::new());
        }
        let end = end.to_ascii_lowercase();
        let pattern = format!("%{}", end.replace('_', "!_"));
        let rows = self.store.rows(WITH_END, params![pattern]).await?;
        let mut found = rows.into_iter().map(read_fact).collect::<Result<Vec<_>, _>>()?;
        if let Some(at) = found.iter().position(|fact| fact.id.as_str() == end) {
            return Ok(vec![found.swap_remove(at)]);
        }
        Ok(found)
    }

    /// Facts, the newest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn list(self, filter: &FactFilter) -> Result<Vec<FactRow>, StoreError> {
        let values = params![
            filter.status.map(FactStatus::as_str),
            filter.workspace.as_deref(),
            filter.before.as_ref().map(FactId::as_str),
            int(filter.most),
        ];
        let rows = self.store.rows(LIST, values).await?;
        Ok(rows.into_iter().map(read_fact).collect::<Result<_, _>>()?)
    }

    /// The facts that a run and its children proposed, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn of_run(self, run: &RunId) -> Result<Vec<FactRow>, StoreError> {
        let rows = self.store.rows(OF_RUN, params![run.as_str()]).await?;
        Ok(rows.into_iter().map(read_fact).collect::<Result<_, _>>()?)
    }

    /// How many facts have this status.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn count(self, status: FactStatus) -> Result<usize, StoreError> {
        let row = self.store.first(COUNT, params![status.as_str()]).await?;
        let count = row.map(|row| row.cells().int()).transpose()?;
        Ok(usize::try_from(count.unwrap_or(0)).unwrap_or(0))
    }

    /// Changes a fact as it was read. `false` if somebody changed it since; nothing is written
    /// then.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn update(self, seen: &FactRow, update: FactUpdate<'_>) -> Result<bool, StoreError> {
        let FactUpdate { change, to, by, now } = update;
        let fact = params![
            seen.id.as_str(),
            seen.version,
            to.text.as_str(),
            to.status.as_str(),
            to.workspace.as_deref(),
            i64::from(to.untrusted),
            now,
        ];
        let noted = params![
            seen.id.as_str(),
            seen.version + 1,
            now,
            by,
            change.as_str(),
            state_text(&seen.state()),
            state_text(to),
        ];
        let writes = vec![one(UPDATE, fact), one(INSERT_CHANGE, noted)];
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(true),
            Err(DbError::Expectation { index: 0, .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Every change of a fact, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn history(self, id: &FactId) -> Result<Vec<FactChange>, StoreError> {
        let rows = self.store.rows(HISTORY, params![id.as_str()]).await?;
        Ok(rows.into_iter().map(read_change).collect::<Result<_, _>>()?)
    }

    /// Changes of all facts since then and after `last`, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn changes(
        self,
        since: UtcMs,
        last: Option<&FactChange>,
        most: usize,
    ) -> Result<Vec<FactChange>, StoreError> {
        let (at, fact, version) =
            last.map_or((-1, "", 0), |last| (last.at, last.fact.as_str(), last.version));
        let values = params![since, at, fact, version, int(most)];
        let rows = self.store.rows(CHANGES, values).await?;
        Ok(rows.into_iter().map(read_change).collect::<Result<_, _>>()?)
    }

    /// Whether the conversation that a run belongs to, or a run above it, is kept out of memory.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn is_kept_out(self, run: &RunId) -> Result<bool, StoreError> {
        let row = self.store.first(KEPT_OUT, params![run.as_str()]).await?;
        let count = row.map(|row| row.cells().int()).transpose()?;
        Ok(count.unwrap_or(0) > 0)
    }

    /// The last message of the person to a run.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn last_message(self, run: &RunId) -> Result<Option<String>, StoreError> {
        let row = self.store.first(LAST_MESSAGE, params![run.as_str()]).await?;
        Ok(row.map(|row| row.cells().text()).transpose()?)
    }

    /// What a message says; nothing if it was deleted.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn message(self, id: &str) -> Result<Option<String>, StoreError> {
        let row = self.store.first(MESSAGE, params![id]).await?;
        Ok(row.map(|row| row.cells().text()).transpose()?)
    }
}
