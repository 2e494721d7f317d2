//! Whole runs as lines of JSON, for moving them between databases.
//!
//! ```text
//!   {"everloop_export":1,…}                         what wrote it
//!   {"table":"runs","row":{…}}                      then blobs, journal, messages, …
//!   {"end":{"run_id":…,"lines":n,"digest":…,"state_hash":…}}
//!   {"complete":{"runs":n}}
//! ```
//!
//! Everything is checked before anything is written: the digest of a run's lines, the checksum of
//! each entry, and that the journal folds to the same state here.
//!
//! A run that has not ended is imported as history: two databases that both have it would both
//! drive it and repeat dangerous calls. It is quarantined; a fork of it can continue.

mod read;
mod sane;

pub use read::{ExportedRun, ImportError, read_export};

use crate::drive::fold_from_start;
use everloop_store::portable::{self, ImportQuarantine, RunImport, TableRow, columns};
use everloop_store::{RunFilter, Store, StoreError};
use everloop_text as text;
use everloop_types::journal::Entry;
use everloop_types::{Frame, RunId, SqlValue, Status, UtcMs, digest_bytes};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The format that this program writes; it reads no newer one.
const EXPORT_FORMAT: u64 = 1;

const HISTORY: &str = "imported as history; fork it to go on";

const RESTORED: &str = "restored as history; fork it to go on";

/// Why a run was not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It is being driven.
    #[error("{0} is under way")]
    UnderWay(RunId),
    /// It cannot be read whole.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The first line.
#[must_use]
pub fn export_header(build: &str, now: UtcMs) -> String {
    json!({"everloop_export": EXPORT_FORMAT, "build": build, "at": now}).to_string()
}

/// The last line.
#[must_use]
pub fn export_footer(runs: usize) -> String {
    json!({"complete": {"runs": runs}}).to_string()
}

/// The lines of one run.
///
/// # Errors
/// [`ExportError::UnderWay`] for a run that is being driven.
pub async fn export_lines(store: &Store, run: &RunId) -> Result<Vec<String>, ExportError> {
    let rows = store.maintenance().export_run(run).await?;
    let rows = rows.ok_or_else(|| ExportError::UnderWay(run.clone()))?;
    store.maintenance().check_run(run).await?;
    let parcel = ExportedRun::unchecked(run.clone(), rows);
    let state_hash = parcel.state_hash()?;
    let mut lines: Vec<String> = parcel.rows.iter().map(line).collect();
    let digest = digest_of(&lines);
    let end = json!({"end": {
        "run_id": run, "lines": lines.len(), "digest": digest, "state_hash": state_hash,
    }});
    lines.push(end.to_string());
    Ok(lines)
}

fn digest_of(lines: &[String]) -> String {
    digest_bytes(lines.join("\n").as_bytes())
}

fn line(row: &TableRow) -> String {
    let names = columns(row.table).map_or(&[][..], |(_, names)| names);
    let cells = names.iter().zip(&row.cells);
    let cells: Map<String, Value> =
        cells.map(|(name, cell)| ((*name).to_owned(), as_json(cell))).collect();
    spelled_out(&json!({"table": row.table, "row": cells}).to_string())
}

/// The same JSON with control characters escaped, so that a line is safe to print.
fn spelled_out(json: &str) -> String {
    let spelled = |c: char| match c.is_control() {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    match json.contains(char::is_control) {
        true => json.chars().map(spelled).collect(),
        false => json.to_owned(),
    }
}

/// Bytes are written as text if they are valid text, as bodies and frames are.
fn as_json(cell: &SqlValue) -> Value {
    match cell {
        SqlValue::Null => Value::Null,
        SqlValue::Int(number) => json!(number),
        SqlValue::Text(text) => json!(text),
        SqlValue::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!({ "text": text }),
            Err(_) => json!({ "bytes": bytes }),
        },
    }
}

impl ExportedRun {
    /// The digest of the state that the journal folds to; `None` if it was shortened.
    fn state_hash(&self) -> Result<Option<String>, StoreError> {
        let entries = self.entries().map_err(|(_, error)| error)?;
        let whole = !entries.is_empty() && entries.iter().zip(1..).all(|(e, seq)| e.seq == seq);
        if !whole {
            return Ok(None);
        }
        let folded = fold_from_start(&self.run, &entries, Arc::new(self.frame()?))?;
        Ok(Some(digest_bytes(folded.run.state().as_bytes())))
    }

    fn frame(&self) -> Result<Frame, StoreError> {
        let damaged = || StoreError::Damaged { run: self.run.clone(), seq: 0 };
        let named = self.rows.iter().find_map(|row| match row.get("frame_ref") {
            Some(SqlValue::Text(hash)) => Some(hash),
            _ => None,
        });
        let bytes = named.and_then(|hash| self.blobs.get(hash)).ok_or_else(damaged)?;
        serde_json::from_slice(bytes).map_err(|_| damaged())
    }

    /// The journal with the place of each row, every checksum checked.
    fn entries(&self) -> Result<Vec<Entry>, (usize, StoreError)> {
        let journal = self.rows.iter().enumerate().filter(|(_, row)| row.table == "journal");
        journal
            .map(|(place, row)| {
                let entry = portable::entry(&self.run, row, &self.blobs);
                entry.map_err(|error| (place, error))
            })
            .collect()
    }

    fn status(&self) -> Option<Status> {
        self.rows.iter().find_map(|row| match row.get("status") {
            Some(SqlValue::Text(word)) => Status::parse(word),
            _ => None,
        })
    }

    /// Whether the run had ended; one that had not is imported as history.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.status().is_some_and(Status::is_final)
    }

    /// Imports the run, all of it or nothing.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn import(&self, store: &Store, now: UtcMs) -> Result<RunImport, StoreError> {
        let language = self.frame()?.language;
        let message = text::run::quarantined(&HISTORY).in_lang(language);
        let aside = ImportQuarantine { note: HISTORY.to_owned(), message, now };
        let aside = Some(&aside).filter(|_| !self.is_over());
        store.maintenance().import_run(&self.run, &self.rows, aside, now).await
    }
}

/// Quarantines every unfinished run of a restored database and drops its unsent messages: what was
/// done after the copy was made is not in it, and would be done again. Returns the number of runs.
///
/// # Errors
/// If something could not be written; then the database must not be used.
pub async fn quarantine_unfinished(store: &Store, now: UtcMs) -> Result<usize, StoreError> {
    let statuses = vec![Status::Queued, Status::Running, Status::Waiting];
    let filter = RunFilter { statuses, before: None, most: usize::MAX };
    let open = store.runs().list(&filter).await?;
    for row in &open {
        // A run with an unreadable frame is quarantined, too.
        let frame = store.journal().frame(&row.run).await.ok().flatten();
        let language = frame.map(|frame| frame.language).unwrap_or_default();
        let words = text::run::quarantined(&RESTORED).in_lang(language);
        store.queue().quarantine(&row.run, None, RESTORED, now, Some(words.into())).await?;
    }
    store.outbox().drop_unsent().await?;
    Ok(open.len())
}
