//! Why a model could not be asked: what is wrong, and where the key and the address came from. No
//! key is ever part of it.

use crate::app::App;
use crate::environment::{EndpointError, is_scripted};
use crate::key;
use crate::place::{self, ModelPlace};
use crate::runs::RunDetails;
use crate::settings::redact;
use everloop_models::providers;
use everloop_text as text;
use everloop_types::ModelErrorKind as K;
use everloop_types::journal::{EffectAttemptFailed, EntryKind, Outcome, WaitingOn};
use everloop_types::{EffectId, Lang, ModelError, ModelErrorKind, RunId, Status};
use serde::Serialize;

/// Why a model could not be asked.
pub struct ModelTrouble {
    /// What the provider or the network said.
    pub error: ModelError,
    /// As in `provider/model`.
    pub name: String,
    /// The machine that was asked.
    pub host: String,
    /// The base URL, without secrets.
    pub address: String,
    /// Where the base URL was chosen.
    pub address_origin: String,
    /// Where the key came from, if there is one.
    pub key_source: Option<String>,
    /// The variable in which a key is looked for first.
    pub variable: String,
}

/// Where advice is read: it is a command that can be typed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceFor {
    /// At a shell.
    Shell,
    /// In a conversation.
    Chat,
}

/// Why a model could not be asked, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct ModelTroubleReport {
    /// What kind of failure it is.
    pub kind: String,
    /// The status of the provider's answer.
    pub http_status: Option<u16>,
    /// What is wrong, in the person's language.
    pub message: String,
    /// As in `provider/model`.
    pub model: String,
    /// Where the key came from.
    pub key_source: Option<String>,
    /// What may mend it.
    pub hint: Option<String>,
}

/// A run that did not begin, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct RunNotBegun {
    /// Always `failed`.
    pub status: &'static str,
    /// There is none.
    pub run_id: Option<RunId>,
    /// There is none.
    pub text: Option<String>,
    /// Why it did not begin.
    pub error: ModelTroubleReport,
}

impl RunNotBegun {
    /// A run that did not begin: for its configuration, or for how it was asked for.
    #[must_use]
    pub fn new(app: &App, message: &str, is_configuration: bool) -> Self {
        let name = place::default_name(&app.settings);
        let endpoint = app.environment(&app.settings).endpoint(&name);
        let error = match endpoint {
            Err(error @ EndpointError::NoKey(_)) if is_configuration => {
                ModelTrouble::of(app, &name, &error.into()).report(app.lang)
            }
            _ => ModelTroubleReport {
                kind: if is_configuration { "configuration" } else { "usage" }.to_owned(),
                http_status: None,
                message: message.to_owned(),
                model: name,
                key_source: None,
                hint: None,
            },
        };
        Self { status: "failed", run_id: None, text: None, error }
    }
}

