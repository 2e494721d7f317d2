//! What the events of Messages mean.
//!
//! ```text
//!   message_start ─► (content_block_start ─► delta … ─► stop) … ─► message_delta ─► message_stop
//! ```

use crate::wire::{CallPart, Count, Draft, EventReader, Few, Text, provider_error};
use everloop_ports::Delta;
use everloop_types::{ModelError, StopCause, Usage};
use serde::Deserialize;
use serde_json::Value;

/// Reads Messages, streamed or whole.
#[derive(Debug, Default)]
pub(crate) struct Events {
    tokens: Tokens,
}

/// One event, or a whole message where a gateway does not stream. Events of other types say
/// nothing here: a ping, the end of a block, and those that are still to come.
#[derive(Debug, Deserialize)]
pub(crate) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(default)]
    index: Option<Count>,
    #[serde(borrow, default)]
    content_block: Option<Block<'a>>,
    #[serde(borrow, default)]
    delta: Option<Change<'a>>,
    #[serde(default)]
    message: Option<Opening>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(borrow, default)]
    content: Few<Block<'a>>,
    #[serde(borrow, default)]
    stop_reason: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    input: Text<'a>,
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
}

/// More of a block, or why the message ends. A block's signature is of no use without the block.
#[derive(Debug, Deserialize)]
struct Change<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
    #[serde(borrow, default)]
    partial_json: Text<'a>,
    #[serde(borrow, default)]
    stop_reason: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct Opening {
    #[serde(default)]
    usage: Option<Tokens>,
}

/// Sums; a later report may leave out what an earlier one has said.
#[derive(Debug, Default, Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: Option<Count>,
    #[serde(default)]
    output_tokens: Option<Count>,
    #[serde(default)]
    cache_creation_input_tokens: Option<Count>,
    #[serde(default)]
    cache_read_input_tokens: Option<Count>,
}

impl EventReader for Events {
    type Event<'a> = Event<'a>;

    fn take(
        &mut self,
        event: Event<'_>,
        _: &[u8],
        draft: &mut Draft,
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        if let Some(error) = &event.error {
            return Err(provider_error(error));
        }
        let opened = event.message.and_then(|message| message.usage);
        for tokens in [opened, event.usage].into_iter().flatten() {
            self.tokens.update(&tokens);
            draft.use_up(self.tokens.usage());
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
                    take_change(change, index, draft, on_delta);
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
    block: &Block<'_>,
    index: Option<u64>,
    draft: &mut Draft,
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

fn take_change(
    change: &Change<'_>,
    index: Option<u64>,
    draft: &mut Draft,
    on_delta: &mut dyn FnMut(Delta<'_>),
) {
    draft.say(&change.text.0, on_delta);
    draft.reason(&change.thinking.0, on_delta);
    let args = &*change.partial_json.0;
    if !args.is_empty() {
        draft.call(CallPart { index, args, ..CallPart::default() }, on_delta);
    }
}

fn stop(reason: &str, draft: &mut Draft) {
    let cause = match reason {
        "" => return,
        "tool_use" => StopCause::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopCause::Length,
        "refusal" => StopCause::Filtered,
        _ => StopCause::Done,
    };
    draft.stop(cause);
}

impl Tokens {
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
        let count = |tokens: Option<Count>| tokens.map_or(0, |count| count.0);
        let cached_tokens = count(self.cache_read_input_tokens);
        let fresh = count(self.input_tokens) + count(self.cache_creation_input_tokens);
        Usage {
            input_tokens: fresh + cached_tokens,
            output_tokens: count(self.output_tokens),
            cached_tokens,
        }
    }
}
