//! Rules for calls, which are tables in the file and not single values:
//!
//! ```toml
//! [[approvals.rules]]
//! tool = "write_file"             # or its beginning: "git_*"
//! decision = "allow"              # or ask, or deny
//! arg = "path"                    # only where this argument
//! matches = "src/**"              # fits; for url it is about the host
//! match = ["src/a/b.rs"]          # checked when the settings are read
//! no_match = ["Cargo.toml"]
//! ```
//!
//! They are not `[[approvals]]`: TOML has no table and list of one name, and the section has
//! settings beside them.

use super::shell_rules::line_at;
use crate::environment;
use everloop_ports::Tool as _;
use everloop_text as text;
use everloop_tools::Shell;
use everloop_types::{Approval, ApprovalRule, ArgPattern, Lang, PatternFit};
use serde::Deserialize;
use toml::Spanned;

/// The key under which they stand.
pub const KEY: &str = "approvals.rules";

/// A rule that cannot be used, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRuleError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: ApprovalRuleProblem,
}

/// What is wrong with a rule for calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalRuleProblem {
    /// It does not have the form of a rule; what the parser says.
    Form(String),
    /// `*` stands elsewhere than at the end of a tool's name, or there is no name.
    Tool(String),
    /// No tool is called so, and which is called nearly so.
    NoTool(String, &'static str),
    /// `arg` without `matches`, or the reverse.
    Halved,
    /// An allowance of the shell by one of its arguments.
    Shell,
    /// A pattern without an example says nothing about what it is for.
    NoExample(String),
    /// An example that the rule should fit, and does not.
    NoMatch {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
    /// An example that the rule should not fit, and does.
    Match {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
}

#[derive(Deserialize)]
struct ApprovalsFile {
    approvals: Option<ApprovalsTable>,
}

#[derive(Deserialize)]
struct ApprovalsTable {
    #[serde(default)]
    rules: Vec<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenApprovalRule {
    tool: String,
    decision: Approval,
    arg: Option<String>,
    matches: Option<String>,
    #[serde(default, rename = "match")]
    fits: Vec<String>,
    #[serde(default, rename = "no_match")]
    fits_not: Vec<String>,
}

/// The rules of a file, and those that cannot be used.
pub fn read(text: &str) -> (Vec<ApprovalRule>, Vec<ApprovalRuleError>) {
    let file: ApprovalsFile = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let line = line_at(text, error.span().map_or(0, |span| span.start));
            let problem = ApprovalRuleProblem::Form(error.message().to_owned());
            return (Vec::new(), vec![ApprovalRuleError { line, problem }]);
        }
    };
    let (mut rules, mut wrong) = (Vec::new(), Vec::new());
    for written in file.approvals.map(|section| section.rules).unwrap_or_default() {
        let line = line_at(text, written.span().start);
        match rule(written.into_inner()) {
            Ok(rule) => rules.push(rule),
            Err(problem) => wrong.push(ApprovalRuleError { line, problem }),
        }
    }
    (rules, wrong)
}

fn rule(written: toml::Value) -> Result<ApprovalRule, ApprovalRuleProblem> {
    let form = |error: toml::de::Error| ApprovalRuleProblem::Form(error.message().to_owned());
    let WrittenApprovalRule { tool, decision, arg, matches, fits, fits_not } =
        written.try_into().map_err(form)?;
    if tool.is_empty() || tool.trim_end_matches('*').contains('*') || tool.ends_with("**") {
        return Err(ApprovalRuleProblem::Tool(tool));
    }
    let when = match (arg, matches) {
        (Some(arg), Some(matches)) => Some(ArgPattern { arg, matches }),
        (None, None) => None,
        _ => return Err(ApprovalRuleProblem::Halved),
    };
    let rule = ApprovalRule { tool, decision, when };
    // Tools of other programs have their server's name and two strokes before them.
    let is_foreign = rule.tool.contains("__");
    if !is_foreign && !environment::built_in().any(|known| rule.names(known.name)) {
        let nearest = environment::nearest_tool(&rule.tool);
        return Err(ApprovalRuleProblem::NoTool(rule.tool, nearest));
    }
    // A line for the shell is more than its beginning: only its own rules take it apart.
    if decision == Approval::Allow && rule.when.is_some() && rule.names(Shell::NAME) {
        return Err(ApprovalRuleProblem::Shell);
    }
    let shown = rule.to_string();
    if rule.when.is_some() && fits.is_empty() {
        return Err(ApprovalRuleProblem::NoExample(shown));
    }
    if let Some(example) = fits.iter().find(|example| !decides(&rule, example)) {
        return Err(ApprovalRuleProblem::NoMatch { rule: shown, example: example.clone() });
    }
    match fits_not.iter().find(|example| decides(&rule, example)) {
        Some(example) => Err(ApprovalRuleProblem::Match { rule: shown, example: example.clone() }),
        None => Ok(rule),
    }
}

/// An example is a value of the argument, or the name of a tool where there is none.
fn decides(rule: &ApprovalRule, example: &str) -> bool {
    match &rule.when {
        None => rule.names(example),
        Some(when) => match when.fits(example, "/") {
            PatternFit::Yes => true,
            PatternFit::No => false,
            PatternFit::Unclear => rule.decision != Approval::Allow,
        },
    }
}

impl ApprovalRuleError {
    /// What is wrong, and in which line.
    pub(super) fn words(&self, lang: Lang, origin: &str) -> String {
        use ApprovalRuleProblem as Problem;
        let origin = &origin;
        let line = &self.line;
        let text = match &self.problem {
            Problem::Form(pattern) => text::settings::ApprovalForm { origin, line, pattern }.text(),
            Problem::Tool(pattern) => text::settings::ApprovalTool { origin, line, pattern }.text(),
            Problem::NoTool(pattern, example) => {
                text::settings::ApprovalNoTool { origin, line, pattern, example }.text()
            }
            Problem::Halved => text::settings::approval_halved(origin, line),
            Problem::Shell => text::settings::approval_shell(origin, line),
            Problem::NoExample(pattern) => {
                text::settings::RuleNoExample { origin, line, pattern }.text()
            }
            Problem::NoMatch { rule: pattern, example } => {
                text::settings::RuleNoMatch { origin, line, pattern, example }.text()
            }
            Problem::Match { rule: pattern, example } => {
                text::settings::RuleMatch { origin, line, pattern, example }.text()
            }
        };
        text.in_lang(lang)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_the_line_of_each_wrong_one_is_told() {
        let text = r#"[approvals]
unattended = "deny"

[[approvals.rules]]
tool = "write_file"
decision = "allow"
arg = "path"
matches = "src/**"
match = ["src/a.rs", "./src/b/c.rs"]
no_match = ["a.rs", "src/../a.rs"]

[[approvals.rules]]
tool = "git_*"
decision = "deny"
match = ["git_push"]
no_match = ["shell"]

[[approvals.rules]]
tool = "http_get"
decision = "allow"
arg = "url"
matches = "*.example.com"
match = ["https://example.com/"]

[[approvals.rules]]
tool = "http_get"
decision = "deny"
arg = "url"
matches = "*.example.com"
match = ["https://a.example.com/"]
no_match = ["https://b.example.com/"]

[[approvals.rules]]
tool = "http_get"
decision = "maybe"

[[approvals.rules]]
tool = "a*b"
decision = "ask"

[[approvals.rules]]
tool = "list_dir"
decision = "ask"
arg = "path"

[[approvals.rules]]
tool = "list_dir"
decision = "ask"
arg = "path"
matches = "x"

[[approvals.rules]]
tool = "sh*"
decision = "allow"
arg = "command"
matches = "git status*"
match = ["git status"]

[[approvals.rules]]
tool = "shel"
decision = "deny"

[[approvals.rules]]
tool = "files__*"
decision = "deny"
"#;
        let (rules, wrong) = read(text);
        let shown: Vec<String> = rules.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["write_file path = src/**", "git_*", "files__*"]);
        let lines: Vec<usize> = wrong.iter().map(|wrong| wrong.line).collect();
        assert_eq!(lines, [18, 25, 33, 37, 41, 46, 52, 59]);
        let rule = "http_get url = *.example.com".to_owned();
        let (good, bad) = ("https://example.com/".to_owned(), "https://b.example.com/".to_owned());
        assert_eq!(
            wrong[0].problem,
            ApprovalRuleProblem::NoMatch { rule: rule.clone(), example: good }
        );
        assert_eq!(wrong[1].problem, ApprovalRuleProblem::Match { rule, example: bad });
        assert!(matches!(&wrong[2].problem, ApprovalRuleProblem::Form(_)));
        assert_eq!(wrong[3].problem, ApprovalRuleProblem::Tool("a*b".to_owned()));
        assert_eq!(wrong[4].problem, ApprovalRuleProblem::Halved);
        assert_eq!(
            wrong[5].problem,
            ApprovalRuleProblem::NoExample("list_dir path = x".to_owned())
        );
        assert_eq!(wrong[6].problem, ApprovalRuleProblem::Shell);
        assert_eq!(wrong[7].problem, ApprovalRuleProblem::NoTool("shel".to_owned(), "shell"));
    }

    #[test]
    fn a_list_in_place_of_the_section_is_told() {
        let (rules, wrong) = read("[[approvals]]\ntool = \"shell\"\ndecision = \"deny\"\n");
        assert!(rules.is_empty());
        assert!(
            matches!(&wrong[..], [ApprovalRuleError { problem: ApprovalRuleProblem::Form(_), .. }]),
            "{wrong:?}"
        );
        assert_eq!(read(""), (Vec::new(), Vec::new()));
    }
}
