//! The tools of an analysis: `read_dataset`, `query_dataset`, `make_chart`, `run_code`.
//!
//! The first three only read the user's files, and write into the analysis's own folder under the
//! key of their call: made again after a crash, they give the same.

mod describe;
mod make_chart;
mod past;
mod query_dataset;
mod read_dataset;
mod reply_order;
mod run_code;

pub use describe::ShareLevel;
pub use make_chart::{MakeChart, MakeChartArgs};
pub use query_dataset::{QueryDataset, QueryDatasetArgs};
pub use read_dataset::{ReadDataset, ReadDatasetArgs};
pub use run_code::{RunCode, RunCodeArgs};

use crate::error::AnalysisError;
use crate::load::{DataFolder, OnProgress};
use crate::query::QueryLimits;
use crate::source::ReadLimits;
use everloop_ports::{CallContext, ToolReturn};
use everloop_tools::{BuiltIn, Needs, Timeout, TimeoutSetting, Workspace};
use everloop_types::{
    Approval, DataFlow, EffectClass, Ending, Handling, Lang, Observation, OnUnknown, PastCall,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What the tools of one run know.
#[derive(Debug, Clone)]
pub struct AnalysisContext {
    /// The folder of all analyses.
    pub folder: PathBuf,
    /// The analysis, where it began before its run; else it is called after the run.
    pub session: Option<String>,
    /// Files that the person named.
    pub files: Vec<PathBuf>,
    /// What the run that this one goes on from called.
    pub past: Vec<PastCall>,
    /// What of the data the model sees without asking.
    pub share: ShareLevel,
    /// The folder in which other files may be read.
    pub workspace: Option<Arc<Workspace>>,
    /// How long a query may take.
    pub query_timeout_ms: u64,
    /// Rows of a result that are kept.
    pub rows_max: usize,
    /// Bytes that a file may unpack to.
    pub bytes_max: u64,
    /// The language of the person.
    pub lang: Lang,
}

/// The tools of this crate, for the table of all.
pub const BUILT_IN: [BuiltIn; 4] = [
    row("read_dataset", LOAD),
    row("query_dataset", LOAD),
    row("make_chart", CHART),
    BuiltIn { class: EffectClass::Probeable, approval: Approval::Ask, ..row("run_code", CODE) },
];

const LOAD: Timeout = Timeout::Setting(TimeoutSetting::Analysis);
const CODE: Timeout = Timeout::Setting(TimeoutSetting::Shell);
const CHART: Timeout = Timeout::Ms(60_000);

const fn row(name: &'static str, timeout: Timeout) -> BuiltIn {
    BuiltIn {
        name,
        class: EffectClass::Pure,
        approval: Approval::Allow,
        timeout,
        resource_arg: None,
        needs: Needs::Nothing,
        edits_files: false,
    }
}

impl AnalysisContext {
    /// The folder of the analysis that a call belongs to.
    fn data(&self, context: &CallContext) -> DataFolder {
        self.data_of(context.effect.as_ref().map(|effect| effect.run.to_string()))
    }

    /// The same for a run.
    fn data_of(&self, run: Option<String>) -> DataFolder {
        let session = self.session.clone().or(run).unwrap_or_else(|| "none".to_owned());
        DataFolder::new(self.folder.join(safe_name(&session)))
    }

    /// The file that a path names, if it may be read.
    fn file(&self, path: &Path) -> Result<PathBuf, String> {
        let named = self.files.iter().find(|file| {
            file.as_path() == path || file.file_name().is_some_and(|name| Path::new(name) == path)
        });
        if let Some(file) = named {
            return Ok(file.clone());
        }
        let workspace = self.workspace.as_ref().ok_or("there is no workspace")?;
        let file = workspace.resolve(path).map_err(|error| error.to_string())?;
        // The first byte is read as every tool reads: no link leads out, no file is shut.
        workspace.read(path, 1).map_err(|error| error.to_string())?;
        let root = workspace.root().canonicalize().map_err(|error| error.to_string())?;
        let real = root.join(file).canonicalize().map_err(|error| error.to_string())?;
        match real.starts_with(&root) {
            true => Ok(real),
            false => Err(format!("{} leads out of the workspace", path.display())),
        }
    }

    /// What bounds reading and queries, as the settings have it.
    #[must_use]
    pub fn limits(&self) -> (ReadLimits, QueryLimits) {
        let reads = ReadLimits { bytes_max: self.bytes_max, ..ReadLimits::default() };
        let timeout = Duration::from_millis(self.query_timeout_ms.max(1));
        (reads, QueryLimits { timeout, rows_max: self.rows_max, ..QueryLimits::default() })
    }

    fn read_limits(&self, context: &CallContext) -> ReadLimits {
        ReadLimits { cancel: context.cancel.clone(), ..self.limits().0 }
    }

    fn query_limits(&self, context: &CallContext) -> QueryLimits {
        QueryLimits { cancel: context.cancel.clone(), ..self.limits().1 }
    }

    /// Loads what the person named and is not loaded yet.
    fn ensure_loaded(
        &self,
        data: &DataFolder,
        limits: &ReadLimits,
        on_progress: OnProgress<'_>,
    ) -> Result<(), AnalysisError> {
        for file in &self.files {
            data.load(file, limits, on_progress)?;
        }
        Ok(())
    }
}

/// A name that is no path.
pub(crate) fn safe_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
        .collect()
}

/// How the runtime treats a tool that only reads files.
fn handling(timeout_ms: u64) -> Handling {
    Handling {
        class: EffectClass::Pure,
        approval: Approval::Allow,
        on_unknown: OnUnknown::TellModel,
        timeout_ms,
        grace_ms: 1_000,
        flow: Some(DataFlow::below()),
        ..Handling::default()
    }
}

/// Does blocking work, and tells how it ended.
async fn blocking(
    work: impl FnOnce() -> Result<String, AnalysisError> + Send + 'static,
) -> ToolReturn {
    let done = tokio::task::spawn_blocking(work).await;
    ToolReturn::Seen(match done {
        Ok(Ok(text)) => Observation::ok(text),
        Ok(Err(AnalysisError::Canceled)) => {
            Observation { ending: Ending::Canceled, text: "stopped: canceled".to_owned() }
        }
        Ok(Err(error)) => Observation::error(error.to_string()),
        Err(error) => Observation::error(error.to_string()),
    })
}
