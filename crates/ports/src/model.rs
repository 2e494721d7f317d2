//! What answers: one request, one whole reply, and its pieces while it comes in.

use crate::WirePrompt;
use everloop_types::{Message, ModelError, OutputSchema, Reply, ToolChoice, ToolSpec};
use std::pin::Pin;

/// A model call under way. Dropping it cancels the call and closes the connection.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + 'a>>;

/// What takes the pieces of a reply while it comes in.
pub type OnDelta<'a> = &'a mut (dyn FnMut(Delta<'_>) + Send);

/// What answers. Dropping the returned future cancels the call and closes the connection.
pub trait Model: Send + Sync {
    /// Asks for one whole reply. `on_delta` sees its pieces as they come, and also those of a
    /// reply that ends in an error.
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> ModelFuture<'a>;
}

/// One request to a model.
pub struct Request<'a> {
    /// The model's name without the provider's prefix.
    pub model: &'a str,
    /// The whole prompt.
    pub messages: &'a [Message],
    /// What was rendered of that prompt before; it is brought up to date.
    pub wire: &'a mut WirePrompt,
    /// The tools on offer.
    pub tools: Vec<&'a ToolSpec>,
    /// Whether the model may, must or must not call one.
    pub choice: &'a ToolChoice,
    /// The schema that the reply's text has to follow.
    pub output: Option<&'a OutputSchema>,
    /// Sampling temperature in thousandths.
    pub temperature_milli: u32,
    /// Most tokens of the reply; 0 leaves it to the provider.
    pub max_tokens: u32,
}

/// One piece of a reply that is coming in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More of the text.
    Text(&'a str),
    /// More of the reasoning.
    Reasoning(&'a str),
    /// A tool call begins.
    CallStarted {
        /// Its place among the reply's calls.
        index: usize,
        /// The tool's name.
        tool: &'a str,
    },
    /// More of a tool call's arguments.
    CallArgs {
        /// Its place among the reply's calls.
        index: usize,
        /// The next piece of JSON text.
        args: &'a str,
    },
}
