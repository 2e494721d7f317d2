//! Todos and the schedule, to and from other programs' files.

use crate::app::App;
use crate::error::{AppError, FileError};
use everloop_agenda::portable::{self, ImportSummary, PortableContent};
use everloop_agenda::show::DisplayContext;
use everloop_store::Store;
use std::io::{Read, Write};
use std::path::Path;

/// Bytes of a file that are read.
const FILE_BYTES_MAX: u64 = 32 << 20;

/// What other programs read.
///
/// # Errors
/// If the store fails.
pub async fn export(
    reader: &DisplayContext,
    store: &Store,
    what: PortableContent,
) -> Result<String, AppError> {
    Ok(portable::export(what, store, reader).await?)
}

/// Takes a file in. The same file twice changes nothing.
///
/// # Errors
/// If the file cannot be read, or the store fails.
pub async fn import(
    app: &App,
    reader: &DisplayContext,
    store: &Store,
    what: PortableContent,
    file: &Path,
) -> Result<ImportSummary, AppError> {
    let text = read(file)?;
    Ok(portable::import(what, &text, &app.agenda(store.clone()), reader).await?)
}

/// Writes a file that was not there; what is there is never overwritten.
///
/// # Errors
/// [`FileError::NotWritten`].
pub fn write_new(file: &Path, text: &str) -> Result<(), AppError> {
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
    let written = made.and_then(|mut made| {
        made.write_all(text.as_bytes())?;
        made.sync_all()
    });
    written.map_err(|source| FileError::NotWritten { file: file.to_owned(), source }.into())
}

fn read(file: &Path) -> Result<String, AppError> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(file)
        .and_then(|open| open.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|source| FileError::NotRead { file: file.to_owned(), source })?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(FileError::TooLong(FILE_BYTES_MAX).into());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
