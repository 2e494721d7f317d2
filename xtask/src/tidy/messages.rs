//! Unused messages.
//!
//! What else can be wrong with a message (no such message, no such argument, a language that is
//! missing) stops the build of `everloop-text` or of its callers.

use crate::{Complaint, Tree, TreeFile};
use std::collections::BTreeSet;

/// Every message of `crates/text/texts` is used outside of tests.
///
/// Messages of an area that is marked `@named` are found by a name that is not in the code, and
/// those of a file marked `@patterns` are all tried; tests cover these.
#[must_use]
pub fn check_messages(tree: &Tree) -> Vec<Complaint> {
    let mut used = BTreeSet::new();
    for file in tree.rust().filter(|file| !file.is_test()) {
        used.extend(paths(file));
    }
    let mut complaints = Vec::new();
    for file in tree.files().filter(|file| is_data(file)) {
        let named: Vec<String> =
            file.text.lines().filter_map(|line| line.strip_prefix("@named ")).map(area).collect();
        if file.text.lines().any(|line| line == "@patterns") {
            continue;
        }
        for (n, line) in file.text.lines().enumerate() {
            let key = line.split('(').next().unwrap_or_default();
            let is_head = key.contains('.') && key.starts_with(|c: char| c.is_ascii_lowercase());
            if !is_head || named.iter().any(|area| key.starts_with(area.as_str())) {
                continue;
            }
            if !ends(&plain(key)).any(|end| used.contains(end)) {
                let text = format!("nobody uses the message `{key}`; delete it");
                complaints.push(file.complain(n + 1, text));
            }
        }
    }
    complaints
}

fn is_data(file: &TreeFile) -> bool {
    file.path.starts_with("crates/text/texts/") && file.path.ends_with(".txt")
}

fn area(name: &str) -> String {
    format!("{}.", name.trim())
}

/// A key or a path without what differs between a function and a struct: `run::NotFound` and
/// `run.not_found` are one message.
fn plain(path: &str) -> String {
    let dotted = path.replace("::", ".").replace("r#", "");
    dotted.replace('_', "").to_lowercase()
}

/// A key, and what is left of it in the code where its areas are imported.
fn ends(key: &str) -> impl Iterator<Item = &str> {
    let cuts = key.match_indices('.').map(|(at, _)| at + 1);
    [0].into_iter().chain(cuts).map(|at| &key[at..]).filter(|end| end.contains('.'))
}

/// Every path in the code of a file (`text::run::not_found`) and every end of one.
fn paths(file: &TreeFile) -> BTreeSet<String> {
    // `r#loop` is three tokens, of which the last one is the name.
    let all = file.code();
    let is_raw = |at: usize| all[at].is("r") && all.get(at + 1).is_some_and(|next| next.is("#"));
    let is_mark = |at: usize| is_raw(at) || at > 0 && is_raw(at - 1);
    let code: Vec<_> = (0..all.len()).filter(|at| !is_mark(*at)).map(|at| all[at]).collect();
    let mut found = BTreeSet::new();
    let mut parts: Vec<&str> = Vec::new();
    for (at, token) in code.iter().enumerate() {
        let is_name =
            token.is_code() && token.text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let joins = at >= 2 && code[at - 1].is(":") && code[at - 2].is(":");
        if is_name && !joins {
            parts.clear();
        }
        if is_name && !file.is_test_line(token.line) {
            parts.push(&token.text);
            for start in 0..parts.len() {
                found.insert(plain(&parts[start..].join(".")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    const DATA: (&str, &str) = (
        "crates/text/texts/run.txt",
        "@named help\nrun.done\n  en: \"x.y\"\n\nend.limit(a, b, c)\nhelp.all\nask.loop\n",
    );

    #[test]
    fn messages_that_code_names_are_fine() {
        for text in [
            "fn f() { text::run::done(); text::end::Limit { a, b, c }; text::ask::r#loop; }\n",
            "use text::{run, end};\nfn f() { run::done(); end::Limit { a, b, c }; ask::r#loop() }\n",
        ] {
            let found = said(check_messages, &[DATA, ("crates/a/src/lib.rs", text)]);
            assert_eq!(found, Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_message_that_only_tests_use_is_complained_about() {
        let text = "fn f() { text::run::done(); text::ask::r#loop(); }\n\
                    #[cfg(test)]\nmod tests { fn f() { text::end::Limit { a, b, c }; } }\n";
        assert_eq!(
            said(check_messages, &[DATA, ("crates/a/src/lib.rs", text)]),
            ["crates/text/texts/run.txt:5: nobody uses the message `end.limit`; delete it"]
        );
    }
}
