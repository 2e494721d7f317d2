//! Settings: `section.key` from the file, then `EVERLOOP_SECTION__KEY`, then `--set`; the last one
//! wins.
//!
//! ```text
//!   values.rs ──► structs     settings.model.attempts
//!             ──► SETTINGS    parsing, `config show`, docs/settings.md, docs/settings.schema.json
//!             ──► keys        settings.origin(keys::model::attempts())
//! ```
//!
//! A key is a string only where a person writes it: in the file, in a variable, behind `--set`
//! and `config`.

pub mod approval_rules;
mod choices;
mod declare;
mod error;
pub mod file;
mod lists;
mod load;
pub mod markdown;
pub mod mcp_servers;
mod origin;
pub mod providers;
pub mod redact;
pub mod schema;
pub mod shell_rules;
mod signed_channels;
mod sources;
mod spec;
mod value;
mod values;

#[cfg(test)]
#[path = "settings/settings_tests.rs"]
mod tests;

pub use choices::{LoopName, RoundPreset, ZoneName};
pub use error::{SettingError, SettingMismatch, SettingProblem};
pub use lists::{ChannelEntry, PathPattern, SettingItem, ToolName};
pub use load::LoadedSettings;
pub(crate) use load::mode_name;
pub use origin::SettingOrigin;
pub use providers::ProviderPart;
pub use signed_channels::{SignedChannel, SignedChannelError};
pub use sources::{EffectiveSetting, SettingFlags, SettingSources};
pub use spec::{ListKind, SettingKey, SettingKind, SettingSpec};
pub use value::{ByteSize, DatabaseAddress, Millis, SecretPlace, SettingValue, Thousandths};
pub use values::*;

use crate::near::near;
use everloop_mcp::ServerSetting;
use everloop_tools::ShellRule;
use everloop_types::ApprovalRule;
use mcp_servers::WrittenServer;
use providers::ProviderEntries;
use std::collections::BTreeMap;
use std::ops::Deref;

/// All settings with their values: `settings.model.attempts`.
#[derive(Debug, Clone)]
pub struct Settings {
    values: SettingValues,
    /// Of what is not as it is by default.
    origins: BTreeMap<SettingKey, SettingOrigin>,
    shell_rules: Vec<ShellRule>,
    servers: Vec<WrittenServer>,
    approval_rules: Vec<ApprovalRule>,
    providers: ProviderEntries,
    channels: Vec<SignedChannel>,
}

impl Deref for Settings {
    type Target = SettingValues;

    fn deref(&self) -> &SettingValues {
        &self.values
    }
}

impl Settings {
    /// Every setting as it is unless somebody sets it.
    #[must_use]
    pub(crate) fn defaults() -> Self {
        Self {
            values: SettingValues::defaults(),
            origins: BTreeMap::new(),
            shell_rules: Vec::new(),
            servers: Vec::new(),
            approval_rules: Vec::new(),
            providers: ProviderEntries::default(),
            channels: Vec::new(),
        }
    }

    fn set(&mut self, key: &str, text: &str, origin: SettingOrigin) -> Result<(), SettingError> {
        let spec = find(key, origin.clone())?;
        if let Err(mismatch) = spec.check(text) {
            let problem = SettingProblem::Mismatch(mismatch);
            return Err(SettingError { key: key.to_owned(), origin, problem });
        }
        (spec.assign)(&mut self.values, text);
        self.origins.insert(spec.key, origin);
        Ok(())
    }

    /// Where a value came from.
    #[must_use]
    pub fn origin(&self, key: SettingKey) -> &SettingOrigin {
        self.origins.get(&key).unwrap_or(&SettingOrigin::Default)
    }

    /// The rules for shell commands; only the file has them.
    #[must_use]
    pub fn shell_rules(&self) -> &[ShellRule] {
        &self.shell_rules
    }

