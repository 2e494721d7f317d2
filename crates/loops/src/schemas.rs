//! The JSON schemas of the contracts: one form for each status, built from the frame.
//!
//! `required` names the properties in the order in which a reply should have them. The same frame
//! gives the same bytes, so caches of schemas and grammars hit.

use everloop_types::{Contract, Frame, OutputSchema, ToolSpec, without_rare};
use serde_json::{Map, Value, json};

/// With so many tools each has a form of its own, and its arguments are held to its schema.
const OWN_FORMS_MAX: usize = 12;
/// How deep references of a tool's schema are followed.
const DEPTH_MAX: usize = 16;

/// The schema of a contract in a run with this frame.
#[must_use]
pub fn output_schema(contract: Contract, frame: &Frame) -> OutputSchema {
    let schema = match contract {
        Contract::Plan => any_of(&[
            form("planned", &[("plan", list(&json!({"type": "string", "minLength": 1})))]),
            form("done", &[("response", words())]),
        ]),
        Contract::Thought => {
            let step = ("current_step", json!({"type": "string"}));
            let response = json!({"type": ["string", "null"]});
            let mut forms = vec![
                form("done", &[step.clone(), ("response", response)]),
                form("ask_user", &[step.clone(), ("question", words())]),
            ];
            // Without a tool there is nothing to go on with.
            if let Some(action) = action(frame) {
                forms.insert(0, form("continue", &[step, ("next_action", action)]));
            }
            any_of(&forms)
        }
        Contract::Replan => {
            let task = object(&[("task", words()), ("completed", json!({"type": "boolean"}))]);
            any_of(&[
                form("done", &[("response", words())]),
                form("replanned", &[("plan", list(&task))]),
            ])
        }
        Contract::Decision => crate::decision::schema(),
    };
    OutputSchema { name: contract.as_str().to_owned(), schema }
}

/// One action with one tool. The user is asked by a status of its own.
fn action(frame: &Frame) -> Option<Value> {
    let tools: Vec<&ToolSpec> = frame.tools.iter().filter(|tool| tool.name != "ask_user").collect();
    if tools.is_empty() {
        return None;
    }
    if tools.len() > OWN_FORMS_MAX {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let name = json!({"type": "string", "enum": names});
        return Some(object(&[("tool", name), ("input", json!({"type": "object"}))]));
    }
    let forms: Vec<Value> = tools
        .iter()
        .map(|tool| {
            object(&[
                ("tool", constant(&tool.name)),
                ("input", standing_alone(&without_rare(&tool.schema))),
            ])
        })
        .collect();
    Some(any_of(&forms))
}

fn any_of(forms: &[Value]) -> Value {
    match forms {
        [only] => only.clone(),
        several => json!({ "anyOf": several }),
    }
}

fn form(status: &str, rest: &[(&str, Value)]) -> Value {
    let status = [("status", constant(status))];
    object(&[&status[..], rest].concat())
}

fn object(properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties = properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone()));
    json!({
        "type": "object",
        "properties": properties.collect::<Map<String, Value>>(),
        "required": names,
        "additionalProperties": false,
    })
}

fn constant(text: &str) -> Value {
    json!({"type": "string", "const": text})
}

fn words() -> Value {
    json!({"type": "string", "minLength": 1})
}

fn list(items: &Value) -> Value {
    json!({"type": "array", "minItems": 1, "items": items})
}

/// A tool's schema with its local references followed, so that it can stand inside another.
pub(crate) fn standing_alone(schema: &Value) -> Value {
    let mut alone = followed(schema, schema, 0);
    if let Some(fields) = alone.as_object_mut() {
        for name in ["$defs", "definitions", "$schema", "title"] {
            fields.remove(name);
        }
        fields.entry("type").or_insert_with(|| Value::from("object"));
    }
    alone
}

