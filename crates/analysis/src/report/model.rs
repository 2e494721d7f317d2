//! A report as pages show it: made when it is written, and again from its folder whenever somebody
//! opens it.
//!
//! Charts are drawn again from the results: a picture that somebody changed in the folder never
//! becomes part of a page.

use super::{body_of, notes, sections};
use crate::error::AnalysisError;
use crate::manifest::DataManifest;
use crate::prove::{NumberCounts, ReportNumber};
use crate::query::QueryResult;
use crate::value::DataValue;
use everloop_types::Lang;
use serde::Serialize;
use std::path::Path;

/// Rows of a result that a page shows.
pub(crate) const ROWS_SHOWN: usize = 50;

/// Bytes of a file of a report folder that are read.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Bytes of the words of a report.
const WORDS_BYTES_MAX: u64 = 4 << 20;

/// A finished report. All HTML in it is ours: text of models and of data is escaped.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportModel {
    /// Its title, without markup.
    pub title: String,
    /// The title as HTML, with its numbers.
    pub title_html: String,
    /// What was asked.
    pub question: String,
    /// The run.
    pub run: String,
    /// When it was made, as people read it.
    pub made_at: String,
    /// The language of what the program adds.
    pub lang: Lang,
    /// The figures that stand above the words.
    pub keys: Vec<KeyFigure>,
    /// The words, by headings.
    pub sections: Vec<ReportSection>,
    /// Its numbers, in order; the first is `#n1` in the HTML.
    pub numbers: Vec<ReportNumber>,
    /// The queries; the first is `#q1` in the HTML.
    pub queries: Vec<ReportQuery>,
    /// The cells of code; the first is `#c1` in the HTML.
    pub cells: Vec<ReportCell>,
    /// Files, periods, fingerprints, cleaning.
    pub facts: Vec<ReportFact>,
    /// What a reader should know of the data before they trust the words.
    pub caveats: Vec<String>,
}

/// A figure that stands above the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyFigure {
    /// What it is, without markup.
    pub label: String,
    /// The number as HTML, with the link to its source.
    pub value_html: String,
    /// What follows it, as HTML.
    pub rest_html: String,
}

/// A part of the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportSection {
    /// Its heading as HTML; empty before the first.
    pub heading_html: String,
    /// Its words and charts as HTML.
    pub html: String,
    /// The numbers of the queries that it is made of.
    pub queries: Vec<u32>,
}

/// A query of a report with its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportQuery {
    /// Its number, from 1.
    pub number: u32,
    /// The SQL.
    pub sql: String,
    /// How long it took.
    pub took_ms: u64,
    /// Rows that it gave.
    pub row_count: usize,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The first rows.
    pub rows: Vec<Vec<String>>,
    /// The result as CSV, if that is small.
    #[serde(skip)]
    pub(crate) csv: String,
}

/// A cell of code of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportCell {
    /// Its number, from 1.
    pub number: u32,
    /// The code.
    pub code: String,
    /// What it printed.
    pub output: String,
}

/// Something that is known of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportFact {
    /// What.
    pub name: String,
    /// How it is.
    pub value: String,
}

impl ReportModel {
    /// How many numbers have a source.
    #[must_use]
    pub fn counts(&self) -> NumberCounts {
        NumberCounts::of(&self.numbers)
    }

    /// Reads a report from its folder.
    ///
    /// # Errors
    /// If it is not there, or was damaged.
    pub fn read(folder: &Path) -> Result<Self, AnalysisError> {
        let manifest = DataManifest::read(folder)?;
        let words = read_text(&folder.join("report.md"), WORDS_BYTES_MAX)?;
        let mut results = Vec::new();
        for query in &manifest.queries {
            // The name is one of ours, whatever the file says.
            let number: u32 = query.name.trim_start_matches('q').parse().unwrap_or_default();
            let csv = folder.join(format!("results/q{number}.csv"));
            // Without its result a query is shown with its SQL alone.
            let csv = read_text(&csv, FILE_BYTES_MAX).unwrap_or_default();
            results.push((number, result_of(&csv)));
        }
        let pictures = pictures_of(folder);
        Ok(Self::new(&manifest, body_of(&words).trim(), &results, &pictures))
    }

