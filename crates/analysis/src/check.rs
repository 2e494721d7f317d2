//! Computes every number of a report again, from the data, without a model.

mod code;
mod places;

use crate::error::AnalysisError;
use crate::load::{DataFolder, OnProgress, hash_of};
use crate::manifest::{DataManifest, ManifestRun};
use crate::prove::{NumberEvidence, NumberStatus, prove, results_named, still_holds, value_of};
use crate::query::{QueryEngine, QueryLimits};
use crate::report::{body_of, result_hash};
use crate::results::{CellState, KeptCell, KeptQuery};
use crate::source::ReadLimits;
pub use code::CodeAgain;
pub(crate) use places::seen_from;
use places::{DataFinder, under_its_name};
use serde::Serialize;
use std::path::{Component, Path, PathBuf};

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum CheckDifference {
    /// A file has other bytes than it had.
    DataChanged {
        /// Which one.
        file: PathBuf,
    },
    /// A file is nowhere to be found, so what was made of it is not computed again.
    DataMissing {
        /// Which one.
        file: PathBuf,
    },
    /// Code prints something else, or does not run to its end.
    CodeDiffers {
        /// Which cell.
        cell: String,
        /// The error, if it does not.
        error: String,
    },
    /// A query gives another result.
    ResultChanged {
        /// Which one.
        query: String,
        /// The error, if it gives none at all.
        error: String,
    },
    /// A number does not follow from its source.
    NumberDiffers {
        /// As written.
        number: String,
        /// Where it should come from.
        source: String,
        /// What is there now.
        found: String,
    },
    /// A file of the report is not as it was written.
    FileChanged {
        /// Which one.
        file: String,
    },
    /// The words of the report have other numbers than it was made with.
    ReportChanged {
        /// The number that is there.
        number: String,
        /// The number that was there.
        was: String,
    },
}

/// What checking a report found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Numbers of the report.
    pub numbers: usize,
    /// Numbers that were computed again and agree.
    pub agree: usize,
    /// Numbers of the question, and numbers in words: nothing can be computed for them.
    pub not_checkable: usize,
    /// Numbers that had no source when the report was made.
    pub without_source: usize,
    /// Numbers that come from code that was not run again.
    pub from_code: usize,
    /// Numbers that were not computed again because data is missing.
    pub not_computed: usize,
    /// Queries that were made again.
    pub queries: usize,
    /// What differs.
    pub differences: Vec<CheckDifference>,
}

/// Runs cells of code again over the tables of a folder: those that can be, with what they print
/// now.
pub type RunAgain<'a> =
    &'a (dyn Fn(&DataFolder, &[KeptCell]) -> Result<Vec<KeptCell>, AnalysisError> + Send + Sync);

/// How a report is checked.
#[derive(Clone, Copy)]
pub struct CheckOptions<'a> {
    /// What bounds reading.
    pub limits: &'a ReadLimits,
    /// What bounds queries.
    pub bounds: &'a QueryLimits,
    /// A folder in which the data is looked for first.
    pub data: Option<&'a Path>,
    /// Runs code again; without it, code is not run.
    pub code: Option<RunAgain<'a>>,
}

/// Checks a report folder. The data is loaded into `scratch`, and code is not run.
///
/// # Errors
/// If the folder or the data cannot be read.
pub fn check_report(
    folder: &Path,
    scratch: &Path,
    (limits, bounds): (&ReadLimits, &QueryLimits),
    on_progress: OnProgress<'_>,
) -> Result<CheckReport, AnalysisError> {
    let options = CheckOptions { limits, bounds, data: None, code: None };
    check_report_with(folder, scratch, options, on_progress)
}

