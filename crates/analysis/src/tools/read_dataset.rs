//! `read_dataset`: a file as a table, and what it looks like.

use super::{AnalysisContext, blocking, describe, handling};
use crate::error::AnalysisError;
use crate::load::LoadProgress;
use everloop_ports::{CallContext, OnOutput, Tool, ToolReturn};
use everloop_tools::clip;
use everloop_types::{Handling, Observation};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The arguments of `read_dataset`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadDatasetArgs {
    /// The file, such as "sales.csv".
    pub path: PathBuf,
}

/// Loads a file.
#[derive(Debug)]
pub struct ReadDataset {
    /// What it works with.
    pub analysis: AnalysisContext,
    /// How long a load may take.
    pub timeout_ms: u64,
}

impl Tool for ReadDataset {
    const NAME: &'static str = "read_dataset";
    type Args = ReadDatasetArgs;

    fn description(&self) -> &'static str {
        "Load a data file (CSV, TSV, JSON, JSON lines, Parquet, Excel; packed ones too) as a table \
         for query_dataset and see its columns, types and what is odd about them. sales.csv \
         becomes the table sales."
    }

    fn handling(&self) -> Handling {
        handling(self.timeout_ms)
    }

    fn text_arg() -> Option<&'static str> {
        Some("path")
    }

    async fn call(&self, args: ReadDatasetArgs, context: &CallContext) -> ToolReturn {
        let file = match self.analysis.file(&args.path) {
            Ok(file) => file,
            Err(why) => return ToolReturn::Seen(Observation::error(why)),
        };
        let data = self.analysis.data(context);
        let (limits, queries) =
            (self.analysis.read_limits(context), self.analysis.query_limits(context));
        let (share, chars) = (self.analysis.share, context.observation_chars);
        let meter = ShownProgress::new(context.on_output.clone());
        blocking(move || {
            let tables = data.load(&file, &limits, &|progress| meter.tell(progress))?;
            let mut parts = Vec::new();
            for table in &tables {
                parts.push(describe::table(&data, table, share, &queries)?);
            }
            Ok::<_, AnalysisError>(clip::head(&parts.join("\n\n"), chars))
        })
        .await
    }
}

/// Shows how far a load is, now and then.
pub(crate) struct ShownProgress {
    on_output: Option<OnOutput>,
    last: Mutex<Instant>,
}

/// How often it is shown.
const OFTEN: Duration = Duration::from_secs(2);

impl ShownProgress {
    pub(crate) fn new(on_output: Option<OnOutput>) -> Self {
        Self { on_output, last: Mutex::new(Instant::now()) }
    }

    pub(crate) fn tell(&self, progress: LoadProgress) {
        let Some(on_output) = &self.on_output else { return };
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() < OFTEN {
            return;
        }
        *last = Instant::now();
        let part = progress.percent();
        let left = progress.left_ms().map(|ms| format!(", {} s left", ms / 1_000));
        let left = left.unwrap_or_default();
        let rows = crate::prove::grouped(&progress.rows.to_string());
        on_output(&format!("{rows} rows, {part} %{left}\n"));
    }
}
