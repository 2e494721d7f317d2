//! The page of faults names existing tests for every row, and no fault test is left out.

use crate::{Complaint, Tree, TreeFile};
use regex_lite::Regex;
use std::collections::BTreeSet;

const PAGE: &str = "docs/fault-matrix.md";

/// Rows of the page that must have a test. The features of the other rows do not exist yet.
const ROWS: [u32; 27] = [
    1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 24, 25, 26, 27, 30,
    31,
];

/// Every row has its line and its own test; every test that it names exists; and every test that
/// is named after a row is on the page.
#[must_use]
pub fn check_fault_matrix(tree: &Tree) -> Vec<Complaint> {
    let Some(page) = tree.file(PAGE) else { return super::without_page(tree, PAGE) };
    let tests = tests(tree);
    let name = Regex::new("`(row_[0-9]{2}_[a-z0-9_]+)`").expect("valid");
    let (mut complaints, mut named) = (Vec::new(), BTreeSet::new());
    for (line, text) in (1..).zip(page.text.lines()) {
        for found in name.captures_iter(text) {
            let test = found.get(1).map_or("", |name| name.as_str());
            if !tests.contains(test) {
                let text = format!("there is no test `{test}`; fix the name or write it");
                complaints.push(page.complain(line, text));
            }
            named.insert(test);
        }
    }
    let missing = ROWS.iter().filter(|row| !has_row(page, **row));
    complaints.extend(missing.map(|row| {
        page.complain(1, format!("row {row} has no line with a test `row_{row:02}_…`; add it"))
    }));
    let unnamed = tests.iter().filter(|test| !named.contains(*test));
    complaints
        .extend(unnamed.map(|test| page.complain(1, format!("`{test}` is not on it; add it"))));
    complaints
}

fn has_row(page: &TreeFile, row: u32) -> bool {
    let (begins, test) = (format!("| {row} |"), format!("`row_{row:02}_"));
    page.text.lines().any(|line| line.starts_with(&begins) && line.contains(&test))
}

/// Functions that are named after a row.
fn tests(tree: &Tree) -> BTreeSet<&str> {
    let name = Regex::new("^row_[0-9]{2}_").expect("valid");
    let mut names = BTreeSet::new();
    for file in tree.rust() {
        for pair in file.code().windows(2) {
            if pair[0].is("fn") && name.is_match(&pair[1].text) {
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

    /// A page and tests with one line and one test for every row.
    fn whole() -> (String, String) {
        let line = |row: &u32| format!("| {row} | fault | expected | `row_{row:02}_holds` |\n");
        let test = |row: &u32| format!("fn row_{row:02}_holds() {{}}\n");
        (ROWS.iter().map(line).collect(), ROWS.iter().map(test).collect())
    }

    fn complaints(page: &str, tests: &str) -> Vec<String> {
        said(check_fault_matrix, &[(PAGE, page), ("crates/a/tests/b.rs", tests)])
    }

    #[test]
    fn a_page_with_every_row_is_fine() {
        let (page, tests) = whole();
        assert_eq!(complaints(&page, &tests), Vec::<String>::new());
    }

    #[test]
    fn a_row_that_is_missing_and_a_test_that_was_renamed_are_complained_about() {
        let (page, tests) = whole();
        let renamed = tests.replace("row_31_holds", "row_31_held");
        assert_eq!(
            complaints(&page, &renamed),
            [
                "docs/fault-matrix.md:27: there is no test `row_31_holds`; \
                 fix the name or write it",
                "docs/fault-matrix.md:1: `row_31_held` is not on it; add it"
            ]
        );
        let without = page.replace("| 4 |", "| 3 |");
        assert_eq!(
            complaints(&without, &tests),
            ["docs/fault-matrix.md:1: row 4 has no line with a test `row_04_…`; add it"]
        );
    }
}
