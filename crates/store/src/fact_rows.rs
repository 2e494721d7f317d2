//! Facts as rows, and the writes of a new one.

use crate::{
    db::{DbError, SqlRow},
    statement::{any, params},
};
use everloop_types::{
    ConversationId, FactId, FactProposal, FactSource, FactStatus, RunId, Statement, UtcMs, Write,
};
use serde::{Deserialize, Serialize};

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactRow {
    /// Its id.
    #[serde(rename = "fact_id")]
    pub id: FactId,
    /// What is remembered.
    pub text: String,
    /// Whether later runs are told.
    pub status: FactStatus,
    /// The folder whose runs are told; none for all.
    pub workspace: Option<String>,
    /// Whether others than the user may have written it.
    pub untrusted: bool,
    /// Who proposed it: `model`, `user`.
    pub proposed_by: String,
    /// Where it comes from.
    #[serde(flatten)]
    pub source: FactSource,
    /// When it was proposed.
    pub created_at: UtcMs,
    /// When it was changed last.
    pub updated_at: UtcMs,
    /// Raised by every change, from 1.
    pub version: i64,
}

impl FactRow {
    /// What a change can change of it.
    #[must_use]
    pub fn state(&self) -> FactState {
        let (text, workspace) = (self.text.clone(), self.workspace.clone());
        FactState { text, status: self.status, workspace, untrusted: self.untrusted }
    }
}

/// A fact as it was before or after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactState {
    /// What is remembered.
    pub text: String,
    /// Whether later runs are told.
    pub status: FactStatus,
    /// The folder whose runs are told; none for all.
    pub workspace: Option<String>,
    /// Whether others than the user may have written it.
    pub untrusted: bool,
}

/// What was done to a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactChangeKind {
    /// A run proposed it.
    Proposed,
    /// A person wrote it, or the settings accepted what a run proposed.
    Added,
    /// A person accepted it.
    Accepted,
    /// A person refused it.
    Rejected,
    /// A person took it back.
    Withdrawn,
    /// A person wrote it anew.
    Edited,
}

impl FactChangeKind {
    const ALL: [Self; 6] = [
        Self::Proposed,
        Self::Added,
        Self::Accepted,
        Self::Rejected,
        Self::Withdrawn,
        Self::Edited,
    ];

    /// As it is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Added => "added",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
            Self::Edited => "edited",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// One change of a fact. Changes are never changed themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactChange {
    /// The fact.
    #[serde(rename = "fact_id")]
    pub fact: FactId,
    /// The version that it led to.
    pub version: i64,
    /// When.
    pub at: UtcMs,
    /// Who: `model`, `user`, a surface.
    pub by: String,
    /// The run that made it.
    #[serde(rename = "run_id")]
    pub run: Option<RunId>,
    /// What was done.
    pub change: FactChangeKind,
    /// The fact before; none for a new one.
    pub before: Option<FactState>,
    /// The fact afterwards.
    pub after: FactState,
}

/// A fact to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFact {
    fact: FactProposal,
    by: String,
    now: UtcMs,
    status: FactStatus,
}

impl NewFact {
    /// What a run proposes. It is active at once only if the settings accept it and nothing in it
    /// is untrusted.
    #[must_use]
    pub fn proposed(fact: FactProposal, by: &str, now: UtcMs) -> Self {
        let status = match fact.accept && !fact.untrusted {
            true => FactStatus::Active,
            false => FactStatus::Proposed,
        };
        Self { fact, by: by.to_owned(), now, status }
    }

    /// What a person wrote: theirs, and active.
    #[must_use]
    pub fn written(fact: FactProposal, by: &str, now: UtcMs) -> Self {
        let fact = FactProposal { untrusted: false, ..fact };
        Self { fact, by: by.to_owned(), now, status: FactStatus::Active }
    }

    /// The row and its first change; they belong in one commit. Nothing is written for a
    /// conversation that is kept out of memory.
    #[must_use]
    pub fn writes(&self) -> [Write; 2] {
        let FactProposal { id, text, workspace, source, untrusted, .. } = &self.fact;
        let change = match self.status {
            FactStatus::Active => FactChangeKind::Added,
            _ => FactChangeKind::Proposed,
        };
        let after = FactState {
            text: text.clone(),
            status: self.status,
            workspace: workspace.clone(),
            untrusted: *untrusted,
        };
        let fact = params![
            id.as_str(),
            text.as_str(),
            self.status.as_str(),
            self.by.as_str(),
            source.conversation.as_ref().map(ConversationId::as_str),
            source.run.as_ref().map(RunId::as_str),
            source.message.as_deref(),
            workspace.as_deref(),
            i64::from(*untrusted),
            self.now,
        ];
        let noted = params![id.as_str(), change.as_str(), state_text(&after)];
        [any(INSERT, fact), any(INSERT_FIRST_CHANGE, noted)]
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &FactId {
        &self.fact.id
    }
}

/// The condition is part of the statement: a conversation may be taken out of memory between a
/// proposal and its commit.
const INSERT: Statement = Statement::screened(
    "
    INSERT INTO facts (fact_id, body, status, proposed_by, conversation_id, run_id, message_id,
                       workspace, untrusted, created_at, updated_at, version)
    SELECT $1, $2, $3, $4, CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS TEXT),
           CAST($8 AS TEXT), CAST($9 AS BIGINT), CAST($10 AS BIGINT), CAST($10 AS BIGINT), 1
     WHERE NOT EXISTS (SELECT 1 FROM conversations c
                        WHERE c.conversation_id = CAST($5 AS TEXT) AND c.out_of_memory <> 0)
",
);

const INSERT_FIRST_CHANGE: Statement = Statement::screened(
    "
    INSERT INTO fact_changes
           (fact_id, version, at, by_whom, run_id, change, fact_before, fact_after)
    SELECT fact_id, version, created_at, proposed_by, run_id, $2, NULL, $3
      FROM facts WHERE fact_id = $1
",
);

/// A state as it is stored.
pub(crate) fn state_text(state: &FactState) -> String {
    serde_json::to_string(state).expect("our own types always have a JSON form")
}

pub(crate) fn read_fact(row: SqlRow) -> Result<FactRow, DbError> {
    let mut cells = row.cells();
    Ok(FactRow {
        id: FactId::new(cells.text()?),
        text: cells.text()?,
        status: known(FactStatus::parse(&cells.text()?), "a status of a fact")?,
        proposed_by: cells.text()?,
        source: FactSource {
            conversation: cells.opt_text()?.map(ConversationId::new),
            run: cells.opt_text()?.map(RunId::new),
            message: cells.opt_text()?,
        },
        workspace: cells.opt_text()?,
        untrusted: cells.int()? != 0,
        created_at: cells.int()?,
        updated_at: cells.int()?,
        version: cells.int()?,
    })
}

pub(crate) fn read_change(row: SqlRow) -> Result<FactChange, DbError> {
    let mut cells = row.cells();
    let state = |text: &str| known(serde_json::from_str(text).ok(), "a state of a fact");
    Ok(FactChange {
        fact: FactId::new(cells.text()?),
        version: cells.int()?,
        at: cells.int()?,
        by: cells.text()?,
        run: cells.opt_text()?.map(RunId::new),
        change: known(FactChangeKind::parse(&cells.text()?), "a change of a fact")?,
        before: cells.opt_text()?.as_deref().map(state).transpose()?,
        after: state(&cells.text()?)?,
    })
}

fn known<T>(value: Option<T>, wanted: &'static str) -> Result<T, DbError> {
    value.ok_or(DbError::Shape { column: 0, wanted })
}
