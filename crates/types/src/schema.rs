//! Checks a tool call's arguments against the tool's JSON schema, and says what is wrong and where.
//!
//! Covers what our own argument types produce: types, properties, required, additional
//! properties, items, enum and const, bounds, `anyOf`, `oneOf`, `allOf` and local references.
//! Deliberately absent: formats, patterns and remote references, which are taken as fulfilled.

use crate::ToolSpec;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;

/// Problems that one message lists.
const PROBLEMS_MAX: usize = 5;

/// How deep references may nest; a schema that refers to itself ends here.
const DEPTH_MAX: usize = 64;

/// Parses `args` and checks them against the tool's schema. Empty text counts as `{}`.
///
/// # Errors
/// A text for the model: each problem with the path of the argument that has it.
pub fn check_args(spec: &ToolSpec, args: &str) -> Result<Value, String> {
    let args = if args.trim().is_empty() { "{}" } else { args };
    let value: Value = serde_json::from_str(args).map_err(|error| format!("not JSON: {error}"))?;
    // One reader would take the first, another the last.
    serde_json::from_str::<EachNameOnce>(args).map_err(|error| error.to_string())?;
    if !value.is_object() {
        return Err(format!("must be an object, not {}", kind(&value)));
    }
    let value = without_nulls(&spec.schema, value);
    let mut check = SchemaCheck { root: &spec.schema, path: Vec::new(), problems: Vec::new() };
    check.value(&spec.schema, &value);
    if check.problems.is_empty() { Ok(value) } else { Err(check.message()) }
}

/// JSON in which no object has a name twice.
struct EachNameOnce;

impl<'de> Deserialize<'de> for EachNameOnce {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(UniqueNames)
    }
}

struct UniqueNames;

impl<'de> Visitor<'de> for UniqueNames {
    type Value = EachNameOnce;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EachNameOnce, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            map.next_value::<EachNameOnce>()?;
            if let Some(name) = names.replace(name) {
                return Err(A::Error::custom(format!("the name {name:?} is there twice")));
            }
        }
        Ok(EachNameOnce)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<EachNameOnce, A::Error> {
        while seq.next_element::<EachNameOnce>()?.is_some() {}
        Ok(EachNameOnce)
    }

    fn visit_bool<E>(self, _: bool) -> Result<EachNameOnce, E> {
        Ok(EachNameOnce)
    }

    fn visit_i64<E>(self, _: i64) -> Result<EachNameOnce, E> {
        Ok(EachNameOnce)
    }

    fn visit_u64<E>(self, _: u64) -> Result<EachNameOnce, E> {
        Ok(EachNameOnce)
    }

    fn visit_f64<E>(self, _: f64) -> Result<EachNameOnce, E> {
        Ok(EachNameOnce)
    }

    fn visit_str<E>(self, _: &str) -> Result<EachNameOnce, E> {
        Ok(EachNameOnce)
    }

    fn visit_unit<E>(self) -> Result<EachNameOnce, E> {
        Ok(EachNameOnce)
    }
}

/// Models write null for an argument that they leave out. Where the schema does not know null, and
/// the argument may be left out, it means just that.
fn without_nulls(schema: &Value, mut value: Value) -> Value {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|required| required.iter().any(|known| known.as_str() == Some(name)))
    };
    let knows_null = |name: &str| match schema.get("properties").and_then(|all| all.get(name)) {
        Some(Value::Object(property)) => {
            property.get("type").is_none_or(|kind| !kind.is_string() || kind == "null")
        }
        _ => true,
    };
    if let Value::Object(fields) = &mut value {
        fields.retain(|name, value| !value.is_null() || is_required(name) || knows_null(name));
    }
    value
}

struct SchemaCheck<'a> {
    root: &'a Value,
    path: Vec<String>,
    problems: Vec<String>,
}