fn followed(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Bool(true);
    }
    match schema {
        Value::Array(all) => all.iter().map(|one| followed(one, root, depth + 1)).collect(),
        Value::Object(fields) => {
            if let Some(pointer) = fields.get("$ref").and_then(Value::as_str) {
                let found = pointer.strip_prefix('#').and_then(|path| root.pointer(path));
                return found.map_or(Value::Bool(true), |found| followed(found, root, depth + 1));
            }
            let each = fields.iter().filter(|(name, _)| name.as_str() != "$defs");
            let each = each.map(|(name, one)| (name.clone(), followed(one, root, depth + 1)));
            Value::Object(each.collect())
        }
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{output_schema, standing_alone};
    use everloop_types::{Contract, Frame, ToolSpec, check_args, schema_text};
    use serde_json::{Value, json};

    fn tool(name: &str) -> ToolSpec {
        let schema = json!({"type": "object", "properties": {"path": {"$ref": "#/$defs/P"}},
            "required": ["path"], "additionalProperties": false, "$defs": {"P": {"type": "string"}}});
        ToolSpec { name: name.to_owned(), schema, ..ToolSpec::default() }
    }

    fn frame(tools: &[&str]) -> Frame {
        Frame { tools: tools.iter().map(|name| tool(name)).collect(), ..Frame::default() }
    }

    fn fits(contract: Contract, frame: &Frame, reply: &Value) -> bool {
        let schema = output_schema(contract, frame).schema;
        let spec = ToolSpec { schema, ..ToolSpec::default() };
        check_args(&spec, &reply.to_string()).is_ok()
    }

    #[test]
    fn each_status_has_a_form_of_its_own() {
        use Contract::{Plan, Replan, Thought};
        let frame = frame(&["read_file", "ask_user"]);
        let act = |tool: &str, input: Value| {
            json!({"status": "continue", "current_step": "s",
                "next_action": {"tool": tool, "input": input}})
        };
        for (contract, reply, expected) in [
            (Plan, json!({"status": "planned", "plan": ["a"]}), true),
            (Plan, json!({"status": "planned", "plan": []}), false),
            (Plan, json!({"status": "planned", "response": "a"}), false),
            (Plan, json!({"status": "done", "response": "hi"}), true),
            (Thought, act("read_file", json!({"path": "a"})), true),
            (Thought, act("read_file", json!({"file": "a"})), false),
            (Thought, act("ask_user", json!({"path": "a"})), false),
            (Thought, act("fly", json!({"path": "a"})), false),
            (
                Thought,
                json!({"status": "continue", "current_step": "s", "question": "?",
                "next_action": {"tool": "read_file", "input": {"path": "a"}}}),
                false,
            ),
            (Thought, json!({"status": "done", "current_step": "s", "response": null}), true),
            (Thought, json!({"status": "ask_user", "current_step": "s", "question": "?"}), true),
            (
                Replan,
                json!({"status": "replanned", "plan": [{"task": "a", "completed": false}]}),
                true,
            ),
            (Replan, json!({"status": "replanned", "plan": ["a"]}), false),
            (Replan, json!({"status": "done", "response": "so"}), true),
        ] {
            assert_eq!(fits(contract, &frame, &reply), expected, "{reply}");
        }
    }

    #[test]
    fn an_argument_that_is_rarely_of_use_is_not_offered() {
        let mut frame = frame(&["read_file"]);
        frame.tools[0].schema["properties"]["hash"] = json!({"type": "boolean", "x-rare": true});
        let text = output_schema(Contract::Thought, &frame).schema.to_string();
        assert!(text.contains("path") && !text.contains("hash"), "{text}");
        assert!(!crate::toolbox::listed(frame.tools.iter()).contains("hash"));
    }

    #[test]
    fn many_tools_share_one_form_and_no_tool_leaves_none() {
        let names: Vec<String> = (0..13).map(|n| format!("tool_{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let many = output_schema(Contract::Thought, &frame(&names)).schema;
        assert_eq!(
            many["anyOf"][0]["properties"]["next_action"]["properties"]["tool"]["enum"]
                .as_array()
                .map(Vec::len),
            Some(13)
        );
        let none = output_schema(Contract::Thought, &frame(&["ask_user"])).schema;
        assert_eq!(none["anyOf"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn the_status_comes_first_and_the_tool_before_its_input() {
        let text = schema_text(&output_schema(Contract::Thought, &frame(&["read_file"])).schema);
        let place = |what: &str| text.find(what).expect(what);
        assert!(place("\"status\":") < place("\"current_step\":"));
        assert!(place("\"current_step\":") < place("\"next_action\":"));
        assert!(place("\"tool\":") < place("\"input\":"));
        assert_eq!(
            text,
            schema_text(&output_schema(Contract::Thought, &frame(&["read_file"])).schema)
        );
    }

    #[test]
    fn a_schema_with_references_can_stand_alone() {
        let alone = standing_alone(&tool("a").schema);
        assert_eq!(alone["properties"]["path"], json!({"type": "string"}));
        assert_eq!(alone.get("$defs"), None);
        let endless =
            json!({"$defs": {"T": {"items": {"$ref": "#/$defs/T"}}}, "$ref": "#/$defs/T"});
        assert!(standing_alone(&endless).to_string().len() < 1_000);
    }
}