impl ModelTrouble {
    /// For programs.
    #[must_use]
    pub fn report(&self, lang: Lang) -> ModelTroubleReport {
        ModelTroubleReport {
            kind: kind_word(self.error.kind),
            http_status: self.error.status,
            message: self.message(lang),
            model: self.name.clone(),
            key_source: self.key_source.clone(),
            hint: self.advice(lang, AdviceFor::Shell),
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self, lang: Lang) -> String {
        let host = &self.host;
        let name = &self.name;
        let provider = &place::provider(&self.name);
        let detail = &everloop_text::observed(lang, &self.error.detail);
        let text = match self.error.kind {
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
        };
        text.in_lang(lang)
    }

    /// What may mend it.
    #[must_use]
    pub fn advice(&self, lang: Lang, surface: AdviceFor) -> Option<String> {
        let in_chat = surface == AdviceFor::Chat;
        let text = match self.error.kind {
            K::NoKey | K::Unauthorized if in_chat => text::mend::key_in_chat(),
            K::NoKey | K::Unauthorized => text::mend::key(&self.variable),
            K::Forbidden | K::NotFound if in_chat => text::mend::model_in_chat(),
            K::Forbidden | K::NotFound => text::mend::model(),
            K::TooLong if in_chat => text::mend::length_in_chat(),
            K::TooLong => text::mend::length(),
            K::NoCredit if in_chat => text::mend::credit_in_chat(),
            K::NoCredit => text::mend::credit(),
            K::Unreachable if in_chat => text::mend::address_in_chat(),
            K::Unreachable => text::mend::address(),
            _ => return None,
        };
        Some(text.in_lang(lang))
    }

    /// Where the key came from, if the failure may be its fault.
    #[must_use]
    pub fn suspect_key_source(&self) -> Option<&str> {
        let is_suspect = matches!(self.error.kind, K::Unauthorized | K::Forbidden | K::NoCredit);
        self.key_source.as_deref().filter(|_| is_suspect)
    }

    /// Where the address was chosen, if somebody chose it and the failure may be its fault.
    #[must_use]
    pub fn suspect_address_origin(&self) -> Option<&str> {
        let is_suspect = matches!(self.error.kind, K::NotFound | K::Unreachable | K::Unauthorized);
        (is_suspect && self.address_origin != "default").then_some(&self.address_origin)
    }

    /// With what the settings and the environment of this process say now.
    #[must_use]
    pub fn of(app: &App, name: &str, error: &ModelError) -> Self {
        let place = ModelPlace::of(&app.settings, name);
        let key = key::find(&app.settings, &app.key_file(), &place);
        let key = key.ok().flatten().map(|key| key.source.to_string());
        let variables = key::variables(&app.settings, place.provider);
        Self {
            error: error.clone(),
            name: name.to_owned(),
            host: place.host(),
            address: redact::shown(place.address()),
            address_origin: place.origin.to_string(),
            key_source: key.filter(|_| !is_scripted(name)),
            variable: variables.into_iter().next().unwrap_or_default(),
        }
    }

    /// Why a run failed or waits, if it is for its model.
    #[must_use]
    pub fn of_run(app: &App, details: &RunDetails) -> Option<Self> {
        let (error, attempts) = failure(details)?;
        let name = details.history.frame().model.after(attempts).name;
        Some(Self::of(app, &name, error))
    }
}

/// The last words of a run for a person. "Planning is unavailable" because of a wrong key is of no
/// use, and neither is a report of nothing: the trouble itself is told in its place, and once.
#[must_use]
pub fn final_words(details: &RunDetails, trouble: Option<&ModelTrouble>) -> Option<String> {
    let text = details.text()?;
    let Some(trouble) = trouble else { return Some(text) };
    let language = details.history.frame().language;
    let is = |known: text::Text| text.starts_with(&known.in_lang(language));
    let is_empty_report = !has_seen(details) && is(text::closing::from_journal());
    if is(text::plan::unavailable()) || is_empty_report {
        return None;
    }
    let is_reason = |line: &str| line.starts_with('[') && line.contains(&trouble.error.detail);
    match text.trim_end().rsplit_once('\n') {
        Some((before, last)) if is_reason(last) => Some(before.to_owned()),
        _ => Some(text),
    }
}

/// Whether anything came back from a tool.
fn has_seen(details: &RunDetails) -> bool {
    details.history.entries.iter().any(|entry| {
        let EntryKind::EffectFinished(finished) = &entry.kind else { return false };
        matches!(finished.outcome, Outcome::Observed(_))
    })
}

/// The word of a kind in JSON.
fn kind_word(kind: ModelErrorKind) -> String {
    serde_json::json!(kind).as_str().unwrap_or_default().to_owned()
}

/// How the model failed last, if the run stands still or could not go on for that, and after how
/// many failed attempts of the same call.
fn failure(details: &RunDetails) -> Option<(&ModelError, u32)> {
    let entries = &details.history.entries;
    let attempts_of = |effect: &EffectId| {
        let failed = entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::EffectAttemptFailed(EffectAttemptFailed { attempt, .. })
                if entry.effect.as_ref() == Some(effect) =>
            {
                Some(*attempt)
            }
            _ => None,
        });
        failed.unwrap_or(0)
    };
    let last = entries.iter().rev();
    if let Some(WaitingOn::Model { error }) = &details.waiting_on {
        let mut failed =
            last.filter(|entry| matches!(entry.kind, EntryKind::EffectAttemptFailed(_)));
        let attempts = failed.next().and_then(|entry| entry.effect.as_ref()).map(attempts_of);
        return Some((error, attempts.unwrap_or(0)));
    }
    if details.row.status != Status::Failed {
        return None;
    }
    let (effect, outcome) = last.clone().find_map(|entry| match &entry.kind {
        EntryKind::EffectFinished(finished) => Some((entry.effect.as_ref(), &finished.outcome)),
        _ => None,
    })?;
    match outcome {
        Outcome::ModelFailed(error) => Some((error, effect.map_or(0, attempts_of))),
        _ => None,
    }
}

/// A provider whose key is in the environment, and the variable that holds it.
#[must_use]
pub fn provider_with_key() -> Option<(&'static str, &'static str)> {
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    providers().find_map(|known| {
        let variable = known.key_variables.iter().copied().find(set)?;
        Some((known.name, variable))
    })
}
