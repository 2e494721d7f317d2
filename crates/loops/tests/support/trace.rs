//! A run as lines that people can read.

use everloop_loops::{Decision, PlannedEffect};
use everloop_types::journal::{EffectPlanned, InboxMessage, PlannedModelCall, PlannedToolCall};
use everloop_types::{Reason, Words};

pub(crate) fn planned(effect: &PlannedEffect) -> String {
    match (&effect.planned, &effect.refused) {
        (EffectPlanned::CallModel(PlannedModelCall { call, messages, .. }), _) => {
            let purpose = format!("{:?}", call.purpose).to_lowercase();
            format!("call_model {purpose} with {messages} messages")
        }
        (EffectPlanned::CallTool(PlannedToolCall { call, .. }), None) => {
            format!("call_tool {} {}", call.tool, call.args)
        }
        (EffectPlanned::CallTool(PlannedToolCall { call, .. }), Some(seen)) if seen.is_ok() => {
            let first = seen.text.lines().next().unwrap_or_default();
            format!("settle {} {}: {first}", call.tool, call.args)
        }
        (EffectPlanned::CallTool(PlannedToolCall { call, .. }), Some(seen)) => {
            format!("refuse {} {}: {:?}: {}", call.tool, call.args, seen.ending, seen.text)
        }
    }
}

pub(crate) fn letter(letter: &InboxMessage) -> String {
    match letter {
        InboxMessage::Steer { text } => format!("letter steer {text:?}"),
        other => format!("letter {}", other.kind()),
    }
}

pub(crate) fn finish(decision: &Decision) -> String {
    let Decision::Finish { status, reason, words: said } = decision else {
        panic!("not an ending: {decision:?}")
    };
    match reason {
        Some(reason) => format!("finish {status} ({}) {}", reason_name(reason), words(said)),
        None => format!("finish {status} {}", words(said)),
    }
}

fn reason_name(reason: &Reason) -> String {
    let json = serde_json::to_value(reason).expect("a reason has a JSON form");
    json["reason"].as_str().expect("a reason has a name").to_owned()
}

/// Words before they are rendered: what was said in quotes, texts of the catalogue by name.
fn words(words: &Words) -> String {
    match words {
        Words::Said(text) => format!("{text:?}"),
        Words::Key(key, args) => {
            let args: Vec<String> = args.iter().map(|(k, v)| format!(" {k}={v}")).collect();
            format!("[{}{}]", key.as_str(), args.concat())
        }
        Words::All(all) => all.iter().map(self::words).collect::<Vec<_>>().join(" "),
    }
}
