//! Decisions have one form, pages in two languages have the same parts, and the README is short.

use crate::{Complaint, Tree, TreeFile};

const ADR_LINES_MAX: usize = 80;
/// A front page, not a manual: the manual is in `docs/`.
const README_LINES_MAX: usize = 150;
const TRANSLATED: &str = ".zh-CN.md";
const ADR_HEADINGS: [&str; 3] = ["Context", "Decision", "Consequences"];

/// An ADR has its three headings and fits on a page; a translated page has the parts of its
/// original; the READMEs exist in both languages and fit on a few screens.
#[must_use]
pub fn check_docs(tree: &Tree) -> Vec<Complaint> {
    let decisions = tree.files().filter(|file| {
        file.path.starts_with("docs/adr/") && file.path.ends_with(".md") && file.stem() != "README"
    });
    let mut complaints: Vec<Complaint> = decisions.flat_map(check_decision).collect();
    complaints.extend(tree.files().filter_map(|file| check_translation(tree, file)));
    complaints.extend(check_readmes(tree));
    complaints
}

fn check_decision(file: &TreeFile) -> Vec<Complaint> {
    let found = headings(&file.text);
    let missing = ADR_HEADINGS.iter().filter(|want| !found.iter().any(|(_, name)| name == *want));
    let mut complaints: Vec<Complaint> =
        missing.map(|want| file.complain(1, format!("no heading `{want}`; add it"))).collect();
    let lines = file.text.lines().count();
    if lines > ADR_LINES_MAX {
        let text = format!("{lines} lines, at most {ADR_LINES_MAX}; keep what decided it");
        complaints.push(file.complain(1, text));
    }
    complaints
}

/// `NAME.zh-CN.md` has as many parts as `NAME.md`.
fn check_translation(tree: &Tree, zh: &TreeFile) -> Option<Complaint> {
    let original = format!("{}.md", zh.path.strip_suffix(TRANSLATED)?);
    let Some(en) = tree.file(&original) else {
        return Some(zh.complain(1, format!("there is no {original}; write it")));
    };
    let parts = |file: &TreeFile| headings(&file.text).iter().filter(|(n, _)| *n == 2).count();
    let in_en = parts(en);
    let in_zh = parts(zh);
    (in_en != in_zh).then(|| {
        zh.complain(1, format!("{in_zh} parts, {original} has {in_en}; bring them together"))
    })
}

fn check_readmes(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let Some(en) = tree.file("README.md") else { return complaints };
    let zh = tree.file("README.zh-CN.md");
    if zh.is_none() {
        complaints.push(en.complain(1, "there is no README.zh-CN.md; write it"));
    }
    for readme in [Some(en), zh].into_iter().flatten() {
        let lines = readme.text.lines().count();
        if lines > README_LINES_MAX {
            let text = format!("{lines} lines, at most {README_LINES_MAX}; the manual is in docs/");
            complaints.push(readme.complain(1, text));
        }
    }
    complaints
}

/// Level and text of each heading outside of code fences.
fn headings(text: &str) -> Vec<(usize, &str)> {
    let mut in_fence = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        }
        let level = line.chars().take_while(|c| *c == '#').count();
        if !in_fence && level > 0 && line[level..].starts_with(' ') {
            found.push((level, line[level..].trim()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    const ADR: &str = "# 1. X\n\n## Context\n\nA.\n\n## Decision\n\nB.\n\n## Consequences\n\nC.\n";

    #[test]
    fn a_decision_with_its_headings_on_one_page_is_fine() {
        let files = [("docs/adr/0001-x.md", ADR), ("docs/adr/README.md", "# All\n")];
        assert_eq!(said(check_docs, &files), Vec::<String>::new());
    }

    #[test]
    fn a_decision_without_a_heading_or_over_a_page_is_complained_about() {
        let fenced = ADR.replace("## Decision", "```\n## Decision\n```");
        assert_eq!(
            said(check_docs, &[("docs/adr/0001-x.md", &fenced)]),
            ["docs/adr/0001-x.md:1: no heading `Decision`; add it"]
        );
        let long = ADR.to_owned() + &"More.\n".repeat(80);
        assert_eq!(said(check_docs, &[("docs/adr/0001-x.md", &long)]).len(), 1);
    }

    #[test]
    fn readmes_have_the_same_number_of_parts() {
        let en = ("README.md", "# E\n## A\n### a\n## B\n");
        let good = said(check_docs, &[en, ("README.zh-CN.md", "# E\n## 甲\n## 乙\n")]);
        assert_eq!(good, Vec::<String>::new());
        let bad = said(check_docs, &[en, ("README.zh-CN.md", "# E\n## 甲\n```\n## 乙\n```\n")]);
        assert_eq!(bad, ["README.zh-CN.md:1: 1 parts, README.md has 2; bring them together"]);
        assert_eq!(said(check_docs, &[en]).len(), 1);
    }

    #[test]
    fn a_page_is_translated_part_by_part() {
        let zh = ("docs/guide.zh-CN.md", "# 指南\n## 甲\n");
        let en = ("docs/guide.md", "# Guide\n## A\n");
        assert_eq!(said(check_docs, &[en, zh]), Vec::<String>::new());
        let alone = said(check_docs, &[zh]);
        assert_eq!(alone, ["docs/guide.zh-CN.md:1: there is no docs/guide.md; write it"]);
    }

    #[test]
    fn a_readme_is_a_front_page() {
        let long = "# E\n".to_owned() + &"More.\n".repeat(150);
        let said = said(check_docs, &[("README.md", &long), ("README.zh-CN.md", "# E\n")]);
        let want = "README.md:1: 151 lines, at most 150; the manual is in docs/";
        assert_eq!(said, [want]);
    }
}
