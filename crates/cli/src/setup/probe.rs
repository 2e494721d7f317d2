//! Whether a model answers: on this machine, at the endpoint that was entered, and at all.

use super::Wanted;
use crate::console::Console;
use crate::terminal;
use crate::trouble::{self, Read};
use everloop_app::frames::default_model;
use everloop_app::key;
use everloop_app::place::Place;
use everloop_app::trouble::ModelTrouble;
use everloop_engine::Environment;
use everloop_models::{Endpoint, Secret, Timeouts, list_models, list_models_of};
use everloop_ports::{Request, WirePrompt};
use everloop_text as text;
use everloop_types::{Message, ModelChoice, ModelError, ToolChoice};
use std::time::{Duration, Instant};

/// Where Ollama, llama.cpp and vLLM listen unless they are told otherwise.
const USUAL: [&str; 3] =
    ["http://127.0.0.1:11434/v1", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8000/v1"];

/// Long enough for this machine, too short to be noticed.
const LOCAL_MS: u64 = 700;

const OFFER_MS: u64 = 4_000;

/// A model that has to be loaded first may take its time.
const ANSWER_SECONDS: u64 = 60;

/// A model on this machine.
pub(super) struct Local {
    pub(super) url: String,
    pub(super) model: String,
}

impl Local {
    /// Who listens at that address, as far as can be told.
    pub(super) fn provider(&self) -> &'static str {
        local_provider(&self.url)
    }
}

/// Who listens at an address of this machine, as far as can be told.
fn local_provider(url: &str) -> &'static str {
    let known = everloop_models::providers().find(|known| known.address == url);
    known.map_or("local", |known| known.name)
}

/// A server on this machine, with its models.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) models: Vec<String>,
}

impl Server {
    /// Who listens there, as far as can be told.
    pub(crate) fn provider(&self) -> &'static str {
        local_provider(&self.url)
    }
}

/// The first model that answers on this machine.
pub(super) async fn local() -> Option<Local> {
    for url in places() {
        if let Some(model) = offered_at(&url).await.into_iter().next() {
            return Some(Local { url, model });
        }
    }
    None
}

/// Every server that answers on this machine.
pub(crate) async fn all() -> Vec<Server> {
    let mut servers = Vec::new();
    for url in places() {
        let models = offered_at(&url).await;
        if !models.is_empty() {
            servers.push(Server { url, models });
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
pub(crate) fn quick(endpoint: Endpoint) -> Endpoint {
    Endpoint { timeouts: within(OFFER_MS), ..endpoint }
}

/// What a provider offers where it is asked; nothing if it does not say.
pub(super) async fn offered(app: &Console, provider: &str) -> Vec<String> {
    let name = format!("{provider}/");
    let Ok(endpoint) = app.environment(&app.settings).endpoint(&name) else { return Vec::new() };
    list_models_of(provider, quick(endpoint)).await.unwrap_or_default()
}

/// What is offered to the key that was typed, or to the one that is there. Nothing is kept yet.
pub(super) async fn listed(app: &Console, wanted: &Wanted) -> Result<Vec<String>, ModelError> {
    let name = format!("{}/", wanted.provider);
    let place = Place::of(&app.settings, &name);
    let base_url = match wanted.url.as_str() {
        "" => place.base_url.clone(),
        url => url.to_owned(),
    };
    let api_key = match wanted.key.as_str() {
        "" => key::find(&app.settings, &app.key_file(), &place).ok().flatten(),
        _ => None,
    };
    let api_key = match api_key {
        Some(key) => Some(key.secret),
        None => Some(Secret::new(&wanted.key)).filter(|_| !wanted.key.is_empty()),
    };
    let endpoint = Endpoint { base_url, api_key, ..Endpoint::default() };
    list_models_of(&wanted.provider, quick(endpoint)).await
}

fn within(ms: u64) -> Timeouts {
    Timeouts { connect_ms: ms, first_byte_ms: ms, idle_ms: ms, total_ms: ms }
}

/// Asks for one word and tells how long the first one took. A failure changes nothing.
pub(super) async fn tell(app: &Console) {
    let name = default_model(app);
    let marks = terminal::marks();
    let words = match first_word(app, &name).await {
        Ok(took) => {
            let seconds = format!("{:.1}", took.as_secs_f64());
            let shown = name.split_once('/').map_or(name.as_str(), |(_, model)| model);
            app.text(
                text::setup::Works { mark: &marks.done, name: &shown, seconds: &seconds }.text(),
            )
        }
        Err(why) => {
            let detail = match &why {
                Why::Said(words) => words.clone(),
                Why::Model(error) => {
                    trouble::words(app, &ModelTrouble::of(app, &name, error), Read::InShell)
                }
            };
            app.text(
                text::setup::DoesNotWork { mark: &marks.failed, name: &name, detail: &detail }
                    .text(),
            )
        }
    };
    terminal::complain(&words);
}

/// Why a model did not answer.
enum Why {
    Said(String),
    Model(ModelError),
}

async fn first_word(app: &Console, name: &str) -> Result<Duration, Why> {
    let means = app.environment(&app.settings);
    if let Some(error) = means.key_error(name) {
        return Err(Why::Said(error.words(app.lang)));
    }
    let choice = ModelChoice { name: name.to_owned(), ..ModelChoice::default() };
    let (model, name) = means.model(&choice).map_err(Why::Model)?;
    let messages = [Message::user("Say: ok")];
    let mut wire = WirePrompt::default();
    let request = Request {
        model: &name,
        messages: &messages,
        wire: &mut wire,
        tools: Vec::new(),
        choice: &ToolChoice::None,
        output: None,
        temperature_milli: app.settings.model.temperature.count(),
        max_tokens: 64,
    };
    let begun = Instant::now();
    let mut first = None;
    let mut on_delta = |_: everloop_ports::Delta<'_>| {
        first.get_or_insert_with(|| begun.elapsed());
    };
    let patience = Duration::from_secs(ANSWER_SECONDS);
    let asked = tokio::time::timeout(patience, model.ask(request, &mut on_delta)).await;
    match asked {
        // Words came, so it works, even if a thinker ran out of tokens before it was done.
        Ok(Ok(_)) => Ok(first.unwrap_or_else(|| begun.elapsed())),
        Ok(Err(error)) => first.ok_or(Why::Model(error)),
        Err(_) => {
            let seconds = ANSWER_SECONDS.to_string();
            first.ok_or_else(|| Why::Said(app.text(text::setup::too_slow(&seconds))))
        }
    }
}
