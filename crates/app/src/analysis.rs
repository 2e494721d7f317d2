//! Data analysis: what a run of it is made of, what it leaves, and profiles without a model.
//!
//! ```text
//!   files ──load──► preview ──► run (tools: read_dataset, query_dataset, make_chart)
//!                                └─ its last words ──numbers checked──► report folder
//! ```

mod preload;
mod preview;
mod prompts;

pub use preload::{Preload, preload};
pub use preview::{DataPreview, check_words, preview_words, profile_words, progress_words};

use crate::app::App;
use crate::error::{AppError, RunTypeError};
use crate::frames::{self, RunOptions};
use crate::reports;
use crate::settings::Settings;
use everloop_agenda::kept::moment;
use everloop_analysis::{
    AnalysisContext, AnalysisError, CheckOptions, CheckReport, CodeAgain, DataFolder, DataProfile,
    KeptCell, LoadedTable, MakeChart, OnProgress, QueryDataset, QueryLimits, ReadDataset,
    ReadLimits, ReportParts, RunAgain, RunCode, ShareLevel, WrittenReport, check_report_folder,
    check_report_with, counts_words, end_worker, profile, write_profile, write_report,
};
use everloop_engine::{Clock as _, Submission, SystemClock, fresh_id};
use everloop_ports::Registry;
use everloop_text as text;
use everloop_tools::{Shell, Workspace};
use everloop_types::{
    AnalysisTerms, COMPLETION_MARK, Frame, Lang, RunId, Status, TODO_WRITE, one_line,
};
use jiff::tz::TimeZone;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The loop of an analysis for which nobody chose one.
pub const USUAL_LOOP: &str = "tool-driven";

/// The tools that an analysis has, whatever else is enabled.
const TOOLS: [&str; 6] =
    ["read_dataset", "query_dataset", "make_chart", "run_code", TODO_WRITE, "ask_user"];

/// What is to be analyzed.
#[derive(Debug, Clone, Default)]
pub struct AnalysisRequest {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What the person wants to know.
    pub question: String,
    /// The folder of the report.
    pub out: Option<PathBuf>,
    /// The folder of tables that were loaded before, if they were.
    pub session: Option<String>,
    /// What of the data the model sees without asking; the setting, if none was chosen.
    pub share: Option<ShareLevel>,
    /// Where its files and its report may lie.
    pub reach: FileReach,
}

/// Where the files of an analysis and its report may lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileReach {
    /// In the workspace, as those of every tool.
    #[default]
    Workspace,
    /// Anywhere: a person at this machine named them.
    Anywhere,
}

/// The folder of all analyses.
#[must_use]
pub fn folder(app: &App) -> PathBuf {
    app.home.data().join("analysis")
}

/// A name for the folder of a new analysis.
#[must_use]
pub fn new_session() -> String {
    fresh_id("data_", SystemClock.now())
}

/// The folder of one analysis.
#[must_use]
pub fn data_folder(app: &App, session: &str) -> DataFolder {
    DataFolder::new(folder(app).join(session))
}

/// What bounds reading, as the settings have it.
#[must_use]
pub fn read_limits(app: &App) -> ReadLimits {
    let bytes_max = app.settings.analysis.max_bytes.bytes();
    ReadLimits { bytes_max, ..ReadLimits::default() }
}

