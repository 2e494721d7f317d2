//! Files as rows: what a file is, by its bytes and not by its name, and one reader for each form.
//!
//! ```text
//!   bytes ──unpack──► bytes ──what is it?──► delimited text │ JSON │ Excel │ Parquet ──► RowSink
//! ```
//!
//! Everything is streamed but old workbooks (XLS, ODS). A reader reads the same file twice: a
//! sample, from which the types are inferred, and then all of it.

mod delimited;
mod encoding;
mod excel;
mod header;
mod json;
mod parquet;
mod sniff;
mod unpack;

use encoding::TextEncoding;
pub use sniff::FileForm;
pub(crate) use unpack::{Packing, Unpacked};

use crate::error::AnalysisError;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// Examples that are kept of anything that was wrong.
pub(crate) const EXAMPLES_MAX: usize = 3;

/// Characters of an example.
const EXAMPLE_CHARS: usize = 60;

/// One field of a row, as its file has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RawField<'a> {
    Null,
    Int(i64),
    Real(f64),
    /// The digits of a number, in a format that has numbers: always with a decimal point.
    Number(&'a str),
    Bool(bool),
    Text(&'a str),
    /// The error of a formula, such as `#DIV/0!`, or an infinite number: a cell without a value.
    Error(&'a str),
}

/// Whether more rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantMore {
    Yes,
    No,
}

/// Takes the rows of one table.
pub(crate) trait RowSink {
    /// The names of the columns, before any row.
    fn begin(&mut self, header: &[String]) -> Result<(), AnalysisError>;
    /// One row; it has as many fields as there are columns.
    fn row(&mut self, fields: &[RawField<'_>]) -> Result<WantMore, AnalysisError>;
}

/// What is worth telling of how a file was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadNotes {
    /// The encoding of text, such as `UTF-8` or `gb18030`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub encoding: String,
    /// Whether some lines are in UTF-8 and others in this encoding.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mixed_encodings: bool,
    /// What separates fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// Whether the first row was taken for the names of the columns.
    #[serde(default)]
    pub has_header: bool,
    /// Characters that the encoding does not have.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bad_characters: u64,
    /// NUL bytes that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nul_bytes: u64,
    /// Rows with too few or too many fields.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uneven_rows: u64,
    /// Rows that could not be read at all.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub broken_rows: u64,
    /// Cells that were longer than is kept, and were cut.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_cells: u64,
    /// Columns beyond the most that a table has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_columns: u64,
    /// What the file has beside its table and was left out: sheets, parts, keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Rows before the header that were passed over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub title_rows: u64,
    /// Whether the first line only names the separator, as `sep=;` does.
    #[serde(default, skip_serializing_if = "is_false")]
    pub separator_line: bool,
    /// Whether at least two blanks separate fields, and single ones do not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub wide_blanks: bool,
    /// Examples of rows that were uneven or broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Records with other letters than ASCII.
    #[serde(skip)]
    pub(crate) letters: LetterRecords,
}

/// Records with other letters than ASCII.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LetterRecords {
    /// Those that are in the encoding.
    pub(crate) good: u64,
    /// Those that are not.
    pub(crate) bad: u64,
    /// The latter, as far as they are looked at again.
    odd: Vec<u8>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(is: &bool) -> bool {
    !*is
}

/// Bytes of records that are looked at again for their encoding.
const ODD_BYTES_MAX: usize = 256 * 1024;

impl ReadNotes {
    /// Keeps a record that is no UTF-8.
    pub(crate) fn odd_record(&mut self, bytes: &[u8]) {
        let letters = &mut self.letters;
        letters.bad += 1;
        if letters.odd.len() + bytes.len() < ODD_BYTES_MAX {
            letters.odd.extend_from_slice(bytes);
            letters.odd.push(b'\n');
        }
    }

    /// The encoding that the text has after all: the beginning looked like UTF-8, and most of what
    /// is not ASCII is not.
    pub(crate) fn other_encoding(&self) -> Option<TextEncoding> {
        let LetterRecords { good, bad, odd } = &self.letters;
        if *bad == 0 || *good > bad * 4 {
            return None;
        }
        let found = TextEncoding::detect(odd);
        (found.name() != self.encoding).then_some(found)
    }

    pub(crate) fn example(&mut self, line: u64, what: &str) {
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(format!("line {line}: {}", example(what)));
        }
    }
}

/// A short form of something odd, on one line.
pub(crate) fn example(text: &str) -> String {
    let mut shown: String =
        text.chars().take(EXAMPLE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > EXAMPLE_CHARS {
        shown.push('…');
    }
    shown
}

/// Most columns of a table; SQLite has no more.
pub(crate) const COLUMNS_MAX: usize = 2_000;

/// What bounds reading, and how far it is.
#[derive(Debug, Clone)]
pub struct ReadLimits {
    /// Most bytes that a file may unpack to.
    pub bytes_max: u64,
    /// Most bytes of one cell; more is cut.
    pub cell_bytes_max: usize,
    /// Asks to stop.
    pub cancel: CancellationToken,
    /// Bytes of the file that were read so far.
    pub bytes_read: Arc<AtomicU64>,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            bytes_max: 64 << 30,
            cell_bytes_max: 1 << 20,
            cancel: CancellationToken::new(),
            bytes_read: Arc::default(),
        }
    }
}

