//! Where a model is asked: at the address that was chosen for its provider, or where that usually
//! is. The address of one provider is never another's.
//!
//! ```text
//!   --set  >  NAME_BASE_URL, EVERLOOP_…__BASE_URL  >  file  >  the usual address
//! ```

use crate::settings::{SettingOrigin, Settings, keys};
use everloop_models::{key_variables, usual_url};

/// A server on this machine may have another port tomorrow; nothing leaves for that.
const THIS_MACHINE: &str = "localhost";

/// Where a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPlace<'n> {
    /// As in `provider/model`.
    pub provider: &'n str,
    /// The address that was chosen for it; empty for the usual one.
    pub base_url: String,
    /// Where it was chosen.
    pub origin: SettingOrigin,
}

impl<'n> ModelPlace<'n> {
    /// Where the model of that name is asked.
    pub fn of(settings: &Settings, name: &'n str) -> Self {
        Self::found(settings, name, &|variable| std::env::var(variable).ok())
    }

    fn found(
        settings: &Settings,
        name: &'n str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let provider = provider(name);
        let own = address_variable(provider);
        let value = variable(&own).map(|url| url.trim().to_owned());
        let value = value.filter(|url| !url.is_empty() && !provider.is_empty());
        let environment = value.map(|url| (url, SettingOrigin::Environment(own)));
        let set = settings.address_of(provider);
        let set = set.map(|(url, origin)| (url.to_owned(), origin.clone()));
        let (base_url, origin) = match (environment, set) {
            // What is written for this program goes before what others read, too.
            (Some(own), Some(set)) if own.1.rank() > set.1.rank() => own,
            (_, Some(set)) => set,
            (Some(own), None) => own,
            (None, None) => (String::new(), SettingOrigin::Default),
        };
        Self { provider, base_url, origin }
    }

    /// Whether somebody chose the address.
    pub(crate) fn is_chosen(&self) -> bool {
        !self.base_url.is_empty()
    }

    /// Whether it is no use to ask there without a key. Somebody's own gateway may want none.
    pub fn needs_key(&self) -> bool {
        !self.is_chosen() && !key_variables(self.provider).is_empty()
    }

    /// The machine that is asked: this one by whichever name, or another by its own.
    pub fn host(&self) -> String {
        let (_, rest) = self.address().split_once("://").unwrap_or_default();
        let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
        let host = match place.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or_default(),
            None => place.split(':').next().unwrap_or_default(),
        };
        let host = host.to_lowercase();
        let here = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        if here { THIS_MACHINE.to_owned() } else { host }
    }

    /// The address, for people.
    pub fn address(&self) -> &str {
        match self.base_url.as_str() {
            "" => usual_url(self.provider),
            url => url,
        }
    }
}

/// The variable that holds the address of a provider: `QWEN_INTL_BASE_URL`.
pub fn address_variable(provider: &str) -> String {
    format!("{}_BASE_URL", in_capitals(provider))
}

/// A provider's name as variables begin with it.
pub(crate) fn in_capitals(provider: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    provider.chars().map(fits).collect()
}

/// The name of the model that is used unless another one is named. What was said for this process
/// alone counts before the variable.
pub(crate) fn default_name(settings: &Settings) -> String {
    let is_flag = *settings.origin(keys::model::default()) == SettingOrigin::Flag;
    match std::env::var("EVERLOOP_MODEL") {
        Ok(name) if !name.is_empty() && !is_flag => name,
        _ => settings.model.default.clone(),
    }
}

/// The part of a model's name before the slash.
pub fn provider(name: &str) -> &str {
    name.split_once('/').map_or("", |(provider, _)| provider)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_models::{OPENAI_URL, providers};

    fn settings(text: &str) -> Settings {
        Settings::read(Some((std::path::Path::new("config.toml"), text)), &[], &[]).settings
    }

    /// Where a model is asked with these settings and variables.
    fn asked(text: &str, variables: &[(&str, &str)], name: &str) -> String {
        let variable = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        };
        ModelPlace::found(&settings(text), name, &variable).address().to_owned()
    }

    #[test]
    fn the_address_of_one_provider_is_never_anothers() {
        for owner in providers() {
            let name = format!("{}/x", owner.name);
            let variable = address_variable(owner.name);
            let (file, table) = (
                format!("[model]\ndefault = \"{name}\"\nbase_url = \"http://h/v1\"\n"),
                format!("[providers.{}]\nbase_url = \"http://h/v1\"\n", owner.name),
            );
            for (text, variables) in [
                (file.as_str(), &[][..]),
                (table.as_str(), &[]),
                ("", &[(variable.as_str(), "http://h/v1")]),
            ] {
                assert_eq!(asked(text, variables, &name), "http://h/v1", "{name}");
                for other in providers().filter(|other| other.name != owner.name) {
                    let other_name = format!("{}/y", other.name);
                    assert_eq!(asked(text, variables, &other_name), other.address);
                }
                assert_eq!(asked(text, variables, "hub/z"), "");
            }
        }
    }

    #[test]
    fn the_environment_goes_before_the_file_and_a_flag_before_both() {
        let file = "[model]\ndefault = \"openai/x\"\nbase_url = \"http://file\"\n";
        let variables = [("OPENAI_BASE_URL", "http://variable"), ("DEEPSEEK_BASE_URL", " ")];
        assert_eq!(asked(file, &[], "openai/y"), "http://file");
        assert_eq!(asked(file, &variables, "openai/y"), "http://variable");
        assert_eq!(asked("", &variables, "deepseek/y"), usual_url("deepseek"));
        let flags = ["model.base_url=http://flag".to_owned()];
        let path = std::path::Path::new("config.toml");
        let settings = Settings::read(Some((path, file)), &[], &flags).settings;
        let variable = |_: &str| Some("http://variable".to_owned());
        let place = ModelPlace::found(&settings, "openai/y", &variable);
        assert_eq!((place.address(), &place.origin), ("http://flag", &SettingOrigin::Flag));
    }

    #[test]
    fn a_provider_that_nobody_knows_needs_an_address_and_a_local_one_no_key() {
        let variables = [("MY_HUB_BASE_URL", "http://h/v1"), ("OPENAI_BASE_URL", "http://o/v1")];
        assert_eq!(asked("", &variables, "my-hub/x"), "http://h/v1");
        assert_eq!(asked("", &variables, "hub/x"), "");
        let needs = |text: &str, name: &str| ModelPlace::of(&settings(text), name).needs_key();
        assert!(needs("", "deepseek/x") && needs("", "anthropic/x"));
        assert!(!needs("", "llamacpp/x") && !needs("", "hub/x"));
        let gateway = "[providers.deepseek]\nbase_url = \"http://h/v1\"\n";
        assert!(!needs(gateway, "deepseek/x"), "a gateway may want none");
    }

    #[test]
    fn a_machine_is_known_by_its_name_and_this_one_by_any() {
        let at = |provider, url: &str| {
            let (base_url, origin) = (url.to_owned(), SettingOrigin::Default);
            ModelPlace { provider, base_url, origin }.host()
        };
        for (url, host) in [
            ("http://127.0.0.1:9/v1", "localhost"),
            ("http://[::1]:8080/v1", "localhost"),
            ("http://LocalHost/v1", "localhost"),
            ("https://me@Hub.example.com:8443/v1?x=/y", "hub.example.com"),
            ("", "api.openai.com"),
        ] {
            assert_eq!(at("openai", url), host, "{url}");
        }
        assert_eq!(at("scripted", ""), "", "nobody is asked");
        assert_eq!(usual_url("openai"), OPENAI_URL);
    }
}
