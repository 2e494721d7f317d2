//! Todos and the schedule, to and from other programs' files.

use crate::app::App;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::portable::{self, What, exchange_words};
use everloop_store::Store;
use everloop_text::{self as text, Text};
use std::fmt::Display;
use std::io::{Read, Write};
use std::path::Path;

/// Bytes of a file that are read.
const FILE_BYTES_MAX: u64 = 32 << 20;

/// `todo export`, `schedule export`: into a file that was not there, or to stdout.
pub(crate) async fn export(app: &App, what: What, file: Option<&Path>) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let text = exported(app, &store, what).await?;
    match file {
        None => terminal::data(text.trim_end_matches('\n')),
        Some(file) => app.note(text::chat::written(&written(app, file, &text)?)),
    }
    Ok(Exit::Done)
}

/// `todo import`, `schedule import`.
pub(crate) async fn import(app: &App, what: What, file: &Path) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    terminal::answer(&imported(app, &store, what, file).await?);
    Ok(Exit::Done)
}

/// What other programs read.
pub(crate) async fn exported(app: &App, store: &Store, what: What) -> Result<String, Failure> {
    let text = portable::export(what, store, &app.reader()).await;
    text.map_err(|error| app.store_failure(&error))
}

/// Takes a file in, and says what came of it. The same file twice changes nothing.
pub(crate) async fn imported(
    app: &App,
    store: &Store,
    what: What,
    file: &Path,
) -> Result<String, Failure> {
    let reader = app.reader();
    let text = read(app, file)?;
    let done = portable::import(what, &text, &app.desk(store.clone()), &reader).await;
    let done = done.map_err(|error| app.store_failure(&error))?;
    Ok(exchange_words(&reader, &done))
}

/// Writes a file that was not there; what is there is never overwritten.
pub(crate) fn written(app: &App, file: &Path, text: &str) -> Result<String, Failure> {
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
    let written = made.and_then(|mut made| {
        made.write_all(text.as_bytes())?;
        made.sync_all()
    });
    written.map_err(|error| bad_file(app, file, text::chat::not_written, &error))?;
    Ok(file.display().to_string())
}

fn read(app: &App, file: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(file)
        .and_then(|open| open.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|error| bad_file(app, file, text::exchange::not_read, &error))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let most = (FILE_BYTES_MAX >> 20).to_string();
        let words = app.text(text::exchange::too_long(&most));
        return Err(Failure { exit: Exit::Usage, words });
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn bad_file(
    app: &App,
    file: &Path,
    text: fn(&dyn Display, &dyn Display) -> Text,
    error: &std::io::Error,
) -> Failure {
    app.failure(Exit::Usage, text(&file.display(), error))
}
