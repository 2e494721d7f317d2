//! What a run may do without asking: its rules, and whom they leave to decide.
//!
//! ```text
//!   deny ──► ask ──► allow ──► the tool's own default
//! ```

use crate::pattern::{host_of, own_port, path_fits, path_within, shortest_six, word_fits};
use crate::{Approval, ApprovalMode, EffectClass, Frame, LabelGuard, SendTarget, Taint, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a run may do without asking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// `--yes`: every tool request of this run is approved. Never inherited by forks or children.
    #[serde(default)]
    pub approve_all: bool,
    /// How much is done without asking. In [`ApprovalMode::Plan`] nothing that changes anything.
    #[serde(default, skip_serializing_if = "ApprovalMode::is_ask")]
    pub mode: ApprovalMode,
    /// What is allowed, asked and denied by tool and argument.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ApprovalRule>,
    /// What happens once the run holds private and untrusted data. None for runs from before
    /// labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_guard: Option<LabelGuard>,
    /// Files of the workspace that others wrote, as patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untrusted_paths: Vec<String>,
    /// What becomes of questions.
    #[serde(default, skip_serializing_if = "Unattended::is_wait")]
    pub unattended: Unattended,
    /// What the run holds when it begins: a fork, a switch, a chat that goes on.
    #[serde(default, skip_serializing_if = "Taint::is_empty")]
    pub inherited: Taint,
}

/// What becomes of a question to a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unattended {
    /// It waits for an answer.
    #[default]
    Wait,
    /// The run is unattended: the call is denied at once.
    Deny,
}

impl Unattended {
    fn is_wait(&self) -> bool {
        *self == Self::Wait
    }
}

/// One rule on calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRule {
    /// The name of a tool, or its beginning and `*`.
    pub tool: String,
    /// What it says.
    pub decision: Approval,
    /// Only for calls in which one argument fits a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<ArgPattern>,
}

/// A pattern on one argument: on the host for `url`, on the path within the workspace for `path`,
/// on the text for any other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgPattern {
    /// The argument.
    pub arg: String,
    /// What it has to look like.
    pub matches: String,
}

/// Whether an argument fits a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternFit {
    /// It does.
    Yes,
    /// It does not, or is not there.
    No,
    /// It can be read in more than one way.
    Unclear,
}

impl ArgPattern {
    /// Whether a value of the argument fits.
    #[must_use]
    pub fn fits(&self, value: &str, workspace: &str) -> PatternFit {
        let fit = match self.arg.as_str() {
            "url" => host_of(value).map(|host| {
                let pattern = shortest(&self.matches.to_ascii_lowercase());
                let name = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
                match name {
                    Some((name, _)) => word_fits(&pattern, &host) || word_fits(&pattern, name),
                    // A rule may name the port that an address means without naming it.
                    None => {
                        let named = format!("{host}:{}", own_port(value));
                        word_fits(&pattern, &host) || word_fits(&pattern, &named)
                    }
                }
            }),
            "path" => path_within(value, workspace).map(|path| path_fits(&self.matches, &path)),
            _ => Some(word_fits(&self.matches, value)),
        };
        match fit {
            Some(true) => PatternFit::Yes,
            Some(false) => PatternFit::No,
            None => PatternFit::Unclear,
        }
    }
}

/// A pattern on hosts with an address of the sixth version in the form that addresses are given.
fn shortest(pattern: &str) -> String {
    let Some((name, port)) = pattern.split_once(']') else { return pattern.to_owned() };
    match shortest_six(&format!("{name}]")) {
        Some(name) => format!("{name}{port}"),
        None => pattern.to_owned(),
    }
}

impl ApprovalRule {
    /// Whether it is about a tool.
    #[must_use]
    pub fn names(&self, tool: &str) -> bool {
        match self.tool.strip_suffix('*') {
            Some(beginning) => tool.starts_with(beginning),
            None => self.tool == tool,
        }
    }

