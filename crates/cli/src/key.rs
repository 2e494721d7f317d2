//! A model's key: from a variable of its provider, from the one that `model.key_env` names, else
//! from a file of its own. No key goes to a provider that it was not meant for.
//!
//! A file, because the keychains of desktops are not there on servers and in containers. It lies
//! beside the settings and not in them: settings are shown, copied and kept in repositories.

use crate::home::Home;
use crate::place::Place;
use crate::settings::Settings;
use everloop_models::{Secret, key_variables};
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

/// What `model.key_env` is unless somebody chose another one.
const USUAL: &str = "OPENAI_API_KEY";

/// The variables in which a provider's key is looked for; the first that is set counts.
pub(crate) fn variables<'s>(settings: &'s Settings, place: &Place<'_>) -> Vec<&'s str> {
    let (general, own) = (settings.text("model.key_env"), key_variables(place.provider));
    if place.provider == "openai" || own.is_empty() {
        return vec![general];
    }
    let meant = place.is_default && general != USUAL;
    own.into_iter().chain((meant || place.is_chosen()).then_some(general)).collect()
}

/// The key for what is asked at that place, if there is one.
pub(crate) fn find(
    settings: &Settings,
    file: &Path,
    place: &Place<'_>,
) -> Result<Option<Secret>, KeyError> {
    let set = |name: &&str| std::env::var(name).ok().filter(|key| !key.is_empty());
    if let Some(key) = variables(settings, place).iter().find_map(set) {
        return Ok(Some(Secret::new(key)));
    }
    if !place.is_default && !place.is_chosen() {
        return Ok(None);
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
