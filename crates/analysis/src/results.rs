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
    #[serde(default)]
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
    /// Whether it read files or the loaded tables; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_read: Option<bool>,
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
            has_read: None,
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

/// Bytes of all that one analysis keeps.
const KEPT_BYTES_MAX: i64 = 512 << 20;

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
        self.check_room()?;
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

    /// Keeps a result under the number that it had in the run that this one goes on from.
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
        self.read("SELECT told FROM kept WHERE kind = $1 ORDER BY number", (kind,))
    }

    /// The values that a query over kept results gives.
    fn read<T: for<'de> Deserialize<'de>>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<Vec<T>, AnalysisError> {
        let mut rows = self.connection.prepare(sql)?;
        let values = rows.query_map(params, |row| row.get::<_, String>(0))?;
        let mut found = Vec::new();
        for value in values {
            found.push(serde_json::from_str(&value?).map_err(|error| AnalysisError::Damaged {
                path: "results.sqlite".into(),
                why: error.to_string(),
            })?);
        }
        Ok(found)
    }

    fn one<T: for<'de> Deserialize<'de>>(
        &self,
        kind: &str,
        number: u32,
    ) -> Result<Option<T>, AnalysisError> {
        let sql = "SELECT told FROM kept WHERE kind = $1 AND number = $2";
        Ok(self.read(sql, (kind, number))?.pop())
    }

    /// Refuses to keep more once what is kept takes too much room: a report reads all of it.
    fn check_room(&self) -> Result<(), AnalysisError> {
        let sql = "SELECT coalesce(sum(octet_length(told)), 0) FROM kept";
        let bytes: i64 = self.connection.query_row(sql, (), |row| row.get(0))?;
        if bytes < KEPT_BYTES_MAX {
            return Ok(());
        }
        Err(AnalysisError::Refused(format!(
            "the results of this analysis take more than {} MiB already, and no more are kept: \
             write the report from those that are there",
            KEPT_BYTES_MAX >> 20
        )))
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

    /// The query with a number.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn query(&self, number: u32) -> Result<Option<KeptQuery>, AnalysisError> {
        self.one(QUERY, number)
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
        let sql = "UPDATE kept SET told = json_set(told, '$.lost', json('true')) \
                   WHERE kind = $1 AND number = $2";
        self.connection.execute(sql, (CELL, number))?;
        Ok(())
    }

    /// All cells, in order, without their pictures and files.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn code(&self) -> Result<Vec<KeptCell>, AnalysisError> {
        let sql = "SELECT json_remove(told, '$.files', '$.written') FROM kept \
                   WHERE kind = $1 ORDER BY number";
        self.read(sql, (CELL,))
    }

    /// All cells, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn cells(&self) -> Result<Vec<KeptCell>, AnalysisError> {
        self.all(CELL)
    }
}
