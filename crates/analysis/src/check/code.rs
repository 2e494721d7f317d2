//! Runs the code of a report again, in a sandbox, over its data as it is now.

use crate::error::AnalysisError;
use crate::load::DataFolder;
use crate::python::{CellAnswer, OnQuery, PythonWorker};
use crate::query::{QueryEngine, QueryLimits};
use crate::results::{CellState, KeptCell};
use everloop_ports::CallContext;
use everloop_tools::Shell;
use std::sync::Arc;
use std::time::Duration;

/// What runs the code of a report.
#[derive(Debug)]
pub struct CodeAgain {
    /// The sandbox; code sees its folder and nothing else of the person's.
    pub shell: Shell,
    /// The Python that the person chose; empty for the one that is found.
    pub python: String,
    /// How long one cell may take.
    pub timeout: Duration,
    /// What bounds its queries.
    pub bounds: QueryLimits,
}

impl CodeAgain {
    /// Runs the cells that may run again and ended well, with what they print now.
    ///
    /// # Errors
    /// If there is no sandbox or no Python, or somebody asked to stop.
    pub async fn run(
        &self,
        data: &DataFolder,
        cells: &[KeptCell],
    ) -> Result<Vec<KeptCell>, AnalysisError> {
        let mut context = CallContext::new("check");
        // The report may be somebody else's.
        context.may_run_bare = false;
        context.cancel = self.bounds.cancel.clone();
        let started = PythonWorker::start(&self.shell, &self.python, &context).await;
        let (mut worker, _) = started.map_err(AnalysisError::Refused)?;
        let (own, bounds) = (data.clone(), self.bounds.clone());
        let queries: OnQuery =
            Arc::new(move |sql| own.query(&sql, &bounds).map_err(|error| error.to_string()));
        let mut ran = Vec::new();
        let mut is_whole = true;
        for cell in cells {
            if !cell.repeatable || cell.state != CellState::Done {
                is_whole &= cell.state != CellState::Done;
                continue;
            }
            let answer = tokio::select! {
                answer = worker.run(&cell.code, &queries) => answer,
                () = context.cancel.cancelled() => return Err(AnalysisError::Canceled),
                () = tokio::time::sleep(self.timeout) => Err("it took too long".to_owned()),
            };
            let is_alive = answer.is_ok();
            let answer = answer.unwrap_or_else(CellAnswer::failed);
            let CellAnswer { ok, output, reads: has_read, .. } = answer;
            let state = if ok { CellState::Done } else { CellState::Failed };
            // It may have missed what a cell defined that does not run again.
            if state == CellState::Done || is_whole {
                ran.push(KeptCell { state, output, has_read, ..cell.clone() });
            }
            if !is_alive {
                break;
            }
        }
        Ok(ran)
    }
}
