//! Tools as instructions list them, and the tools that loops bring themselves.

use crate::plan_execute_think::own;
use everloop_text as text;
use everloop_types::{Frame, Observation, ToolCall, ToolOffer, ToolSpec, Words, without_rare};
use serde_json::Value;

/// How deep the form of an argument is shown.
const DEPTH_MAX: usize = 3;
/// Characters of a result that an account shows.
const SHOWN_CHARS: usize = 100;

/// The tools as signatures, one a line, for loops that do not offer them to the provider.
pub(crate) fn listed<'t>(tools: impl Iterator<Item = &'t ToolSpec>) -> String {
    let lines = tools.map(|tool| {
        format!(
            "- {}({}): {}",
            tool.name,
            arguments(&without_rare(&tool.schema), 0),
            tool.description
        )
    });
    format!("Tools (? marks what may be left out)\n{}\n", lines.collect::<Vec<_>>().join("\n"))
}

/// `path: string, from?: integer`
fn arguments(schema: &Value, depth: usize) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let place = |name: &str| {
        let listed = required.into_iter().flatten();
        listed.into_iter().position(|known| known == name)
    };
    let mut properties: Vec<_> = properties.into_iter().flatten().collect();
    properties.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    let each = properties.into_iter().map(|(name, one)| {
        let optional = if place(name).is_some() { "" } else { "?" };
        let about = one.get("description").and_then(Value::as_str).filter(|_| depth == 0);
        // Its first sentence is enough to call it.
        let about = about.and_then(|about| about.split(['.', '\n', ';']).next());
        let about = about.map_or(String::new(), |about| format!(" ({})", about.trim()));
        format!("{name}{optional}: {}{about}", kind(one, depth))
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The form of one argument, in one word where one is enough.
fn kind(schema: &Value, depth: usize) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(text).collect::<Vec<_>>().join("|");
    }
    let forms = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    if let Some(forms) = forms {
        let real = forms.iter().filter(|form| form.get("type") != Some(&Value::from("null")));
        return real.map(|form| kind(form, depth)).collect::<Vec<_>>().join("|");
    }
    let name = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().find(|name| *name != "null").map(text),
        Some(name) => Some(text(name)),
        None => schema.get("$ref").map(|_| "object".to_owned()),
    };
    match name.as_deref() {
        Some("array") if depth < DEPTH_MAX => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            format!("[{}]", kind(items, depth + 1))
        }
        Some("object") if depth < DEPTH_MAX && schema.get("properties").is_some() => {
            format!("{{{}}}", arguments(schema, depth + 1))
        }
        Some(name) => name.to_owned(),
        None => "any".to_owned(),
    }
}

/// The tools of an offer that no frame has: a loop brings them, and answers their calls itself.
#[must_use]
pub fn own_tools(offer: &ToolOffer, frame: &Frame) -> Vec<ToolSpec> {
    match offer {
        ToolOffer::Only(names) => names.iter().filter_map(|name| own(name, frame)).collect(),
        ToolOffer::None | ToolOffer::All => Vec::new(),
    }
}

/// What came of a call, for people: what it was about and the first line of its result. What a
/// command has done its result says by itself.
pub(crate) fn in_words(frame: &Frame, call: &ToolCall, seen: &Observation) -> String {
    let line = seen.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = shortened(line.trim());
    let spec = frame.tool(&call.tool);
    if seen.is_ok() && !line.is_empty() && spec.is_some_and(|spec| spec.text_arg.is_some()) {
        return line;
    }
    let about = spec.and_then(|spec| about(spec, &call.args));
    let what = [Some(call.tool.clone()), about].into_iter().flatten().collect::<Vec<_>>().join(" ");
    if line.is_empty() { what } else { format!("{what}: {line}") }
}

/// What [`in_words`] wrote, as a line of a list: what a tool said is told in the reader's language.
pub(crate) fn action_line(action: &str) -> Words {
    match action.split_once(": ") {
        Some((what, seen)) => text::closing::deed(&what, &seen).words(),
        None => text::closing::deed_said(&action).words(),
    }
}

/// The argument that a call is about: its resource, its text, or the first that is required.
fn about(spec: &ToolSpec, args: &str) -> Option<String> {
    let args: Value = serde_json::from_str(args).ok()?;
    let required = spec.schema.get("required").and_then(Value::as_array);
    let first = required.and_then(|names| names.first()).and_then(Value::as_str);
    let named = [spec.handling.resource_arg.as_deref(), spec.text_arg.as_deref(), first];
    let value = named.into_iter().flatten().find_map(|name| args.get(name)?.as_str())?;
    Some(shortened(value.lines().next().unwrap_or_default()))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::listed;
    use crate::schemas::standing_alone;
    use everloop_types::ToolSpec;
    use serde_json::json;

    #[test]
    fn a_tool_is_one_line_with_its_signature() {
        let schema = json!({"type": "object", "required": ["path"], "properties": {
            "from": {"type": ["integer", "null"], "description": "first line. From 1."},
            "path": {"type": "string"},
            "todos": {"type": "array", "items": {"type": "object", "required": ["id"],
                "properties": {"id": {"type": "string"}, "status": {"enum": ["open", "done"]}}}},
        }});
        let tool = ToolSpec {
            name: "read".to_owned(),
            description: "Reads.".to_owned(),
            schema: standing_alone(&schema),
            ..ToolSpec::default()
        };
        assert_eq!(
            listed([&tool].into_iter()),
            "Tools (? marks what may be left out)\n- read(path: string, from?: integer (first \
             line), todos?: [{id: string, status?: open|done}]): Reads.\n"
        );
    }
}
