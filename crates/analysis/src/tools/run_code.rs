//! `run_code`: Python in the sandbox, in one process that keeps its state.
//!
//! ```text
//!   begun (durable) ──► the worker runs it ──► done, with what it printed (durable)
//!        └─ crash: repeatable cells run again, for others the outcome is unknown
//! ```
//!
//! A cell that takes too long is stopped here and answered, so that it is not tried again.

use super::AnalysisContext;
use crate::error::AnalysisError;
use crate::load::DataFolder;
use crate::python::{CellAnswer, OnQuery, PythonWorker, slot};
use crate::query::QueryEngine;
use crate::results::{CellState, KeptCell, ResultStore};
use everloop_ports::{CallContext, CallPolicy, Intent, Probe, Tool, ToolReturn};
use everloop_tools::{Shell, clip};
use everloop_types::{Approval, EffectClass, Ending, Handling, Observation, OnUnknown, RunId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The arguments of `run_code`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCodeArgs {
    /// Python; what it prints and the value of its last line come back.
    pub code: String,
    /// Whether it may run again after a crash: true if it changes nothing but its own variables.
    #[serde(default)]
    pub repeatable: bool,
}

/// Runs Python.
#[derive(Debug, Clone)]
pub struct RunCode {
    /// What it works with.
    pub analysis: AnalysisContext,
    /// The sandbox.
    pub shell: Arc<Shell>,
    /// How long a cell may take, and how long making earlier ones again.
    pub timeout_ms: u64,
    /// The Python that the person chose; empty for the one that is found.
    pub python: String,
}

/// What running earlier cells again came to.
#[derive(Debug, Default)]
struct ReplayedCells {
    /// They do not run twice, or failed the first time.
    gone: Vec<String>,
    /// They failed this time, with why.
    broken: Vec<String>,
    /// They were not run for lack of time.
    left: Vec<String>,
}

impl ReplayedCells {
    /// What the model reads of earlier cells that were run again; it may count on all others.
    fn note(&self, limit_ms: u64) -> String {
        let Self { gone, broken, left } = self;
        let mut parts = Vec::new();
        if !gone.is_empty() {
            let names = gone.join(", ");
            parts.push(format!(
                "what {names} defined is gone, because it failed or was not declared repeatable"
            ));
        }
        if !broken.is_empty() {
            let names = broken.join(", ");
            parts.push(format!("{names} failed this time: define again what it defined"));
        }
        if !left.is_empty() {
            let (names, seconds) = (left.join(", "), limit_ms.div_ceil(1_000));
            parts.push(format!(
                "{names} did not run again, because earlier cells took {seconds} s already \
                 (setting tools.shell_timeout): define again what you need of it"
            ));
        }
        if parts.is_empty() {
            return String::new();
        }
        format!("note: Python was started again; {}\n", parts.join("; "))
    }
}

/// Times that a cell is begun that the program did not survive.
const BEGUN_MAX: u32 = 2;

/// Characters of the error of an earlier cell.
const WHY_CHARS: usize = 200;

/// What the runtime allows beyond the limits of running earlier cells again, of the last one of
/// those, and of the cell itself.
const MARGIN_MS: u64 = 60_000;

impl Tool for RunCode {
    const NAME: &'static str = "run_code";
    type Args = RunCodeArgs;

    fn description(&self) -> &'static str {
        "Run Python in the workspace, without a network; variables stay for the next call, and \
         query(sql) reads the loaded tables. Figures and files that it writes are put into the \
         report. Print a label \
         and its number on one line: then the number has a source. Prefer query_dataset."
    }

    fn handling(&self) -> Handling {
        let shell = self.shell.handling();
        Handling {
            class: EffectClass::Probeable,
            approval: Approval::Ask,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: self.timeout_ms.saturating_mul(3).saturating_add(MARGIN_MS),
            retries: 0,
            ..shell
        }
    }

    fn text_arg() -> Option<&'static str> {
        Some("code")
    }

    async fn judge(&self, _: &RunCodeArgs) -> CallPolicy {
        // Rules are about commands; whether there is a sandbox is the same question.
        self.shell.judge_sandbox().await
    }

    async fn before(&self, _: &RunCodeArgs, run: Option<&RunId>) -> Value {
        json!({ "run": run.map(ToString::to_string) })
    }

    async fn probe(&self, args: RunCodeArgs, intent: &Intent) -> Probe {
        let run = intent.before["run"].as_str().unwrap_or_default().to_owned();
        let data = self.analysis.data_of(Some(run));
        let (key, chars) = (intent.idem_key.clone(), intent.observation_chars);
        let looked = tokio::task::spawn_blocking(move || {
            ResultStore::open(&data).and_then(|results| results.cell(&key))
        });
        match looked.await {
            Ok(Ok(None)) => Probe::DidNot,
            Ok(Ok(Some(cell)))
                if cell.state == CellState::Begun && args.repeatable && cell.begun < BEGUN_MAX =>
            {
                Probe::DidNot
            }
            Ok(Ok(Some(cell))) if cell.state == CellState::Begun => {
                Probe::unknown("the code was cut short after it started")
            }
            Ok(Ok(Some(cell))) => Probe::Happened(observed(&cell, "", chars)),
            Ok(Err(error)) => Probe::Unknown(error.to_string()),
            Err(error) => Probe::Unknown(error.to_string()),
        }
    }

    async fn call(&self, args: RunCodeArgs, context: &CallContext) -> ToolReturn {
        let data = self.analysis.data(context);
        let worker = slot(data.path());
        let mut place = worker.lock().await;
        if let Err(error) = self.rebuild_parent_results(&data, context).await {
            return ToolReturn::Seen(Observation::error(error.to_string()));
        }
        // It is put back only after an answer: a call that is dropped before leaves nobody behind
        // who would answer the next cell with what this one printed.
        let started = match place.take() {
            Some(python) => Ok((python, String::new())),
            None => self.start(&data, context).await,
        };
        let (mut python, note) = match started {
            Ok(started) => started,
            Err(why) => return ToolReturn::Seen(Observation::error(why)),
        };
        let begun = match self.begin(&data, &args, context).await {
            Ok(begun) => begun,
            Err(error) => {
                *place = Some(python);
                return ToolReturn::Seen(Observation::error(error.to_string()));
            }
        };
        let queries = self.queries(&data, context);
        let limit = Duration::from_millis(self.timeout_ms);
        let answer = tokio::select! {
            answer = python.run(&args.code, &queries) => answer,
            () = context.cancel.cancelled() => Err("stopped: canceled".to_owned()),
            () = tokio::time::sleep(limit) => Err(self.too_long()),
        };
        if answer.is_ok() {
            *place = Some(python);
        }
        let answer = answer.unwrap_or_else(CellAnswer::failed);
        let kept = self.finish(&data, &context.idem_key, begun, answer).await;
        ToolReturn::Seen(match kept {
            Ok(_) if context.cancel.is_cancelled() => {
                Observation { ending: Ending::Canceled, text: "stopped: canceled".to_owned() }
            }
            Ok(cell) => observed(&cell, &note, context.observation_chars),
            Err(error) => Observation::error(error.to_string()),
        })
    }
}