    /// Whether it decides a call. What is unclear is denied and asked about, never allowed.
    fn decides(&self, call: &ToolCall, args: &Value, workspace: &str) -> bool {
        let Some(when) = &self.when else { return self.names(&call.tool) };
        if !self.names(&call.tool) {
            return false;
        }
        let fit = match args.get(&when.arg) {
            None | Some(Value::Null) => PatternFit::No,
            Some(Value::String(text)) => when.fits(text, workspace),
            Some(other) => when.fits(&other.to_string(), workspace),
        };
        match fit {
            PatternFit::Yes => true,
            PatternFit::No => false,
            PatternFit::Unclear => self.decision != Approval::Allow,
        }
    }
}

impl std::fmt::Display for ApprovalRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.when {
            Some(ArgPattern { arg, matches }) => write!(f, "{} {arg} = {matches}", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

/// The stricter of two words about one call; silence allows nothing.
#[must_use]
pub fn stricter(
    one: Option<(Approval, String)>,
    other: Option<(Approval, String)>,
) -> Option<(Approval, String)> {
    let strictness = |said: &Option<(Approval, String)>| match said {
        Some((Approval::Deny, _)) => 3,
        Some((Approval::Ask, _)) => 2,
        None => 1,
        Some((Approval::Allow, _)) => 0,
    };
    if strictness(&other) > strictness(&one) { other } else { one }
}

impl Policy {
    /// What the rules say about a call, and which does; nothing if none is about it.
    #[must_use]
    pub fn says(&self, call: &ToolCall, workspace: &str) -> Option<(Approval, String)> {
        if self.rules.is_empty() {
            return None;
        }
        let args = serde_json::from_str(&call.args).unwrap_or(Value::Null);
        [Approval::Deny, Approval::Ask, Approval::Allow].into_iter().find_map(|decision| {
            let mut fitting = self.rules.iter().filter(|rule| rule.decision == decision);
            let rule = fitting.find(|rule| rule.decides(call, &args, workspace))?;
            Some((decision, rule.to_string()))
        })
    }

    /// Whether an older program would read a run under this policy as if it had another one.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        *self != Self { approve_all: self.approve_all, ..Self::default() }
    }
}

impl Frame {
    /// Whether a call is held back because the run only plans: its tool may change something, or
    /// send something out.
    #[must_use]
    pub fn only_plans(&self, call: &ToolCall) -> bool {
        let Some(tool) = self.tool(&call.tool) else { return false };
        let flow = tool.handling.flow.as_ref();
        let stays_here = || flow.is_some_and(|flow| flow.sends == SendTarget::No);
        self.policy.mode == ApprovalMode::Plan
            && match tool.handling.class {
                EffectClass::Pure => false,
                EffectClass::Transactional => !stays_here(),
                _ => true,
            }
    }

