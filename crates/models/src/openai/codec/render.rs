//! A request as bytes. `messages` come right after the model's name, and all that may change from
//! call to call comes after them: the body of each call begins with that of the call before.

use crate::openai::quirks::{Quirks, Sampling};
use crate::provider::Schemas;
use crate::schema::{flat, is_strict, lean};
use crate::wire::{object_or_wrapped, push_json, push_temperature, push_text};
use crate::{ExtraMessage, RequestParts};
use everloop_ports::WirePrompt;
use everloop_types::{Image, Message, OutputSchema, ToolCall, ToolChoice, schema_text};

/// Brings `wire` up to date with `messages` and renders the whole body.
pub(crate) fn render(
    quirks: &Quirks,
    ask: RequestParts<'_>,
    wire: &mut WirePrompt,
    messages: &[Message],
    extra: ExtraMessage<'_>,
) -> Vec<u8> {
    wire.extend("openai", messages, |out, before, message| {
        if !before.is_empty() {
            out.body.push(b',');
        }
        push_message(&mut out.body, message);
    });
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
    out.extend_from_slice(b"],\"stream\":true");
    if quirks.stream_options {
        out.extend_from_slice(b",\"stream_options\":{\"include_usage\":true}");
    }
    if quirks.honours_none || *ask.choice != ToolChoice::None {
        push_tools(&mut out, ask);
    }
    push_output(&mut out, quirks, ask.output);
    push_sampling(&mut out, quirks, ask);
    out.extend_from_slice(quirks.more.as_bytes());
    out.push(b'}');
    out
}

/// `tool_choice` without `tools` is refused by some servers, so both come or neither.
fn push_tools(out: &mut Vec<u8>, ask: RequestParts<'_>) {
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
        push_json(out, &lean(&tool.schema));
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

fn push_output(out: &mut Vec<u8>, quirks: &Quirks, output: Option<&OutputSchema>) {
    let Some(output) = output else { return };
    if quirks.schemas == Schemas::InWords {
        return out.extend_from_slice(b",\"response_format\":{\"type\":\"json_object\"}");
    }
    out.extend_from_slice(b",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{");
    out.extend_from_slice(b"\"name\":");
    push_json(out, &output.name);
    let flat = (quirks.schemas == Schemas::Object).then(|| flat(&output.schema));
    let schema = flat.as_ref().unwrap_or(&output.schema);
    if is_strict(schema) {
        out.extend_from_slice(b",\"strict\":true");
    }
    out.extend_from_slice(b",\"schema\":");
    out.extend_from_slice(schema_text(schema).as_bytes());
    out.extend_from_slice(b"}}");
}

/// The default temperature, and the one that replaces it if a reply must follow a schema.
const DEFAULT_MILLI: u32 = 700;
const STEADY_MILLI: u32 = 100;

fn push_sampling(out: &mut Vec<u8>, quirks: &Quirks, ask: RequestParts<'_>) {
    if ask.max_tokens > 0 {
        let name = match quirks.sampling {
            Sampling::Usual | Sampling::Steady => "max_tokens",
            Sampling::Reasoning => "max_completion_tokens",
        };
        push_text(out, format_args!(",\"{name}\":{}", ask.max_tokens));
    }
    match ask.temperature_milli {
        Some(1000) if quirks.sampling == Sampling::Reasoning => {}
        Some(DEFAULT_MILLI) if quirks.sampling == Sampling::Steady && ask.output.is_some() => {
            push_temperature(out, STEADY_MILLI);
        }
        Some(milli) => push_temperature(out, milli),
        None => {}
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
    for (n, image) in images.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"type\":\"image_url\",\"image_url\":{\"url\":");
        push_json(out, &format!("data:{};base64,{}", image.mime, image.base64));
        out.extend_from_slice(b"}}");
    }
    if !text.is_empty() {
        out.extend_from_slice(b",{\"type\":\"text\",\"text\":");
        push_json(out, text);
        out.push(b'}');
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
        push_json(out, &*object_or_wrapped(&call.args));
        out.extend_from_slice(b"}}");
    }
    out.extend_from_slice(b"]}");
}