/// The same with a say in where the data is and whether code is run.
///
/// # Errors
/// If the folder or the data cannot be read.
pub fn check_report_with(
    folder: &Path,
    scratch: &Path,
    options: CheckOptions<'_>,
    on_progress: OnProgress<'_>,
) -> Result<CheckReport, AnalysisError> {
    let manifest = DataManifest::read(folder)?;
    let data = DataFolder::new(scratch);
    let mut differences = Vec::new();
    let is_whole = load_data((folder, &data), &manifest, &mut differences, options, on_progress)?;
    let queries = again(&manifest, &data, options.bounds, is_whole, &mut differences)?;
    let (cells, ran) = code_again(&manifest, &data, options.code, &mut differences)?;
    let evidence =
        NumberEvidence::new(&queries, &cells, &data.tables()?).with_periods(&manifest.periods);
    let words = folder.join("report.md");
    let words = std::fs::read_to_string(&words).map_err(AnalysisError::read(&words))?;
    compare_words(&manifest, &words, &evidence, &mut differences);
    compare_files(&manifest, folder, options.limits, &mut differences)?;
    let mut report = CheckReport {
        numbers: manifest.numbers.len(),
        queries: queries.len(),
        differences,
        ..CheckReport::default()
    };
    for number in &manifest.numbers {
        let mut cells = cells_named(&number.source);
        match number.status {
            status if status.is_marked() => report.without_source += 1,
            status if !status.is_proven() => report.not_checkable += 1,
            _ if cells.any(|cell| !ran.contains(&cell)) => report.from_code += 1,
            _ => match still_holds(&number.text, &number.source, &evidence) {
                Ok(true) => report.agree += 1,
                Err(_) if !is_whole => report.not_computed += 1,
                found => report.differences.push(CheckDifference::NumberDiffers {
                    number: number.text.clone(),
                    source: number.source.clone(),
                    found: match found {
                        Ok(_) => value_of(&number.source, &evidence)
                            .map_or_else(String::new, |value| value.to_string()),
                        Err(why) => why,
                    },
                }),
            },
        }
    }
    Ok(report)
}

/// The numbers of the cells of code that a source names.
fn cells_named(source: &str) -> impl Iterator<Item = u32> {
    let names = results_named(source).into_iter();
    names.filter_map(|name| name.strip_prefix('c').and_then(|rest| rest.parse().ok()))
}

/// Loads the data of a report as it is now; false if some of it is missing.
fn load_data(
    (report, data): (&Path, &DataFolder),
    manifest: &DataManifest,
    differences: &mut Vec<CheckDifference>,
    options: CheckOptions<'_>,
    on_progress: OnProgress<'_>,
) -> Result<bool, AnalysisError> {
    let finder = DataFinder { report, chosen: options.data, limits: options.limits };
    let mut is_whole = true;
    for file in manifest.files() {
        let Some(table) = manifest.tables.iter().find(|table| table.file == file) else {
            continue;
        };
        let Some(found) = finder.find(table)? else {
            is_whole = false;
            differences.push(CheckDifference::DataMissing { file });
            continue;
        };
        let named = under_its_name(&found.path, table, data.path())?;
        data.load(&named, options.limits, on_progress)?;
        if !found.is_same {
            differences.push(CheckDifference::DataChanged { file });
        }
    }
    Ok(is_whole)
}

/// Makes the queries of a report again.
fn again(
    manifest: &DataManifest,
    data: &DataFolder,
    bounds: &QueryLimits,
    is_whole: bool,
    differences: &mut Vec<CheckDifference>,
) -> Result<Vec<KeptQuery>, AnalysisError> {
    let mut queries = Vec::new();
    for query in &manifest.queries {
        let number = query.name.trim_start_matches('q').parse().unwrap_or_default();
        // As many rows as were kept then, whatever the setting is now.
        let rows_max = if query.is_cut { query.rows } else { bounds.rows_max.max(query.rows + 1) };
        let bounds = QueryLimits { rows_max, ..bounds.clone() };
        match data.query(&query.sql, &bounds) {
            Ok(result) => {
                if result_hash(&result) != query.hash {
                    let (query, error) = (query.name.clone(), String::new());
                    differences.push(CheckDifference::ResultChanged { query, error });
                }
                queries.push(KeptQuery { number, sql: query.sql.clone(), result, took_ms: 0 });
            }
            Err(AnalysisError::Canceled) => return Err(AnalysisError::Canceled),
            // Without all tables a query that fails says nothing.
            Err(_) if !is_whole => {}
            Err(error) => {
                let (query, error) = (query.name.clone(), error.to_string());
                differences.push(CheckDifference::ResultChanged { query, error });
            }
        }
    }
    Ok(queries)
}

