//! `everloop export` and `everloop import`: whole runs from one data folder to another.

use crate::args::{Export, Import};
use crate::build;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::error::chain;
use everloop_app::secrets;
use everloop_engine::{
    Clock, ExportError, ImportError, Parcel, SystemClock, export_footer, export_header,
    export_lines, read_export,
};
use everloop_store::portable::RunImport;
use everloop_store::{RunFilter, Store, StoreError};
use everloop_text as text;
use everloop_types::{RunId, Status, one_line};
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub(crate) async fn export(app: &Console, args: &Export) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let runs = chosen(app, &store, args).await?;
    let name = args.out.display().to_string();
    let mut out = Out::new(&args.out).map_err(|error| no_file(app, &name, &error))?;
    let written = match write(app, &store, &runs, args, &mut out).await {
        Ok(written) => written,
        Err(failure) => {
            // Half an export is none: without its last line nobody takes it in.
            if let Out::File(_) = out {
                let _ = std::fs::remove_file(&args.out);
            }
            return Err(failure);
        }
    };
    app.note(text::export::done(&written, &name));
    Ok(if written == runs.len() { Exit::Done } else { Exit::Data })
}

/// One run after the other, so that only one at a time is held in memory. Tells how many there are.
/// Where all are wanted, one that is damaged keeps none of the others back.
async fn write(
    app: &Console,
    store: &Store,
    runs: &[RunId],
    args: &Export,
    out: &mut Out,
) -> Result<usize, Failure> {
    let failed = |error: io::Error| app.failure(Exit::Failed, text::error::unwritten(&error));
    let mut begun = Some(export_header(build::VERSION, SystemClock.now()));
    let mut written = 0;
    for run in runs {
        let lines = match export_lines(store, run).await {
            Err(ExportError::Store(error @ StoreError::Damaged { .. })) if args.all => {
                app.note(text::export::damaged(&run, &chain(&error)));
                continue;
            }
            lines => lines.map_err(|error| no_export(app, &error))?,
        };
        written += 1;
        if lines.iter().any(|line| secrets::redactor().finds(line)) {
            let words = app.text(text::export::holds_a_secret(&run));
            return Err(Failure { exit: Exit::Data, words });
        }
        for line in begun.take().into_iter().chain(lines) {
            out.line(&line).map_err(failed)?;
        }
    }
    for line in begun.into_iter().chain([export_footer(written)]) {
        out.line(&line).map_err(failed)?;
    }
    out.close().map_err(failed)?;
    Ok(written)
}

/// Where an export goes.
enum Out {
    Screen,
    File(BufWriter<File>),
}

impl Out {
    /// A file that is there is never written over.
    fn new(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Screen);
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        Ok(Self::File(BufWriter::new(file)))
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        match self {
            Self::Screen => {
                terminal::answer(line);
                terminal::unwritten().map_or(Ok(()), Err)?;
            }
            Self::File(file) => writeln!(file, "{line}")?,
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        match self {
            Self::Screen => Ok(()),
            Self::File(file) => file.flush().and_then(|()| file.get_ref().sync_all()),
        }
    }
}

fn no_file(app: &Console, name: &str, error: &io::Error) -> Failure {
    let detail = error.to_string();
    Failure { exit: Exit::Failed, words: app.text(text::export::no_file(&name, &detail)) }
}

async fn chosen(app: &Console, store: &Store, args: &Export) -> Result<Vec<RunId>, Failure> {
    let mut runs = Vec::new();
    for id in &args.id {
        let run = app.find_run(store, id).await?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    if args.all {
        let filter = RunFilter { statuses: Vec::new(), before: None, most: usize::MAX };
        let all = store.runs().list(&filter).await.map_err(|error| app.store_failure(&error))?;
        for row in all.into_iter().rev() {
            match row.status {
                Status::Running => app.note(text::export::passed_over(&row.run)),
                _ => runs.push(row.run),
            }
        }
    }
    Ok(runs)
}

fn no_export(app: &Console, error: &ExportError) -> Failure {
    match error {
        ExportError::UnderWay(run) => {
            let words = app.text(text::export::under_way(&run));
            Failure { exit: Exit::Failed, words }
        }
        ExportError::Store(error) => app.store_failure(error),
    }
}

pub(crate) async fn import(app: &Console, args: &Import) -> Result<Exit, Failure> {
    let file = args.file.display().to_string();
    let bytes = read(&args.file).map_err(|error| {
        let detail = error.to_string();
        Failure { exit: Exit::Usage, words: app.text(text::import::no_file(&file, &detail)) }
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let whole = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = whole.iter().filter(|byte| **byte == b'\n').count() + 1;
        no_import(app, &file, &ImportError::Damaged(line))
    })?;
    // Its rows are checked byte by byte, so it is taken in as it is or not at all.
    if secrets::redactor().finds(&text) {
        let words = app.text(text::import::holds_a_secret(&file));
        return Err(Failure { exit: Exit::Data, words });
    }
    let parcels = read_export(&text).map_err(|error| no_import(app, &file, &error))?;
    let store = app.open_store().await?;
    let mut exit = Exit::Done;
    for parcel in &parcels {
        let taken = parcel.import(&store, SystemClock.now()).await;
        let taken = taken.map_err(|error| app.store_failure(&error))?;
        if taken == RunImport::Differs {
            exit = Exit::Failed;
        }
        tell(app, args, parcel, taken);
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

fn tell(app: &Console, args: &Import, parcel: &Parcel, taken: RunImport) {
    let run = &parcel.run;
    let (word, text) = match taken {
        RunImport::New if parcel.is_over() => ("imported", text::import::new(run)),
        RunImport::New => ("history", text::import::history(run)),
        RunImport::AlreadyThere => ("already_there", text::import::already_there(run)),
        RunImport::Differs => ("refused", text::import::differs(run)),
    };
    match args.json {
        true => terminal::answer(&json!({"run_id": parcel.run, "result": word}).to_string()),
        false => terminal::answer(&app.text(text)),
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
