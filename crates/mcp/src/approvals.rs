//! What a person has approved: a command, and the tools that it offered then.
//!
//! ```text
//!   NAME.json          the command and the tools that were approved
//!   NAME.changed.json  the tools that were seen instead; there until they are approved
//! ```

use super::listing::Listing;
use super::setting::ServerSetting;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// The form of the files.
const FORMAT: u32 = 1;

/// The approvals of a person.
#[derive(Debug, Clone)]
pub struct ServerApprovals {
    folder: PathBuf,
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerApproval {
    fmt: u32,
    fingerprint: String,
    /// The command or address, as it was shown.
    pub shown: String,
    /// The tools.
    pub listing: Listing,
}

/// Whether the tools of a server may be offered.
#[derive(Debug, Clone, PartialEq)]
pub enum ApprovalStatus {
    /// It is turned off.
    Off,
    /// It is not approved.
    New,
    /// Another command or address was approved.
    OtherCommand(ServerApproval),
    /// Other tools were approved than these.
    OtherTools(ServerApproval, Listing),
    /// They may.
    Good(ServerApproval),
}

impl ServerApprovals {
    /// The approvals in a folder that no tool can write to.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Whether the tools of a server may be offered.
    #[must_use]
    pub fn approval_status(&self, server: &ServerSetting) -> ApprovalStatus {
        if !server.enabled {
            return ApprovalStatus::Off;
        }
        let approved: Option<ServerApproval> = self.read(&format!("{}.json", server.name));
        match approved.filter(|approved| approved.fmt == FORMAT) {
            None => ApprovalStatus::New,
            Some(other) if other.fingerprint != server.way.fingerprint() => {
                ApprovalStatus::OtherCommand(other)
            }
            Some(approved) => match self.read(&changed(&server.name)) {
                Some(seen) => ApprovalStatus::OtherTools(approved, seen),
                None => ApprovalStatus::Good(approved),
            },
        }
    }

    /// Approves a command and its tools.
    ///
    /// # Errors
    /// If it cannot be written durably.
    pub fn approve(&self, server: &ServerSetting, listing: Listing) -> io::Result<()> {
        let (fingerprint, shown) = (server.way.fingerprint(), server.way.to_string());
        let approved = ServerApproval { fmt: FORMAT, fingerprint, shown, listing };
        self.write(&format!("{}.json", server.name), &approved)?;
        self.forget_change(&server.name)
    }

    /// Keeps what was seen instead of what is approved.
    pub(super) fn note_change(&self, server: &str, seen: &Listing) -> io::Result<()> {
        self.write(&changed(server), seen)
    }

    pub(super) fn forget_change(&self, server: &str) -> io::Result<()> {
        match std::fs::remove_file(self.folder.join(changed(server))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// What cannot be read is not approved.
    fn read<T: DeserializeOwned>(&self, file: &str) -> Option<T> {
        serde_json::from_slice(&std::fs::read(self.folder.join(file)).ok()?).ok()
    }

    fn write(&self, file: &str, content: &impl Serialize) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let content = serde_json::to_vec(content)?;
        everloop_tools::replace_file(&self.folder.join(file), &content)
    }
}

fn changed(server: &str) -> String {
    format!("{server}.changed.json")
}
