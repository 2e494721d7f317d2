//! Addresses and keys of providers, and whose the address and the key of the default model are.
//!
//! `base_url` and `key` of `[providers.NAME]` are that provider's. `model.base_url` and the key
//! settings are the provider's that `model.default` names in the same layer: another model that a
//! later layer chooses must not be asked there, nor get that key.

use super::{Fault, FaultKind, Form, Origin, Settings};
use crate::place;
use crate::secrets::Reference;
use std::collections::BTreeMap;

/// The section of the file.
pub(super) const SECTION: &str = "providers";

/// The settings that belong to one provider.
const OWNED: [&str; 5] =
    ["model.base_url", "model.key", "model.key_command", "model.key_env", "model.key_file"];

/// Whose they are where no layer below has named a default model.
const USUAL_OWNER: &str = "openai";

/// Addresses and keys by provider, and the owners of the default model's settings.
#[derive(Debug, Clone, Default)]
pub(super) struct Endpoints {
    urls: BTreeMap<String, (String, Origin)>,
    keys: BTreeMap<String, Reference>,
    owners: BTreeMap<&'static str, (Origin, String)>,
}

/// What can be set of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    BaseUrl,
    /// Where its key is, never the key itself.
    Key,
}

impl Part {
    /// What its value looks like.
    pub fn form(self) -> Form {
        match self {
            Self::BaseUrl => Form::Text,
            Self::Key => Form::Reference,
        }
    }
}

/// The provider that this key is about, and the part: `providers.hub.base_url`.
pub fn named(key: &str) -> Option<(&str, Part)> {
    let (name, part) = key.strip_prefix("providers.")?.split_once('.')?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    let part = match part {
        "base_url" => Part::BaseUrl,
        "key" => Part::Key,
        _ => return None,
    };
    (!name.is_empty() && name.chars().all(fits)).then_some((name, part))
}

impl Settings {
    /// Takes a setting of a provider; `None` if the key names none.
    pub(super) fn take_of_provider(
        &mut self,
        key: &str,
        text: &str,
        origin: &Origin,
    ) -> Option<Result<(), Fault>> {
        let (provider, part) = named(key)?;
        if let Err(wrong) = part.form().read(text) {
            let what = FaultKind::Bad(wrong);
            return Some(Err(Fault { key: key.to_owned(), origin: origin.clone(), what }));
        }
        match (part, Reference::parse(text)) {
            (Part::BaseUrl, _) => {
                let found = (text.trim().to_owned(), origin.clone());
                self.endpoints.urls.insert(provider.to_owned(), found);
            }
            (Part::Key, Some(reference)) => {
                self.endpoints.keys.insert(provider.to_owned(), reference);
            }
            (Part::Key, None) => drop(self.endpoints.keys.remove(provider)),
        }
        Some(Ok(()))
    }

    /// Where the settings say that a provider's key is.
    pub fn key_of(&self, provider: &str) -> Option<&Reference> {
        self.endpoints.keys.get(provider)
    }

    /// Where the settings say that keys of providers are.
    pub fn keys(&self) -> impl Iterator<Item = &Reference> {
        self.endpoints.keys.values()
    }

    /// A layer has been read: what it set belongs to the provider of the default model as of now.
    pub(super) fn end_layer(&mut self) {
        let provider = match place::provider(self.text("model.default")) {
            "" => USUAL_OWNER,
            provider => provider,
        };
        let provider = provider.to_owned();
        for key in OWNED {
            let Some((_, origin)) = self.values.get(key) else { continue };
            let known = self.endpoints.owners.get(key).map(|(origin, _)| origin);
            if known != Some(origin) {
                self.endpoints.owners.insert(key, (origin.clone(), provider.clone()));
            }
        }
    }

    /// The provider that a setting of the default model belongs to.
    pub fn owner(&self, key: &'static str) -> &str {
        self.endpoints.owners.get(key).map_or(USUAL_OWNER, |(_, provider)| provider)
    }

    /// The address that the settings have for a provider, and where it was set.
    pub fn address_of(&self, provider: &str) -> Option<(&str, &Origin)> {
        let own = self.endpoints.urls.get(provider).map(|(url, origin)| (url.as_str(), origin));
        let (default, origin) = (self.text("model.base_url"), self.origin("model.base_url"));
        let default = (self.owner("model.base_url") == provider).then_some((default, origin));
        let rank = |origin: &Origin| origin.rank();
        let set = [own, default].into_iter().flatten().filter(|(url, _)| !url.is_empty());
        set.reduce(|best, next| if rank(next.1) > rank(best.1) { next } else { best })
    }

