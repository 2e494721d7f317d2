//! References from a step's arguments to results of earlier steps of its round (PET-3).

use crate::contract::ContractFault;
use serde_json::Value;

/// Whether a value refers to a result anywhere.
pub(super) fn has(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key("$ref") || fields.values().any(has),
        Value::Array(items) => items.iter().any(has),
        _ => false,
    }
}

/// Checks that every reference can be read and points to a step before `place`.
pub(super) fn check(value: &Value, place: usize) -> Result<(), ContractFault> {
    match value {
        Value::Object(fields) if fields.contains_key("$ref") => {
            let (step, _) = parse(value)?;
            match step < place {
                true => Ok(()),
                false => Err(format!("{value} does not point to an earlier step of this round")),
            }
        }
        Value::Object(fields) => fields.values().try_for_each(|value| check(value, place)),
        Value::Array(items) => items.iter().try_for_each(|value| check(value, place)),
        _ => Ok(()),
    }
}

/// The value with every reference replaced by what it points to.
pub(super) fn resolve(value: &Value, results: &[&str]) -> Result<Value, ContractFault> {
    match value {
        Value::Object(fields) if fields.contains_key("$ref") => {
            let (step, path) = parse(value)?;
            let Some(text) = results.get(step) else {
                return Err(format!("step {step} has no result"));
            };
            found(text, path).ok_or_else(|| format!("{value} points to nothing in that result"))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(k, v)| Ok((k.clone(), resolve(v, results)?)));
            Ok(Value::Object(fields.collect::<Result<_, ContractFault>>()?))
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| resolve(item, results));
            Ok(Value::Array(items.collect::<Result<_, ContractFault>>()?))
        }
        other => Ok(other.clone()),
    }
}

/// The step that a reference names, and the path into its result.
fn parse(reference: &Value) -> Result<(usize, &str), ContractFault> {
    let form = || format!("{reference} is not of the form {{\"$ref\":\"steps[0].result\"}}");
    let alone = reference.as_object().is_some_and(|fields| fields.len() == 1);
    let text = reference.get("$ref").and_then(Value::as_str).filter(|_| alone).ok_or_else(form)?;
    let rest = text.strip_prefix("steps[").ok_or_else(form)?;
    let (step, rest) = rest.split_once(']').ok_or_else(form)?;
    let path = rest.strip_prefix(".result").ok_or_else(form)?;
    let starts_well = path.is_empty() || path.starts_with(['.', '[']);
    match step.parse() {
        Ok(step) if starts_well => Ok((step, path)),
        _ => Err(form()),
    }
}

/// The value at a path. Without one it is the text, as it is.
fn found(text: &str, path: &str) -> Option<Value> {
    if path.is_empty() {
        return Some(Value::from(text));
    }
    let whole: Value = serde_json::from_str(text).ok()?;
    let pointer = path.replace('[', ".").replace(']', "").replace('.', "/");
    whole.pointer(&pointer).cloned()
}

#[cfg(test)]
mod tests {
    use super::{check, resolve};
    use serde_json::{Value, json};

    fn reference(path: &str) -> Value {
        json!({ "$ref": path })
    }

    #[test]
    fn a_reference_becomes_the_text_or_what_stands_at_its_path() {
        let results = ["plain", r#"{"rows":[{"n":7}]}"#];
        let args = json!({"a": [reference("steps[0].result")], "b": 1,
            "c": reference("steps[1].result.rows[0].n"), "d": reference("steps[1].result.rows")});
        let expected = json!({"a": ["plain"], "b": 1, "c": 7, "d": [{"n": 7}]});
        assert_eq!(resolve(&args, &results), Ok(expected));
        for nothing in ["steps[0].result.x", "steps[1].result.rows[1]", "steps[2].result"] {
            assert!(resolve(&reference(nothing), &results).is_err(), "{nothing}");
        }
    }

    #[test]
    fn a_reference_must_have_its_form_and_point_back() {
        assert_eq!(check(&reference("steps[1].result"), 2), Ok(()));
        for wrong in ["steps[2].result", "steps[x].result", "steps[0]", "steps[0].resulted", "a"] {
            assert!(check(&json!([reference(wrong)]), 2).is_err(), "{wrong}");
        }
        assert!(check(&json!({"$ref": "steps[0].result", "or": 1}), 2).is_err());
        assert!(check(&json!({"$ref": 1}), 2).is_err());
    }
}
