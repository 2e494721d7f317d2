//! Names that say nothing, and words that the project does not use.

use crate::{Complaint, TokenKind, Tree, TreeFile};

/// A module with such a name attracts unrelated code.
const VAGUE_NAMES: [&str; 8] =
    ["common", "core", "helper", "helpers", "manager", "misc", "util", "utils"];

/// One thing, one word: what to say instead.
const WORDS: [(&str, &str); 3] = [("hydrate", "fold"), ("llm", "model"), ("workflow", "run")];

/// Crates, modules and files are named after what they hold; identifiers use the project's words.
#[must_use]
pub fn check_names(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in tree.rust() {
        complaints.extend(check_path(file));
        complaints.extend(check_identifiers(file));
    }
    complaints
}

fn check_path(file: &TreeFile) -> Option<Complaint> {
    let path = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let bad =
        path.split('/').find(|part| part.split(['_', '-']).any(|w| VAGUE_NAMES.contains(&w)))?;
    let text = format!("`{bad}` names nothing; name it after what it holds, or put it by its user");
    Some(file.complain(1, text))
}

fn check_identifiers(file: &TreeFile) -> Vec<Complaint> {
    let code = file.code();
    let mut complaints = Vec::new();
    for (at, token) in code.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word) {
        let words = words_of(&token.text);
        if let Some((bad, good)) = WORDS.iter().find(|(bad, _)| words.iter().any(|w| w == bad)) {
            let text = format!("`{}` says {bad}; the word is {good}", token.text);
            complaints.push(file.complain(token.line, text));
        }
        let is_module = at > 0 && code[at - 1].is("mod");
        if is_module && words.iter().any(|word| VAGUE_NAMES.contains(&word.as_str())) {
            let text = format!("module `{}` names nothing", token.text);
            complaints.push(file.complain(token.line, text + "; name it after what it holds"));
        }
    }
    complaints
}

/// `LlmClient`, `llm_client` and `LLM_CLIENT` are the same two words; `LLMClient` too.
fn words_of(identifier: &str) -> Vec<String> {
    let chars: Vec<char> = identifier.chars().collect();
    let mut words = vec![String::new()];
    for (at, c) in chars.iter().enumerate() {
        let after_lower = at > 0 && !chars[at - 1].is_uppercase();
        let before_lower = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        if *c == '_' || c.is_uppercase() && (after_lower || before_lower) {
            words.push(String::new());
        }
        if *c != '_' {
            words.last_mut().expect("starts with one").extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn names_that_say_what_they_hold_are_fine() {
        let text = "// The llm's workflow.\nmod transcript;\nfn fold(model: Model) { \"llm\"; }\n\
                    use core::fmt;\nfn rehydrated() {}\n";
        let found = said(check_names, &[("crates/loops/src/lib.rs", text)]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn vague_names_are_complained_about() {
        let bad = [
            "crates/core/src/lib.rs",
            "crates/loops/src/utils.rs",
            "crates/loops/src/path_helpers.rs",
            "crates/loops/tests/common/mod.rs",
        ];
        for path in bad {
            assert_eq!(said(check_names, &[(path, "")]).len(), 1, "{path}");
        }
        let text = "fn a() {}\nmod misc {}\n";
        assert_eq!(
            said(check_names, &[("crates/loops/src/lib.rs", text)]),
            ["crates/loops/src/lib.rs:2: module `misc` names nothing; name it after what it holds"]
        );
    }

    #[test]
    fn words_that_the_project_does_not_use_are_complained_about() {
        for name in ["llm", "LlmClient", "LLMClient", "call_llm", "Workflow", "hydrate_run"] {
            let text = format!("fn f() {{ let x = {name}; }}\n");
            assert_eq!(said(check_names, &[("crates/a/src/b.rs", &text)]).len(), 1, "{name}");
        }
    }
}
