//! A request as bytes. System text and messages come first, and all that may change from call to
//! call comes after them.
//!
//! Consecutive messages of one role are one message there. So the last message stays open in the
//! cached prompt, and only the body closes it:
//!
//! ```text
//!   cached {"role":"user","content":[block,block
//!   sent   {"role":"user","content":[block,block + cache_control]}
//! ```

use crate::schema::lean;
use crate::wire::{
    JsonList, object_or_wrapped, plain_name, push_json, push_temperature, push_text,
};
use crate::{ExtraMessage, RequestParts};
use everloop_ports::WirePrompt;
use everloop_types::{CallId, Image, Message, ToolCall, ToolChoice};

/// Most tokens of a reply if no limit is set: the API requires one.
const MAX_TOKENS: u32 = 4_096;

/// The API accepts no temperature above one.
const TEMPERATURE_MILLI_MAX: u32 = 1_000;

/// Marks the end of the part that the provider should cache. The mark is not part of the cached
/// prompt, so it may be elsewhere in the next request.
const CACHE: &[u8] = b",\"cache_control\":{\"type\":\"ephemeral\"}";

/// Brings `wire` up to date with `messages` and renders the whole body.
pub(super) fn render(
    ask: RequestParts<'_>,
    wire: &mut WirePrompt,
    messages: &[Message],
    extra: ExtraMessage<'_>,
) -> Vec<u8> {
    let known = wire.extend("anthropic", messages, |out, before, message| match message {
        Message::System { text } => push_system(&mut out.head, text),
        message => push_message(&mut out.body, role_before(before), message),
    });
    let kept = wire.head().len() + wire.bytes().len();
    let mut out = Vec::with_capacity(kept + 1024 + 512 * ask.tools.len());
    out.extend_from_slice(b"{\"model\":");
    push_json(&mut out, ask.model);
    if let Some(system) = wire.head().strip_suffix(b"}") {
        out.extend_from_slice(b",\"system\":[");
        out.extend_from_slice(system);
        out.extend_from_slice(CACHE);
        out.extend_from_slice(b"}]");
    }
    out.extend_from_slice(b",\"messages\":[");
    push_messages(&mut out, wire.bytes().split_at(known), role_before(messages), extra);
    out.extend_from_slice(b"],\"stream\":true");
    push_tools(&mut out, ask);
    let max_tokens = if ask.max_tokens == 0 { MAX_TOKENS } else { ask.max_tokens };
    push_text(&mut out, format_args!(",\"max_tokens\":{max_tokens}"));
    if let Some(milli) = ask.temperature_milli {
        push_temperature(&mut out, milli.min(TEMPERATURE_MILLI_MAX));
    }
    out.push(b'}');
    out
}

