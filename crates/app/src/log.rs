//! The log: spans and events of `tracing` as lines of text or JSON.
//!
//! ```text
//!   settings, EVERLOOP_LOG ──► LogPlan ──► filter ──► LineLayer ──► redactor ──► stderr or a file
//! ```
//!
//! A person's terminal stays clean: nothing is written to it unless this very call asks for it.
//! Without a plan no subscriber is set, and a span or an event costs one load of an atomic number.
//!
//! Deliberately absent: rotation of files, and colors.

mod line;
mod plan;

pub use plan::{LogFormat, LogLevel, LogPlan, LogSurface};

use crate::app::App;
use crate::audit_file::appending;
use crate::error::{AppError, FileError};
use crate::show::utc_timestamp;
use everloop_engine::{Clock, SystemClock};
use line::{LineLayer, LogLine};
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tracing_subscriber::layer::SubscriberExt;

/// The variable that overrides the settings of the log: a level, or a filter.
pub(crate) const VARIABLE: &str = "EVERLOOP_LOG";

/// The log of a service that writes all of its lines as JSON to stderr.
static SERVICE_LOG: OnceLock<Arc<LogWriter>> = OnceLock::new();

/// Starts the log of this process, if one is wanted. A second call changes nothing.
///
/// # Errors
/// [`AppError::Setting`] if `EVERLOOP_LOG` cannot be read, [`FileError::Log`] if the file cannot
/// be opened.
pub fn start(app: &App, surface: LogSurface) -> Result<(), AppError> {
    let variable = std::env::var(VARIABLE).unwrap_or_default();
    let on_terminal = io::stderr().is_terminal();
    let plan = LogPlan::new(&app.settings, &variable, surface, on_terminal)
        .map_err(|error| AppError::Setting(Box::new(error)))?;
    let Some(plan) = plan else { return Ok(()) };
    let sink = match plan.file() {
        Some(path) => {
            let failed =
                |source| AppError::from(FileError::Log { file: PathBuf::from(path), source });
            LogSink::File(Mutex::new(appending(Path::new(path)).map_err(failed)?))
        }
        None => LogSink::Stderr,
    };
    let takes_all_lines = surface == LogSurface::Service && matches!(sink, LogSink::Stderr);
    let (format, keeps_content) = (plan.format(), plan.keeps_content());
    let writer = Arc::new(LogWriter { sink, format, keeps_content });
    let layer = LineLayer::new(writer.clone());
    let subscriber = tracing_subscriber::registry().with(plan.filter()).with(layer);
    let is_first = tracing::subscriber::set_global_default(subscriber).is_ok();
    if is_first && takes_all_lines && format == LogFormat::Json {
        let _ = SERVICE_LOG.set(writer);
    }
    Ok(())
}

/// Writes a line that is meant for a person as JSON, where this process writes nothing else to
/// stderr. Tells whether it did.
pub fn take_line(level: LogLevel, words: &str) -> bool {
    let Some(writer) = SERVICE_LOG.get() else { return false };
    let mut line = LogLine::new(level.as_str(), "everloop");
    line.set("message", words.into());
    writer.write(&line);
    true
}

/// Whether lines for people must leave out goals, because they become lines of the log.
#[must_use]
pub fn hides_content() -> bool {
    SERVICE_LOG.get().is_some_and(|writer| !writer.keeps_content)
}

/// Where lines go.
enum LogSink {
    Stderr,
    File(Mutex<File>),
}

/// Writes lines, each with one call.
struct LogWriter {
    sink: LogSink,
    format: LogFormat,
    keeps_content: bool,
}

impl LogWriter {
    /// A log that cannot be written is no reason to stop working.
    fn write(&self, line: &LogLine) {
        let time = utc_timestamp(SystemClock.now());
        let text = match self.format {
            LogFormat::Json => line.json(&time),
            LogFormat::Text => everloop_tools::clean(line.text(&time).as_bytes()),
        };
        let text = format!("{}\n", crate::secrets::redactor().text(&text));
        let _ = match &self.sink {
            LogSink::Stderr => io::stderr().lock().write_all(text.as_bytes()),
            LogSink::File(file) => {
                file.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes())
            }
        };
    }
}
