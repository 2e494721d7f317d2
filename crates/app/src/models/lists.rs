//! Which models there are: at the endpoints of the settings, at one that was entered, and on this
//! machine.

use super::calling::ToolCalling;
use crate::app::App;
use crate::environment::{EndpointError, is_scripted};
use crate::frames::{default_model, is_of_unknown_provider};
use crate::key;
use crate::place::ModelPlace;
use crate::secrets::SecretError;
use crate::settings::redact;
use crate::trouble::ModelTrouble;
use everloop_models::{Endpoint, Secret, Timeouts, list_models, list_models_of};
use everloop_types::{ModelError, ModelErrorKind};
use serde_json::{Value, json};

/// Where Ollama, llama.cpp and vLLM listen unless they are told otherwise.
const USUAL: [&str; 3] =
    ["http://127.0.0.1:11434/v1", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8000/v1"];

/// Long enough for this machine, too short to be noticed.
const LOCAL_MS: u64 = 700;

const OFFER_MS: u64 = 4_000;

/// An endpoint that can be asked for its models.
pub struct ModelEndpoint {
    /// As in `provider/model`.
    pub provider: String,
    /// The base URL, without secrets.
    pub address: String,
    /// The models there, or why there is no list.
    pub offered: Result<Vec<String>, ListError>,
}

/// Why there is no list of models.
pub enum ListError {
    /// Nobody knows where the provider of this model is.
    UnknownProvider(String),
    /// The key cannot be resolved.
    Secret(SecretError),
    /// The endpoint refuses or does not answer.
    Model(Box<ModelTrouble>),
}

impl ListError {
    /// For programs; none if the endpoint was not asked.
    #[must_use]
    pub fn kind(&self) -> Option<ModelErrorKind> {
        match self {
            Self::Model(trouble) => Some(trouble.error.kind),
            Self::UnknownProvider(_) | Self::Secret(_) => None,
        }
    }
}

/// The models that the settings name, and all endpoints that could be asked.
pub struct ModelOverview {
    /// The default model; empty if there is none.
    pub default: String,
    /// The model that takes over; empty if there is none.
    pub fallback: String,
    /// The endpoints of both, and those on this machine.
    pub endpoints: Vec<ModelEndpoint>,
}

impl ModelOverview {
    /// Asks every endpoint for its list. No tokens are spent.
    pub async fn read(app: &App) -> Self {
        let default = default_model(app);
        let fallback = app.settings.model.fallback.clone();
        let mut endpoints: Vec<ModelEndpoint> = Vec::new();
        for name in [&default, &fallback] {
            if let Some(endpoint) = configured(app, name).await
                && endpoints.iter().all(|known| known.address != endpoint.address)
            {
                endpoints.push(endpoint);
            }
        }
        for found in all_local().await {
            if endpoints.iter().all(|known| known.address != found.url) {
                let (provider, address) = (found.provider().to_owned(), found.url);
                endpoints.push(ModelEndpoint { provider, address, offered: Ok(found.models) });
            }
        }
        Self { default, fallback, endpoints }
    }

    /// What a model is used for.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<&'static str> {
        match name {
            "" => None,
            name if name == self.default => Some("default"),
            name if name == self.fallback => Some("fallback"),
            _ => None,
        }
    }

    /// The chosen models that their endpoints do not have.
    pub fn not_offered(&self) -> impl Iterator<Item = &str> {
        let chosen = [self.default.as_str(), self.fallback.as_str()].into_iter();
        chosen.filter(|name| {
            let (provider, model) = name.split_once('/').unwrap_or_default();
            let endpoint = self.endpoints.iter().find(|endpoint| endpoint.provider == provider);
            let offered = endpoint.and_then(|endpoint| endpoint.offered.as_ref().ok());
            offered.is_some_and(|names| !names.is_empty() && !names.iter().any(|it| it == model))
        })
    }

    /// Whether an endpoint refused the key, or there is none.
    #[must_use]
    pub fn lacks_a_key(&self) -> bool {
        self.endpoints.iter().any(|endpoint| {
            let kind = endpoint.offered.as_ref().err().and_then(ListError::kind);
            matches!(kind, Some(ModelErrorKind::Unauthorized | ModelErrorKind::NoKey))
        })
    }

    /// For programs; `words` says why there is no list.
    pub fn to_json(&self, app: &App, words: impl Fn(&ListError) -> String) -> Value {
        let endpoints = self.endpoints.iter().map(|endpoint| {
            let names = endpoint.offered.iter().flatten();
            let models = names.map(|model| {
                let name = format!("{}/{model}", endpoint.provider);
                json!({"name": name, "role": self.role(&name),
                    "tool_calls": ToolCalling::of(app, &name).to_json()})
            });
            let error = endpoint.offered.as_ref().err();
            json!({
                "provider": endpoint.provider,
                "address": endpoint.address,
                "reachable": error.is_none(),
                "detail": error.map(&words),
                "kind": error.and_then(ListError::kind),
                "models": models.collect::<Vec<_>>(),
            })
        });
        json!({
            "default": self.default,
            "fallback": self.fallback,
            "endpoints": endpoints.collect::<Vec<_>>(),
        })
    }
}

