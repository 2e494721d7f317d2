//! Replies that follow a JSON contract: read strictly, and say what was wrong.
//!
//! Tolerated: reasoning blocks and code fences around the object. Nothing else is repaired (PR-8),
//! except on the last try, where a reply with exactly one possible reading is taken and that is
//! said.

use everloop_text as text;
use everloop_types::{Frame, Message, Reply, StopCause, ToolCall, Words};
use serde_json::Value;

use crate::Transcript;
use crate::truncation::is_not_an_answer;

/// What was wrong with a reply, for the model to read.
pub(crate) type ContractFault = String;

/// How a reply was taken that is not quite what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Salvage {
    /// There is prose around its one object, or around its one answer.
    Prose,
    /// It has a question or a response beside its action.
    Superfluous,
    /// A field has another usual name.
    Renamed,
    /// The items of its plan have another form.
    Items,
    /// Its last tag is not closed.
    Unclosed,
}

impl Salvage {
    fn text(self) -> text::Text {
        match self {
            Self::Prose => text::salvaged::prose(),
            Self::Superfluous => text::salvaged::superfluous(),
            Self::Renamed => text::salvaged::renamed(),
            Self::Items => text::salvaged::items(),
            Self::Unclosed => text::salvaged::unclosed(),
        }
    }

    /// The note for watchers.
    pub(crate) fn words(how: &[Self]) -> Option<Words> {
        let mut all: Vec<Words> = how.iter().map(|how| how.text().words()).collect();
        match all.len() {
            0 => None,
            1 => all.pop(),
            _ => Some(Words::All(all)),
        }
    }
}

/// Reads the one JSON object that a reply must be.
pub(crate) fn object(reply: &str) -> Result<Value, ContractFault> {
    let bare = unwrapped(reply);
    if bare.is_empty() {
        return Err("the reply was empty; reply with exactly one JSON object".to_owned());
    }
    let value: Value = serde_json::from_str(bare)
        .map_err(|error| format!("the reply is not one valid JSON object: {error}"))?;
    match value.is_object() {
        true => Ok(value),
        false => Err("the reply is valid JSON but not an object".to_owned()),
    }
}

/// The object of a reply that has one object and prose without any brace around it.
pub(crate) fn object_in_prose(reply: &str) -> Option<Value> {
    let bare = without_reasoning(reply);
    let text = &bare[bare.find('{')?..];
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let after = &text[values.byte_offset()..];
    (!after.contains(['{', '}'])).then_some(value)
}

/// The words of a reply that was asked to follow a contract, is plain words once more and has no
/// trace of the form. Not under the limits of older programs.
pub(crate) fn said_again(
    reply: &Reply,
    transcript: &Transcript,
    tries: u32,
    frame: &Frame,
) -> Option<String> {
    let steps = &frame.limits.steps;
    let bare = without_reasoning(&reply.text).trim();
    let is_whole = reply.stop != StopCause::Length && !is_not_an_answer(bare, frame);
    let is_usable = steps.is_lenient && is_whole && is_only_words(&reply.text, &reply.calls);
    let mut earlier = transcript.messages().iter().rev().filter_map(|message| match message {
        Message::Assistant { text, calls } => Some(is_only_words(text, calls)),
        _ => None,
    });
    // The newest one is this reply.
    let was_words = earlier.nth(1).unwrap_or_default();
    let is_again = steps.contract_retries == 0 || tries > 0 && was_words;
    (is_usable && is_again).then(|| bare.to_owned())
}

fn is_only_words(text: &str, calls: &[ToolCall]) -> bool {
    let bare = without_reasoning(text).trim();
    calls.is_empty() && !bare.is_empty() && !bare.contains(['{', '}'])
}

/// The words of a reply that should be plain and follows a contract all the same.
pub(crate) fn plain(reply: &str) -> String {
    let bare = without_reasoning(reply);
    let said = object(bare).ok().and_then(|mut object| match object["response"].take() {
        Value::String(text) if !text.trim().is_empty() => Some(text),
        _ => None,
    });
    let inside = bare
        .strip_prefix("<final>")
        .map(|text| text.trim_end().strip_suffix("</final>").unwrap_or(text).trim().to_owned());
    said.or(inside).unwrap_or_else(|| reply.to_owned())
}

/// The reply without reasoning blocks and without a code fence around it.
fn unwrapped(reply: &str) -> &str {
    let bare = without_reasoning(reply);
    let fenced = bare.strip_prefix("```").and_then(|inner| inner.trim_end().strip_suffix("```"));
    match fenced {
        Some(inner) => inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim(),
        None => bare,
    }
}

fn without_reasoning(reply: &str) -> &str {
    let mut bare = reply.trim();
    while let Some(rest) = bare.strip_prefix("<think>") {
        bare = rest.split_once("</think>").map_or("", |(_, after)| after.trim_start());
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::{object, object_in_prose, plain, unwrapped};
    use serde_json::json;

    #[test]
    fn reasoning_and_fences_are_tolerated() {
        for reply in [
            r#"{"a":1}"#,
            "<think>hm\n{}</think>\n{\"a\":1}",
            "```json\n{\"a\":1}\n```",
            "<think>x</think>```\n{\"a\":1}```",
        ] {
            assert_eq!(object(reply), Ok(json!({"a": 1})), "{reply}");
        }
    }

    #[test]
    fn anything_else_is_an_error_with_words() {
        for reply in ["", "sure! {\"a\":1}", "{\"a\":1} {\"a\":2}", "[1]", "{'a':1}", "{\"a\":1,}"]
        {
            let broken = object(reply).unwrap_err();
            assert!(!broken.is_empty(), "{reply}");
        }
    }

    #[test]
    fn an_unclosed_reasoning_block_leaves_nothing() {
        assert_eq!(unwrapped("<think>never ends {\"a\":1}"), "");
    }

    #[test]
    fn one_object_in_prose_is_found_and_two_are_not() {
        for reply in ["sure!\n```json\n{\"a\":1}\n```\nThere.", "{\"a\":1} done", "so {\"a\":1}"] {
            assert_eq!(object_in_prose(reply), Some(json!({"a": 1})), "{reply}");
        }
        for reply in
            ["", "no", "{\"a\":1} {\"a\":2}", "{I} say {\"a\":1}", "{\"a\":1", "x {\"a\":1} }"]
        {
            assert_eq!(object_in_prose(reply), None, "{reply}");
        }
    }

    #[test]
    fn last_words_in_the_form_of_a_contract_become_plain() {
        assert_eq!(plain(r#"{"status":"done","response":"All is well."}"#), "All is well.");
        assert_eq!(plain("<think>x</think><final>So it is.</final>"), "So it is.");
        assert_eq!(plain("<final>So it is."), "So it is.");
        assert_eq!(plain("It is {so}."), "It is {so}.");
        assert_eq!(plain(r#"{"a":1}"#), r#"{"a":1}"#);
    }
}
