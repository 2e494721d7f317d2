//! The part of JSON schema that Gemini supports. It refuses a whole request for one unknown field,
//! so anything else is expressed differently or left out.

use serde_json::{Map, Value, json};

/// What is taken as it is.
const TAKEN: [&str; 13] = [
    "description",
    "title",
    "default",
    "nullable",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "pattern",
];

/// How deep definitions are followed. A recursive one has no end.
const DEPTH_MAX: usize = 12;

/// The schema with only what Gemini accepts.
pub(super) fn accepted(schema: &Value) -> Value {
    SchemaNarrower { root: schema }.narrow(schema, 0)
}

struct SchemaNarrower<'a> {
    root: &'a Value,
}

impl SchemaNarrower<'_> {
    fn narrow(&self, schema: &Value, depth: usize) -> Value {
        if depth > DEPTH_MAX {
            return json!({"type": "object"});
        }
        // `true` and `{}` allow anything, but something has to be named.
        let Some(fields) = schema.as_object() else { return json!({"type": "string"}) };
        if let Some(found) = fields.get("$ref").and_then(|name| self.definition(name)) {
            let mut narrowed = self.narrow(found, depth + 1);
            if let (Some(to), Some(words)) = (narrowed.as_object_mut(), fields.get("description")) {
                to.insert("description".to_owned(), words.clone());
            }
            return narrowed;
        }
        let mut out = Map::new();
        for name in TAKEN {
            if let Some(value) = fields.get(name) {
                out.insert(name.to_owned(), value.clone());
            }
        }
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            merge(&mut out, self.narrow(part, depth + 1));
        }
        self.members(fields, &mut out, depth);
        self.choices(fields, &mut out, depth);
        kind(fields, &mut out);
        Value::Object(out)
    }

    /// The definition at `#/a/b`.
    fn definition(&self, name: &Value) -> Option<&Value> {
        self.root.pointer(name.as_str()?.strip_prefix('#')?)
    }

    fn members(&self, fields: &Map<String, Value>, out: &mut Map<String, Value>, depth: usize) {
        if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
            let narrowed = properties
                .iter()
                .map(|(name, schema)| (name.clone(), self.narrow(schema, depth + 1)))
                .collect::<Map<_, _>>();
            merge(out, json!({"properties": narrowed}));
        }
        if let Some(required) = fields.get("required") {
            merge(out, json!({"required": required}));
        }
        // A reply has its properties in this order: the status first, and the tool before its
        // arguments.
        if let (Some(first), Some(all)) = (
            fields.get("required").and_then(Value::as_array),
            fields.get("properties").and_then(Value::as_object),
        ) && all.len() > 1
        {
            let others = all.keys().map(|name| json!(name)).filter(|name| !first.contains(name));
            let known =
                first.iter().filter(|name| name.as_str().is_some_and(|it| all.contains_key(it)));
            let order: Vec<Value> = known.cloned().chain(others).collect();
            out.insert("propertyOrdering".to_owned(), json!(order));
        }
        if let Some(items) = fields.get("items") {
            out.insert("items".to_owned(), self.narrow(items, depth + 1));
        }
    }

    /// Alternatives. `null` among them makes the others nullable, and a single one is not a choice.
    fn choices(&self, fields: &Map<String, Value>, out: &mut Map<String, Value>, depth: usize) {
        let list = ["anyOf", "oneOf"].into_iter().find_map(|name| fields.get(name)?.as_array());
        let Some(list) = list else { return };
        let is_null = |schema: &&Value| schema.get("type") == Some(&json!("null"));
        if list.iter().any(|schema| is_null(&schema)) {
            out.insert("nullable".to_owned(), json!(true));
        }
        let real = list.iter().filter(|schema| !is_null(schema));
        let mut real: Vec<_> = real.map(|schema| self.narrow(schema, depth + 1)).collect();
        match (real.pop(), real.is_empty()) {
            (Some(only), true) => merge(out, only),
            (Some(last), false) => {
                real.push(last);
                out.insert("anyOf".to_owned(), Value::Array(real));
            }
            (None, _) => {}
        }
    }
}

/// Adds what is not said yet; properties and required names come together.
fn merge(out: &mut Map<String, Value>, more: Value) {
    let Value::Object(more) = more else { return };
    for (name, value) in more {
        match (out.get_mut(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) if name == "properties" => {
                old.extend(new);
            }
            (Some(Value::Array(old)), Value::Array(new)) if name == "required" => {
                old.extend(new.into_iter().filter(|name| !old.contains(name)).collect::<Vec<_>>());
            }
            (Some(_), _) => {}
            (None, value) => {
                out.insert(name, value);
            }
        }
    }
}

