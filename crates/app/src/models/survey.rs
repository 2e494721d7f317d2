//! Which providers this process could ask: where, and where their keys come from. No key is shown,
//! and none is fetched from a keychain or a program for that.

use crate::app::App;
use crate::key::{self, KeySource};
use crate::place::{self, ModelPlace, address_variable, default_name};
use crate::secrets;
use crate::settings::{SettingOrigin, Settings, keys, redact};
use everloop_models::providers;
use serde::Serialize;

/// One provider as it would be asked.
pub struct ProviderInUse {
    /// As in `provider/model`.
    pub name: String,
    /// The base URL, without secrets.
    pub address: String,
    /// Where the base URL was chosen.
    pub address_from: SettingOrigin,
    /// Where the key is looked for and found; none if nowhere.
    pub key_from: Option<String>,
    /// Whether it cannot be asked without a key.
    pub needs_key: bool,
}

impl ProviderInUse {
    /// For programs.
    #[must_use]
    pub fn report(&self) -> ProviderReport {
        ProviderReport {
            provider: self.name.clone(),
            base_url: self.address.clone(),
            base_url_from: self.address_from.to_string(),
            key_from: self.key_from.clone(),
        }
    }
}

/// One provider, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct ProviderReport {
    /// As in `provider/model`.
    pub provider: String,
    /// The base URL, without secrets.
    pub base_url: String,
    /// Where the base URL was chosen.
    pub base_url_from: String,
    /// Where the key is looked for and found.
    pub key_from: Option<String>,
}

/// The providers of the models in use, and all that the settings or the environment have something
/// for.
#[must_use]
pub fn survey(app: &App) -> Vec<ProviderInUse> {
    let settings = &app.settings;
    let default = default_name(settings);
    let used =
        [default.as_str(), settings.model.default.as_str(), settings.model.fallback.as_str()];
    let mut names: Vec<&str> = used.into_iter().map(place::provider).collect();
    names.extend(settings.named_providers());
    names.extend(providers().map(|known| known.name).filter(|name| has_variable(settings, name)));
    let mut seen: Vec<&str> = vec!["", "scripted"];
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen.into_iter().skip(2).map(|name| of(app, name)).collect()
}

fn has_variable(settings: &Settings, name: &str) -> bool {
    let set = |variable: &String| std::env::var(variable).is_ok_and(|it| !it.trim().is_empty());
    set(&address_variable(name)) || key::variables(settings, name).iter().any(set)
}

fn of(app: &App, name: &str) -> ProviderInUse {
    let whole = format!("{name}/");
    let place = ModelPlace::of(&app.settings, &whole);
    let own = app.settings.key_of(name).cloned();
    let default = secrets::of_model(&app.settings);
    let default = default.filter(|_| app.settings.owner(keys::model::key()) == name);
    let key_from = match own.or(default) {
        Some(reference) => Some(KeySource::Reference(reference).to_string()),
        None => {
            let found = key::find(&app.settings, &app.key_file(), &place).ok().flatten();
            found.map(|key| key.source.to_string())
        }
    };
    ProviderInUse {
        name: name.to_owned(),
        address: redact::shown(place.address()),
        needs_key: place.needs_key(),
        address_from: place.origin,
        key_from,
    }
}
