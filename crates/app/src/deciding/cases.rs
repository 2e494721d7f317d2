//! Labelled messages: what should be decided on each.

use everloop_loops::DecisionKind;
use everloop_types::Lang;
use serde::{Deserialize, Serialize};

/// The messages that come with the program.
const SHIPPED: &str = include_str!("../../../../docs/decision/messages.jsonl");

/// A message and what should be decided on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionCase {
    /// Unique in its file.
    pub id: String,
    /// The language of the message.
    pub language: Lang,
    /// The message.
    pub message: String,
    /// What should be decided.
    pub expected: DecisionKind,
    /// The type of run that should begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_type: Option<String>,
    /// What makes it hard, if it was written to mislead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adversarial: Option<String>,
    /// Tasks that run when it comes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<String>,
}

/// A line that is not a labelled message.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {detail}")]
pub struct CaseError {
    /// Which, from 1.
    pub line: usize,
    /// What is wrong.
    pub detail: String,
}

/// Reads labelled messages, one JSON object a line.
///
/// # Errors
/// [`CaseError`] for the first line that cannot be used.
pub fn read_cases(text: &str) -> Result<Vec<DecisionCase>, CaseError> {
    let mut cases: Vec<DecisionCase> = Vec::new();
    for (line, row) in (1..).zip(text.lines()).filter(|(_, row)| !row.trim().is_empty()) {
        let wrong = |detail: String| CaseError { line, detail };
        let case: DecisionCase =
            serde_json::from_str(row).map_err(|error| wrong(error.to_string()))?;
        if cases.iter().any(|known| known.id == case.id) {
            return Err(wrong(format!("the id {} is there twice", case.id)));
        }
        if (case.expected == DecisionKind::Reply) != case.run_type.is_none() {
            return Err(wrong("run_type belongs to expected run or reply_and_run".to_owned()));
        }
        cases.push(case);
    }
    Ok(cases)
}

/// The messages that come with the program.
///
/// # Panics
/// Never: a test reads them.
#[must_use]
pub fn shipped_cases() -> Vec<DecisionCase> {
    read_cases(SHIPPED).unwrap_or_else(|error| unreachable!("the shipped set is whole: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_types::RunType;
    use std::collections::BTreeSet;

    #[test]
    fn the_shipped_set_has_both_languages_and_a_quarter_of_it_misleads() {
        let cases = read_cases(SHIPPED).unwrap();
        let count =
            |is: &dyn Fn(&DecisionCase) -> bool| cases.iter().filter(|case| is(case)).count();
        assert!(cases.len() >= 160, "{}", cases.len());
        for lang in [Lang::En, Lang::ZhCn] {
            assert!(count(&|case| case.language == lang) >= 70);
        }
        assert!(count(&|case| case.adversarial.is_some()) * 4 >= cases.len());
        for kind in ["chat", "off_list", "repeat"] {
            let of_kind = |case: &DecisionCase| case.adversarial.as_deref() == Some(kind);
            assert!(count(&of_kind) >= 10, "{kind}");
        }
        for kind in DecisionKind::ALL {
            assert!(count(&|case| case.expected == kind) >= 20, "{}", kind.as_str());
        }
    }

    #[test]
    fn no_message_of_the_shipped_set_is_there_twice_and_every_type_is_known() {
        let cases = shipped_cases();
        let said = |case: &DecisionCase| case.message.trim().to_lowercase();
        let all: BTreeSet<(String, Vec<String>)> =
            cases.iter().map(|case| (said(case), case.running.clone())).collect();
        assert_eq!(all.len(), cases.len());
        let types: BTreeSet<&str> =
            cases.iter().filter_map(|case| case.run_type.as_deref()).collect();
        // A decision starts no analysis unless the settings allow it.
        let by_default = RunType::ALL.into_iter().filter(|it| *it != RunType::Analyze);
        assert_eq!(types, by_default.map(RunType::name).collect());
        for case in cases.iter().filter(|case| case.adversarial.as_deref() == Some("repeat")) {
            assert!(
                !case.running.is_empty() && case.expected == DecisionKind::Reply,
                "{}",
                case.id
            );
        }
    }

    #[test]
    fn a_line_that_cannot_be_used_is_named() {
        let row =
            |more: &str| format!("{{\"id\":\"a\",\"language\":\"en\",\"message\":\"x\",{more}}}");
        let good = row("\"expected\":\"reply\"");
        assert_eq!(read_cases(&format!("{good}\n\n")).unwrap().len(), 1);
        for (bad, line) in [
            (format!("{good}\n{good}"), 2),
            (row("\"expected\":\"run\""), 1),
            (row("\"expected\":\"reply\",\"run_type\":\"agent\""), 1),
            (row("\"expected\":\"think\""), 1),
            (format!("{good}\nnothing"), 2),
        ] {
            assert_eq!(read_cases(&bad).unwrap_err().line, line, "{bad}");
        }
    }
}
