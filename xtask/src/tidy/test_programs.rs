//! Tests that are linked into one program with others.

use crate::{Complaint, Tree, TreeFile};

/// The file that names the tests of a crate which has one program for all of them.
const ROOT: &str = "/tests/all.rs";

/// A file beside `tests/all.rs` that it does not name is compiled by nobody, and its tests pass
/// for ever.
#[must_use]
pub fn check_test_programs(tree: &Tree) -> Vec<Complaint> {
    let roots: Vec<&TreeFile> = tree.rust().filter(|file| file.path.ends_with(ROOT)).collect();
    let mut complaints = Vec::new();
    for root in roots {
        let folder = root.path.trim_end_matches("all.rs");
        for file in tree.rust().filter(|file| file.path != root.path) {
            let Some(name) = file.path.strip_prefix(folder).and_then(|n| n.strip_suffix(".rs"))
            else {
                continue;
            };
            if !name.contains('/') && !is_named(root, name) {
                let text = format!("no test of this file runs; add `mod {name};` to {}", root.path);
                complaints.push(file.complain(1, text));
            }
        }
    }
    complaints
}

fn is_named(root: &TreeFile, name: &str) -> bool {
    let code = root.code();
    code.windows(3).any(|three| three[0].is("mod") && three[1].is(name) && three[2].is(";"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn a_file_that_the_program_does_not_name_is_reported() {
        let files = [
            ("crates/a/tests/all.rs", "mod turns;\n"),
            ("crates/a/tests/turns.rs", ""),
            ("crates/a/tests/forgotten.rs", ""),
            ("crates/a/tests/support/mod.rs", ""),
            ("crates/b/tests/forgotten.rs", ""),
        ];
        let found = said(check_test_programs, &files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/a/tests/forgotten.rs:1"), "{found:?}");
    }
}
