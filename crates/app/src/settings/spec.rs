//! What is known about each setting beside its value: key, kind, range, default, description.

use super::SettingMismatch;
use super::values::SettingValues;
use everloop_types::Lang;
use serde::Serialize;
use std::fmt;
use std::ops::RangeInclusive;

/// The key of a setting that exists, such as `model.attempts`. Code gets one from
/// [`keys`](super::keys); a text that a person wrote becomes one by [`find`](super::find).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SettingKey(&'static str);

impl SettingKey {
    /// Only the declaration makes keys.
    pub(super) const fn declared(key: &'static str) -> Self {
        Self(key)
    }

    /// As it is written: `section.name`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// The section of the file that it is in.
    #[must_use]
    pub fn section(self) -> &'static str {
        self.0.split_once('.').map_or("", |(section, _)| section)
    }

    /// Its name within the section.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.split_once('.').map_or(self.0, |(_, name)| name)
    }

    /// The environment variable that sets it: `EVERLOOP_MODEL__ATTEMPTS`.
    #[must_use]
    pub fn variable(self) -> String {
        format!("EVERLOOP_{}__{}", self.section(), self.name()).to_uppercase()
    }
}

impl fmt::Display for SettingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// How the value of a setting is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// A whole number.
    Count,
    /// A number with up to three digits after the point.
    Decimal,
    /// A time with a unit.
    Duration,
    /// A time with a unit, or `off`.
    DurationOrOff,
    /// A size with a unit.
    Size,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A time zone by its IANA name, or `auto`.
    Zone,
    /// Any text; may be empty.
    Text,
    /// Where a secret is, never the secret itself; may be empty.
    Reference,
    /// Several of these, separated by commas; an array in the file.
    List(ListKind),
}

/// What a list contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// Hosts that may be called.
    Host,
    /// Channels for messages.
    Channel,
    /// Folders by their absolute paths.
    Folder,
    /// Built-in tools by their names.
    Tool,
    /// Patterns for paths within the workspace.
    Pattern,
    /// Words of a command.
    Word,
    /// Types of run.
    RunType,
}

impl SettingKind {
    /// What a value looks like; never translated, because it is typed like that.
    #[must_use]
    pub fn example(self, range: Option<&RangeInclusive<u64>>) -> String {
        let text = match self {
            Self::Count => return range.map_or_else(|| "0".to_owned(), |r| bounds(r, 1)),
            Self::Decimal => return range.map_or_else(|| "0.5".to_owned(), |r| bounds(r, 1_000)),
            Self::OneOf(words) => return words.join(" | "),
            Self::Duration => "500ms, 8s, 5m, 2h, 30d",
            Self::DurationOrOff => "off | 0m | 10m | 2h | 1d",
            Self::Size => "64KiB, 8MiB",
            Self::Zone => "auto | Asia/Shanghai | Europe/Rome",
            Self::Text => "…",
            Self::Reference => "env:NAME | file:/path | command:pass show NAME | keychain:NAME",
            Self::List(ListKind::Host) => "api.example.com, localhost:8080",
            Self::List(ListKind::Tool) => "read_file, search_code, edit_file",
            Self::List(ListKind::Pattern) => "vendor/**, **/*.html",
            Self::List(ListKind::RunType) => "agent, fetch_web",
            Self::List(ListKind::Word) => "pass, show, openai",
            Self::List(ListKind::Folder) => "/opt/tools, /srv/data",
            Self::List(ListKind::Channel) => {
                "ops=https://hooks.example.com/x, log=file:/var/log/out.jsonl"
            }
        };
        text.to_owned()
    }

    /// Whether a text that does not fit may still be a secret and must not be shown.
    fn may_be_secret(self) -> bool {
        match self {
            Self::Reference => true,
            Self::List(kind) => !matches!(kind, ListKind::Tool | ListKind::RunType),
            _ => false,
        }
    }

    /// The error for a text that does not fit.
    pub(super) fn mismatch(
        self,
        text: &str,
        range: Option<&RangeInclusive<u64>>,
    ) -> SettingMismatch {
        let shown = if self.may_be_secret() { "…" } else { text };
        SettingMismatch { text: shown.to_owned(), expected: self.example(range) }
    }
}

/// `low..high` in units of `scale`.
fn bounds(range: &RangeInclusive<u64>, scale: u64) -> String {
    format!("{}..{}", range.start() / scale, range.end() / scale)
}

/// One setting that exists.
pub struct SettingSpec {
    /// Its key.
    pub key: SettingKey,
    /// How its value is written.
    pub kind: SettingKind,
    /// The least and the most, in the unit that the value is kept in.
    pub range: Option<RangeInclusive<u64>>,
    /// The default, as it would be typed.
    pub default: &'static str,
    pub(super) accepts: fn(&str, Option<&RangeInclusive<u64>>) -> bool,
    pub(super) assign: fn(&mut SettingValues, &str),
    pub(super) write: fn(&SettingValues) -> String,
    pub(super) show: fn(&SettingValues) -> String,
}

impl SettingSpec {
    /// What a value looks like.
    #[must_use]
    pub fn example(&self) -> String {
        self.kind.example(self.range.as_ref())
    }

    /// Checks a text that should become the value.
    ///
    /// # Errors
    /// [`SettingMismatch`] if it does not fit.
    pub fn check(&self, text: &str) -> Result<(), SettingMismatch> {
        if (self.accepts)(text, self.range.as_ref()) {
            Ok(())
        } else {
            Err(self.kind.mismatch(text, self.range.as_ref()))
        }
    }

    /// What the setting is for.
    #[must_use]
    pub fn description(&self, lang: Lang) -> String {
        let text = everloop_text::settings::about::named(self.key.as_str());
        text.map(|text| text.in_lang(lang)).unwrap_or_default()
    }
}
