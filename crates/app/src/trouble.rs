//! Why a model could not be asked, in words that help: what is wrong, where the key and the address
//! came from, and what mends it. No key is ever shown.

use crate::app::App;
use crate::exit::{Exit, Failure};
use crate::key;
use crate::environment::EndpointError;
use crate::place::{self, Place};
use crate::settings::{keys, redact};
use crate::show::Shown;
use crate::terminal;
use everloop_models::providers;
use everloop_types::journal::{EffectAttemptFailed, Kind, Outcome, WaitingOn};
use everloop_types::{EffectId, ModelError, ModelErrorKind, Status};
use serde_json::{Value, json};

/// Where the words are read: advice is a command that can be typed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    InShell,
    InChat,
}

/// Why a model could not be asked.
pub struct Trouble {
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
    pub fn of(app: &App, name: &str, error: &ModelError) -> Self {
        let place = Place::of(&app.settings, name);
        let key = key::find(&app.settings, &app.key_file(), &place);
        let key = key.ok().flatten().map(|key| key.source.to_string());
        let variables = key::variables(&app.settings, place.provider);
        let address = redact::shown(place.address());
        Self {
            error: error.clone(),
            name: name.to_owned(),
            host: place.host(),
            address: (address, place.origin.to_string()),
            key_source: key.filter(|_| !crate::environment::is_scripted(name)),
            variable: variables.into_iter().next().unwrap_or_default(),
        }
    }

    /// Why a run failed or stands still, if it is for its model.
    pub fn of_run(app: &App, shown: &Shown) -> Option<Self> {
        let (error, attempts) = failure(shown)?;
        let name = shown.history.frame().model.after(attempts).name;
        Some(Self::of(app, &name, error))
    }

    /// What is wrong, where things came from, and what mends it.
    pub fn words(&self, app: &App, read: Read) -> String {
        let mut lines = vec![self.head(app)];
        lines.extend(self.origins(app).into_iter().map(|line| format!("  {line}")));
        lines.extend(self.advice(app, read).map(|advice| format!("  → {advice}")));
        lines.join("\n")
    }

    /// The same for programs.
    pub fn object(&self, app: &App) -> Value {
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
    pub fn is_about_the_key(&self) -> bool {
        self.error.is_about_the_key()
    }

    fn head(&self, app: &App) -> String {
        use ModelErrorKind as K;
        let key = match self.error.kind {
            K::NoKey => "trouble.no_key",
            K::Unauthorized if self.key_source.is_none() => "trouble.wants_key",
            K::Unauthorized => "trouble.unauthorized",
            K::Forbidden => "trouble.forbidden",
            K::NotFound => "trouble.not_found",
            K::TooLong => "trouble.too_long",
            K::RateLimited => "trouble.rate_limited",
            K::NoCredit => "trouble.no_credit",
            K::Unreachable => "trouble.unreachable",
            _ => "trouble.other",
        };
        app.text(key, &self.args())
    }

    fn args(&self) -> [(&'static str, &str); 6] {
        [
            ("host", &self.host),
            ("name", &self.name),
            ("provider", place::provider(&self.name)),
            ("variable", &self.variable),
            ("address", &self.address.0),
            ("detail", &self.error.detail),
        ]
    }

    fn origins(&self, app: &App) -> Vec<String> {
        use ModelErrorKind as K;
        let mut lines = Vec::new();
        if let (Some(source), K::Unauthorized | K::Forbidden | K::NoCredit) =
            (&self.key_source, self.error.kind)
        {
            lines.push(app.text("trouble.key_from", &[("source", source)]));
        }
        if matches!(self.error.kind, K::NotFound | K::Unreachable | K::Unauthorized) {
            let (address, origin) = &self.address;
            if origin != "default" {
                let args = [("address", address.as_str()), ("origin", origin.as_str())];
                lines.push(app.text("trouble.address_from", &args));
            }
        }
        lines
    }

    fn advice(&self, app: &App, read: Read) -> Option<String> {
        use ModelErrorKind as K;
        let in_chat = read == Read::InChat;
        let key = match self.error.kind {
            K::NoKey | K::Unauthorized if in_chat => "mend.key_in_chat",
            K::NoKey | K::Unauthorized => "mend.key",
            K::Forbidden | K::NotFound if in_chat => "mend.model_in_chat",
            K::Forbidden | K::NotFound => "mend.model",
            K::TooLong if in_chat => "mend.length_in_chat",
            K::TooLong => "mend.length",
            K::NoCredit => "mend.credit",
            K::Unreachable => "mend.address",
            _ => return None,
        };
        Some(app.text(key, &self.args()))
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
pub fn no_model_line(app: &App) -> String {
    match provider_with_key() {
        Some((provider, variable)) => {
            app.text("door.no_model_name", &[("provider", provider), ("variable", variable)])
        }
        None => app.text("door.no_model", &[]),
    }
}

/// That no model is chosen, and what is missing for one.
pub fn no_model(app: &App) -> String {
    match provider_with_key() {
        Some((provider, variable)) => {
            app.text("model.missing_name", &[("provider", provider), ("variable", variable)])
        }
        None => app.text("model.missing", &[]),
    }
}

/// That nobody knows where a provider is, and which names are like it.
pub fn unknown_provider(app: &App, name: &str) -> Option<String> {
    let place = Place::of(&app.settings, name);
    let provider = place.provider;
    if provider.is_empty() || crate::environment::is_scripted(name) || !place.address().is_empty() {
        return None;
    }
    let names: Vec<&str> = providers().map(|known| known.name).collect();
    let near = app.near(provider, names.iter().copied());
    let (all, variable) = (names.join(", "), place::address_variable(provider));
    let args = [("provider", provider), ("near", &near), ("all", &all), ("variable", &variable)];
    Some(app.text("model.unknown_provider", &args))
}

/// A run that did not begin, for programs.
pub fn not_begun(app: &App, failure: &Failure) -> Value {
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
pub fn tell_of_unused_address(app: &App, name: &str) {
    let (settings, provider) = (&app.settings, place::provider(name));
    let owner = settings.owner(keys::model::base_url());
    let is_given = settings.origin(keys::model::base_url()).is_of_this_process();
    if is_given
        && !settings.model.base_url.is_empty()
        && owner != provider
        && !crate::environment::is_scripted(name)
    {
        let variable = place::address_variable(provider);
        let args = [("owner", owner), ("provider", provider), ("variable", &variable)];
        terminal::complain(&app.text("model.address_unused", &args));
    }
}

impl Shown {
    /// The last words of a run for a person. A planning service that is "unavailable" because of a
    /// wrong key is no use to anybody: the trouble itself is told in its place.
    pub fn said(&self, trouble: Option<&Trouble>) -> Option<String> {
        let apology = everloop_text::get(self.history.frame().language, "plan.unavailable", &[]);
        let text = self.text();
        let is_apology = text.as_deref().is_some_and(|text| text.starts_with(&apology));
        let hides = trouble.is_some() && is_apology;
        text.filter(|_| !hides)
    }
}
