//! Where a model is asked: at the address that was chosen for the model in use, or where its
//! provider usually is.

use crate::settings::Settings;
use everloop_models::usual_url;

/// Providers with wire formats of their own. A variable named after OpenAI does not mean them.
const FOREIGN: [&str; 2] = ["anthropic", "gemini"];

/// A server on this machine may have another port tomorrow; nothing leaves for that.
const THIS_MACHINE: &str = "localhost";

/// Where a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place<'n> {
    /// As in `provider/model`.
    pub(crate) provider: &'n str,
    /// Whether it is the provider of the model that is used unless another one is named.
    pub(crate) is_default: bool,
    /// The address that was chosen for it; empty for the usual one.
    pub(crate) base_url: String,
}

impl<'n> Place<'n> {
    /// Where the model of that name is asked.
    pub(crate) fn of(settings: &Settings, name: &'n str) -> Self {
        Self::beside(settings, &default_name(settings), name)
    }

    fn beside(settings: &Settings, default: &str, name: &'n str) -> Self {
        let (provider, house) = (provider(name), provider(default));
        let is_default = house.is_empty() || house == provider;
        // The address belongs to the model in use. Who has none of its own is asked there too,
        // and so is `openai`, which is what everything compatible is called.
        let nameless = usual_url(provider).is_empty();
        let compatible = provider == "openai" && usual_url(house).is_empty();
        let base_url = match is_default || nameless || compatible {
            true => chosen_url(settings, provider),
            false => String::new(),
        };
        Self { provider, is_default, base_url }
    }

    /// Whether somebody chose the address.
    pub(crate) fn is_chosen(&self) -> bool {
        !self.base_url.is_empty()
    }

    /// The machine that is asked: this one by whichever name, or another by its own.
    pub(crate) fn host(&self) -> String {
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
    pub(crate) fn address(&self) -> &str {
        match self.base_url.as_str() {
            "" => usual_url(self.provider),
            url => url,
        }
    }
}

/// The name of the model that is used unless another one is named.
pub(crate) fn default_name(settings: &Settings) -> String {
    match std::env::var("EVERLOOP_MODEL") {
        Ok(name) if !name.is_empty() => name,
        _ => settings.text("model.default").to_owned(),
    }
}

fn provider(name: &str) -> &str {
    name.split_once('/').map_or("", |(provider, _)| provider)
}

/// The endpoint that was chosen, if one was.
fn chosen_url(settings: &Settings, provider: &str) -> String {
    match settings.text("model.base_url") {
        "" if FOREIGN.contains(&provider) => String::new(),
        "" => std::env::var("OPENAI_BASE_URL").unwrap_or_default(),
        url => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::variables;

    fn settings(text: &str) -> Settings {
        Settings::read(Some((std::path::Path::new("config.toml"), text)), &[], &[]).settings
    }

    /// Who is asked where, and in which variables their key is looked for.
    fn seen(text: &str, default: &str, name: &str) -> (String, String) {
        let settings = settings(text);
        let place = Place::beside(&settings, default, name);
        (place.address().to_owned(), variables(&settings, &place).join(" "))
    }

    fn own(url: &str, variables: &str) -> (String, String) {
        (url.to_owned(), variables.to_owned())
    }

    #[test]
    fn the_chosen_address_and_variable_are_those_of_the_model_in_use() {
        let chosen = "[model]\nbase_url = \"http://h/v1\"\nkey_env = \"MY_KEY\"\n";
        let there = |variables: &str| own("http://h/v1", variables);
        assert_eq!(seen(chosen, "openai/x", "openai/y"), there("MY_KEY"));
        assert_eq!(seen(chosen, "hub/x", "hub/y"), there("MY_KEY"));
        assert_eq!(seen(chosen, "hub/x", "openai/y"), there("MY_KEY"));
        assert_eq!(seen(chosen, "openai/x", "hub/y"), there("MY_KEY"));
        let claude = everloop_models::ANTHROPIC_URL;
        assert_eq!(seen(chosen, "openai/x", "anthropic/y"), own(claude, "ANTHROPIC_API_KEY"));
        let both = "ANTHROPIC_API_KEY MY_KEY";
        assert_eq!(seen(chosen, "anthropic/x", "anthropic/y"), there(both));
        let ours = everloop_models::OPENAI_URL;
        assert_eq!(seen(chosen, "anthropic/x", "openai/y").0, ours);
    }

    #[test]
    fn a_machine_is_known_by_its_name_and_this_one_by_any() {
        for (url, host) in [
            ("http://127.0.0.1:9/v1", "localhost"),
            ("http://[::1]:8080/v1", "localhost"),
            ("http://LocalHost/v1", "localhost"),
            ("https://me@Hub.example.com:8443/v1?x=/y", "hub.example.com"),
            ("", "api.openai.com"),
        ] {
            let base_url = url.to_owned();
            let place = Place { provider: "openai", is_default: true, base_url };
            assert_eq!(place.host(), host, "{url}");
        }
        let scripted = Place { provider: "scripted", is_default: true, base_url: String::new() };
        assert_eq!(scripted.host(), "", "nobody is asked");
    }

    #[test]
    fn without_a_choice_each_is_asked_at_home_with_its_own_variable() {
        for (name, variables) in [
            ("anthropic/x", "ANTHROPIC_API_KEY"),
            ("gemini/x", "GEMINI_API_KEY GOOGLE_API_KEY"),
            ("deepseek/x", "DEEPSEEK_API_KEY"),
        ] {
            let address = usual_url(provider(name));
            assert_eq!(seen("", "anthropic/x", name), own(address, variables));
            assert_eq!(seen("", name, name), own(address, variables));
        }
    }
}
