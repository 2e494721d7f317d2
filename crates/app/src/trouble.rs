//! Why a model could not be asked: what is wrong, and where the key and the address came from. No
//! key is ever part of it.

use crate::app::App;
use crate::environment::is_scripted;
use crate::key;
use crate::place::Place;
use crate::runs::RunDetails;
use crate::settings::redact;
use everloop_models::providers;
use everloop_types::journal::{EffectAttemptFailed, EntryKind, Outcome, WaitingOn};
use everloop_types::{EffectId, ModelError, Status};

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

impl ModelTrouble {
    /// With what the settings and the environment of this process say now.
    #[must_use]
    pub fn of(app: &App, name: &str, error: &ModelError) -> Self {
        let place = Place::of(&app.settings, name);
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
