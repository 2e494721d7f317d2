//! Which providers this process could ask: where, and where their keys come from. No key is shown,
//! and none is fetched from a keychain or a program for that.

use crate::console::Console;
use everloop_app::key::{self, Source};
use everloop_app::place::{self, Place, address_variable, default_name};
use everloop_app::secrets;
use everloop_app::settings::{SettingOrigin, Settings, keys, redact};
use everloop_models::providers;
use everloop_text as text;
use serde_json::{Value, json};

/// One provider as it would be asked.
pub(crate) struct Surveyed {
    pub(crate) name: String,
    pub(crate) address: String,
    address_from: SettingOrigin,
    /// Where the key is looked for and found; none if nowhere.
    key_from: Option<String>,
    needs_key: bool,
}

/// The providers of the models in use, and all that the settings or the environment have something
/// for.
pub(crate) fn survey(app: &Console) -> Vec<Surveyed> {
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

fn of(app: &Console, name: &str) -> Surveyed {
    let whole = format!("{name}/");
    let place = Place::of(&app.settings, &whole);
    let own = app.settings.key_of(name).cloned();
    let default = secrets::of_model(&app.settings);
    let default = default.filter(|_| app.settings.owner(keys::model::key()) == name);
    let key_from = match own.or(default) {
        Some(reference) => Some(Source::Reference(reference).to_string()),
        None => {
            let found = key::find(&app.settings, &app.key_file(), &place).ok().flatten();
            found.map(|key| key.source.to_string())
        }
    };
    Surveyed {
        name: name.to_owned(),
        address: redact::shown(place.address()),
        needs_key: place.needs_key(),
        address_from: place.origin,
        key_from,
    }
}

impl Surveyed {
    /// For people: the address and where it was set, and where the key comes from.
    pub(crate) fn line(&self, app: &Console) -> String {
        let key = match (&self.key_from, self.needs_key) {
            (Some(source), _) => app.text(text::survey::key(&source)),
            (None, true) => app.text(text::survey::key_missing()),
            (None, false) => app.text(text::survey::no_key()),
        };
        let from = match &self.address_from {
            SettingOrigin::Default => String::new(),
            origin => format!(" ({origin})"),
        };
        app.text(
            text::survey::Line { name: &self.name, address: &self.address, from: &from, key: &key }
                .text(),
        )
    }

    /// The same for programs.
    pub(crate) fn object(&self) -> Value {
        json!({
            "provider": self.name,
            "base_url": self.address,
            "base_url_from": self.address_from.to_string(),
            "key_from": self.key_from,
        })
    }
}
