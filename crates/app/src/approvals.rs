//! What a person has allowed for good.

use crate::error::{AppError, ChoiceError};
use crate::show::timestamp;
use everloop_store::Store;
use everloop_types::StandingApproval;
use serde::Serialize;
use serde_json::Value;

/// One standing approval.
#[derive(Debug, Clone, Serialize)]
pub struct ApprovalInfo {
    /// Its id.
    pub id: String,
    /// The tool that is allowed.
    pub tool: String,
    /// What it may act on.
    pub resource: String,
    /// The folder in which that counts.
    pub workspace: String,
    /// Who allowed it.
    pub by: String,
    /// When.
    pub at: String,
    /// How far it goes: `exact`, `prefix` or `conversation`.
    pub scope: &'static str,
}

/// What an approval covers, taken apart for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalCoverage {
    /// One command.
    Command(String),
    /// One set of arguments.
    Arguments(String),
    /// Commands that fit a pattern.
    Pattern(String),
    /// One file.
    Path(String),
    /// One host.
    Host(String),
    /// Every call of the tool in one conversation.
    Conversation(String),
}

impl ApprovalInfo {
    /// What it covers.
    #[must_use]
    pub fn coverage(&self) -> ApprovalCoverage {
        let (kind, what) = self.resource.split_once(':').unwrap_or(("args", &self.resource));
        let what = what.to_owned();
        match kind {
            "prefix" => ApprovalCoverage::Pattern(what),
            "conversation" => ApprovalCoverage::Conversation(what),
            "path" => ApprovalCoverage::Path(what),
            "host" => ApprovalCoverage::Host(what),
            _ => match command_in(&what) {
                Some(command) => ApprovalCoverage::Command(command),
                None => ApprovalCoverage::Arguments(what),
            },
        }
    }
}

/// The command, where that is the only argument.
fn command_in(args: &str) -> Option<String> {
    let args: serde_json::Map<String, Value> = serde_json::from_str(args).ok()?;
    let command = args.get("command").filter(|_| args.len() == 1)?;
    command.as_str().map(str::to_owned)
}

impl From<StandingApproval> for ApprovalInfo {
    fn from(standing: StandingApproval) -> Self {
        let StandingApproval { id, workspace, tool, resource, by, at } = standing;
        let scope = match resource.split_once(':') {
            Some(("prefix", _)) => "prefix",
            Some(("conversation", _)) => "conversation",
            _ => "exact",
        };
        Self { id, tool, resource, workspace, by, at: timestamp(at), scope }
    }
}

/// All standing approvals.
///
/// # Errors
/// If the store fails.
pub async fn list_approvals(store: &Store) -> Result<Vec<ApprovalInfo>, AppError> {
    Ok(store.approvals().all().await?.into_iter().map(ApprovalInfo::from).collect())
}

/// Withdraws one; its id may be given by its beginning, if only one begins so.
///
/// # Errors
/// [`ChoiceError::UnknownApproval`], or if the store fails.
pub async fn remove_approval(store: &Store, id: &str) -> Result<ApprovalInfo, AppError> {
    let mut found = list_approvals(store).await?;
    found.retain(|approval| !id.is_empty() && approval.id.starts_with(id));
    if found.len() != 1 {
        return Err(ChoiceError::UnknownApproval(id.to_owned()).into());
    }
    let approval = found.swap_remove(0);
    store.approvals().withdraw(&approval.id).await?;
    Ok(approval)
}
