//! What came of a comparison, for people and programs. Pure: from results to text.
//!
//! ```text
//!   Results ──► text: one table a model        markdown: the same, without what time adds
//!           ──► json: every run                page: one HTML file with charts
//! ```

mod chart;
mod columns;
mod grid;
mod json;
mod markdown;
mod page;
mod text;

pub use json::json;
pub use markdown::markdown;
pub use page::page;
pub use text::{list, text};

use everloop_types::Lang;

/// What a report says about itself.
#[derive(Debug, Clone)]
pub struct About {
    /// The command line that made it.
    pub command: String,
    /// The program's version.
    pub version: String,
    /// When it was made.
    pub date: String,
}

/// How a report is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Its language.
    pub lang: Lang,
    /// Whether every task is shown.
    pub detail: Detail,
    /// Marks for success and failure.
    pub marks: (&'static str, &'static str),
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Sums alone.
    Totals,
    /// Every task, too.
    PerTask,
}

fn word(lang: Lang, key: &str) -> String {
    everloop_text::get(lang, key, &[])
}
