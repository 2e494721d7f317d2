//! Why a model could not be asked, in words that help: what is wrong, where the key and the address
//! came from, and what mends it. No key is ever shown.

use crate::app::App;
use crate::exit::{Exit, Failure};
use crate::key;
use crate::means::EndpointError;
use crate::place::{self, Place};
use crate::settings::redact;
use crate::show::Shown;
use crate::terminal;
use everloop_models::providers;
use everloop_text as text;
use everloop_types::journal::{EffectAttemptFailed, Kind, Outcome, WaitingOn};
use everloop_types::{EffectId, ModelError, ModelErrorKind, Status};
use serde_json::{Value, json};

/// Where the words are read: advice is a command that can be typed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    InShell,
    InChat,
}

/// Why a model could not be asked.
pub(crate) struct Trouble {
    error: ModelError,
    /// As in `provider/model`.
    name: String,
    host: String,
    /// The address, and where it was chosen.
    address: (String, String),
    /// Where the key came from, if there is one.
    key_source: Option<String>,
    /// The variable in which a key is looked for first.
    variable: String,
}

impl Trouble {
    /// With what the settings and the environment of this process say now.
    pub(crate) fn of(app: &App, name: &str, error: &ModelError) -> Self {
        let place = Place::of(&app.settings, name);
        let key = key::find(&app.settings, &app.key_file(), &place);
        let key = key.ok().flatten().map(|key| key.source.to_string());
        let variables = key::variables(&app.settings, place.provider);
        let address = redact::shown("model.base_url", place.address());
        Self {
            error: error.clone(),
            name: name.to_owned(),
            host: place.host(),
            address: (address, place.origin.to_string()),
            key_source: key.filter(|_| !crate::means::is_scripted(name)),
            variable: variables.into_iter().next().unwrap_or_default(),
        }
    }

    /// Why a run failed or stands still, if it is for its model.
    pub(crate) fn of_run(app: &App, shown: &Shown) -> Option<Self> {
        let (error, attempts) = failure(shown)?;
        let name = shown.history.frame().model.after(attempts).name;
        Some(Self::of(app, &name, error))
    }

    /// What is wrong, where things came from, and what mends it.
    pub(crate) fn words(&self, app: &App, read: Read) -> String {
        let mut lines = vec![self.head(app)];
        lines.extend(self.origins(app).into_iter().map(|line| format!("  {line}")));
        lines.extend(self.advice(app, read).map(|advice| format!("  → {advice}")));
        lines.join("\n")
    }

    /// The same for programs.
    pub(crate) fn object(&self, app: &App) -> Value {
        json!({
            "kind": self.error.kind,
            "http_status": self.error.status,
            "message": self.head(app),
            "model": self.name,
            "key_source": self.key_source,
            "hint": self.advice(app, Read::InShell),
        })
    }

    /// Whether another key is what helps.
    pub(crate) fn is_about_the_key(&self) -> bool {
        self.error.is_about_the_key()
    }

    fn head(&self, app: &App) -> String {
        use ModelErrorKind as K;
        let host = &self.host;
        let name = &self.name;
        let provider = &place::provider(&self.name);
        let detail = &self.error.detail;
        app.text(match self.error.kind {
            K::NoKey => text::trouble::no_key(provider, &self.variable),
            K::Unauthorized if self.key_source.is_none() => {
                text::trouble::WantsKey { host, provider, detail }.text()
            }
            K::Unauthorized => text::trouble::Unauthorized { host, provider, detail }.text(),
            K::Forbidden => text::trouble::Forbidden { host, name, detail }.text(),
            K::NotFound => text::trouble::NotFound { host, name, detail }.text(),
            K::TooLong => text::trouble::too_long(name, detail),
            K::RateLimited => text::trouble::rate_limited(host, detail),
            K::NoCredit => text::trouble::no_credit(host, detail),
            K::Unreachable => text::trouble::unreachable(host, detail),
            _ => text::trouble::other(name, detail),
        })
    }

    fn origins(&self, app: &App) -> Vec<String> {
        use ModelErrorKind as K;
        let mut lines = Vec::new();
        if let (Some(source), K::Unauthorized | K::Forbidden | K::NoCredit) =
            (&self.key_source, self.error.kind)
        {
            lines.push(app.text(text::trouble::key_from(&source)));
        }
        if matches!(self.error.kind, K::NotFound | K::Unreachable | K::Unauthorized) {
            let (address, origin) = &self.address;
            if origin != "default" {
                lines.push(app.text(text::trouble::address_from(&address, &origin)));
            }
        }
        lines
    }

    fn advice(&self, app: &App, read: Read) -> Option<String> {
        use ModelErrorKind as K;
        let in_chat = read == Read::InChat;
        let text = match self.error.kind {
            K::NoKey | K::Unauthorized if in_chat => text::mend::key_in_chat(&self.variable),
            K::NoKey | K::Unauthorized => text::mend::key(&self.variable),
            K::Forbidden | K::NotFound if in_chat => text::mend::model_in_chat(),
            K::Forbidden | K::NotFound => text::mend::model(),
            K::TooLong if in_chat => text::mend::length_in_chat(),
            K::TooLong => text::mend::length(),
            K::NoCredit => text::mend::credit(),
            K::Unreachable => text::mend::address(),
            _ => return None,
        };
        Some(app.text(text))
    }
}

