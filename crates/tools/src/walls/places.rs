//! Which files a command may see, and which of the workspace it may not change.

use crate::protected::START_UP;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Folders of the system that every command may read.
pub(crate) const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/gnu"];

/// The system's settings, of which only what everybody may read is shown.
pub(crate) const SETTINGS: &str = "/etc";

/// Folders below the settings that are looked into for what not everybody may read.
const DEPTH_MAX: usize = 4;

/// Names at the top of a workspace that decide what is run or believed later.
const SHUT: [&str; 11] = [
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/info",
    ".git/modules",
    ".agents",
    // What later runs and other programs take for instructions.
    "AGENTS.md",
    "CLAUDE.md",
    ".github",
    ".husky",
    ".envrc",
];

/// How a path in the workspace is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It stays where it is, but what is in it may change.
    Pinned,
    /// It can be read, and not changed.
    ReadOnly,
    /// It cannot even be read.
    Hidden,
}

/// A path in the workspace that a command may not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) how: How,
}

/// What is protected in a workspace, as far as it exists: outer paths before inner ones.
pub(crate) fn protected(workspace: &Path, own: &[PathBuf]) -> Vec<Place> {
    let mut places = Vec::new();
    let git = workspace.join(".git");
    // A folder that is not a mount of its own could be moved away, with all that is shut in it.
    match fs::symlink_metadata(&git) {
        Ok(found) if found.is_dir() => places.push(Place { path: git, how: How::Pinned }),
        Ok(found) if found.is_file() => places.push(Place { path: git, how: How::ReadOnly }),
        _ => {}
    }
    let shut = SHUT
        .iter()
        .chain(&START_UP)
        .map(|name| workspace.join(name))
        .filter(|path| is_itself(path));
    places.extend(shut.map(|path| Place { path, how: How::ReadOnly }));
    let mut hidden: Vec<PathBuf> = own
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| path.starts_with(workspace) && path != workspace)
        .collect();
    hidden.sort();
    hidden.dedup_by(|inner, outer| inner.starts_with(outer));
    places.extend(hidden.into_iter().map(|path| Place { path, how: How::Hidden }));
    places
}

/// A protected name that is a link. No mount holds a link in its place, so it could be put aside
/// for something else.
pub(crate) fn loose(workspace: &Path) -> Option<PathBuf> {
    let names = [".git", ".agents"].into_iter().chain(START_UP);
    let is_link = |path: &PathBuf| path.is_symlink();
    names.map(|name| workspace.join(name)).find(is_link)
}

/// Makes the folder of hooks in a repository without one: what is missing cannot be shut, and an
/// empty one is what git itself makes.
pub(crate) fn make_hooks_folder(workspace: &Path) {
    let git = workspace.join(".git");
    if is_itself(&git) && git.is_dir() {
        // It is there already, or cannot be made from within either.
        let _ = fs::create_dir(git.join("hooks"));
    }
}

/// Whether there is a file or folder that is no link: what a link leads to is protected, or
/// outside, by its own name.
fn is_itself(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink())
}

/// The places of the system that can be read, one by one where a part is not for everybody.
pub(crate) fn system() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    open_in(Path::new(SETTINGS), DEPTH_MAX, &mut places);
    places
}

/// Files and folders of the system's settings that not everybody may read.
pub(crate) fn private() -> Vec<PathBuf> {
    let mut places = Vec::new();
    private_in(Path::new(SETTINGS), DEPTH_MAX, &mut places);
    places
}

fn private_in(folder: &Path, depth: usize, places: &mut Vec<PathBuf>) {
    for (path, is_folder, is_private) in entries(folder) {
        if is_private {
            places.push(path);
        } else if is_folder && depth > 0 {
            private_in(&path, depth - 1, places);
        }
    }
}

fn open_in(folder: &Path, depth: usize, places: &mut Vec<PathBuf>) {
    for (path, is_folder, is_private) in entries(folder) {
        let mut within = Vec::new();
        if is_folder && depth > 0 {
            private_in(&path, depth - 1, &mut within);
        }
        match (is_private, within.is_empty()) {
            (true, _) => {}
            (false, true) => places.push(path),
            (false, false) => open_in(&path, depth - 1, places),
        }
    }
}

/// What is in a folder: its path, whether it is a folder, and whether it is not for everybody.
/// Links are passed over: what they lead to has a name of its own.
fn entries(folder: &Path) -> Vec<(PathBuf, bool, bool)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let known = entries.flatten().filter_map(|entry| {
        let found = entry.metadata().ok()?;
        let readable = if found.is_dir() { 0o005 } else { 0o004 };
        let is_private = found.permissions().mode() & readable != readable;
        (!found.is_symlink()).then(|| (entry.path(), found.is_dir(), is_private))
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_files_are_hidden_once_and_only_within_the_workspace() {
        let outer = tempfile::TempDir::new().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let workspace = outer.join("workspace");
        fs::create_dir_all(workspace.join("data/effects")).unwrap();
        fs::write(outer.join("elsewhere"), "").unwrap();
        fs::write(workspace.join("key"), "").unwrap();
        let names = ["data/effects", "data", "key", "../elsewhere", "missing", "."];
        let own = names.map(|name| workspace.join(name));
        let found = protected(&workspace, &own);
        let hidden = |name: &str| Place { path: workspace.join(name), how: How::Hidden };
        assert_eq!(found, [hidden("data"), hidden("key")]);
    }

    #[test]
    fn the_folder_of_hooks_is_shut_even_if_it_was_missing() {
        let outer = tempfile::TempDir::new().unwrap();
        let workspace = outer.path().canonicalize().unwrap();
        fs::create_dir(workspace.join(".git")).unwrap();
        fs::write(workspace.join(".git/config"), "").unwrap();
        make_hooks_folder(&workspace);
        let found = protected(&workspace, &[]);
        let place = |name: &str, how| Place { path: workspace.join(name), how };
        let expected = [
            place(".git", How::Pinned),
            place(".git/hooks", How::ReadOnly),
            place(".git/config", How::ReadOnly),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_not_everybody_may_read_is_told_from_the_rest() {
        let outer = tempfile::TempDir::new().unwrap();
        let folder = outer.path();
        fs::create_dir_all(folder.join("shown/deep")).unwrap();
        fs::create_dir(folder.join("open")).unwrap();
        for (name, mode) in [("shown/deep/key", 0o640), ("shown/list", 0o644), ("open/a", 0o644)] {
            fs::write(folder.join(name), "").unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        for name in ["shown", "shown/deep", "open"] {
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let (mut closed, mut open) = (Vec::new(), Vec::new());
        private_in(folder, 3, &mut closed);
        open_in(folder, 3, &mut open);
        open.sort();
        assert_eq!(closed, [folder.join("shown/deep/key")]);
        assert_eq!(open, [folder.join("open"), folder.join("shown/list")]);
    }
}
