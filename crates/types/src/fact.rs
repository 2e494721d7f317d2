//! Facts: what later runs are told, once a person or a policy has accepted it.

use crate::{ConversationId, FactId, RunId};
use serde::{Deserialize, Serialize};

/// Whether later runs are told a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactStatus {
    /// Somebody proposed it; nobody has decided.
    Proposed,
    /// Later runs are told.
    Active,
    /// It was proposed and refused.
    Rejected,
    /// It was active, and is not any more.
    Withdrawn,
}

impl FactStatus {
    /// All of them, in the order in which people are shown them.
    pub const ALL: [Self; 4] = [Self::Proposed, Self::Active, Self::Rejected, Self::Withdrawn];

    /// As it is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Active => "active",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Reads what [`Self::as_str`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// The message that a fact goes back to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactSource {
    /// The conversation.
    #[serde(rename = "conversation_id")]
    pub conversation: Option<ConversationId>,
    /// The run that proposed it.
    #[serde(rename = "run_id")]
    pub run: Option<RunId>,
    /// The last message of the person before that.
    #[serde(rename = "message_id")]
    pub message: Option<String>,
}

/// What a run proposes to remember. The engine writes it in the commit of the call's outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactProposal {
    /// Its id.
    pub id: FactId,
    /// What is to be remembered.
    pub text: String,
    /// The folder whose runs are told; none for all.
    pub workspace: Option<String>,
    /// Where it comes from.
    pub source: FactSource,
    /// Whether others than the user may have written it. The engine adds what the run holds.
    pub untrusted: bool,
    /// Whether the settings accept it without a person. An untrusted one is never accepted so.
    pub accept: bool,
}

#[cfg(test)]
mod tests {
    use super::FactStatus;

    #[test]
    fn every_status_is_read_as_it_is_written() {
        for status in FactStatus::ALL {
            assert_eq!(FactStatus::parse(status.as_str()), Some(status));
        }
        assert_eq!(FactStatus::parse("else"), None);
    }
}
