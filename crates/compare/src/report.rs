//! The report of a comparison, for people and programs. Pure: from results to text.
//!
//! ```text
//!   ContestResults ──► text: one table per model    markdown: the same, without times
//!                  ──► json: every run               page: one HTML file with charts
//! ```

mod averages;
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
use serde_json::Value;
use std::collections::BTreeMap;

/// How the figures of a report were made.
#[derive(Debug, Clone)]
pub struct ReportHeader {
    /// A command line that reproduces the figures.
    pub command: String,
    /// Settings that affect the figures and whose values are not shown: they may be secrets.
    pub withheld: Vec<&'static str>,
    /// The limits in force, by loop.
    pub limits: BTreeMap<String, Value>,
    /// The program's version.
    pub version: String,
    /// When it was made.
    pub date: String,
}

/// Language and detail of a report.
#[derive(Debug, Clone, Copy)]
pub struct ReportStyle {
    /// Its language.
    pub lang: Lang,
    /// Whether every task is shown.
    pub detail: ReportDetail,
    /// Marks for success and failure.
    pub marks: (&'static str, &'static str),
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportDetail {
    /// Only sums.
    Totals,
    /// Every task, too.
    PerTask,
}

fn word(lang: Lang, text: everloop_text::Text) -> String {
    text.in_lang(lang)
}
