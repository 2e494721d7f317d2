//! Workbooks: each sheet that holds something is a table. Cells are streamed where the format
//! allows it; columns without any cell are left out, so a stray cell far away costs nothing.

mod cells;
mod guard;

use super::Packing;
use super::header::is_header;
use super::{
    AnalysisError, COLUMNS_MAX, FileForm, RawField, ReadLimits, ReadNotes, RowSink, TableSource,
    Unpacked, WantMore,
};
use calamine::Data;
use cells::Workbook;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Rows that are looked at to find the header.
const LOOK_AT: usize = 200;

/// Rows before the header that are passed over.
const TITLE_ROWS_MAX: usize = 20;

/// Fields of the largest sheet: its rows times its columns.
const FIELDS_MAX: u64 = 200_000_000;

/// The cells of a row that hold something, with their columns.
type SparseRow = Vec<(u32, Data)>;

/// The sheets that hold something.
pub(super) fn sheets(
    part: &Unpacked,
    limits: &ReadLimits,
) -> Result<Vec<TableSource>, AnalysisError> {
    let mut book = Workbook::open(&part.file, &part.shown, limits)?;
    let mut found: Vec<TableSource> = Vec::new();
    let (mut left_out, mut damaged) = (Vec::new(), None);
    for (sheet, has_cells) in book.sheet_names() {
        // A sheet of charts has no cells.
        if !has_cells {
            continue;
        }
        let mut is_filled = false;
        let seen = book.each_row(&sheet, limits, &mut |_, _| {
            is_filled = true;
            Ok(WantMore::No)
        });
        match seen {
            Err(error @ AnalysisError::NoTable { .. }) => {
                left_out.push(format!("{sheet} (damaged)"));
                damaged = Some(error);
                continue;
            }
            Err(error) => return Err(error),
            Ok(()) if !is_filled => continue,
            Ok(()) => {}
        }
        found.push(TableSource {
            file: part.file.clone(),
            shown: part.shown.clone(),
            form: FileForm::Excel,
            packing: Packing::None,
            name: sheet.clone(),
            sheet: Some(sheet),
            left_out: Vec::new(),
            encoding: None,
        });
    }
    match (found.first_mut(), damaged) {
        (Some(first), _) => first.left_out = left_out,
        (None, Some(error)) => return Err(error),
        (None, None) => {}
    }
    // A workbook of one sheet is called after its file.
    if let [only] = found.as_mut_slice() {
        only.name.clone_from(&part.name);
    }
    Ok(found)
}

/// What the cells of a sheet span.
#[derive(Debug, Default)]
struct SheetLayout {
    /// The columns that hold something, and the place of each in a row.
    columns: BTreeMap<u32, usize>,
    rows: u64,
    /// Rows before the header.
    skip: usize,
    header: Option<Vec<String>>,
}

/// Reads all rows of a sheet.
pub(super) fn read(
    source: &TableSource,
    limits: &ReadLimits,
    sink: &mut dyn RowSink,
) -> Result<ReadNotes, AnalysisError> {
    let mut book = Workbook::open(&source.file, &source.shown, limits)?;
    let sheet = source.sheet.clone().unwrap_or_default();
    let layout = layout_of(source, &mut book, &sheet, limits)?;
    let mut notes = ReadNotes { has_header: layout.header.is_some(), ..ReadNotes::default() };
    notes.title_rows = layout.skip as u64;
    notes.dropped_columns = layout.columns.len().saturating_sub(COLUMNS_MAX) as u64;
    let width = layout.columns.len().min(COLUMNS_MAX);
    let header = layout.header.clone().unwrap_or_else(|| vec![String::new(); width]);
    sink.begin(&header[..width])?;
    let mut rows = SheetRows { sink, notes: &mut notes, limits, layout: &layout, width, seen: 0 };
    book.each_row(&sheet, limits, &mut |_, cells| rows.take(&cells))?;
    let size = std::fs::metadata(&source.file).map_or(0, |found| found.len());
    limits.bytes_read.store(size, Ordering::Relaxed);
    Ok(notes)
}

