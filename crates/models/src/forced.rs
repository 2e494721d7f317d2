//! Forced tool calls for endpoints that ignore them: a JSON schema and a sentence ask for the same.
//!
//! One request is one model call. A reply without the call goes back to the loop, which counts it,
//! says what was wrong and asks again; that next request uses the portable way.

use crate::emulation;
use crate::wire::WireFault;
use everloop_types::{
    CallId, ModelError, ModelErrorKind, OutputSchema, Reply, StopCause, ToolCall, ToolChoice,
    ToolSpec, schema_text,
};
use serde_json::Value;

/// The tools of which one has to be called; none if the model is free.
pub(crate) fn wanted<'a>(
    tools: &[&'a ToolSpec],
    choice: &ToolChoice,
) -> Result<Vec<&'a ToolSpec>, ModelError> {
    let wanted: Vec<_> = match choice {
        ToolChoice::Auto | ToolChoice::None => return Ok(Vec::new()),
        ToolChoice::Required => tools.to_vec(),
        ToolChoice::Named(name) => tools.iter().filter(|t| t.name == *name).copied().collect(),
    };
    if wanted.is_empty() {
        let detail = "a tool call is forced, but that tool is not on offer";
        return Err(ModelError::new(ModelErrorKind::Refused, detail));
    }
    Ok(wanted)
}

/// Whether a tool has to be called.
pub(crate) fn is_forced(choice: &ToolChoice) -> bool {
    matches!(choice, ToolChoice::Required | ToolChoice::Named(_))
}

/// Asks for a reply that follows a schema.
pub(crate) fn schema_words(output: &OutputSchema) -> String {
    let schema = schema_text(&output.schema);
    format!("Reply with nothing but JSON that follows this JSON schema: {schema}")
}

/// The tool whose arguments are a reply that follows a schema.
pub(crate) fn reply_tool(output: &OutputSchema) -> ToolSpec {
    ToolSpec {
        name: format!("reply_{}", safe(&output.name)),
        description: "Gives the reply. Call it once, with the whole reply as arguments.".to_owned(),
        // A tool's arguments are one object; no provider takes a choice there.
        schema: crate::schema::flat(&output.schema),
        ..ToolSpec::default()
    }
}

/// The reply with the arguments of that tool as its text.
pub(crate) fn reply_text(mut reply: Reply, tool: &ToolSpec) -> Reply {
    let Some(at) = reply.calls.iter().position(|call| call.tool == tool.name) else {
        return reply;
    };
    reply.text = reply.calls.swap_remove(at).args;
    reply.calls.clear();
    if reply.stop == StopCause::ToolCalls {
        reply.stop = StopCause::Done;
    }
    reply
}

/// Whether the endpoint ignored a forced call. llama.cpp then sends an empty reply.
pub(crate) fn ignored(reply: &Result<Reply, WireFault>, wanted: &[&ToolSpec]) -> bool {
    match reply {
        Ok(reply) => !reply.calls.iter().any(|call| wanted.iter().any(|t| t.name == call.tool)),
        Err(fault) => fault.error.kind == ModelErrorKind::Empty,
    }
}

/// A forced call in the portable way.
pub(crate) struct Portable<'a> {
    wanted: &'a [&'a ToolSpec],
    schema: OutputSchema,
    words: String,
}

impl<'a> Portable<'a> {
    /// Asks for one of these tools.
    pub(crate) fn new(wanted: &'a [&'a ToolSpec]) -> Self {
        match wanted {
            [tool] => {
                let words = format!(
                    "Reply with nothing but the JSON arguments of a call of the tool `{}` \
                     ({}). They follow this JSON schema: {}",
                    tool.name,
                    tool.description,
                    schema_text(&tool.schema)
                );
                let schema = OutputSchema { name: safe(&tool.name), schema: tool.schema.clone() };
                Self { wanted, schema, words }
            }
            several => {
                let schema = emulation::schema(several, &ToolChoice::Required, None);
                Self { wanted, schema, words: choice_words(several) }
            }
        }
    }

    pub(crate) fn schema(&self) -> &OutputSchema {
        &self.schema
    }

    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    /// Turns the JSON text into the call; any other text stays as it is. An endpoint that refuses
    /// this, too, has no forced calls.
    pub(crate) fn read(&self, answer: Result<Reply, ModelError>) -> Result<Reply, ModelError> {
        let mut reply = answer.map_err(|error| match error.kind {
            ModelErrorKind::Refused => {
                ModelError::new(ModelErrorKind::IgnoredToolChoice, error.detail)
            }
            _ => error,
        })?;
        if let Some(call) = self.call_in(&reply.text) {
            reply.text.clear();
            reply.calls = vec![call];
            reply.stop = StopCause::ToolCalls;
        }
        Ok(reply)
    }

    fn call_in(&self, text: &str) -> Option<ToolCall> {
        let json = object_in(text)?;
        let value: Value = serde_json::from_str(json).ok()?;
        let (tool, args) = match self.wanted {
            [tool] => (tool.name.clone(), json.to_owned()),
            several => {
                let name = value.get("tool")?.as_str()?;
                let tool = several.iter().find(|tool| tool.name == name)?;
                let args = value.get("arguments").filter(|args| args.is_object())?;
                (tool.name.clone(), args.to_string())
            }
        };
        Some(ToolCall { id: CallId::new(""), tool, args })
    }
}

/// The JSON object in a text that may have a markdown fence or a few words around it.
fn object_in(text: &str) -> Option<&str> {
    text.get(text.find('{')?..=text.rfind('}')?)
}

fn choice_words(tools: &[&ToolSpec]) -> String {
    let mut words = "Reply with nothing but a JSON object \
                     {\"tool\": name, \"arguments\": {…}} that calls one of these tools."
        .to_owned();
    for tool in tools {
        words.push_str(&format!(
            "\n- {}: {}; arguments: {}",
            tool.name,
            tool.description,
            schema_text(&tool.schema)
        ));
    }
    words
}

/// Fewer characters are allowed in a schema's name than in a tool's.
fn safe(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    name.chars().map(letter).take(64).collect()
}
