//! The cells of a workbook, row by row.

use super::{AnalysisError, ReadLimits, SparseRow, WantMore, guard};
use calamine::{Cell, Data, DataRef, Ods, Reader, SheetType, Xls, Xlsb, Xlsx};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// Bytes of the largest workbook.
const WORKBOOK_BYTES_MAX: u64 = 512 << 20;

/// Cells between two looks at whether to stop.
const CHECK_EVERY: u64 = 10_000;

type Bytes = Cursor<Vec<u8>>;

/// Takes the cells of a row that hold something, with the number of the row from 0.
type OnSparseRow<'a> = dyn FnMut(u32, SparseRow) -> Result<WantMore, AnalysisError> + 'a;

enum Sheets {
    Xlsx(Box<Xlsx<Bytes>>),
    Xlsb(Box<Xlsb<Bytes>>),
    /// These two are held in memory, so they are measured before they are parsed.
    Xls(Box<Xls<Bytes>>),
    Ods(Box<Ods<Bytes>>),
}

/// An opened workbook.
pub(super) struct Workbook {
    sheets: Sheets,
    shown: PathBuf,
}

impl Workbook {
    pub(super) fn open(
        file: &Path,
        shown: &Path,
        limits: &ReadLimits,
    ) -> Result<Self, AnalysisError> {
        let no_table = |why: String| AnalysisError::NoTable { path: shown.to_owned(), why };
        let size = file.metadata().map_err(AnalysisError::read(shown))?.len();
        if size > WORKBOOK_BYTES_MAX {
            return Err(no_table("a workbook of more than 512 MiB: save it as CSV".to_owned()));
        }
        let bytes = std::fs::read(file).map_err(AnalysisError::read(shown))?;
        let form = guard::measure(&bytes, shown, limits)?;
        let bytes = Cursor::new(bytes);
        let sheets = match form {
            guard::BookForm::Xlsx => {
                Sheets::Xlsx(Box::new(Xlsx::new(bytes).map_err(|error| no_table(told(&error)))?))
            }
            guard::BookForm::Xlsb => {
                Sheets::Xlsb(Box::new(Xlsb::new(bytes).map_err(|error| no_table(told(&error)))?))
            }
            guard::BookForm::Xls => {
                Sheets::Xls(Box::new(Xls::new(bytes).map_err(|error| no_table(told(&error)))?))
            }
            guard::BookForm::Ods => {
                Sheets::Ods(Box::new(Ods::new(bytes).map_err(|error| no_table(told(&error)))?))
            }
        };
        Ok(Self { sheets, shown: shown.to_owned() })
    }

    /// The sheets, and whether each has cells: one of charts has none.
    pub(super) fn sheet_names(&self) -> Vec<(String, bool)> {
        let sheets = match &self.sheets {
            Sheets::Xlsx(book) => book.sheets_metadata(),
            Sheets::Xlsb(book) => book.sheets_metadata(),
            Sheets::Xls(book) => book.sheets_metadata(),
            Sheets::Ods(book) => book.sheets_metadata(),
        };
        let has_cells = |kind: SheetType| matches!(kind, SheetType::WorkSheet);
        sheets.iter().map(|sheet| (sheet.name.clone(), has_cells(sheet.typ))).collect()
    }

    /// Hands on each row that holds something.
    pub(super) fn each_row(
        &mut self,
        sheet: &str,
        limits: &ReadLimits,
        take: &mut OnSparseRow<'_>,
    ) -> Result<(), AnalysisError> {
        let shown = self.shown.clone();
        let bad = |error: &dyn std::fmt::Display| AnalysisError::NoTable {
            path: shown.clone(),
            why: format!("sheet {sheet}: {error}"),
        };
        let mut rows = RowsOfCells { row: 0, cells: Vec::new(), seen: 0, limits, take };
        match &mut self.sheets {
            Sheets::Xlsx(book) => {
                let mut cells = book.worksheet_cells_reader(sheet).map_err(|e| bad(&e))?;
                while let Some(cell) = cells.next_cell().map_err(|e| bad(&e))? {
                    if rows.streamed(&cell)? == WantMore::No {
                        return Ok(());
                    }
                }
            }
            Sheets::Xlsb(book) => {
                let mut cells = book.worksheet_cells_reader(sheet).map_err(|e| bad(&e))?;
                while let Some(cell) = cells.next_cell().map_err(|e| bad(&e))? {
                    if rows.streamed(&cell)? == WantMore::No {
                        return Ok(());
                    }
                }
            }
            Sheets::Xls(book) => {
                return rows.of_range(&book.worksheet_range(sheet).map_err(|e| bad(&e))?);
            }
            Sheets::Ods(book) => {
                return rows.of_range(&book.worksheet_range(sheet).map_err(|e| bad(&e))?);
            }
        }
        rows.end().map(|_| ())
    }
}

fn told(error: &dyn std::error::Error) -> String {
    error.to_string()
}

/// Puts cells together that are of one row.
struct RowsOfCells<'a, 'b> {
    row: u32,
    cells: SparseRow,
    seen: u64,
    limits: &'a ReadLimits,
    take: &'a mut OnSparseRow<'b>,
}

impl RowsOfCells<'_, '_> {
    fn streamed(&mut self, cell: &Cell<DataRef<'_>>) -> Result<WantMore, AnalysisError> {
        let (row, column) = cell.get_position();
        match cell.get_value() {
            DataRef::Empty => self.look(),
            value => self.cell(row, column, Data::from(value.clone())),
        }
    }

    fn of_range(mut self, range: &calamine::Range<Data>) -> Result<(), AnalysisError> {
        let (first_row, first_column) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            let row = first_row + u32::try_from(row).unwrap_or(u32::MAX);
            let column = first_column + u32::try_from(column).unwrap_or(u32::MAX);
            if self.cell(row, column, value.clone())? == WantMore::No {
                return Ok(());
            }
        }
        self.end().map(|_| ())
    }

    fn look(&mut self) -> Result<WantMore, AnalysisError> {
        self.seen += 1;
        if self.seen.is_multiple_of(CHECK_EVERY) {
            self.limits.check()?;
        }
        Ok(WantMore::Yes)
    }

    fn cell(&mut self, row: u32, column: u32, value: Data) -> Result<WantMore, AnalysisError> {
        self.look()?;
        if row != self.row && self.end()? == WantMore::No {
            return Ok(WantMore::No);
        }
        self.row = row;
        self.cells.push((column, value));
        Ok(WantMore::Yes)
    }

    fn end(&mut self) -> Result<WantMore, AnalysisError> {
        if self.cells.is_empty() {
            return Ok(WantMore::Yes);
        }
        (self.take)(self.row, std::mem::take(&mut self.cells))
    }
}
