//! What a run asks of the world, and what comes back.

use crate::{ApprovalRequest, CallId, ToolCall, UtcMs};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something a run wants from the world. A plain value: building one changes nothing.
///
/// Deliberately exhaustive. A new variant must break every `match` that performs effects,
/// so that no worker can skip one in silence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Effect {
    /// Ask the model for one whole reply. Deltas go to watchers, never to the loop.
    /// Journaled as a digest: the fold rebuilds the prompt, and n steps must not cost n² bytes.
    CallModel(ModelCall),
    /// Run one tool. What a crash means for it is the tool's effect class.
    CallTool(ToolCall),
}

/// One request to the model. The prompt is the run's transcript and is not repeated here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// What the call is for.
    pub purpose: Purpose,
    /// Which tools are offered.
    #[serde(default, skip_serializing_if = "ToolOffer::is_none")]
    pub offer: ToolOffer,
    /// Whether it may, must or must not call one.
    #[serde(default, skip_serializing_if = "ToolChoice::is_auto")]
    pub choice: ToolChoice,
    /// The contract that the reply's text has to follow, if any. Only its name is journaled: the
    /// schema is built from the frame, and n steps must not cost n schemas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Contract>,
}

/// What a reply's text has to be: one JSON object, with one form for each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contract {
    /// A plan, or the answer to what needs none (PR-3).
    Plan,
    /// The next thing for the current item of the plan (PR-4).
    Thought,
    /// The plan looked at again (PR-5).
    Replan,
    /// A reply, a run to start, or both (DR-3).
    Decision,
}

impl Contract {
    /// Its name in journals, requests and texts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Thought => "thought",
            Self::Replan => "replan",
            Self::Decision => "decision",
        }
    }
}

/// What a model call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Make the first plan.
    Plan,
    /// Decide what to do next.
    Think,
    /// Look at the plan again.
    Replan,
    /// Shorten the transcript into a summary.
    Compact,
    /// Find last words for the user.
    Close,
}

/// The tools that a model call offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOffer {
    /// No tool at all.
    #[default]
    None,
    /// Every tool of the run's frame.
    All,
    /// These tools, in the frame's order: those of the frame, and those a loop brings itself.
    Only(Vec<String>),
}

impl ToolOffer {
    /// Whether nothing is offered.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// Whether the model may call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must call some tool.
    Required,
    /// It must call this tool.
    Named(String),
}

impl ToolChoice {
    /// Whether the model is free to choose.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        matches!(self, Self::Auto)
    }
}

/// A JSON schema for the reply's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A short name; some providers demand one.
    pub name: String,
    /// The schema. `required` names the properties in the order in which a reply should have
    /// them, and [`schema_text`](crate::schema_text) writes them so.
    pub schema: Value,
}

/// What a crash between start and outcome means for a tool call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Effect and outcome are one transaction on our own tables: both or neither.
    Transactional,
    /// Changes nothing: may be performed again.
    Pure,
    /// The other side honours an idempotency key: performed again with the same key.
    Keyed,
    /// Whether it happened can be found out afterwards.
    Probeable,
    /// Never performed again by the runtime: without an outcome its outcome is *unknown*.
    /// Also what an unknown name of a class is read as.
    #[default]
    #[serde(other)]
    Dangerous,
}

impl EffectClass {
    /// Whether its intent must be durable before it is performed.
    #[must_use]
    pub fn needs_intent(self) -> bool {
        matches!(self, Self::Keyed | Self::Probeable | Self::Dangerous)
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It did what was asked.
    Ok,
    /// It failed; the text says how.
    Error,
    /// It was not allowed; nothing was done.
    Denied,
    /// It did not finish in time and was stopped.
    TimedOut,
    /// It was stopped, or never started, because the run was canceled or an earlier call failed.
    Canceled,
    /// Whether it happened is not known. Also what an unknown ending is read as.
    #[serde(other)]
    Unknown,
}

/// What the model gets to see of a tool's outcome. The text is already bounded and clean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// How it ended.
    pub ending: Ending,
    /// What came back.
    pub text: String,
}

impl Observation {
    /// A success.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { ending: Ending::Ok, text: text.into() }
    }

    /// A failure.
    pub fn error(text: impl Into<String>) -> Self {
        Self { ending: Ending::Error, text: text.into() }
    }

    /// A refusal.
    pub fn denied(text: impl Into<String>) -> Self {
        Self { ending: Ending::Denied, text: text.into() }
    }

    /// Whether the tool did what was asked.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.ending == Ending::Ok
    }
}

/// Why a model call brought no reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelError {
    /// What kind of failure; decides whether a further attempt makes sense.
    pub kind: ModelErrorKind,
    /// The provider's or the network's own words, never translated.
    pub detail: String,
    /// How long the provider asked us to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// The kinds of model failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// Nothing answered at the endpoint.
    Unreachable,
    /// The provider asked us to slow down.
    RateLimited,
    /// The provider had a problem of its own (5xx).
    Server,
    /// The stream broke off, or ended without saying that it ends.
    Cut,
    /// No byte came in time, or the whole took too long.
    TimedOut,
    /// The reply had nothing in it.
    Empty,
    /// The reply could not be read.
    Malformed,
    /// A forced tool call did not come back.
    IgnoredToolChoice,
    /// The reply was larger than allowed.
    TooLarge,
    /// There is no key for a provider that wants one; nothing was sent.
    NoKey,
    /// The provider does not accept the key (401).
    Unauthorized,
    /// The key does not allow this (403).
    Forbidden,
    /// There is no such model, or nothing at that address (404).
    NotFound,
    /// The prompt is longer than the model takes.
    TooLong,
    /// The account has no credit left (402).
    NoCredit,
    /// The provider refused the request for another reason, such as its arguments.
    Refused,
}

impl ModelError {
    /// A failure without a hint when to come back.
    pub fn new(kind: ModelErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), retry_after_ms: None, status: None }
    }

    /// Whether another key is what helps.
    #[must_use]
    pub fn is_about_the_key(&self) -> bool {
        use ModelErrorKind as K;
        matches!(self.kind, K::NoKey | K::Unauthorized | K::Forbidden)
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        use ModelErrorKind as K;
        match self.kind {
            K::Unreachable | K::RateLimited | K::Server | K::Cut | K::TimedOut | K::Empty => true,
            K::Malformed => true,
            K::IgnoredToolChoice | K::TooLarge | K::Refused => false,
            K::NoKey | K::Unauthorized | K::Forbidden | K::NotFound => false,
            K::TooLong | K::NoCredit => false,
        }
    }
}

/// The tool calls that a decision asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolBatch {
    /// In order.
    pub calls: Vec<ToolCall>,
    /// When unfinished calls are stopped and observed as timed out.
    pub deadline: Option<UtcMs>,
}

/// A question to the person, asked by a tool or by the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Unique within the run: the effect it belongs to and what kind it is.
    pub id: String,
    /// What is asked for.
    pub kind: QuestionKind,
    /// The call that waits for the answer.
    pub call: CallId,
    /// The model's words, or the exact arguments that are to be approved.
    pub text: String,
    /// What is to be approved, as data. None for other questions, and for those of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<ApprovalRequest>>,
}

/// The kinds of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// The model asks the user something.
    Ask,
    /// A tool call needs permission.
    Approve,
    /// An effect's outcome is unknown and the tool wants a person to say.
    Settle,
}
