//! Reads the events of the Messages API.
//!
//! ```text
//!   message_start ─► (content_block_start ─► delta … ─► stop) … ─► message_delta ─► message_stop
//! ```

use crate::wire::{
    CallPart, EventReader, LenientCount, LenientText, OneOrMany, ReplyDraft, provider_error,
};
use everloop_ports::Delta;
use everloop_types::{ModelError, StopCause, Usage};
use serde::Deserialize;
use serde_json::Value;

/// Reads Messages, streamed or whole.
#[derive(Debug, Default)]
pub(crate) struct AnthropicReader {
    tokens: AnthropicUsage,
}

/// One event, or a whole message where a gateway does not stream. Events of other types say
/// nothing here: a ping, the end of a block, and future ones.
#[derive(Debug, Deserialize)]
pub(crate) struct AnthropicEvent<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: LenientText<'a>,
    #[serde(default)]
    index: Option<LenientCount>,
    #[serde(borrow, default)]
    content_block: Option<AnthropicBlock<'a>>,
    #[serde(borrow, default)]
    delta: Option<AnthropicDelta<'a>>,
    #[serde(default)]
    message: Option<AnthropicStart>,
    #[serde(default)]
    usage: Option<AnthropicUsage>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(borrow, default)]
    content: OneOrMany<AnthropicBlock<'a>>,
    #[serde(borrow, default)]
    stop_reason: LenientText<'a>,
}

#[derive(Debug, Deserialize)]
struct AnthropicBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow, default)]
    id: LenientText<'a>,
    #[serde(borrow, default)]
    name: LenientText<'a>,
    #[serde(borrow, default)]
    input: LenientText<'a>,
    #[serde(borrow, default)]
    text: LenientText<'a>,
    #[serde(borrow, default)]
    thinking: LenientText<'a>,
}

/// More of a block, or why the message ends. A block's signature is of no use without the block.
#[derive(Debug, Deserialize)]
struct AnthropicDelta<'a> {
    #[serde(borrow, default)]
    text: LenientText<'a>,
    #[serde(borrow, default)]
    thinking: LenientText<'a>,
    #[serde(borrow, default)]
    partial_json: LenientText<'a>,
    #[serde(borrow, default)]
    stop_reason: LenientText<'a>,
}

#[derive(Debug, Deserialize)]
struct AnthropicStart {
    #[serde(default)]
    usage: Option<AnthropicUsage>,
}

/// Sums; a later report may omit what an earlier one has.
#[derive(Debug, Default, Deserialize)]
struct AnthropicUsage {
    #[serde(default)]
    input_tokens: Option<LenientCount>,
    #[serde(default)]
    output_tokens: Option<LenientCount>,
    #[serde(default)]
    cache_creation_input_tokens: Option<LenientCount>,
    #[serde(default)]
    cache_read_input_tokens: Option<LenientCount>,
}

impl EventReader for AnthropicReader {
    type Event<'a> = AnthropicEvent<'a>;

    fn take(
        &mut self,
        event: AnthropicEvent<'_>,
        _: &[u8],
        draft: &mut ReplyDraft,
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        if let Some(error) = &event.error {
            return Err(provider_error(error));
        }
        let opened = event.message.and_then(|message| message.usage);
        for tokens in [opened, event.usage].into_iter().flatten() {
            self.tokens.update(&tokens);
            draft.set_usage(self.tokens.usage());
        }
        let index = event.index.map(|index| index.0);
        match &*event.kind.0 {
            "message_start" => draft.note_event(),
            "content_block_start" => {
                if let Some(block) = &event.content_block {
                    take_block(block, index, draft, on_delta);
                }
            }
            "content_block_delta" => {
                if let Some(change) = &event.delta {
                    take_delta(change, index, draft, on_delta);
                }
            }
            "message_delta" => {
                let reason = event.delta.map(|change| change.stop_reason).unwrap_or_default();
                stop(&reason.0, draft);
            }
            "message_stop" => draft.end(),
            "message" => {
                draft.note_event();
                let blocks = event.content.first.iter().chain(&event.content.rest);
                for (n, block) in blocks.enumerate() {
                    take_block(block, Some(n as u64), draft, on_delta);
                }
                stop(&event.stop_reason.0, draft);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A block begins; in a message that is not streamed this is all of it. An input that is still
/// empty comes in pieces.
fn take_block(
    block: &AnthropicBlock<'_>,
    index: Option<u64>,
    draft: &mut ReplyDraft,
    on_delta: &mut dyn FnMut(Delta<'_>),
) {
    match &*block.kind.0 {
        "text" => draft.say(&block.text.0, on_delta),
        "thinking" => draft.reason(&block.thinking.0, on_delta),
        "tool_use" => {
            let args = Some(&*block.input.0).filter(|args| *args != "{}").unwrap_or_default();
            let part = CallPart { index, id: &block.id.0, name: &block.name.0, args };
            draft.call(part, on_delta);
        }
        _ => {}
    }
}

fn take_delta(
    change: &AnthropicDelta<'_>,
    index: Option<u64>,
    draft: &mut ReplyDraft,
    on_delta: &mut dyn FnMut(Delta<'_>),
) {
    draft.say(&change.text.0, on_delta);
    draft.reason(&change.thinking.0, on_delta);
    let args = &*change.partial_json.0;
    if !args.is_empty() {
        draft.call(CallPart { index, args, ..CallPart::default() }, on_delta);
    }
}

fn stop(reason: &str, draft: &mut ReplyDraft) {
    let cause = match reason {
        "" => return,
        "tool_use" => StopCause::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopCause::Length,
        "refusal" => StopCause::Filtered,
        _ => StopCause::Done,
    };
    draft.stop(cause);
}

impl AnthropicUsage {
    fn update(&mut self, later: &Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.cache_creation_input_tokens =
            later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens =
            later.cache_read_input_tokens.or(self.cache_read_input_tokens);
    }

    /// What was read from the cache or written to it is not among the input tokens there.
    fn usage(&self) -> Usage {
        let count = |tokens: Option<LenientCount>| tokens.map_or(0, |count| count.0);
        let cached_tokens = count(self.cache_read_input_tokens);
        let fresh = count(self.input_tokens) + count(self.cache_creation_input_tokens);
        Usage {
            input_tokens: fresh + cached_tokens,
            output_tokens: count(self.output_tokens),
            cached_tokens,
        }
    }
}
