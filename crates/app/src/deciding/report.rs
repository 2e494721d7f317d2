//! How a model decides on labelled messages: the confusion matrix and what it costs.

use super::{DecisionCase, DecisionTrial, try_message};
use crate::app::App;
use crate::error::AppError;
use crate::turns::deciding_model;
use everloop_loops::DecisionKind;
use everloop_types::Usage;
use serde::Serialize;
use std::collections::BTreeMap;

/// What stands in the matrix where nothing could be decided.
const FAILED: &str = "failed";

/// How many of how many were right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CountRight {
    /// Right ones.
    pub right: usize,
    /// All of them.
    pub total: usize,
}

impl CountRight {
    fn count(&mut self, is_right: bool) {
        self.total += 1;
        self.right += usize::from(is_right);
    }

    /// In per cent, with one digit after the point; none without any.
    #[must_use]
    pub fn percent(&self) -> Option<String> {
        let tenths = (self.right * 1_000).checked_div(self.total)?;
        Some(format!("{}.{}", tenths / 10, tenths % 10))
    }
}

/// A message on which something else was decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrongCase {
    /// Its id.
    pub id: String,
    /// What should have been decided, with the type of run.
    pub expected: String,
    /// What was.
    pub got: String,
    /// The message.
    pub message: String,
    /// Why, in the model's words, or what failed.
    pub why: String,
}

/// How a model decides on labelled messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct EvaluationReport {
    /// The model.
    pub model: String,
    /// Expected, got, how often.
    pub confusion: BTreeMap<String, BTreeMap<String, usize>>,
    /// Decision and type of run.
    pub all: CountRight,
    /// By language.
    pub by_language: BTreeMap<String, CountRight>,
    /// Messages that were written to mislead.
    pub adversarial: CountRight,
    /// Those by what makes them hard.
    pub by_adversarial: BTreeMap<String, CountRight>,
    /// The type, where a run was expected and one would begin.
    pub run_types: CountRight,
    /// Model calls.
    pub calls: u32,
    /// Tokens.
    pub usage: Usage,
    /// What it costs, where the model has a price.
    pub cost: Option<String>,
    /// What was decided otherwise.
    pub wrong: Vec<WrongCase>,
}

/// Decides on each message, one after the other. `told` hears of each.
///
/// # Errors
/// As [`try_message`].
pub async fn evaluate(
    app: &App,
    model: Option<&str>,
    cases: &[DecisionCase],
    mut told: impl FnMut(usize, &DecisionCase),
) -> Result<EvaluationReport, AppError> {
    let named = deciding_model(app, model);
    let mut report = EvaluationReport { model: named, ..EvaluationReport::default() };
    for expected in DecisionKind::ALL {
        let row = DecisionKind::ALL.map(|got| (got.as_str().to_owned(), 0));
        let row = row.into_iter().chain([(FAILED.to_owned(), 0)]).collect();
        report.confusion.insert(expected.as_str().to_owned(), row);
    }
    for (place, case) in cases.iter().enumerate() {
        told(place, case);
        let trial = try_message(app, model, &case.message, &case.running).await?;
        report.count(case, trial);
    }
    let used = BTreeMap::from([(report.model.clone(), report.usage)]);
    report.cost = app.prices().cost_of(&used).map(|cost| cost.words());
    Ok(report)
}

impl EvaluationReport {
    fn count(&mut self, case: &DecisionCase, trial: DecisionTrial) {
        let got = trial.got.map_or(FAILED, DecisionKind::as_str);
        let row = self.confusion.entry(case.expected.as_str().to_owned()).or_default();
        *row.entry(got.to_owned()).or_default() += 1;
        let is_kind = trial.got == Some(case.expected);
        let is_type = trial.run_type == case.run_type;
        if case.run_type.is_some() && trial.run_type.is_some() {
            self.run_types.count(is_type);
        }
        let is_right = is_kind && is_type;
        self.all.count(is_right);
        self.by_language.entry(case.language.tag().to_owned()).or_default().count(is_right);
        if let Some(kind) = &case.adversarial {
            self.adversarial.count(is_right);
            self.by_adversarial.entry(kind.clone()).or_default().count(is_right);
        }
        self.calls += trial.calls;
        self.usage.add(trial.usage);
        if !is_right {
            let why = trial.decision.map(|decision| decision.reason).or(trial.error);
            self.wrong.push(WrongCase {
                id: case.id.clone(),
                expected: with_type(case.expected.as_str(), case.run_type.as_deref()),
                got: with_type(got, trial.run_type.as_deref()),
                message: case.message.clone(),
                why: why.unwrap_or_default(),
            });
        }
    }
}

fn with_type(decision: &str, run_type: Option<&str>) -> String {
    run_type.map_or_else(|| decision.to_owned(), |run_type| format!("{decision} {run_type}"))
}