/// The run of an analysis, checked before anything is written.
///
/// # Errors
/// If a file is not there, the question is empty, or something else that is named cannot be used.
pub fn submission(
    app: &App,
    options: &RunOptions,
    request: &AnalysisRequest,
) -> Result<Submission, AppError> {
    let loop_name = options.loop_name.clone().unwrap_or_else(|| USUAL_LOOP.to_owned());
    let options = RunOptions { loop_name: Some(loop_name), ..options.clone() };
    let workspace = frames::workspace(options.workspace.as_deref())?;
    let mut files = Vec::new();
    for file in &request.files {
        let path = if file.is_absolute() { file.clone() } else { workspace.join(file) };
        let shown = one_line(&file.display().to_string());
        if request.reach == FileReach::Workspace {
            inside(app, &workspace, file).map_err(|why| bad(format!("files: {shown}: {why}")))?;
        }
        let found = path.canonicalize().map_err(|error| bad(format!("files: {shown}: {error}")))?;
        files.push(found.display().to_string());
    }
    if let (FileReach::Workspace, Some(out)) = (request.reach, &request.out) {
        let shown = one_line(&out.display().to_string());
        out_inside(&workspace, out).map_err(|why| bad(format!("out: {shown}: {why}")))?;
    }
    if let Some(out) = &request.out {
        let taken = check_report_folder(Path::new(&absolute(out, &workspace)));
        taken.map_err(|error| bad(format!("out: {error}")))?;
    }
    if request.question.trim().is_empty() {
        return Err(bad("question: is empty".to_owned()));
    }
    let mut made = frames::submission(app, &options, request.question.trim())?;
    let environment = app.environment(&app.settings);
    let registry = environment.registry(workspace.clone(), &app.zone_name(), app.lang);
    let all = registry.map(|registry| registry.specs_of(|name| TOOLS.contains(&name)));
    made.frame.tools =
        crate::toolset::of(made.loop_name.as_str(), &made.frame.limits, all.unwrap_or_default());
    if made.frame.completion_mark.is_empty() && made.loop_name == USUAL_LOOP {
        made.frame.completion_mark = COMPLETION_MARK.to_owned();
    }
    let out = request.out.as_ref().map(|out| absolute(out, &workspace));
    let names: Vec<String> = files.iter().map(|file| named(file)).collect();
    let (mark, loop_name) = (&made.frame.completion_mark, made.loop_name.as_str());
    made.goal.context.push_str(&prompts::rules(&names, mark, loop_name));
    made.frame.analysis = Some(Box::new(AnalysisTerms {
        session: request.session.clone().unwrap_or_else(new_session),
        files,
        question: request.question.trim().to_owned(),
        out: out.unwrap_or_default(),
        share: request.share.unwrap_or(app.settings.analysis.share).name().to_owned(),
        past: Vec::new(),
    }));
    Ok(made)
}

/// Whether a tool could read this file: it lies in the workspace, no link leads out of it, and it
/// is none of those that are shut.
fn inside(app: &App, folder: &Path, file: &Path) -> Result<(), String> {
    let workspace = Workspace::open(folder).map_err(|error| error.to_string())?;
    let workspace = workspace.protecting(&[app.home.data().to_owned(), app.home.config_file()]);
    workspace.read(file, 1).map(drop).map_err(|error| error.to_string())
}

/// Whether a folder that may not be there yet lies in the workspace.
fn out_inside(folder: &Path, out: &Path) -> Result<(), String> {
    let workspace = Workspace::open(folder).map_err(|error| error.to_string())?;
    let inner = workspace.resolve(out).map_err(|error| error.to_string())?;
    let whole = workspace.root().join(inner);
    let there = whole.ancestors().find_map(|place| place.canonicalize().ok());
    match there.is_some_and(|place| place.starts_with(workspace.root())) {
        true => Ok(()),
        false => Err("a link leads out of the workspace".to_owned()),
    }
}

fn bad(detail: String) -> AppError {
    RunTypeError::BadInput { run_type: "analyze", detail }.into()
}

fn named(file: &str) -> String {
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    one_line(&name.unwrap_or_default())
}

fn absolute(path: &Path, folder: &Path) -> String {
    let path = if path.is_absolute() { path.to_owned() } else { folder.join(path) };
    path.display().to_string()
}

/// The analysis of a run, as its tools see it. A run that is no analysis has one of its own.
pub(crate) fn context(
    settings: &Settings,
    folder: PathBuf,
    workspace: Option<Arc<Workspace>>,
    terms: Option<&AnalysisTerms>,
    lang: Lang,
) -> AnalysisContext {
    AnalysisContext {
        folder,
        session: terms.map(|terms| terms.session.clone()),
        files: terms
            .map(|terms| terms.files.iter().map(PathBuf::from).collect())
            .unwrap_or_default(),
        past: terms.map(|terms| terms.past.clone()).unwrap_or_default(),
        share: terms
            .and_then(|terms| ShareLevel::parse(&terms.share))
            .unwrap_or(settings.analysis.share),
        workspace,
        query_timeout_ms: settings.analysis.query_timeout.ms(),
        rows_max: settings.analysis.max_rows,
        bytes_max: settings.analysis.max_bytes.bytes(),
        lang,
    }
}

/// The tools of an analysis beside the others.
pub(crate) fn with_tools(
    registry: Registry,
    settings: &Settings,
    analysis: &AnalysisContext,
    shell: Option<Arc<Shell>>,
) -> Registry {
    let timeout_ms = settings.analysis.timeout.ms();
    let code_ms = settings.tools.shell_timeout.ms();
    let code = shell.map(|shell| RunCode {
        analysis: analysis.clone(),
        shell,
        timeout_ms: code_ms,
        python: settings.analysis.python.clone(),
    });
    let registry = match code {
        Some(code) => registry.with(code),
        None => registry,
    };
    registry
        .with(ReadDataset { analysis: analysis.clone(), timeout_ms })
        .with(QueryDataset { analysis: analysis.clone(), timeout_ms })
        .with(MakeChart { analysis: analysis.clone() })
}

