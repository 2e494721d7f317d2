//! JSON schemas in the forms that providers take.

use everloop_types::RARE;
use serde_json::{Map, Value, json};

/// How deep references are followed. A definition that holds itself has no end.
const DEPTH_MAX: usize = 16;

/// A schema without references, so that it can stand inside another.
pub(crate) fn inlined(schema: &Value) -> Value {
    let mut alone = followed(schema, schema, 0);
    if let Some(fields) = alone.as_object_mut() {
        fields.retain(|name, _| !["$defs", "definitions", "$schema", "title"].contains(&&**name));
        fields.entry("type").or_insert_with(|| Value::from("object"));
    }
    alone
}

fn followed(schema: &Value, root: &Value, depth: usize) -> Value {
    match schema {
        _ if depth > DEPTH_MAX => Value::Bool(true),
        Value::Array(all) => all.iter().map(|one| followed(one, root, depth + 1)).collect(),
        Value::Object(fields) => {
            if let Some(pointer) = fields.get("$ref").and_then(Value::as_str) {
                let found = pointer.strip_prefix('#').and_then(|path| root.pointer(path));
                return found.map_or(Value::Bool(true), |found| followed(found, root, depth + 1));
            }
            let each = fields.iter().map(|(name, one)| (name, followed(one, root, depth + 1)));
            each.map(|(name, one)| (name.clone(), one)).collect()
        }
        plain => plain.clone(),
    }
}

/// A tool's schema for the wire. That no other arguments are allowed is left out: it costs tokens
/// in every request, and arguments are checked when the call comes. So are our own marks.
pub(crate) fn lean(schema: &Value) -> Value {
    match schema {
        Value::Array(all) => all.iter().map(lean).collect(),
        Value::Object(fields) => {
            let is_noise = |name: &str, one: &Value| {
                name == RARE || (name == "additionalProperties" && *one == Value::Bool(false))
            };
            let each = fields.iter().filter(|(name, one)| !is_noise(name, one));
            each.map(|(name, one)| (name.clone(), lean(one))).collect()
        }
        plain => plain.clone(),
    }
}

/// The forms that a schema allows at its top.
fn forms(schema: &Value) -> Option<&Vec<Value>> {
    ["anyOf", "oneOf"].into_iter().find_map(|name| schema.get(name)?.as_array())
}

/// One object in place of a choice between objects, for providers that take no choice at the top.
/// Each property allows what any form allows, and only what all forms need is required.
pub(crate) fn flat(schema: &Value) -> Value {
    let Some(forms) = forms(schema).filter(|forms| !forms.is_empty()) else {
        return schema.clone();
    };
    let mut properties: Map<String, Value> = Map::new();
    for (name, one) in forms.iter().filter_map(|form| form["properties"].as_object()).flatten() {
        let merged = match properties.remove(name) {
            None => one.clone(),
            Some(known) => either(known, one),
        };
        properties.insert(name.clone(), merged);
    }
    let needed = |form: &Value| form["required"].as_array().cloned().unwrap_or_default();
    let mut required = needed(&forms[0]);
    required.retain(|name| forms.iter().all(|form| needed(form).contains(name)));
    json!({"type": "object", "properties": properties, "required": required,
        "additionalProperties": false})
}

/// What one or the other allows.
fn either(one: Value, other: &Value) -> Value {
    if one == *other {
        return one;
    }
    let values = |schema: &Value| match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    };
    if let (Some(mut all), Some(more)) = (values(&one), values(other)) {
        all.extend(more.into_iter().filter(|value| !all.contains(value)).collect::<Vec<_>>());
        return json!({"type": "string", "enum": all});
    }
    let mut all = forms(&one).cloned().unwrap_or_else(|| vec![one]);
    if !all.contains(other) {
        all.push(other.clone());
    }
    json!({ "anyOf": all })
}

/// Whether OpenAI's strict mode takes a schema: objects that name all their properties as
/// required and allow no others, and an object at the top.
pub(crate) fn is_strict(schema: &Value) -> bool {
    schema["type"] == "object" && forms(schema).is_none() && all_strict(schema)
}

fn all_strict(schema: &Value) -> bool {
    /// What strict mode does not know, or did not know for long.
    const UNKNOWN: [&str; 12] = [
        "oneOf",
        "allOf",
        "not",
        "$ref",
        "default",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "pattern",
        "format",
        "patternProperties",
    ];
    let Value::Object(fields) = schema else { return !schema.is_boolean() };
    if UNKNOWN.iter().any(|name| fields.contains_key(*name)) {
        return false;
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    let required = fields.get("required").and_then(Value::as_array);
    let whole = match (properties, fields.get("type") == Some(&json!("object"))) {
        (None, is_object) => !is_object,
        (Some(properties), _) => {
            let named = |name: &String| required.is_some_and(|all| all.contains(&json!(name)));
            fields.get("additionalProperties") == Some(&Value::Bool(false))
                && properties.keys().all(named)
                && properties.values().all(all_strict)
        }
    };
    let inner = fields.get("items").into_iter().chain(forms(schema).into_iter().flatten());
    whole && inner.into_iter().all(all_strict)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(status: &str, more: &str) -> Value {
        json!({"type": "object", "required": ["status", more], "additionalProperties": false,
            "properties": {"status": {"const": status}, more: {"type": "string"}}})
    }

    #[test]
    fn a_choice_between_objects_becomes_one_object() {
        let schema = json!({"anyOf": [form("planned", "plan"), form("done", "response")]});
        assert_eq!(
            flat(&schema),
            json!({"type": "object", "required": ["status"], "additionalProperties": false,
                "properties": {"status": {"type": "string", "enum": ["planned", "done"]},
                    "plan": {"type": "string"}, "response": {"type": "string"}}})
        );
        assert_eq!(flat(&form("a", "b")), form("a", "b"));
        let other = json!({"type": "object", "required": ["status"],
            "properties": {"status": {"const": "x"}, "plan": {"type": "integer"}}});
        let mixed = flat(&json!({"oneOf": [form("planned", "plan"), other]}));
        let plan = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
        assert_eq!(mixed["properties"]["plan"], plan);
    }

    #[test]
    fn a_schema_stands_alone_once_its_references_are_followed() {
        let schema = json!({"title": "Args", "properties": {"p": {"$ref": "#/$defs/P"}},
            "$defs": {"P": {"type": "string"}}});
        assert_eq!(
            inlined(&schema),
            json!({"type": "object", "properties": {"p": {"type": "string"}}})
        );
        let endless = json!({"$ref": "#/$defs/N",
            "$defs": {"N": {"properties": {"next": {"$ref": "#/$defs/N"}}}}});
        assert!(!inlined(&endless).to_string().contains("$ref"));
    }

    #[test]
    fn strict_mode_is_for_objects_that_name_everything() {
        assert!(is_strict(&form("a", "b")));
        assert!(!is_strict(&json!({"anyOf": [form("a", "b"), form("c", "d")]})));
        let mut open = form("a", "b");
        open["required"] = json!(["status"]);
        assert!(!is_strict(&open));
        let listed = json!({"type": "object", "required": ["x"], "additionalProperties": false,
            "properties": {"x": {"type": "array", "items": {"type": "object"}}}});
        assert!(!is_strict(&listed), "an inner object names nothing");
    }
}
