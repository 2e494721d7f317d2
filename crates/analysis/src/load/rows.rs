//! Rows on their way from the thread that reads them to the one that writes them.
//!
//! ```text
//!   file ──read, split, convert──► RowBatch ──channel──► RowWriter ──► table
//!                                     ▲                      │
//!                                     └──── used again ◄─────┘
//! ```
//!
//! Reading costs as much as writing, so each has a thread of its own. There are a few batches and
//! no more: memory does not grow with the file.

use crate::error::AnalysisError;
use crate::infer::PlainValue;
use crate::value::DataValue;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Values of a batch; it ends with the row that passes it.
const BATCH_VALUES: usize = 16 << 10;

/// Bytes of text of a batch; it ends with the row that passes them.
const BATCH_BYTES: usize = 512 << 10;

/// Batches that wait to be written.
const BATCHES: usize = 3;

/// Values that one statement inserts, with as many whole rows as fit.
const STATEMENT_VALUES: usize = 200;

/// A value on its way; of text only its length, which follows that of the one before.
#[derive(Debug, Clone, Copy)]
enum BatchValue {
    Null,
    Int(i64),
    Real(f64),
    Text(usize),
    /// The digits of a number of which SQLite would lose some.
    Long(usize),
}

/// Rows that are written together.
#[derive(Debug, Default)]
pub(super) struct RowBatch {
    values: Vec<BatchValue>,
    text: String,
    /// Row and column of values that do not fit, with the lengths of their texts.
    misfits: Vec<(i64, usize, usize)>,
    misfit_text: String,
}

impl RowBatch {
    pub(super) fn null(&mut self) {
        self.values.push(BatchValue::Null);
    }

    pub(super) fn int(&mut self, number: i64) {
        self.values.push(BatchValue::Int(number));
    }

    pub(super) fn real(&mut self, number: f64) {
        self.values.push(BatchValue::Real(number));
    }

    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(text);
        self.values.push(BatchValue::Text(text.len()));
    }

    pub(super) fn long(&mut self, digits: &str) {
        self.text.push_str(digits);
        self.values.push(BatchValue::Long(digits.len()));
    }

    /// Keeps a value that does not fit for the table of misfits.
    pub(super) fn misfit(&mut self, (row, column): (i64, usize), text: &str) {
        self.misfit_text.push_str(text);
        self.misfits.push((row, column, text.len()));
    }

    pub(super) fn plain(&mut self, value: PlainValue<'_>) {
        match value {
            PlainValue::Int(number) => self.int(number),
            PlainValue::Real(number) => self.real(number),
            PlainValue::Text(text) => self.text(text),
        }
    }

    pub(super) fn value(&mut self, value: &DataValue) {
        match value {
            DataValue::Null => self.null(),
            DataValue::Int(number) => self.int(*number),
            DataValue::Real(number) => self.real(*number),
            DataValue::Text(text) => self.text(text),
        }
    }

    fn is_full(&self) -> bool {
        let bytes = self.text.len() + self.misfit_text.len();
        self.values.len() >= BATCH_VALUES || bytes >= BATCH_BYTES
    }

    fn clear(&mut self) {
        self.values.clear();
        self.misfits.clear();
        // One row with a huge cell does not hold its memory for the whole file.
        for text in [&mut self.text, &mut self.misfit_text] {
            text.clear();
            text.shrink_to(BATCH_BYTES * 2);
        }
    }
}

/// The end of the channel where rows go in.
pub(super) struct RowSender {
    /// The row that is being made, after those before it.
    pub(super) batch: RowBatch,
    full: SyncSender<RowBatch>,
    used: Receiver<RowBatch>,
}

/// The end where they come out.
pub(super) struct RowReceiver {
    full: Receiver<RowBatch>,
    used: SyncSender<RowBatch>,
}

/// A channel for rows.
pub(super) fn row_channel() -> (RowSender, RowReceiver) {
    let (full, full_out) = sync_channel(BATCHES);
    let (used_in, used) = sync_channel(BATCHES + 2);
    let sender = RowSender { batch: RowBatch::default(), full, used };
    (sender, RowReceiver { full: full_out, used: used_in })
}

