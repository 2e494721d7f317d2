//! What the application wants a person to know and that stops nothing.

use crate::mentions::MentionNote;
use crate::secrets::SecretError;
use crate::settings::SettingError;
use std::path::PathBuf;
use std::sync::Arc;

/// One thing worth saying. A surface shows it in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppNotice {
    /// A setting that is not used as it is written.
    Setting(SettingError),
    /// The table of prices cannot be used.
    Prices {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The system's time zone has no IANA name; UTC is used.
    ZoneWithoutName(String),
    /// The file of a persona cannot be used.
    Persona {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// `AGENTS.md` of the workspace cannot be used.
    Guidance(String),
    /// The memory of the workspace cannot be read.
    Memory(String),
    /// The memory of the workspace is full; the most bytes it may have.
    MemoryFull(u64),
    /// A summary could not be added to the memory.
    MemoryNotWritten(String),
    /// The secret of a setting could not be resolved.
    Secret {
        /// The setting.
        key: &'static str,
        /// Why.
        error: SecretError,
    },
    /// A tool call could not be added to the audit file.
    AuditNotWritten(PathBuf),
    /// Somebody removed or replaced the audit file.
    AuditReplaced(PathBuf),
    /// A base URL was given that belongs to another provider than the model's.
    AddressUnused {
        /// The provider that the URL belongs to.
        owner: String,
        /// The provider of the model.
        provider: String,
        /// The variable that would set the URL of that provider.
        variable: String,
    },
    /// What came of a file that a goal names.
    Mention(MentionNote),
    /// The workspace names a loop, and is not trusted.
    WorkspaceNotTrusted {
        /// The loop that it names.
        mode: String,
        /// The workspace.
        folder: PathBuf,
    },
}

/// Where notices go.
#[derive(Clone)]
pub struct Notices(Arc<dyn Fn(AppNotice) + Send + Sync>);

impl Notices {
    /// Calls `show` with each notice, from any thread.
    pub fn new(show: impl Fn(AppNotice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }

    /// Drops them all.
    #[must_use]
    pub fn ignored() -> Self {
        Self::new(|_| ())
    }

    /// Shows one.
    pub fn show(&self, notice: AppNotice) {
        (self.0)(notice);
    }
}
