//! Settings with several values, separated by commas; an array in the file.

use super::redact;
use super::spec::{ListKind, SettingKind};
use super::value::SettingValue;
use crate::run_types::RunType;
use crate::secrets::{self, Reference};
use everloop_tools::{Channel, HostAddress};
use std::path::{Path, PathBuf};

/// A type that a list can contain.
pub trait SettingItem: Sized {
    /// What the list is one of.
    const KIND: ListKind;

    /// Reads one item; `None` if it does not fit.
    fn from_item(text: &str) -> Option<Self>;

    /// As it would be typed.
    fn write_item(&self) -> String;

    /// The same without anything that could be a secret.
    fn show_item(&self) -> String {
        self.write_item()
    }
}

impl<T: SettingItem> SettingValue for Vec<T> {
    const KIND: SettingKind = SettingKind::List(T::KIND);

    fn from_text(text: &str) -> Option<Self> {
        split_items(text).map(T::from_item).collect()
    }

    fn write(&self) -> String {
        self.iter().map(SettingItem::write_item).collect::<Vec<_>>().join(", ")
    }

    fn show(&self) -> String {
        let shown: Vec<String> = self.iter().map(SettingItem::show_item).collect();
        redact::shown(&shown.join(", "))
    }
}

/// The items of a list as it is typed.
pub(super) fn split_items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

impl SettingItem for HostAddress {
    const KIND: ListKind = ListKind::Host;

    fn from_item(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn write_item(&self) -> String {
        self.to_string()
    }
}

/// A folder by its absolute path.
impl SettingItem for PathBuf {
    const KIND: ListKind = ListKind::Folder;

    fn from_item(text: &str) -> Option<Self> {
        Path::new(text).is_absolute().then(|| Self::from(text))
    }

    fn write_item(&self) -> String {
        self.display().to_string()
    }
}

/// A word of a command.
impl SettingItem for String {
    const KIND: ListKind = ListKind::Word;

    fn from_item(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn write_item(&self) -> String {
        self.clone()
    }
}

/// A built-in tool by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolName(&'static str);

impl ToolName {
    /// The name.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        self.0
    }
}

impl SettingItem for ToolName {
    const KIND: ListKind = ListKind::Tool;

    fn from_item(text: &str) -> Option<Self> {
        crate::environment::built_in().find(|tool| tool.name == text).map(|tool| Self(tool.name))
    }

    fn write_item(&self) -> String {
        self.0.to_owned()
    }
}

/// A type of run that a decision may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunTypeName(RunType);

impl RunTypeName {
    /// The type.
    #[must_use]
    pub const fn run_type(self) -> RunType {
        self.0
    }
}

impl SettingItem for RunTypeName {
    const KIND: ListKind = ListKind::RunType;

    fn from_item(text: &str) -> Option<Self> {
        RunType::parse(text).ok().map(Self)
    }

    fn write_item(&self) -> String {
        self.0.name().to_owned()
    }
}

/// A pattern for paths within the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern(String);

impl PathPattern {
    /// The pattern.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a path within the workspace fits it.
    #[must_use]
    pub fn fits(&self, path: &str) -> bool {
        everloop_types::path_fits(&self.0, path)
    }
}

impl SettingItem for PathPattern {
    const KIND: ListKind = ListKind::Pattern;

    fn from_item(text: &str) -> Option<Self> {
        (!text.starts_with('/') && !text.contains("..")).then(|| Self(text.to_owned()))
    }

    fn write_item(&self) -> String {
        self.0.clone()
    }
}

/// A channel for messages: `name=https://…`, `name=file:/…`, or `name=` and where its address is.
#[derive(Clone, PartialEq, Eq)]
pub struct ChannelEntry(String);

impl std::fmt::Debug for ChannelEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ChannelEntry").field(&self.show_item()).finish()
    }
}

impl ChannelEntry {
    /// The channel's name and where its address is, if the address is a secret.
    #[must_use]
    pub fn secret(&self) -> Option<(&str, Reference)> {
        secrets::channel(&self.0)
    }

    /// The channel whose address is written here.
    #[must_use]
    pub fn channel(&self) -> Option<Channel> {
        Channel::parse(&self.0)
    }
}

impl SettingItem for ChannelEntry {
    const KIND: ListKind = ListKind::Channel;

    fn from_item(text: &str) -> Option<Self> {
        let entry = Self(text.to_owned());
        (entry.secret().is_some() || entry.channel().is_some()).then_some(entry)
    }

    fn write_item(&self) -> String {
        self.0.clone()
    }

    fn show_item(&self) -> String {
        match (self.secret(), self.channel()) {
            (Some((name, reference)), _) => format!("{name}={reference}"),
            (None, Some(channel)) => channel.to_string(),
            (None, None) => "…".to_owned(),
        }
    }
}
