//! Averages per run, and their difference from another loop.
//!
//! A plain sum favours a loop that gives up early. The report also has the cost of a success, and
//! the difference over only those runs in which both loops succeeded.

use super::columns::{number, ratio};
use super::word;
use crate::{ContestResults, Tally};
use everloop_text as text;
use everloop_types::Lang;

/// The loop that the others are compared with, if it is there: the simplest.
const MEASURE: &str = "react";

/// The loop that the others are compared with: `react`, else the first.
pub(super) fn measure(results: &ContestResults) -> &str {
    let loops = &results.contest.loops;
    let measure = loops.iter().find(|name| *name == MEASURE).or(loops.first());
    measure.map(String::as_str).unwrap_or_default()
}

/// The loops as rows under heads; with several seeds, also their spread.
pub(super) fn averages(results: &ContestResults, model: &str, lang: Lang) -> Vec<Vec<String>> {
    let measure = measure(results);
    let mut heads = vec![
        word(lang, text::compare::head::r#loop()),
        word(lang, text::compare::head::calls_each()),
        word(lang, text::compare::head::tokens_each()),
        word(lang, text::compare::head::fresh_each()),
        word(lang, text::compare::head::against(&measure)),
        word(lang, text::compare::head::tokens_success()),
        word(lang, text::compare::head::against_both(&measure)),
    ];
    let several = results.contest.repeats > 1;
    if several {
        let keys = [text::compare::head::success_seeds(), text::compare::head::tokens_seeds()];
        heads.extend(keys.map(|key| word(lang, key)));
    }
    let row = |name: &String| {
        let mut row = figures(results, model, name, measure);
        if several {
            row.extend(spread(&results.by_seed(model, name)));
        }
        row
    };
    [heads].into_iter().chain(results.contest.loops.iter().map(row)).collect()
}

fn figures(results: &ContestResults, model: &str, name: &str, measure: &str) -> Vec<String> {
    let (tally, base) = (results.total(model, name), results.total(model, measure));
    let (here, there) = results.where_both_succeed(model, name, measure);
    let each = |n: u64| n.checked_div(tally.runs).map_or_else(nothing, number);
    vec![
        name.to_owned(),
        ratio(tally.model_calls, tally.runs),
        each(tally.tokens()),
        each(tally.input_tokens.saturating_sub(tally.cached_tokens)),
        against(tally.tokens(), base.tokens()),
        tally.tokens_per_success().map_or_else(nothing, number),
        match here.runs {
            0 => nothing(),
            runs => format!("{} ({})", against(here.tokens(), there.tokens()), number(runs)),
        },
    ]
}

/// The range of successes and of tokens per run over all seeds.
fn spread(seeds: &[Tally]) -> [String; 2] {
    let tokens = |tally: &Tally| tally.tokens().checked_div(tally.runs).unwrap_or(0);
    [between(seeds.iter().map(|tally| tally.succeeded)), between(seeds.iter().map(tokens))]
}

fn between(numbers: impl Iterator<Item = u64> + Clone) -> String {
    match (numbers.clone().min(), numbers.max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{}–{}", number(least), number(most))
        }
        (Some(same), _) => number(same),
        (None, _) => nothing(),
    }
}

fn nothing() -> String {
    "–".to_owned()
}

/// `+12%`, `-70%`.
fn against(n: u64, base: u64) -> String {
    let (n, base) = (i128::from(n), i128::from(base));
    match ((n - base) * 100).checked_div(base) {
        Some(percent) => format!("{percent:+}%"),
        None => nothing(),
    }
}

#[cfg(test)]
mod tests {
    use super::{against, between};

    #[test]
    fn a_difference_is_said_in_percent_of_the_first() {
        assert_eq!((against(30, 100), against(150, 100)), ("-70%".into(), "+50%".into()));
        assert_eq!((against(100, 100), against(1, 0)), ("+0%".into(), "–".into()));
    }

    #[test]
    fn a_spread_is_said_where_there_is_one() {
        let said = |numbers: &[u64]| between(numbers.iter().copied());
        assert_eq!(said(&[28, 30, 27]), "27–30");
        assert_eq!((said(&[33, 33]), said(&[])), ("33".into(), "–".into()));
    }
}
