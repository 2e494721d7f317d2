//! Folders that commands may read beside the workspace, without what belongs to the program itself.
//!
//! ```text
//!   home  with  home/.local/share/everloop   ──►   home/bin  home/.cargo  …
//! ```
//!
//! A folder that holds something of ours is shown by its other entries. So this works with
//! every kind of sandbox: what is not named is not seen.

use crate::protected::real;
use std::fs;
use std::path::{Path, PathBuf};

/// Entries of one folder that are named in its place; one with more is not shown.
const ENTRIES_MAX: usize = 1_000;

/// What may be read of these folders.
pub(crate) fn without_own(folders: &[PathBuf], own: &[PathBuf]) -> Vec<PathBuf> {
    let own: Vec<PathBuf> = own.iter().map(|path| real(path)).collect();
    let mut shown = Vec::new();
    for folder in folders {
        add(folder, &own, &mut shown);
    }
    shown
}

fn add(path: &Path, own: &[PathBuf], shown: &mut Vec<PathBuf>) {
    let there = real(path);
    if own.iter().any(|own| there.starts_with(own)) {
        return;
    }
    if !own.iter().any(|own| own.starts_with(&there)) {
        return shown.push(path.to_owned());
    }
    let entries: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    if entries.len() <= ENTRIES_MAX {
        entries.iter().for_each(|entry| add(entry, own, shown));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_holds_something_of_ours_is_shown_without_it() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["tools/bin", "share/everloop/secrets", "share/other"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        fs::write(path("file"), "").unwrap();
        std::os::unix::fs::symlink(path("share/everloop"), path("link")).unwrap();
        let own = [path("share/everloop"), path("missing")];
        let mut shown = without_own(&[path("")], &own);
        shown.sort();
        assert_eq!(shown, [path("file"), path("share/other"), path("tools")]);
        assert_eq!(without_own(&[path("tools")], &own), [path("tools")]);
        for ours in ["share/everloop", "share/everloop/secrets", "link"] {
            assert_eq!(without_own(&[path(ours)], &own), Vec::<PathBuf>::new(), "{ours}");
        }
    }
}