impl RowSender {
    /// Ends a row. Whether anybody still takes rows: nobody does after an error of the database.
    pub(super) fn end_row(&mut self) -> bool {
        !self.batch.is_full() || self.send()
    }

    /// Sends what is there.
    pub(super) fn send(&mut self) -> bool {
        let next = self.used.try_recv().unwrap_or_default();
        self.full.send(std::mem::replace(&mut self.batch, next)).is_ok()
    }
}

impl RowReceiver {
    /// Writes all rows that come. When it returns, nobody takes rows any more.
    pub(super) fn write_all(self, mut writer: RowWriter<'_>) -> Result<(), AnalysisError> {
        while let Ok(mut batch) = self.full.recv() {
            writer.write(&batch)?;
            batch.clear();
            // At the end nobody wants it back.
            let _ = self.used.try_send(batch);
        }
        Ok(())
    }
}

/// Writes rows into a table.
pub(super) struct RowWriter<'a> {
    one: Statement<'a>,
    many: Statement<'a>,
    misfit: Statement<'a>,
    columns: &'a [String],
    rows_at_once: usize,
}

impl<'a> RowWriter<'a> {
    /// `table` and `misfits` are names in SQL.
    pub(super) fn new(
        connection: &'a Connection,
        table: &str,
        (misfits, columns): (&str, &'a [String]),
    ) -> Result<Self, AnalysisError> {
        let rows_at_once = (STATEMENT_VALUES / columns.len().max(1)).max(1);
        let row = format!("({})", vec!["?"; columns.len()].join(","));
        let insert = |rows: usize| {
            let rows = vec![row.as_str(); rows].join(",");
            connection.prepare(&format!("INSERT INTO {table} VALUES {rows}"))
        };
        let misfit = connection.prepare(&format!("INSERT INTO {misfits} VALUES (?1, ?2, ?3)"))?;
        Ok(Self { one: insert(1)?, many: insert(rows_at_once)?, misfit, columns, rows_at_once })
    }

    fn write(&mut self, batch: &RowBatch) -> Result<(), AnalysisError> {
        let mut text = batch.text.as_str();
        let mut chunks = batch.values.chunks_exact(self.columns.len() * self.rows_at_once);
        for values in &mut chunks {
            text = insert(&mut self.many, values, text)?;
        }
        for values in chunks.remainder().chunks(self.columns.len()) {
            text = insert(&mut self.one, values, text)?;
        }
        let mut text = batch.misfit_text.as_str();
        for (row, column, length) in &batch.misfits {
            let (value, rest) = text.split_at(*length);
            self.misfit.execute((row, &self.columns[*column], value))?;
            text = rest;
        }
        Ok(())
    }
}

/// Inserts these values; their text comes first. Gives the text that is left.
fn insert<'t>(
    statement: &mut Statement<'_>,
    values: &[BatchValue],
    mut text: &'t str,
) -> Result<&'t str, AnalysisError> {
    for (at, value) in values.iter().enumerate() {
        let bound = match *value {
            BatchValue::Null => ValueRef::Null,
            BatchValue::Int(number) => ValueRef::Integer(number),
            BatchValue::Real(number) => ValueRef::Real(number),
            BatchValue::Text(length) => ValueRef::Text(take(&mut text, length)),
            BatchValue::Long(length) => ValueRef::Blob(take(&mut text, length)),
        };
        statement.raw_bind_parameter(at + 1, BatchField(bound))?;
    }
    statement.raw_execute()?;
    Ok(text)
}

fn take<'t>(text: &mut &'t str, length: usize) -> &'t [u8] {
    let (taken, rest) = text.split_at(length);
    *text = rest;
    taken.as_bytes()
}

struct BatchField<'a>(ValueRef<'a>);

impl ToSql for BatchField<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(self.0))
    }
}
