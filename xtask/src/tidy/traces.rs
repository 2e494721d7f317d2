//! Paths and hosts of one machine, and strings that look like secrets.

use crate::{Complaint, Tree};
use regex_lite::Regex;

/// No file but the lock file has a path of one machine, a registry's host or credentials.
#[must_use]
pub fn check_traces(tree: &Tree) -> Vec<Complaint> {
    let rules = rules();
    let mut complaints = Vec::new();
    for file in tree.files().filter(|file| !file.path.ends_with("Cargo.lock")) {
        for (n, line) in file.text.lines().enumerate() {
            let lower = line.to_ascii_lowercase();
            for rule in rules.iter().filter(|rule| rule.may_match(&lower) && rule.matches(line)) {
                complaints.push(file.complain(n + 1, rule.text));
            }
        }
    }
    complaints
}

struct TraceRule {
    /// Every line that the pattern matches has one of these words, in small letters. Looking for
    /// words takes a fraction of the time that a pattern takes.
    words: &'static [&'static str],
    pattern: Regex,
    /// A made-up secret has no digits, or says that it is made up.
    only_if_real: bool,
    text: &'static str,
}

impl TraceRule {
    fn may_match(&self, lower: &str) -> bool {
        self.words.iter().any(|word| lower.contains(word))
    }

    fn matches(&self, line: &str) -> bool {
        self.pattern.captures_iter(line).any(|found| {
            let what = found.get(1).map_or("", |group| group.as_str());
            !self.only_if_real || looks_real(what)
        })
    }
}

fn looks_real(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    let made_up = ["example", "fake", "test", "dummy", "secret", "password", "placeholder"];
    secret.chars().any(|c| c.is_ascii_digit())
        && secret.chars().any(|c| c.is_ascii_alphabetic())
        && !made_up.iter().any(|word| lower.contains(word))
}

/// Patterns are written so that none of them matches its own line here.
fn rules() -> Vec<TraceRule> {
    let rule = |words, pattern: &str, only_if_real, text| TraceRule {
        words,
        pattern: Regex::new(pattern).expect("valid"),
        only_if_real,
        text,
    };
    let path = "a path of one machine; make it relative, or read it from a setting";
    let host = "a package registry's host; cargo's own settings know it";
    let secret = "looks like a secret; revoke it if it is one, else build it from pieces";
    vec![
        rule(
            &["work/", "root/"],
            r"(?:^|file:/[/]|[^A-Za-z0-9_.}~)*/<-])/(?:work|root)/",
            false,
            path,
        ),
        rule(
            &["home/"],
            r"(?:^|file:/[/]|[^A-Za-z0-9_.}~)*/<-])/home/[a-z][a-z0-9_.-]*",
            false,
            path,
        ),
        rule(&["sparse", "registry"], r"(?:sparse|registry)\+https?:/[/]", false, host),
        rule(
            &["crates", "npmjs"],
            r"(?:index|static)\.crates\.io|registry\.npmjs\.org",
            false,
            host,
        ),
        rule(
            &["pythonhosted", "pypi", "jfrog", "artifactory"],
            r"files\.pythonhosted\.org|pypi\.org/simple|[./]jfrog\.|[./]artifactory\.",
            false,
            host,
        ),
        rule(&["sk-"], r"\b(sk-[A-Za-z0-9_-]{20,})", true, secret),
        rule(&["akia", "aiza"], r"\b(AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35})", true, secret),
        rule(&["gh"], r"\b(gh[opsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})", true, secret),
        rule(&["xox"], r"\b(xox[abps]-[A-Za-z0-9-]{16,})", true, secret),
        rule(&["-----begin"], r"-----BEGIN [A-Z ]*PRIVATE KEY-----", false, secret),
        rule(&["bearer"], r"\b[Bb]earer ([A-Za-z0-9_.~+/-]{20,})", true, secret),
        rule(&["@"], r"[a-z]:/[/][A-Za-z0-9_.-]+:([^@\s/$<{]{8,})@", true, secret),
        rule(
            &["passw", "secret", "token", "api"],
            r#"(?i)(?:passw(?:or)?d|secret|token|api_?key)["']?\s*[:=]\s*["']([A-Za-z0-9_+/=.-]{20,})["']"#,
            true,
            secret,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn relative_paths_addresses_and_placeholders_are_fine() {
        let good = [
            "https://example.com/work/items",
            "$HOME/work/x and ~/work/x and ./home/x and crates/root/x",
            "/home/<name> and /home/$USER and /homes/x",
            "postgres://user:password@localhost/db",
            "api_key = \"your-key-goes-in-here-please\"",
            "Bearer {token}",
            "token: \"sk-test-0123456789abcdefghij\"",
        ];
        for text in good {
            assert_eq!(said(check_traces, &[("docs/a.md", text)]), Vec::<String>::new(), "{text}");
        }
        let lock = format!("source = \"registry+{}//example.com\"\n", "https:");
        assert_eq!(said(check_traces, &[("Cargo.lock", &lock)]), Vec::<String>::new());
    }

    #[test]
    fn traces_of_a_machine_and_secrets_are_complained_about() {
        let bad = [
            format!("see {}work/wt", "/"),
            format!("\"{}root/.cargo\"", "/"),
            format!("file:/{}work/a", "//"),
            format!("{}home/somebody/x", "/"),
            format!("index = \"sparse+{}//example.com/\"", "https:"),
            format!("sk-{}", "a1".repeat(12)),
            format!("AKI{}", "A0123456789ABCDEF"),
            format!("ghp{}", "_0123456789abcdefghijklmnopqrstuvwx"),
            format!("-----BEGIN RSA {} KEY-----", "PRIVATE"),
            format!("Bearer {}", "a1b2".repeat(6)),
            format!("postgres:/{}me:h0rse-battery@db.internal/x", "/"),
            format!("api_key = \"{}\"", "a1b2".repeat(6)),
        ];
        for text in bad {
            assert_eq!(said(check_traces, &[("docs/a.md", &text)]).len(), 1, "{text}");
        }
    }
}
