//! Rules for shell commands, which are tables in the file and not single values:
//!
//! ```toml
//! [[tools.shell_rules]]
//! allow = "git status *"          # or ask, or deny
//! match = ["git status -s"]       # checked when the settings are read
//! no_match = ["git push"]
//! ```

use everloop_text as text;
use everloop_tools::{RuleAction, RuleError, RuleExamples, ShellRule};
use everloop_types::Lang;
use serde::Deserialize;
use toml::Spanned;

/// The key under which they stand.
pub const KEY: &str = "tools.shell_rules";

/// A rule that cannot be used, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellRuleError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: ShellRuleProblem,
}

/// What is wrong with a rule for shell commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellRuleProblem {
    /// It does not have the form of a rule; what the parser says.
    Form(String),
    /// The rule does not hold for its examples.
    Rule(RuleError),
}

#[derive(Deserialize)]
struct RulesFile {
    tools: Option<ToolsTable>,
}

#[derive(Deserialize)]
struct ToolsTable {
    #[serde(default)]
    shell_rules: Vec<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenShellRule {
    allow: Option<String>,
    ask: Option<String>,
    deny: Option<String>,
    #[serde(default, rename = "match")]
    fits: Vec<String>,
    #[serde(default, rename = "no_match")]
    fits_not: Vec<String>,
}

/// The rules of a file, and those that cannot be used.
pub fn read(text: &str) -> (Vec<ShellRule>, Vec<ShellRuleError>) {
    let file: RulesFile = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let line = line_at(text, error.span().map_or(0, |span| span.start));
            let problem = ShellRuleProblem::Form(error.message().to_owned());
            return (Vec::new(), vec![ShellRuleError { line, problem }]);
        }
    };
    let (mut rules, mut wrong) = (Vec::new(), Vec::new());
    for written in file.tools.map(|tools| tools.shell_rules).unwrap_or_default() {
        let line = line_at(text, written.span().start);
        match rule(written.into_inner()) {
            Ok(rule) => rules.push(rule),
            Err(problem) => wrong.push(ShellRuleError { line, problem }),
        }
    }
    (rules, wrong)
}

impl ShellRuleError {
    /// What is wrong, and in which line.
    pub(super) fn words(&self, lang: Lang, origin: &str) -> String {
        let origin = &origin;
        let line = &self.line;
        let text = match &self.problem {
            ShellRuleProblem::Form(pattern) => {
                text::settings::RuleForm { origin, line, pattern }.text()
            }
            ShellRuleProblem::Rule(RuleError::Pattern(pattern)) => {
                text::settings::RulePattern { origin, line, pattern }.text()
            }
            ShellRuleProblem::Rule(RuleError::NoExample(pattern)) => {
                text::settings::RuleNoExample { origin, line, pattern }.text()
            }
            ShellRuleProblem::Rule(RuleError::NoMatch { pattern, example }) => {
                text::settings::RuleNoMatch { origin, line, pattern, example }.text()
            }
            ShellRuleProblem::Rule(RuleError::Match { pattern, example }) => {
                text::settings::RuleMatch { origin, line, pattern, example }.text()
            }
        };
        text.in_lang(lang)
    }
}

fn rule(written: toml::Value) -> Result<ShellRule, ShellRuleProblem> {
    let written: WrittenShellRule =
        written.try_into().map_err(|error: toml::de::Error| form(error.message()))?;
    let (say, pattern) = match (written.allow, written.ask, written.deny) {
        (Some(pattern), None, None) => (RuleAction::Allow, pattern),
        (None, Some(pattern), None) => (RuleAction::Ask, pattern),
        (None, None, Some(pattern)) => (RuleAction::Deny, pattern),
        _ => return Err(form("allow | ask | deny")),
    };
    let examples = RuleExamples { fits: written.fits, fits_not: written.fits_not };
    ShellRule::new(say, &pattern, &examples).map_err(ShellRuleProblem::Rule)
}

fn form(what: &str) -> ShellRuleProblem {
    ShellRuleProblem::Form(what.to_owned())
}

/// Counted from 1.
pub(super) fn line_at(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_the_line_of_a_wrong_one_is_told() {
        let text = r#"[tools]
output_max = "1MiB"

[[tools.shell_rules]]
allow = "git status *"
match = ["git status", "git status -s"]
no_match = ["git push"]

[[tools.shell_rules]]
deny = "rm -rf *"
match = ["rm -r x"]

[[tools.shell_rules]]
allow = "ls"
deny = "ls"
match = ["ls"]

[[tools.shell_rules]]
ask = "ls"
matches = ["ls"]
"#;
        let (rules, wrong) = read(text);
        assert_eq!(rules.len(), 1);
        let lines: Vec<usize> = wrong.iter().map(|wrong| wrong.line).collect();
        assert_eq!(lines, [9, 13, 18]);
        let (pattern, example) = ("rm -rf *".to_owned(), "rm -r x".to_owned());
        let unfit = ShellRuleProblem::Rule(RuleError::NoMatch { pattern, example });
        assert_eq!(wrong[0].problem, unfit);
        assert!(matches!(&wrong[1].problem, ShellRuleProblem::Form(_)));
        assert!(
            matches!(&wrong[2].problem, ShellRuleProblem::Form(what) if what.contains("matches"))
        );
    }

    #[test]
    fn no_rules_are_no_fault() {
        assert_eq!(read("[tools]\noutput_max = \"1MiB\"\n"), (Vec::new(), Vec::new()));
        assert_eq!(read(""), (Vec::new(), Vec::new()));
    }
}
