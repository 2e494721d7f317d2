//! The layers as they were found, so that they can be read again after a change.

use super::{
    LoadedSettings, SettingError, SettingKey, SettingOrigin, SettingProblem, SettingValue,
    Settings, keys,
};
use crate::home::Home;
use everloop_types::Lang;
use serde::Serialize;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The file, the environment and the flags of this process.
#[derive(Debug, Clone)]
pub struct SettingSources {
    /// The settings file, whether it exists or not.
    pub path: PathBuf,
    /// Its text; `None` if it does not exist or cannot be read.
    pub text: Option<String>,
    /// Why a file that exists cannot be read.
    pub trouble: Option<String>,
    /// The variables of the process.
    pub environment: Vec<(String, String)>,
    /// What `--set` was given.
    pub set: Vec<String>,
    /// `--database`.
    pub database: Option<String>,
    /// `--lang`.
    pub lang: Option<Lang>,
}

/// A setting as it takes effect.
#[derive(Debug, Clone, Serialize)]
pub struct EffectiveSetting {
    /// The setting.
    pub key: SettingKey,
    /// The value, without anything that could be a secret.
    pub value: String,
    /// The file, the variable or the flag that decided.
    pub origin: String,
    /// `default`, `file`, `environment` or `flag`.
    pub layer: &'static str,
}

/// The layer above the file and the environment.
#[derive(Debug, Clone, Default)]
pub struct SettingFlags {
    /// What `--set` was given.
    pub set: Vec<String>,
    /// `--tz`.
    pub time_zone: Option<String>,
    /// `--database`.
    pub database: Option<String>,
    /// `--lang`.
    pub lang: Option<Lang>,
}

impl SettingSources {
    /// The file of a home, the environment of this process and the given flags, as far as they can
    /// be read.
    #[must_use]
    pub fn find(home: &Home, flags: SettingFlags) -> Self {
        let path = home.config_file();
        let (text, trouble) = read_file(&path);
        // A setting cannot be anything but text.
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut set = flags.set;
        set.extend(flags.time_zone.map(|zone| format!("{}={zone}", keys::ui::time_zone())));
        let (database, lang) = (flags.database, flags.lang);
        Self { path, text, trouble, environment, set, database, lang }
    }

    /// Reads every layer; what cannot be used is left out and reported.
    #[must_use]
    pub fn read(&self) -> LoadedSettings {
        let mut flags = self.set.clone();
        flags
            .extend(self.database.iter().map(|name| format!("{}={name}", keys::store::database())));
        let file = self.text.as_deref().map(|text| (self.path.as_path(), text));
        let mut loaded = Settings::read(file, &self.environment, &flags);
        if let Some(detail) = &self.trouble {
            let origin = SettingOrigin::File(self.path.display().to_string());
            let problem = SettingProblem::UnreadableFile(detail.clone());
            loaded.errors.insert(0, SettingError { key: String::new(), origin, problem });
        }
        loaded
    }

    /// The same layers with the file as it is now.
    #[must_use]
    pub fn again(&self) -> Self {
        let (text, trouble) = read_file(&self.path);
        Self { text, trouble, ..self.clone() }
    }

    /// The same layers with another file.
    #[must_use]
    pub fn with_text(&self, text: Option<String>) -> Self {
        Self { text, trouble: None, ..self.clone() }
    }

    /// The same layers, where this process uses this model whatever its variables say.
    #[must_use]
    pub fn with_model(mut self, name: &str) -> Self {
        self.set.push(format!("{}={name}", keys::model::default()));
        self
    }

    /// Every setting as it takes effect, without what could be a secret. The variables and flags
    /// with names of their own count too.
    #[must_use]
    pub fn effective(&self, settings: &Settings) -> Vec<EffectiveSetting> {
        let all = settings.all().map(|(key, value, origin)| {
            let (origin, layer) = match origin {
                SettingOrigin::Default => ("default".to_owned(), "default"),
                SettingOrigin::File(path) => (path.clone(), "file"),
                SettingOrigin::Environment(name) => (name.clone(), "environment"),
                SettingOrigin::Flag
                    if key == keys::store::database() && self.database.is_some() =>
                {
                    ("--database".to_owned(), "flag")
                }
                SettingOrigin::Flag | SettingOrigin::CommandLine => ("--set".to_owned(), "flag"),
            };
            self.own_name(key).unwrap_or(EffectiveSetting { key, value, origin, layer })
        });
        all.collect()
    }

    /// What `--lang`, `EVERLOOP_LANG`, `EVERLOOP_LOG` and `EVERLOOP_MODEL` decide.
    fn own_name(&self, key: SettingKey) -> Option<EffectiveSetting> {
        if key == keys::model::default() {
            let is_flag = self.set.iter().any(|set| set.starts_with(&format!("{key}=")));
            return self.own_variable(key, "EVERLOOP_MODEL").filter(|_| !is_flag);
        }
        if key == keys::log::level() {
            return self.own_variable(key, crate::log::VARIABLE);
        }
        if key != keys::ui::language() {
            return None;
        }
        if self.lang.is_some() {
            let origin = "--lang".to_owned();
            let value = self.lang.write();
            return Some(EffectiveSetting { key, value, origin, layer: "flag" });
        }
        self.own_variable(key, "EVERLOOP_LANG")
    }

    /// What a variable with a name of its own decides.
    fn own_variable(&self, key: SettingKey, name: &str) -> Option<EffectiveSetting> {
        let (_, value) = self.environment.iter().find(|(known, _)| known == name)?;
        let value = super::redact::shown(value);
        let origin = name.to_owned();
        (!value.is_empty()).then_some(EffectiveSetting { key, value, origin, layer: "environment" })
    }
}

/// The text of the file, or why a file that exists cannot be read.
fn read_file(path: &Path) -> (Option<String>, Option<String>) {
    match std::fs::read_to_string(path) {
        Ok(text) => (Some(text), None),
        Err(error) if is_absent(&error) => (None, None),
        Err(error) => (None, Some(error.to_string())),
    }
}

/// A folder that cannot be is the store's to complain about.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