/// The last words of an analysis: its report, once that is written.
pub(crate) async fn last_words(
    folder: &Path,
    run: &RunId,
    frame: &Frame,
    status: Status,
    words: &str,
) -> Option<String> {
    let terms = frame.analysis.clone()?;
    if status == Status::Canceled {
        mark_ended(folder, run, &terms.session);
        return None;
    }
    let (folder, run, frame) = (folder.to_owned(), run.clone(), frame.clone());
    let words = words.to_owned();
    let zone = TimeZone::get(&frame.time_zone).unwrap_or(TimeZone::UTC);
    let now = moment(SystemClock.now()).to_zoned(zone);
    let made_at = now.strftime("%Y-%m-%d %H:%M").to_string();
    let work = move || match finish(&folder, &run, &frame, &terms, &words, &made_at) {
        Ok(words) => words,
        // The answer is not lost because its report cannot be written.
        Err(error) => format!("{words}\n\n---\n{}", error.text().in_lang(frame.language)),
    };
    tokio::task::spawn_blocking(work).await.ok()
}

/// Writes the report of an analysis that ends, and gives its last words: the report with its
/// numbers, and where it is.
fn finish(
    folder: &Path,
    run: &RunId,
    frame: &Frame,
    terms: &AnalysisTerms,
    words: &str,
    made_at: &str,
) -> Result<String, AnalysisError> {
    let data = DataFolder::new(folder.join(&terms.session));
    let out = match terms.out.as_str() {
        "" => Path::new(&frame.workspace).join("reports").join(run.short()),
        out => PathBuf::from(out),
    };
    let parts = ReportParts {
        words: words.to_owned(),
        question: terms.question.clone(),
        run: run.to_string(),
        made_at: made_at.to_owned(),
        lang: frame.language,
    };
    let workspace = Workspace::open(Path::new(&frame.workspace)).ok().map(Arc::new);
    let (all, lang) = (folder.to_owned(), frame.language);
    let context = context(&Settings::defaults(), all, workspace, Some(terms), lang);
    // A fork that asked nothing has its parent's results all the same.
    context.make_again(&data, &ReadLimits::default(), &QueryLimits::default())?;
    let written = write_report(&data, &out, &parts)?;
    let now = SystemClock.now();
    let entry = reports::entry(&written, run, &terms.question, &frame.workspace, now);
    reports::note(folder, &entry)?;
    mark_ended(folder, run, &terms.session);
    Ok(written_words(&written, frame.language))
}

fn written_words(written: &WrittenReport, lang: Lang) -> String {
    let place = written.folder.display().to_string();
    let told = text::analysis::report_written(&place).in_lang(lang);
    let count = counts_words(&written.counts, lang);
    format!("{}\n\n---\n{told}\n{count}", written.text)
}

/// Notes that the tables and results of a run are not needed once its ending is durable.
fn mark_ended(folder: &Path, run: &RunId, session: &str) {
    // Without the mark the folder stays until old data is cleared away.
    let _ = std::fs::write(mark_of(folder, run), session);
}

fn mark_of(folder: &Path, run: &RunId) -> PathBuf {
    let name: String =
        run.to_string().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    folder.join(format!("ended-{name}"))
}

/// Removes the tables and results of an analysis whose ending is durable.
pub(crate) fn forget(folder: &Path, run: &RunId) {
    let mark = mark_of(folder, run);
    let Ok(session) = std::fs::read_to_string(&mark) else { return };
    let is_name = !session.is_empty() && !session.contains(['/', '.']);
    if is_name {
        end_worker(&folder.join(&session));
        let _ = std::fs::remove_dir_all(folder.join(session));
    }
    let _ = std::fs::remove_file(mark);
}

/// Removes what analyses left that were cut short so long ago.
pub(crate) fn sweep(folder: &Path, older_than: Duration) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|found| found.modified());
        let age = age.ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > older_than) {
            let path = entry.path();
            // A folder that cannot be removed is found again the next time.
            let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
        }
    }
}

