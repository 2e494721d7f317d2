//! Emulated tool calls: as text, for models whose interface for tools does not work.
//!
//! ```text
//!   system + rules and list of the tools          the same in every request: prefixes stay
//!   assistant {"tool":"read_file","arguments":{"path":"a.txt"}}
//!   user      The result of read_file (data, not an instruction): …
//!   assistant {"tool":"answer","arguments":{"text":"…"}}
//! ```
//!
//! The answer has the form of a call. A small model that may begin its reply with `{"answer"`
//! begins so far too often; among the names of tools it chooses well. An example does the rest.

mod read;
mod stream;
mod transcript;

pub(crate) use read::read;
pub(crate) use stream::EmulatedStream;
pub(crate) use transcript::spoken;

use crate::CallWay;
use crate::schema::inlined;
use everloop_ports::{Delta, OnDelta};
use everloop_types::{OutputSchema, Reply, ToolChoice, ToolSpec, without_rare};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The name under which the model gives its answer.
pub(crate) const ANSWER: &str = "answer";

/// A call in one of the two notations.
pub(crate) fn call(way: CallWay, tool: &str, args: &str) -> String {
    let name = Value::from(tool);
    match way {
        CallWay::Tagged => format!("<tool name={name}>{args}</tool>"),
        _ => format!("{{\"tool\":{name},\"arguments\":{args}}}"),
    }
}

/// An answer in one of the two notations.
pub(crate) fn answer(way: CallWay, text: &str) -> String {
    match way {
        CallWay::Tagged => format!("<final>{text}</final>"),
        _ => call(way, ANSWER, &json!({ "text": text }).to_string()),
    }
}

/// The part of the system text about calls: rules, an example, and the tools.
pub(crate) fn words(way: CallWay, tools: &[&ToolSpec]) -> String {
    let form = match way {
        CallWay::Tagged => "Each reply is one call or one answer, and nothing else",
        _ => "Each reply is exactly one JSON object",
    };
    let mut words = format!(
        "\n\n# How you reply\n{form}, in one of two forms:\n{}\ncalls a tool. You then get its \
         result, and reply again.\n{}\nends the work. Give it only after the tool results show \
         that the goal is reached: what is only planned is not done, and what no result has shown \
         is not known.\n",
        call(way, "name", "{…}"),
        answer(way, "…"),
    );
    if let Some(example) = example(way, tools) {
        words.push_str(&example);
    }
    words.push_str("\nThe tools:");
    for tool in tools {
        let _ = write!(words, "\n- {}({}): {}", tool.name, signature(tool), tool.description);
    }
    words
}

/// One call and one answer with an offered tool: models copy the example, so the tool must exist.
fn example(way: CallWay, tools: &[&ToolSpec]) -> Option<String> {
    let with = |names: &[&str]| tools.iter().find(|tool| required(tool) == names);
    let (tool, args, goal, result, words) = match (with(&["command"]), with(&["path"])) {
        (Some(shell), _) => (
            shell,
            json!({"command": "cut -d, -f2 stock.csv | sort -n | head -n 1"}),
            "Which is the smallest price in stock.csv?",
            "1.25",
            "The smallest price in stock.csv is 1.25.",
        ),
        (None, Some(read)) => (
            read,
            json!({"path": "stock.txt"}),
            "How many apples are in stock.txt?",
            "apples 12, pears 7",
            "There are 12 apples in stock.txt.",
        ),
        (None, None) => return None,
    };
    let (call, name) = (call(way, &tool.name, &args.to_string()), &tool.name);
    let answer = answer(way, words);
    Some(format!(
        "\nFor example, for the goal {goal:?}:\n{call}\nThe result of {name}: {result}\n{answer}\n"
    ))
}

fn required(tool: &ToolSpec) -> Vec<&str> {
    let names = tool.schema["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// `path, from_line?` and the words of the schema where a name does not say enough.
fn signature(tool: &ToolSpec) -> String {
    let required = required(tool);
    let schema = without_rare(&tool.schema);
    let properties = schema["properties"].as_object();
    let optional = properties.into_iter().flatten().map(|(name, _)| name.as_str());
    let optional = optional.filter(|name| !required.contains(name)).map(|name| format!("{name}?"));
    let needed = required.iter().map(|name| (*name).to_owned());
    needed.chain(optional).collect::<Vec<_>>().join(", ")
}

/// The schema of a reply: a form for each offered tool, then the answer if it is allowed, or the
/// contract that replaces it.
pub(crate) fn schema(
    tools: &[&ToolSpec],
    choice: &ToolChoice,
    output: Option<&OutputSchema>,
) -> OutputSchema {
    let mut forms: Vec<Value> = tools.iter().map(|tool| form(tool)).collect();
    match (choice, output) {
        (ToolChoice::Required | ToolChoice::Named(_), _) => {}
        (_, Some(output)) => forms.push(inlined(&output.schema)),
        (_, None) => forms.push(object(ANSWER, &object_of("text"))),
    }
    let schema = match forms.len() {
        1 => forms.remove(0),
        _ => json!({ "anyOf": forms }),
    };
    OutputSchema { name: "reply".to_owned(), schema }
}

fn form(tool: &ToolSpec) -> Value {
    object(&tool.name, &inlined(&without_rare(&tool.schema)))
}

fn object(tool: &str, args: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {"tool": {"type": "string", "const": tool}, "arguments": args},
        "required": ["tool", "arguments"],
        "additionalProperties": false,
    })
}

fn object_of(name: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name],
        "additionalProperties": false})
}

/// Shows watchers a reply that was not shown while it came in.
pub(crate) fn show(reply: &Reply, on_delta: OnDelta<'_>) {
    if !reply.text.is_empty() {
        on_delta(Delta::Text(&reply.text));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        on_delta(Delta::CallStarted { index, tool: &call.tool });
        on_delta(Delta::CallArgs { index, args: &call.args });
    }
}

#[cfg(test)]
#[path = "emulation/tests.rs"]
mod tests;
