//! What a fork goes on from: the tables and results that its messages speak of, made again under
//! their names. They are not copied: those of the parent are gone when it has ended.

use super::make_chart::{MakeChartArgs, drawn};
use super::run_code::is_note;
use super::{AnalysisContext, QueryDatasetArgs, ReadDatasetArgs, RunCodeArgs};
use crate::error::AnalysisError;
use crate::load::DataFolder;
use crate::query::{QueryEngine, QueryLimits};
use crate::results::{CellState, KeptCell, KeptChart, KeptQuery, ResultStore};
use crate::source::ReadLimits;
use everloop_types::PastCall;
use serde::de::DeserializeOwned;

impl AnalysisContext {
    /// Makes again what the run that this one goes on from had found. What was made is not made a
    /// second time, also after a crash.
    ///
    /// # Errors
    /// If something cannot be written, or somebody asked to stop.
    pub fn rebuild_parent_results(
        &self,
        data: &DataFolder,
        reads: &ReadLimits,
        bounds: &QueryLimits,
    ) -> Result<(), AnalysisError> {
        if self.past.is_empty() {
            return Ok(());
        }
        let results = ResultStore::open(data)?;
        let key = |at: usize| format!("past-{at}");
        let mut is_loaded = false;
        for (at, call) in self.past.iter().enumerate() {
            if results.has(&key(at))? {
                continue;
            }
            if !is_loaded {
                self.load_again(data, reads)?;
                is_loaded = true;
            }
            let made = match call.tool.as_str() {
                "query_dataset" => query_again(data, call, bounds).and_then(|made| match made {
                    None => Ok(()),
                    Some((query, true)) => results.put_query(&key(at), &query),
                    // It has its number, and is tried again with the next call.
                    Some((query, false)) => results.put_query(&format!("late-{at}"), &query),
                }),
                "make_chart" => self
                    .chart_again(&results, call)
                    .map_or(Ok(()), |chart| results.put_chart(&key(at), &chart)),
                "run_code" => {
                    cell_again(call).map_or(Ok(()), |cell| results.put_cell(&key(at), &cell))
                }
                _ => Ok(()),
            };
            made?;
            reads.check()?;
        }
        Ok(())
    }

    /// Files that are gone are missed by the queries.
    fn load_again(&self, data: &DataFolder, reads: &ReadLimits) -> Result<(), AnalysisError> {
        let read = self.past.iter().filter(|call| call.tool == "read_dataset" && call.is_ok);
        let named = read.filter_map(args::<ReadDatasetArgs>);
        let named = named.filter_map(|args| self.file(&args.path).ok());
        for file in self.files.iter().cloned().chain(named) {
            if let Err(AnalysisError::Canceled) = data.load(&file, reads, &|_| {}) {
                return Err(AnalysisError::Canceled);
            }
        }
        Ok(())
    }

    fn chart_again(&self, results: &ResultStore, call: &PastCall) -> Option<KeptChart> {
        // A title has no bracket.
        let number = call.seen.split_once("](charts/chart")?.1.split_once(".svg")?.0;
        let (chart, _) = drawn(results, args::<MakeChartArgs>(call)?, self.lang).ok()?;
        Some(KeptChart { number: number.parse().ok()?, ..chart })
    }
}

fn args<T: DeserializeOwned>(call: &PastCall) -> Option<T> {
    serde_json::from_str(&call.args).ok()
}

/// The query, and whether it had the time that it needs. One that fails now keeps its number, so
/// that no other result is taken for it.
fn query_again(
    data: &DataFolder,
    call: &PastCall,
    bounds: &QueryLimits,
) -> Result<Option<(KeptQuery, bool)>, AnalysisError> {
    let number = call.seen.lines().next().and_then(|line| number_of(line, 'q'));
    let Some((number, args)) = number.zip(args::<QueryDatasetArgs>(call)) else { return Ok(None) };
    let answer = data.query(&args.sql, bounds);
    let in_time = !matches!(answer, Err(AnalysisError::Stopped(_)));
    let result = match answer {
        Err(AnalysisError::Canceled) => return Err(AnalysisError::Canceled),
        answer => answer.unwrap_or_default(),
    };
    Ok(Some((KeptQuery { number, sql: args.sql, result, took_ms: 0 }, in_time)))
}

/// A cell is not run again here: its output is what the model saw.
fn cell_again(call: &PastCall) -> Option<KeptCell> {
    let mut lines = call.seen.lines();
    let number = lines.find_map(|line| number_of(line, 'c'))?;
    let RunCodeArgs { code, repeatable } = args(call)?;
    let mut output: Vec<&str> = lines.collect();
    while output.last().is_some_and(|line| is_note(line)) {
        output.pop();
    }
    let output = output.join("\n");
    let state = if call.is_ok { CellState::Done } else { CellState::Failed };
    Some(KeptCell { number, state, output, ..KeptCell::new(&code, repeatable) })
}

/// The number of a result at the beginning of what was seen of it: `q3: 2 rows`, `c1:`.
fn number_of(line: &str, kind: char) -> Option<u32> {
    line.strip_prefix(kind)?.split_once(':')?.0.parse().ok()
}
