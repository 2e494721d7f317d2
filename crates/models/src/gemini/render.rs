//! A request as bytes. System text and contents come first, and all that may change from call to
//! call comes after them. Consecutive messages of one role are one content, so the last one stays
//! open in the cached prompt, and only the body closes it.

use super::schema::accepted;
use crate::wire::{
    JsonList, object_or_wrapped, plain_name, push_json, push_temperature, push_text,
};
use crate::{ExtraMessage, RequestParts};
use everloop_ports::WirePrompt;
use everloop_types::{CallId, Image, Message, ToolCall, ToolChoice};
use serde_json::Value;

/// What the API accepts as the signature of a call that it did not make itself.
const STAND_IN: &str = "skip_thought_signature_validator";

/// Brings `wire` up to date with `messages` and renders the whole body.
pub(super) fn render(
    ask: RequestParts<'_>,
    wire: &mut WirePrompt,
    messages: &[Message],
    extra: ExtraMessage<'_>,
) -> Vec<u8> {
    let signing = Signing::of(ask.model);
    wire.extend(signing.form(), messages, |out, before, message| match message {
        Message::System { text } => push_system(&mut out.head, text),
        message => push_message(&mut out.body, before, message, signing),
    });
    let kept = wire.head().len() + wire.bytes().len();
    let mut out = Vec::with_capacity(kept + 1024 + 512 * ask.tools.len());
    out.push(b'{');
    if !wire.head().is_empty() {
        out.extend_from_slice(b"\"systemInstruction\":{\"parts\":[");
        out.extend_from_slice(wire.head());
        out.extend_from_slice(b"]},");
    }
    out.extend_from_slice(b"\"contents\":[");
    out.extend_from_slice(wire.bytes());
    if let Some(text) = extra {
        push_message(&mut out, messages, &Message::user(text), signing);
    }
    if extra.is_some() || !wire.bytes().is_empty() {
        out.extend_from_slice(b"]}");
    }
    out.push(b']');
    // A schema for the text, and tools that must not be called: the API accepts only one of them.
    if ask.output.is_none() || *ask.choice != ToolChoice::None {
        push_tools(&mut out, ask);
    }
    push_config(&mut out, ask);
    out.push(b'}');
    out
}

/// Whether earlier calls need a signature. Models before the third generation have none, or do
/// not require them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signing {
    Needed,
    Unknown,
}

impl Signing {
    fn of(model: &str) -> Self {
        let name = model.strip_prefix("models/").unwrap_or(model);
        match ["gemini-1", "gemini-2", "gemma"].iter().any(|old| name.starts_with(old)) {
            true => Self::Unknown,
            false => Self::Needed,
        }
    }

    /// A prompt rendered with placeholders cannot be reused without them.
    fn form(self) -> &'static str {
        match self {
            Self::Needed => "gemini, signed",
            Self::Unknown => "gemini",
        }
    }
}

/// The role of a content. Results have their own: the API counts them against the preceding calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GeminiRole {
    User,
    Model,
    Results,
}

/// The role of a message; none if it is empty.
fn role(message: &Message) -> Option<GeminiRole> {
    let blank = message.text().is_empty();
    match message {
        Message::System { .. } => None,
        Message::User { images, .. } => (!blank || !images.is_empty()).then_some(GeminiRole::User),
        Message::Assistant { calls, .. } => {
            (!blank || !calls.is_empty()).then_some(GeminiRole::Model)
        }
        Message::Tool { .. } => Some(GeminiRole::Results),
    }
}

fn push_system(head: &mut Vec<u8>, text: &str) {
    if !head.is_empty() {
        head.push(b',');
    }
    push_text_part(head, text);
}

/// The parts of a message, in the open content of its role or in a new one.
fn push_message(out: &mut Vec<u8>, before: &[Message], message: &Message, signing: Signing) {
    let Some(role) = role(message) else { return };
    let open = before.iter().rev().find_map(self::role);
    if open == Some(role) {
        out.push(b',');
    } else {
        if open.is_some() {
            out.extend_from_slice(b"]},");
        }
        let name = if role == GeminiRole::Model { "model" } else { "user" };
        push_text(out, format_args!("{{\"role\":\"{name}\",\"parts\":["));
    }
    let mut parts = JsonList::new(out);
    let text = message.text();
    // Models read a picture better before the question about it.
    if let Message::User { images, .. } = message {
        images.iter().for_each(|image| parts.push(|out| push_image(out, image)));
    }
    match message {
        Message::Tool { call, .. } => parts.push(|out| push_result(out, before, call, text)),
        _ if text.is_empty() => {}
        _ => parts.push(|out| push_text_part(out, text)),
    }
    match message {
        Message::Assistant { calls, .. } => {
            for (n, call) in calls.iter().enumerate() {
                // Of calls made together, only the first is signed.
                let signed = n == 0 && signing == Signing::Needed;
                parts.push(|out| push_call(out, call, signed.then_some(STAND_IN)));
            }
        }
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => {}
    }
}

