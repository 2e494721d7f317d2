//! One event of the stream, borrowed from its bytes.

use crate::wire::{Count, Few, Text};
use serde::Deserialize;
use serde_json::Value;

/// A chunk of a stream, or a whole reply of a server that does not stream.
#[derive(Debug, Deserialize)]
pub(crate) struct Event<'a> {
    #[serde(borrow, default)]
    pub(crate) choices: Few<Choice<'a>>,
    #[serde(default)]
    pub(crate) usage: Option<Tokens>,
    #[serde(default)]
    pub(crate) error: Option<Value>,
    /// `error` where an old vLLM puts the message on the top level.
    #[serde(borrow, default)]
    pub(crate) object: Text<'a>,
}

/// One of the alternatives; we ask for one and read the first.
#[derive(Debug, Deserialize)]
pub(crate) struct Choice<'a> {
    #[serde(borrow, default)]
    pub(crate) delta: Option<Said<'a>>,
    /// In place of `delta` when the server does not stream.
    #[serde(borrow, default)]
    pub(crate) message: Option<Said<'a>>,
    #[serde(borrow, default)]
    pub(crate) finish_reason: Text<'a>,
}

/// What was said.
#[derive(Debug, Deserialize)]
pub(crate) struct Said<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) reasoning_content: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) reasoning: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) refusal: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) tool_calls: Few<CallPart<'a>>,
}

/// A piece of a tool call.
#[derive(Debug, Deserialize)]
pub(crate) struct CallPart<'a> {
    #[serde(default)]
    pub(crate) index: Option<Count>,
    #[serde(borrow, default)]
    pub(crate) id: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) function: Option<FunctionPart<'a>>,
}

/// Name and arguments of a piece of a tool call.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct FunctionPart<'a> {
    #[serde(borrow, default)]
    pub(crate) name: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) arguments: Text<'a>,
}

/// What was used, in the spellings of the providers.
#[derive(Debug, Deserialize)]
pub(crate) struct Tokens {
    #[serde(default)]
    pub(crate) prompt_tokens: Count,
    #[serde(default)]
    pub(crate) completion_tokens: Count,
    #[serde(default)]
    pub(crate) prompt_tokens_details: Option<TokenDetails>,
    #[serde(default)]
    pub(crate) prompt_cache_hit_tokens: Count,
}

/// Of the tokens read, the cached ones.
#[derive(Debug, Deserialize)]
pub(crate) struct TokenDetails {
    #[serde(default)]
    pub(crate) cached_tokens: Count,
}