    /// Puts a report together. `results` are those of the queries by number; `pictures` are names
    /// and PNG in base64.
    pub(crate) fn new(
        manifest: &DataManifest,
        text: &str,
        results: &[(u32, QueryResult)],
        pictures: &[(String, String)],
    ) -> Self {
        let numbers = with_places(&manifest.numbers, text);
        let parts = sections::parts(manifest, text, &numbers, results, pictures);
        let queries = manifest.queries.iter().zip(results).map(|(query, (number, result))| {
            let rows = result.rows.iter().take(ROWS_SHOWN);
            ReportQuery {
                number: *number,
                sql: query.sql.trim().to_owned(),
                took_ms: query.took_ms,
                row_count: query.rows,
                columns: result.columns.clone(),
                rows: rows.map(|row| row.iter().map(DataValue::shown).collect()).collect(),
                csv: super::csv_of(result),
            }
        });
        let cells = (1..).zip(&manifest.cells).enumerate().map(|(at, (number, code))| ReportCell {
            number,
            code: code.clone(),
            output: manifest.printed.get(at).cloned().unwrap_or_default(),
        });
        Self {
            title: parts.title,
            title_html: parts.title_html,
            question: manifest.question.clone(),
            run: manifest.run.clone(),
            made_at: manifest.made_at.clone(),
            lang: manifest.lang,
            keys: parts.keys,
            sections: parts.sections,
            queries: queries.collect(),
            cells: cells.collect(),
            facts: notes::facts(manifest),
            caveats: notes::caveats(manifest),
            numbers,
        }
    }
}

/// The numbers where they stand now: somebody may have edited the words.
fn with_places(numbers: &[ReportNumber], text: &str) -> Vec<ReportNumber> {
    let mut from = 0;
    let mut placed = Vec::new();
    for number in numbers {
        if number.chart.is_some() {
            placed.push(ReportNumber { at: from..from, ..number.clone() });
            continue;
        }
        let is_there = |start: usize| {
            start >= from && text.get(start..).is_some_and(|rest| rest.starts_with(&number.text))
        };
        let start = match is_there(number.at.start) && !number.at.is_empty() {
            true => Some(number.at.start),
            false => text[from..].find(&number.text).map(|found| from + found),
        };
        let at = start.map_or(from..from, |start| start..start + number.text.len());
        from = at.end;
        placed.push(ReportNumber { at, ..number.clone() });
    }
    placed
}

fn read_text(path: &Path, most: u64) -> Result<String, AnalysisError> {
    let found = path.metadata().map_err(AnalysisError::read(path))?;
    if !found.is_file() || found.len() > most {
        let why = format!("it has more than {most} bytes, or is no file");
        return Err(AnalysisError::Damaged { path: path.to_owned(), why });
    }
    std::fs::read_to_string(path).map_err(AnalysisError::read(path))
}

/// The pictures that code drew.
fn pictures_of(folder: &Path) -> Vec<(String, String)> {
    use base64::Engine as _;
    let mut names: Vec<String> = std::fs::read_dir(folder.join("charts"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| super::is_cell_picture(name))
        .take(100)
        .collect();
    names.sort();
    let read = |name: String| {
        let path = folder.join("charts").join(&name);
        let size = path.metadata().map_or(u64::MAX, |found| found.len());
        let bytes = (size < FILE_BYTES_MAX).then(|| std::fs::read(&path).ok())??;
        Some((format!("charts/{name}"), base64::prelude::BASE64_STANDARD.encode(bytes)))
    };
    names.into_iter().filter_map(read).collect()
}

/// A result as its CSV file has it.
fn result_of(csv: &str) -> QueryResult {
    let mut rows = Vec::new();
    let mut row: Vec<String> = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quoted) {
            ('"', true) if chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            ('"', _) => quoted = !quoted,
            (',', false) => row.push(std::mem::take(&mut field)),
            ('\n', false) => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            (c, _) => field.push(c),
        }
    }
    let mut rows = rows.into_iter();
    let columns = rows.next().unwrap_or_default();
    let value = |text: String| match text.is_empty() {
        true => DataValue::Null,
        false => DataValue::Text(text),
    };
    let width = columns.len();
    let rows = rows.map(|mut row| {
        row.resize(width, String::new());
        row.into_iter().map(value).collect()
    });
    QueryResult { columns, rows: rows.collect(), ..QueryResult::default() }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