/// The endpoint of a configured model; nothing for a script, which asks nobody.
async fn configured(app: &App, name: &str) -> Option<ModelEndpoint> {
    if name.is_empty() || is_scripted(name) {
        return None;
    }
    let place = ModelPlace::of(&app.settings, name);
    let address = redact::shown(place.address());
    let offered = list(app, name, &place).await;
    Some(ModelEndpoint { provider: place.provider.to_owned(), address, offered })
}

async fn list(app: &App, name: &str, place: &ModelPlace<'_>) -> Result<Vec<String>, ListError> {
    if is_of_unknown_provider(app, name) {
        return Err(ListError::UnknownProvider(name.to_owned()));
    }
    let listed = match app.environment(&app.settings).endpoint(name) {
        Ok(endpoint) => list_models_of(place.provider, quick(endpoint)).await,
        Err(EndpointError::Secret(error)) => return Err(ListError::Secret(error)),
        Err(error @ EndpointError::NoKey(_)) => Err(error.into()),
    };
    listed.map_err(|error| ListError::Model(Box::new(ModelTrouble::of(app, name, &error))))
}

/// A server on this machine, with its models.
pub struct LocalModels {
    /// Its base URL.
    pub url: String,
    /// What it offers; at least one.
    pub models: Vec<String>,
}

impl LocalModels {
    /// Who listens there, as far as can be told.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        let known = everloop_models::providers().find(|known| known.address == self.url);
        known.map_or("local", |known| known.name)
    }

    /// The first of its models.
    #[must_use]
    pub fn first(&self) -> &str {
        self.models.first().map_or("", String::as_str)
    }
}

/// The first server that answers on this machine.
pub async fn first_local() -> Option<LocalModels> {
    for url in places() {
        let models = offered_at(&url).await;
        if !models.is_empty() {
            return Some(LocalModels { url, models });
        }
    }
    None
}

/// Every server that answers on this machine.
async fn all_local() -> Vec<LocalModels> {
    let mut servers = Vec::new();
    for url in places() {
        let models = offered_at(&url).await;
        if !models.is_empty() {
            servers.push(LocalModels { url, models });
        }
    }
    servers
}

/// Where servers on this machine are looked for.
fn places() -> Vec<String> {
    // For tests, which must not find what happens to run on the machine.
    let places: Vec<String> = match std::env::var("EVERLOOP_SETUP_PROBE") {
        Ok(places) => places.split(',').map(str::to_owned).collect(),
        Err(_) => USUAL.map(str::to_owned).to_vec(),
    };
    places.into_iter().filter(|url| !url.is_empty()).collect()
}

async fn offered_at(url: &str) -> Vec<String> {
    let endpoint = Endpoint { timeouts: within(LOCAL_MS), ..Endpoint::at(url) };
    list_models(endpoint).await.unwrap_or_default()
}

/// The same endpoint, waited for only as long as a list is worth.
fn quick(endpoint: Endpoint) -> Endpoint {
    Endpoint { timeouts: within(OFFER_MS), ..endpoint }
}

fn within(ms: u64) -> Timeouts {
    Timeouts { connect_ms: ms, first_byte_ms: ms, idle_ms: ms, total_ms: ms }
}

/// What a provider offers where it is asked; nothing if it does not say.
pub async fn offered(app: &App, provider: &str) -> Vec<String> {
    let name = format!("{provider}/");
    let Ok(endpoint) = app.environment(&app.settings).endpoint(&name) else { return Vec::new() };
    list_models_of(provider, quick(endpoint)).await.unwrap_or_default()
}

/// What a provider offers to a key that was typed, or to the one that is there if it is empty; at
/// an address that was typed, or at the one that is in force. A key that is there goes to its own
/// address only. Nothing is kept.
///
/// # Errors
/// What the endpoint says, or that it cannot be reached.
pub async fn offered_to(
    app: &App,
    provider: &str,
    url: &str,
    typed_key: &str,
) -> Result<Vec<String>, ModelError> {
    let name = format!("{provider}/");
    let place = ModelPlace::of(&app.settings, &name);
    let base_url = match url {
        "" => place.base_url.clone(),
        url => url.to_owned(),
    };
    let is_own_address = base_url.trim_end_matches('/') == place.base_url.trim_end_matches('/');
    let api_key = match typed_key {
        "" if !is_own_address => None,
        "" => {
            let found = key::find(&app.settings, &app.key_file(), &place).ok().flatten();
            found.map(|key| key.secret)
        }
        typed => Some(Secret::new(typed)),
    };
    let endpoint = Endpoint { base_url, api_key, ..Endpoint::default() };
    list_models_of(provider, quick(endpoint)).await
}
