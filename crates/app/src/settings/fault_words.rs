//! What is wrong with settings, in words.

use super::rules::{WhyWrong, WrongRule};
use super::{Fault, FaultKind, approvals};
use everloop_tools::RuleError;
use everloop_types::Lang;

/// What is wrong with a setting, and where.
pub fn fault_words(lang: Lang, fault: &Fault) -> String {
    let origin = fault.origin.to_string();
    let base = [("key", fault.key.as_str()), ("origin", origin.as_str())];
    let with = |more: &[(&'static str, &str)], key: &str| {
        let args: Vec<(&str, &str)> = base.iter().copied().chain(more.iter().copied()).collect();
        everloop_text::get(lang, key, &args)
    };
    match &fault.what {
        FaultKind::Unknown(Some(nearest)) => with(&[("nearest", nearest)], "settings.unknown_near"),
        FaultKind::Unknown(None) => with(&[], "settings.unknown"),
        FaultKind::Bad(wrong) => {
            let form = wrong.form.example();
            with(&[("text", &wrong.text), ("form", &form)], "settings.bad")
        }
        FaultKind::NotAnAssignment => with(&[], "settings.no_equals"),
        FaultKind::NoSuchDatabase => with(&[], "settings.no_such_database"),
        FaultKind::NoFile(detail) => {
            with(&[("file", &origin), ("detail", detail)], "settings.no_file")
        }
        FaultKind::Server(wrong) => wrong.words(lang, &origin),
        FaultKind::Secret(error) => with(&[("detail", &error.words(lang))], "secret.missing"),
        FaultKind::Rule(wrong) => rule_words(lang, &origin, wrong),
        FaultKind::Approval(wrong) => approvals::words(lang, &origin, wrong),
        FaultKind::Unreadable(detail) => with(&[("detail", detail)], "settings.unreadable"),
    }
}

/// What is wrong with a rule on commands, and in which line.
fn rule_words(lang: Lang, origin: &str, wrong: &WrongRule) -> String {
    let line = wrong.line.to_string();
    let (key, pattern, example) = match &wrong.why {
        WhyWrong::Form(detail) => ("settings.rule_form", detail.as_str(), ""),
        WhyWrong::Rule(RuleError::Pattern(pattern)) => {
            ("settings.rule_pattern", pattern.as_str(), "")
        }
        WhyWrong::Rule(RuleError::NoExample(pattern)) => {
            ("settings.rule_no_example", pattern.as_str(), "")
        }
        WhyWrong::Rule(RuleError::NoMatch { pattern, example }) => {
            ("settings.rule_no_match", pattern.as_str(), example.as_str())
        }
        WhyWrong::Rule(RuleError::Match { pattern, example }) => {
            ("settings.rule_match", pattern.as_str(), example.as_str())
        }
    };
    let args = [("origin", origin), ("line", &line), ("pattern", pattern), ("example", example)];
    everloop_text::get(lang, key, &args)
}
