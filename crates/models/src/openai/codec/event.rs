//! One event of the stream, borrowed from its bytes.

use crate::wire::{LenientCount, LenientText, OneOrMany};
use serde::Deserialize;
use serde_json::Value;

/// A chunk of a stream, or a whole reply of a server that does not stream.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatChunk<'a> {
    #[serde(borrow, default)]
    pub(crate) choices: OneOrMany<ChatChoice<'a>>,
    #[serde(default)]
    pub(crate) usage: Option<ChatUsage>,
    #[serde(default)]
    pub(crate) error: Option<Value>,
    /// `error` where an old vLLM puts the message on the top level.
    #[serde(borrow, default)]
    pub(crate) object: LenientText<'a>,
}

/// One of the alternatives; we ask for one and read the first.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatChoice<'a> {
    #[serde(borrow, default)]
    pub(crate) delta: Option<ChatDelta<'a>>,
    /// In place of `delta` when the server does not stream.
    #[serde(borrow, default)]
    pub(crate) message: Option<ChatDelta<'a>>,
    #[serde(borrow, default)]
    pub(crate) finish_reason: LenientText<'a>,
}

/// The message, or a piece of it.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatDelta<'a> {
    #[serde(borrow, default)]
    pub(crate) content: LenientText<'a>,
    #[serde(borrow, default)]
    pub(crate) reasoning_content: LenientText<'a>,
    #[serde(borrow, default)]
    pub(crate) reasoning: LenientText<'a>,
    #[serde(borrow, default)]
    pub(crate) refusal: LenientText<'a>,
    #[serde(borrow, default)]
    pub(crate) tool_calls: OneOrMany<ChatCallDelta<'a>>,
}

/// A piece of a tool call.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatCallDelta<'a> {
    #[serde(default)]
    pub(crate) index: Option<LenientCount>,
    #[serde(borrow, default)]
    pub(crate) id: LenientText<'a>,
    #[serde(borrow, default)]
    pub(crate) function: Option<ChatFunctionDelta<'a>>,
}

/// Name and arguments of a piece of a tool call.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ChatFunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(crate) name: LenientText<'a>,
    #[serde(borrow, default)]
    pub(crate) arguments: LenientText<'a>,
}

/// What was used, in the spellings of the providers.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatUsage {
    #[serde(default)]
    pub(crate) prompt_tokens: LenientCount,
    #[serde(default)]
    pub(crate) completion_tokens: LenientCount,
    #[serde(default)]
    pub(crate) prompt_tokens_details: Option<ChatTokenDetails>,
    #[serde(default)]
    pub(crate) prompt_cache_hit_tokens: LenientCount,
}

/// Of the tokens read, the cached ones.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatTokenDetails {
    #[serde(default)]
    pub(crate) cached_tokens: LenientCount,
}
