//! Addresses and keys of providers, and whose the address and the key of the default model are.
//!
//! `base_url` and `key` of `[providers.NAME]` are that provider's. `model.base_url` and the key
//! settings are the provider's that `model.default` names in the same layer: another model that a
//! later layer chooses must not be asked there, nor get that key.

use super::value::SettingValue;
use super::{
    SecretPlace, SettingError, SettingKey, SettingKind, SettingMismatch, SettingOrigin,
    SettingProblem, Settings, keys,
};
use crate::place;
use crate::secrets::Reference;
use std::collections::BTreeMap;

/// The section of the file.
pub(super) const SECTION: &str = "providers";

/// The settings that belong to one provider.
const OWNED: [SettingKey; 5] = [
    keys::model::base_url(),
    keys::model::key(),
    keys::model::key_command(),
    keys::model::key_env(),
    keys::model::key_file(),
];

/// Whose they are where no layer below has named a default model.
const USUAL_OWNER: &str = "openai";

/// Addresses and keys by provider, and the owners of the default model's settings.
#[derive(Debug, Clone, Default)]
pub(super) struct ProviderEntries {
    urls: BTreeMap<String, (String, SettingOrigin)>,
    keys: BTreeMap<String, Reference>,
    owners: BTreeMap<SettingKey, (SettingOrigin, String)>,
}

/// What can be set of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderPart {
    /// The address.
    BaseUrl,
    /// Where its key is, never the key itself.
    Key,
}

impl ProviderPart {
    /// How its value is written.
    #[must_use]
    pub const fn kind(self) -> SettingKind {
        match self {
            Self::BaseUrl => SettingKind::Text,
            Self::Key => SettingKind::Reference,
        }
    }

    /// Checks a text that should become the value.
    ///
    /// # Errors
    /// [`SettingMismatch`] if it does not fit.
    pub fn check(self, text: &str) -> Result<(), SettingMismatch> {
        let fits = match self {
            Self::BaseUrl => true,
            Self::Key => SecretPlace::from_text(text).is_some(),
        };
        if fits { Ok(()) } else { Err(self.kind().mismatch(text, None)) }
    }
}

/// The provider that this key is about, and the part: `providers.hub.base_url`.
pub fn named(key: &str) -> Option<(&str, ProviderPart)> {
    let (name, part) = key.strip_prefix("providers.")?.split_once('.')?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    let part = match part {
        "base_url" => ProviderPart::BaseUrl,
        "key" => ProviderPart::Key,
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
        origin: &SettingOrigin,
    ) -> Option<Result<(), SettingError>> {
        let (provider, part) = named(key)?;
        if let Err(mismatch) = part.check(text) {
            let problem = SettingProblem::Mismatch(mismatch);
            let key = key.to_owned();
            return Some(Err(SettingError { key, origin: origin.clone(), problem }));
        }
        match (part, Reference::parse(text)) {
            (ProviderPart::BaseUrl, _) => {
                let found = (text.trim().to_owned(), origin.clone());
                self.providers.urls.insert(provider.to_owned(), found);
            }
            (ProviderPart::Key, Some(reference)) => {
                self.providers.keys.insert(provider.to_owned(), reference);
            }
            (ProviderPart::Key, None) => drop(self.providers.keys.remove(provider)),
        }
        Some(Ok(()))
    }

    /// Where the settings say that a provider's key is.
    pub(crate) fn key_of(&self, provider: &str) -> Option<&Reference> {
        self.providers.keys.get(provider)
    }

    /// Where the settings say that keys of providers are.
    pub fn keys(&self) -> impl Iterator<Item = &Reference> {
        self.providers.keys.values()
    }

    /// A layer has been read: what it set belongs to the provider of the default model as of now.
    pub(super) fn end_layer(&mut self) {
        let provider = match place::provider(&self.model.default) {
            "" => USUAL_OWNER,
            provider => provider,
        };
        let provider = provider.to_owned();
        for key in OWNED {
            let origin = self.origin(key).clone();
            let known = self.providers.owners.get(&key).map(|(origin, _)| origin);
            if known != Some(&origin) {
                self.providers.owners.insert(key, (origin, provider.clone()));
            }
        }
    }

    /// The provider that a setting of the default model belongs to.
    #[must_use]
    pub fn owner(&self, key: SettingKey) -> &str {
        self.providers.owners.get(&key).map_or(USUAL_OWNER, |(_, provider)| provider)
    }

    /// The address that the settings have for a provider, and where it was set.
    pub(crate) fn address_of(&self, provider: &str) -> Option<(&str, &SettingOrigin)> {
        let own = self.providers.urls.get(provider).map(|(url, origin)| (url.as_str(), origin));
        let key = keys::model::base_url();
        let default = (self.model.base_url.as_str(), self.origin(key));
        let default = (self.owner(key) == provider).then_some(default);
        let rank = |origin: &SettingOrigin| origin.rank();
        let set = [own, default].into_iter().flatten().filter(|(url, _)| !url.is_empty());
        set.reduce(|best, next| if rank(next.1) > rank(best.1) { next } else { best })
    }

    /// The providers that the settings say something of.
    pub(crate) fn named_providers(&self) -> impl Iterator<Item = &str> {
        let ProviderEntries { urls, keys, .. } = &self.providers;
        urls.keys().chain(keys.keys()).map(String::as_str)
    }

    /// The address of a provider as `[providers.NAME]` has it.
    pub(crate) fn own_address_of(&self, provider: &str) -> &str {
        self.providers.urls.get(provider).map_or("", |(url, _)| url)
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
        assert!(loaded.warnings.is_empty() && loaded.errors.is_empty(), "{:?}", loaded.errors);
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
        assert_eq!(named("providers.hub.base_url"), Some(("hub", ProviderPart::BaseUrl)));
        assert_eq!(named("providers.my-hub.key"), Some(("my-hub", ProviderPart::Key)));
        for key in ["providers.hub.url", "providers..base_url", "providers.a b.base_url"] {
            assert_eq!(named(key), None, "{key}");
        }
        let file = "[providers.hub]\nurl = \"x\"\n";
        let loaded = Settings::read(Some((Path::new("c.toml"), file)), &[], &[]);
        assert_eq!(loaded.warnings[0].key, "providers.hub.url");
        let file = "[providers.hub]\nkey = \"sk-a-key-itself\"\n";
        let loaded = Settings::read(Some((Path::new("c.toml"), file)), &[], &[]);
        assert_eq!(loaded.errors[0].key, "providers.hub.key");
        let hub = read("[providers.hub]\nkey = \"env:HUB\"\n", &[], &[]);
        assert_eq!(hub.key_of("hub"), Some(&Reference::Environment("HUB".to_owned())));
    }
}
