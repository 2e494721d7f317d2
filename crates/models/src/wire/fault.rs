//! Classifies the errors of providers.

use everloop_types::{ModelError, ModelErrorKind};
use serde_json::Value;

/// How providers name the parts of a request that they may refuse. They have no codes for it, so
/// their messages are read here and nowhere else.
const TEMPERATURE: [&str; 1] = ["temperature"];
const TOOL_CHOICE: [&str; 1] = ["tool_choice"];
const ONE_SCHEMA: [&str; 4] =
    ["invalid schema", "grammar", "schema conversion", "invalid json schema"];
const ALL_SCHEMAS: [&str; 4] =
    ["response_format", "json_schema", "responseschema", "structured output"];

/// A failed call, and what of the request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WireFault {
    pub(crate) error: ModelError,
    pub(crate) refused: RefusedParts,
}

/// Parts of a request that a provider refused before the model was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RefusedParts {
    /// The temperature.
    pub(crate) temperature: bool,
    /// That a tool call is forced, as some reasoning models do.
    pub(crate) tool_choice: bool,
    /// That the reply is held to a schema.
    pub(crate) schema: Option<RefusedSchema>,
}

/// Which schemas were refused: what is wrong with one says nothing about others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusedSchema {
    /// This one.
    One,
    /// Every one.
    All,
}

impl From<ModelError> for WireFault {
    fn from(error: ModelError) -> Self {
        let refused = match error.kind {
            ModelErrorKind::Refused => RefusedParts::named_in(&error.detail),
            _ => RefusedParts::default(),
        };
        Self { error, refused }
    }
}

impl From<WireFault> for ModelError {
    fn from(fault: WireFault) -> Self {
        fault.error
    }
}

impl RefusedParts {
    fn named_in(words: &str) -> Self {
        let lower = words.to_lowercase();
        let schema = if names_any(&lower, &ONE_SCHEMA) {
            Some(RefusedSchema::One)
        } else if names_any(&lower, &ALL_SCHEMAS) {
            Some(RefusedSchema::All)
        } else {
            None
        };
        Self {
            temperature: names_any(words, &TEMPERATURE),
            tool_choice: names_any(words, &TOOL_CHOICE),
            schema,
        }
    }
}

fn names_any(words: &str, names: &[&str]) -> bool {
    names.iter().any(|name| words.contains(name))
}

/// Longest detail that is kept of a provider's words.
const DETAIL_CHARS_MAX: usize = 2_000;

/// Parts of the names of permanent errors, and what they mean.
const NAMES: [(&str, ModelErrorKind); 13] = [
    ("context_length", ModelErrorKind::TooLong),
    ("quota", ModelErrorKind::NoCredit),
    ("insufficient_balance", ModelErrorKind::NoCredit),
    ("billing", ModelErrorKind::NoCredit),
    ("invalid_api_key", ModelErrorKind::Unauthorized),
    ("authentication", ModelErrorKind::Unauthorized),
    ("permission", ModelErrorKind::Forbidden),
    ("not_found", ModelErrorKind::NotFound),
    ("too_large", ModelErrorKind::Refused),
    ("rate_limit", ModelErrorKind::RateLimited),
    ("timeout", ModelErrorKind::TimedOut),
    ("invalid", ModelErrorKind::Refused),
    ("exceeded", ModelErrorKind::Refused),
];

/// How providers report that a prompt is too long, in lower case; there is no common name.
const TOO_LONG: [&str; 10] = [
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "input token count",
    "range of input length",
    "exceeds the maximum number of tokens",
];

/// How providers report with status 400 that the key is wrong.
const BAD_KEY: [&str; 3] = ["api key not valid", "api_key_invalid", "invalid api key"];

/// How providers report an empty account with the status of a rate limit.
const NO_CREDIT: [&str; 3] = ["current quota", "insufficient balance", "insufficient_quota"];

/// What an HTTP status other than 2xx means for the call.
pub(crate) fn status_kind(status: u16) -> ModelErrorKind {
    match status {
        401 => ModelErrorKind::Unauthorized,
        402 => ModelErrorKind::NoCredit,
        403 => ModelErrorKind::Forbidden,
        404 => ModelErrorKind::NotFound,
        429 => ModelErrorKind::RateLimited,
        408 | 504 => ModelErrorKind::TimedOut,
        500.. => ModelErrorKind::Server,
        _ => ModelErrorKind::Refused,
    }
}

/// The same, refined by the body.
fn kind_of(status: u16, error: Option<&Value>, words: &str) -> ModelErrorKind {
    let named = error.map_or("", |error| text(error, "code"));
    let words = words.to_lowercase();
    let says = |any: &[&str]| names_any(&words, any);
    match status {
        400 | 413 | 422 if named.contains("context_length") || says(&TOO_LONG) => {
            ModelErrorKind::TooLong
        }
        400 if says(&BAD_KEY) => ModelErrorKind::Unauthorized,
        429 if named.contains("insufficient_quota") || says(&NO_CREDIT) => ModelErrorKind::NoCredit,
        // llama.cpp and others report it with the status of a server error.
        500 if says(&TOO_LONG) => ModelErrorKind::TooLong,
        _ => status_kind(status),
    }
}

