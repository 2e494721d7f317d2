//! The first run, but for its questions: keys that are there already, names of models as they are
//! typed, and the settings that come of the answers.

mod adding;
mod choice;
mod draft;

pub use adding::{AddModelError, AddedModel, ModelToAdd};
pub use choice::{
    CUSTOM_PROVIDER, ProviderAnswer, ProviderChoice, listed_providers, plain_answer,
    provider_called, read_language,
};
pub use draft::{SetupDraft, WrittenSetup};

use crate::app::App;
use crate::config::{self, ConfigError};
use crate::error::AppError;
use crate::frames::default_model;
use crate::key;
use crate::models::lists::LocalModels;
use crate::place::{self, ModelPlace, address_variable};
use crate::secrets::{self, Reference, kept};
use crate::settings::{SettingKind, file, keys, redact};
use everloop_models::{key_variables, providers};
use std::io;
use std::path::{Path, PathBuf};

/// What is proposed of each provider's models.
const PROPOSED: [(&str, &str); 9] = [
    ("openai", "gpt-5-mini"),
    ("anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-flash"),
    ("deepseek", "deepseek-chat"),
    ("qwen", "qwen-plus"),
    ("qwen-intl", "qwen-plus"),
    ("glm", "glm-4.6"),
    ("glm-intl", "glm-4.6"),
    ("xai", "grok-4"),
];

/// The variable that names the model.
pub const MODEL_VARIABLE: &str = "EVERLOOP_MODEL";

const NAME_CHARS_MAX: usize = 200;

/// A name where nobody says which there are.
const EXAMPLE: &str = "gpt-5-mini";

/// The provider that a person chose, where it is asked, and with which key.
pub struct ChosenProvider {
    /// As in `provider/model`.
    pub provider: String,
    /// Empty for the usual address, or for the one that the environment names.
    pub url: String,
    /// What was typed; empty if nothing was.
    pub key: String,
    /// The models that are offered there.
    pub offered: Vec<String>,
}

impl ChosenProvider {
    /// What listens on this machine; it needs no key.
    #[must_use]
    pub fn local(local: LocalModels) -> Self {
        let provider = local.provider().to_owned();
        let offered = vec![local.first().to_owned()];
        let is_usual = everloop_models::usual_url(&provider) == local.url;
        let url = if is_usual { String::new() } else { local.url };
        Self { provider, url, key: String::new(), offered }
    }

    /// The model that needs no question: the one that is proposed, or the only one that is offered.
    #[must_use]
    pub fn sole_model(&self, app: &App) -> Option<String> {
        let proposed = proposed(app, &self.provider).filter(|_| self.url.is_empty());
        match (proposed, self.offered.as_slice()) {
            (Some(proposed), []) => Some(proposed.to_owned()),
            (Some(proposed), some) if some.iter().any(|name| name == proposed) => {
                Some(proposed.to_owned())
            }
            (_, [only]) => Some(only.clone()),
            _ => None,
        }
    }

    /// The settings without what was said of the former model without its name: it would be the
    /// new one's now.
    ///
    /// # Errors
    /// If the settings cannot be edited.
    fn without_former(&self, app: &App) -> Result<(String, Option<FormerKey>), AppError> {
        let mut text = app.sources.text.clone().unwrap_or_default();
        let old = app.settings.owner(keys::model::key_file()).to_owned();
        let new = self.provider.as_str();
        let key_file = app.key_file();
        let edited = ConfigError::NotEditable;
        let mut former = None;
        if old != new && key_file.exists() {
            let kept = app.home.secrets().join(key_name(&old));
            let reference = Reference::File(kept.clone()).to_string();
            former = Some(FormerKey { from: key_file, to: kept, not_for: new.to_owned() });
            let key = format!("providers.{old}.key");
            text = file::with(&text, &key, SettingKind::Reference, &reference).map_err(edited)?;
        }
        let address = app.settings.model.base_url.as_str();
        let owner = app.settings.owner(keys::model::base_url());
        let mut gone = vec![
            keys::model::key().as_str(),
            keys::model::key_command().as_str(),
            keys::model::key_env().as_str(),
        ];
        if owner != new || !self.url.is_empty() {
            gone.push(keys::model::base_url().as_str());
        }
        // An address that a person gave stays that of its provider.
        let is_in_file = app.settings.origin(keys::model::base_url()).rank() == 1;
        if owner != new && is_in_file && app.settings.own_address_of(owner).is_empty() {
            let key = format!("providers.{owner}.base_url");
            text = file::with(&text, &key, SettingKind::Text, address).map_err(edited)?;
        }
        // A key belongs to the address that it was given for.
        let own_key = format!("providers.{new}.key");
        let is_elsewhere = !self.url.is_empty() && app.settings.own_address_of(new) != self.url;
        if self.key.is_empty() && is_elsewhere {
            gone.push(&own_key);
        }
        for key in gone {
            text = file::without(&text, key).map_err(edited)?.unwrap_or(text);
        }
        Ok((text, former))
    }
}