impl RunCode {
    /// What the run that this one goes on from had found.
    async fn rebuild_parent_results(
        &self,
        data: &DataFolder,
        context: &CallContext,
    ) -> Result<(), AnalysisError> {
        let (data, analysis) = (data.clone(), self.analysis.clone());
        let (reads, bounds) = (analysis.read_limits(context), analysis.query_limits(context));
        let work = move || analysis.rebuild_parent_results(&data, &reads, &bounds);
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(AnalysisError::Refused(error.to_string())))
    }

    /// Keeps a cell as begun, with how often it was.
    async fn begin(
        &self,
        data: &DataFolder,
        args: &RunCodeArgs,
        context: &CallContext,
    ) -> Result<KeptCell, AnalysisError> {
        let (own, key) = (data.clone(), context.idem_key.clone());
        let read = move || ResultStore::open(&own)?.cell(&key);
        let known = tokio::task::spawn_blocking(read).await;
        let known = known.unwrap_or_else(|error| Err(AnalysisError::Refused(error.to_string())))?;
        let begun = known.map_or(0, |cell| cell.begun) + 1;
        let cell = KeptCell { begun, ..KeptCell::new(&args.code, args.repeatable) };
        keep(data, &context.idem_key, cell).await
    }

    fn too_long(&self) -> String {
        format!(
            "stopped after {} s (setting tools.shell_timeout); Python is started again for the \
             next cell: work in smaller steps",
            self.timeout_ms.div_ceil(1_000)
        )
    }

    /// Answers `query(sql)` of cells from the loaded tables.
    fn queries(&self, data: &DataFolder, context: &CallContext) -> OnQuery {
        let (data, analysis) = (data.clone(), self.analysis.clone());
        let limits = analysis.query_limits(context);
        let reads = analysis.read_limits(context);
        Arc::new(move |sql| {
            analysis.ensure_loaded(&data, &reads, &|_| {}).map_err(|error| error.to_string())?;
            data.query(&sql, &limits).map_err(|error| error.to_string())
        })
    }

    /// Starts a worker and makes the state of earlier cells again, as far as they allow it.
    async fn start(
        &self,
        data: &DataFolder,
        context: &CallContext,
    ) -> Result<(PythonWorker, String), String> {
        let cells = {
            let data = data.clone();
            let read = move || ResultStore::open(&data).and_then(|results| results.code());
            let read = tokio::task::spawn_blocking(read).await;
            read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?
        };
        let cells: Vec<KeptCell> =
            cells.into_iter().filter(|cell| cell.state != CellState::Begun).collect();
        let (mut worker, hello) = PythonWorker::start(&self.shell, &self.python, context).await?;
        if cells.is_empty() {
            return Ok((worker, hello.told()));
        }
        let replayed = self.replay(&mut worker, data, &cells, context).await?;
        Ok((worker, replayed.note(self.timeout_ms)))
    }

    /// Runs earlier cells again in a new worker.
    async fn replay(
        &self,
        worker: &mut PythonWorker,
        data: &DataFolder,
        cells: &[KeptCell],
        context: &CallContext,
    ) -> Result<ReplayedCells, String> {
        let queries = self.queries(data, context);
        let limit = Duration::from_millis(self.timeout_ms);
        let began = Instant::now();
        let mut replayed = ReplayedCells::default();
        for cell in cells {
            let name = format!("c{}", cell.number);
            // What failed is not tried again: it defined nothing that is known.
            if !cell.repeatable || cell.state == CellState::Failed || cell.lost {
                replayed.gone.push(name);
                continue;
            }
            if began.elapsed() >= limit {
                replayed.left.push(name);
                continue;
            }
            let answer = tokio::select! {
                answer = worker.run(&cell.code, &queries) => answer,
                () = context.cancel.cancelled() => return Err("stopped: canceled".to_owned()),
                () = tokio::time::sleep(limit) => Err("it took too long".to_owned()),
            };
            match answer {
                Ok(answer) if answer.ok => {}
                Ok(answer) => {
                    let why = answer.output.trim_end().lines().next_back().unwrap_or_default();
                    replayed.broken.push(format!("{name} ({})", clip::head(why, WHY_CHARS)));
                }
                Err(why) => return Err(lose(data, cell.number, &why).await),
            }
        }
        Ok(replayed)
    }

    /// Keeps what a cell gave, pictures as files.
    async fn finish(
        &self,
        data: &DataFolder,
        key: &str,
        begun: KeptCell,
        answer: CellAnswer,
    ) -> Result<KeptCell, AnalysisError> {
        let state = if answer.ok { CellState::Done } else { CellState::Failed };
        let CellAnswer { output, images: files, files: written, reads: has_read, .. } = answer;
        keep(data, key, KeptCell { state, output, files, written, has_read, ..begun }).await
    }
}

