//! What numbers can come from: the results of queries, what code printed, the sizes of the tables.

use super::literals::{WrittenLiteral, literals, reads, selected};
use super::tokens::{NumberForm, numbers_of};
use crate::exact::Exact;
use crate::load::LoadedTable;
use crate::manifest::ManifestPeriod;
use crate::results::{CellState, KeptCell, KeptQuery};
use crate::value::DataValue;
use std::collections::BTreeSet;

/// Cells of one result that are compared.
const CELLS_MAX: usize = 50_000;

/// Bytes of a text of the data that is put into a report.
const TEXT_BYTES_MAX: usize = 300;

/// Names of one column that are looked for in sentences.
const NAMES_MAX: usize = 20_000;

/// A result whose cells numbers can come from.
#[derive(Debug, Clone)]
pub(crate) struct EvidenceTable {
    /// `q1`, or `c1` for what code printed.
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<DataValue>>,
    /// Whether a column names the rows.
    pub(crate) is_label: Vec<bool>,
    /// The names in each such column, each once; none for other columns.
    pub(crate) names: Vec<Vec<String>>,
    /// Whether all rows are there.
    pub(crate) is_whole: bool,
    /// Whether it was made without reading any data.
    pub(crate) is_constant: bool,
    /// Numbers that its own query or code has.
    literals: Vec<WrittenLiteral>,
    /// What its own query selects, in lower case.
    selected: String,
}

/// One number of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EvidenceCell {
    pub(crate) table: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) value: Exact,
    pub(crate) rough: f64,
}

/// Where a number of a result is: the result, the row and the column, each from 0.
pub(crate) type CellPlace = (usize, usize, usize);

/// What a reference to a result gives.
#[derive(Debug, Clone)]
pub(crate) struct ResultReading {
    pub(crate) value: Exact,
    /// The cells that were read for it; none where rows were counted.
    pub(crate) cells: Vec<CellPlace>,
    /// Whether it only gives back what was written into a query or into code.
    pub(crate) is_constant: bool,
}

impl ResultReading {
    /// How many rows or values there are.
    fn count(value: Exact, is_constant: bool) -> Self {
        Self { value, cells: Vec::new(), is_constant }
    }
}

/// All that numbers can come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberEvidence {
    pub(crate) tables: Vec<EvidenceTable>,
    pub(crate) cells: Vec<EvidenceCell>,
    /// Numbers of results that only give back what was written into them.
    pub(crate) constants: Vec<EvidenceCell>,
    /// The name of a loaded table, its rows and its columns.
    sizes: Vec<(String, u64, u64)>,
    /// Words and names of the data that have digits, in lower case.
    names: BTreeSet<String>,
    /// Years, and numbers of months and weeks, that the data have.
    times: BTreeSet<i64>,
}

impl NumberEvidence {
    pub(crate) fn new(queries: &[KeptQuery], code: &[KeptCell], loaded: &[LoadedTable]) -> Self {
        let mut evidence = Self::default();
        for query in queries {
            let (name, result) = (format!("q{}", query.number), &query.result);
            let mut table = EvidenceTable::new(
                name,
                result.columns.clone(),
                result.rows.clone(),
                !result.is_cut,
            );
            table.is_constant = result.is_constant;
            table.selected = selected(&query.sql).to_lowercase();
            table.literals = literals(&table.selected);
            evidence.tables.push(table);
        }
        let (mut written, mut has_read) = (Vec::new(), false);
        for cell in code {
            written.extend(literals(&cell.code));
            has_read |= cell.has_read.unwrap_or_else(|| reads(&cell.code));
            if cell.state == CellState::Done {
                let literals = written.clone();
                let is_constant = !has_read;
                evidence.tables.push(EvidenceTable { is_constant, literals, ..printed(cell) });
            }
        }
        evidence.sizes = loaded
            .iter()
            .map(|table| (table.name.clone(), table.rows, table.columns.len() as u64))
            .collect();
        for (at, table) in evidence.tables.iter().enumerate() {
            let (constants, cells): (Vec<_>, Vec<_>) = table
                .cells(at)
                .into_iter()
                .partition(|cell| table.is_constant_at(cell.row, cell.column));
            evidence.cells.extend(cells);
            evidence.constants.extend(constants);
        }
        evidence.learn_names(loaded);
        evidence
    }

