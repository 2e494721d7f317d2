//! `everloop export` and `everloop import`: whole runs from one data folder to another.

use crate::args::{ExportArgs, ImportArgs};
use crate::build;
use everloop_app::error::chain;
use everloop_app::portable::{
    self, ExportFile, ExportOutput, ExportProblem, ImportProblem, RunImportReport, RunImportResult,
};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_engine::{ExportError, ImportError};
use everloop_store::{Store, StoreError};
use everloop_text::{self as text, Text};
use everloop_types::{RunId, one_line};
use serde_json::json;
use std::io::{self, Read};
use std::path::Path;

pub(crate) async fn export(app: &Console, args: &ExportArgs) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let runs = chosen(app, &store, args).await?;
    let name = args.out.display().to_string();
    let is_screen = args.out == Path::new("-");
    let out: io::Result<Box<dyn ExportOutput>> = match is_screen {
        true => Ok(Box::new(ExportToScreen)),
        false => ExportFile::create(&args.out).map(|file| Box::new(file) as _),
    };
    let no_file = |error| app.failure(Exit::Failed, text::export::no_file(&name, &error));
    let mut out = out.map_err(no_file)?;
    let damaged = |run: &RunId, error: &StoreError| {
        app.note(text::export::damaged(run, &chain(error)));
    };
    // Where all are wanted, one that is damaged keeps none of the others back.
    let on_damaged: Option<portable::OnDamagedRun<'_>> = args.all.then_some(&damaged);
    let written = portable::export(&store, &runs, build::VERSION, &mut *out, on_damaged).await;
    let written = written.map_err(|error| {
        // Half an export is none: without its last line nobody takes it in.
        if !is_screen {
            let _ = std::fs::remove_file(&args.out);
        }
        no_export(app, error)
    })?;
    // On stdout stands the export itself, which is JSON.
    if args.json && !is_screen {
        terminal::print_json(&json!({"file": name, "runs": written}));
    }
    app.note(text::export::done(&written, &name));
    Ok(if written == runs.len() { Exit::Done } else { Exit::Data })
}

/// An export as the answer of the command.
struct ExportToScreen;

impl ExportOutput for ExportToScreen {
    fn line(&mut self, line: &str) -> io::Result<()> {
        terminal::print_line(line);
        terminal::unwritten().map_or(Ok(()), Err)
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn chosen(app: &Console, store: &Store, args: &ExportArgs) -> Result<Vec<RunId>, Failure> {
    let mut runs = app.checked(portable::find_runs(app, store, &args.id).await)?;
    if args.all {
        let (resting, running) = app.checked(portable::all_runs(store).await)?;
        running.iter().for_each(|run| app.note(text::export::passed_over(run)));
        runs.extend(resting);
    }
    Ok(runs)
}

fn no_export(app: &Console, error: ExportProblem) -> Failure {
    match error {
        ExportProblem::Run(ExportError::UnderWay(run)) => {
            app.failure(Exit::Failed, text::export::under_way(&run))
        }
        ExportProblem::Run(ExportError::Store(error)) => app.store_failure(&error),
        ExportProblem::HoldsSecret(run) => {
            app.failure(Exit::Data, text::export::holds_a_secret(&run))
        }
        ExportProblem::NotWritten(error) => {
            app.failure(Exit::Failed, text::error::unwritten(&error))
        }
    }
}

pub(crate) async fn import(app: &Console, args: &ImportArgs) -> Result<Exit, Failure> {
    let file = args.file.display().to_string();
    let bytes = read(&args.file)
        .map_err(|error| app.failure(Exit::Usage, text::import::no_file(&file, &error)))?;
    let parcels = portable::read_parcels(bytes).map_err(|problem| match problem {
        ImportProblem::HoldsSecret => app.failure(Exit::Data, text::import::holds_a_secret(&file)),
        ImportProblem::Unreadable(error) => no_import(app, &file, &error),
    })?;
    let store = app.open_store().await?;
    let mut exit = Exit::Done;
    for parcel in &parcels {
        let report = app.checked(portable::import(&store, parcel).await)?;
        if report.result == RunImportResult::Refused {
            exit = Exit::Failed;
        }
        if args.json {
            terminal::print_json(&report);
        } else {
            terminal::print_line(&app.text(imported(&report)));
        }
    }
    Ok(exit)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn imported(report: &RunImportReport) -> Text {
    let run = &report.run_id;
    match report.result {
        RunImportResult::Imported => text::import::new(run),
        RunImportResult::History => text::import::history(run),
        RunImportResult::AlreadyThere => text::import::already_there(run),
        RunImportResult::Refused => text::import::differs(run),
    }
}

fn no_import(app: &Console, file: &str, error: &ImportError) -> Failure {
    let file = &file;
    let text = match error {
        ImportError::NotAnExport => text::import::not_an_export(file),
        ImportError::Newer(format) => text::import::newer(file, format),
        ImportError::Damaged(line) => text::import::damaged(file, line),
        ImportError::NewerLine { line, what } => {
            text::import::NewerLine { file, line, what: &one_line(what) }.text()
        }
        ImportError::BreaksOff(line) => text::import::breaks_off(file, line),
        ImportError::OtherState { line, run } => {
            text::import::OtherState { id: run, file, line }.text()
        }
    };
    app.failure(Exit::Data, text)
}