/// The cells of code as they ended then, what they print now if they can be run again, and the
/// numbers of those that were.
fn code_again(
    manifest: &DataManifest,
    data: &DataFolder,
    run_again: Option<RunAgain<'_>>,
    differences: &mut Vec<CheckDifference>,
) -> Result<(Vec<KeptCell>, Vec<u32>), AnalysisError> {
    let mut cells = cells_of(manifest);
    let mut ran = Vec::new();
    let now = match run_again.filter(|_| !cells.is_empty()) {
        Some(run_again) => run_again(data, &cells)?,
        None => Vec::new(),
    };
    for now in now {
        let Some(then) = cells.iter_mut().find(|then| then.number == now.number) else { continue };
        if now.state != then.state || now.output.trim_end() != then.output.trim_end() {
            let is_broken = now.state != CellState::Done;
            let error = if is_broken { now.output.trim_end().to_owned() } else { String::new() };
            let cell = format!("c{}", now.number);
            differences.push(CheckDifference::CodeDiffers { cell, error });
        }
        ran.push(now.number);
        *then = now;
    }
    Ok((cells, ran))
}

/// What code printed when the report was made, and how each cell ended.
fn cells_of(manifest: &DataManifest) -> Vec<KeptCell> {
    let cells = (1..).zip(&manifest.cells).enumerate();
    cells
        .map(|(at, (number, code))| {
            let output = manifest.printed.get(at).cloned().unwrap_or_default();
            // Earlier programs did not write down how a cell ended.
            let how = manifest.ran.get(at).copied();
            let ManifestRun { repeatable, state, has_read } = how.unwrap_or(ManifestRun::UNKNOWN);
            KeptCell { number, state, output, has_read, ..KeptCell::new(code, repeatable) }
        })
        .collect()
}

/// The other files must be those that were written: `report.html` above all.
fn compare_files(
    manifest: &DataManifest,
    folder: &Path,
    limits: &ReadLimits,
    differences: &mut Vec<CheckDifference>,
) -> Result<(), AnalysisError> {
    let is_told =
        differences.iter().any(|own| matches!(own, CheckDifference::ReportChanged { .. }));
    for (file, hash) in &manifest.files {
        if file == "report.md" && is_told {
            continue;
        }
        // A manifest may come from somebody else: what it names elsewhere is not looked at.
        let mut parts = Path::new(file).components();
        let is_inside = parts.all(|part| matches!(part, Component::Normal(_)));
        let is_same = is_inside
            && match hash_of(&folder.join(file), limits) {
                Err(AnalysisError::Canceled) => return Err(AnalysisError::Canceled),
                found => found.is_ok_and(|found| found == *hash),
            };
        if !is_same {
            differences.push(CheckDifference::FileChanged { file: file.clone() });
        }
    }
    Ok(())
}

/// The words, and the titles of the charts, must have the numbers that they were made with.
fn compare_words(
    manifest: &DataManifest,
    words: &str,
    evidence: &NumberEvidence,
    differences: &mut Vec<CheckDifference>,
) {
    let now = |text: &str| {
        let proven = prove(text, &manifest.question, evidence);
        proven.numbers.into_iter().map(|number| number.text).collect::<Vec<_>>()
    };
    compare_numbers(manifest, None, now(&body_of(words)), differences);
    for chart in &manifest.charts {
        compare_numbers(
            manifest,
            Some(chart.number),
            now(&body_of(&chart.spec.title)),
            differences,
        );
    }
}

fn compare_numbers(
    manifest: &DataManifest,
    chart: Option<u32>,
    now: Vec<String>,
    differences: &mut Vec<CheckDifference>,
) {
    let mut before = manifest
        .numbers
        .iter()
        .filter(|number| number.status != NumberStatus::BadReference && number.chart == chart)
        .map(|number| number.text.clone());
    let mut now = now.into_iter();
    loop {
        match (before.next(), now.next()) {
            (None, None) => return,
            (was, number) if was == number => {}
            (was, number) => {
                let (was, number) = (was.unwrap_or_default(), number.unwrap_or_default());
                differences.push(CheckDifference::ReportChanged { number, was });
                return;
            }
        }
    }
}
