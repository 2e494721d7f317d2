//! What of the settings has a part in the figures of a comparison.
//!
//! A value is shown only if its form leaves no room for a secret.

use crate::app::App;
use crate::error::AppError;
use crate::frames;
use crate::settings::{RoundPreset, SettingKey, SettingKind, SettingSpec, keys};
use everloop_engine::EngineRules;
use everloop_loops::LOOPS;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Settings of these sections have a part in what a run does.
const SECTIONS: &[&str] = &["loop", "budget", "context", "delegate", "model"];
/// And these, for models read them.
const READ: &[SettingKey] =
    &[keys::persona::name(), keys::persona::address(), keys::ui::answer_language()];
/// Free texts of those sections that have a part; where models are, in that of endpoints alone.
const TEXTS: &[SettingKey] =
    &[keys::loops::completion_mark(), keys::persona::name(), keys::persona::address()];
const PLACE: SettingKey = keys::model::base_url();

/// The loops of these names, each once; `all` means every one.
///
/// # Errors
/// [`ChoiceError::UnknownLoop`](crate::ChoiceError::UnknownLoop).
pub fn select_loops(names: &[String]) -> Result<Vec<String>, AppError> {
    let mut loops: Vec<String> = Vec::new();
    for name in names {
        let meant = match name.trim() {
            "all" => LOOPS.iter().map(|name| (*name).to_owned()).collect(),
            name => vec![frames::loop_name(name)?],
        };
        for name in meant {
            if !loops.contains(&name) {
                loops.push(name);
            }
        }
    }
    Ok(loops)
}

/// Why a model cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparedModelError {
    /// It is neither a simulated model nor one with a provider.
    #[error("no model {0}")]
    Unknown(String),
    /// It cannot be used.
    #[error(transparent)]
    App(#[from] AppError),
}

/// The models of these names, each checked and each once; simulated ones need no check.
///
/// # Errors
/// [`ComparedModelError`].
pub fn select_models(
    app: &App,
    names: &[String],
    is_simulated: impl Fn(&str) -> bool,
) -> Result<Vec<String>, ComparedModelError> {
    let mut models: Vec<String> = Vec::new();
    for name in names.iter().map(|name| name.trim().to_owned()) {
        let name = match name {
            name if is_simulated(&name) => name,
            name if name.contains('/') => frames::model(app, name)?,
            name => return Err(ComparedModelError::Unknown(name)),
        };
        if !models.contains(&name) {
            models.push(name);
        }
    }
    Ok(models)
}

/// The folder with the last comparison that was started from the page.
fn kept_folder(app: &App) -> PathBuf {
    app.home.data().join("compare")
}

/// What of a comparison is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptComparison {
    /// What was asked for, while it goes on: it says so after a process that ended.
    UnderWay,
    /// The table of the last one that is over.
    Table,
}

impl KeptComparison {
    fn file(self) -> &'static str {
        match self {
            Self::UnderWay => "under-way.json",
            Self::Table => "last.json",
        }
    }

    /// Keeps it over restarts, in place of what was there. No half file is ever seen.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(self, app: &App, kept: &Value) -> std::io::Result<()> {
        let folder = kept_folder(app);
        fs::create_dir_all(&folder)?;
        let place = folder.join(self.file());
        let beside = place.with_extension("part");
        let mut file = fs::File::create(&beside)?;
        file.write_all(kept.to_string().as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &place)
    }

    /// What is kept, if there is something that can be read.
    #[must_use]
    pub fn read(self, app: &App) -> Option<Value> {
        let text = fs::read(kept_folder(app).join(self.file())).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Forgets it.
    pub fn forget(self, app: &App) {
        // What is not there is forgotten already.
        let _ = fs::remove_file(kept_folder(app).join(self.file()));
    }
}

/// The settings with a part in the figures and values that cannot be secrets, as `key=value`.
#[must_use]
pub fn shown_settings(app: &App) -> Vec<String> {
    let shown = app.settings.changed().filter(|(setting, _)| is_shown(setting));
    shown.map(|(setting, value)| format!("{}={value}", setting.key)).collect()
}

/// Whether a setting has a part in the figures, and a value that cannot be a secret.
fn is_shown(setting: &SettingSpec) -> bool {
    let has_part = SECTIONS.contains(&setting.key.section()) || READ.contains(&setting.key);
    let is_plain = matches!(
        setting.kind,
        SettingKind::Count | SettingKind::Decimal | SettingKind::Duration | SettingKind::OneOf(_)
    );
    has_part && is_plain && setting.key != keys::loops::default()
}

/// The settings with a part in the figures whose values may be secrets.
#[must_use]
pub fn withheld_settings(app: &App, asks_endpoints: bool) -> Vec<&'static str> {
    let keys = app.settings.changed().map(|(setting, _)| setting.key);
    let keys = keys.filter(|key| TEXTS.contains(key) || (asks_endpoints && *key == PLACE));
    keys.map(SettingKey::as_str).collect()
}

/// The limits of a loop, all of them: those that are as usual are left out of a frame.
#[must_use]
pub fn limits(app: &App, loop_name: &str) -> Value {
    let limits = frames::limits(app, loop_name);
    let mut all = json!(limits);
    all["steps"]["list"] = json!(limits.steps.list);
    all["delegate"] = json!(limits.delegate);
    all["steps"]["rounds"] = match app.settings.loops.preset {
        RoundPreset::Auto => json!("fitted to each goal"),
        _ => json!(limits.steps.rounds),
    };
    all
}

/// The rules of runs that are compared.
#[must_use]
pub fn rules(app: &App) -> EngineRules {
    EngineRules {
        model_attempts: app.settings.model.attempts,
        patience_ms: app.settings.model.patience.ms(),
        // The world of a task is made up: to wait for it shows nothing.
        tool_retry_ms: 0,
        ..EngineRules::default()
    }
}

/// A word as a shell reads it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
