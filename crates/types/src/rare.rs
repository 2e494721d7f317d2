//! Arguments of tools that are rarely of use.
//!
//! Small models fill in every argument that they are shown. Where tools are told in words, or a
//! reply is held to a schema, such an argument is left out; a call that has it is still taken.

use serde_json::Value;

/// Marks a property of a tool's schema.
pub const RARE: &str = "x-rare";

/// The schema without the properties that are marked and not required.
#[must_use]
pub fn without_rare(schema: &Value) -> Value {
    let mut usual = schema.clone();
    if let Some(properties) = usual.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|_, property| property.get(RARE).is_none());
    }
    usual
}

#[cfg(test)]
mod tests {
    use super::without_rare;
    use serde_json::json;

    #[test]
    fn only_marked_properties_are_left_out() {
        let schema = json!({"type": "object", "required": ["path"], "properties":
            {"path": {"type": "string"}, "hash": {"type": "boolean", "x-rare": true}}});
        let usual = json!({"type": "object", "required": ["path"], "properties":
            {"path": {"type": "string"}}});
        assert_eq!(without_rare(&schema), usual);
        assert_eq!(without_rare(&usual), usual);
        assert_eq!(without_rare(&json!(true)), json!(true));
    }
}
