//! A comment that refers to a test must name an existing one.

use crate::{Complaint, TokenKind, Tree};
use regex_lite::Regex;
use std::collections::BTreeSet;

/// A function named in a comment as a test, in backticks or after a colon, exists somewhere.
#[must_use]
pub fn check_named_tests(tree: &Tree) -> Vec<Complaint> {
    let named = Regex::new(r"\btest `([a-z0-9_:]+)`|\(test: `?([a-z0-9_:]+)`?\)").expect("valid");
    let functions = functions(tree);
    let mut complaints = Vec::new();
    for file in tree.rust() {
        for token in file.tokens.iter().filter(|token| token.kind == TokenKind::Comment) {
            for found in named.captures_iter(&token.text) {
                let path = found.get(1).or_else(|| found.get(2)).map_or("", |name| name.as_str());
                let name = path.rsplit("::").next().unwrap_or(path);
                if !functions.contains(name) {
                    let text = format!("there is no test `{name}`; write it or fix the name");
                    complaints.push(file.complain(token.line, text));
                }
            }
        }
    }
    complaints
}

/// The names of all functions.
pub(super) fn functions(tree: &Tree) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for file in tree.rust() {
        for pair in file.code().windows(2) {
            if pair[0].is("fn") {
                names.insert(pair[1].text.as_str());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    const TESTS: (&str, &str) = ("crates/a/tests/b.rs", "fn order_is_kept() {}\n");

    #[test]
    fn a_test_that_is_there_may_be_named() {
        let text = "/// Held by test `order_is_kept` and (test: b::order_is_kept).\n\
                    // The latest `thing`, to test `Ids`.\nconst A: &str = \"test `no_such`\";\n";
        let found = said(check_named_tests, &[TESTS, ("crates/a/src/lib.rs", text)]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_test_that_is_not_there_is_complained_about() {
        for text in ["// See test `order_was_kept`.\n", "// Kept (test: order_was_kept).\n"] {
            assert_eq!(
                said(check_named_tests, &[TESTS, ("crates/a/src/lib.rs", text)]),
                ["crates/a/src/lib.rs:1: there is no test `order_was_kept`; \
                  write it or fix the name"]
            );
        }
    }
}
