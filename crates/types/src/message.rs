//! What the model reads and says.

use crate::CallId;
use serde::{Deserialize, Serialize};

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The standing instructions; always the first message.
    System {
        /// The instructions.
        text: String,
    },
    /// Words of the user, of the loop's phases, or an observation where no tool message fits.
    User {
        /// The words.
        text: String,
        /// Pictures that go with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// What the model replied.
    Assistant {
        /// The reply's text, possibly empty when it only calls tools.
        text: String,
        /// Tool calls, in order, with ids unique within the run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// The observation that answers one tool call.
    Tool {
        /// The call that is answered.
        call: CallId,
        /// The observation's text.
        text: String,
    },
}

impl Message {
    /// A plain user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }

    /// The message's text, of any role.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::System { text }
            | Self::User { text, .. }
            | Self::Assistant { text, .. }
            | Self::Tool { text, .. } => text,
        }
    }
}

/// A picture in a user message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime: String,
    /// The bytes in base64.
    pub base64: String,
}

impl Image {
    /// Bytes of text that a picture counts for where no provider has counted: about 1,600 tokens.
    /// Its own bytes say nothing, since providers count its area.
    pub const COUNTS_FOR_BYTES: usize = 6_400;
}

/// The model's request to run a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the run.
    pub id: CallId,
    /// The tool's name, as the model wrote it.
    pub tool: String,
    /// The arguments as JSON text, exactly as the model wrote them: re-rendering would break the
    /// prompt's prefix.
    pub args: String,
}

/// One whole reply of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// What it said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Its reasoning, where the provider shows it. Kept for people, never sent back.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tools it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
    /// Why it stopped.
    #[serde(default)]
    pub stop: StopCause,
    /// Whether a call was written as text, and was read as the one call that it can be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub salvaged: bool,
}

/// Why a model stopped talking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// It was done.
    #[default]
    Done,
    /// It wants its tool calls performed.
    ToolCalls,
    /// It ran into its output limit: the text, or the last call's arguments, are cut short.
    Length,
    /// A content filter stopped it.
    Filtered,
}

/// Tokens of one or many model calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    #[serde(rename = "in", default)]
    pub input_tokens: u64,
    /// Tokens written.
    #[serde(rename = "out", default)]
    pub output_tokens: u64,
    /// Of the tokens read, those that came from the provider's cache.
    #[serde(rename = "cached", default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Usage {
    /// Adds another call's tokens.
    pub fn add(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
    }

    /// Tokens read and written together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}