/// The key file of the former provider, which is to lie among the other keys.
struct FormerKey {
    from: PathBuf,
    to: PathBuf,
    /// The new provider, which must not get it.
    not_for: String,
}

/// Puts a provider's key into the keychain, else into a file of its own.
///
/// # Errors
/// If neither takes it.
pub fn keep_key(app: &App, key: &str, provider: &str) -> Result<Reference, AppError> {
    let name = key_name(provider);
    if let Some(kept) = kept::keep_in_keychain(app, &name, key)? {
        secrets::forget(&kept);
        return Ok(kept);
    }
    let path = app.home.secrets().join(name);
    // A file that others could read is replaced, not filled.
    let _ = std::fs::remove_file(&path);
    file::write(&path, &format!("{key}\n")).map_err(|error| not_kept(&path, error))?;
    let kept = Reference::File(path);
    secrets::forget(&kept);
    Ok(kept)
}

/// Writes answers to the settings file; its new text.
///
/// # Errors
/// If one of them holds a key, or the file cannot be edited or written.
pub fn write_answers(app: &App, lines: &[(&str, &str)]) -> Result<String, AppError> {
    let mut text = app.sources.text.clone().unwrap_or_default();
    for (key, value) in lines {
        text = config::with_setting(&text, key, value)?;
    }
    config::write(app, &text)?;
    Ok(text)
}

/// What a provider's key is called where secrets are.
fn key_name(provider: &str) -> String {
    format!("model-{provider}")
}

fn not_kept(path: &Path, source: io::Error) -> ConfigError {
    ConfigError::KeyNotKept { file: path.to_owned(), source }
}

/// Whether something could be asked at this address, and it holds no key.
#[must_use]
pub fn is_address(text: &str) -> bool {
    everloop_models::connect("openai/x", everloop_models::Endpoint::at(text)).is_ok()
        && !redact::looks_like_a_key(text)
}

/// Whether a variable has a value.
#[must_use]
pub fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty())
}

/// Whether a flag, a variable or the settings say which language a person reads.
#[must_use]
pub fn language_is_said(app: &App) -> bool {
    let is_named = app.sources.lang.is_some() || is_set("EVERLOOP_LANG");
    is_named || app.settings.ui.language.is_some()
}

/// Whether a provider runs on the person's own machine, where nobody wants a key.
#[must_use]
pub fn needs_no_key(provider: &str) -> bool {
    providers().any(|known| known.name == provider) && key_variables(provider).is_empty()
}

/// The model that a variable names; it counts in every new process until it is unset.
#[must_use]
pub fn model_of_variable() -> Option<String> {
    std::env::var(MODEL_VARIABLE).ok().filter(|name| !name.is_empty())
}

/// Reads a key as it was typed, so that it is never shown; nothing if it is an address.
#[must_use]
pub fn typed_key(typed: &str) -> Option<String> {
    let key = typed.trim().to_owned();
    if key.contains("://") {
        return None;
    }
    secrets::redactor().learn(&key);
    Some(key)
}

/// What is proposed of a provider's models, where it is asked at its usual address.
#[must_use]
pub fn proposed(app: &App, provider: &str) -> Option<&'static str> {
    let name = format!("{provider}/");
    if ModelPlace::of(&app.settings, &name).address() != everloop_models::usual_url(provider) {
        return None;
    }
    PROPOSED.iter().find(|(name, _)| *name == provider).map(|(_, model)| *model)
}

/// A provider that the environment has a key or an address for.
pub struct FoundProvider {
    /// As in `provider/model`.
    pub provider: String,
    /// The variables that were found.
    pub variables: Vec<String>,
}

/// Every provider that could be asked at once, in the order in which one is chosen.
#[must_use]
pub fn found_providers(app: &App) -> Vec<FoundProvider> {
    // The best known goes first.
    let first = providers().filter(|known| known.name == "openai");
    let others = providers().filter(|known| known.name != "openai");
    let mut used: Vec<String> = Vec::new();
    let found = first.chain(others).map(|known| {
        let mut variables = key::variables(&app.settings, known.name);
        // A variable that regional siblings share is taken for the first of them.
        variables.retain(|name| is_set(name) && !used.contains(name));
        variables.truncate(1);
        used.extend(variables.iter().cloned());
        let address = address_variable(known.name);
        if std::env::var(&address).is_ok_and(|it| is_address(&it)) {
            variables.push(address);
        }
        FoundProvider { provider: known.name.to_owned(), variables }
    });
    found.filter(|found| !found.variables.is_empty()).collect()
}

