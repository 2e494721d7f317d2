//! The catalogue: one entry a text, both languages side by side.

mod cli;
mod config;
mod help;
mod runs;
mod setup;
mod story;
mod tour;

use crate::Text;

/// Writes `"key" => zh: "…", en: "…";` as a table.
macro_rules! texts {
    ($($key:literal => zh: $zh:literal, en: $en:literal;)*) => {
        pub(super) const TEXTS: &[$crate::Text] =
            &[$($crate::Text { key: $key, zh: $zh, en: $en }),*];
    };
}
use texts;

pub(crate) const ALL: &[&[Text]] =
    &[runs::TEXTS, cli::TEXTS, config::TEXTS, help::TEXTS, setup::TEXTS, story::TEXTS, tour::TEXTS];
