//! A JSON schema as text, with its properties in the order in which a reply should have them.
//!
//! Servers that hold a reply to a schema let the model write its properties in the schema's order.
//! A model that has to write arguments before the tool's name, or a result before its status,
//! writes worse ones. `required` is a list and keeps its order; an object of JSON does not.

use serde_json::Value;

/// The schema as JSON text: `properties` as `required` names them, then the others.
#[must_use]
pub fn schema_text(schema: &Value) -> String {
    let mut out = String::new();
    write(schema, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            let mut comma = "";
            out.push('[');
            for item in items {
                out.push_str(std::mem::replace(&mut comma, ","));
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let order = fields.get("required").and_then(Value::as_array);
            let mut comma = "";
            out.push('{');
            for (name, value) in fields {
                out.push_str(std::mem::replace(&mut comma, ","));
                out.push_str(&format!("{}:", Value::from(name.as_str())));
                match (name.as_str(), value, order) {
                    ("properties", Value::Object(_), Some(order)) => {
                        write_properties(value, order, out);
                    }
                    _ => write(value, out),
                }
            }
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

fn write_properties(properties: &Value, order: &[Value], out: &mut String) {
    let place = |name: &str| order.iter().position(|known| known == name).unwrap_or(order.len());
    let fields = properties.as_object().into_iter().flatten();
    let mut fields: Vec<(&String, &Value)> = fields.collect();
    fields.sort_by_key(|(name, _)| place(name));
    let mut comma = "";
    out.push('{');
    for (name, schema) in fields {
        out.push_str(std::mem::replace(&mut comma, ","));
        out.push_str(&format!("{}:", Value::from(name.as_str())));
        write(schema, out);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::schema_text;
    use serde_json::{Value, json};

    #[test]
    fn properties_come_as_they_are_required_and_the_rest_after_them() {
        let schema = json!({"anyOf": [{"type": "object",
            "properties": {"input": {"type": "object", "properties": {"b": {}, "a": true},
                "required": ["b"]}, "tool": {"enum": ["x\"y"]}, "also": {}},
            "required": ["tool", "input"]}]});
        let text = schema_text(&schema);
        assert_eq!(
            text,
            r#"{"anyOf":[{"properties":{"tool":{"enum":["x\"y"]},"input":{"properties":{"b":{},"a":true},"required":["b"],"type":"object"},"also":{}},"required":["tool","input"],"type":"object"}]}"#
        );
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(schema));
    }
}
