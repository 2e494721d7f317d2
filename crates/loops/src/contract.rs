//! Replies that follow a JSON contract: read strictly, and say what was wrong.
//!
//! Tolerated: reasoning blocks and code fences around the object. Nothing else is repaired (PR-8).

use serde::de::DeserializeOwned;
use serde_json::Value;

/// What was wrong with a reply, for the model to read.
pub(crate) type Broken = String;

/// Reads the one JSON object that a reply must be.
pub(crate) fn read<T: DeserializeOwned>(reply: &str) -> Result<T, Broken> {
    let bare = unwrapped(reply);
    if bare.is_empty() {
        return Err("the reply was empty; reply with exactly one JSON object".to_owned());
    }
    let value: Value = serde_json::from_str(bare)
        .map_err(|error| format!("the reply is not one valid JSON object: {error}"))?;
    if !value.is_object() {
        return Err("the reply is valid JSON but not an object".to_owned());
    }
    serde_json::from_value(value)
        .map_err(|error| format!("the object breaks the contract: {error}"))
}

/// The reply without reasoning blocks and without a code fence around it.
fn unwrapped(reply: &str) -> &str {
    let mut bare = reply.trim();
    while let Some(rest) = bare.strip_prefix("<think>") {
        bare = rest.split_once("</think>").map_or("", |(_, after)| after.trim_start());
    }
    let fenced = bare.strip_prefix("```").and_then(|inner| inner.trim_end().strip_suffix("```"));
    match fenced {
        Some(inner) => inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim(),
        None => bare,
    }
}

#[cfg(test)]
mod tests {
    use super::{read, unwrapped};
    use serde_json::{Value, json};

    #[test]
    fn reasoning_and_fences_are_tolerated() {
        for reply in [
            r#"{"a":1}"#,
            "<think>hm\n{}</think>\n{\"a\":1}",
            "```json\n{\"a\":1}\n```",
            "<think>x</think>```\n{\"a\":1}```",
        ] {
            assert_eq!(read::<Value>(reply), Ok(json!({"a": 1})), "{reply}");
        }
    }

    #[test]
    fn anything_else_is_an_error_with_words() {
        for reply in ["", "sure! {\"a\":1}", "{\"a\":1} {\"a\":2}", "[1]", "{'a':1}", "{\"a\":1,}"]
        {
            let broken = read::<Value>(reply).unwrap_err();
            assert!(!broken.is_empty(), "{reply}");
        }
    }

    #[test]
    fn an_unclosed_reasoning_block_leaves_nothing() {
        assert_eq!(unwrapped("<think>never ends {\"a\":1}"), "");
    }
}
