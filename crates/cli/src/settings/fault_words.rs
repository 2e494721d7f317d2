//! What is wrong with settings, in words.

use super::rules::{WhyWrong, WrongRule};
use super::{Fault, FaultKind, approvals};
use everloop_text::{self as text, Text};
use everloop_tools::RuleError;
use everloop_types::Lang;

/// What is wrong with a setting, and where.
pub(crate) fn fault_words(lang: Lang, fault: &Fault) -> String {
    let origin = &fault.origin.to_string();
    let key = &fault.key;
    let text = match &fault.what {
        FaultKind::Unknown(Some(nearest)) => {
            text::settings::UnknownNear { key, origin, nearest }.text()
        }
        FaultKind::Unknown(None) => text::settings::unknown(key, origin),
        FaultKind::Bad(wrong) => {
            let form = &wrong.form.example();
            text::settings::Bad { text: &wrong.text, key, origin, form }.text()
        }
        FaultKind::NotAnAssignment => text::settings::no_equals(key, origin),
        FaultKind::NoSuchDatabase => text::settings::no_such_database(),
        FaultKind::NoFile(detail) => text::settings::no_file(origin, detail),
        FaultKind::Server(wrong) => return wrong.words(lang, origin),
        FaultKind::Secret(error) => text::secret::missing(key, &error.words(lang)),
        FaultKind::Rule(wrong) => rule_text(origin, wrong),
        FaultKind::Approval(wrong) => return approvals::words(lang, origin, wrong),
        FaultKind::Unreadable(detail) => text::settings::Unreadable { origin, key, detail }.text(),
    };
    text.in_lang(lang)
}

/// What is wrong with a rule on commands, and in which line.
fn rule_text(origin: &String, wrong: &WrongRule) -> Text {
    let line = &wrong.line;
    match &wrong.why {
        WhyWrong::Form(pattern) => text::settings::RuleForm { origin, line, pattern }.text(),
        WhyWrong::Rule(RuleError::Pattern(pattern)) => {
            text::settings::RulePattern { origin, line, pattern }.text()
        }
        WhyWrong::Rule(RuleError::NoExample(pattern)) => {
            text::settings::RuleNoExample { origin, line, pattern }.text()
        }
        WhyWrong::Rule(RuleError::NoMatch { pattern, example }) => {
            text::settings::RuleNoMatch { origin, line, pattern, example }.text()
        }
        WhyWrong::Rule(RuleError::Match { pattern, example }) => {
            text::settings::RuleMatch { origin, line, pattern, example }.text()
        }
    }
}