fn push_text_part(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"{\"text\":");
    push_json(out, text);
    out.push(b'}');
}

fn push_image(out: &mut Vec<u8>, image: &Image) {
    out.extend_from_slice(b"{\"inlineData\":{\"mimeType\":");
    push_json(out, &image.mime);
    out.extend_from_slice(b",\"data\":");
    push_json(out, &image.base64);
    out.extend_from_slice(b"}}");
}

fn push_call(out: &mut Vec<u8>, call: &ToolCall, signature: Option<&str>) {
    out.extend_from_slice(b"{\"functionCall\":{\"id\":");
    push_json(out, &plain_name(call.id.as_str()));
    out.extend_from_slice(b",\"name\":");
    push_json(out, &plain_name(&call.tool));
    out.extend_from_slice(b",\"args\":");
    out.extend_from_slice(object_or_wrapped(&call.args).as_bytes());
    out.push(b'}');
    if let Some(signature) = signature {
        push_text(out, format_args!(",\"thoughtSignature\":\"{signature}\""));
    }
    out.push(b'}');
}

/// A result is sent under the name of the tool, which is in the call that it answers.
fn push_result(out: &mut Vec<u8>, before: &[Message], id: &CallId, text: &str) {
    let call = before.iter().rev().find_map(|message| match message {
        Message::Assistant { calls, .. } => calls.iter().find(|call| call.id == *id),
        _ => None,
    });
    out.extend_from_slice(b"{\"functionResponse\":{\"id\":");
    push_json(out, &plain_name(id.as_str()));
    out.extend_from_slice(b",\"name\":");
    push_json(out, &plain_name(call.map_or("", |call| &call.tool)));
    out.extend_from_slice(b",\"response\":{\"result\":");
    push_json(out, text);
    out.extend_from_slice(b"}}}");
}

fn push_tools(out: &mut Vec<u8>, ask: RequestParts<'_>) {
    if ask.tools.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"tools\":[{\"functionDeclarations\":[");
    let mut list = JsonList::new(out);
    for tool in ask.tools {
        list.push(|out| {
            out.extend_from_slice(b"{\"name\":");
            push_json(out, &tool.name);
            out.extend_from_slice(b",\"description\":");
            push_json(out, &tool.description);
            // An object without properties is refused; without parameters it is the same tool.
            let parameters = accepted(&tool.schema);
            if parameters
                .get("properties")
                .and_then(Value::as_object)
                .is_some_and(|p| !p.is_empty())
            {
                out.extend_from_slice(b",\"parameters\":");
                push_json(out, &parameters);
            }
            out.push(b'}');
        });
    }
    let (mode, only) = match ask.choice {
        ToolChoice::Auto => ("AUTO", None),
        ToolChoice::None => ("NONE", None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::Named(name) => ("ANY", Some(name)),
    };
    out.extend_from_slice(b"]}],\"toolConfig\":{\"functionCallingConfig\":{");
    push_text(out, format_args!("\"mode\":\"{mode}\""));
    if let Some(name) = only {
        out.extend_from_slice(b",\"allowedFunctionNames\":[");
        push_json(out, name);
        out.push(b']');
    }
    out.extend_from_slice(b"}}");
}

fn push_config(out: &mut Vec<u8>, ask: RequestParts<'_>) {
    out.extend_from_slice(b",\"generationConfig\":{\"candidateCount\":1");
    if let Some(milli) = ask.temperature_milli {
        push_temperature(out, milli);
    }
    if ask.max_tokens > 0 {
        push_text(out, format_args!(",\"maxOutputTokens\":{}", ask.max_tokens));
    }
    if let Some(output) = ask.output {
        out.extend_from_slice(b",\"responseMimeType\":\"application/json\",\"responseSchema\":");
        push_json(out, &accepted(&output.schema));
    }
    out.push(b'}');
}
