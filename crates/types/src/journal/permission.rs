//! Entries about permission: asked for, given, for what, and under which policy.

use serde::{Deserialize, Serialize};

/// See [`EntryKind::ApprovalAsked`](super::EntryKind::ApprovalAsked).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalAsked {
    /// Digest of tool and arguments.
    pub args_hash: String,
    /// Digest of the policy and of the tool as it was: a grant under another one lapses.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy_hash: String,
}

/// See [`EntryKind::ApprovalGiven`](super::EntryKind::ApprovalGiven).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalGiven {
    /// Digest of tool and arguments, as edited: the grant holds for nothing else.
    pub args_hash: String,
    /// Who gave it.
    pub by: String,
    /// Digest of the policy and of the tool as they were when it was asked for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy_hash: String,
    /// The place to which the run may send from now on without being asked about its labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub releases: Option<String>,
    /// The arguments that the person wants in place of the model's: the call is made with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_args: Option<String>,
}
