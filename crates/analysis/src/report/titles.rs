//! The titles of charts: words of the model like others, whose numbers are checked like others.

use super::marked;
use crate::chart;
use crate::prove::{NumberEvidence, ReportNumber, prove};
use crate::results::{KeptChart, KeptQuery};

/// Checks the titles, and draws those again that have a number to insert or to mark.
pub(super) fn prove_titles(
    charts: &mut [KeptChart],
    queries: &[KeptQuery],
    question: &str,
    evidence: &NumberEvidence,
) -> Vec<ReportNumber> {
    let mut numbers = Vec::new();
    for chart in charts {
        let proven = prove(&chart.title, question, evidence);
        let title = marked(&proven);
        if title != chart.title {
            draw_again(chart, title, queries);
        }
        let own = proven.numbers.into_iter();
        numbers.extend(own.map(|own| ReportNumber { chart: Some(chart.number), at: 0..0, ..own }));
    }
    numbers
}

fn draw_again(chart: &mut KeptChart, title: String, queries: &[KeptQuery]) {
    let query = queries.iter().find(|query| query.number == chart.query);
    if let (Some(spec), Some(query)) = (&mut chart.spec, query) {
        spec.title.clone_from(&title);
        // It was drawn before, from the same result.
        if let Ok(drawn) = chart::draw(spec, &query.result) {
            (chart.svg, chart.alternative) = (drawn.svg, drawn.alternative);
        }
    }
    chart.title = title;
}
