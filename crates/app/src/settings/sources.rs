//! The layers as they were found, so that they can be read again after a change.

use super::{Fault, FaultKind, Loaded, Origin, Settings};
use everloop_types::Lang;
use std::path::PathBuf;

/// The file, the environment and the flags of this process.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The settings file, whether it exists or not.
    pub path: PathBuf,
    /// What stands in it; `None` if it does not exist or cannot be read.
    pub text: Option<String>,
    /// Why a file that exists cannot be read.
    pub trouble: Option<String>,
    pub environment: Vec<(String, String)>,
    /// What `--set` was given.
    pub set: Vec<String>,
    /// `--database`.
    pub database: Option<String>,
    /// `--lang`.
    pub lang: Option<Lang>,
}

/// A setting as it takes effect.
pub struct Effective {
    pub key: &'static str,
    pub value: String,
    /// The file, the variable or the flag that decided.
    pub origin: String,
    /// `default`, `file`, `environment` or `flag`.
    pub layer: &'static str,
}

impl Sources {
    /// Reads every layer; what cannot be used is passed over and told.
    pub fn read(&self) -> Loaded {
        let mut flags = self.set.clone();
        flags.extend(self.database.iter().map(|name| format!("store.database={name}")));
        let file = self.text.as_deref().map(|text| (self.path.as_path(), text));
        let mut loaded = Settings::read(file, &self.environment, &flags);
        if let Some(detail) = &self.trouble {
            let origin = Origin::File(self.path.display().to_string());
            let what = FaultKind::NoFile(detail.clone());
            loaded.faults.insert(0, Fault { key: String::new(), origin, what });
        }
        loaded
    }

    /// The same layers with another file.
    pub fn with_text(&self, text: Option<String>) -> Self {
        Self { text, trouble: None, ..self.clone() }
    }

    /// Every setting as it takes effect, without what could be a secret. The variables and flags
    /// with names of their own count too.
    pub fn effective(&self, settings: &Settings) -> Vec<Effective> {
        let all = settings.all().map(|(key, value, origin)| {
            let (origin, layer) = match origin {
                Origin::Default => ("default".to_owned(), "default"),
                Origin::File(path) => (path.clone(), "file"),
                Origin::Environment(name) => (name.clone(), "environment"),
                Origin::Flag if key == "store.database" && self.database.is_some() => {
                    ("--database".to_owned(), "flag")
                }
                Origin::Flag | Origin::CommandLine => ("--set".to_owned(), "flag"),
            };
            self.own_name(key).unwrap_or(Effective { key, value, origin, layer })
        });
        all.collect()
    }

    /// What `--lang`, `EVERLOOP_LANG` and `EVERLOOP_MODEL` decide.
    fn own_name(&self, key: &'static str) -> Option<Effective> {
        let variable = |name: &str| {
            let found = self.environment.iter().find(|(known, _)| known == name)?;
            let value = super::redact::shown(key, &found.1);
            let origin = name.to_owned();
            (!value.is_empty()).then_some(Effective { key, value, origin, layer: "environment" })
        };
        match key {
            "ui.language" => match self.lang {
                Some(lang) => {
                    let value = match lang {
                        Lang::ZhCn => "zh-CN",
                        Lang::En => "en",
                    };
                    let (value, origin) = (value.to_owned(), "--lang".to_owned());
                    Some(Effective { key, value, origin, layer: "flag" })
                }
                None => variable("EVERLOOP_LANG"),
            },
            "model.default" => variable("EVERLOOP_MODEL"),
            _ => None,
        }
    }
}
