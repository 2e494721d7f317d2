//! What a person has allowed for good.

use crate::error::{AppError, ChoiceError};
use crate::show::timestamp;
use everloop_store::Store;
use everloop_types::StandingApproval;
use serde::Serialize;

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
}

impl From<StandingApproval> for ApprovalInfo {
    fn from(standing: StandingApproval) -> Self {
        let StandingApproval { id, workspace, tool, resource, by, at } = standing;
        Self { id, tool, resource, workspace, by, at: timestamp(at) }
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
