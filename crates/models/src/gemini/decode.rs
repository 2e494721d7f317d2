//! Reads the chunks of `streamGenerateContent`. Each is a whole response with what is new; the last
//! one says why the model stopped, and no end mark follows.

use crate::wire::{
    CallPart, EventReader, LenientCount, LenientText, OneOrMany, ReplyDraft, provider_error,
};
use everloop_ports::Delta;
use everloop_types::{ModelError, ModelErrorKind, StopCause, Usage};
use serde::Deserialize;
use serde_json::Value;

/// Reads responses, streamed or whole.
#[derive(Debug, Default)]
pub(crate) struct GeminiReader;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GeminiResponse<'a> {
    #[serde(borrow, default)]
    candidates: OneOrMany<GeminiCandidate<'a>>,
    #[serde(borrow, default)]
    prompt_feedback: Option<GeminiFeedback<'a>>,
    #[serde(default)]
    usage_metadata: Option<GeminiUsage>,
    #[serde(default)]
    error: Option<Value>,
}

/// One of the alternatives; we ask for one and read the first.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiCandidate<'a> {
    #[serde(borrow, default)]
    content: Option<GeminiContent<'a>>,
    #[serde(borrow, default)]
    finish_reason: LenientText<'a>,
    #[serde(borrow, default)]
    finish_message: LenientText<'a>,
}

#[derive(Debug, Deserialize)]
struct GeminiContent<'a> {
    #[serde(borrow, default)]
    parts: OneOrMany<GeminiPart<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiPart<'a> {
    #[serde(borrow, default)]
    text: LenientText<'a>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(borrow, default)]
    function_call: Option<GeminiCall<'a>>,
}

#[derive(Debug, Deserialize)]
struct GeminiCall<'a> {
    #[serde(borrow, default)]
    id: LenientText<'a>,
    #[serde(borrow, default)]
    name: LenientText<'a>,
    #[serde(borrow, default)]
    args: LenientText<'a>,
}

/// Why the reply is empty.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiFeedback<'a> {
    #[serde(borrow, default)]
    block_reason: LenientText<'a>,
    #[serde(borrow, default)]
    block_reason_message: LenientText<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiUsage {
    #[serde(default)]
    prompt_token_count: LenientCount,
    #[serde(default)]
    tool_use_prompt_token_count: LenientCount,
    #[serde(default)]
    cached_content_token_count: LenientCount,
    #[serde(default)]
    candidates_token_count: LenientCount,
    #[serde(default)]
    thoughts_token_count: LenientCount,
}

impl EventReader for GeminiReader {
    type Event<'a> = GeminiResponse<'a>;

    fn take(
        &mut self,
        response: GeminiResponse<'_>,
        _: &[u8],
        draft: &mut ReplyDraft,
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        if let Some(error) = &response.error {
            return Err(provider_error(error));
        }
        if let Some(feedback) = response.prompt_feedback
            && !feedback.block_reason.0.is_empty()
        {
            let detail = said("the prompt was blocked", &feedback.block_reason, {
                &feedback.block_reason_message
            });
            return Err(ModelError::new(ModelErrorKind::Refused, detail));
        }
        if let Some(tokens) = response.usage_metadata {
            draft.set_usage(usage(&tokens));
        }
        let Some(candidate) = response.candidates.first else { return Ok(()) };
        draft.note_event();
        if let Some(content) = candidate.content {
            for part in content.parts.first.iter().chain(&content.parts.rest) {
                take_part(part, draft, on_delta);
            }
        }
        match stop_cause(&candidate.finish_reason.0) {
            GeminiStop::NotYet => {}
            GeminiStop::Cause(cause) => draft.stop(cause),
            GeminiStop::Botched => {
                let detail = said("the call was malformed", &candidate.finish_reason, {
                    &candidate.finish_message
                });
                return Err(ModelError::new(ModelErrorKind::Malformed, detail));
            }
        }
        Ok(())
    }
}

fn take_part(part: &GeminiPart<'_>, draft: &mut ReplyDraft, on_delta: &mut dyn FnMut(Delta<'_>)) {
    match part.thought {
        Some(true) => draft.reason(&part.text.0, on_delta),
        _ => draft.say(&part.text.0, on_delta),
    }
    if let Some(call) = &part.function_call {
        // A call arrives whole, so one without arguments still ends the previous one.
        let args = if call.args.0.is_empty() { "{}" } else { &*call.args.0 };
        let part = CallPart { index: None, id: &call.id.0, name: &call.name.0, args };
        draft.call(part, on_delta);
    }
}

/// Tokens of the prompt include cached ones; thoughts cost as much as text.
fn usage(tokens: &GeminiUsage) -> Usage {
    Usage {
        input_tokens: tokens.prompt_token_count.0 + tokens.tool_use_prompt_token_count.0,
        output_tokens: tokens.candidates_token_count.0 + tokens.thoughts_token_count.0,
        cached_tokens: tokens.cached_content_token_count.0,
    }
}

enum GeminiStop {
    NotYet,
    Cause(StopCause),
    /// The model tried to call a tool, and the call is not readable.
    Botched,
}

fn stop_cause(name: &str) -> GeminiStop {
    GeminiStop::Cause(match name {
        "" | "FINISH_REASON_UNSPECIFIED" => return GeminiStop::NotYet,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => return GeminiStop::Botched,
        "MAX_TOKENS" => StopCause::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" | "MODEL_ARMOR" => StopCause::Filtered,
        _ => StopCause::Done,
    })
}

fn said(what: &str, name: &LenientText<'_>, message: &LenientText<'_>) -> String {
    match &*message.0 {
        "" => format!("{what}: {}", name.0),
        message => format!("{what}: {}: {message}", name.0),
    }
}