/// The variables that name the model, its address and its key; none if no variable names a model.
#[must_use]
pub fn model_variables(app: &App) -> Option<Vec<String>> {
    model_of_variable()?;
    let model = default_model(app);
    let provider = place::provider(&model);
    let mut names = vec![MODEL_VARIABLE.to_owned(), address_variable(provider)];
    names.extend(key::variables(&app.settings, provider));
    names.retain(|name| is_set(name));
    Some(names)
}

impl FoundProvider {
    /// The model to propose: the usual one if it is offered, else the first that is.
    #[must_use]
    pub fn proposal(&self, app: &App, offered: &[String]) -> Option<String> {
        let usual = proposed(app, &self.provider).map(str::to_owned);
        let name = match usual {
            Some(name) if offered.is_empty() || offered.contains(&name) => Some(name),
            _ => offered.first().cloned(),
        };
        name.map(|name| full_name(&self.provider, &name, offered))
    }

    /// Whether a name is one of this provider's models.
    #[must_use]
    pub fn is_of(&self, name: &str) -> bool {
        name.split_once('/').is_some_and(|(provider, _)| provider == self.provider)
    }
}

/// The name with the provider in front. What the endpoint itself calls `openai/x` keeps that.
#[must_use]
pub fn full_name(provider: &str, name: &str, offered: &[String]) -> String {
    let has_it = name.split_once('/').is_some_and(|(first, _)| first == provider);
    match has_it && !offered.iter().any(|known| known == name) {
        true => name.to_owned(),
        false => format!("{provider}/{name}"),
    }
}

/// Why the name of a model is asked for again.
#[derive(Debug, PartialEq, Eq)]
pub enum NameProblem {
    /// It looks like a key.
    IsKey,
    /// It cannot be a name; one that could be.
    Malformed(String),
    /// Nobody offers it; typed again it is meant.
    NotOffered,
}

/// The names of models that are typed for one question.
pub struct TypedNames<'a> {
    /// What the endpoint offers; empty if it does not say.
    pub offered: &'a [String],
    /// One that nobody offers; typed again it is meant.
    doubted: Option<String>,
}

impl<'a> TypedNames<'a> {
    /// None is typed yet.
    #[must_use]
    pub fn new(offered: &'a [String]) -> Self {
        Self { offered, doubted: None }
    }

    /// Whether a name can be used.
    ///
    /// # Errors
    /// Why it is to be asked for again.
    pub fn check(&mut self, name: &str) -> Result<(), NameProblem> {
        let bare = name.split_once('/').map_or(name, |(_, bare)| bare);
        if self.offered.iter().any(|known| known == name || known == bare) {
            return Ok(());
        }
        if redact::looks_like_a_key(name) {
            return Err(NameProblem::IsKey);
        }
        if !is_name(name) {
            let example = self.offered.first().map_or(EXAMPLE, String::as_str);
            return Err(NameProblem::Malformed(example.to_owned()));
        }
        if self.offered.is_empty() || self.doubted.as_deref() == Some(name) {
            return Ok(());
        }
        self.doubted = Some(name.to_owned());
        Err(NameProblem::NotOffered)
    }
}

/// `model`, `model:tag`, `house/model`: no sentence and no address.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._:/@+-".contains(c);
    let parts = || text.split('/');
    text.len() <= NAME_CHARS_MAX
        && text.chars().all(fits)
        && text.chars().any(|c| c.is_ascii_alphanumeric())
        && parts().all(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gets_its_provider_once_and_the_endpoint_has_the_last_word() {
        let offered = ["openai/gpt-5".to_owned()];
        assert_eq!(full_name("openai", "qwen3:8b", &[]), "openai/qwen3:8b");
        assert_eq!(full_name("openai", "openai/gpt-5", &[]), "openai/gpt-5");
        assert_eq!(full_name("openai", "openai/gpt-5", &offered), "openai/openai/gpt-5");
        assert_eq!(full_name("gemini", "flash", &[]), "gemini/flash");
    }

    #[test]
    fn an_address_is_told_from_a_key() {
        for (text, is) in [
            ("http://127.0.0.1:8080/v1", true),
            ("https://api.example.com", true),
            ("sk-abcdefg", false),
            ("gpt-5", false),
            ("http://me:secret@host/v1", false),
        ] {
            assert_eq!(is_address(text), is, "{text}");
        }
    }

    #[test]
    fn a_name_is_one_word_and_no_address() {
        for name in ["gpt-5-mini", "qwen2.5:7b", "Qwen/Qwen2.5-7B-Instruct", "claude@20250101"] {
            assert!(is_name(name), "{name}");
        }
        for text in [
            "the cheap one please",
            "随便用一个便宜的",
            "gpt 5",
            "http://h/v1",
            "a/",
            "",
            "---",
            "gpt-5，谢谢",
        ] {
            assert!(!is_name(text), "{text}");
        }
    }
}