/// The type, its values and its format, which hang together.
fn kind(fields: &Map<String, Value>, out: &mut Map<String, Value>) {
    let values = match (fields.get("enum"), fields.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => Vec::new(),
    };
    let names: Vec<&str> = match fields.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if names.contains(&"null") || values.contains(&Value::Null) {
        out.insert("nullable".to_owned(), json!(true));
    }
    if !out.contains_key("type") && !out.contains_key("anyOf") {
        let named = names.iter().copied().find(|name| *name != "null");
        let shown = || values.iter().find_map(type_of);
        let shaped = if out.contains_key("properties") {
            "object"
        } else if out.contains_key("items") {
            "array"
        } else {
            "string"
        };
        out.insert("type".to_owned(), json!(named.or_else(shown).unwrap_or(shaped)));
    }
    let name = out.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let texts: Vec<_> = values.into_iter().filter(Value::is_string).collect();
    if name == "string" && !texts.is_empty() {
        out.insert("enum".to_owned(), Value::Array(texts));
    }
    if name == "array" && !out.contains_key("items") {
        out.insert("items".to_owned(), json!({"type": "string"}));
    }
    let format = fields.get("format").and_then(Value::as_str).unwrap_or_default();
    let known = match name.as_str() {
        "number" => ["float", "double"].contains(&format),
        "integer" => ["int32", "int64"].contains(&format),
        "string" => format == "date-time",
        _ => false,
    };
    if known {
        out.insert("format".to_owned(), json!(format));
    }
}

fn type_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(n) => Some(if n.is_f64() { "number" } else { "integer" }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_said_otherwise_or_left_out() {
        for (given, sent) in [
            (
                json!({"$schema": "x", "type": "object", "additionalProperties": false,
                    "properties": {"n": {"type": "integer", "format": "uint32", "minimum": 0,
                        "exclusiveMinimum": 0, "multipleOf": 2}}, "required": ["n"]}),
                json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}},
                    "required": ["n"]}),
            ),
            (
                json!({"type": ["string", "null"], "format": "date-time"}),
                json!({"type": "string", "nullable": true, "format": "date-time"}),
            ),
            (
                json!({"anyOf": [{"type": "integer", "format": "int64"}, {"type": "null"}]}),
                json!({"type": "integer", "format": "int64", "nullable": true}),
            ),
            (
                json!({"oneOf": [{"const": "a"}, {"type": "integer"}], "description": "d"}),
                json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer"}],
                    "description": "d"}),
            ),
            (json!({"enum": [1, 2]}), json!({"type": "integer"})),
            (
                json!({"enum": ["a", null]}),
                json!({"type": "string", "enum": ["a"], "nullable": true}),
            ),
            (json!({"type": "array"}), json!({"type": "array", "items": {"type": "string"}})),
            (json!(true), json!({"type": "string"})),
            (
                json!({"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "string"}}, "required": ["b"]}]}),
                json!({"type": "object", "properties":
                    {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}),
            ),
        ] {
            assert_eq!(accepted(&given), sent, "{given}");
        }
    }

    #[test]
    fn one_form_for_each_status_keeps_its_forms_and_their_order() {
        let form = |status: &str, more: &str| {
            json!({"type": "object", "required": ["status", more], "additionalProperties": false,
                "properties": {"status": {"type": "string", "const": status},
                    more: {"type": "string"}}})
        };
        let sent = |status: &str, more: &str| {
            json!({"type": "object", "required": ["status", more],
                "propertyOrdering": ["status", more],
                "properties": {"status": {"type": "string", "enum": [status]},
                    more: {"type": "string"}}})
        };
        assert_eq!(
            accepted(&json!({"anyOf": [form("planned", "plan"), form("done", "answer")]})),
            json!({"anyOf": [sent("planned", "plan"), sent("done", "answer")]})
        );
    }

    #[test]
    fn definitions_are_put_in_place_and_have_an_end() {
        let leaf = json!({"type": "object", "properties": {
            "size": {"$ref": "#/$defs/Size", "description": "how large"}},
            "$defs": {"Size": {"type": "string", "enum": ["s", "l"], "description": "a size"}}});
        let sent = json!({"type": "object", "properties": {
            "size": {"type": "string", "enum": ["s", "l"], "description": "how large"}}});
        assert_eq!(accepted(&leaf), sent);
        let tree = json!({"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object",
            "properties": {"next": {"$ref": "#/$defs/Node"}}}}});
        let text = accepted(&tree).to_string();
        assert!(!text.contains("$ref") && text.len() < 2_000, "{text}");
    }
}