    /// With the years in which the data begin and end.
    pub(crate) fn with_periods(mut self, periods: &[ManifestPeriod]) -> Self {
        for period in periods {
            if let (Some(from), Some(to)) = (year_of(&period.from), year_of(&period.to)) {
                self.times.extend((from..=to).take(YEARS_MAX));
            }
        }
        self
    }

    fn learn_names(&mut self, loaded: &[LoadedTable]) {
        for table in loaded {
            let file = table.file.file_name().map(|name| name.to_string_lossy().into_owned());
            let own = [table.name.as_str(), &table.part, &table.notes.encoding];
            let columns = table.columns.iter().map(|column| column.name.as_str());
            let all = own.into_iter().chain(columns).map(str::to_owned).chain(file);
            for name in all {
                keep_name(&mut self.names, &name);
            }
        }
        for table in self.tables.iter().filter(|table| !table.is_constant) {
            for name in table.names.iter().flatten() {
                // What the query itself says is no name of the data.
                if !table.selected.contains(&name.to_lowercase()) {
                    keep_name(&mut self.names, name);
                    self.times.extend(name.parse::<i64>().ok().or_else(|| year_of(name)));
                }
            }
        }
    }

    /// Whether a word, or several, is a name of the data that has digits.
    pub(crate) fn is_name(&self, words: &str) -> bool {
        self.names.contains(&words.to_lowercase())
    }

    /// Whether the data have such a year, month or week.
    pub(crate) fn has_time(&self, number: i64) -> bool {
        self.times.contains(&number)
    }

    fn position(&self, name: &str) -> Result<usize, String> {
        let found = self.tables.iter().position(|table| table.name == name);
        found.ok_or_else(|| format!("there is no result {name}"))
    }

