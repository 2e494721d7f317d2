//! Reads the chunks of chat completions.

use super::event::{ChatChunk, ChatDelta, ChatUsage};
use crate::wire::{CallPart, EventReader, ReplyDraft, provider_error};
use everloop_ports::Delta;
use everloop_types::{ModelError, StopCause, Usage};
use serde_json::Value;

/// Reads chat completions, streamed or whole.
#[derive(Debug, Default)]
pub(crate) struct ChatReader;

impl EventReader for ChatReader {
    type Event<'a> = ChatChunk<'a>;

    fn take(
        &mut self,
        event: ChatChunk<'_>,
        data: &[u8],
        draft: &mut ReplyDraft,
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        if let Some(error) = event.error {
            return Err(provider_error(&error));
        }
        if event.object.0 == "error" {
            return Err(provider_error(&serde_json::from_slice(data).unwrap_or(Value::Null)));
        }
        if let Some(tokens) = event.usage {
            draft.set_usage(usage(&tokens));
        }
        let Some(choice) = event.choices.first else { return Ok(()) };
        draft.note_event();
        for said in [choice.delta, choice.message].into_iter().flatten() {
            take_delta(said, draft, on_delta);
        }
        if !choice.finish_reason.0.is_empty() {
            draft.stop(stop_cause(&choice.finish_reason.0));
        }
        Ok(())
    }
}

fn take_delta(said: ChatDelta<'_>, draft: &mut ReplyDraft, on_delta: &mut dyn FnMut(Delta<'_>)) {
    // Some servers send the same reasoning under both names.
    let reasoning = match said.reasoning_content.0.is_empty() {
        true => said.reasoning,
        false => said.reasoning_content,
    };
    draft.reason(&reasoning.0, on_delta);
    draft.say(&said.content.0, on_delta);
    draft.say(&said.refusal.0, on_delta);
    for part in said.tool_calls.first.into_iter().chain(said.tool_calls.rest) {
        let function = part.function.unwrap_or_default();
        let index = part.index.map(|index| index.0);
        let (name, args) = (&*function.name.0, &*function.arguments.0);
        draft.call(CallPart { index, id: &part.id.0, name, args }, on_delta);
    }
}

fn usage(tokens: &ChatUsage) -> Usage {
    let details = tokens.prompt_tokens_details.as_ref();
    let cached = details.map_or(0, |details| details.cached_tokens.0);
    Usage {
        input_tokens: tokens.prompt_tokens.0,
        output_tokens: tokens.completion_tokens.0,
        cached_tokens: cached.max(tokens.prompt_cache_hit_tokens.0),
    }
}

fn stop_cause(name: &str) -> StopCause {
    match name {
        "tool_calls" | "function_call" | "tool_use" => StopCause::ToolCalls,
        "length" | "max_tokens" | "model_length" => StopCause::Length,
        "content_filter" | "safety" => StopCause::Filtered,
        _ => StopCause::Done,
    }
}
