//! What a tool changed in a file, as people read it. It is journaled with the outcome of the call
//! and is no part of any prompt.

use serde::{Deserialize, Serialize};

/// A change of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The file, relative to the workspace and without links.
    pub path: String,
    /// The digest of the content before; none if there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// The digest of the content after.
    pub now: String,
    /// Lines that are new.
    #[serde(default)]
    pub added: usize,
    /// Lines that are gone.
    #[serde(default)]
    pub removed: usize,
    /// A unified diff without its file names; bounded, and empty for what is not text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<String>,
    /// Lines of the diff that are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
    /// Whether the content before is kept, so that the change can be undone.
    #[serde(default)]
    pub kept: bool,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
