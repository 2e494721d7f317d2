//! A script as a file.

use crate::{ModelConnectError, ScriptedModel, ScriptedReply};
use everloop_types::ModelErrorKind;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    replies: Vec<ScriptEntry>,
    #[serde(default)]
    closing: Option<String>,
    #[serde(default)]
    others: Vec<OtherGoal>,
}

/// The replies to runs with another goal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherGoal {
    goal: String,
    replies: Vec<ScriptEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptEntry {
    #[serde(default)]
    text: String,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    calls: Vec<ScriptCall>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    chunk: usize,
    #[serde(default)]
    fail: Vec<ModelErrorKind>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptCall {
    tool: String,
    #[serde(default)]
    args: Value,
}

/// Reads the script at `path`.
pub(crate) fn load(path: &Path) -> Result<ScriptedModel, ModelConnectError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ModelConnectError::Script { path: path.to_owned(), source })?;
    parse(&text).map_err(|source| ModelConnectError::BadScript { path: path.to_owned(), source })
}

/// Reads a script's text.
pub(crate) fn parse(text: &str) -> Result<ScriptedModel, serde_json::Error> {
    let script: ScriptFile = serde_json::from_str(text)?;
    let model = ScriptedModel::new(script.replies.into_iter().map(scripted).collect());
    let model = script.others.into_iter().fold(model, |model, other| {
        model.speaking_of(other.goal, other.replies.into_iter().map(scripted).collect())
    });
    Ok(match script.closing {
        Some(text) => model.closing(text),
        None => model,
    })
}

fn scripted(entry: ScriptEntry) -> ScriptedReply {
    let mut scripted = ScriptedReply::says(entry.text)
        .reasoning(entry.reasoning)
        .after_ms(entry.delay_ms)
        .in_chunks(entry.chunk);
    for ScriptCall { tool, args } in entry.calls {
        let args = if args.is_null() { Value::Object(serde_json::Map::new()) } else { args };
        scripted = scripted.and_calls(tool, args);
    }
    entry.fail.into_iter().fold(scripted, ScriptedReply::failing)
}
