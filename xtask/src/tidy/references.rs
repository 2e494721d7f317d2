//! Whatever a page or a comment refers to exists in the repository.

use crate::{Complaint, Tree, TreeFile};
use regex_lite::Regex;
use std::collections::BTreeSet;

/// The page that explains every requirement that is cited by its number.
const REQUIREMENTS: &str = "docs/requirements.md";

/// How numbers of requirements begin.
const PREFIXES: [&str; 5] = ["PR-", "DR-", "RA-", "PET-", "TD-"];

/// Relative links of pages lead to files, and numbers of requirements are explained.
#[must_use]
pub fn check_references(tree: &Tree) -> Vec<Complaint> {
    let pages = tree.files().filter(|file| file.path.ends_with(".md"));
    let mut complaints: Vec<Complaint> = pages.flat_map(|page| check_links(tree, page)).collect();
    complaints.extend(check_requirements(tree));
    complaints
}

fn check_links(tree: &Tree, page: &TreeFile) -> Vec<Complaint> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("valid");
    let mut complaints = Vec::new();
    let mut in_fence = false;
    for (at, line) in page.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        }
        if in_fence {
            continue;
        }
        for found in link.captures_iter(line) {
            let target = found[1].split('#').next().unwrap_or_default();
            let is_here = target.is_empty() || target.contains("://");
            let path = resolve(&page.path, target);
            if !is_here && !exists(tree, &path) {
                let text = format!("the link leads to {path}, which is not there; correct it");
                complaints.push(page.complain(at + 1, text));
            }
        }
    }
    complaints
}

/// The path of `target` as seen from the folder of `page`, relative to the root.
fn resolve(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Whether there is such a file, or a folder with files.
fn exists(tree: &Tree, path: &str) -> bool {
    let folder = format!("{path}/");
    tree.files().any(|file| file.path == path || file.path.starts_with(&folder))
}

fn check_requirements(tree: &Tree) -> Vec<Complaint> {
    let number = Regex::new(r"\b(PR|DR|RA|PET|TD)-[0-9]+\b").expect("valid");
    let explained: BTreeSet<&str> = tree
        .file(REQUIREMENTS)
        .map(|page| number.find_iter(&page.text).map(|found| found.as_str()).collect())
        .unwrap_or_default();
    let mut complaints = Vec::new();
    for file in tree.files().filter(|file| file.is_rust() || file.path.ends_with(".md")) {
        let cites = |line: &str| PREFIXES.iter().any(|prefix| line.contains(prefix));
        for (at, line) in file.text.lines().enumerate().filter(|(_, line)| cites(line)) {
            let unknown = number.find_iter(line).filter(|n| !explained.contains(n.as_str()));
            complaints.extend(unknown.map(|found| {
                let text = format!("{} is not in {REQUIREMENTS}; explain it there", found.as_str());
                file.complain(at + 1, text)
            }));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn a_link_leads_to_a_file_or_a_folder_of_the_repository() {
        let page =
            ("docs/a.md", "[b](b.md#part) [up](../README.md) [all](adr/) [web](https://x.y)\n");
        let others = [page, ("docs/b.md", ""), ("README.md", ""), ("docs/adr/1.md", "")];
        assert_eq!(said(check_references, &others), Vec::<String>::new());
        let alone = said(check_references, &[("docs/a.md", "x\n[b](b.md)\n```\n[c](c.md)\n```\n")]);
        let want = "docs/a.md:2: the link leads to docs/b.md, which is not there; correct it";
        assert_eq!(alone, [want]);
    }

    #[test]
    fn a_number_of_a_requirement_is_explained() {
        let code = ("crates/x/src/a.rs", "//! As PR-8 says.\n");
        let page = (REQUIREMENTS, "| PR-8 | it is asked for again |\n");
        assert_eq!(said(check_references, &[code, page]), Vec::<String>::new());
        let want = "crates/x/src/a.rs:1: PR-8 is not in docs/requirements.md; explain it there";
        assert_eq!(said(check_references, &[code]), [want]);
    }
}
