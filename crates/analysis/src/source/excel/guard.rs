//! What a workbook would need in memory, before a library parses it: a few bytes can claim a
//! sheet of 17 billion cells.
//!
//! ```text
//!   xlsx, xlsb   cells are streamed: only what the parts unpack to is bounded
//!   ods, xls     held as a rectangle: the rectangle is measured first
//! ```

use super::{AnalysisError, ReadLimits};
use crate::source::unpack;
use quick_xml::events::{BytesStart, Event};
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

/// Cells of all rectangles that a workbook is held in.
const HELD_CELLS_MAX: u64 = 20_000_000;

/// Bytes of the texts that cells of an XLSX file share, and of its styles.
const SHARED_BYTES_MAX: u64 = 256 << 20;

/// Columns and rows of the widest and longest sheet.
const SHEET_COLUMNS: u64 = 16_384;
const SHEET_ROWS: u64 = 1_048_576;

/// What kind of workbook it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BookForm {
    Xlsx,
    Xlsb,
    Xls,
    Ods,
}

/// The kind of a workbook that fits into memory.
pub(super) fn measure(
    bytes: &[u8],
    shown: &Path,
    limits: &ReadLimits,
) -> Result<BookForm, AnalysisError> {
    let no_table = |why: &str| AnalysisError::NoTable { path: shown.to_owned(), why: why.into() };
    let too_many = || {
        no_table(
            "a sheet spans more cells than are held in memory (20 million): save it as XLSX or CSV",
        )
    };
    if bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
        let stream = old_stream(bytes).ok_or_else(|| {
            no_table("it holds no workbook that can be read; is it protected with a password?")
        })?;
        return match held_by_old(&stream) <= HELD_CELLS_MAX {
            true => Ok(BookForm::Xls),
            false => Err(too_many()),
        };
    }
    let names = unpack::workbook_parts(bytes, shown, SHARED_BYTES_MAX, limits)?;
    let has = |name: &str| names.iter().any(|own| own == name);
    if has("xl/workbook.bin") {
        return Ok(BookForm::Xlsb);
    }
    if !has("content.xml") {
        return Ok(BookForm::Xlsx);
    }
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| no_table(&error.to_string()))?;
    let content = archive.by_name("content.xml").map_err(|error| no_table(&error.to_string()))?;
    let held = held_by_open_document(content, limits)?
        .ok_or_else(|| no_table("its content is no XML that can be read"))?;
    if held > HELD_CELLS_MAX { Err(too_many()) } else { Ok(BookForm::Ods) }
}

/// Cells that the tables of an ODS file are held in; none for broken XML.
fn held_by_open_document(
    content: impl Read,
    limits: &ReadLimits,
) -> Result<Option<u64>, AnalysisError> {
    let mut reader = quick_xml::Reader::from_reader(BufReader::new(content));
    let (mut buffer, mut sheet, mut row) = (Vec::new(), HeldSheet::default(), HeldRow::default());
    let mut held = 0_u64;
    let mut seen = 0_u64;
    loop {
        seen += 1;
        if seen.is_multiple_of(10_000) {
            limits.check()?;
        }
        buffer.clear();
        let Ok(event) = reader.read_event_into(&mut buffer) else { return Ok(None) };
        match event {
            Event::Start(tag) | Event::Empty(tag) if is_tag(&tag, "table-row") => {
                sheet.end_row(&row);
                row = HeldRow::new(repeats(&tag, "table:number-rows-repeated").min(SHEET_ROWS));
            }
            Event::Start(tag) | Event::Empty(tag)
                if is_tag(&tag, "table-cell") || is_tag(&tag, "covered-table-cell") =>
            {
                let count = repeats(&tag, "table:number-columns-repeated").min(SHEET_COLUMNS);
                let is_filled = tag.attributes().flatten().any(|own| {
                    let name = own.key.local_name();
                    let name = name.as_ref();
                    name == "value-type" || name == "formula"
                });
                row.cells(count, is_filled);
            }
            Event::End(tag) if tag.local_name().as_ref() == "table" => {
                sheet.end_row(&row);
                row = HeldRow::default();
                held = held.saturating_add(std::mem::take(&mut sheet).held());
            }
            Event::Eof => return Ok(Some(held.saturating_add(sheet.held()))),
            _ => {}
        }
    }
}

