//! Why a server elsewhere did not do what was asked.

use serde::Deserialize;

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The address of the server cannot be read.
    #[error("{0:?} is not the address of a server")]
    BadAddress(String),
    /// The token would travel in the clear.
    #[error("{0} is not encrypted")]
    NotEncrypted(String),
    /// The token has characters that no header takes.
    #[error("the token cannot be sent")]
    BadToken,
    /// Nothing answers there, or the connection broke.
    #[error("{url} does not answer")]
    Unreachable {
        /// The address.
        url: String,
        /// Why.
        source: reqwest::Error,
    },
    /// There is a connection, and nothing comes over it any more.
    #[error("{0} has stopped answering")]
    Silent(String),
    /// Something answers that is not an Everloop server, or sends what no server of ours sends.
    #[error("{0} is not an Everloop server")]
    NotEverloop(String),
    /// The server speaks another version of the API.
    #[error("the server speaks version {found} of the API")]
    OtherVersion {
        /// Its version.
        found: String,
    },
    /// The server wants to be asked elsewhere; the token is not sent there.
    #[error("the server redirects to another address")]
    Redirected,
    /// The server refuses.
    #[error("{0}")]
    Refused(ApiProblem),
    /// The client cannot be made: TLS cannot be set up, say.
    #[error("the client cannot be made")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl RemoteError {
    /// Whether it may pass: the server is being started, or the network is away.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Silent(_) => true,
            Self::Refused(problem) => matches!(problem.status, 429 | 502..=504),
            _ => false,
        }
    }
}

/// A refusal of the server, in its words.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ApiProblem {
    /// The HTTP status.
    pub status: u16,
    /// The stable name.
    pub code: String,
    /// What went wrong.
    pub title: String,
    /// What went wrong this time.
    pub detail: Option<String>,
}

impl std::fmt::Display for ApiProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.detail {
            Some(detail) => write!(f, "{}: {detail}", self.title),
            None => f.write_str(&self.title),
        }
    }
}
