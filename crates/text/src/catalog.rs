//! The catalogue: one entry a text, both languages side by side.

mod assistant;
mod chat;
mod cli;
mod commands;
mod compare;
mod config;
mod context;
mod help;
mod loops;
mod mcp;
mod runs;
pub(crate) mod seen;
mod settings;
mod setup;
mod story;
mod tools;
mod tour;

use crate::Text;

/// Writes `"key" => zh: "…", en: "…";` as a table.
macro_rules! texts {
    ($($key:literal => zh: $zh:literal, en: $en:literal;)*) => {
        pub(crate) const TEXTS: &[$crate::Text] =
            &[$($crate::Text { key: $key, zh: $zh, en: $en }),*];
    };
}
use texts;

pub(crate) const ALL: &[&[Text]] = &[
    runs::TEXTS,
    seen::TEXTS,
    cli::TEXTS,
    help::TEXTS,
    loops::TEXTS,
    mcp::TEXTS,
    story::TEXTS,
    tour::TEXTS,
    commands::TEXTS,
    compare::TEXTS,
    assistant::TEXTS,
    chat::TEXTS,
    config::TEXTS,
    context::TEXTS,
    settings::TEXTS,
    setup::TEXTS,
    tools::TEXTS,
];
