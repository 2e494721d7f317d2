//! Reading an export, line by line. Nothing is trusted before it was checked.

use super::sane::is_sane;
use super::{EXPORT_FORMAT, digest_of};
use everloop_loops::AnyRun;
use everloop_store::StoreError;
use everloop_store::portable::{TableRow, added_column, blob, columns};
use everloop_types::journal::{Entry, EntryKind};
use everloop_types::{RunId, SqlValue};
use serde_json::Value;
use std::collections::BTreeMap;

/// One run of an export.
#[derive(Debug, Clone)]
pub struct ExportedRun {
    /// The run.
    pub run: RunId,
    pub(super) rows: Vec<TableRow>,
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
}

/// Why an export was not imported. Nothing was written.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ImportError {
    /// Its first line is not that of an export.
    #[error("this is no export of everloop")]
    NotAnExport,
    /// A newer program wrote it.
    #[error("it has format {0}, and this program reads up to {EXPORT_FORMAT}")]
    Newer(u64),
    /// A line is damaged.
    #[error("line {0} is damaged")]
    Damaged(usize),
    /// A line contains something that only a newer program knows.
    #[error("line {line} needs a newer program: {what}")]
    NewerLine {
        /// The line.
        line: usize,
        /// What is too new.
        what: String,
    },
    /// It is incomplete.
    #[error("it breaks off after line {0}")]
    BreaksOff(usize),
    /// The journal folds to another state here.
    #[error("{run}, which ends in line {line}, folds to another state here")]
    OtherState {
        /// The line.
        line: usize,
        /// The run.
        run: RunId,
    },
}

impl ExportedRun {
    pub(super) fn unchecked(run: RunId, rows: Vec<TableRow>) -> Self {
        let blobs = rows.iter().filter_map(blob).collect();
        Self { run, rows, blobs }
    }
}

/// Reads and checks a whole export.
///
/// # Errors
/// The first problem, with its line.
pub fn read_export(text: &str) -> Result<Vec<ExportedRun>, ImportError> {
    let mut lines = text.lines().zip(1..);
    let first = lines.next().map(|(first, _)| first).unwrap_or_default();
    let header: Value = serde_json::from_str(first).map_err(|_| ImportError::NotAnExport)?;
    match header["everloop_export"].as_u64() {
        None => return Err(ImportError::NotAnExport),
        Some(format) if format > EXPORT_FORMAT => return Err(ImportError::Newer(format)),
        Some(_) => {}
    }
    let mut parcels = Vec::new();
    let mut run: Vec<(&str, usize)> = Vec::new();
    let mut last = 1;
    for (line, number) in lines {
        last = number;
        let value: Value = serde_json::from_str(line).map_err(|_| ImportError::Damaged(number))?;
        if let Some(complete) = value.get("complete") {
            let all = run.is_empty() && complete["runs"].as_u64() == Some(parcels.len() as u64);
            return if all { Ok(parcels) } else { Err(ImportError::Damaged(number)) };
        }
        match value.get("end") {
            Some(end) => parcels.push(close(&std::mem::take(&mut run), end, number)?),
            None => run.push((line, number)),
        }
    }
    Err(ImportError::BreaksOff(last))
}

/// One run: its lines, checked against the last one.
fn close(lines: &[(&str, usize)], end: &Value, number: usize) -> Result<ExportedRun, ImportError> {
    let mut rows = Vec::with_capacity(lines.len());
    for (line, number) in lines {
        rows.push(row(line, *number)?);
    }
    let name = end["run_id"].as_str().filter(|name| is_run_id(name));
    let name = name.ok_or(ImportError::Damaged(number))?;
    let parcel = ExportedRun::unchecked(RunId::new(name), rows);
    let line_of = |place: usize| lines.get(place).map_or(number, |(_, number)| *number);
    for (place, row) in parcel.rows.iter().enumerate() {
        if !is_sane(row, &parcel.run) {
            return Err(ImportError::Damaged(line_of(place)));
        }
    }
    let entries = match parcel.entries() {
        Ok(entries) => entries,
        Err((place, error)) => return Err(fault(line_of(place), &error)),
    };
    agrees_with_journal(&parcel, &entries, &line_of)?;
    let texts: Vec<String> = lines.iter().map(|(line, _)| (*line).to_owned()).collect();
    let agrees = end["lines"].as_u64() == Some(lines.len() as u64)
        && end["digest"].as_str() == Some(digest_of(&texts).as_str());
    if !agrees {
        return Err(ImportError::Damaged(number));
    }
    let state = parcel.state_hash().map_err(|error| fault(number, &error))?;
    if state.as_deref() != end["state_hash"].as_str() {
        return Err(ImportError::OtherState { line: number, run: parcel.run });
    }
    Ok(parcel)
}

