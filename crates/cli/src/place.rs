//! Where a model is asked: at the address that was chosen for the model in use, or where its
//! provider usually is.

use crate::settings::Settings;
use everloop_models::usual_url;

/// Providers with wire formats of their own. A variable named after OpenAI does not mean them.
const FOREIGN: [&str; 2] = ["anthropic", "gemini"];

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
