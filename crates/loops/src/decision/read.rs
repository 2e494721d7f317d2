//! The JSON of a decision: its schema, and what it says.

use crate::contract::{self, ContractFault};
use everloop_types::{ToolSpec, check_args};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Characters of a title that is shown.
const TITLE_CHARS_MAX: usize = 80;

/// The JSON schema of a decision: what the model is asked for, what its reply is checked against,
/// and what the description of the API publishes.
pub const DECISION_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "decision": {"type": "string", "enum": ["reply", "run", "reply_and_run"]},
    "reply": {
      "type": ["object", "null"],
      "properties": {"content": {"type": "string"}},
      "required": ["content"],
      "additionalProperties": false
    },
    "run": {
      "type": ["object", "null"],
      "properties": {
        "type": {"type": "string"},
        "title": {"type": ["string", "null"]},
        "conversation_id": {"type": ["string", "null"]},
        "input": {"type": "object"}
      },
      "required": ["type", "input"],
      "additionalProperties": false
    },
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    "reason": {"type": "string"}
  },
  "required": ["decision", "confidence", "reason"],
  "additionalProperties": false
}"#;

static CHECKED: LazyLock<ToolSpec> = LazyLock::new(|| ToolSpec {
    schema: serde_json::from_str(DECISION_SCHEMA).unwrap_or_else(|_| unreachable!("it is JSON")),
    ..ToolSpec::default()
});

/// The schema as a value.
pub(crate) fn schema() -> Value {
    CHECKED.schema.clone()
}

/// What a decision leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    /// A reply and nothing else.
    Reply,
    /// A run; whatever is said beside it is not shown.
    Run,
    /// Both.
    ReplyAndRun,
}

impl DecisionKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Reply, Self::Run, Self::ReplyAndRun];

    /// The word used in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reply => "reply",
            Self::Run => "run",
            Self::ReplyAndRun => "reply_and_run",
        }
    }
}

/// A decision that keeps to the schema and to its own kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecisionReply {
    /// What it leads to.
    pub decision: DecisionKind,
    /// What is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// What is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunProposal>,
    /// How sure the model is, from 0 to 1.
    pub confidence: f64,
    /// Why, in its words.
    pub reason: String,
}

/// A run that a decision wants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunProposal {
    /// Its type, which may be one that is not allowed.
    #[serde(rename = "type")]
    pub run_type: String,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it works on.
    pub input: Map<String, Value>,
}

impl DecisionReply {
    /// What the person is shown of its words.
    pub(super) fn shown_reply(&self) -> Option<String> {
        self.reply.clone().filter(|_| self.decision != DecisionKind::Run)
    }
}

impl RunProposal {
    /// Its title; the goal or the type where it has none.
    #[must_use]
    pub fn shown_title(&self) -> String {
        let goal = self.input.get("goal").and_then(Value::as_str);
        let named = [self.title.as_deref(), goal].into_iter().flatten();
        let named = named.map(str::trim).find(|text| !text.is_empty());
        let line = named.unwrap_or(&self.run_type).split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(TITLE_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

/// The reply as its schema has it. The conversation is checked and not kept.
#[derive(Deserialize)]
struct DecisionFields {
    decision: DecisionKind,
    reply: Option<ReplyFields>,
    run: Option<RunFields>,
    confidence: f64,
    reason: String,
}

#[derive(Deserialize)]
struct ReplyFields {
    content: String,
}

#[derive(Deserialize)]
struct RunFields {
    r#type: String,
    title: Option<String>,
    input: Map<String, Value>,
}

/// Reads the one JSON object that a reply must be.
///
/// # Errors
/// What is wrong with it, for the model.
pub fn read_decision(reply: &str) -> Result<DecisionReply, ContractFault> {
    let object = contract::object(reply)?.to_string();
    let checked = check_args(&CHECKED, &object)?;
    let fields: DecisionFields =
        serde_json::from_value(checked).map_err(|error| error.to_string())?;
    let said = fields.reply.map(|reply| reply.content).filter(|text| !text.trim().is_empty());
    let kind = fields.decision;
    let wants_run = kind != DecisionKind::Reply;
    match (&fields.run, &said) {
        (Some(_), _) if !wants_run => Err("a `reply` has no `run`".to_owned()),
        (None, _) if wants_run => Err(format!("a `{}` needs `run`", kind.as_str())),
        (_, None) if kind != DecisionKind::Run => {
            Err(format!("a `{}` needs `reply.content`", kind.as_str()))
        }
        (Some(run), _) if run.r#type.trim().is_empty() => Err("`run.type` is empty".to_owned()),
        _ => Ok(()),
    }?;
    let run = fields.run.map(|run| RunProposal {
        run_type: run.r#type.trim().to_owned(),
        title: run.title.filter(|title| !title.trim().is_empty()),
        input: run.input,
    });
    let (confidence, reason) = (fields.confidence, fields.reason);
    Ok(DecisionReply { decision: kind, reply: said, run, confidence, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<DecisionReply, String> {
        read_decision(&value.to_string())
    }

    fn reply() -> Value {
        json!({"decision": "reply", "reply": {"content": "Hi."}, "confidence": 1, "reason": "chat"})
    }

    fn with(name: &str, value: Value) -> Value {
        let mut object = reply();
        object[name] = value;
        object
    }

    fn run() -> Value {
        json!({"type": "agent", "title": null, "conversation_id": "conv_evil",
            "input": {"goal": "tidy up"}})
    }

    #[test]
    fn each_kind_is_read_with_what_it_needs() {
        let said = read(reply()).unwrap();
        assert_eq!((said.decision, said.shown_reply()), (DecisionKind::Reply, Some("Hi.".into())));
        let mut both = with("run", run());
        both["decision"] = json!("reply_and_run");
        let both = read(both).unwrap();
        assert_eq!(both.shown_reply().as_deref(), Some("Hi."));
        assert_eq!(both.run.as_ref().map(RunProposal::shown_title).as_deref(), Some("tidy up"));
        let mut only = with("run", run());
        only["decision"] = json!("run");
        let only = read(only).unwrap();
        assert_eq!(only.shown_reply(), None, "what is said beside a run is not shown");
        let fenced = format!("<think>hm</think>```json\n{}\n```", reply());
        assert!(read_decision(&fenced).is_ok());
        assert!(read(with("run", Value::Null)).is_ok(), "null is nothing");
    }

    #[test]
    fn whatever_breaks_the_schema_or_its_own_kind_is_refused() {
        let no_reason = || {
            let mut object = reply();
            object.as_object_mut().unwrap().remove("reason");
            object
        };
        let run_without_input = json!({"type": "agent"});
        for wrong in [
            with("decision", json!("think")),
            with("run", run()),
            with("reply", json!({"content": " "})),
            with("reply", json!("Hi.")),
            with("reply", json!({"content": "Hi.", "tone": "warm"})),
            with("confidence", json!(1.5)),
            with("confidence", json!("high")),
            with("extra", json!(1)),
            with("decision", json!("run")),
            no_reason(),
            json!({"decision": "run", "run": run_without_input, "confidence": 1, "reason": ""}),
        ] {
            let fault = read(wrong.clone()).unwrap_err();
            assert!(!fault.is_empty(), "{wrong}");
        }
        for text in ["", "Sure!", "[]", "{}", "{\"decision\":\"reply\"} {}"] {
            assert!(read_decision(text).is_err(), "{text}");
        }
    }
}