    /// The providers that the settings say something of.
    pub fn named_providers(&self) -> impl Iterator<Item = &str> {
        let Endpoints { urls, keys, .. } = &self.endpoints;
        urls.keys().chain(keys.keys()).map(String::as_str)
    }

    /// The address of a provider as `[providers.NAME]` has it.
    pub fn own_address_of(&self, provider: &str) -> &str {
        self.endpoints.urls.get(provider).map_or("", |(url, _)| url)
    }

    /// Where a value came from.
    pub fn origin(&self, key: &'static str) -> &Origin {
        self.values.get(key).map_or(&Origin::Default, |(_, origin)| origin)
    }
}

impl Origin {
    /// Later layers win.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Environment(_) => 2,
            Self::Flag | Self::CommandLine => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn read(file: &str, environment: &[(&str, &str)], flags: &[&str]) -> Settings {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment: Vec<(String, String)> = environment.iter().map(own).collect();
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let loaded = Settings::read(Some((Path::new("c.toml"), file)), &environment, &flags);
        assert!(loaded.warnings.is_empty() && loaded.faults.is_empty(), "{:?}", loaded.faults);
        loaded.settings
    }

    fn address(settings: &Settings, provider: &str) -> String {
        settings.address_of(provider).map_or_else(String::new, |(url, _)| url.to_owned())
    }

    #[test]
    fn the_default_models_address_is_its_providers_whatever_a_later_layer_chooses() {
        let file = "[model]\ndefault = \"openai/x\"\nbase_url = \"http://gateway\"\n";
        let settings = read(file, &[], &["model.default=anthropic/claude"]);
        assert_eq!((address(&settings, "openai"), address(&settings, "anthropic")).1, "");
        assert_eq!(address(&settings, "openai"), "http://gateway");
        let both = ["model.default=deepseek/x", "model.base_url=http://other"];
        let settings = read(file, &[], &both);
        assert_eq!(address(&settings, "deepseek"), "http://other");
        assert_eq!(address(&settings, "openai"), "");
        let nobody = read("[model]\nbase_url = \"http://gateway\"\n", &[], &[]);
        assert_eq!(address(&nobody, "openai"), "http://gateway");
        assert_eq!(address(&nobody, "hub"), "");
    }

    #[test]
    fn every_provider_may_have_an_address_in_every_layer() {
        let file = "[providers.hub]\nbase_url = \"http://h\"\n[providers.qwen-intl]\n\
            base_url = \"http://q\"\n";
        let settings = read(file, &[], &[]);
        assert_eq!((address(&settings, "hub"), address(&settings, "qwen-intl")).0, "http://h");
        assert_eq!(address(&settings, "qwen-intl"), "http://q");
        let variable = [("EVERLOOP_PROVIDERS__QWEN_INTL__BASE_URL", "http://e")];
        assert_eq!(address(&read(file, &variable, &[]), "qwen-intl"), "http://e");
        let flag = ["providers.hub.base_url=http://f"];
        assert_eq!(address(&read(file, &[], &flag), "hub"), "http://f");
    }

    #[test]
    fn a_key_of_the_section_is_checked() {
        assert_eq!(named("providers.hub.base_url"), Some(("hub", Part::BaseUrl)));
        assert_eq!(named("providers.my-hub.key"), Some(("my-hub", Part::Key)));
        for key in ["providers.hub.url", "providers..base_url", "providers.a b.base_url"] {
            assert_eq!(named(key), None, "{key}");
        }
        let file = "[providers.hub]\nurl = \"x\"\n";
        let loaded = Settings::read(Some((Path::new("c.toml"), file)), &[], &[]);
        assert_eq!(loaded.warnings[0].key, "providers.hub.url");
        let file = "[providers.hub]\nkey = \"sk-a-key-itself\"\n";
        let loaded = Settings::read(Some((Path::new("c.toml"), file)), &[], &[]);
        assert_eq!(loaded.faults[0].key, "providers.hub.key");
        let hub = read("[providers.hub]\nkey = \"env:HUB\"\n", &[], &[]);
        assert_eq!(hub.key_of("hub"), Some(&Reference::Environment("HUB".to_owned())));
    }
}