fn text<'v>(error: &'v Value, key: &str) -> &'v str {
    error.get(key).and_then(Value::as_str).unwrap_or_default()
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
    let kind = kind_of(status, error, &words);
    let error = ModelError::new(kind, clip(detail.trim_end_matches(": ")));
    ModelError { retry_after_ms, status: Some(status), ..error }
}

/// When to retry, if the body has it and not the headers: `"retryDelay": "7.5s"`.
fn retry_delay_ms(error: &Value) -> Option<u64> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay"))?.as_str()?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).ceil() as u64)
}

/// The error that a reply with status 200 carries in its body.
pub(crate) fn provider_error(error: &Value) -> ModelError {
    let code = error.get("code").or_else(|| error.get("status"));
    let status = code.and_then(|code| match code {
        Value::Number(n) => n.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    });
    let kind = match status.and_then(|status| u16::try_from(status).ok()) {
        Some(status @ 400..=599) => kind_of(status, Some(error), &message_of(error)),
        _ => named_kind(error),
    };
    let retry_after_ms = retry_delay_ms(error);
    ModelError { retry_after_ms, ..ModelError::new(kind, clip(&message_of(error))) }
}

/// Without a status the name decides. An unknown name counts as a server error: another attempt may
/// help, and the engine limits attempts.
fn named_kind(error: &Value) -> ModelErrorKind {
    let names = [text(error, "code"), text(error, "type")];
    let has = |part: &str| names.iter().any(|name| name.contains(part));
    let known = NAMES.iter().find(|(part, _)| has(part));
    known.map_or(ModelErrorKind::Server, |(_, kind)| *kind)
}

fn message_of(error: &Value) -> String {
    let words = ["message", "detail", "error"].into_iter().find_map(|key| error.get(key));
    match words.unwrap_or(error) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The longest piece of text that may be a secret of which a cut leaves a part.
const TORN_CHARS_MAX: usize = 400;

/// The beginning of a text, without signs that a terminal or a log obeys. A word that the limit
/// would cut is left out: it may be a key that the provider sent back, and half of one is not
/// recognised as a secret.
pub(super) fn clip(text: &str) -> String {
    let plain = |c: char| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c };
    let whole: String = text.chars().take(DETAIL_CHARS_MAX).map(plain).collect();
    match text.chars().nth(DETAIL_CHARS_MAX) {
        None => whole,
        Some(_) => without_cut_word(&whole).to_owned(),
    }
}

/// The beginning of bytes that may be more than a limit, without a word that it cuts.
pub(crate) fn within(bytes: &[u8], most: usize) -> &[u8] {
    if bytes.len() <= most {
        return bytes;
    }
    let kept = &bytes[..most];
    let last = kept.iter().rposition(u8::is_ascii_whitespace).unwrap_or(0);
    &kept[..last.max(most.saturating_sub(TORN_CHARS_MAX))]
}

fn without_cut_word(text: &str) -> &str {
    let end = text.char_indices().rev().nth(TORN_CHARS_MAX).map_or(0, |(at, _)| at);
    let last = text.rfind(char::is_whitespace).unwrap_or(0);
    &text[..last.max(end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_at_the_limit_is_left_out_as_a_whole() {
        let key = "sk-RTsecret-Zx91QpLm77TyUv";
        for before in DETAIL_CHARS_MAX - 60..DETAIL_CHARS_MAX + 10 {
            for between in [" ", "", "\"", "="] {
                let body = format!("{}{between}{key} and more", "x".repeat(before));
                let kept = refusal(400, body.as_bytes()).detail;
                assert!(kept.contains(key) || !kept.contains("sk-RT"), "{before}: {kept}");
                let bytes = within(body.as_bytes(), DETAIL_CHARS_MAX);
                let kept = String::from_utf8_lossy(bytes);
                assert!(kept.contains(key) || !kept.contains("sk-RT"), "{before}: {kept}");
            }
        }
    }

    #[test]
    fn what_a_provider_refused_is_a_kind_and_not_a_matter_of_words() {
        let refused = |kind, detail: &str| WireFault::from(ModelError::new(kind, detail)).refused;
        let none = RefusedParts::default();
        for (detail, expected) in [
            ("unsupported value: temperature", RefusedParts { temperature: true, ..none }),
            ("tool_choice: required is not", RefusedParts { tool_choice: true, ..none }),
            (
                "Invalid schema for response_format",
                RefusedParts { schema: Some(RefusedSchema::One), ..none },
            ),
            ("no response_format here", RefusedParts { schema: Some(RefusedSchema::All), ..none }),
            ("no such thing", none),
        ] {
            assert_eq!(refused(ModelErrorKind::Refused, detail), expected, "{detail}");
            assert_eq!(refused(ModelErrorKind::Server, detail), none, "{detail}");
        }
    }

    #[test]
    fn a_body_that_is_no_text_sends_nothing_to_a_terminal() {
        let error = refusal(500, b"\x1f\x8b\x08\x1b[2J\x07garbage\nline");
        assert!(!error.detail.contains(|c: char| c.is_control() && c != '\n'), "{error:?}");
        assert!(error.detail.contains("garbage\nline"));
    }
}
