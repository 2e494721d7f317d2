//! A question for permission as data: what would be done, where, why a person is asked, and what
//! "always" would cover. Surfaces render it; the journal keeps it with the question.

use serde::{Deserialize, Serialize};

/// What a person is asked to allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The tool.
    pub tool: String,
    /// What the call would do.
    pub preview: CallPreview,
    /// The folder that the run works in.
    pub folder: String,
    /// Why a person is asked.
    pub cause: ApprovalCause,
    /// What "always" may cover, narrowest first. Empty if such a call is asked about every time.
    pub scopes: Vec<ApprovalScope>,
    /// The argument that the person may change before the call is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub editable: Option<String>,
}

/// What a call would do, as far as its tool can show it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CallPreview {
    /// Nothing beyond its arguments, which the question has.
    #[default]
    Call,
    /// It runs a command.
    Command {
        /// The command line.
        command: String,
        /// Whether the command runs in a sandbox.
        sandboxed: bool,
        /// Whether the command can reach the network.
        network: bool,
        /// A pattern for commands like this one, if one can be proposed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
    /// It writes a file.
    FileChange {
        /// The file.
        path: String,
        /// Whether there is no such file yet.
        is_new: bool,
        /// The change as a unified diff, cut if it is long.
        diff: String,
        /// Lines of the diff that are left out.
        #[serde(default)]
        left_out: usize,
        /// Lines that are added.
        added: usize,
        /// Lines that are removed.
        removed: usize,
    },
}

/// Why a person is asked about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalCause {
    /// Calls of the tool need approval.
    Tool,
    /// A rule wants a person to be asked.
    Rule {
        /// The rule.
        rule: String,
    },
    /// Later runs or other programs take instructions from the file.
    SensitiveFile,
    /// The call can send out what the run has read.
    Labels {
        /// Where the untrusted content came from.
        untrusted: String,
        /// Where the private data came from.
        private: String,
        /// Where the call can send it.
        place: String,
        /// Whether it reaches later runs through a file that they obey.
        to_later_runs: bool,
        /// Why the call would also run without a sandbox, if it would.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unsandboxed: Option<String>,
    },
    /// The call would run without a sandbox.
    Unsandboxed {
        /// Why there is none; empty if the settings turn it off.
        why: String,
    },
    /// Nobody can tell which program the command runs, so deny rules cannot be checked.
    Unclear {
        /// The part that is unclear.
        part: String,
    },
}

/// What an answer of "always" covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "scope", rename_all = "snake_case")]
pub enum ApprovalScope {
    /// The same call again: its file, its host or its exact arguments, in this folder.
    Exact {
        /// `path:…`, `host:…` or `args:…`.
        resource: String,
    },
    /// Commands that begin with these words, in this folder.
    Prefix {
        /// The pattern, such as `git status *`.
        pattern: String,
    },
    /// Every call of the tool in this conversation.
    Conversation,
    /// Whatever this run sends to this place.
    Place {
        /// The place.
        place: String,
    },
}

impl ApprovalScope {
    /// The word by which an answer names it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Exact { .. } | Self::Place { .. } => "exact",
            Self::Prefix { .. } => "prefix",
            Self::Conversation => "here",
        }
    }
}

/// How much a conversation or run may do without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// As settings and rules say.
    #[default]
    Ask,
    /// The same, and changes of files in the workspace are not asked about.
    Edits,
    /// Nothing that changes anything is done.
    Plan,
    /// Everything is allowed that no other protection asks about (`--yes`).
    All,
}

impl ApprovalMode {
    /// Every mode, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Ask, Self::Edits, Self::Plan, Self::All];

    /// Its name in settings, flags and commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Edits => "edits",
            Self::Plan => "plan",
            Self::All => "all",
        }
    }

    /// The mode of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Whether it is the default.
    #[must_use]
    pub fn is_ask(&self) -> bool {
        *self == Self::Ask
    }
}
