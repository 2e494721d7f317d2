//! Where version control keeps its own files in a workspace.
//!
//! What is found is shut as a whole: hooks and settings lie in it, and a single file of it can lead
//! git to others elsewhere (`commondir`).
//!
//! Deliberately absent: repositories that a command makes below the top. Whoever works in one
//! trusts it.

use crate::protected::VERSION_CONTROL;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders that are looked at: a wide workspace must not make each command slow.
const ENTRIES_MAX: usize = 20_000;

/// Repositories that are shut: each costs some mounts.
const FOUND_MAX: usize = 100;

/// Bytes of a file that leads to a repository.
const LEAD_BYTES_MAX: usize = 4_096;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Repositories {
    /// Folders, and files that lead to one; those nearer to the top first.
    pub(crate) found: Vec<PathBuf>,
    /// A link in such a place. No mount holds a link, so it could be put aside for something else.
    pub(crate) link: Option<PathBuf>,
    /// Whether not everything was looked at.
    pub(crate) is_cut: bool,
}

/// Looks for them, from the top down.
pub(crate) fn find(workspace: &Path) -> Repositories {
    let mut all = Repositories::default();
    let mut folders = VecDeque::from([workspace.to_owned()]);
    let mut left = ENTRIES_MAX;
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if left == 0 || all.found.len() >= FOUND_MAX {
                all.is_cut = true;
                return all;
            }
            left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            let is_own = VERSION_CONTROL.iter().any(|own| name.eq_ignore_ascii_case(own));
            match (is_own, kind.is_symlink(), kind.is_dir()) {
                (true, true, _) => all.link = all.link.or(Some(entry.path())),
                (true, false, _) => {
                    let path = entry.path();
                    all.found.extend(led_to(&path, workspace));
                    all.found.push(path);
                }
                (false, _, true) => folders.push_back(entry.path()),
                (false, ..) => {}
            }
        }
    }
    all
}

/// The folders in the workspace that a file instead of a folder leads to.
fn led_to(file: &Path, workspace: &Path) -> Vec<PathBuf> {
    let lead = |file: &Path| {
        let bytes = fs::read(file).ok().filter(|bytes| bytes.len() <= LEAD_BYTES_MAX)?;
        let text = String::from_utf8(bytes).ok()?;
        let text = text.trim_end_matches(['\n', '\r']);
        let path = text.strip_prefix("gitdir:").map_or(text, str::trim_start);
        file.parent()?.join(path).canonicalize().ok()
    };
    if !file.is_file() {
        return Vec::new();
    }
    let folder = lead(file);
    let common = folder.as_ref().and_then(|folder| lead(&folder.join("commondir")));
    let inside = |path: &PathBuf| path.starts_with(workspace) && path != workspace;
    folder.into_iter().chain(common).filter(inside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> (tempfile::TempDir, PathBuf) {
        let outer = tempfile::TempDir::new().unwrap();
        let root = outer.path().canonicalize().unwrap();
        (outer, root)
    }

    #[test]
    fn every_repository_is_found_and_what_a_file_leads_to() {
        let (_outer, root) = workspace();
        for folder in [".git/modules/x/.git", "a/b/.hg", "store/objects", "work"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("work/.git"), "gitdir: ../store\n").unwrap();
        std::os::unix::fs::symlink("/", root.join("up")).unwrap();
        let mut found = find(&root);
        found.found.sort();
        let names = [".git", "a/b/.hg", "store", "work/.git"];
        let expected = names.map(|name| root.join(name)).to_vec();
        assert_eq!(found, Repositories { found: expected, link: None, is_cut: false });
    }

    #[test]
    fn a_link_is_told_and_so_is_the_end_of_the_look() {
        let (_outer, root) = workspace();
        fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink("..", root.join("a/.git")).unwrap();
        assert_eq!(find(&root).link, Some(root.join("a/.git")));
        for number in 0..=FOUND_MAX {
            fs::create_dir_all(root.join(format!("many/{number}/.git"))).unwrap();
        }
        let found = find(&root);
        assert!(found.is_cut && found.found.len() == FOUND_MAX);
    }
}
