//! Reads calls and the answer from a reply in text.

use super::ANSWER;
use crate::CallWay;
use everloop_types::{CallId, Reply, StopCause, ToolCall, ToolSpec, written_calls};
use serde_json::Value;

/// The reply with its calls as calls and its answer as plain text. Any other text stays as
/// it is: the loop reports to the model what was wrong with it.
pub(crate) fn read(way: CallWay, mut reply: Reply, tools: &[&ToolSpec]) -> Reply {
    let read = match way {
        CallWay::Tagged => tagged(&reply.text, tools),
        _ => in_json(&reply.text, tools),
    };
    match read {
        Some(EmulatedReply::Answer(text)) => reply.text = text,
        Some(EmulatedReply::Calls(calls)) => {
            reply.text.clear();
            reply.calls = calls;
            reply.stop = StopCause::ToolCalls;
        }
        None => {}
    }
    reply
}

enum EmulatedReply {
    Answer(String),
    Calls(Vec<ToolCall>),
}

fn in_json(text: &str, tools: &[&ToolSpec]) -> Option<EmulatedReply> {
    if let Some(answer) = answer_in(text) {
        return Some(EmulatedReply::Answer(answer));
    }
    calls_in(text, tools).map(EmulatedReply::Calls)
}

/// The text of a whole `{"tool":"answer","arguments":{"text":"…"}}`.
fn answer_in(text: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(bare(text)).ok()?;
    if value.get("tool")?.as_str()? != ANSWER {
        return None;
    }
    match value.get_mut("arguments")?.get_mut("text")?.take() {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// The text without a code fence around it.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    inner.map_or(text, |inner| inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim())
}

fn tagged(text: &str, tools: &[&ToolSpec]) -> Option<EmulatedReply> {
    if let Some((before, inner)) = text.split_once("<final>")
        && !before.contains("<tool ")
    {
        let inner = inner.rsplit_once("</final>").map_or(inner, |(inner, _)| inner);
        return Some(EmulatedReply::Answer(inner.trim().to_owned()));
    }
    calls_in(text, tools).map(EmulatedReply::Calls)
}

/// The calls that a text ends with, if all of them are of tools on offer.
fn calls_in(text: &str, tools: &[&ToolSpec]) -> Option<Vec<ToolCall>> {
    let written = written_calls(text);
    let known = |name: &str| tools.iter().any(|tool| tool.name == name);
    if written.is_empty() || !written.iter().all(|(name, _)| known(name)) {
        return None;
    }
    let call = |(tool, args): (String, Value)| ToolCall {
        id: CallId::new(""),
        tool,
        args: args.to_string(),
    };
    Some(written.into_iter().map(call).collect())
}
