//! What a report folder holds beside its words, in a form that programs read.

use crate::chart::ChartSpec;
use crate::error::AnalysisError;
use crate::load::LoadedTable;
use crate::prove::ReportNumber;
use crate::results::CellState;
use everloop_types::Lang;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name of its file in the folder of a report.
pub(crate) const MANIFEST_NAME: &str = "data_manifest.json";

/// The form of `data_manifest.json`.
pub const MANIFEST_FORMAT: u32 = 1;

/// `data_manifest.json`: where the data came from, and where each number did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataManifest {
    /// Which form this is.
    pub format: u32,
    /// The question.
    pub question: String,
    /// The run, if there was one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// When it was made, as people read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub made_at: String,
    /// The language of what the program adds.
    #[serde(default)]
    pub lang: Lang,
    /// The tables: file, hash, rows, columns, and how each was read.
    pub tables: Vec<LoadedTable>,
    /// The queries, in order.
    pub queries: Vec<ManifestQuery>,
    /// From when to when the data are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periods: Vec<ManifestPeriod>,
    /// The charts, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<ManifestChart>,
    /// The cells of code, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<String>,
    /// What each of them printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
    /// How each of them ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<ManifestRun>,
    /// BLAKE3 of each other file of the report folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The numbers of the report, in order.
    pub numbers: Vec<ReportNumber>,
}

/// A query of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManifestQuery {
    /// `q1`.
    pub name: String,
    /// The SQL.
    pub sql: String,
    /// Rows that it gave.
    pub rows: usize,
    /// Whether there were more than are kept.
    #[serde(default)]
    pub is_cut: bool,
    /// BLAKE3 of its result.
    pub hash: String,
    /// How long it took.
    #[serde(default)]
    pub took_ms: u64,
}

/// A chart of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManifestChart {
    /// Its number, from 1; its file is `charts/chart1.svg`.
    pub number: u32,
    /// The query whose result it shows.
    pub query: u32,
    /// What is drawn.
    pub spec: ChartSpec,
    /// What it shows, in words.
    pub alternative: String,
    /// Characters for which no font had a glyph, so that there is no PNG of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub without_glyph: String,
}

/// How a cell of code ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestRun {
    /// Whether it changes nothing but its own variables.
    pub repeatable: bool,
    /// How it ended.
    pub state: CellState,
    /// Whether it read files or the loaded tables; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_read: Option<bool>,
}

impl ManifestRun {
    /// A cell of which nothing is known.
    pub(crate) const UNKNOWN: Self =
        Self { repeatable: false, state: CellState::Done, has_read: None };
}

/// The first and the last date of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestPeriod {
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
    /// The first date.
    pub from: String,
    /// The last date.
    pub to: String,
}

impl DataManifest {
    /// Reads the manifest of a report folder.
    ///
    /// # Errors
    /// If it is not there or cannot be understood.
    pub fn read(folder: &Path) -> Result<Self, AnalysisError> {
        let path = folder.join(MANIFEST_NAME);
        let text = std::fs::read_to_string(&path).map_err(AnalysisError::read(&path))?;
        let parsed: Self = serde_json::from_str(&text).map_err(|error| AnalysisError::Damaged {
            path: path.clone(),
            why: error.to_string(),
        })?;
        if parsed.format > MANIFEST_FORMAT {
            let why = format!("format {} is of a newer program", parsed.format);
            return Err(AnalysisError::Damaged { path, why });
        }
        Ok(parsed)
    }

    /// The files that the data came from, each once.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        for table in &self.tables {
            if !files.contains(&table.file) {
                files.push(table.file.clone());
            }
        }
        files
    }
}
