//! Tool calls that a model writes as text, and markup that says nothing.
//!
//! ```text
//!   <tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>
//!   ```json {"tool":"read_file","input":{"path":"a"}} ```
//!   <function=read_file><parameter=path>a</parameter></function>
//!   <tools></tools>                                          nothing at all
//! ```
//!
//! Prose may stand in front of a written call and never behind it: a text that goes on speaks about
//! calls. Deliberately absent: which tools there are. The reader of the call knows.

use serde_json::{Map, Value};

/// Places of a text at which a call is looked for.
const STARTS_MAX: usize = 32;
/// Names of tags that models put around calls.
const TAGS: [&str; 14] = [
    "tool",
    "tools",
    "tool_call",
    "tool_calls",
    "toolcall",
    "tool_use",
    "tool_code",
    "function",
    "functions",
    "function_call",
    "function_calls",
    "invoke",
    "call",
    "parameter",
];

/// Whether a text is nothing but tool markup and code fences with no call in them.
#[must_use]
pub fn only_markup(text: &str) -> bool {
    let mut rest = without_reasoning(text);
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let empty = ["{}", "[]", "null"].into_iter().find_map(|word| rest.strip_prefix(word));
        let Some(after) = empty.or_else(|| after_markup(rest)) else { return false };
        rest = after.trim_start();
    }
    true
}

/// The one call that a text is, as tool and arguments. `None` if there is none, or more than one.
#[must_use]
pub fn written_call(text: &str) -> Option<(String, Value)> {
    let mut calls = written_calls(text);
    let call = calls.pop();
    call.filter(|_| calls.is_empty())
}

/// All calls that a text ends with, as tool and arguments.
#[must_use]
pub fn written_calls(text: &str) -> Vec<(String, Value)> {
    let text = without_reasoning(text);
    let starts = text.char_indices().filter(|(_, c)| matches!(c, '{' | '[' | '<' | '`'));
    let starts = starts.map(|(at, _)| at).take(STARTS_MAX);
    let mut found = starts.filter_map(|at| calls_to_the_end(&text[at..]));
    found.find(|calls| !calls.is_empty()).unwrap_or_default()
}

/// Whether a text begins as a call does, readable or not.
#[must_use]
pub fn begins_as_call(text: &str) -> bool {
    let text = without_reasoning(text);
    !text.starts_with("```") && after_markup(text).is_some()
}

/// The text without the reasoning in front of it.
fn without_reasoning(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(inner) = rest.strip_prefix("<think>") {
        rest = inner.split_once("</think>").map_or("", |(_, after)| after.trim_start());
    }
    rest
}

/// The calls, if nothing else follows up to the end.
fn calls_to_the_end(text: &str) -> Option<Vec<(String, Value)>> {
    let (mut rest, mut calls) = (text, Vec::new());
    while !rest.is_empty() {
        let name = tag_of(rest).and_then(|tag| tag.named);
        if let Some(name) = name {
            let (args, after) = arguments(after_markup(rest)?.trim_start())?;
            calls.push((name, args));
            rest = after;
        } else if let Some(after) = after_markup(rest) {
            rest = after;
        } else {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let value = values.next()?.ok()?;
            calls.extend(read_calls(&value)?);
            rest = &rest[values.byte_offset()..];
        }
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',' || c == ';');
    }
    Some(calls)
}

/// What stands inside a tag that names its tool: one JSON object, or parameters each in a tag.
fn arguments(text: &str) -> Option<(Value, &str)> {
    if text.starts_with('{') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let value = values.next()?.ok().filter(Value::is_object)?;
        return Some((value, &text[values.byte_offset()..]));
    }
    let (mut rest, mut args) = (text, Map::new());
    while let Some(tag) = tag_of(rest).filter(|tag| tag.name == "parameter" && !tag.closes) {
        let inner = &rest[tag.length..];
        let (value, after) = inner.split_once("</parameter>")?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        args.insert(tag.named?, Value::from(value));
        rest = after.trim_start();
    }
    Some((Value::Object(args), rest))
}

/// Reads a JSON value as calls. `None` if it is something else.
fn read_calls(value: &Value) -> Option<Vec<(String, Value)>> {
    match value {
        Value::Array(all) => {
            let calls: Option<Vec<_>> = all.iter().map(read_calls).collect();
            Some(calls?.concat())
        }
        Value::Object(fields) => match around(fields) {
            Some(inner) => read_calls(inner),
            None => read_call(fields).map(|call| vec![call]),
        },
        _ => None,
    }
}

/// What a wrapper such as `{"tool_calls":[…]}` holds.
fn around(fields: &Map<String, Value>) -> Option<&Value> {
    let wrapped = ["tool_calls", "tool_call", "function_call", "function", "calls"];
    let inner = wrapped.into_iter().find_map(|name| fields.get(name));
    let inner = inner.filter(|inner| inner.is_object() || inner.is_array())?;
    let aside = |name: &&String| !["id", "type", "index"].contains(&name.as_str());
    (fields.keys().filter(aside).count() == 1).then_some(inner)
}

fn read_call(fields: &Map<String, Value>) -> Option<(String, Value)> {
    let tool = ["name", "tool", "tool_name", "function"];
    let args = ["arguments", "args", "input", "parameters", "params"];
    let aside = ["id", "type", "index"];
    let known = |name: &String| [&tool[..], &args, &aside].concat().contains(&name.as_str());
    if !fields.keys().all(known) {
        return None;
    }
    let name = one(fields, &tool)?.as_str().filter(|name| !name.trim().is_empty())?;
    let args = match one(fields, &args)? {
        Value::String(text) => serde_json::from_str(text).ok()?,
        other => other.clone(),
    };
    args.is_object().then(|| (name.to_owned(), args))
}

