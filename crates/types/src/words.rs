//! Texts for users before they are rendered by `text`, the only crate that has texts for users.

use crate::{without_mark, without_tags};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The name of a text in the catalog.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TextKey(Cow<'static, str>);

impl TextKey {
    /// Names a message. Only the functions that `text` generates call this.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Values for a text's placeholders.
pub type Args = BTreeMap<String, String>;

/// Words for the user, rendered by `text` in the run's language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Words {
    /// A given text, shown as it is.
    Said(String),
    /// A text of the catalog.
    Key(TextKey, Args),
    /// Several, one after the other, each on lines of its own.
    All(Vec<Words>),
}

impl Words {
    /// The same without a mark that is not meant for people.
    #[must_use]
    pub fn without(self, mark: &str) -> Self {
        match self {
            Self::Said(text) => Self::Said(without_mark(&text, mark)),
            Self::All(all) => Self::All(all.into_iter().map(|one| one.without(mark)).collect()),
            other => other,
        }
    }

    /// The same without tags around what the model said, and without what it only thought.
    #[must_use]
    pub fn untagged(self) -> Self {
        match self {
            Self::Said(text) => Self::Said(without_tags(&text)),
            Self::All(all) => Self::All(all.into_iter().map(Self::untagged).collect()),
            other @ Self::Key(..) => other,
        }
    }

    /// Whether nothing would be shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Said(text) => text.trim().is_empty(),
            Self::Key(..) => false,
            Self::All(all) => all.iter().all(Self::is_empty),
        }
    }
}

/// The languages in which Everloop speaks to people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lang {
    /// English.
    #[default]
    #[serde(rename = "en")]
    En,
    /// Simplified Chinese.
    #[serde(rename = "zh-CN")]
    ZhCn,
}

impl Lang {
    /// Reads `en`, `zh-CN`, and locale names such as `zh_CN.UTF-8`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        if name == "zh" || name.starts_with("zh-") || name.starts_with("zh_") {
            Some(Self::ZhCn)
        } else if name == "en" || name.starts_with("en-") || name.starts_with("en_") {
            Some(Self::En)
        } else {
            None
        }
    }

    /// The tag of the language: `en` or `zh-CN`. [`Lang::parse`] reads it.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::ZhCn => "zh-CN",
        }
    }
}