    /// The MCP servers; only the file has them.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerSetting> {
        let call_ms = self.mcp.timeout.ms();
        let start_ms = self.mcp.start_timeout.ms();
        self.servers.iter().map(|server| server.with_times(call_ms, start_ms)).collect()
    }

    /// The rules for calls; only the file has them.
    #[must_use]
    pub fn approval_rules(&self) -> &[ApprovalRule] {
        &self.approval_rules
    }

    /// The channels that messages come in through; only the file has them.
    #[must_use]
    pub fn channels(&self) -> &[SignedChannel] {
        &self.channels
    }

    /// Every address of a server or a channel, with the secrets in it.
    #[must_use]
    pub fn addresses(&self) -> Vec<String> {
        let written: Vec<String> = SETTINGS.iter().map(|spec| (spec.write)(&self.values)).collect();
        let own = self.named_providers().map(|name| self.own_address_of(name));
        let signed = self.channels.iter().flat_map(SignedChannel::addresses);
        let texts = written.iter().map(String::as_str).chain(own).chain(signed);
        let items = texts.flat_map(lists::split_items);
        items.filter(|text| text.contains("://")).map(str::to_owned).collect()
    }

    /// The settings that are not as they are by default, with their values as they are typed.
    pub fn changed(&self) -> impl Iterator<Item = (&'static SettingSpec, String)> {
        let defaults = SettingValues::defaults();
        SETTINGS.iter().filter_map(move |spec| {
            let value = (spec.write)(&self.values);
            (value != (spec.write)(&defaults)).then_some((spec, value))
        })
    }

    /// Every key with its value and origin, without anything that could be a secret.
    pub fn all(&self) -> impl Iterator<Item = (SettingKey, String, &SettingOrigin)> {
        SETTINGS.iter().map(|spec| (spec.key, (spec.show)(&self.values), self.origin(spec.key)))
    }
}

/// The setting that a person named.
///
/// # Errors
/// [`SettingProblem::Unknown`] with the nearest key, if there is no such setting.
pub fn find(key: &str, origin: SettingOrigin) -> Result<&'static SettingSpec, SettingError> {
    let known = SETTINGS.iter().find(|spec| spec.key.as_str() == key);
    known.ok_or_else(|| unknown(key, origin))
}

fn unknown(key: &str, origin: SettingOrigin) -> SettingError {
    let near = near(key, SETTINGS.iter().map(|spec| spec.key.as_str()));
    let nearest = SETTINGS.iter().map(|spec| spec.key).find(|key| Some(key.as_str()) == near);
    SettingError { key: key.to_owned(), origin, problem: SettingProblem::Unknown(nearest) }
}

/// What a key names that a person may set: a setting, or a part of a provider.
pub enum SettingTarget {
    /// A setting of the table.
    Setting(&'static SettingSpec),
    /// `providers.NAME.…`.
    Provider {
        /// The provider.
        name: String,
        /// What of it.
        part: ProviderPart,
    },
}

impl SettingTarget {
    /// What a key names.
    ///
    /// # Errors
    /// [`SettingProblem::Unknown`] with the nearest key, if it names nothing.
    pub fn find(key: &str, origin: SettingOrigin) -> Result<Self, SettingError> {
        match providers::named(key) {
            Some((name, part)) => Ok(Self::Provider { name: name.to_owned(), part }),
            None => find(key, origin).map(Self::Setting),
        }
    }

    /// How the value is written.
    #[must_use]
    pub const fn kind(&self) -> SettingKind {
        match self {
            Self::Setting(spec) => spec.kind,
            Self::Provider { part, .. } => part.kind(),
        }
    }

    /// Checks a text that should become the value.
    ///
    /// # Errors
    /// [`SettingMismatch`] if it does not fit.
    pub fn check(&self, text: &str) -> Result<(), SettingMismatch> {
        match self {
            Self::Setting(spec) => spec.check(text),
            Self::Provider { part, .. } => part.check(text),
        }
    }
}
