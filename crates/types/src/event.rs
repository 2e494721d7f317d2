//! The events that a loop takes in, and its decisions.

use crate::{
    CallId, Frame, Image, Message, ModelCall, ModelError, Observation, Reason, Reply, ToolBatch,
    ToolCall, UtcMs, Words,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What has happened, as a loop sees it. `at` is the engine's clock; a loop has no other.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The run begins. The frame is frozen for the run.
    Started {
        /// When.
        at: UtcMs,
        /// What the user wants.
        goal: Goal,
        /// All that prompts are built from.
        frame: Arc<Frame>,
    },
    /// A whole model reply.
    Replied {
        /// When.
        at: UtcMs,
        /// The reply, its call ids already unique within the run.
        reply: Reply,
    },
    /// The model failed permanently, or the engine's attempts are used up.
    ModelFailed {
        /// When.
        at: UtcMs,
        /// Why.
        error: ModelError,
    },
    /// A tool's outcome. Its slot in the transcript is already filled.
    Observed {
        /// When.
        at: UtcMs,
        /// The call that is answered.
        call: CallId,
        /// What came back.
        seen: Observation,
    },
    /// Something the loop did not ask for.
    Noticed {
        /// When.
        at: UtcMs,
        /// What.
        notice: Notice,
    },
    /// The transcript was shortened. `Run` has already rewritten it.
    Compacted {
        /// When.
        at: UtcMs,
        /// Messages before this place are now the summary.
        upto: usize,
        /// What they said.
        summary: String,
    },
    /// The run goes on from here as a fork: limits count from zero, and what was given up may be
    /// tried again. `Run` has already told the model.
    Forked {
        /// When.
        at: UtcMs,
        /// What the user adds.
        word: Option<String>,
    },
}

/// What a user wants, and what is known when they ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// The user's words.
    pub text: String,
    /// Time, place and the like, as the model should read them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Pictures that go with the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

impl Goal {
    /// Whether it says nothing and shows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.context.is_empty() && self.images.is_empty()
    }

    /// The message in which the model reads it.
    #[must_use]
    pub fn message(&self) -> Message {
        Message::User { text: self.spoken(), images: self.images.clone() }
    }

    /// As the model reads it.
    #[must_use]
    pub fn spoken(&self) -> String {
        match (self.text.as_str(), self.context.as_str()) {
            (text, "") => text.to_owned(),
            ("", context) => context.to_owned(),
            (text, context) => format!("{text}\n\n{context}"),
        }
    }
}

/// Something that a loop learns without having asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// The same call gave the same result again and again.
    Repeating {
        /// The tool.
        tool: String,
        /// How often in a row.
        times: u32,
    },
    /// Items were called done with nothing behind them.
    Unbacked {
        /// Their texts.
        items: Vec<String>,
    },
    /// The user wants the answer now.
    AnswerNow,
    /// The user adds something while the run works.
    Steered {
        /// Their words.
        text: String,
    },
}

/// What a loop wants next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Ask the model, then decide again.
    AskModel(ModelCall),
    /// Make these calls, then decide again.
    CallTools(ToolBatch),
    /// The run is over, in these words.
    Finish(Answer),
    /// The loop cannot go on: the closing finds the words.
    GiveUp(Reason),
}

impl Next {
    /// Some tool calls that may take their time.
    #[must_use]
    pub fn run_tools(calls: &[ToolCall]) -> Self {
        Self::CallTools(ToolBatch { calls: calls.to_vec(), deadline: None })
    }
}

/// The last words of a run, and how it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// For the user.
    pub words: Words,
    /// `None` where the goal was reached.
    pub trouble: Option<Reason>,
}

/// A transcript that a loop starts from: the messages of the run it was forked from.
pub type CarriedMessages = Vec<Message>;
