//! What the run's rules close to a call that comes upon it on its way: a redirect, a file below a
//! folder. The arguments do not name it, so the rules could not be asked beforehand.

use crate::{ReadFile, Tool};
use everloop_types::{Approval, CallId, Policy, ToolCall};
use reqwest::Url;
use serde_json::json;
use std::path::Path;

/// The rules that a call of one tool meets.
#[derive(Debug, Clone, Default)]
pub struct AccessRules {
    policy: Policy,
    tool: String,
    workspace: String,
}

impl AccessRules {
    /// Of a run's policy, for calls of a tool.
    #[must_use]
    pub fn new(policy: &Policy, tool: &str, workspace: &str) -> Self {
        let policy = Policy {
            rules: policy.rules.clone(),
            approve_all: policy.approve_all,
            ..Policy::default()
        };
        Self { policy, tool: tool.to_owned(), workspace: workspace.to_owned() }
    }

    /// Whether a rule denies a file below the folder that the call names. What may not be read by
    /// `read_file` is not shown by a search either.
    pub(crate) fn closes_file(&self, path: &Path) -> bool {
        [self.tool.as_str(), ReadFile::NAME].iter().any(|tool| {
            let said = self.says(tool, "path", &path.to_string_lossy());
            matches!(said, Some((Approval::Deny, _)))
        })
    }

    /// Why a redirect may not be followed: nobody was asked about another host.
    pub(crate) fn closes_redirect(&self, from: &Url, to: &Url) -> Option<String> {
        let says = self.says(&self.tool, "url", to.as_str());
        // Rules may close one port of a host and not another.
        if from.host_str() == to.host_str() && says == self.says(&self.tool, "url", from.as_str()) {
            return None;
        }
        let host = to.host_str().unwrap_or_default();
        match says? {
            (Approval::Deny, rule) => {
                Some(format!("a redirect leads to {host}, which is denied by the rule {rule}"))
            }
            (Approval::Ask, rule) if !self.policy.approve_all => Some(format!(
                "a redirect leads to {host}, and the rule {rule} wants a person to be asked: \
                 call {to} itself"
            )),
            _ => None,
        }
    }

    fn says(&self, tool: &str, arg: &str, value: &str) -> Option<(Approval, String)> {
        if self.policy.rules.is_empty() {
            return None;
        }
        let args = json!({ arg: value }).to_string();
        let call = ToolCall { id: CallId::new(""), tool: tool.to_owned(), args };
        self.policy.says(&call, &self.workspace)
    }
}

#[cfg(test)]
mod tests {
    use super::AccessRules;
    use everloop_types::{Approval, ApprovalRule, ArgPattern, Policy};
    use reqwest::Url;

    #[test]
    fn a_redirect_to_another_port_meets_the_rules_for_that_port() {
        let closes = |decision, matches: &str, from: &str, to: &str| {
            let when = Some(ArgPattern { arg: "url".into(), matches: matches.into() });
            let rules = vec![ApprovalRule { tool: "fetch_web".into(), decision, when }];
            let policy = Policy { rules, ..Policy::default() };
            let [from, to] = [from, to].map(|url| Url::parse(url).unwrap());
            AccessRules::new(&policy, "fetch_web", "/w").closes_redirect(&from, &to).is_some()
        };
        let (three, two) = ("http://127.0.0.1:3000/", "http://127.0.0.1:2000/x");
        for decision in [Approval::Deny, Approval::Ask] {
            assert!(closes(decision, "127.0.0.1:2000", three, two));
            assert!(!closes(decision, "127.0.0.1:1000", three, two));
        }
        // Whoever was asked about the host was asked about all of it.
        assert!(!closes(Approval::Ask, "a.example", "http://a.example/", "https://a.example/"));
        assert!(closes(Approval::Ask, "*", "http://a.example/", "https://b.example/"));
    }
}
