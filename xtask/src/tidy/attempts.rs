//! The page of attempts names an existing test for every attack that once succeeded.

use crate::{Complaint, Tree};
use regex_lite::Regex;

const PAGE: &str = "docs/attempts.md";

/// The attempts that once succeeded.
const FOUND: [&str; 60] = [
    "S83", "S56", "S59", "S60", "S57", "S58", "X01", "X02", "X03", "X04", "S61", "S63", "S65",
    "S66", "S86", "S69", "S70", "S84", "F10", "F11", "P01", "P02", "P03", "F01", "F02", "S55",
    "S81", "E71", "E72", "S44", "F07b", "A15", "A16", "A17", "A18", "A19", "A22", "A24", "A29",
    "A30", "A32", "A34", "L09", "L10", "L19", "L20", "P10", "P11", "P12", "P17", "P18", "P19",
    "P20", "M07", "M08", "S79", "S48", "S49", "K23", "K14",
];

/// Every attempt has a line, and every test that the page names exists.
#[must_use]
pub fn check_attempts(tree: &Tree) -> Vec<Complaint> {
    let Some(page) = tree.file(PAGE) else { return super::without_page(tree, PAGE) };
    let name = Regex::new("`([a-z0-9]+(?:_[a-z0-9]+){2,})`").expect("valid");
    let functions = super::named_tests::functions(tree);
    let (mut complaints, mut listed) = (Vec::new(), Vec::new());
    for (line, text) in (1..).zip(page.text.lines()).filter(|(_, text)| text.starts_with("| ")) {
        let mut has_test = false;
        for found in name.captures_iter(text) {
            let test = found.get(1).map_or("", |name| name.as_str());
            has_test = true;
            if !functions.contains(test) {
                let text = format!("there is no test `{test}`; fix the name or write it");
                complaints.push(page.complain(line, text));
            }
        }
        let ids = text.split('|').nth(1).unwrap_or_default().split(',').map(str::trim);
        listed.extend(ids.filter(|_| has_test));
    }
    let missing = FOUND.iter().filter(|id| !listed.contains(*id));
    complaints.extend(
        missing.map(|id| page.complain(1, format!("{id} has no line with a test; add it"))),
    );
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    fn complaints(page: &str) -> Vec<String> {
        said(check_attempts, &[(PAGE, page), ("crates/a/tests/b.rs", "fn it_is_held() {}\n")])
    }

    #[test]
    fn an_attempt_without_a_test_and_a_test_that_is_not_there_are_complained_about() {
        let line = |ids: &str, test: &str| format!("| {ids} | what | `{test}` |\n");
        let all = FOUND.join(", ");
        assert_eq!(complaints(&line(&all, "it_is_held")), Vec::<String>::new());
        assert_eq!(
            complaints(&line(&all.replace("S83, ", ""), "it_is_held")),
            ["docs/attempts.md:1: S83 has no line with a test; add it"]
        );
        assert_eq!(
            complaints(&line(&all, "it_was_held")),
            ["docs/attempts.md:1: there is no test `it_was_held`; fix the name or write it"]
        );
    }
}
