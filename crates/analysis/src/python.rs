//! One Python process for each analysis, in the sandbox of commands, which keeps what its cells
//! define.

use crate::query::QueryResult;
use everloop_ports::CallContext;
use everloop_tools::{SandboxedLife, SandboxedServer, Shell, find_program};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};

/// What runs the cells.
const WORKER: &str = include_str!("worker.py");

/// Bytes of the longest answer.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// What a cell gave.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CellAnswer {
    /// Which request it answers.
    #[serde(default)]
    number: u64,
    /// Whether it ended without an error.
    pub(crate) ok: bool,
    /// What it printed.
    pub(crate) output: String,
    /// Pictures, in base64.
    pub(crate) images: Vec<String>,
    /// Files that it wrote.
    #[serde(default)]
    pub(crate) files: Vec<CellFile>,
    /// Whether it read files or the loaded tables; none if that is not known.
    #[serde(default)]
    pub(crate) reads: Option<bool>,
}

impl CellAnswer {
    /// The answer of a cell that gave none.
    pub(crate) fn failed(why: String) -> Self {
        Self { output: why, ..Self::default() }
    }
}

/// A file that a cell of code wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellFile {
    /// Its path in the workspace.
    pub name: String,
    /// How large it is.
    pub bytes: u64,
    /// What is in it, in base64; none of a large file.
    pub data: Option<String>,
}

/// What a worker says of itself before its first cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct PythonHello {
    python: String,
    packages: BTreeMap<String, String>,
    missing: Vec<String>,
    /// Pythons that were tried before and did not start, with why.
    #[serde(default)]
    passed_over: Vec<String>,
}

impl PythonHello {
    /// For the model.
    pub(crate) fn told(&self) -> String {
        let have: Vec<String> =
            self.packages.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let have = if have.is_empty() { "no packages".to_owned() } else { have.join(", ") };
        let missing = match self.missing.is_empty() {
            true => String::new(),
            false => format!("; not installed: {}", self.missing.join(", ")),
        };
        let passed_over: String =
            self.passed_over.iter().map(|why| format!("note: {why}\n")).collect();
        format!(
            "{passed_over}note: Python {} with {have}{missing}; query(sql) reads the loaded \
             tables\n",
            self.python
        )
    }
}

/// What a worker sends while a cell runs.
#[derive(Deserialize)]
#[serde(untagged)]
enum FromWorker {
    Query { query: String },
    Answer(CellAnswer),
}

/// Answers the queries of cells.
pub(crate) type OnQuery = Arc<dyn Fn(String) -> Result<QueryResult, String> + Send + Sync>;

/// A Python process.
pub(crate) struct PythonWorker {
    input: Sender,
    answers: BufReader<Receiver>,
    /// The number of the last request.
    asked: u64,
    _life: SandboxedLife,
}

/// The workers of this process, by the folder of their analysis.
static WORKERS: LazyLock<Mutex<HashMap<PathBuf, PythonSlot>>> = LazyLock::new(Mutex::default);

/// The place of a worker; empty before its first cell and after its end.
pub(crate) type PythonSlot = Arc<tokio::sync::Mutex<Option<PythonWorker>>>;

/// The place of the worker of an analysis.
pub(crate) fn slot(folder: &Path) -> PythonSlot {
    let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(workers.entry(folder.to_owned()).or_default())
}

/// Ends the worker of an analysis, if it has one.
pub fn end_worker(folder: &Path) {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner).remove(folder);
}

/// How long a Python may take to start.
const START_TIME: Duration = Duration::from_secs(20);

/// The Pythons to try: the one of the setting alone, else that of a virtual environment, that of
/// the path, and that of the system, which a sandbox can always read.
fn programs(chosen: &str, workspace: &Path) -> Vec<String> {
    if !chosen.is_empty() {
        return vec![chosen.to_owned()];
    }
    let active = std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join(BIN));
    let found = [
        Some(workspace.join(".venv").join(BIN)),
        active,
        find_program("python3"),
        Some(PathBuf::from("/usr/bin/python3")),
    ];
    let mut programs: Vec<String> = Vec::new();
    for program in found.into_iter().flatten().filter(|program| program.exists()) {
        let program = program.display().to_string();
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    programs
}

