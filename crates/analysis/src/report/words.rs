//! What the program itself says in a report.

use super::model::ReportModel;
use crate::escape::table_cell;
use crate::prove::{NumberCounts, NumberStatus, ReportNumber};
use everloop_text as text;
use everloop_types::Lang;
use std::fmt::Write as _;

/// What is known of a number, in words.
#[must_use]
pub fn status_words(status: NumberStatus, lang: Lang) -> String {
    let words = match status {
        NumberStatus::Inserted => text::analysis::number::inserted(),
        NumberStatus::Found => text::analysis::number::found(),
        NumberStatus::Derived => text::analysis::number::derived(),
        NumberStatus::Asked => text::analysis::number::asked(),
        NumberStatus::NoSource => text::analysis::number::no_source(),
        NumberStatus::Misplaced => text::analysis::number::misplaced(),
        NumberStatus::Misrounded => text::analysis::number::misrounded(),
        NumberStatus::InWords => text::analysis::number::in_words(),
        NumberStatus::Ambiguous => text::analysis::number::ambiguous(),
        NumberStatus::Constant => text::analysis::number::constant(),
        NumberStatus::BadReference => text::analysis::number::bad_reference(),
    };
    words.in_lang(lang)
}

/// How many numbers have a source, and how many need none.
#[must_use]
pub fn counts_words(counts: &NumberCounts, lang: Lang) -> String {
    let mut parts = vec![text::analysis::sources_count(&counts.proven, &counts.numbers)];
    if counts.asked > 0 {
        parts.push(text::analysis::sources_asked(&counts.asked));
    }
    if counts.in_words > 0 {
        parts.push(text::analysis::sources_in_words(&counts.in_words));
    }
    let parts: Vec<String> = parts.into_iter().map(|part| part.in_lang(lang)).collect();
    parts.join(if lang == Lang::ZhCn { "" } else { " " })
}

/// A number in the table of sources; one of a title with its chart.
pub(super) fn number_text(number: &ReportNumber) -> String {
    match number.chart {
        Some(chart) => format!("{} · chart{chart}", number.text),
        None => number.text.clone(),
    }
}

/// The data that a report is about, and what was odd about them.
pub(super) fn data_of(report: &ReportModel) -> String {
    let lang = report.lang;
    let mut out = format!("### {}\n\n", text::analysis::data_title().in_lang(lang));
    for fact in &report.facts {
        let _ = writeln!(out, "- {}: {}", table_cell(&fact.name), table_cell(&fact.value));
    }
    if !report.caveats.is_empty() {
        let title = text::analysis::report::caveats().in_lang(lang);
        let _ = write!(out, "\n### {title}\n\n");
        for line in &report.caveats {
            let _ = writeln!(out, "- {}", table_cell(line.trim()));
        }
    }
    out
}
