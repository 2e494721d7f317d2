//! What the chunks of `streamGenerateContent` mean. Each is a whole response with what is new; the
//! last one says why the model stopped, and no mark follows it.

use crate::wire::{CallPart, Count, Draft, EventReader, Few, Text, provider_error};
use everloop_ports::Delta;
use everloop_types::{ModelError, ModelErrorKind, StopCause, Usage};
use serde::Deserialize;
use serde_json::Value;

/// Reads responses, streamed or whole.
#[derive(Debug, Default)]
pub(crate) struct Responses;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response<'a> {
    #[serde(borrow, default)]
    candidates: Few<Candidate<'a>>,
    #[serde(borrow, default)]
    prompt_feedback: Option<Feedback<'a>>,
    #[serde(default)]
    usage_metadata: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
}

/// One of the alternatives; we ask for one and read the first.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    finish_reason: Text<'a>,
    #[serde(borrow, default)]
    finish_message: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Few<Part<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(borrow, default)]
    function_call: Option<Call<'a>>,
}

#[derive(Debug, Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    args: Text<'a>,
}

/// Why nothing came.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow, default)]
    block_reason: Text<'a>,
    #[serde(borrow, default)]
    block_reason_message: Text<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    #[serde(default)]
    prompt_token_count: Count,
    #[serde(default)]
    tool_use_prompt_token_count: Count,
    #[serde(default)]
    cached_content_token_count: Count,
    #[serde(default)]
    candidates_token_count: Count,
    #[serde(default)]
    thoughts_token_count: Count,
}

impl EventReader for Responses {
    type Event<'a> = Response<'a>;

    fn take(
        &mut self,
        response: Response<'_>,
        _: &[u8],
        draft: &mut Draft,
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
            draft.use_up(usage(&tokens));
        }
        let Some(candidate) = response.candidates.first else { return Ok(()) };
        draft.note_event();
        if let Some(content) = candidate.content {
            for part in content.parts.first.iter().chain(&content.parts.rest) {
                take_part(part, draft, on_delta);
            }
        }
        match stop_cause(&candidate.finish_reason.0) {
            Stop::NotYet => {}
            Stop::Cause(cause) => draft.stop(cause),
            Stop::Botched => {
                let detail = said("the call was malformed", &candidate.finish_reason, {
                    &candidate.finish_message
                });
                return Err(ModelError::new(ModelErrorKind::Malformed, detail));
            }
        }
        Ok(())
    }
}

fn take_part(part: &Part<'_>, draft: &mut Draft, on_delta: &mut dyn FnMut(Delta<'_>)) {
    match part.thought {
        Some(true) => draft.reason(&part.text.0, on_delta),
        _ => draft.say(&part.text.0, on_delta),
    }
    if let Some(call) = &part.function_call {
        // A call comes whole, so that one without arguments still ends the one before.
        let args = if call.args.0.is_empty() { "{}" } else { &*call.args.0 };
        let part = CallPart { index: None, id: &call.id.0, name: &call.name.0, args };
        draft.call(part, on_delta);
    }
}

/// Tokens of the prompt include those from the cache; thoughts are paid for like words.
fn usage(tokens: &Tokens) -> Usage {
    Usage {
        input_tokens: tokens.prompt_token_count.0 + tokens.tool_use_prompt_token_count.0,
        output_tokens: tokens.candidates_token_count.0 + tokens.thoughts_token_count.0,
        cached_tokens: tokens.cached_content_token_count.0,
    }
}

enum Stop {
    NotYet,
    Cause(StopCause),
    /// The model tried to call a tool, and nobody can read what came of it.
    Botched,
}

fn stop_cause(name: &str) -> Stop {
    Stop::Cause(match name {
        "" | "FINISH_REASON_UNSPECIFIED" => return Stop::NotYet,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => return Stop::Botched,
        "MAX_TOKENS" => StopCause::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" | "MODEL_ARMOR" => StopCause::Filtered,
        _ => StopCause::Done,
    })
}

fn said(what: &str, name: &Text<'_>, message: &Text<'_>) -> String {
    match &*message.0 {
        "" => format!("{what}: {}", name.0),
        message => format!("{what}: {}: {message}", name.0),
    }
}