    /// What a reference to one number gives.
    pub(crate) fn read_cell(&self, reference: &str) -> Result<ResultReading, String> {
        let (name, rest) = reference
            .split_once('.')
            .ok_or_else(|| format!("{reference} names no cell; write q1.r1.column"))?;
        if name == "data" {
            return Ok(ResultReading::count(self.size(rest)?, false));
        }
        let at = self.position(name)?;
        let table = &self.tables[at];
        let has_one_row = table.rows.len() == 1;
        let is_column = has_one_row && table.columns.iter().any(|column| column == rest);
        if rest == "rows" && !is_column {
            let rows = Exact::new(table.rows.len() as i128, 0);
            return Ok(ResultReading::count(rows, table.is_constant));
        }
        let (row, column) = match rest.split_once('.') {
            Some((row, column)) if !rest.starts_with('"') => (row, column),
            // A result with one row needs no number of the row.
            _ if has_one_row => ("r1", rest),
            _ => return Err(format!("{reference} names no row; write q1.r1.column")),
        };
        let row: usize = row
            .strip_prefix('r')
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| format!("{row} is no row; write r1"))?;
        let row = row
            .checked_sub(1)
            .filter(|row| *row < table.rows.len())
            .ok_or_else(|| format!("{} has {} rows", table.name, table.rows.len()))?;
        let column = table.column(column)?;
        let value = &table.rows[row][column];
        let found = value.number();
        let value =
            found.ok_or_else(|| format!("{reference} is no number: \"{}\"", value.shown()))?;
        let is_constant = table.is_constant_at(row, column);
        Ok(ResultReading { value, cells: vec![(at, row, column)], is_constant })
    }

    /// The text that a reference names, where it names a cell with a text that is no number.
    pub(crate) fn text_of(&self, reference: &str) -> Option<&str> {
        let (name, rest) = reference.split_once('.')?;
        let table = &self.tables[self.position(name).ok()?];
        let (row, column) = match rest.split_once('.') {
            Some((row, column)) if !rest.starts_with('"') => (row.strip_prefix('r')?, column),
            _ if table.rows.len() == 1 => ("1", rest),
            _ => return None,
        };
        let row = table.rows.get(row.parse::<usize>().ok()?.checked_sub(1)?)?;
        match &row[table.column(column).ok()?] {
            DataValue::Text(text) if text.len() <= TEXT_BYTES_MAX => Some(text),
            _ => None,
        }
    }

    fn size(&self, rest: &str) -> Result<Exact, String> {
        let (name, what) = rest.rsplit_once('.').ok_or("write data.table.rows")?;
        let name = name.trim_matches('"');
        let (_, rows, columns) = self
            .sizes
            .iter()
            .find(|(known, _, _)| known == name)
            .ok_or_else(|| format!("there is no table {name}"))?;
        match what {
            "rows" => Ok(Exact::new(i128::from(*rows), 0)),
            "columns" => Ok(Exact::new(i128::from(*columns), 0)),
            _ => Err("write data.table.rows or data.table.columns".to_owned()),
        }
    }

    /// A sum, mean, smallest, largest or count of a column.
    pub(crate) fn read_column(
        &self,
        function: &str,
        column: &str,
    ) -> Result<ResultReading, String> {
        let (table, name) =
            column.split_once('.').ok_or_else(|| format!("{column} names no column"))?;
        let at = self.position(table)?;
        let table = &self.tables[at];
        if !table.is_whole {
            return Err(format!("{} was cut: add it up in SQL", table.name));
        }
        let column_at = table.column(name)?;
        let rows = table.rows.iter().enumerate();
        let values: Vec<(Exact, usize)> =
            rows.filter_map(|(row, values)| Some((values[column_at].number()?, row))).collect();
        let sum = || values.iter().try_fold(Exact::ZERO, |sum, (value, _)| sum.plus(*value));
        let count = Exact::new(values.len() as i128, 0);
        // How many there are does not depend on what they are.
        let counts = || ResultReading::count(count, table.is_constant);
        let reading = |value: Exact, from: &[(Exact, usize)]| ResultReading {
            value,
            cells: values.iter().map(|(_, row)| (at, *row, column_at)).collect(),
            is_constant: from.iter().any(|(_, row)| table.is_constant_at(*row, column_at)),
        };
        let one = |found: Option<&(Exact, usize)>| found.map(|own| reading(own.0, &[*own]));
        let found = match function {
            "sum" => sum().map(|sum| reading(sum, &values)),
            "avg" => sum().and_then(|sum| Some(reading(sum.divided_by(count)?, &values))),
            "min" => one(values.iter().min()),
            "max" => one(values.iter().max()),
            "count" => Some(counts()),
            "distinct" => {
                let shown = table.rows.iter().map(|row| row[column_at].shown().trim().to_owned());
                let shown: BTreeSet<String> = shown.filter(|name| !name.is_empty()).collect();
                Some(ResultReading { value: Exact::new(shown.len() as i128, 0), ..counts() })
            }
            _ => {
                let known = "sum, avg, min, max, count, distinct";
                return Err(format!("{function} is unknown; there are {known}"));
            }
        };
        found.ok_or_else(|| format!("{column} holds no numbers"))
    }

    /// How a cell is referred to.
    pub(crate) fn reference(&self, cell: &EvidenceCell) -> String {
        let table = &self.tables[cell.table];
        table.reference(cell.row, cell.column)
    }

    /// The sizes of the tables, as references.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (String, Exact)> {
        self.sizes.iter().flat_map(|(name, rows, columns)| {
            [("rows", *rows), ("columns", *columns)]
                .map(|(what, count)| (format!("data.{name}.{what}"), Exact::new(count.into(), 0)))
        })
    }
}

impl EvidenceTable {
    fn new(name: String, columns: Vec<String>, rows: Vec<Vec<DataValue>>, is_whole: bool) -> Self {
        let is_label = (0..columns.len()).map(|at| is_label(&columns[at], &rows, at)).collect();
        let mut table = Self {
            name,
            columns,
            rows,
            is_label,
            names: Vec::new(),
            is_whole,
            is_constant: false,
            literals: Vec::new(),
            selected: String::new(),
        };
        table.name_rows();
        table
    }

    /// Whether a cell only gives back what was written into its own query or code.
    pub(crate) fn is_constant_at(&self, row: usize, column: usize) -> bool {
        let explains = |value: Exact| self.literals.iter().any(|own| own.explains(value));
        self.is_constant || self.rows[row][column].number().is_some_and(explains)
    }

    fn name_rows(&mut self) {
        let names = (0..self.columns.len()).map(|at| {
            if !self.is_label[at] {
                return Vec::new();
            }
            let own = self.rows.iter().map(|row| row[at].shown().trim().to_owned());
            let own: BTreeSet<String> = own.filter(|name| !name.is_empty()).collect();
            own.into_iter().take(NAMES_MAX).collect()
        });
        self.names = names.collect();
    }

