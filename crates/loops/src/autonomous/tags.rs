//! TaggedCall text, read strictly: `<think>`, then `<tool name="…">` calls or one `<final>`.

use crate::contract::{ContractFault, Salvage};
use everloop_types::{Reply, StopCause};
use serde_json::Value;

/// Calls that one reply can hold; a reply with more is not a plan.
const CALLS_MAX: usize = 100;

#[derive(Debug, PartialEq)]
pub(super) enum TaggedReply {
    Tools(Vec<TaggedCall>),
    Final(String),
}

#[derive(Debug, PartialEq)]
pub(super) struct TaggedCall {
    pub(super) name: String,
    pub(super) args: String,
}

pub(super) fn read(reply: &str) -> Result<TaggedReply, ContractFault> {
    let mut rest = reply.trim();
    while let Some(inner) = rest.strip_prefix("<think>") {
        let (_, after) = inner.split_once("</think>").ok_or("<think> is not closed")?;
        rest = after.trim_start();
    }
    if let Some(inner) = rest.strip_prefix("<final>") {
        // The answer may speak of tags: the last one closes it.
        let (text, after) = inner.rsplit_once("</final>").ok_or("<final> is not closed")?;
        return match (after.trim().is_empty(), text.trim()) {
            (true, "") => Err("<final> is empty".to_owned()),
            (true, text) => Ok(TaggedReply::Final(text.to_owned())),
            (false, _) => Err("nothing may follow </final>".to_owned()),
        };
    }
    let mut tools = Vec::new();
    while !rest.is_empty() {
        let (tool, after) = read_tool(rest)?;
        tools.push(tool);
        rest = after.trim_start();
    }
    match tools.len() {
        0 => Err("there is neither a <tool> nor a <final>".to_owned()),
        1..=CALLS_MAX => Ok(TaggedReply::Tools(tools)),
        many => Err(format!("at most {CALLS_MAX} calls fit into one reply, not {many}")),
    }
}

/// The answer of a reply that has one and breaks its form in a way that leaves one reading: the tag
/// is not closed, or there are words around it.
pub(super) fn salvage(reply: &Reply) -> Option<(String, Salvage)> {
    let (before, inner) = reply.text.split_once("<final>")?;
    let again = inner.contains("<final>") || reply.text.contains("<tool");
    if again || reply.stop == StopCause::Length {
        return None;
    }
    let open_thought = before.matches("<think>").count() > before.matches("</think>").count();
    let (text, how) = match inner.rsplit_once("</final>") {
        Some((text, _)) => (text, Salvage::Prose),
        None => (inner, Salvage::Unclosed),
    };
    let text = text.trim();
    (!text.is_empty() && !open_thought).then(|| (text.to_owned(), how))
}

/// Whether a text begins with a tag of this loop.
pub(super) fn begins(reply: &str) -> bool {
    ["<think>", "<final>", "<tool name=\""].iter().any(|tag| reply.trim_start().starts_with(tag))
}

/// A reply without its tags and what only the runtime reads, for people: the answer, or nothing.
pub(super) fn without_tags(reply: &str) -> String {
    match read(reply) {
        Ok(TaggedReply::Final(text)) => text,
        Ok(TaggedReply::Tools(_)) => String::new(),
        Err(_) => {
            let tags = ["<think>", "</think>", "<final>", "</final>", "</tool>", "<tool"];
            tags.iter().fold(reply.to_owned(), |text, tag| text.replace(tag, "")).trim().to_owned()
        }
    }
}

fn read_tool(text: &str) -> Result<(TaggedCall, &str), ContractFault> {
    if text.starts_with("<final>") {
        return Err("a reply has either <tool> calls or a <final>, never both".to_owned());
    }
    let Some(rest) = text.strip_prefix("<tool name=\"") else {
        let start: String = text.chars().take(40).collect();
        return Err(format!("there is text outside of tags: {start:?}"));
    };
    let (name, rest) = rest.split_once("\">").ok_or("<tool name=\"…\"> is not complete")?;
    // JSON says by itself where it ends, so that arguments may hold tags.
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let value = match values.next() {
        Some(Ok(value @ Value::Object(_))) => value,
        Some(Err(error)) => return Err(format!("the arguments of {name:?} are no JSON: {error}")),
        Some(Ok(_)) | None => return Err(format!("the arguments of {name:?} are no JSON object")),
    };
    let after = rest[values.byte_offset()..].trim_start();
    let after = after.strip_prefix("</tool>").ok_or("<tool> is not closed after its JSON")?;
    Ok((TaggedCall { name: name.to_owned(), args: value.to_string() }, after))
}

#[cfg(test)]
mod tests {
    use super::{TaggedCall, TaggedReply, read, salvage};
    use crate::contract::Salvage;
    use everloop_types::{Reply, StopCause};

    fn tool(name: &str, args: &str) -> TaggedCall {
        TaggedCall { name: name.to_owned(), args: args.to_owned() }
    }

    #[test]
    fn calls_and_answers_are_read() {
        let two = "<think>hm</think>\n<tool name=\"a\">{\"x\":\"</tool>\"}</tool>\n\
                   <tool name=\"b\"> {} </tool>";
        let calls = vec![tool("a", r#"{"x":"</tool>"}"#), tool("b", "{}")];
        assert_eq!(read(two), Ok(TaggedReply::Tools(calls)));
        let said = TaggedReply::Final("so <final> it is".to_owned());
        assert_eq!(
            read("<think>a</think><think>b</think><final> so <final> it is</final> "),
            Ok(said)
        );
    }

    #[test]
    fn one_answer_in_a_broken_form_is_taken_on_the_last_try() {
        let of =
            |text: &str, stop| salvage(&Reply { text: text.to_owned(), stop, ..Reply::default() });
        let whole = |text: &str| of(text, StopCause::Done);
        assert_eq!(whole("<final>at 3"), Some(("at 3".to_owned(), Salvage::Unclosed)));
        assert_eq!(
            whole("So: <final>at 3</final> Bye."),
            Some(("at 3".to_owned(), Salvage::Prose))
        );
        for text in [
            "at 3",
            "<final> ",
            "<final>a</final><final>b</final>",
            "<tool name=\"a\">{}</tool><final>x",
            "<think>is it <final>3",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
        assert_eq!(of("<final>at 3", StopCause::Length), None, "it may have said more");
    }

    #[test]
    fn anything_else_is_an_error_with_words() {
        for (reply, wrong) in [
            ("", "there is neither a <tool> nor a <final>"),
            ("hello", "there is text outside of tags: \"hello\""),
            ("<think>never ends", "<think> is not closed"),
            ("<final>x", "<final> is not closed"),
            ("<final> </final>", "<final> is empty"),
            ("<final>x</final> y", "nothing may follow </final>"),
            ("<tool name=\"a\">[1]</tool>", "the arguments of \"a\" are no JSON object"),
            ("<tool name=\"a\">{}", "<tool> is not closed after its JSON"),
            ("<tool name=\"a", "<tool name=\"…\"> is not complete"),
            (
                "<tool name=\"a\">{}</tool><final>x</final>",
                "a reply has either <tool> calls or a <final>, never both",
            ),
        ] {
            assert_eq!(read(reply), Err(wrong.to_owned()), "{reply}");
        }
        assert!(read("<tool name=\"a\">{\"x\":</tool>").is_err());
    }
}
