//! The files of the repository, as values.

use crate::lex::{RustToken, TokenKind, lex};
use anyhow::{Context, Result, ensure};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

/// A violation of a check, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    /// Where, relative to the root of the repository.
    pub path: String,
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong; then, after a semicolon, what to do.
    pub text: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// All text files of the repository, read once.
#[derive(Debug, Default)]
pub struct Tree {
    files: Vec<TreeFile>,
}

impl Tree {
    /// Reads every file that git tracks or would track. Files that are not UTF-8 are left out.
    ///
    /// # Errors
    /// If git cannot list the files, or one of them cannot be read.
    pub fn read(root: &Path) -> Result<Self> {
        // A checkout may belong to another user, as in a container; git refuses that by default.
        let listed = Command::new("git")
            .args(["-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"])
            .current_dir(root)
            .output()
            .context("git is not there; install it")?;
        ensure!(listed.status.success(), "git ls-files: {}", listed.stderr.escape_ascii());
        let mut files = Vec::new();
        for path in String::from_utf8(listed.stdout)?.split_terminator('\0') {
            let full = root.join(path);
            if !full.is_file() {
                continue; // Deleted but still in the index, or a link to a folder.
            }
            let bytes = std::fs::read(&full).with_context(|| format!("reading {path}"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(TreeFile::new(path, &text));
            }
        }
        Ok(Self { files })
    }

    /// A tree out of (path, text) pairs, for tests.
    #[must_use]
    pub fn made_of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(path, text)| TreeFile::new(path, text)).collect() }
    }

    /// Every file.
    pub fn files(&self) -> impl Iterator<Item = &TreeFile> {
        self.files.iter()
    }

    /// Every Rust file that is compiled; `testdata` is not.
    pub fn rust(&self) -> impl Iterator<Item = &TreeFile> {
        self.files().filter(|file| file.is_rust())
    }

    /// The file at exactly this path.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&TreeFile> {
        self.files().find(|file| file.path == path)
    }
}

/// One file, and for Rust its tokens.
#[derive(Debug)]
pub struct TreeFile {
    /// Relative to the root, with forward slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Comments included; empty if this is not Rust.
    pub tokens: Vec<RustToken>,
    test_regions: Vec<RangeInclusive<usize>>,
}

impl TreeFile {
    fn new(path: &str, text: &str) -> Self {
        let mut file = Self {
            path: path.to_owned(),
            text: text.to_owned(),
            tokens: Vec::new(),
            test_regions: Vec::new(),
        };
        if file.is_rust() {
            file.tokens = lex(text);
            file.test_regions = test_regions(&file.tokens);
        }
        file
    }

    /// A complaint about this file.
    #[must_use]
    pub fn complain(&self, line: usize, text: impl Into<String>) -> Complaint {
        Complaint { path: self.path.clone(), line, text: text.into() }
    }

    /// Whether rustc compiles this file.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && !self.is_in("testdata")
    }

    /// Whether one of the folders above the file has this name.
    #[must_use]
    pub fn is_in(&self, folder: &str) -> bool {
        let mut parts = self.path.split('/').rev();
        parts.next();
        parts.any(|part| part == folder)
    }

    /// The file's name without folders and extension.
    #[must_use]
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }

    /// Whether the whole file is for tests, benchmarks or examples.
    #[must_use]
    pub fn is_test(&self) -> bool {
        let folders = ["tests", "benches", "examples", "testdata"];
        folders.iter().any(|folder| self.is_in(folder))
            || self.stem() == "tests"
            || self.stem().ends_with("_tests")
    }

    /// Whether this line is test code, here or because the whole file is.
    #[must_use]
    pub fn is_test_line(&self, line: usize) -> bool {
        self.is_test() || self.test_regions.iter().any(|region| region.contains(&line))
    }

    /// How many lines the file has without its `#[cfg(test)]` items.
    #[must_use]
    pub fn lines_without_tests(&self) -> usize {
        let in_test = |n: &usize| self.test_regions.iter().any(|region| region.contains(n));
        (1..=self.text.lines().count()).filter(|n| !in_test(n)).count()
    }

    /// The tokens without comments.
    #[must_use]
    pub fn code(&self) -> Vec<&RustToken> {
        self.tokens.iter().filter(|token| token.kind != TokenKind::Comment).collect()
    }
}

/// The lines of each `#[cfg(test)]` item, from its attribute to its closing brace or semicolon.
fn test_regions(tokens: &[RustToken]) -> Vec<RangeInclusive<usize>> {
    let code: Vec<&RustToken> =
        tokens.iter().filter(|token| token.kind != TokenKind::Comment).collect();
    let mut regions: Vec<RangeInclusive<usize>> = Vec::new();
    for at in 0..code.len() {
        let starts = ["#", "[", "cfg", "(", "test", ")", "]"];
        let found = starts.iter().enumerate().all(|(n, want)| {
            code.get(at + n).is_some_and(|token| token.is_code() && token.text == *want)
        });
        if found {
            let last = end_of_item(&code[at + starts.len()..]).unwrap_or(code[at].line);
            regions.push(code[at].line..=last);
        }
    }
    regions
}

fn end_of_item(code: &[&RustToken]) -> Option<usize> {
    let mut depth = 0_usize;
    for token in code.iter().filter(|token| token.kind == TokenKind::Punct) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token.text == "}" {
                    return Some(token.line);
                }
            }
            ";" if depth == 0 => return Some(token.line),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_code_is_told_from_the_rest() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let tree = Tree::made_of(&[("crates/x/src/lib.rs", text), ("crates/x/tests/y.rs", text)]);
        let [lib, test] = [&tree.files[0], &tree.files[1]];
        let found: Vec<bool> = (1..=6).map(|line| lib.is_test_line(line)).collect();
        assert_eq!(found, [false, true, true, true, true, false]);
        assert_eq!(lib.lines_without_tests(), 2);
        assert!(test.is_test_line(1));
    }

    #[test]
    fn a_complaint_names_path_and_line() {
        let tree = Tree::made_of(&[("a/b.rs", "")]);
        let complaint = tree.files[0].complain(7, "too long; cut it");
        assert_eq!(complaint.to_string(), "a/b.rs:7: too long; cut it");
    }
}