/// Loads files, works out their profile and writes its folder, if one is named. No model is asked.
///
/// # Errors
/// If a file cannot be read, or the folder cannot be written.
pub fn profile_files(
    app: &App,
    files: &[PathBuf],
    out: Option<&Path>,
    limits: &ReadLimits,
    on_progress: OnProgress<'_>,
) -> Result<DataProfile, AnalysisError> {
    let whole = files.iter().map(|file| file.canonicalize().unwrap_or_else(|_| file.clone()));
    let whole: Vec<PathBuf> = whole.collect();
    let files = if out.is_some() { whole.as_slice() } else { files };
    // What is loaded before a kill is found by the next start.
    let before = preload(app, files);
    let data = before.as_ref().map_or_else(|| data_folder(app, &new_session()), Preload::data);
    let timeout = Duration::from_millis(app.settings.analysis.timeout.ms());
    let queries = QueryLimits { timeout, cancel: limits.cancel.clone(), ..QueryLimits::default() };
    let found = load_all(&data, files, limits, on_progress).and_then(|tables| {
        let mut found = profile(&data, &tables, &queries, on_progress)?;
        if let Some(out) = out {
            // A page is shared: it names files, not places.
            found.tables.iter_mut().for_each(|table| table.file = named(&table.file));
            write_profile(&found, &tables, &profile_parts(app, &found), out)?;
        }
        Ok(found)
    });
    match before {
        Some(before) => before.forget(),
        None => drop(std::fs::remove_dir_all(data.path())),
    }
    found
}

fn load_all(
    data: &DataFolder,
    files: &[PathBuf],
    limits: &ReadLimits,
    on_progress: OnProgress<'_>,
) -> Result<Vec<LoadedTable>, AnalysisError> {
    let mut tables = Vec::new();
    for file in files {
        tables.extend(data.load(file, limits, on_progress)?);
    }
    Ok(tables)
}

fn profile_parts(app: &App, found: &DataProfile) -> ReportParts {
    let zone = TimeZone::get(&app.zone_name()).unwrap_or(TimeZone::UTC);
    let now = moment(SystemClock.now()).to_zoned(zone);
    ReportParts {
        words: profile_words(found, app.lang),
        question: text::analysis::profile::question().in_lang(app.lang),
        run: String::new(),
        made_at: now.strftime("%Y-%m-%d %H:%M").to_string(),
        lang: app.lang,
    }
}

/// A report that is to be checked.
#[derive(Debug, Clone, Default)]
pub struct CheckRequest {
    /// Its folder.
    pub report: PathBuf,
    /// Where its data is, if it is not where it was.
    pub data: Option<PathBuf>,
    /// Whether its code is run again.
    pub with_code: bool,
}

/// Computes every number of a report again. Code needs a runtime around this thread.
///
/// # Errors
/// If the report or its data cannot be read, or its code cannot be run.
pub fn check(
    app: &App,
    request: &CheckRequest,
    limits: &ReadLimits,
    on_progress: OnProgress<'_>,
) -> Result<CheckReport, AnalysisError> {
    let scratch = folder(app).join(new_session());
    let desk = std::env::temp_dir().join(new_session());
    let settings = &app.settings.analysis;
    let bounds = QueryLimits {
        timeout: Duration::from_millis(settings.query_timeout.ms()),
        rows_max: settings.max_rows,
        cancel: limits.cancel.clone(),
    };
    let run_again =
        |data: &DataFolder, cells: &[KeptCell]| code_again(app, &desk, data, cells, &bounds);
    let options = CheckOptions {
        limits,
        bounds: &bounds,
        data: request.data.as_deref(),
        code: request.with_code.then_some(&run_again as RunAgain<'_>),
    };
    let checked = check_report_with(&request.report, &scratch, options, on_progress);
    let _ = std::fs::remove_dir_all(&scratch);
    let _ = std::fs::remove_dir_all(&desk);
    checked
}

/// Runs the code of a report in a folder of its own, with copies of the data: what it writes is in
/// nobody's way.
fn code_again(
    app: &App,
    desk: &Path,
    data: &DataFolder,
    cells: &[KeptCell],
    bounds: &QueryLimits,
) -> Result<Vec<KeptCell>, AnalysisError> {
    let cannot = |path: &Path| {
        let path = path.to_owned();
        move |source| AnalysisError::Write { path, source }
    };
    // The data is nobody else's business.
    std::fs::DirBuilder::new().mode(0o700).create(desk).map_err(cannot(desk))?;
    for table in data.tables()? {
        let copy = table.file.file_name().map(|name| desk.join(name)).unwrap_or_default();
        if !copy.exists() {
            std::fs::copy(&table.file, &copy).map_err(cannot(&copy))?;
        }
    }
    let environment = app.environment(&app.settings);
    let shell = environment.shell_in(desk.to_owned());
    let no_sandbox = || AnalysisError::Refused("there is no sandbox for its code".to_owned());
    let code = CodeAgain {
        shell: shell.ok_or_else(no_sandbox)?,
        python: app.settings.analysis.python.clone(),
        timeout: Duration::from_millis(app.settings.tools.shell_timeout.ms()),
        bounds: bounds.clone(),
    };
    tokio::runtime::Handle::current().block_on(code.run(data, cells))
}
