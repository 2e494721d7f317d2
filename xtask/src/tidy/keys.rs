//! Keys of the catalogue: each used one is there, each one there is used, none is there twice.

use super::user_text::inside_parens;
use crate::{Complaint, File, Token, Tree};
use regex_lite::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// Every key that code asks for is in the catalogue, and the catalogue holds nothing else.
///
/// A key counts as used if any string outside of tests is that key, or a format string whose fixed
/// start it shares (`"status.{name}"`), so that a `match` may choose among keys.
#[must_use]
pub fn check_keys(tree: &Tree) -> Vec<Complaint> {
    let shape = Regex::new(r"^[a-z_]+(\.[a-z_0-9]+)+$").expect("valid");
    let (catalogue, mut complaints) = catalogue(tree, &shape);
    let mut literals = BTreeSet::new();
    for file in tree.rust().filter(|file| !is_catalogue(file) && !file.is_test()) {
        for token in asked_for(file, &shape) {
            if !catalogue.contains_key(token.text.as_str()) {
                let text = format!("no text `{}`; add it to crates/text", token.text);
                complaints.push(file.complain(token.line, text));
            }
        }
        let strings = file.tokens.iter().filter(|t| t.is_str() && !file.is_test_line(t.line));
        literals.extend(strings.map(|token| token.text.as_str()));
    }
    let starts: Vec<&str> = literals.iter().filter_map(|text| fixed_start(text)).collect();
    for (key, (file, line)) in catalogue {
        // `observed` goes through all of these: their English is a pattern.
        let is_pattern = file.path.ends_with("crates/text/src/catalog/seen.rs");
        let is_used = literals.contains(key) || starts.iter().any(|start| key.starts_with(start));
        if !is_used && !is_pattern {
            let text = format!("nobody uses the text `{key}`; delete it");
            complaints.push(file.complain(line, text));
        }
    }
    complaints
}

fn is_catalogue(file: &File) -> bool {
    file.path.starts_with("crates/text/src/catalog")
}

type Catalogue<'a> = BTreeMap<&'a str, (&'a File, usize)>;

/// Each key that is the first string of its line, and complaints about those that come twice.
fn catalogue<'a>(tree: &'a Tree, shape: &Regex) -> (Catalogue<'a>, Vec<Complaint>) {
    let mut found = Catalogue::new();
    let mut complaints = Vec::new();
    for file in tree.rust().filter(|file| is_catalogue(file)) {
        for (n, line) in file.text.lines().enumerate() {
            let opened = line.trim_start().trim_start_matches(['(', '[', '{']);
            let key = opened.strip_prefix('"').and_then(|rest| rest.split('"').next());
            let Some(key) = key.filter(|key| shape.is_match(key)) else { continue };
            if file.is_test_line(n + 1) {
                continue;
            }
            if found.insert(key, (file, n + 1)).is_some() {
                complaints.push(file.complain(n + 1, format!("`{key}` is here twice; delete one")));
            }
        }
    }
    (found, complaints)
}

/// The strings that stand where only a key can stand.
fn asked_for<'a>(file: &'a File, shape: &Regex) -> Vec<&'a Token> {
    let code = file.code();
    let mut found = Vec::new();
    for at in 0..code.len() {
        let before = |n: usize| at.checked_sub(n).and_then(|at| code.get(at));
        let opens = code[at].is("(") && !file.is_test_line(code[at].line);
        let Some(name) = before(1).filter(|_| opens) else { continue };
        let of = before(2).filter(|t| t.is(":")).and_then(|_| before(4));
        let of = of.map_or("", |token| token.text.as_str());
        let defines = before(2).is_some_and(|token| token.is("fn"));
        let inside = inside_parens(&code[at..]);
        match (of, name.text.as_str()) {
            ("TextKey", "new") | ("Words", "key" | "with") => {
                found.extend(inside.first().filter(|token| token.is_str()));
            }
            (_, "say") if !defines => found.extend(first_key(inside, shape)),
            ("text", "get") => found.extend(first_key(inside, shape)),
            _ => {}
        }
    }
    found
}

fn first_key<'a>(inside: &[&'a Token], shape: &Regex) -> Option<&'a Token> {
    inside.iter().copied().find(|token| token.is_str() && shape.is_match(&token.text))
}

/// Of `status.{name}` the `status.`; nothing if there is no dot before the first placeholder.
fn fixed_start(text: &str) -> Option<&str> {
    let start = text.split_once('{')?.0;
    let plain = start.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '.');
    (plain && start.contains('.')).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    const CATALOGUE: (&str, &str) = (
        "crates/text/src/catalog.rs",
        "texts! {\n    \"run.done\" => zh: \"好\", en: \"Done\";\n    \"end.limit\" => en: \"x\";\n}\n",
    );

    #[test]
    fn keys_that_are_there_and_used_are_fine() {
        let good = [
            "fn f() { Words::key(\"run.done\"); TextKey::new(\"end.limit\"); }\n",
            "fn f() { text::get(lang, \"run.done\"); Words::with(\"end.limit\", []); }\n",
            "fn f() { say(\"run.done\"); match x { _ => \"end.limit\" } }\n",
            "fn f() { say(\"run.done\"); format!(\"end.{why}\"); }\n",
            "fn f() { say(\"run.done\"); say(\"end.limit\"); }\n\
             #[cfg(test)]\nmod tests { fn f() { Words::key(\"made.up\"); } }\n",
        ];
        for text in good {
            let found = said(check_keys, &[CATALOGUE, ("crates/a/src/lib.rs", text)]);
            assert_eq!(found, Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_key_that_is_not_in_the_catalogue_is_complained_about() {
        let used = "fn g() { say(\"run.done\"); say(\"end.limit\"); }\n";
        let bad = [
            "fn f() { Words::key(\"run.gone\"); }\n",
            "fn f() { TextKey::new(\"gone\"); }\n",
            "fn f() { Words::with(\"run.gone\", [(\"a.b\", x)]); }\n",
            "fn f() { text::get(lang(x), \"run.gone\"); }\n",
            "fn f() { app.say(\"run.gone\"); }\n",
        ];
        for text in bad {
            let text = format!("{used}{text}");
            let found = said(check_keys, &[CATALOGUE, ("crates/a/src/lib.rs", &text)]);
            assert_eq!(found.len(), 1, "{text}");
        }
    }

    #[test]
    fn a_key_that_nobody_uses_or_that_is_there_twice_is_complained_about() {
        let text = "fn f() { say(\"run.done\"); }\n";
        assert_eq!(
            said(check_keys, &[CATALOGUE, ("crates/a/src/lib.rs", text)]),
            ["crates/text/src/catalog.rs:3: nobody uses the text `end.limit`; delete it"]
        );
        let twice = ("crates/text/src/catalog/b.rs", "    \"run.done\" => en: \"x\";\n");
        let all = "fn f() { say(\"run.done\"); say(\"end.limit\"); }\n";
        let found = said(check_keys, &[CATALOGUE, twice, ("crates/a/src/lib.rs", all)]);
        assert_eq!(found.len(), 1);
    }
}
