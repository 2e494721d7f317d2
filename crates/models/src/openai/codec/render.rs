//! A request as bytes. `messages` come right after the model's name, and all that may change from
//! call to call comes after them: the body of each call begins with that of the call before.

use crate::WirePrompt;
use everloop_types::{Image, Message, OutputSchema, ToolCall, ToolChoice, ToolSpec};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::io::Write as _;

/// All of a request but its messages.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The tools on offer.
    pub tools: &'a [&'a ToolSpec],
    /// Whether one may, must or must not be called.
    pub choice: &'a ToolChoice,
    /// The schema of the text.
    pub output: Option<&'a OutputSchema>,
    /// Temperature in thousandths.
    pub temperature_milli: u32,
    /// Most tokens of the reply; 0 for the provider's own limit.
    pub max_tokens: u32,
    /// How the limits are spelled.
    pub dialect: Dialect,
}

/// Where OpenAI itself has moved on from what all the others speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `max_tokens`, and the temperature always: each server has a default of its own.
    #[default]
    Common,
    /// `max_completion_tokens`, and no temperature of 1: reasoning models refuse the others.
    OpenAi,
}

/// A last user message that is sent but belongs to no transcript.
pub type Extra<'a> = Option<&'a str>;

/// Brings `wire` up to date with `messages` and renders the whole body.
#[must_use]
pub fn render(ask: Ask<'_>, wire: &mut WirePrompt, messages: &[Message], extra: Extra) -> Vec<u8> {
    wire.extend(messages, push_message);
    let mut out = Vec::with_capacity(wire.bytes().len() + 1024 + 512 * ask.tools.len());
    out.extend_from_slice(b"{\"model\":");
    push_json(&mut out, ask.model);
    out.extend_from_slice(b",\"messages\":[");
    out.extend_from_slice(wire.bytes());
    if let Some(text) = extra {
        if wire.count() > 0 {
            out.push(b',');
        }
        push_message(&mut out, &Message::user(text));
    }
    out.extend_from_slice(b"],\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    push_tools(&mut out, ask);
    push_output(&mut out, ask.output);
    push_sampling(&mut out, ask);
    out.push(b'}');
    out
}

/// `tool_choice` without `tools` is refused by some servers, so both come or neither.
fn push_tools(out: &mut Vec<u8>, ask: Ask<'_>) {
    if ask.tools.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"tools\":[");
    for (n, tool) in ask.tools.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"type\":\"function\",\"function\":{\"name\":");
        push_json(out, &tool.name);
        out.extend_from_slice(b",\"description\":");
        push_json(out, &tool.description);
        out.extend_from_slice(b",\"parameters\":");
        push_json(out, &tool.schema);
        out.extend_from_slice(b"}}");
    }
    out.extend_from_slice(b"],\"tool_choice\":");
    match ask.choice {
        ToolChoice::Auto => out.extend_from_slice(b"\"auto\""),
        ToolChoice::None => out.extend_from_slice(b"\"none\""),
        ToolChoice::Required => out.extend_from_slice(b"\"required\""),
        ToolChoice::Named(name) => {
            out.extend_from_slice(b"{\"type\":\"function\",\"function\":{\"name\":");
            push_json(out, name);
            out.extend_from_slice(b"}}");
        }
    }
}

fn push_output(out: &mut Vec<u8>, output: Option<&OutputSchema>) {
    let Some(output) = output else { return };
    out.extend_from_slice(b",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{");
    out.extend_from_slice(b"\"name\":");
    push_json(out, &output.name);
    out.extend_from_slice(b",\"schema\":");
    push_json(out, &output.schema);
    out.extend_from_slice(b"}}");
}

fn push_sampling(out: &mut Vec<u8>, ask: Ask<'_>) {
    let limit = match ask.dialect {
        Dialect::Common => "max_tokens",
        Dialect::OpenAi => "max_completion_tokens",
    };
    if ask.max_tokens > 0 {
        push_text(out, format_args!(",\"{limit}\":{}", ask.max_tokens));
    }
    if ask.dialect == Dialect::OpenAi && ask.temperature_milli == 1000 {
        return;
    }
    let (whole, part) = (ask.temperature_milli / 1000, ask.temperature_milli % 1000);
    push_text(out, format_args!(",\"temperature\":{whole}"));
    if part > 0 {
        let digits = format!("{part:03}");
        push_text(out, format_args!(".{}", digits.trim_end_matches('0')));
    }
}

/// One message. The system text is a plain string: not every server reads an array there.
fn push_message(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::System { text } => push_plain(out, "system", text),
        Message::User { text, images } if images.is_empty() => push_plain(out, "user", text),
        Message::User { text, images } => push_pictured(out, text, images),
        Message::Assistant { text, calls } if calls.is_empty() => {
            push_plain(out, "assistant", text);
        }
        Message::Assistant { text, calls } => push_calling(out, text, calls),
        Message::Tool { call, text } => {
            out.extend_from_slice(b"{\"role\":\"tool\",\"tool_call_id\":");
            push_json(out, call);
            out.extend_from_slice(b",\"content\":");
            push_json(out, text);
            out.push(b'}');
        }
    }
}

fn push_plain(out: &mut Vec<u8>, role: &str, text: &str) {
    push_text(out, format_args!("{{\"role\":\"{role}\",\"content\":"));
    push_json(out, text);
    out.push(b'}');
}

fn push_pictured(out: &mut Vec<u8>, text: &str, images: &[Image]) {
    out.extend_from_slice(b"{\"role\":\"user\",\"content\":[");
    if !text.is_empty() {
        out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
        push_json(out, text);
        out.extend_from_slice(b"},");
    }
    for (n, image) in images.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"type\":\"image_url\",\"image_url\":{\"url\":");
        push_json(out, &format!("data:{};base64,{}", image.mime, image.base64));
        out.extend_from_slice(b"}}");
    }
    out.extend_from_slice(b"]}");
}

fn push_calling(out: &mut Vec<u8>, text: &str, calls: &[ToolCall]) {
    out.extend_from_slice(b"{\"role\":\"assistant\",\"content\":");
    match text {
        "" => out.extend_from_slice(b"null"),
        text => push_json(out, text),
    }
    out.extend_from_slice(b",\"tool_calls\":[");
    for (n, call) in calls.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"id\":");
        push_json(out, &call.id);
        out.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
        push_json(out, &call.tool);
        out.extend_from_slice(b",\"arguments\":");
        push_args(out, &call.args);
        out.extend_from_slice(b"}}");
    }
    out.extend_from_slice(b"]}");
}

/// Arguments go back as the model wrote them. Those that are no JSON object are wrapped: servers
/// that parse the arguments of the past would refuse every later request of the run.
fn push_args(out: &mut Vec<u8>, args: &str) {
    if args.trim().is_empty() {
        return out.extend_from_slice(b"\"{}\"");
    }
    let object = args.trim_start().starts_with('{');
    if object && serde_json::from_str::<IgnoredAny>(args).is_ok() {
        return push_json(out, args);
    }
    push_json(out, &Value::from_iter([("malformed", args)]).to_string());
}

/// Writing JSON of our own types into memory has no way to fail.
fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).unwrap_or_else(|e| unreachable!("plain data: {e}"));
}

fn push_text(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).unwrap_or_else(|e| unreachable!("memory: {e}"));
}
