//! Why a model could not be asked, in words that help: what is wrong, where the key and the address
//! came from, and what mends it. No key is ever shown.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use everloop_app::environment::EndpointError;
use everloop_app::place;
use everloop_app::runs::RunDetails;
use everloop_app::trouble::{ModelTrouble, provider_with_key};
use everloop_text as text;
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
    let host = &trouble.host;
    let name = &trouble.name;
    let provider = &place::provider(&trouble.name);
    let detail = &trouble.error.detail;
    app.text(match trouble.error.kind {
        K::NoKey => text::trouble::no_key(provider, &trouble.variable),
        K::Unauthorized if trouble.key_source.is_none() => {
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

fn origins(app: &Console, trouble: &ModelTrouble) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(source), K::Unauthorized | K::Forbidden | K::NoCredit) =
        (&trouble.key_source, trouble.error.kind)
    {
        lines.push(app.text(text::trouble::key_from(&source)));
    }
    if matches!(trouble.error.kind, K::NotFound | K::Unreachable | K::Unauthorized)
        && trouble.address_origin != "default"
    {
        let (address, origin) = (trouble.address.as_str(), trouble.address_origin.as_str());
        lines.push(app.text(text::trouble::address_from(&address, &origin)));
    }
    lines
}

fn advice(app: &Console, trouble: &ModelTrouble, read: Read) -> Option<String> {
    let in_chat = read == Read::InChat;
    let key = match trouble.error.kind {
        K::NoKey | K::Unauthorized if in_chat => text::mend::key_in_chat(&trouble.variable),
        K::NoKey | K::Unauthorized => text::mend::key(&trouble.variable),
        K::Forbidden | K::NotFound if in_chat => text::mend::model_in_chat(),
        K::Forbidden | K::NotFound => text::mend::model(),
        K::TooLong if in_chat => text::mend::length_in_chat(),
        K::TooLong => text::mend::length(),
        K::NoCredit => text::mend::credit(),
        K::Unreachable => text::mend::address(),
        _ => return None,
    };
    Some(app.text(key))
}

/// That no model is chosen, in one line (PR-1).
pub(crate) fn no_model_line(app: &Console) -> String {
    match provider_with_key() {
        Some((provider, variable)) => app.text(text::door::no_model_name(&provider, &variable)),
        None => app.text(text::door::no_model()),
    }
}

/// That no model is chosen, and what is missing for one.
pub(crate) fn no_model(app: &Console) -> String {
    match provider_with_key() {
        Some((provider, variable)) => app.text(text::model::missing_name(&provider, &variable)),
        None => app.text(text::model::missing()),
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
    let apology = text::plan::unavailable().in_lang(details.history.frame().language);
    let text = details.text();
    let is_apology = text.as_deref().is_some_and(|text| text.starts_with(&apology));
    text.filter(|_| !(trouble.is_some() && is_apology))
}
