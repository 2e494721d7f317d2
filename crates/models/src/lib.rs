//! What answers: one trait, OpenAI-compatible servers, Anthropic, Gemini, one scripted model.
//!
//! ```text
//!   Request ──WirePrompt──► body bytes ──HTTP──► stream bytes ──Decoder──► Delta, Delta, … Reply
//! ```
//!
//! A model call either brings one whole [`Reply`] or a typed [`ModelError`]; a stream that breaks
//! off is an error, never a short reply.
//!
//! Deliberately absent: retries, budgets and call ids (the engine's), the transcript (the loop's).

mod anthropic;
mod ask;
mod connect;
#[cfg(test)]
mod contract_tests;
mod counted;
mod endpoint;
mod forced;
mod gemini;
mod http;
mod list;
mod openai;
mod prompt;
mod provider;
mod schema;
mod scripted;
mod scripted_file;
mod secret;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod told;
mod way;
mod wire;
mod written;

pub use anthropic::{ANTHROPIC_URL, Anthropic};
pub use ask::{Ask, Extra};
pub use connect::{ConnectError, KnownProvider, connect, key_variables, providers, usual_url};
pub use counted::{Counted, count_tokens};
pub use endpoint::{Endpoint, Timeouts};
pub use gemini::{GEMINI_URL, Gemini};
pub use list::{list_models, list_models_of};
pub use openai::codec;
pub use openai::{OPENAI_URL, OpenAi, usual_way};
pub use prompt::WirePrompt;
pub use scripted::{Scripted, ScriptedModel, SeenRequest};
pub use secret::Secret;
pub use way::{CallWay, Knowledge, Known, Notes};

use everloop_types::{Message, ModelError, OutputSchema, Reply, ToolChoice, ToolSpec};
use std::pin::Pin;

/// A model call under way. Dropping it cancels the call and closes the connection.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + 'a>>;

/// What takes the pieces of a reply while it comes in.
pub type OnDelta<'a> = &'a mut (dyn FnMut(Delta<'_>) + Send);

/// What answers. Dropping the returned future cancels the call and closes the connection.
pub trait Model: Send + Sync {
    /// Asks for one whole reply. `on_delta` sees its pieces as they come, and also those of a
    /// reply that ends in an error.
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> Asking<'a>;
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
