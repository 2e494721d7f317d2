//! Changing the settings file, and what is in force then.

use crate::app::App;
use crate::database::Database;
use crate::error::AppError;
use crate::models::survey::{ProviderInUse, ProviderReport, survey};
use crate::place;
use crate::settings::file::{self, EditError};
use crate::settings::providers::ProviderPart;
use crate::settings::{
    self, EffectiveSetting, LoadedSettings, SettingError, SettingOrigin, SettingProblem,
    SettingTarget, keys, providers, redact,
};
use serde::Serialize;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;

/// Why the settings were not changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no such setting, or the value does not fit it.
    #[error("the setting {} cannot be changed so", .0.key)]
    Setting(Box<SettingError>),
    /// The value looks like a key.
    #[error("the value looks like a key")]
    ValueIsKey,
    /// The value names no database.
    #[error("no such database")]
    UnknownDatabase,
    /// The file cannot be changed line by line.
    #[error(transparent)]
    NotEditable(EditError),
    /// The file cannot be read or written.
    #[error("{0}")]
    NotWritten(String),
    /// A key could not be put into a file of its own.
    #[error("{}: {source}", file.display())]
    KeyNotKept {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl ConfigError {
    /// Whether something else has to be typed; else the file or the machine is the cause.
    #[must_use]
    pub const fn is_about_the_input(&self) -> bool {
        matches!(self, Self::Setting(_) | Self::ValueIsKey | Self::UnknownDatabase)
    }
}

/// What is in force after a change.
pub enum SettingNow {
    /// A setting, which a variable or a flag may decide.
    Setting(EffectiveSetting),
    /// A provider, if it is in use.
    Provider(Option<ProviderInUse>),
}

/// A setting that was changed.
pub struct SettingChange {
    /// What is in force now.
    pub now: SettingNow,
    /// The former and the new provider, if the new one takes over the address and the key that
    /// stand in the settings without a name.
    pub new_owner: Option<(String, String)>,
}

/// The settings in force, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct ConfigReport {
    /// The settings file.
    pub config_file: String,
    /// The providers that could be asked.
    pub providers: Vec<ProviderReport>,
    /// Every setting.
    pub settings: Vec<EffectiveSetting>,
}

impl ConfigReport {
    /// What is in force.
    ///
    /// # Errors
    /// [`AppError::Setting`] if a setting cannot be used.
    pub fn read(app: &App) -> Result<Self, AppError> {
        check_usable(app)?;
        Ok(Self {
            config_file: app.sources.path.display().to_string(),
            providers: survey(app).iter().map(ProviderInUse::report).collect(),
            settings: app.sources.effective(&app.settings),
        })
    }
}

/// Settings of which some cannot be used are not shown as if they were in force.
///
/// # Errors
/// [`AppError::Setting`] for the first that cannot be used.
pub fn check_usable(app: &App) -> Result<(), AppError> {
    match app.faults.first() {
        Some(fault) => Err(AppError::Setting(Box::new(fault.clone()))),
        None => Ok(()),
    }
}

/// The value of a setting, or of the address or key of a provider, without secrets.
///
/// # Errors
/// If there is no such setting, or one cannot be used.
pub fn get(app: &App, key: &str) -> Result<String, AppError> {
    if let Some((provider, part)) = providers::named(key) {
        check_usable(app)?;
        return Ok(match part {
            ProviderPart::BaseUrl => redact::shown(app.settings.own_address_of(provider)),
            ProviderPart::Key => {
                app.settings.key_of(provider).map_or_else(String::new, |at| at.to_string())
            }
        });
    }
    let key = settings::find(key, SettingOrigin::CommandLine).map_err(wrong_usage)?.key;
    check_usable(app)?;
    let all = app.sources.effective(&app.settings);
    let setting = all.into_iter().find(|setting| setting.key == key);
    Ok(setting.map(|setting| setting.value).unwrap_or_default())
}

/// The text of the file; a file that cannot be read is not written over.
///
/// # Errors
/// [`ConfigError::NotWritten`] if it could not be read.
pub fn current_text(app: &App) -> Result<String, AppError> {
    match &app.sources.trouble {
        Some(detail) => Err(not_written(detail).into()),
        None => Ok(app.sources.text.clone().unwrap_or_default()),
    }
}

/// Writes the settings file.
///
/// # Errors
/// [`ConfigError::NotWritten`].
pub fn write(app: &App, text: &str) -> Result<(), AppError> {
    file::write(&app.sources.path, text).map_err(|error| not_written(&error).into())
}

/// That the file cannot be written.
pub fn not_written(detail: &dyn Display) -> ConfigError {
    ConfigError::NotWritten(detail.to_string())
}

