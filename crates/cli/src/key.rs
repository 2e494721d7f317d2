//! A model's key: from where `model.key` or `model.key_command` says, from a variable of its
//! provider, from the one that `model.key_env` names, else from a file of its own. No key goes to a
//! provider that it was not meant for.
//!
//! A file, because the keychains of desktops are not there on servers and in containers. It lies
//! beside the settings and not in them: settings are shown, copied and kept in repositories.

use crate::home::Home;
use crate::place::Place;
use crate::secrets::{self, SecretError};
use crate::settings::Settings;
use everloop_models::{Secret, key_variables};
use std::path::{Path, PathBuf};

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
) -> Result<Option<Secret>, SecretError> {
    let is_meant = place.is_default || place.is_chosen();
    if let Some(reference) = secrets::of_model(settings).filter(|_| is_meant) {
        return secrets::resolve(&reference, settings).map(|key| Some(Secret::new(key)));
    }
    let set = |name: &&str| std::env::var(name).ok().filter(|key| !key.is_empty());
    if let Some(key) = variables(settings, place).iter().find_map(set) {
        return Ok(Some(Secret::new(key)));
    }
    // Only a file that was named must be there.
    let is_named = !settings.text("model.key_file").is_empty();
    if !is_meant || (!is_named && !file.exists()) {
        return Ok(None);
    }
    let text = secrets::read_private(file)?;
    let key = text.trim();
    Ok((!key.is_empty()).then(|| Secret::new(key)))
}
