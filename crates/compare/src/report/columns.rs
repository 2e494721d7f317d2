//! The columns of a table of loops, the same wherever it is shown.

use super::{ReportStyle, word};
use crate::{ContestResults, Tally, is_simulated};
use everloop_text as text;
use everloop_types::Lang;

/// One figure of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportColumn {
    Success,
    ModelCalls,
    ToolCalls,
    Input,
    Cached,
    Output,
    Steps,
    Words,
    Wall,
    Simulated,
}

/// Figures that are reproducible with a simulated policy.
const DECIDED: [ReportColumn; 8] = [
    ReportColumn::Success,
    ReportColumn::ModelCalls,
    ReportColumn::ToolCalls,
    ReportColumn::Input,
    ReportColumn::Cached,
    ReportColumn::Output,
    ReportColumn::Steps,
    ReportColumn::Words,
];

/// The reproducible figures.
pub(super) fn decided(results: &ContestResults, model: &str) -> Vec<ReportColumn> {
    let simulated = results.contest.latency.is_some() && is_simulated(model);
    DECIDED.into_iter().chain(simulated.then_some(ReportColumn::Simulated)).collect()
}

/// The same with the time, which is reproducible only if it is simulated.
pub(super) fn all(results: &ContestResults, model: &str) -> Vec<ReportColumn> {
    let mut columns = decided(results, model);
    if columns.len() == DECIDED.len() {
        columns.push(ReportColumn::Wall);
    }
    columns
}

impl ReportColumn {
    pub(super) fn head(self, lang: Lang) -> String {
        word(
            lang,
            match self {
                Self::Success => text::compare::head::success(),
                Self::ModelCalls => text::compare::head::model_calls(),
                Self::ToolCalls => text::compare::head::tool_calls(),
                Self::Input => text::compare::head::input(),
                Self::Cached => text::compare::head::cached(),
                Self::Output => text::compare::head::output(),
                Self::Steps => text::compare::head::steps(),
                Self::Words => text::compare::head::words(),
                Self::Wall => text::compare::head::wall(),
                Self::Simulated => text::compare::head::simulated(),
            },
        )
    }

    pub(super) fn cell(self, tally: &Tally, lang: Lang) -> String {
        match self {
            Self::Success => {
                let Tally { succeeded, runs, .. } = tally;
                format!("{succeeded}/{runs} ({}%)", tally.success_percent())
            }
            Self::ModelCalls => number(tally.model_calls),
            Self::ToolCalls => number(tally.tool_calls),
            Self::Input => number(tally.input_tokens),
            Self::Cached => number(tally.cached_tokens),
            Self::Output => number(tally.output_tokens),
            Self::Steps => number(tally.steps),
            Self::Words => format!("{}/{}", tally.ended_with_words, tally.runs),
            Self::Wall | Self::Simulated => {
                text::compare::seconds(&seconds(tally.wall_ms)).in_lang(lang)
            }
        }
    }
}

impl ReportColumn {
    /// A short form for one task; a dash if it was not run.
    pub(super) fn brief(self, tally: &Tally, style: ReportStyle) -> String {
        let (good, bad) = style.marks;
        let of_all = |count: u64| match (tally.runs, count == tally.runs) {
            (1, true) => good.to_owned(),
            (1, false) => bad.to_owned(),
            (runs, _) => format!("{count}/{runs}"),
        };
        match self {
            _ if tally.runs == 0 => "–".to_owned(),
            Self::Success => of_all(tally.succeeded),
            Self::Words => of_all(tally.ended_with_words),
            _ => self.cell(tally, style.lang),
        }
    }
}

/// Milliseconds as seconds with one decimal.
pub(super) fn seconds(ms: u64) -> String {
    let tenths = ms.saturating_add(50) / 100;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A number with separated thousands.
pub(super) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A ratio with one decimal; a dash where there is nothing to divide by.
pub(super) fn ratio(part: u64, whole: u64) -> String {
    match (part * 10 + whole / 2).checked_div(whole) {
        Some(tenths) => format!("{}.{}", number(tenths / 10), tenths % 10),
        None => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_rounded() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 49, 50, 1_249, 12_950].map(seconds), ["0.0", "0.0", "0.1", "1.2", "13.0"]);
        assert_eq!(
            (ratio(5, 2), ratio(1, 3), ratio(1, 0)),
            ("2.5".into(), "0.3".into(), "–".into())
        );
    }
}
