//! The parts of a request without its messages.

use everloop_types::{OutputSchema, ToolChoice, ToolSpec};

/// The parts of a request without its messages.
#[derive(Clone, Copy)]
pub struct RequestParts<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The tools on offer.
    pub tools: &'a [&'a ToolSpec],
    /// Whether one may, must or must not be called.
    pub choice: &'a ToolChoice,
    /// The schema of the text.
    pub output: Option<&'a OutputSchema>,
    /// Temperature in thousandths; none if the model does not accept one.
    pub temperature_milli: Option<u32>,
    /// Most tokens of the reply; 0 for the provider's own limit.
    pub max_tokens: u32,
}

/// A last user message that is sent but is not part of the transcript.
pub type ExtraMessage<'a> = Option<&'a str>;