/// Leaves a cell out from now on, and gives the words for the model.
async fn lose(data: &DataFolder, number: u32, why: &str) -> String {
    let own = data.clone();
    let lose = move || ResultStore::open(&own)?.lose_cell(number);
    // A cell that cannot be marked is tried again.
    let _ = tokio::task::spawn_blocking(lose).await;
    format!(
        "Python was started again, but c{number} did not run a second time ({why}); it is left \
         out from now on: define again what it defined"
    )
}

async fn keep(data: &DataFolder, key: &str, cell: KeptCell) -> Result<KeptCell, AnalysisError> {
    let (data, key) = (data.clone(), key.to_owned());
    let work =
        move || ResultStore::open(&data)?.keep_cell(&key, |number| KeptCell { number, ..cell });
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(AnalysisError::Refused(error.to_string())))
}

/// How the lines end that are put after what a cell printed.
const FIGURES: &str = " figures, in the report]";
const COPIED: &str = "; copied into the report]";

/// Whether a line was put after what a cell printed.
pub(super) fn is_note(line: &str) -> bool {
    line.starts_with('[') && (line.ends_with(FIGURES) || line.ends_with(COPIED))
}

fn observed(cell: &KeptCell, note: &str, chars: usize) -> Observation {
    let pictures = match cell.files.len() {
        0 => String::new(),
        count => format!("[{count}{FIGURES}\n"),
    };
    let written: Vec<&str> = cell.written.iter().map(|file| file.name.as_str()).collect();
    let pictures = match written.is_empty() {
        true => pictures,
        false => format!("{pictures}[wrote {}{COPIED}\n", written.join(", ")),
    };
    let text = format!("{note}c{}:\n{}\n{pictures}", cell.number, cell.output.trim_end());
    let text = clip::head(&text, chars);
    match cell.state {
        CellState::Failed => Observation::error(text),
        CellState::Done | CellState::Begun => Observation::ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_run_again_is_said_each_with_its_reason() {
        let names = |name: &str| vec![name.to_owned()];
        let broken = names("c2 (line 1: KeyError: 'a')");
        let replayed = ReplayedCells { gone: names("c1"), broken, left: names("c3") };
        let note = replayed.note(120_000);
        for part in ["what c1 defined is gone", "c2 (line 1: KeyError: 'a') failed this time"] {
            assert!(note.contains(part), "{note}");
        }
        assert!(note.contains("c3 did not run again, because earlier cells took 120 s"), "{note}");
        assert_eq!(ReplayedCells::default().note(1), "");
    }
}
