//! What can be wrong with settings, and the words for it.

use super::approval_rules::ApprovalRuleError;
use super::mcp_servers::McpServerError;
use super::shell_rules::ShellRuleError;
use super::signed_channels::SignedChannelError;
use super::{SettingKey, SettingOrigin};
use crate::secrets::SecretError;
use everloop_text as text;
use everloop_types::Lang;

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError {
    /// The key as it was written; empty if the whole file is meant.
    pub key: String,
    /// Where it was written.
    pub origin: SettingOrigin,
    /// What is wrong.
    pub problem: SettingProblem,
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingProblem {
    /// There is no such key; the nearest one that exists.
    Unknown(Option<SettingKey>),
    /// The value does not fit.
    Mismatch(SettingMismatch),
    /// `--set` without `=`.
    NotAnAssignment,
    /// The file is not valid TOML.
    NotToml(String),
    /// The file exists and cannot be read.
    UnreadableFile(String),
    /// The database's address is of a kind that is not known.
    UnknownDatabase,
    /// A rule for shell commands cannot be used.
    ShellRule(ShellRuleError),
    /// An MCP server cannot be used.
    McpServer(Box<McpServerError>),
    /// A channel cannot be used.
    SignedChannel(Box<SignedChannelError>),
    /// A rule for calls cannot be used.
    ApprovalRule(Box<ApprovalRuleError>),
    /// The secret that the setting refers to could not be resolved.
    Secret(Box<SecretError>),
}

/// A value that does not fit, and what would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingMismatch {
    /// The value as it was written; `…` if it may be a secret.
    pub text: String,
    /// What a value looks like.
    pub expected: String,
}

impl SettingError {
    /// What is wrong, and where, in the words of a person.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        let origin = &self.origin.to_string();
        let key = &self.key;
        let text = match &self.problem {
            SettingProblem::Unknown(Some(nearest)) => {
                text::settings::UnknownNear { key, origin, nearest }.text()
            }
            SettingProblem::Unknown(None) => text::settings::unknown(key, origin),
            SettingProblem::Mismatch(SettingMismatch { text, expected }) => {
                text::settings::Bad { text, key, origin, form: expected }.text()
            }
            SettingProblem::NotAnAssignment => text::settings::no_equals(key, origin),
            SettingProblem::UnknownDatabase => text::settings::no_such_database(),
            SettingProblem::UnreadableFile(detail) => text::settings::no_file(origin, detail),
            SettingProblem::McpServer(error) => return error.words(lang, origin),
            SettingProblem::Secret(error) => text::secret::missing(key, &error.words(lang)),
            SettingProblem::ShellRule(error) => return error.words(lang, origin),
            SettingProblem::ApprovalRule(error) => return error.words(lang, origin),
            SettingProblem::SignedChannel(error) => return error.words(lang, origin),
            SettingProblem::NotToml(detail) => {
                text::settings::Unreadable { origin, key, detail }.text()
            }
        };
        text.in_lang(lang)
    }

    /// Whether its words name the line of the file. Others have a line by their key.
    #[must_use]
    pub(crate) fn names_its_line(&self) -> bool {
        matches!(
            self.problem,
            SettingProblem::ShellRule(_)
                | SettingProblem::McpServer(_)
                | SettingProblem::ApprovalRule(_)
                | SettingProblem::SignedChannel(_)
        )
    }
}
