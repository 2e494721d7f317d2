//! What a provider's complaint means.

use everloop_types::{ModelError, ModelErrorKind};
use serde_json::Value;

/// Longest detail that is kept of a provider's words.
const DETAIL_CHARS_MAX: usize = 2_000;

/// Parts of the names of errors that no further attempt mends.
const REFUSALS: [&str; 8] = [
    "invalid",
    "quota",
    "exceeded",
    "not_found",
    "authentication",
    "permission",
    "billing",
    "too_large",
];

/// What an HTTP status other than 2xx means for the call.
pub(crate) fn status_kind(status: u16) -> ModelErrorKind {
    match status {
        429 => ModelErrorKind::RateLimited,
        408 | 504 => ModelErrorKind::TimedOut,
        500.. => ModelErrorKind::Server,
        _ => ModelErrorKind::Refused,
    }
}

/// The error for a status and the body that came with it.
pub(crate) fn refusal(status: u16, body: &[u8]) -> ModelError {
    let json = serde_json::from_slice::<Value>(body).ok();
    // Some put the one error into a list.
    let json = json.as_ref().map(|json| json.get(0).unwrap_or(json));
    let error = json.map(|json| json.get("error").unwrap_or(json));
    let words = match error {
        Some(error) => message_of(error),
        None => String::from_utf8_lossy(body).trim().to_owned(),
    };
    let detail = format!("HTTP {status}: {words}");
    let retry_after_ms = error.and_then(retry_delay_ms);
    let error = ModelError::new(status_kind(status), clip(detail.trim_end_matches(": ")));
    ModelError { retry_after_ms, ..error }
}

/// When to come back, where the body says it and not the head: `"retryDelay": "7.5s"`.
fn retry_delay_ms(error: &Value) -> Option<u64> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay"))?.as_str()?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).ceil() as u64)
}

/// The error that a reply with status 200 carries in its body.
pub(crate) fn confessed(error: &Value) -> ModelError {
    let code = error.get("code").or_else(|| error.get("status"));
    let status = code.and_then(|code| match code {
        Value::Number(n) => n.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    });
    let kind = match status.and_then(|status| u16::try_from(status).ok()) {
        Some(status @ 400..=599) => status_kind(status),
        _ => named_kind(error),
    };
    let retry_after_ms = retry_delay_ms(error);
    ModelError { retry_after_ms, ..ModelError::new(kind, clip(&message_of(error))) }
}

/// Without a number the names decide. What nobody named is the provider's own problem: a further
/// attempt may help, and the engine bounds attempts.
fn named_kind(error: &Value) -> ModelErrorKind {
    let text = |key| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let names = [text("code"), text("type")];
    let has = |part: &str| names.iter().any(|name| name.contains(part));
    if has("rate_limit") {
        ModelErrorKind::RateLimited
    } else if has("timeout") {
        ModelErrorKind::TimedOut
    } else if REFUSALS.iter().any(|name| has(name)) {
        ModelErrorKind::Refused
    } else {
        ModelErrorKind::Server
    }
}

fn message_of(error: &Value) -> String {
    let words = ["message", "detail", "error"].into_iter().find_map(|key| error.get(key));
    match words.unwrap_or(error) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The beginning of a text.
pub(super) fn clip(text: &str) -> String {
    text.chars().take(DETAIL_CHARS_MAX).collect()
}