impl ReadLimits {
    pub(crate) fn check(&self) -> Result<(), AnalysisError> {
        if self.cancel.is_cancelled() { Err(AnalysisError::Canceled) } else { Ok(()) }
    }

    pub(crate) fn start_again(&self) {
        self.bytes_read.store(0, Ordering::Relaxed);
    }
}

/// A table in a file.
#[derive(Debug, Clone)]
pub(crate) struct TableSource {
    /// The file, unpacked if need be.
    pub(crate) file: PathBuf,
    /// The file as the person knows it.
    pub(crate) shown: PathBuf,
    /// What it is.
    pub(crate) form: FileForm,
    /// How it is packed.
    pub(crate) packing: Packing,
    /// The sheet of a workbook.
    pub(crate) sheet: Option<String>,
    /// What its table is called, before it is made an SQL name.
    pub(crate) name: String,
    /// What its file has beside its tables and cannot be read.
    pub(crate) left_out: Vec<String>,
    /// The encoding of its text, where its beginning was misleading.
    pub(crate) encoding: Option<TextEncoding>,
}

impl TableSource {
    /// Reads the rows into a sink.
    pub(crate) fn read(
        &self,
        limits: &ReadLimits,
        sink: &mut dyn RowSink,
    ) -> Result<ReadNotes, AnalysisError> {
        limits.start_again();
        let mut notes = match self.form {
            FileForm::Delimited => delimited::read(self, limits, sink),
            FileForm::Json => json::read(self, limits, sink),
            FileForm::JsonLines => json::read_lines(self, limits, sink),
            FileForm::Excel => excel::read(self, limits, sink),
            FileForm::Parquet => parquet::read(self, limits, sink),
        }?;
        notes.left_out.extend(self.left_out.iter().cloned());
        Ok(notes)
    }

    pub(crate) fn no_table(&self, why: impl Into<String>) -> AnalysisError {
        AnalysisError::NoTable { path: self.shown.clone(), why: why.into() }
    }
}

/// The tables of a file. Archives are unpacked into `folder`.
pub(crate) fn tables_of(
    file: &Path,
    folder: &Path,
    limits: &ReadLimits,
) -> Result<Vec<TableSource>, AnalysisError> {
    let mut tables = Vec::new();
    for part in unpack::unpack(file, folder, limits)? {
        let form = sniff::form_of(&part, limits)?;
        let is_book = matches!(form, FileForm::Excel | FileForm::Parquet);
        if !is_book || part.packing == Packing::None {
            add_tables(part, form, limits, &mut tables)?;
            continue;
        }
        // These are read from both ends, so they are unpacked first.
        for part in unpack::inflate(&part, folder, limits)? {
            let form = sniff::form_of(&part, limits)?;
            add_tables(part, form, limits, &mut tables)?;
        }
    }
    match tables.is_empty() {
        true => {
            Err(AnalysisError::NoTable { path: file.to_owned(), why: "it is empty".to_owned() })
        }
        false => Ok(tables),
    }
}

fn add_tables(
    part: Unpacked,
    form: FileForm,
    limits: &ReadLimits,
    tables: &mut Vec<TableSource>,
) -> Result<(), AnalysisError> {
    if form == FileForm::Excel {
        tables.extend(excel::sheets(&part, limits)?);
        return Ok(());
    }
    let Unpacked { file, shown, packing, name } = part;
    let (sheet, left_out, encoding) = (None, Vec::new(), None);
    tables.push(TableSource { file, shown, form, packing, sheet, name, left_out, encoding });
    Ok(())
}

/// Names of columns that are there once each and are not empty, as SQL compares them.
pub(crate) fn tidy_header(header: &[String]) -> Vec<String> {
    let mut taken = std::collections::HashSet::new();
    let mut names = Vec::with_capacity(header.len());
    for (at, raw) in header.iter().enumerate() {
        let mut name: String = raw
            .trim()
            .trim_start_matches('\u{feff}')
            .chars()
            .map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' })
            .collect();
        while name.contains("__") {
            name = name.replace("__", "_");
        }
        let name = name.trim_matches('_').chars().take(100).collect::<String>();
        let base = if name.is_empty() { format!("column_{}", at + 1) } else { name };
        let mut unique = base.clone();
        let mut number = 2;
        while !taken.insert(unique.to_lowercase()) {
            unique = format!("{base}_{number}");
            number += 1;
        }
        names.push(unique);
    }
    names
}

/// An SQL name for a table.
pub(crate) fn table_name(raw: &str) -> String {
    let name = tidy_header(&[raw.to_owned()]).remove(0);
    match name.chars().next() {
        Some(first) if first.is_numeric() => format!("t_{name}"),
        _ => name,
    }
}