/// Why a Python that starts says nothing: mostly it is a link to one that a sandbox cannot read.
const NO_HELLO: &str = "it ends at once; the Python that it was made from may lie where commands \
    cannot read, such as in the home folder (pyenv, uv, conda)";

/// Where an environment has its Python.
const BIN: &str = "bin/python3";

impl PythonWorker {
    /// Starts the first Python that starts in the sandbox.
    pub(crate) async fn start(
        shell: &Shell,
        chosen: &str,
        context: &CallContext,
    ) -> Result<(Self, PythonHello), String> {
        let mut why = "Python is not installed: use query_dataset and make_chart".to_owned();
        let mut passed_over = Vec::new();
        for program in programs(chosen, shell.folder()) {
            match Self::start_one(shell, &program, context).await {
                Ok((worker, hello)) => return Ok((worker, PythonHello { passed_over, ..hello })),
                Err(error) => why = format!("{program} does not start in the sandbox: {error}"),
            }
            passed_over.push(why.clone());
            if context.cancel.is_cancelled() {
                return Err("stopped: canceled".to_owned());
            }
        }
        Err(why)
    }

    async fn start_one(
        shell: &Shell,
        program: &str,
        context: &CallContext,
    ) -> Result<(Self, PythonHello), String> {
        let argv = [program, "-I", "-u", "-c", WORKER];
        let SandboxedServer { input, output, mut log, life } = shell.talk(&argv, context).await?;
        // A full pipe would stop it.
        tokio::spawn(async move { tokio::io::copy(&mut log, &mut tokio::io::sink()).await });
        let answers = BufReader::new(output);
        let mut worker = Self { input, answers, asked: 0, _life: life };
        let hello = tokio::select! {
            line = worker.line() => line.map_err(|_| NO_HELLO.to_owned())?,
            () = tokio::time::sleep(START_TIME) => return Err("it does not answer".to_owned()),
            () = context.cancel.cancelled() => return Err("stopped: canceled".to_owned()),
        };
        let hello = serde_json::from_str(&hello).map_err(|error| error.to_string())?;
        Ok((worker, hello))
    }

    /// Runs a cell, and answers its queries meanwhile.
    pub(crate) async fn run(
        &mut self,
        code: &str,
        on_query: &OnQuery,
    ) -> Result<CellAnswer, String> {
        self.asked += 1;
        self.send(&serde_json::json!({ "code": code, "number": self.asked })).await?;
        loop {
            let line = self.line().await?;
            let odd = |error: serde_json::Error| format!("Python answered oddly: {error}");
            match serde_json::from_str(&line).map_err(odd)? {
                FromWorker::Answer(answer) if answer.number == self.asked => return Ok(answer),
                FromWorker::Answer(_) => return Err("Python answered another cell".to_owned()),
                FromWorker::Query { query } => {
                    let on_query = Arc::clone(on_query);
                    let found = tokio::task::spawn_blocking(move || on_query(query)).await;
                    let found = found.unwrap_or_else(|error| Err(error.to_string()));
                    let answer = match found {
                        Ok(found) => serde_json::json!({
                            "columns": found.columns, "rows": found.rows, "error": null,
                        }),
                        Err(why) => serde_json::json!({ "error": why }),
                    };
                    self.send(&answer).await?;
                }
            }
        }
    }

    async fn send(&mut self, value: &serde_json::Value) -> Result<(), String> {
        let line = value.to_string() + "\n";
        let written = self.input.write_all(line.as_bytes()).await;
        written.map_err(|error| format!("Python ended: {error}"))
    }

    async fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        let mut bounded = tokio::io::AsyncReadExt::take(&mut self.answers, ANSWER_BYTES_MAX as u64);
        let read = bounded.read_line(&mut line).await;
        read.map_err(|error| format!("Python ended: {error}"))?;
        if line.is_empty() {
            return Err(
                "Python ended; it may have run out of memory (setting tools.shell_memory) \
                        or of processor time, which adds up over cells (setting tools.shell_cpu)"
                    .to_owned(),
            );
        }
        if !line.ends_with('\n') {
            return Err("Python ended in the middle of its answer".to_owned());
        }
        Ok(line)
    }
}

#[cfg(test)]
#[path = "python_tests.rs"]
mod tests;