impl<'a> SchemaCheck<'a> {
    fn value(&mut self, schema: &'a Value, value: &Value) {
        let schema = match self.resolve(schema) {
            Value::Bool(true) => return,
            Value::Bool(false) => return self.problem("is not allowed"),
            Value::Object(schema) => schema,
            _ => return,
        };
        if !self.has_type(schema, value) {
            return;
        }
        self.choices(schema, value);
        self.alternatives(schema, value);
        match value {
            Value::Object(fields) => self.object(schema, fields),
            Value::Array(items) => self.array(schema, items),
            Value::String(text) => {
                let chars = text.chars().count() as f64;
                self.bounds(schema, ["minLength", "maxLength"], chars, "characters");
            }
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                self.bounds(schema, ["minimum", "maximum"], number, "");
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Follows local references, however many.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        for _ in 0..DEPTH_MAX {
            let Some(pointer) = schema.get("$ref").and_then(Value::as_str) else { return schema };
            let found = pointer.strip_prefix('#').and_then(|path| self.root.pointer(path));
            schema = found.unwrap_or(&Value::Bool(true));
        }
        &Value::Bool(true)
    }

    fn has_type(&mut self, schema: &Map<String, Value>, value: &Value) -> bool {
        let allowed: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(some)) => some.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };
        let fits = allowed.iter().any(|name| match *name {
            "integer" => value.is_i64() || value.is_u64(),
            name => name == kind(value),
        });
        if !fits {
            self.problem(&format!("must be {}, not {}", allowed.join(" or "), kind(value)));
        }
        fits
    }

    fn choices(&mut self, schema: &Map<String, Value>, value: &Value) {
        let allowed = match (schema.get("enum"), schema.get("const")) {
            (Some(Value::Array(some)), _) => some.as_slice(),
            (_, Some(one)) => std::slice::from_ref(one),
            _ => return,
        };
        if !allowed.contains(value) {
            let names: Vec<String> = allowed.iter().map(Value::to_string).collect();
            self.problem(&format!("must be one of {}", names.join(", ")));
        }
    }

    fn alternatives(&mut self, schema: &'a Map<String, Value>, value: &Value) {
        for all in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.value(all, value);
        }
        for key in ["anyOf", "oneOf"] {
            let Some(Value::Array(forms)) = schema.get(key) else { continue };
            let tries: Vec<Vec<String>> =
                forms.iter().map(|form| self.attempt(form, value)).collect();
            let fitting = tries.iter().filter(|problems| problems.is_empty()).count();
            match (fitting, key) {
                (0, _) => self.no_form(forms, tries),
                (2.., "oneOf") => self.problem("fits more than one of the allowed forms"),
                _ => {}
            }
        }
    }

    /// For an optional value the only form beside null says best what is wrong.
    fn no_form(&mut self, forms: &'a [Value], mut tries: Vec<Vec<String>>) {
        let is_null = |form: &Value| form.get("type").and_then(Value::as_str) == Some("null");
        let real: Vec<usize> = (0..forms.len()).filter(|at| !is_null(&forms[*at])).collect();
        match real[..] {
            [only] => self.problems.append(&mut tries[only]),
            _ => self.problem("fits none of the allowed forms"),
        }
    }

    fn attempt(&self, schema: &'a Value, value: &Value) -> Vec<String> {
        let mut inner =
            SchemaCheck { root: self.root, path: self.path.clone(), problems: Vec::new() };
        inner.value(schema, value);
        inner.problems
    }

    fn object(&mut self, schema: &'a Map<String, Value>, fields: &Map<String, Value>) {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                self.within(format!(".{name}"), |check| check.problem("is missing"));
            }
        }
        let known = schema.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            let property = known.and_then(|known| known.get(name));
            match (property, schema.get("additionalProperties")) {
                (Some(schema), _) => {
                    self.within(format!(".{name}"), |check| check.value(schema, value));
                }
                (None, Some(Value::Bool(false))) => {
                    self.within(format!(".{name}"), |check| check.problem("is not an argument"));
                }
                (None, Some(rest)) => {
                    self.within(format!(".{name}"), |check| check.value(rest, value));
                }
                (None, None) => {}
            }
        }
    }

    fn array(&mut self, schema: &'a Map<String, Value>, items: &[Value]) {
        self.bounds(schema, ["minItems", "maxItems"], items.len() as f64, "items");
        let Some(each) = schema.get("items") else { return };
        for (at, item) in items.iter().enumerate() {
            self.within(format!("[{at}]"), |check| check.value(each, item));
        }
    }

    fn bounds(&mut self, schema: &Map<String, Value>, keys: [&str; 2], n: f64, unit: &str) {
        let [least, most] = keys.map(|key| schema.get(key).and_then(Value::as_f64));
        if let Some(least) = least.filter(|least| n < *least) {
            self.problem(format!("must be at least {least} {unit}").trim_end());
        }
        if let Some(most) = most.filter(|most| n > *most) {
            self.problem(format!("must be at most {most} {unit}").trim_end());
        }
    }

    fn within(&mut self, step: String, check: impl FnOnce(&mut Self)) {
        if self.path.len() < DEPTH_MAX {
            self.path.push(step);
            check(self);
            self.path.pop();
        }
    }

    fn problem(&mut self, what: &str) {
        let path = self.path.concat();
        let path = path.trim_start_matches('.');
        let path = if path.is_empty() { "the arguments" } else { path };
        self.problems.push(format!("{path}: {what}"));
    }

    fn message(mut self) -> String {
        let more = self.problems.len().saturating_sub(PROBLEMS_MAX);
        self.problems.truncate(PROBLEMS_MAX);
        if more > 0 {
            self.problems.push(format!("{more} more problems"));
        }
        self.problems.join("; ")
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::check_args;
    use crate::ToolSpec;

    #[test]
    fn arguments_with_a_name_twice_are_refused() {
        let spec = ToolSpec { schema: serde_json::json!({}), ..ToolSpec::default() };
        for args in [
            r#"{"command":"ls","command":"rm"}"#,
            r#"{"a":{"b":1,"\u0062":2}}"#,
            r#"{"a":[{"b":null,"b":1.5}]}"#,
        ] {
            let refused = check_args(&spec, args).unwrap_err();
            assert!(refused.contains("is there twice"), "{args}: {refused}");
        }
        assert!(check_args(&spec, r#"{"a":{"b":1},"b":[true,{"b":-1}]}"#).is_ok());
    }
}
