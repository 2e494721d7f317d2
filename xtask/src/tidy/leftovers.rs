//! Leftovers of development.

use crate::{Complaint, TokenKind, Tree, TreeFile};
use regex_lite::Regex;

/// Tests that do not run, code that is not written, notes of work to do, tests that sleep.
#[must_use]
pub fn check_leftovers(tree: &Tree) -> Vec<Complaint> {
    let note = Regex::new(concat!(r"\b(FIX", r"ME|X", r"XX|TO", r"DO)\b")).expect("valid");
    let mut complaints = Vec::new();
    for file in tree.rust() {
        complaints.extend(check_code(file));
        for token in file.tokens.iter().filter(|token| token.kind == TokenKind::Comment) {
            if let Some(found) = note.find(&token.text) {
                let line = token.line + token.text[..found.start()].matches('\n').count();
                let text = format!("{} in a comment; do it, or open an issue", found.as_str());
                complaints.push(file.complain(line, text));
            }
        }
    }
    complaints
}

fn check_code(file: &TreeFile) -> Vec<Complaint> {
    let code = file.code();
    let mut complaints = Vec::new();
    for at in 0..code.len() {
        let follows = |want: &[&str]| {
            want.iter().enumerate().all(|(n, text)| code.get(at + n).is_some_and(|t| t.is(text)))
        };
        let is_test = file.is_test_line(code[at].line);
        let wrong = if follows(&["#", "[", "ignore"]) {
            "a test that does not run; fix it or delete it"
        } else if follows(&["todo", "!"]) || follows(&["unimplemented", "!"]) {
            "code that is not written; write it"
        } else if follows(&["dbg", "!"]) {
            "a debugging print; take it out"
        } else if is_test && follows(&["thread", ":", ":", "sleep"]) {
            "a test that sleeps; use the testkit's clock, or wait for the thing itself"
        } else {
            continue;
        };
        complaints.push(file.complain(code[at].line, wrong));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn finished_code_is_fine() {
        let text = "// Nothing to do.\nfn f() { std::thread::sleep(PAUSE); }\nfn todo() {}\n\
                    const A: &str = \"todo!() and dbg!(x)\";\n";
        let found = said(check_leftovers, &[("crates/a/src/lib.rs", text)]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn leftovers_are_complained_about() {
        let bad = [
            "#[test]\n#[ignore]\nfn f() {}\n".to_owned(),
            "#[ignore = \"slow\"]\nfn f() {}\n".to_owned(),
            "fn f() { todo!() }\n".to_owned(),
            "fn f() { unimplemented!(\"later\") }\n".to_owned(),
            "fn f() { dbg!(1); }\n".to_owned(),
            format!("// FIX{}: later.\n", "ME"),
            format!("/* {}X */\n", "XX"),
            format!("// TO{}: later.\n", "DO"),
            "#[cfg(test)]\nmod tests { fn f() { std::thread::sleep(A); } }\n".to_owned(),
        ];
        for text in bad {
            assert_eq!(said(check_leftovers, &[("crates/a/src/lib.rs", &text)]).len(), 1, "{text}");
        }
    }
}
