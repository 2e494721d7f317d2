//! Where the value of a setting came from.

use std::fmt;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// Nobody set it.
    Default,
    /// This file.
    File(String),
    /// This environment variable.
    Environment(String),
    /// `--set`.
    Flag,
    /// An argument of `config` that names a setting.
    CommandLine,
}

impl SettingOrigin {
    /// Later layers win.
    #[must_use]
    pub(crate) const fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Environment(_) => 2,
            Self::Flag | Self::CommandLine => 3,
        }
    }

    /// Whether it was set for this process, and not in the file.
    #[must_use]
    pub(crate) const fn is_of_this_process(&self) -> bool {
        self.rank() > 1
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => f.write_str(path),
            Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("--set"),
            Self::CommandLine => f.write_str("config"),
        }
    }
}
