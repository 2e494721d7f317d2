//! What an analysis has found so far: the results of its queries, its charts, its cells of code.
//!
//! A call that is made again after a crash writes under its own key, so `q2` stays `q2`.

use crate::chart::ChartSpec;
use crate::error::AnalysisError;
use crate::load::{DataFolder, make_private};
use crate::python::CellFile;
use crate::query::QueryResult;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

/// A query and what it found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptQuery {
    /// Its number, from 1; a report calls it `q1`.
    pub number: u32,
    /// The SQL.
    pub sql: String,
    /// What it found.
    pub result: QueryResult,
    /// How long it took.
    pub took_ms: u64,
}

/// A chart that was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptChart {
    /// Its number, from 1; its file is `charts/chart1.svg`.
    pub number: u32,
    /// What it is called.
    pub title: String,
    /// The query whose result it shows.
    pub query: u32,
    /// What it shows, in words.
    pub alternative: String,
    /// The picture.
    pub svg: String,
    /// What was drawn, to draw it again in another size.
    #[serde(default)]
    pub spec: Option<ChartSpec>,
}

/// How a cell of code ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellState {
    /// It was begun and its end is not known.
    Begun,
    /// It ended well.
    Done,
    /// It ended with an error.
    Failed,
}

/// A cell of code and what it printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptCell {
    /// Its number, from 1; a report calls it `c1`.
    pub number: u32,
    /// The code.
    pub code: String,
    /// Whether it may run again after a crash.
    pub repeatable: bool,
    /// How it ended.
    pub state: CellState,
    /// What it printed.
    pub output: String,
    /// Pictures that it made, as PNG in base64.
    pub files: Vec<String>,
    /// Files that it wrote into the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<CellFile>,
    /// How often it was begun.
    #[serde(default)]
    pub begun: u32,
    /// Whether it did not end when it was to run again, so that it is left out from then on.
    #[serde(default)]
    pub lost: bool,
}

impl KeptCell {
    /// A cell that begins.
    #[must_use]
    pub fn new(code: &str, repeatable: bool) -> Self {
        Self {
            number: 0,
            code: code.to_owned(),
            repeatable,
            state: CellState::Begun,
            output: String::new(),
            files: Vec::new(),
            written: Vec::new(),
            begun: 1,
            lost: false,
        }
    }
}

/// The results of one analysis.
pub struct ResultStore {
    connection: Connection,
}

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS kept (
        kind TEXT NOT NULL,
        number INTEGER NOT NULL,
        call TEXT NOT NULL,
        told TEXT NOT NULL,
        PRIMARY KEY (kind, number),
        UNIQUE (kind, call)
    )
";

const QUERY: &str = "query";
const CHART: &str = "chart";
const CELL: &str = "cell";

