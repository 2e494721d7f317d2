//! No text for users outside `text`.

use crate::{Complaint, RustToken, Tree, TreeFile};

/// Chinese in a string, or a sentence given to the terminal, belongs into the catalog.
///
/// Exempt: the catalog's crate, prompts (the model reads them), tests, the testkit, and tables of
/// words that are read: those of the agenda that people type, and those of data.
#[must_use]
pub fn check_user_text(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in tree.rust().filter(|file| has_no_user_text(file)) {
        complaints.extend(check_chinese(file));
        complaints.extend(check_printing(file));
    }
    complaints
}

fn has_no_user_text(file: &TreeFile) -> bool {
    let mut parts = file.path.split('/');
    let in_crates = parts.next() == Some("crates");
    let crate_name = parts.next().unwrap_or_default();
    let is_prompt = file.stem().starts_with("prompts") || file.is_in("prompts");
    let is_words = file.stem() == "words" || file.is_in("words");
    let is_input =
        is_words && (crate_name == "agenda" || file.path.contains("analysis/src/infer/"));
    in_crates
        && parts.next() == Some("src")
        && !matches!(crate_name, "text" | "testkit")
        && !is_prompt
        && !is_input
        && !file.is_test()
}

fn check_chinese(file: &TreeFile) -> Vec<Complaint> {
    let found = file.tokens.iter().filter(|token| {
        token.is_str() && token.text.chars().any(is_ideograph) && !file.is_test_line(token.line)
    });
    let complaints = found.map(|token| {
        file.complain(token.line, "Chinese text in a string; give it a key in crates/text")
    });
    complaints.collect()
}

/// Ideographs and kana. Punctuation alone is no text: code may look for a full stop.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

fn check_printing(file: &TreeFile) -> Vec<Complaint> {
    let code = file.code();
    let mut complaints = Vec::new();
    for at in 0..code.len() {
        let is_macro = code.get(at + 1).is_some_and(|t| t.is("!"))
            && code.get(at + 2).is_some_and(|t| t.is("("));
        if !is_macro || file.is_test_line(code[at].line) {
            continue;
        }
        let inside = inside_parens(&code[at + 2..]);
        let prints = match code[at].text.as_str() {
            "print" | "println" | "eprint" | "eprintln" => true,
            "write" | "writeln" => writes_to_the_terminal(inside),
            _ => false,
        };
        let literal = inside.iter().find(|token| token.is_str());
        if prints && literal.is_some_and(|token| words_in(&token.text) >= 2) {
            let text = format!("`{}!` with words for users", code[at].text);
            complaints
                .push(file.complain(code[at].line, text + "; give them a key in crates/text"));
        }
    }
    complaints
}

/// What stands between the parenthesis at the start and its counterpart.
pub(super) fn inside_parens<'a, 'b>(code: &'b [&'a RustToken]) -> &'b [&'a RustToken] {
    let mut depth = 0_usize;
    for (at, token) in code.iter().enumerate() {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth -= 1;
            if depth == 0 {
                return &code[1..at];
            }
        }
    }
    code
}

fn writes_to_the_terminal(inside: &[&RustToken]) -> bool {
    let first = inside.iter().take_while(|token| !token.is(","));
    first.into_iter().any(|token| ["stdout", "stderr"].iter().any(|name| token.is(name)))
}

/// Words of two letters or more, outside of placeholders and escapes.
fn words_in(literal: &str) -> usize {
    let mut plain = String::new();
    let mut depth = 0_usize;
    let mut chars = literal.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
                plain.push(' ');
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let words = plain.split(|c: char| !(c.is_ascii_alphanumeric() || "_-./=:".contains(c)));
    let is_word = |word: &&str| {
        let word = word.trim_end_matches(['.', ':']);
        word.len() >= 2
            && word.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
            && word.chars().any(|c| c.is_ascii_alphabetic())
    };
    words.filter(is_word).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    const PATH: &str = "crates/cli/src/main.rs";

    #[test]
    fn machine_formats_and_catalogue_texts_are_fine() {
        let good = [
            "fn f() { println!(\"{run} {status}\"); }\n",
            "fn f() { println!(\"{}\\t{}\\n\", a, b); }\n",
            "fn f() { println!(\"run_id={run} seq={seq}\"); }\n",
            "fn f() { eprintln!(\"error: {e}\"); }\n",
            "fn f() { writeln!(out, \"three plain words\"); }\n",
            "fn f() { panic!(\"no such thing here\"); }\n",
            "// 说明\nfn f(s: &str) { s.split(\"。\"); }\n",
            "#[cfg(test)]\nmod tests { fn f() { println!(\"a test says 你好\"); } }\n",
        ];
        for text in good {
            assert_eq!(said(check_user_text, &[(PATH, text)]), Vec::<String>::new(), "{text}");
        }
        let text = "fn f() { println!(\"你好 hello there\"); }\n";
        let exempt = [
            "crates/text/src/catalog.rs",
            "crates/loops/src/prompts.rs",
            "crates/loops/src/prompts/react.rs",
            "crates/cli/tests/story.rs",
            "crates/testkit/src/lib.rs",
            "xtask/src/main.rs",
            "crates/agenda/src/time/words.rs",
            "crates/agenda/src/time/words/days.rs",
        ];
        for path in exempt {
            assert_eq!(said(check_user_text, &[(path, text)]), Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn words_for_users_outside_the_catalogue_are_complained_about() {
        let bad = [
            "fn f() { let a = \"你好\"; }\n",
            "fn f() { println!(\"the run {run} is done\"); }\n",
            "fn f() { eprint!(\"please wait\"); }\n",
            "fn f() { writeln!(io::stdout(), \"{} steps left\", n).ok(); }\n",
            "fn f() { write!(stderr.lock(), \"lost lease\"); }\n",
        ];
        for text in bad {
            assert_eq!(said(check_user_text, &[(PATH, text)]).len(), 1, "{text}");
        }
        for path in ["crates/agenda/src/time/dates.rs", "crates/cli/src/words.rs"] {
            assert_eq!(said(check_user_text, &[(path, bad[0])]).len(), 1, "{path}");
        }
        assert_eq!(
            said(check_user_text, &[(PATH, bad[2])]),
            ["crates/cli/src/main.rs:1: `eprint!` with words for users; \
              give them a key in crates/text"]
        );
    }
}