/// Checks that there is one row of the run, and that it agrees with the journal.
fn agrees_with_journal(
    parcel: &ExportedRun,
    entries: &[Entry],
    line_of: &impl Fn(usize) -> usize,
) -> Result<(), ImportError> {
    let rows = parcel.rows.iter().enumerate().filter(|(_, row)| row.table == "runs");
    let [(place, row)] = rows.collect::<Vec<_>>()[..] else {
        return Err(ImportError::Damaged(line_of(0)));
    };
    let damaged = ImportError::Damaged(line_of(place));
    let Some(SqlValue::Text(name)) = row.get("loop_name") else { return Err(damaged) };
    if AnyRun::version(name).is_none() {
        return Err(ImportError::NewerLine { line: line_of(place), what: name.clone() });
    }
    let begun = entries.iter().find_map(|entry| match &entry.kind {
        EntryKind::RunCreated(created) => Some(created),
        _ => None,
    });
    let same = begun.is_none_or(|begun| {
        begun.loop_name == *name
            && row.get("loop_ver") == Some(&SqlValue::Int(i64::from(begun.loop_ver)))
    });
    let last = entries.last().map_or(0, |entry| entry.seq);
    let in_order = entries.windows(2).all(|two| two[0].seq < two[1].seq);
    let long_enough =
        matches!(row.get("next_seq"), Some(SqlValue::Int(next)) if *next > last && last >= 0);
    match same && in_order && long_enough {
        true => Ok(()),
        false => Err(damaged),
    }
}

/// Whether this is a valid run id: it is used as the name of a folder, and printed.
pub(super) fn is_run_id(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}

fn fault(line: usize, error: &StoreError) -> ImportError {
    match error {
        StoreError::NewerEntry { kind, .. } => ImportError::NewerLine { line, what: kind.clone() },
        _ => ImportError::Damaged(line),
    }
}

fn row(line: &str, number: usize) -> Result<TableRow, ImportError> {
    let damaged = || ImportError::Damaged(number);
    let mut value: Value = serde_json::from_str(line).map_err(|_| damaged())?;
    let name = value["table"].as_str().ok_or_else(damaged)?;
    let (table, names) = columns(name)
        .ok_or_else(|| ImportError::NewerLine { line: number, what: name.to_owned() })?;
    let Value::Object(cells) = value["row"].take() else { return Err(damaged()) };
    if let Some(unknown) = cells.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(ImportError::NewerLine { line: number, what: unknown.clone() });
    }
    let read = |name: &&str| match cells.get(*name) {
        Some(value) => cell(value),
        // A file of an earlier program does not have what came later.
        None => added_column(table, name),
    };
    let cells = names.iter().map(|name| read(name).ok_or_else(damaged));
    Ok(TableRow { table, cells: cells.collect::<Result<_, _>>()? })
}

fn cell(value: &Value) -> Option<SqlValue> {
    match value {
        Value::Null => Some(SqlValue::Null),
        Value::Number(number) => number.as_i64().map(SqlValue::Int),
        Value::String(text) => Some(SqlValue::from(text.as_str())),
        Value::Object(bytes) => match (bytes.get("text"), bytes.get("bytes")) {
            (Some(Value::String(text)), None) => Some(SqlValue::Bytes(text.as_bytes().to_vec())),
            (None, Some(bytes)) => serde_json::from_value(bytes.clone()).ok().map(SqlValue::Bytes),
            _ => None,
        },
        Value::Bool(_) | Value::Array(_) => None,
    }
}