impl ResultStore {
    /// Opens the results of an analysis.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(folder: &DataFolder) -> Result<Self, AnalysisError> {
        make_private(folder.path())?;
        let connection = Connection::open(folder.path().join("results.sqlite"))?;
        connection.busy_timeout(std::time::Duration::from_secs(30))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection })
    }

    /// The number of a call: its own if it was made before, else the next one.
    fn number(&self, kind: &str, call: &str) -> Result<u32, AnalysisError> {
        let own = "SELECT number FROM kept WHERE kind = $1 AND call = $2";
        let own: Option<u32> =
            self.connection.query_row(own, (kind, call), |row| row.get(0)).optional()?;
        let next = "SELECT coalesce(max(number), 0) + 1 FROM kept WHERE kind = $1";
        Ok(match own {
            Some(number) => number,
            None => self.connection.query_row(next, [kind], |row| row.get(0))?,
        })
    }

    fn keep<T: Serialize>(
        &self,
        kind: &str,
        call: &str,
        make: impl FnOnce(u32) -> T,
    ) -> Result<T, AnalysisError> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let written = self.number(kind, call).and_then(|number| {
            let made = make(number);
            let told = serde_json::to_string(&made).unwrap_or_default();
            let sql =
                "INSERT OR REPLACE INTO kept (kind, number, call, told) VALUES ($1, $2, $3, $4)";
            self.connection.execute(sql, (kind, number, call, told))?;
            Ok(made)
        });
        self.connection.execute_batch(if written.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        written
    }

    /// Keeps something under a number that it had elsewhere.
    fn keep_as<T: Serialize>(
        &self,
        kind: &str,
        call: &str,
        number: u32,
        made: &T,
    ) -> Result<(), AnalysisError> {
        let told = serde_json::to_string(made).unwrap_or_default();
        let sql = "INSERT OR REPLACE INTO kept (kind, number, call, told) VALUES ($1, $2, $3, $4)";
        self.connection.execute(sql, (kind, number, call, told))?;
        Ok(())
    }

    /// Whether a call has kept something.
    pub(crate) fn has(&self, call: &str) -> Result<bool, AnalysisError> {
        let sql = "SELECT 1 FROM kept WHERE call = $1";
        Ok(self.connection.query_row(sql, [call], |_| Ok(())).optional()?.is_some())
    }

    /// Keeps a query with its number.
    pub(crate) fn put_query(&self, call: &str, query: &KeptQuery) -> Result<(), AnalysisError> {
        self.keep_as(QUERY, call, query.number, query)
    }

    /// Keeps a chart with its number.
    pub(crate) fn put_chart(&self, call: &str, chart: &KeptChart) -> Result<(), AnalysisError> {
        self.keep_as(CHART, call, chart.number, chart)
    }

    /// Keeps a cell with its number.
    pub(crate) fn put_cell(&self, call: &str, cell: &KeptCell) -> Result<(), AnalysisError> {
        self.keep_as(CELL, call, cell.number, cell)
    }

    fn all<T: for<'de> Deserialize<'de>>(&self, kind: &str) -> Result<Vec<T>, AnalysisError> {
        let sql = "SELECT told FROM kept WHERE kind = $1 ORDER BY number";
        let mut rows = self.connection.prepare(sql)?;
        let told = rows.query_map([kind], |row| row.get::<_, String>(0))?;
        let mut found = Vec::new();
        for told in told {
            found.push(serde_json::from_str(&told?).map_err(|error| AnalysisError::Damaged {
                path: "results.sqlite".into(),
                why: error.to_string(),
            })?);
        }
        Ok(found)
    }

    /// Keeps what a query found.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_query(
        &self,
        call: &str,
        sql: &str,
        result: QueryResult,
        took_ms: u64,
    ) -> Result<KeptQuery, AnalysisError> {
        let sql = sql.to_owned();
        self.keep(QUERY, call, |number| KeptQuery { number, sql, result, took_ms })
    }

    /// Keeps a chart.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_chart(
        &self,
        call: &str,
        make: impl FnOnce(u32) -> KeptChart,
    ) -> Result<KeptChart, AnalysisError> {
        self.keep(CHART, call, make)
    }

    /// Keeps a cell of code, before it runs and after.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_cell(
        &self,
        call: &str,
        make: impl FnOnce(u32) -> KeptCell,
    ) -> Result<KeptCell, AnalysisError> {
        self.keep(CELL, call, make)
    }

    /// All queries, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn queries(&self) -> Result<Vec<KeptQuery>, AnalysisError> {
        self.all(QUERY)
    }

    /// All charts, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn charts(&self) -> Result<Vec<KeptChart>, AnalysisError> {
        self.all(CHART)
    }

    /// The cell of a call, if it was begun.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn cell(&self, call: &str) -> Result<Option<KeptCell>, AnalysisError> {
        let sql = "SELECT told FROM kept WHERE kind = $1 AND call = $2";
        let told: Option<String> =
            self.connection.query_row(sql, (CELL, call), |row| row.get(0)).optional()?;
        Ok(told.and_then(|told| serde_json::from_str(&told).ok()))
    }

    /// Marks a cell that is left out when Python is made again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn lose_cell(&self, number: u32) -> Result<(), AnalysisError> {
        let Some(mut cell) = self.cells()?.into_iter().find(|cell| cell.number == number) else {
            return Ok(());
        };
        cell.lost = true;
        let told = serde_json::to_string(&cell).unwrap_or_default();
        let sql = "UPDATE kept SET told = $1 WHERE kind = $2 AND number = $3";
        self.connection.execute(sql, (told, CELL, number))?;
        Ok(())
    }

    /// All cells, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn cells(&self) -> Result<Vec<KeptCell>, AnalysisError> {
        self.all(CELL)
    }
}