    /// The tools of which some call would need a person, as far as can be said beforehand.
    #[must_use]
    pub fn tools_that_ask(&self) -> Vec<&str> {
        let asks = |tool: &&crate::ToolSpec| {
            let about = |decision| {
                let mut rules = self.policy.rules.iter();
                rules.any(|r| r.decision == decision && r.names(&tool.name) && r.when.is_none())
            };
            let mut asked = self.policy.rules.iter().filter(|rule| rule.names(&tool.name));
            let asked = asked.any(|rule| rule.decision == Approval::Ask);
            let default = tool.handling.approval == Approval::Ask && !about(Approval::Allow);
            let may_ask = !self.policy.approve_all && self.policy.mode != ApprovalMode::Plan;
            may_ask && !about(Approval::Deny) && (asked || default)
        };
        self.tools.iter().filter(asks).map(|tool| tool.name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallId, Handling, ToolSpec};

    fn rule(tool: &str, decision: Approval, when: Option<(&str, &str)>) -> ApprovalRule {
        let when =
            when.map(|(arg, matches)| ArgPattern { arg: arg.into(), matches: matches.into() });
        ApprovalRule { tool: tool.into(), decision, when }
    }

    fn says(rules: &[ApprovalRule], tool: &str, args: &str) -> Option<Approval> {
        let call = ToolCall { id: CallId::new("c"), tool: tool.into(), args: args.into() };
        let policy = Policy { rules: rules.to_vec(), ..Policy::default() };
        policy.says(&call, "/work").map(|(decision, _)| decision)
    }

    #[test]
    fn deny_goes_before_ask_and_ask_before_allow_in_whatever_order_they_stand() {
        use Approval::{Allow, Ask, Deny};
        let all = [
            rule("write_file", Allow, Some(("path", "src/**"))),
            rule("write_*", Ask, Some(("path", "src/gen/**"))),
            rule("*", Deny, Some(("path", "**/secret*"))),
        ];
        for rules in [all.to_vec(), all.iter().rev().cloned().collect()] {
            for (path, said) in [
                ("src/a.rs", Some(Allow)),
                ("src/gen/a.rs", Some(Ask)),
                ("src/gen/secret.rs", Some(Deny)),
                ("a.rs", None),
                // A path that may lead elsewhere is not allowed by it.
                ("src/../a.rs", None),
                ("../src/a.rs", Some(Deny)),
            ] {
                let args = serde_json::json!({ "path": path }).to_string();
                assert_eq!(says(&rules, "write_file", &args), said, "{path}");
            }
            assert_eq!(says(&rules, "shell", "{\"command\":\"ls\"}"), None);
        }
    }

    #[test]
    fn a_rule_on_an_address_is_about_its_host() {
        use Approval::{Allow, Deny};
        let rules = [
            rule("http_*", Allow, Some(("url", "*.example.com"))),
            rule("http_send", Deny, Some(("url", "evil.example"))),
        ];
        for (tool, url, said) in [
            ("http_get", "https://a.example.com:8443/x", Some(Allow)),
            ("http_get", "https://a.example.com.evil.example/", None),
            ("http_get", "https://a.example.com@evil.example/", None),
            ("http_send", "https://a.example.com@evil.example/", Some(Deny)),
            ("http_send", "https://EVIL.example/?a.example.com", Some(Deny)),
        ] {
            let args = serde_json::json!({ "url": url }).to_string();
            assert_eq!(says(&rules, tool, &args), said, "{tool} {url}");
        }
    }

    #[test]
    fn a_rule_on_an_address_holds_for_every_spelling_of_it() {
        use Approval::Deny;
        for (pattern, url, said) in [
            ("127.0.0.1:8080", "http://127.0.0.1:08080/x", Some(Deny)),
            ("127.0.0.1:80", "http://127.0.0.1/x", Some(Deny)),
            ("127.0.0.1:80", "http://127.0.0.1:/x", Some(Deny)),
            ("a.example:443", "https://a.example/", Some(Deny)),
            ("a.example:443", "http://a.example/", None),
            ("a.example:80", "http://a.example:8080/", None),
            ("[::1]", "http://[0:0:0:0:0:0:0:1]:9/", Some(Deny)),
            ("[0:0::1]:9", "http://[::0001]:9/", Some(Deny)),
            ("[::1]:9", "http://[::1]:8/", None),
            ("127.0.0.1", "http://[::ffff:127.0.0.1]/", Some(Deny)),
        ] {
            let rules = [rule("fetch_web", Deny, Some(("url", pattern)))];
            let args = serde_json::json!({ "url": url }).to_string();
            assert_eq!(says(&rules, "fetch_web", &args), said, "{pattern} {url}");
        }
    }

    #[test]
    fn a_run_says_which_of_its_tools_need_a_person() {
        use Approval::{Allow, Ask, Deny};
        let tool = |name: &str, approval| ToolSpec {
            name: name.into(),
            handling: Handling { approval, ..Handling::default() },
            ..ToolSpec::default()
        };
        let tools = vec![tool("read", Allow), tool("write", Ask), tool("push", Ask)];
        let mut frame = Frame { tools, ..Frame::default() };
        assert_eq!(frame.tools_that_ask(), ["write", "push"]);
        frame.policy.rules = vec![
            rule("write", Allow, None),
            rule("push", Deny, None),
            rule("read", Ask, Some(("path", "a"))),
        ];
        assert_eq!(frame.tools_that_ask(), ["read"]);
        frame.policy.approve_all = true;
        assert!(frame.tools_that_ask().is_empty());
    }
}
