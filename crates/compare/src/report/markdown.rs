//! Tables for a document. What time adds is left out: the rest is the same every time.

use super::columns::{DECIDED, number, ratio};
use super::text::{per_task, rows};
use super::{Detail, Manner, word};
use crate::Results;
use everloop_types::Lang;

/// One table for each model, averages below it, and with detail one of all tasks.
#[must_use]
pub fn markdown(results: &Results, manner: Manner) -> String {
    let mut parts = Vec::new();
    for model in &results.contest.models {
        parts.push(format!("**{model}**"));
        parts.push(table(&rows(results, model, manner.lang, &DECIDED)));
        parts.push(table(&averages(results, model, manner.lang)));
        if manner.detail == Detail::PerTask {
            parts.push(table(&per_task(results, model, manner)));
        }
    }
    parts.join("\n\n")
}

/// The loop that the others are measured against, if it is there: the plainest.
const MEASURE: &str = "react";

/// What one run takes on average, and what that is against `react`, else against the first loop.
fn averages(results: &Results, model: &str, lang: Lang) -> Vec<Vec<String>> {
    let loops = &results.contest.loops;
    let measure = loops.iter().find(|name| *name == MEASURE).or(loops.first());
    let measure = measure.map(String::as_str).unwrap_or_default();
    let heads = vec![
        word(lang, "compare.head.loop"),
        word(lang, "compare.head.calls_each"),
        word(lang, "compare.head.tokens_each"),
        word(lang, "compare.head.fresh_each"),
        everloop_text::get(lang, "compare.head.against", &[("name", measure)]),
    ];
    let all = results.total(model, measure);
    let row = |name: &String| {
        let tally = results.total(model, name);
        let each = |n: u64| number(n.checked_div(tally.runs).unwrap_or(0));
        vec![
            name.clone(),
            ratio(tally.model_calls, tally.runs),
            each(tally.tokens()),
            each(tally.input_tokens.saturating_sub(tally.cached_tokens)),
            against(tally.tokens(), all.tokens()),
        ]
    };
    [heads].into_iter().chain(loops.iter().map(row)).collect()
}

/// `+12%`, `-70%`.
fn against(n: u64, base: u64) -> String {
    let (n, base) = (i128::from(n), i128::from(base));
    match ((n - base) * 100).checked_div(base) {
        Some(percent) => format!("{percent:+}%"),
        None => "–".to_owned(),
    }
}

fn table(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let Some((heads, rest)) = rows.split_first() else { return String::new() };
    let ruler = ["---"].into_iter().chain(heads.iter().skip(1).map(|_| "--:"));
    let ruler = format!("| {} |", ruler.collect::<Vec<_>>().join(" | "));
    [line(heads), ruler].into_iter().chain(rest.iter().map(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::against;

    #[test]
    fn a_difference_is_said_in_percent_of_the_first() {
        assert_eq!((against(30, 100), against(150, 100)), ("-70%".into(), "+50%".into()));
        assert_eq!((against(100, 100), against(1, 0)), ("+0%".into(), "–".into()));
    }
}