/// How the model failed last, if the run stands still or could not go on for that, and after how
/// many failed attempts of the same call.
fn failure(shown: &Shown) -> Option<(&ModelError, u32)> {
    let entries = &shown.history.entries;
    let attempts_of = |effect: &EffectId| {
        let failed = entries.iter().rev().find_map(|entry| match &entry.kind {
            Kind::EffectAttemptFailed(EffectAttemptFailed { attempt, .. })
                if entry.effect.as_ref() == Some(effect) =>
            {
                Some(*attempt)
            }
            _ => None,
        });
        failed.unwrap_or(0)
    };
    let last = entries.iter().rev();
    if let Some(WaitingOn::Model { error }) = &shown.waiting_on {
        let mut failed = last.filter(|entry| matches!(entry.kind, Kind::EffectAttemptFailed(_)));
        let attempts = failed.next().and_then(|entry| entry.effect.as_ref()).map(attempts_of);
        return Some((error, attempts.unwrap_or(0)));
    }
    if shown.row.status != Status::Failed {
        return None;
    }
    let (effect, outcome) = last.clone().find_map(|entry| match &entry.kind {
        Kind::EffectFinished(finished) => Some((entry.effect.as_ref(), &finished.outcome)),
        _ => None,
    })?;
    match outcome {
        Outcome::ModelFailed(error) => Some((error, effect.map_or(0, attempts_of))),
        _ => None,
    }
}

/// A provider whose key is in the environment, and the variable that holds it.
fn provider_with_key() -> Option<(&'static str, &'static str)> {
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    providers().find_map(|known| {
        let variable = known.key_variables.iter().copied().find(set)?;
        Some((known.name, variable))
    })
}

/// That no model is chosen, in one line (PR-1).
pub(crate) fn no_model_line(app: &App) -> String {
    match provider_with_key() {
        Some((provider, variable)) => app.text(text::door::no_model_name(&provider, &variable)),
        None => app.text(text::door::no_model()),
    }
}

/// That no model is chosen, and what is missing for one.
pub(crate) fn no_model(app: &App) -> String {
    match provider_with_key() {
        Some((provider, variable)) => app.text(text::model::missing_name(&provider, &variable)),
        None => app.text(text::model::missing()),
    }
}

/// That nobody knows where a provider is, and which names are like it.
pub(crate) fn unknown_provider(app: &App, name: &str) -> Option<String> {
    let place = Place::of(&app.settings, name);
    let provider = place.provider;
    if provider.is_empty() || crate::means::is_scripted(name) || !place.address().is_empty() {
        return None;
    }
    let names: Vec<&str> = providers().map(|known| known.name).collect();
    let near = app.near(provider, names.iter().copied());
    let (all, variable) = (names.join(", "), place::address_variable(provider));
    Some(
        app.text(
            text::model::UnknownProvider {
                provider: &provider,
                near: &near,
                all: &all,
                variable: &variable,
            }
            .text(),
        ),
    )
}

/// A run that did not begin, for programs.
pub(crate) fn not_begun(app: &App, failure: &Failure) -> Value {
    let name = place::default_name(&app.settings);
    let endpoint = app.means(&app.settings).endpoint(&name);
    let error = match (failure.exit, endpoint) {
        (Exit::Configuration, Err(error @ EndpointError::NoKey(_))) => {
            Trouble::of(app, &name, &error.into()).object(app)
        }
        (exit, _) => {
            let kind = if exit == Exit::Configuration { "configuration" } else { "usage" };
            json!({"kind": kind, "http_status": null, "message": failure.words,
                   "model": name, "key_source": null, "hint": null})
        }
    };
    json!({"status": "failed", "run_id": null, "text": null, "error": error})
}

/// An address that was given for this command and is not this model's is not passed over in
/// silence.
pub(crate) fn tell_of_unused_address(app: &App, name: &str) {
    let (settings, provider) = (&app.settings, place::provider(name));
    let owner = settings.owner("model.base_url");
    let is_given = settings.origin("model.base_url").rank() > 1;
    if is_given
        && !settings.text("model.base_url").is_empty()
        && owner != provider
        && !crate::means::is_scripted(name)
    {
        let variable = place::address_variable(provider);
        terminal::complain(
            &app.text(
                text::model::AddressUnused {
                    owner: &owner,
                    provider: &provider,
                    variable: &variable,
                }
                .text(),
            ),
        );
    }
}

impl Shown {
    /// The last words of a run for a person. A planning service that is "unavailable" because of a
    /// wrong key is no use to anybody: the trouble itself is told in its place.
    pub(crate) fn said(&self, trouble: Option<&Trouble>) -> Option<String> {
        let apology = text::plan::unavailable().in_lang(self.history.frame().language);
        let text = self.text();
        let is_apology = text.as_deref().is_some_and(|text| text.starts_with(&apology));
        let hides = trouble.is_some() && is_apology;
        text.filter(|_| !hides)
    }
}