/// The one field that has one of these names.
fn one<'v>(fields: &'v Map<String, Value>, names: &[&str]) -> Option<&'v Value> {
    let mut found = names.iter().filter_map(|name| fields.get(*name));
    found.next().filter(|_| found.next().is_none())
}

struct MarkupTag {
    name: String,
    /// `name="…"`, or what follows `=`.
    named: Option<String>,
    closes: bool,
    length: usize,
}

/// The tool tag at the start of a text.
fn tag_of(text: &str) -> Option<MarkupTag> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find('>')?;
    let (inner, length) = (inner[..end].trim_matches('|'), end + 2);
    let closes = inner.starts_with('/');
    let inner = inner.trim_matches('/').trim();
    let name_end = inner.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(inner.len());
    let name = inner[..name_end].to_lowercase();
    let special = name.starts_with("tool_call") || name.starts_with("function_call");
    if !TAGS.contains(&name.as_str()) && !special && name != "python_tag" {
        return None;
    }
    let rest = inner[name_end..].trim();
    let named = rest.strip_prefix("name=").or_else(|| rest.strip_prefix('='));
    let named = named.map(|name| name.trim_matches(['"', '\'']).to_owned());
    let named = named.filter(|name| !name.is_empty() && !closes);
    Some(MarkupTag { name, named, closes, length })
}

/// What follows the piece of markup at the start of a text: a tag, a fence or `[TOOL_CALLS]`.
fn after_markup(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("```") {
        return Some(rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'));
    }
    if let Some(rest) = text.strip_prefix("[TOOL_CALLS]") {
        return Some(rest);
    }
    tag_of(text).map(|tag| &text[tag.length..])
}

#[cfg(test)]
mod tests {
    use super::{begins_as_call, only_markup, written_call, written_calls};
    use serde_json::json;

    #[test]
    fn markup_without_a_call_in_it_is_only_markup() {
        for text in [
            "<tools></tools>",
            " <tool_call>\n</tool_call>\n",
            "<tool_call>{}</tool_call>",
            "```json\n```",
            "```\n```\n<tools>",
            "<think>hm</think><tool_calls></tool_calls>",
            "<|tool_call|>",
            "<function_calls/>",
            "[TOOL_CALLS] []",
        ] {
            assert!(only_markup(text), "{text}");
            assert_eq!(written_call(text), None, "{text}");
        }
        for text in ["", " ", "hello", "<b></b>", "<tools> no", "```\nlet a = 1;\n```", "2 < 3"] {
            assert!(!only_markup(text), "{text}");
        }
    }

    #[test]
    fn a_call_is_read_in_every_dress() {
        let call = Some(("read_file".to_owned(), json!({"path": "a"})));
        for text in [
            r#"{"name":"read_file","arguments":{"path":"a"}}"#,
            r#"{"tool":"read_file","input":{"path":"a"}}"#,
            r#"{"name":"read_file","parameters":"{\"path\":\"a\"}"}"#,
            r#"{"type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}"#,
            r#"{"tool_calls":[{"id":"1","name":"read_file","args":{"path":"a"}}]}"#,
            r#"[{"name":"read_file","arguments":{"path":"a"}}]"#,
            r#"[TOOL_CALLS] [{"name":"read_file","arguments":{"path":"a"}}]"#,
            "```json\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```",
            "<tool_call>\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n</tool_call>",
            "<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}",
            "<think>so {</think>I look. <tool name=\"read_file\">{\"path\":\"a\"}</tool>",
            "<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>",
            "<invoke name=\"read_file\"><parameter name=\"path\">a</parameter></invoke>",
            "<|python_tag|>{\"name\":\"read_file\",\"parameters\":{\"path\":\"a\"}}",
            "Sure, {I} read it:\n```json\n{\"tool\":\"read_file\",\"args\":{\"path\":\"a\"}}\n```\n",
        ] {
            assert_eq!(written_call(text), call, "{text}");
            assert!(!only_markup(text), "{text}");
        }
    }

    #[test]
    fn what_may_mean_something_else_is_no_call() {
        for text in [
            "",
            "The meeting is at 3.",
            r#"{"name":"Bob","age":3}"#,
            r#"{"name":"read_file"}"#,
            r#"{"name":"read_file","arguments":[1]}"#,
            r#"{"name":"a","tool":"b","arguments":{}}"#,
            r#"{"name":"read_file","arguments":{"path":"a"}} reads the file."#,
            r#"<tool_call>{"name":"read_file","argum"#,
            "```json\n{\"a\":1}\n```",
        ] {
            assert_eq!(written_call(text), None, "{text}");
        }
        let two = r#"<tool_call>{"name":"a","arguments":{}}</tool_call>
            <tool_call>{"name":"b","arguments":{}}</tool_call>"#;
        assert_eq!(written_call(two), None);
        assert_eq!(written_calls(two).len(), 2);
    }

    #[test]
    fn a_text_that_begins_as_a_call_is_told_from_one_that_does_not() {
        assert!(begins_as_call("<tool_call>{\"name\":\"read_f"));
        assert!(begins_as_call("<think>a</think>[TOOL_CALLS] oh"));
        assert!(!begins_as_call("I read it. <tool_call>"));
        assert!(!begins_as_call("```rust\nfn main() {}\n```"));
    }
}
