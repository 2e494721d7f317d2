//! A script as a file.

use crate::{ConnectError, Scripted, ScriptedModel};
use everloop_types::ModelErrorKind;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    replies: Vec<Entry>,
    #[serde(default)]
    closing: Option<String>,
    #[serde(default)]
    others: Vec<Other>,
}

/// What is said to runs with another goal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Other {
    goal: String,
    replies: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    text: String,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    calls: Vec<Call>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    chunk: usize,
    #[serde(default)]
    fail: Vec<ModelErrorKind>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    #[serde(default)]
    args: Value,
}

/// Reads the script at `path`.
pub(crate) fn load(path: &Path) -> Result<ScriptedModel, ConnectError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConnectError::Script { path: path.to_owned(), source })?;
    parse(&text).map_err(|source| ConnectError::BadScript { path: path.to_owned(), source })
}

/// Reads a script's text.
pub(crate) fn parse(text: &str) -> Result<ScriptedModel, serde_json::Error> {
    let script: Script = serde_json::from_str(text)?;
    let model = ScriptedModel::new(script.replies.into_iter().map(scripted).collect());
    let model = script.others.into_iter().fold(model, |model, other| {
        model.speaking_of(other.goal, other.replies.into_iter().map(scripted).collect())
    });
    Ok(match script.closing {
        Some(text) => model.closing(text),
        None => model,
    })
}

fn scripted(entry: Entry) -> Scripted {
    let mut scripted = Scripted::says(entry.text)
        .reasoning(entry.reasoning)
        .after_ms(entry.delay_ms)
        .in_chunks(entry.chunk);
    for Call { tool, args } in entry.calls {
        let args = if args.is_null() { Value::Object(serde_json::Map::new()) } else { args };
        scripted = scripted.and_calls(tool, args);
    }
    entry.fail.into_iter().fold(scripted, Scripted::failing)
}