    fn column(&self, name: &str) -> Result<usize, String> {
        let name = name.trim_matches('"');
        let exact = self.columns.iter().position(|column| column == name);
        let similar = || self.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
        exact.or_else(similar).ok_or_else(|| {
            format!("{} has no column {name}; it has {}", self.name, self.columns.join(", "))
        })
    }

    /// How a cell is referred to.
    pub(crate) fn reference(&self, row: usize, column: usize) -> String {
        format!("{}.r{}.{}", self.name, row + 1, self.column_reference(column))
    }

    /// How a column is referred to, without the result.
    pub(crate) fn column_reference(&self, column: usize) -> String {
        let name = &self.columns[column];
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_plain { name.clone() } else { format!("\"{name}\"") }
    }

    fn cells(&self, table: usize) -> Vec<EvidenceCell> {
        let mut cells = Vec::new();
        for (row, values) in self.rows[..rows_compared(&self.rows)].iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                let number = value.number().filter(|_| !self.is_label[column]);
                if let Some(value) = number {
                    let rough = value.to_f64();
                    cells.push(EvidenceCell { table, row, column, value, rough });
                }
            }
        }
        cells
    }
}

/// Rows of a result that numbers of a report are compared with. The others can be referred to.
pub(crate) fn rows_compared(rows: &[Vec<DataValue>]) -> usize {
    let columns = rows.first().map_or(1, Vec::len).max(1);
    rows.len().min(CELLS_MAX / columns)
}

/// Years of one column of dates.
const YEARS_MAX: usize = 300;

/// The year that a date begins with.
fn year_of(date: &str) -> Option<i64> {
    let year = date.get(..4).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()))?;
    let ends = date[4..].is_empty() || date[4..].starts_with(['-', '/', '\u{5e74}', ' ']);
    year.parse().ok().filter(|_| ends)
}

/// Characters of a name with digits.
const NAME_CHARS: usize = 60;

/// Keeps a name that has digits among its letters, and each such word of it.
fn keep_name(names: &mut BTreeSet<String>, name: &str) {
    let is_name = |word: &str| {
        word.chars().any(char::is_numeric)
            && word.chars().any(char::is_alphabetic)
            && word.chars().count() <= NAME_CHARS
    };
    let name = name.trim().to_lowercase();
    let words = name.split_whitespace().filter(|word| is_name(word)).map(str::to_owned);
    names.extend(words);
    if names.len() < NAMES_MAX && is_name(&name) {
        names.insert(name);
    }
}

/// A column that names its rows: text throughout, or years and months.
fn is_label(name: &str, rows: &[Vec<DataValue>], at: usize) -> bool {
    let mut values = rows.iter().map(|row| &row[at]).filter(|value| **value != DataValue::Null);
    let lower = name.to_lowercase();
    let names_time = ["year", "month", "quarter", "week", "day"]
        .iter()
        .any(|word| lower == *word || lower.ends_with(&format!("_{word}")))
        || name.ends_with(['年', '月', '日']);
    let mut some = false;
    let all = values.all(|value| {
        some = true;
        match value {
            DataValue::Int(number) => names_time && (1..=9_999).contains(number),
            // `strftime('%Y', day)` gives text.
            DataValue::Text(text) if names_time && text.trim().len() <= 4 => true,
            other => other.label().is_some(),
        }
    });
    some && all
}

/// What code printed, as a table: a row a line, the words before the first number as its label.
fn printed(cell: &KeptCell) -> EvidenceTable {
    let mut rows = Vec::new();
    let mut width = 0;
    for line in cell.output.lines() {
        let mut numbers = numbers_of(line);
        numbers.retain(|number| number.form == NumberForm::Digits);
        let Some(first) = numbers.first() else { continue };
        let label = line[..first.at.start].trim_matches([' ', ':', '\t', '=', '|', '，', '：']);
        let mut row = vec![DataValue::Text(label.to_owned())];
        row.extend(numbers.iter().map(|number| DataValue::Text(number.value.to_string())));
        width = width.max(row.len());
        rows.push(row);
    }
    for row in &mut rows {
        row.resize(width, DataValue::Null);
    }
    let names = (1..width).map(|at| format!("n{at}"));
    let columns: Vec<String> = std::iter::once("line".to_owned()).chain(names).collect();
    let mut table = EvidenceTable::new(format!("c{}", cell.number), columns, rows, true);
    if let Some(first) = table.is_label.first_mut() {
        *first = true;
    }
    table.name_rows();
    table
}