fn is_tag(tag: &BytesStart<'_>, name: &str) -> bool {
    tag.local_name().as_ref() == name
}

fn repeats(tag: &BytesStart<'_>, name: &str) -> u64 {
    let found = tag.attributes().flatten().find(|own| own.key.as_ref() == name);
    found.and_then(|own| own.value.trim().parse().ok()).unwrap_or(1)
}

/// A row that is being measured.
#[derive(Debug, Default)]
struct HeldRow {
    repeats: u64,
    at: u64,
    /// Columns up to its last filled cell.
    width: u64,
}

impl HeldRow {
    fn new(repeats: u64) -> Self {
        Self { repeats, ..Self::default() }
    }

    fn cells(&mut self, count: u64, is_filled: bool) {
        self.at = self.at.saturating_add(count);
        if is_filled {
            self.width = self.at.min(SHEET_COLUMNS);
        }
    }
}

/// A sheet that is being measured.
#[derive(Debug, Default)]
struct HeldSheet {
    rows: u64,
    last_filled: u64,
    width: u64,
    /// Cells as they are read, before they become a rectangle.
    read: u64,
}

impl HeldSheet {
    fn end_row(&mut self, row: &HeldRow) {
        self.rows = self.rows.saturating_add(row.repeats);
        if row.width > 0 {
            self.last_filled = self.rows;
            self.width = self.width.max(row.width);
            self.read = self.read.saturating_add(row.width);
        }
    }

    fn held(self) -> u64 {
        self.last_filled.saturating_mul(self.width).max(self.read)
    }
}

/// The stream of an XLS file that holds its sheets.
fn old_stream(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    let name = ["/Workbook", "/Book"].into_iter().find(|name| file.is_stream(name))?;
    let mut stream = Vec::new();
    file.open_stream(name).ok()?.read_to_end(&mut stream).ok()?;
    Some(stream)
}

/// Cells that the sheets of an XLS file are held in.
fn held_by_old(stream: &[u8]) -> u64 {
    let number = |data: &[u8], at: usize| {
        data.get(at..at + 2).map_or(0, |two| u64::from(u16::from_le_bytes([two[0], two[1]])))
    };
    let (mut at, mut held) = (0, 0_u64);
    let mut bounds = OldBounds::default();
    while let Some(head) = stream.get(at..at + 4) {
        let kind = u16::from_le_bytes([head[0], head[1]]);
        let end = at + 4 + usize::from(u16::from_le_bytes([head[2], head[3]]));
        let data = stream.get(at + 4..end).unwrap_or_default();
        at = end;
        match kind {
            // The beginning of a sheet.
            0x0809 => held = held.saturating_add(std::mem::take(&mut bounds).held()),
            // Its claimed size, for which room is made.
            0x0200 => {
                let long = |at: usize| number(data, at) | number(data, at + 2) << 16;
                let (rows, columns) = match data.len() {
                    10 => (number(data, 2).saturating_sub(number(data, 0)), number(data, 6)),
                    _ => (long(4).saturating_sub(long(0)), number(data, 10)),
                };
                held = held.saturating_add(rows.saturating_mul(columns));
            }
            // Cells of numbers, texts, truth values, formulas.
            0x0203 | 0x0204 | 0x0205 | 0x00d6 | 0x027e | 0x00fd | 0x0006 => {
                bounds.take(number(data, 0), number(data, 2));
            }
            // Several numbers of a row.
            0x00bd => {
                let last = number(data, data.len().saturating_sub(2));
                bounds.take(number(data, 0), number(data, 2));
                bounds.take(number(data, 0), last);
            }
            _ => {}
        }
    }
    held.saturating_add(bounds.held())
}

/// The rectangle around the cells of a sheet.
#[derive(Debug, Default)]
struct OldBounds {
    rows: Option<(u64, u64)>,
    columns: Option<(u64, u64)>,
}

impl OldBounds {
    fn take(&mut self, row: u64, column: u64) {
        let wider = |known: Option<(u64, u64)>, at: u64| match known {
            Some((low, high)) => Some((low.min(at), high.max(at))),
            None => Some((at, at)),
        };
        (self.rows, self.columns) = (wider(self.rows, row), wider(self.columns, column));
    }

    fn held(self) -> u64 {
        let count = |range: Option<(u64, u64)>| range.map_or(0, |(low, high)| high - low + 1);
        count(self.rows).saturating_mul(count(self.columns))
    }
}
