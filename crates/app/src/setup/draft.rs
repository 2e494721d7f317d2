//! Answers that are tried before they are kept.
//!
//! ```text
//!   answers ──► draft ──text()──► settings of this process alone ──► one tiny request
//!                 └──write()──► key where secrets go, then the settings file
//! ```
//!
//! A draft that is dropped leaves nothing: no key, no setting.

use super::{ChosenProvider, FormerKey, keep_key, key_name, not_kept};
use crate::app::App;
use crate::config;
use crate::error::AppError;
use crate::secrets::{self, Reference};
use crate::settings::{SettingKind, file, keys};

/// What a person has answered so far.
pub struct SetupDraft {
    text: String,
    lines: Vec<(String, String)>,
    key: Option<DraftKey>,
    former: Option<FormerKey>,
}

/// A key that only this process knows.
struct DraftKey {
    provider: String,
    value: String,
    /// Where it is found while it is tried. No such file is ever written.
    place: Reference,
}

/// What was written of a draft.
pub struct WrittenSetup {
    /// The settings file.
    pub text: String,
    /// Where the key is, if one was typed.
    pub key: Option<Reference>,
    /// The settings, as they were answered.
    pub lines: Vec<(String, String)>,
}

impl SetupDraft {
    /// Nothing is answered yet.
    #[must_use]
    pub fn new(app: &App) -> Self {
        let text = app.sources.text.clone().unwrap_or_default();
        Self { text, lines: Vec::new(), key: None, former: None }
    }

    /// Another provider, with its key and a model.
    ///
    /// # Errors
    /// If an answer is no setting or holds a key, or the settings cannot be edited.
    pub fn of(app: &App, wanted: &ChosenProvider, model: &str) -> Result<Self, AppError> {
        let (text, former) = wanted.without_former(app)?;
        former.iter().for_each(|former| secrets::withhold(&former.from, &former.not_for));
        let mut draft = Self { text, lines: Vec::new(), key: None, former };
        if !wanted.url.is_empty() {
            draft.set(&format!("providers.{}.base_url", wanted.provider), &wanted.url)?;
        }
        if !wanted.key.is_empty() {
            draft.set_key(app, &wanted.provider, &wanted.key)?;
        }
        draft.set_model(model)?;
        Ok(draft)
    }

    /// Another model, whose key and address are there already.
    ///
    /// # Errors
    /// If the name holds a key, or the settings cannot be edited.
    pub fn of_model(app: &App, name: &str) -> Result<Self, AppError> {
        let mut draft = Self::new(app);
        draft.set_model(name)?;
        Ok(draft)
    }

    /// The model, with its provider in front.
    ///
    /// # Errors
    /// If the name holds a key, or the settings cannot be edited.
    pub fn set_model(&mut self, name: &str) -> Result<(), AppError> {
        self.set(keys::model::default().as_str(), name)
    }

    /// The key of a provider.
    ///
    /// # Errors
    /// If the settings cannot be edited.
    pub fn set_key(&mut self, app: &App, provider: &str, value: &str) -> Result<(), AppError> {
        let place = Reference::File(app.home.secrets().join(format!("{}.new", key_name(provider))));
        self.set(&key_setting(provider), &place.to_string())?;
        secrets::hold(&place, value);
        self.key = Some(DraftKey { provider: provider.to_owned(), value: value.to_owned(), place });
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), AppError> {
        self.text = config::with_setting(&self.text, key, value)?;
        self.lines.retain(|(known, _)| known != key);
        self.lines.push((key.to_owned(), value.to_owned()));
        Ok(())
    }

    /// The settings file as it would be.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The model that was answered, if one was.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        let model = self.lines.iter().find(|(key, _)| key == keys::model::default().as_str());
        model.map(|(_, name)| name.as_str())
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Puts the key where secrets go, and writes the settings.
    ///
    /// # Errors
    /// If the key cannot be kept, or the file cannot be written.
    pub fn write(mut self, app: &App) -> Result<WrittenSetup, AppError> {
        let mut text = std::mem::take(&mut self.text);
        let mut lines = std::mem::take(&mut self.lines);
        if let Some(former) = &self.former {
            file::make_folder(&former.to)
                .and_then(|_| std::fs::rename(&former.from, &former.to))
                .map_err(|error| not_kept(&former.to, error))?;
        }
        let kept = match &self.key {
            Some(key) => Some(keep_key(app, &key.value, &key.provider)?),
            None => None,
        };
        if let (Some(key), Some(kept)) = (&self.key, &kept) {
            let (setting, reference) = (key_setting(&key.provider), kept.to_string());
            text = file::with(&text, &setting, SettingKind::Reference, &reference)
                .map_err(config::ConfigError::NotEditable)?;
            let line = lines.iter_mut().find(|(known, _)| *known == setting);
            line.into_iter().for_each(|(_, value)| value.clone_from(&reference));
        }
        if !lines.is_empty() {
            config::write(app, &text)?;
        }
        Ok(WrittenSetup { text, key: kept, lines })
    }
}

/// What is not written is forgotten.
impl Drop for SetupDraft {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            secrets::forget(&key.place);
        }
        if let Some(former) = &self.former {
            secrets::release(&former.from, &former.not_for);
        }
    }
}

fn key_setting(provider: &str) -> String {
    format!("providers.{provider}.key")
}
