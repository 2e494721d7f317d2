//! As much of JSON Schema as the schema of the settings uses.

use regex_lite::Regex;
use serde_json::Value;

/// Words that the schema may use; another one would not be checked.
const KNOWN: [&str; 15] = [
    "$schema",
    "title",
    "description",
    "default",
    "type",
    "enum",
    "pattern",
    "minimum",
    "maximum",
    "items",
    "properties",
    "additionalProperties",
    "required",
    "oneOf",
    "examples",
];

/// Where a value does not fit a schema.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let words = schema.as_object().unwrap();
    for word in words.keys() {
        assert!(KNOWN.contains(&word.as_str()), "{word} is not checked here");
    }
    let fits_type = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    if !fits_type {
        return found.push(format!("{at}: {value} is not of type {}", schema["type"]));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        found.push(format!("{at}: {value} is not one of {words:?}"));
    }
    if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str())
        && !Regex::new(pattern).unwrap().is_match(text)
    {
        found.push(format!("{at}: {value} does not match {pattern}"));
    }
    check_number(schema, value, at, found);
    for item in value.as_array().into_iter().flatten() {
        check(&schema["items"], item, &format!("{at}[]"), found);
    }
    check_object(schema, value, at, found);
}

fn check_number(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(number) = value.as_f64() else { return };
    let is_low = schema["minimum"].as_f64().is_some_and(|least| number < least);
    let is_high = schema["maximum"].as_f64().is_some_and(|most| number > most);
    if is_low || is_high {
        found.push(format!("{at}: {value} is out of range"));
    }
}

fn check_object(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(fields) = value.as_object() else { return };
    let has_all = |schema: &Value| {
        let names = schema["required"].as_array().cloned().unwrap_or_default();
        names.iter().all(|name| fields.contains_key(name.as_str().unwrap()))
    };
    let choices = schema["oneOf"].as_array();
    let fits_one = choices.is_none_or(|all| all.iter().filter(|one| has_all(one)).count() == 1);
    if !has_all(schema) || !fits_one {
        found.push(format!("{at}: a field is missing, or there is one too many"));
    }
    for (name, value) in fields {
        let at = format!("{at}.{name}");
        let own = schema["properties"].get(name);
        match (own, &schema["additionalProperties"]) {
            (Some(own), _) => check(own, value, &at, found),
            (None, Value::Object(_)) => {
                check(&schema["additionalProperties"], value, &at, found);
            }
            (None, _) => found.push(format!("{at}: unknown")),
        }
    }
}
