//! The model's key: from the variable that `model.key_env` names, else from a file of its own.
//!
//! A file, because the keychains of desktops are not there on servers and in containers. It lies
//! beside the settings and not in them: settings are shown, copied and kept in repositories.

use crate::home::Home;
use crate::settings::Settings;
use everloop_models::Secret;
use everloop_types::Lang;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Why the file with the key cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    /// Others could take the key.
    #[error("the key file {} can be read by others; chmod 600 it", .0.display())]
    Open(PathBuf),
    /// It was named and cannot be read.
    #[error("the key file {} cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
}

impl KeyError {
    /// For a person, with what to do.
    pub(crate) fn words(&self, lang: Lang) -> String {
        match self {
            Self::Open(path) => {
                let file = path.display().to_string();
                everloop_text::get(lang, "key.open_to_others", &[("file", &file)])
            }
            Self::Unreadable(path, error) => {
                let (file, detail) = (path.display().to_string(), error.to_string());
                let args = [("file", file.as_str()), ("detail", detail.as_str())];
                everloop_text::get(lang, "key.unreadable", &args)
            }
        }
    }
}

/// The file for the key: the one that was named, else the one beside the settings.
pub(crate) fn file(settings: &Settings, home: &Home) -> PathBuf {
    match settings.text("model.key_file") {
        "" => home.key_file(),
        name => PathBuf::from(name),
    }
}

/// The key, if there is one.
pub(crate) fn find(settings: &Settings, file: &Path) -> Result<Option<Secret>, KeyError> {
    if let Ok(key) = std::env::var(settings.text("model.key_env"))
        && !key.is_empty()
    {
        return Ok(Some(Secret::new(key)));
    }
    let named = !settings.text("model.key_file").is_empty();
    let broken = |error| KeyError::Unreadable(file.to_owned(), error);
    match std::fs::metadata(file) {
        // Only a file that was named must be there.
        Err(error) if named => return Err(broken(error)),
        Err(_) => return Ok(None),
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            return Err(KeyError::Open(file.to_owned()));
        }
        Ok(_) => {}
    }
    let text = std::fs::read_to_string(file).map_err(broken)?;
    let key = text.trim();
    Ok((!key.is_empty()).then(|| Secret::new(key)))
}
