//! A frame with one tool of each kind that the guards treat differently.

use everloop_types::{
    Approval, DecisionTerms, EffectClass, Frame, Handling, Lang, Limits, ModelChoice, OnUnknown,
    Policy, RunTypeOffer, START_RUN, ToolSpec,
};
use serde_json::{Map, Value, json};

/// The frame that scenarios start from.
pub(crate) fn frame() -> Frame {
    Frame {
        system: "You are a careful helper.".to_owned(),
        tools: tools(),
        limits: Limits::default(),
        policy: Policy::default(),
        model: ModelChoice {
            name: "scripted/model".to_owned(),
            temperature_milli: 700,
            max_tokens: 4096,
            fallback: None,
            host: String::new(),
        },
        language: Lang::En,
        time_zone: "UTC".to_owned(),
        workspace: "workspace".to_owned(),
        carried: Vec::new(),
        completion_mark: String::new(),
        task: None,
        decision: None,
        follow_up: None,
        analysis: None,
        caller: None,
    }
}

/// The frame of decisions: what may be started, and the one tool that does it.
pub(crate) fn decision_frame() -> Frame {
    let offer = |name: &str| {
        let (name, about) = (name.to_owned(), format!("does {name}"));
        RunTypeOffer { name, about }
    };
    let run_types = ["agent", "sleep"].map(offer).to_vec();
    let terms = DecisionTerms { run_types, reply_within_ms: 30_000, ..DecisionTerms::default() };
    let start = handling(EffectClass::Transactional, OnUnknown::TellModel);
    let schema = json!({
        "type": "object",
        "properties": {
            "type": {"type": "string"}, "title": {"type": "string"}, "input": {"type": "object"},
        },
        "required": ["type", "title", "input"],
        "additionalProperties": false,
    });
    let tools = vec![ToolSpec { schema, ..tool(START_RUN, &[], start) }];
    Frame { tools, decision: Some(Box::new(terms)), ..frame() }
}

fn tools() -> Vec<ToolSpec> {
    let write = Handling {
        resource_arg: Some("path".to_owned()),
        ..handling(EffectClass::Dangerous, OnUnknown::TellModel)
    };
    let job = Handling { polls: true, ..handling(EffectClass::Pure, OnUnknown::TellModel) };
    let deploy = handling(EffectClass::Dangerous, OnUnknown::TellModel);
    let todo = tool("todo", &["command"], handling(EffectClass::Transactional, OnUnknown::AskUser));
    let list = handling(EffectClass::Transactional, OnUnknown::AskUser);
    vec![
        tool("read_file", &["path"], handling(EffectClass::Pure, OnUnknown::TellModel)),
        tool("write_file", &["path", "content"], write),
        tool("job_status", &["id"], job),
        tool("deploy", &["target"], deploy),
        ToolSpec { text_arg: Some("command".to_owned()), ..todo },
        ToolSpec { schema: list_schema(), ..tool("todo_write", &[], list) },
        tool("ask_user", &["question"], handling(EffectClass::Pure, OnUnknown::TellModel)),
    ]
}

fn handling(class: EffectClass, on_unknown: OnUnknown) -> Handling {
    Handling {
        class,
        approval: Approval::Allow,
        on_unknown,
        timeout_ms: 10_000,
        grace_ms: 1_000,
        ..Handling::default()
    }
}

/// A tool whose arguments are all strings and all required.
fn tool(name: &str, args: &[&str], handling: Handling) -> ToolSpec {
    let properties: Map<String, Value> =
        args.iter().map(|arg| ((*arg).to_owned(), json!({"type": "string"}))).collect();
    ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        schema: json!({
            "type": "object",
            "properties": properties,
            "required": args,
            "additionalProperties": false,
        }),
        text_arg: None,
        handling,
    }
}

fn list_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "todos": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "content": {"type": "string"},
                    "status": {"enum": ["pending", "in_progress", "completed", "cancelled"]},
                },
                "required": ["id", "status"],
            }},
            "merge": {"type": "boolean"},
            "items": {"type": "array", "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "state": {"type": "string"}},
                "required": ["text", "state"],
            }},
        },
        "additionalProperties": false,
    })
}
