//! A model's key: from where `providers.NAME.key`, `model.key` or `model.key_command` says, from a
//! variable of its provider or the one that `model.key_env` names, else from a file of its own. The
//! `model.key…` settings are those of the default model's provider: no key goes to another.
//!
//! A file, because the keychains of desktops are not there on servers and in containers. It lies
//! beside the settings and not in them: settings are shown, copied and kept in repositories.

use crate::home::Home;
use crate::place::{ModelPlace, in_capitals};
use crate::secrets::{self, Reference, SecretError};
use crate::settings::{SettingOrigin, Settings, keys};
use everloop_models::{Secret, key_variables, providers};
use std::fmt;
use std::path::{Path, PathBuf};

/// The file for the key: the one that was named, else the one beside the settings.
pub(crate) fn file(settings: &Settings, home: &Home) -> PathBuf {
    match settings.model.key_file.as_str() {
        "" => home.key_file(),
        name => PathBuf::from(name),
    }
}

/// A key, and where it came from.
pub(crate) struct ModelKey {
    pub secret: Secret,
    pub source: KeySource,
}

/// Where a key came from; never the key itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeySource {
    Variable(String),
    File(PathBuf),
    Reference(Reference),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) | Self::Reference(Reference::Environment(name)) => {
                f.write_str(name)
            }
            Self::File(path) | Self::Reference(Reference::File(path)) => path.display().fmt(f),
            // Its arguments are nobody's business.
            Self::Reference(Reference::Command(words)) => {
                write!(f, "command:{}", words.first().map_or("", String::as_str))
            }
            Self::Reference(Reference::Keychain(name)) => write!(f, "keychain:{name}"),
        }
    }
}

/// The variables in which a provider's key is looked for; the first that is set counts.
pub(crate) fn variables(settings: &Settings, provider: &str) -> Vec<String> {
    let own: Vec<String> = match key_variables(provider) {
        [] => vec![format!("{}_API_KEY", in_capitals(provider))],
        names => names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let named = settings.model.key_env.as_str();
    let is_named = *settings.origin(keys::model::key_env()) != SettingOrigin::Default
        && settings.owner(keys::model::key_env()) == provider
        && !named.is_empty();
    match is_named && !is_anothers(named, provider) {
        true => vec![named.to_owned()],
        false => own,
    }
}

/// Whether a variable holds the key of another provider, as far as is known. Who is not known may
/// be given any.
fn is_anothers(variable: &str, provider: &str) -> bool {
    let own = key_variables(provider);
    let others = providers().any(|other| other.key_variables.contains(&variable));
    !own.is_empty() && others && !own.contains(&variable)
}

/// The key for what is asked at that place, if there is one.
pub(crate) fn find(
    settings: &Settings,
    file: &Path,
    place: &ModelPlace<'_>,
) -> Result<Option<ModelKey>, SecretError> {
    let found = |reference: Reference| -> Result<Option<ModelKey>, SecretError> {
        let secret = Secret::new(secrets::resolve(&reference, settings)?);
        Ok(Some(ModelKey { secret, source: KeySource::Reference(reference) }))
    };
    if let Some(reference) = settings.key_of(place.provider) {
        return found(reference.clone());
    }
    let is_own = |key| settings.owner(key) == place.provider;
    let command = &settings.model.key_command;
    let named =
        is_own(if command.is_empty() { keys::model::key() } else { keys::model::key_command() });
    if let Some(reference) = secrets::of_model(settings).filter(|_| named) {
        return found(reference);
    }
    for name in variables(settings, place.provider) {
        if let Some(key) = std::env::var(&name).ok().filter(|key| !key.trim().is_empty()) {
            return Ok(Some(ModelKey {
                secret: Secret::new(key),
                source: KeySource::Variable(name),
            }));
        }
    }
    // Only a file that was named must be there.
    let is_named = !settings.model.key_file.is_empty();
    let is_own_file =
        is_own(keys::model::key_file()) && !secrets::is_withheld(file, place.provider);
    if !is_own_file || (!is_named && !file.exists()) {
        return Ok(None);
    }
    let text = secrets::read_private(file)?;
    let key = text.trim();
    let source = KeySource::File(file.to_owned());
    Ok((!key.is_empty()).then(|| ModelKey { secret: Secret::new(key), source }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, provider: &str) -> String {
        let path = Path::new("config.toml");
        variables(&Settings::read(Some((path, text)), &[], &[]).settings, provider).join(" ")
    }

    #[test]
    fn a_key_is_looked_for_in_its_providers_variables_only() {
        for known in providers().filter(|known| !known.key_variables.is_empty()) {
            assert_eq!(names("", known.name), known.key_variables.join(" "));
        }
        assert_eq!((names("", "my-hub"), names("", "vllm")).0, "MY_HUB_API_KEY");
        assert_eq!(names("", "vllm"), "VLLM_API_KEY");
    }

    #[test]
    fn the_variable_of_the_settings_is_that_of_the_default_models_provider() {
        let with = |default: &str, variable: &str| {
            format!("[model]\ndefault = \"{default}\"\nkey_env = \"{variable}\"\n")
        };
        assert_eq!(names(&with("openai/x", "MY_KEY"), "openai"), "MY_KEY");
        assert_eq!(names(&with("openai/x", "MY_KEY"), "anthropic"), "ANTHROPIC_API_KEY");
        assert_eq!(names(&with("hub/x", "OPENAI_API_KEY"), "hub"), "OPENAI_API_KEY");
        let foreign = with("anthropic/x", "OPENAI_API_KEY");
        assert_eq!(names(&foreign, "anthropic"), "ANTHROPIC_API_KEY");
    }

    #[test]
    fn a_source_names_the_place_and_not_the_key() {
        let words = ["pass", "show", "x"].map(str::to_owned).to_vec();
        let command = KeySource::Reference(Reference::Command(words));
        assert_eq!(command.to_string(), "command:pass");
        assert_eq!(KeySource::Variable("A_KEY".to_owned()).to_string(), "A_KEY");
    }
}
