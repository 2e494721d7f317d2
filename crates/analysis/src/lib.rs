//! Data analysis whose numbers can be traced: files as tables, queries, charts, reports.
//!
//! ```text
//!   files ──source──► load ──► tables in a temporary SQLite file
//!                                   │ query_dataset, make_chart, run_code
//!                                   ▼
//!   report with references ──prove──► every number with its source, or marked ──► report folder
//!                                   ▲
//!                     analyze --check computes all of them again
//! ```
//!
//! Deliberately absent: models, loops and runs. `app` starts the runs and offers the tools.

mod chart;
mod check;
mod error;
mod escape;
mod exact;
mod infer;
mod load;
mod manifest;
mod profile;
mod prove;
mod python;
mod query;
mod report;
mod results;
mod room;
mod source;
mod statistics;
mod sums;
mod tools;
mod value;

pub use chart::{ChartKind, ChartSpec, DrawnChart, SERIES_MAX, draw as draw_chart};
pub use check::{
    CheckDifference, CheckOptions, CheckReport, CodeAgain, RunAgain, check_report,
    check_report_with,
};
pub use error::{AnalysisError, QueryBound};
pub use exact::Exact;
pub use infer::{ColumnKind, ColumnPlan, Misfits};
pub use load::{
    DataFolder, LoadPhase, LoadProgress, LoadedColumn, LoadedTable, OnProgress, hash_of,
    name_of_files, quoted,
};
pub use manifest::{
    DataManifest, MANIFEST_FORMAT, ManifestChart, ManifestPeriod, ManifestQuery, ManifestRun,
};
pub use profile::{
    ColumnProfile, DataProfile, DateGaps, DateStep, Histogram, JoinProfile, NumberSpread,
    TableProfile, TextSpelling, ValueCount, profile,
};
pub use prove::{NumberCounts, NumberStatus, ProvenText, ReportNumber};
pub use python::{CellFile, end_worker};
pub use query::{QueryEngine, QueryLimits, QueryResult};
pub use report::{
    KeyFigure, ReportCell, ReportFact, ReportModel, ReportParts, ReportQuery, ReportSection,
    WrittenReport, check_report_folder, counts_words, status_words, write_profile, write_report,
};
pub use results::{CellState, KeptCell, KeptChart, KeptQuery, ResultStore};
pub use source::{FileForm, ReadLimits, ReadNotes};
pub use tools::{
    AnalysisContext, BUILT_IN, MakeChart, MakeChartArgs, QueryDataset, QueryDatasetArgs,
    ReadDataset, ReadDatasetArgs, RunCode, RunCodeArgs, ShareLevel,
};
pub use value::DataValue;