fn layout_of(
    source: &TableSource,
    book: &mut Workbook,
    sheet: &str,
    limits: &ReadLimits,
) -> Result<SheetLayout, AnalysisError> {
    let mut layout = SheetLayout::default();
    let mut first: Vec<SparseRow> = Vec::new();
    book.each_row(sheet, limits, &mut |_, cells| {
        layout.rows += 1;
        for (column, _) in &cells {
            layout.columns.entry(*column).or_insert(0);
        }
        if first.len() < LOOK_AT {
            first.push(cells);
        }
        Ok(WantMore::Yes)
    })?;
    let width = layout.columns.len();
    if width == 0 {
        return Err(source.no_table("the sheet is empty"));
    }
    if layout.rows.saturating_mul(width.min(COLUMNS_MAX) as u64) > FIELDS_MAX {
        return Err(source.no_table(format!(
            "its cells span {} rows and {width} columns, more than 200 million fields: save it as \
             CSV",
            layout.rows
        )));
    }
    layout.columns.values_mut().enumerate().for_each(|(at, place)| *place = at);
    let is_title = |row: &&SparseRow| width > 1 && row.len() == 1;
    layout.skip = first.iter().take(TITLE_ROWS_MAX).take_while(is_title).count();
    let texts: Vec<Vec<String>> = first
        .iter()
        .skip(layout.skip)
        .map(|row| {
            let mut texts = vec![String::new(); width];
            row.iter().for_each(|(column, cell)| texts[layout.columns[column]] = shown(cell));
            texts
        })
        .collect();
    let has_truth = first.get(layout.skip).is_some_and(|row| {
        row.iter().any(|(_, cell)| matches!(cell, Data::Bool(_) | Data::Error(_)))
    });
    if let [names, below @ ..] = texts.as_slice()
        && !below.is_empty()
        && !has_truth
        && is_header(names, below)
    {
        layout.header = Some(names.clone());
    }
    Ok(layout)
}

/// Hands the rows of a sheet on.
struct SheetRows<'a> {
    sink: &'a mut dyn RowSink,
    notes: &'a mut ReadNotes,
    limits: &'a ReadLimits,
    layout: &'a SheetLayout,
    width: usize,
    seen: usize,
}

impl SheetRows<'_> {
    fn take(&mut self, cells: &SparseRow) -> Result<WantMore, AnalysisError> {
        self.seen += 1;
        if self.seen <= self.layout.skip + usize::from(self.layout.header.is_some()) {
            return Ok(WantMore::Yes);
        }
        self.limits.check()?;
        let texts: Vec<(usize, String)> = cells
            .iter()
            .map(|(column, cell)| (self.layout.columns[column], self.cut(shown_or_error(cell))))
            .collect();
        let mut fields = vec![RawField::Null; self.width];
        for ((_, cell), (place, text)) in cells.iter().zip(&texts) {
            if let Some(field) = fields.get_mut(*place) {
                *field = raw_of(cell, text);
            }
        }
        self.sink.row(&fields)
    }

    fn cut(&mut self, mut text: String) -> String {
        if text.len() > self.limits.cell_bytes_max {
            self.notes.cut_cells += 1;
            text.truncate(text.floor_char_boundary(self.limits.cell_bytes_max));
        }
        text
    }
}

fn shown(cell: &Data) -> String {
    match cell {
        Data::Empty | Data::Error(_) => String::new(),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => {
            text.replace('\0', "")
        }
        Data::DateTime(when) => match when.is_duration() {
            true => when.as_f64().to_string(),
            // Less than a day after the first day that there is: a time of day alone.
            false if (0.0..1.0).contains(&when.as_f64()) => time_alone(when.to_ymd_hms_milli()),
            false => iso(when.to_ymd_hms_milli()),
        },
        other => other.to_string(),
    }
}

fn shown_or_error(cell: &Data) -> String {
    match cell {
        Data::Error(error) => error.to_string(),
        other => shown(other),
    }
}

/// Workbooks have no whole numbers: all that are whole are taken for such.
fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    is_whole.then_some(number as i64)
}

fn time_alone((_, _, _, hour, minute, second, _): (u16, u8, u8, u8, u8, u8, u16)) -> String {
    format!("{hour:02}:{minute:02}:{second:02}")
}

fn iso((year, month, day, hour, minute, second, milli): (u16, u8, u8, u8, u8, u8, u16)) -> String {
    let day = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second, milli) {
        (0, 0, 0, 0) => day,
        (_, _, _, 0) => format!("{day} {hour:02}:{minute:02}:{second:02}"),
        _ => format!("{day} {hour:02}:{minute:02}:{second:02}.{milli:03}"),
    }
}

fn raw_of<'t>(cell: &Data, text: &'t str) -> RawField<'t> {
    match cell {
        Data::Empty => RawField::Null,
        Data::Error(_) => RawField::Error(text),
        Data::Int(number) => RawField::Int(*number),
        Data::Float(number) => whole(*number).map_or(RawField::Real(*number), RawField::Int),
        Data::Bool(yes) => RawField::Bool(*yes),
        _ => RawField::Text(text),
    }
}
