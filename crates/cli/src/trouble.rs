//! Why a model could not be asked, in words that help: what is wrong, where the key and the address
//! came from, and what mends it. No key is ever shown.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use everloop_app::environment::EndpointError;
use everloop_app::place;
use everloop_app::runs::RunDetails;
use everloop_app::trouble::{ModelTrouble, provider_with_key};
use everloop_types::ModelErrorKind as K;
use serde_json::{Value, json};

/// Where the words are read: advice is a command that can be typed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    InShell,
    InChat,
}

/// What is wrong, where things came from, and what mends it.
pub(crate) fn words(app: &Console, trouble: &ModelTrouble, read: Read) -> String {
    let mut lines = vec![head(app, trouble)];
    lines.extend(origins(app, trouble).into_iter().map(|line| format!("  {line}")));
    lines.extend(advice(app, trouble, read).map(|advice| format!("  → {advice}")));
    lines.join("\n")
}

/// The same for programs.
pub(crate) fn object(app: &Console, trouble: &ModelTrouble) -> Value {
    json!({
        "kind": trouble.error.kind,
        "http_status": trouble.error.status,
        "message": head(app, trouble),
        "model": trouble.name,
        "key_source": trouble.key_source,
        "hint": advice(app, trouble, Read::InShell),
    })
}

fn head(app: &Console, trouble: &ModelTrouble) -> String {
    let key = match trouble.error.kind {
        K::NoKey => "trouble.no_key",
        K::Unauthorized if trouble.key_source.is_none() => "trouble.wants_key",
        K::Unauthorized => "trouble.unauthorized",
        K::Forbidden => "trouble.forbidden",
        K::NotFound => "trouble.not_found",
        K::TooLong => "trouble.too_long",
        K::RateLimited => "trouble.rate_limited",
        K::NoCredit => "trouble.no_credit",
        K::Unreachable => "trouble.unreachable",
        _ => "trouble.other",
    };
    app.text(key, &args(trouble))
}

fn args(trouble: &ModelTrouble) -> [(&'static str, &str); 6] {
    [
        ("host", &trouble.host),
        ("name", &trouble.name),
        ("provider", place::provider(&trouble.name)),
        ("variable", &trouble.variable),
        ("address", &trouble.address),
        ("detail", &trouble.error.detail),
    ]
}

fn origins(app: &Console, trouble: &ModelTrouble) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(source), K::Unauthorized | K::Forbidden | K::NoCredit) =
        (&trouble.key_source, trouble.error.kind)
    {
        lines.push(app.text("trouble.key_from", &[("source", source)]));
    }
    if matches!(trouble.error.kind, K::NotFound | K::Unreachable | K::Unauthorized)
        && trouble.address_origin != "default"
    {
        let (address, origin) = (trouble.address.as_str(), trouble.address_origin.as_str());
        lines.push(app.text("trouble.address_from", &[("address", address), ("origin", origin)]));
    }
    lines
}

fn advice(app: &Console, trouble: &ModelTrouble, read: Read) -> Option<String> {
    let in_chat = read == Read::InChat;
    let key = match trouble.error.kind {
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
    Some(app.text(key, &args(trouble)))
}

/// That no model is chosen, in one line (PR-1).
pub(crate) fn no_model_line(app: &Console) -> String {
    match provider_with_key() {
        Some((provider, variable)) => {
            app.text("door.no_model_name", &[("provider", provider), ("variable", variable)])
        }
        None => app.text("door.no_model", &[]),
    }
}

/// That no model is chosen, and what is missing for one.
pub(crate) fn no_model(app: &Console) -> String {
    match provider_with_key() {
        Some((provider, variable)) => {
            app.text("model.missing_name", &[("provider", provider), ("variable", variable)])
        }
        None => app.text("model.missing", &[]),
    }
}

/// A run that did not begin, for programs.
pub(crate) fn not_begun(app: &Console, failure: &Failure) -> Value {
    let name = place::default_name(&app.settings);
    let endpoint = app.environment(&app.settings).endpoint(&name);
    let error = match (failure.exit, endpoint) {
        (Exit::Configuration, Err(error @ EndpointError::NoKey(_))) => {
            object(app, &ModelTrouble::of(app, &name, &error.into()))
        }
        (exit, _) => {
            let kind = if exit == Exit::Configuration { "configuration" } else { "usage" };
            json!({"kind": kind, "http_status": null, "message": failure.words,
                   "model": name, "key_source": null, "hint": null})
        }
    };
    json!({"status": "failed", "run_id": null, "text": null, "error": error})
}

/// The last words of a run for a person. A planning service that is "unavailable" because of a
/// wrong key is of no use: the trouble itself is told in its place.
pub(crate) fn said(details: &RunDetails, trouble: Option<&ModelTrouble>) -> Option<String> {
    let apology = everloop_text::get(details.history.frame().language, "plan.unavailable", &[]);
    let text = details.text();
    let is_apology = text.as_deref().is_some_and(|text| text.starts_with(&apology));
    text.filter(|_| !(trouble.is_some() && is_apology))
}
