//! What the rules of a run deny to a call on its way: a redirect, a file below a folder.

use crate::ReadFile;
use everloop_ports::{AccessRules, Tool};
use everloop_types::Approval;
use reqwest::Url;
use std::path::Path;

/// Whether a rule denies a file below the folder that the call names. What may not be read by
/// `read_file` is not shown by a search either.
pub(crate) fn closes_file(rules: &AccessRules, path: &Path) -> bool {
    let path = path.to_string_lossy();
    [rules.about("path", &path), rules.about_call_of(ReadFile::NAME, "path", &path)]
        .iter()
        .any(|said| matches!(said, Some((Approval::Deny, _))))
}

/// Why a redirect may not be followed: another host needs its own approval.
pub(crate) fn closes_redirect(rules: &AccessRules, from: &Url, to: &Url) -> Option<String> {
    let says = rules.about("url", to.as_str());
    // Rules may close one port of a host and not another.
    if from.host_str() == to.host_str() && says == rules.about("url", from.as_str()) {
        return None;
    }
    let host = to.host_str().unwrap_or_default();
    match says? {
        (Approval::Deny, rule) => {
            Some(format!("a redirect leads to {host}, which is denied by the rule {rule}"))
        }
        (Approval::Ask, rule) if !rules.approves_all() => Some(format!(
            "a redirect leads to {host}, and the rule {rule} wants a person to be asked: \
             call {to} itself"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::closes_redirect;
    use everloop_ports::AccessRules;
    use everloop_types::{Approval, ApprovalRule, ArgPattern, Policy};
    use reqwest::Url;

    #[test]
    fn a_redirect_to_another_port_meets_the_rules_for_that_port() {
        let closes = |decision, matches: &str, from: &str, to: &str| {
            let when = Some(ArgPattern { arg: "url".into(), matches: matches.into() });
            let rules = vec![ApprovalRule { tool: "fetch_web".into(), decision, when }];
            let policy = Policy { rules, ..Policy::default() };
            let [from, to] = [from, to].map(|url| Url::parse(url).unwrap());
            let rules = AccessRules::new(&policy, "fetch_web", "/w");
            closes_redirect(&rules, &from, &to).is_some()
        };
        let (three, two) = ("http://127.0.0.1:3000/", "http://127.0.0.1:2000/x");
        for decision in [Approval::Deny, Approval::Ask] {
            assert!(closes(decision, "127.0.0.1:2000", three, two));
            assert!(!closes(decision, "127.0.0.1:1000", three, two));
        }
        // An approval for the host covers all of its addresses.
        assert!(!closes(Approval::Ask, "a.example", "http://a.example/", "https://a.example/"));
        assert!(closes(Approval::Ask, "*", "http://a.example/", "https://b.example/"));
    }
}
