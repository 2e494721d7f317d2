//! Parquet: tables whose columns lie one after the other, read page by page.
//!
//! ```text
//!   footer ──thrift──► columns, row groups        each column: page ──unpack──► values
//!                                                  └─ one value of each column: a row
//! ```
//!
//! Read: flat columns and columns of structs, all ordinary encodings, Snappy, gzip and Zstandard;
//! decimals exactly, dates and timestamps as text. Left out and named: lists and maps.
//! Deliberately not the `parquet` crate: it costs more to build than all of this crate (ADR 60).

mod columns;
mod levels;
mod meta;
mod pages;
mod thrift;
mod values;

use super::{AnalysisError, RawField, ReadLimits, ReadNotes, RowSink, TableSource, WantMore};
use super::{COLUMNS_MAX, unpack::Packing};
use columns::ColumnReader;
use meta::ParquetMeta;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use values::OwnedField;

/// Rows between two looks at whether to stop.
const CHECK_EVERY: u64 = 5_000;

/// Rows that any file may have, however small it is: equal values take up next to nothing.
const ROWS_ALWAYS: u64 = 5_000_000;

/// Rows that a byte of a file may stand for beyond that.
const ROWS_PER_BYTE: u64 = 250;

/// Why a file cannot be read, in words.
type ParquetResult<T> = Result<T, String>;

pub(super) fn read(
    source: &TableSource,
    limits: &ReadLimits,
    sink: &mut dyn RowSink,
) -> Result<ReadNotes, AnalysisError> {
    if source.packing != Packing::None {
        return Err(source.no_table("it is Parquet that is packed once more: unpack it first"));
    }
    let file = File::open(&source.file).map_err(AnalysisError::read(&source.shown))?;
    let size = file.metadata().map_err(AnalysisError::read(&source.shown))?.len();
    let file = Arc::new(file);
    let wrong = |why: String| source.no_table(why);
    let meta = ParquetMeta::read(&file, size).map_err(wrong)?;
    let rows: u64 = meta.groups.iter().map(|group| group.rows).fold(0, u64::saturating_add);
    let bytes: u64 = meta.groups.iter().map(|group| group.bytes).fold(0, u64::saturating_add);
    if bytes > limits.bytes_max || rows > ROWS_ALWAYS.max(size.saturating_mul(ROWS_PER_BYTE)) {
        let (path, limit) = (source.shown.clone(), limits.bytes_max);
        return Err(AnalysisError::TooLarge { path, limit, ratio: ROWS_PER_BYTE });
    }
    let mut notes = ReadNotes { has_header: true, ..ReadNotes::default() };
    notes.left_out = meta.left_out.iter().map(|name| format!("{name} (lists or maps)")).collect();
    let kept = meta.columns.len().min(COLUMNS_MAX);
    notes.dropped_columns = (meta.columns.len() - kept) as u64;
    let names: Vec<String> =
        meta.columns[..kept].iter().map(|column| column.name.clone()).collect();
    if names.is_empty() {
        return Err(source.no_table("it has no columns that are values"));
    }
    sink.begin(&names)?;
    let mut seen = 0;
    for group in &meta.groups {
        let mut readers = Vec::with_capacity(kept);
        for column in &meta.columns[..kept] {
            readers.push(ColumnReader::new(&file, column, group, limits).map_err(wrong)?);
        }
        for _ in 0..group.rows {
            let cut = (limits.cell_bytes_max, &mut notes.cut_cells);
            let row = rows_of(&mut readers, cut, sink);
            if row.map_err(|error| error.in_file(source))? == WantMore::No {
                return Ok(notes);
            }
            seen += 1;
            if seen % CHECK_EVERY == 0 {
                limits.check()?;
            }
        }
    }
    limits.bytes_read.store(size, Ordering::Relaxed);
    Ok(notes)
}

/// What stops a row: the file, or what takes it.
enum RowError {
    Parquet(String),
    Sink(AnalysisError),
}

impl RowError {
    fn in_file(self, source: &TableSource) -> AnalysisError {
        match self {
            Self::Parquet(why) => source.no_table(why),
            Self::Sink(error) => error,
        }
    }
}

/// One row: a value of each column, cut where it is too long.
fn rows_of(
    readers: &mut [ColumnReader<'_>],
    (most, cut_cells): (usize, &mut u64),
    sink: &mut dyn RowSink,
) -> Result<WantMore, RowError> {
    let mut row: Vec<OwnedField> = Vec::with_capacity(readers.len());
    for reader in readers {
        row.push(reader.next().map_err(RowError::Parquet)?);
    }
    let cut = |field: &OwnedField| match field {
        OwnedField::Text(text) if text.len() > most => *cut_cells += 1,
        _ => {}
    };
    row.iter().for_each(cut);
    let fields: Vec<RawField<'_>> = row.iter().map(|field| field.raw(most)).collect();
    sink.row(&fields).map_err(RowError::Sink)
}

#[cfg(test)]
#[path = "parquet_tests.rs"]
mod tests;
