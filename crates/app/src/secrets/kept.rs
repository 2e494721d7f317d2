//! Secrets that a person has put away: in the keychain where one answers, else in files of their
//! own that nobody else can read. A list of names stands beside the files: a keychain tells names
//! only with their values.

use super::{Reference, SecretError, is_name, keychain};
use crate::app::App;
use crate::settings::file;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

/// Why a secret was not kept or removed.
#[derive(Debug, thiserror::Error)]
pub enum KeptSecretError {
    /// The keychain failed.
    #[error(transparent)]
    Keychain(SecretError),
    /// The folder of the secrets cannot be changed.
    #[error("{}: {source}", folder.display())]
    NotWritten {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no secret of this name.
    #[error("no secret {0}")]
    NotThere(String),
}

/// Puts a secret into the keychain, if one answers here.
///
/// # Errors
/// If the keychain or the list of names fails.
pub(crate) fn keep_in_keychain(
    app: &App,
    name: &str,
    value: &str,
) -> Result<Option<Reference>, KeptSecretError> {
    let timeout_ms = app.settings.secrets.timeout.ms();
    if !keychain::is_there(timeout_ms) {
        return Ok(None);
    }
    keychain::keep(name, value, timeout_ms).map_err(KeptSecretError::Keychain)?;
    let mut names = in_keychain(app);
    names.insert(name.to_owned());
    write_names(app, &names)?;
    Ok(Some(Reference::Keychain(name.to_owned())))
}

/// Puts a secret into the keychain, or into a file if none answers or a file is wanted.
///
/// # Errors
/// If neither takes it.
pub fn keep(
    app: &App,
    name: &str,
    value: &str,
    in_file: bool,
) -> Result<Reference, KeptSecretError> {
    let in_keychain = if in_file { None } else { keep_in_keychain(app, name, value)? };
    match in_keychain {
        Some(reference) => Ok(reference),
        None => {
            let path = app.home.secrets().join(name);
            let written = file::write(&path, &format!("{value}\n"));
            written.map_err(|error| not_written(app, error))?;
            Ok(Reference::File(path))
        }
    }
}

/// Every secret by its name: those in the keychain first.
#[must_use]
pub fn list(app: &App) -> Vec<(String, Reference)> {
    let kept = in_keychain(app).into_iter().map(|name| (name.clone(), Reference::Keychain(name)));
    let files = in_files(app).into_iter().map(|name| {
        let path = app.home.secrets().join(&name);
        (name, Reference::File(path))
    });
    kept.chain(files).collect()
}

/// Removes a secret wherever it is.
///
/// # Errors
/// If there is none, or the keychain or the file cannot be changed.
pub fn remove(app: &App, name: &str) -> Result<(), KeptSecretError> {
    let mut names = in_keychain(app);
    let was_kept = names.remove(name);
    if was_kept {
        let timeout_ms = app.settings.secrets.timeout.ms();
        keychain::remove(name, timeout_ms).map_err(KeptSecretError::Keychain)?;
        write_names(app, &names)?;
    }
    let was_file = in_files(app).contains(name);
    if was_file {
        let removed = std::fs::remove_file(app.home.secrets().join(name));
        removed.map_err(|error| not_written(app, error))?;
    }
    if was_kept || was_file { Ok(()) } else { Err(KeptSecretError::NotThere(name.to_owned())) }
}

fn names_file(app: &App) -> PathBuf {
    app.home.secrets().join(".keychain")
}

fn in_keychain(app: &App) -> BTreeSet<String> {
    let text = std::fs::read_to_string(names_file(app)).unwrap_or_default();
    text.lines().filter(|name| is_name(name)).map(str::to_owned).collect()
}

fn write_names(app: &App, names: &BTreeSet<String>) -> Result<(), KeptSecretError> {
    let text: String = names.iter().map(|name| format!("{name}\n")).collect();
    file::write(&names_file(app), &text).map_err(|error| not_written(app, error))
}

fn in_files(app: &App) -> BTreeSet<String> {
    let found = std::fs::read_dir(app.home.secrets()).into_iter().flatten().flatten();
    found
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|it| is_name(it))
        .collect()
}

fn not_written(app: &App, source: io::Error) -> KeptSecretError {
    KeptSecretError::NotWritten { folder: app.home.secrets(), source }
}