/// The cached messages, and one that is not cached. Their last block is marked, and so is the last
/// one of the previous request: the API searches its cache only a few blocks back from a mark.
fn push_messages(
    out: &mut Vec<u8>,
    (known, new): (&[u8], &[u8]),
    last: Option<AnthropicRole>,
    extra: ExtraMessage<'_>,
) {
    for part in [known, new] {
        if let Some(open) = part.strip_suffix(b"}") {
            out.extend_from_slice(open);
            out.extend_from_slice(CACHE);
            out.push(b'}');
        }
    }
    if let Some(text) = extra {
        push_message(out, last, &Message::user(text));
    }
    if last.is_some() || extra.is_some() {
        out.extend_from_slice(b"]}");
    }
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnthropicRole {
    User,
    Assistant,
}

/// The role of a message; none if it is empty, as the API refuses blocks without text.
fn role(message: &Message) -> Option<AnthropicRole> {
    let blank = message.text().trim().is_empty();
    match message {
        Message::System { .. } => None,
        Message::User { images, .. } => {
            (!blank || !images.is_empty()).then_some(AnthropicRole::User)
        }
        Message::Assistant { calls, .. } => {
            (!blank || !calls.is_empty()).then_some(AnthropicRole::Assistant)
        }
        Message::Tool { .. } => Some(AnthropicRole::User),
    }
}

/// The role of the message that is still open.
fn role_before(messages: &[Message]) -> Option<AnthropicRole> {
    messages.iter().rev().find_map(role)
}

fn push_system(head: &mut Vec<u8>, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    if !head.is_empty() {
        head.push(b',');
    }
    push_text_block(head, text);
}

/// The blocks of a message, in the open message of its role or in a new one.
fn push_message(out: &mut Vec<u8>, open: Option<AnthropicRole>, message: &Message) {
    let Some(role) = role(message) else { return };
    match (open, role) {
        (Some(open), role) if open == role => out.push(b','),
        (open, role) => {
            if open.is_some() {
                out.extend_from_slice(b"]},");
            }
            let name = if role == AnthropicRole::User { "user" } else { "assistant" };
            push_text(out, format_args!("{{\"role\":\"{name}\",\"content\":["));
        }
    }
    let mut blocks = JsonList::new(out);
    let text = message.text();
    // Models read a picture better before the question about it.
    if let Message::User { images, .. } = message {
        images.iter().for_each(|image| blocks.push(|out| push_image(out, image)));
    }
    match message {
        Message::Tool { call, .. } => blocks.push(|out| push_result(out, call, text)),
        _ if text.trim().is_empty() => {}
        _ => blocks.push(|out| push_text_block(out, text)),
    }
    match message {
        Message::Assistant { calls, .. } => {
            calls.iter().for_each(|call| blocks.push(|out| push_call(out, call)));
        }
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => {}
    }
}

fn push_text_block(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
    push_json(out, text);
    out.push(b'}');
}

fn push_image(out: &mut Vec<u8>, image: &Image) {
    out.extend_from_slice(b"{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":");
    push_json(out, &image.mime);
    out.extend_from_slice(b",\"data\":");
    push_json(out, &image.base64);
    out.extend_from_slice(b"}}");
}

fn push_call(out: &mut Vec<u8>, call: &ToolCall) {
    out.extend_from_slice(b"{\"type\":\"tool_use\",\"id\":");
    push_json(out, &plain_name(call.id.as_str()));
    out.extend_from_slice(b",\"name\":");
    push_json(out, &plain_name(&call.tool));
    out.extend_from_slice(b",\"input\":");
    out.extend_from_slice(object_or_wrapped(&call.args).as_bytes());
    out.push(b'}');
}

fn push_result(out: &mut Vec<u8>, call: &CallId, text: &str) {
    out.extend_from_slice(b"{\"type\":\"tool_result\",\"tool_use_id\":");
    push_json(out, &plain_name(call.as_str()));
    if !text.trim().is_empty() {
        out.extend_from_slice(b",\"content\":");
        push_json(out, text);
    }
    out.push(b'}');
}

/// Tools come first in the provider's cache, so the mark of the system text, which follows them,
/// covers them.
fn push_tools(out: &mut Vec<u8>, ask: RequestParts<'_>) {
    if ask.tools.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"tools\":[");
    for (n, tool) in ask.tools.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"name\":");
        push_json(out, &tool.name);
        out.extend_from_slice(b",\"description\":");
        push_json(out, &tool.description);
        out.extend_from_slice(b",\"input_schema\":");
        push_json(out, &lean(&tool.schema));
        out.push(b'}');
    }
    out.extend_from_slice(b"],\"tool_choice\":");
    match ask.choice {
        ToolChoice::Auto => out.extend_from_slice(b"{\"type\":\"auto\"}"),
        ToolChoice::None => out.extend_from_slice(b"{\"type\":\"none\"}"),
        ToolChoice::Required => out.extend_from_slice(b"{\"type\":\"any\"}"),
        ToolChoice::Named(name) => {
            out.extend_from_slice(b"{\"type\":\"tool\",\"name\":");
            push_json(out, name);
            out.push(b'}');
        }
    }
}