/// The text with one setting changed, if the setting exists and its value can be shown.
///
/// # Errors
/// [`ConfigError`].
pub(crate) fn with_setting(text: &str, key: &str, value: &str) -> Result<String, AppError> {
    let target = SettingTarget::find(key, SettingOrigin::CommandLine).map_err(wrong_usage)?;
    // The settings are shown and copied; a key that gets there is lost.
    if redact::looks_like_a_key(value) {
        return Err(ConfigError::ValueIsKey.into());
    }
    let changed = file::with(text, key, target.kind(), value);
    changed.map_err(|error| ConfigError::NotEditable(error).into())
}

/// Changes one setting in the file.
///
/// # Errors
/// [`ConfigError`].
pub fn set(app: &App, key: &str, text: &str) -> Result<SettingChange, AppError> {
    let target = SettingTarget::find(key, SettingOrigin::CommandLine).map_err(wrong_usage)?;
    if redact::looks_like_a_key(text) {
        return Err(ConfigError::ValueIsKey.into());
    }
    let text = text.trim();
    target.check(text).map_err(|mismatch| {
        let key = key.to_owned();
        let origin = SettingOrigin::CommandLine;
        let problem = SettingProblem::Mismatch(mismatch);
        wrong_usage(SettingError { key, origin, problem })
    })?;
    let is_database = key == keys::store::database().as_str();
    if is_database && Database::named(text, &app.home).is_none() {
        return Err(ConfigError::UnknownDatabase.into());
    }
    let changed = with_setting(&current_text(app)?, key, text)?;
    write(app, &changed)?;
    Ok(SettingChange { now: in_force(app, key, changed), new_owner: new_owner(app, key, text) })
}

/// Removes one setting from the file; nothing if it was not there.
///
/// # Errors
/// [`ConfigError`], also if it was not there and nobody knows such a setting.
pub fn unset(app: &App, key: &str) -> Result<Option<SettingNow>, AppError> {
    let without = file::without(&current_text(app)?, key).map_err(ConfigError::NotEditable)?;
    match without {
        Some(text) => {
            write(app, &text)?;
            Ok(Some(in_force(app, key, text)))
        }
        // A key that stands in the file may go even if nobody knows it.
        None => {
            settings::find(key, SettingOrigin::CommandLine).map_err(wrong_usage)?;
            Ok(None)
        }
    }
}

/// What is wrong with the settings if this is the text of their file.
pub struct ConfigCheck {
    /// Each fault, with the line on which it is.
    pub faults: Vec<(SettingError, Option<usize>)>,
    /// Whether all settings can be used; what remains is odd, not wrong.
    pub is_usable: bool,
}

impl ConfigCheck {
    /// Reads the text of the file as it is now.
    #[must_use]
    pub fn read(app: &App) -> Self {
        let text = std::fs::read_to_string(&app.sources.path).ok();
        let loaded = app.sources.with_text(text.clone()).read();
        let faults = faults(&loaded, &text.unwrap_or_default());
        Self { faults, is_usable: loaded.errors.is_empty() }
    }
}

/// What is wrong with settings, with the lines of the file on which it stands.
#[must_use]
pub fn faults(loaded: &LoadedSettings, text: &str) -> Vec<(SettingError, Option<usize>)> {
    let all = loaded.errors.iter().chain(&loaded.warnings);
    let placed = all.map(|fault| {
        let in_file = matches!(fault.origin, SettingOrigin::File(_)) && !fault.names_its_line();
        let line = in_file.then(|| file::line_of(text, &fault.key)).flatten();
        (fault.clone(), line)
    });
    placed.collect()
}

fn wrong_usage(error: SettingError) -> ConfigError {
    ConfigError::Setting(Box::new(error))
}

/// Another provider's model gets the address and the key that stand in the settings without a name.
fn new_owner(app: &App, key: &str, name: &str) -> Option<(String, String)> {
    let (old, new) = (app.settings.owner(keys::model::base_url()), place::provider(name));
    let model = &app.settings.model;
    let named = !model.base_url.is_empty()
        || model.key.reference().is_some()
        || !model.key_command.is_empty();
    let is_new = key == keys::model::default().as_str() && old != new;
    (is_new && (named || app.key_file().exists())).then(|| (old.to_owned(), new.to_owned()))
}

/// What is in force with this text of the file.
fn in_force(app: &App, key: &str, text: String) -> SettingNow {
    let sources = app.sources.with_text(Some(text));
    let settings = sources.read().settings;
    let all = sources.effective(&settings);
    if let Some(now) = all.into_iter().find(|setting| setting.key.as_str() == key) {
        return SettingNow::Setting(now);
    }
    let provider = providers::named(key).map_or("", |(provider, _)| provider);
    let mut changed = app.clone();
    changed.settings = settings;
    changed.sources = sources;
    SettingNow::Provider(survey(&changed).into_iter().find(|known| known.name == provider))
}
