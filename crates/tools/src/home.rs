//! The home of the account, if a workspace contains it or its start-up files link into a workspace.
//!
//! Shells, desktops and tools run or read files there whose names begin with a dot, more of them
//! than a list could hold. So all of these names count, except for a few that are known to be
//! ordinary.
//!
//! Deliberately absent: homes of other accounts, which are closed to us or their own concern.

use crate::protected::VERSION_CONTROL;
use everloop_types::is_listed;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Names with a dot that no program runs or trusts because they are in a home.
const ORDINARY: [&str; 19] = [
    ".coverage",
    ".directory",
    ".ds_store",
    ".editorconfig",
    ".env",
    ".eslintcache",
    ".gitignore",
    ".gitkeep",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".prettierignore",
    ".pytest_cache",
    ".ruff_cache",
    ".terraform",
    ".tox",
    ".trash",
    ".venv",
    ".wget-hsts",
];

/// Files and folders of a home that are looked through for links.
const LINKS_MAX: usize = 3_000;

/// Large folders of a home without start-up files.
const STORES: [&str; 8] =
    [".cache", ".cargo/registry", ".gradle", ".local/share", ".m2", ".mozilla", ".npm", ".rustup"];

/// Names without a dot whose programs shells and desktops find or start by themselves.
const RUN: [&str; 3] = ["bin", "Desktop", "Library"];

/// The home of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccountHome {
    /// Without links.
    folder: PathBuf,
    /// Where settings and start-up files lie, if elsewhere than in the home.
    settings: Vec<PathBuf>,
}

/// Variables that name a folder of settings.
const SETTINGS_VARIABLES: [&str; 3] = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR"];

impl AccountHome {
    /// The one of this account, by its variables.
    pub(crate) fn of_account() -> Option<Self> {
        let named = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute()).and_then(|path| path.canonicalize().ok())
        };
        let folder = named("HOME").filter(|home| home.parent().is_some())?;
        let settings = SETTINGS_VARIABLES.iter().filter_map(|name| named(name));
        let settings = settings.filter(|path| !path.starts_with(&folder)).collect();
        Some(Self { folder, settings })
    }

    /// Whether other programs would run or trust a path, given without links, because of this home.
    pub(crate) fn is_trusted(&self, workspace: &Path, place: &Path) -> bool {
        self.is_start_up_file(workspace, place)
            || self.is_around(workspace) && self.is_settings(place)
            || self.link_targets_in(workspace).iter().any(|p| place.starts_with(p))
    }

    /// Whether it is a start-up file of a home that the workspace contains.
    fn is_start_up_file(&self, workspace: &Path, place: &Path) -> bool {
        let holds = |folder: &&PathBuf| folder.starts_with(workspace);
        let in_settings = self.settings.iter().filter(holds).any(|folder| {
            let below = place.strip_prefix(folder).ok();
            let name = below.and_then(|below| below.iter().next());
            // A whole workspace of settings is a home like any other.
            below.is_some() && (folder != workspace || name.is_some_and(is_start_up_name))
        });
        let below = Some(&self.folder).filter(holds).and_then(|home| place.strip_prefix(home).ok());
        in_settings || below.and_then(|below| below.iter().next()).is_some_and(is_start_up_name)
    }

    /// Whether a workspace lies in the home, and is not the home.
    fn is_around(&self, workspace: &Path) -> bool {
        workspace.starts_with(&self.folder) && *workspace != self.folder
    }

    /// Whether it is known by its path in the home: the workspace may lie among settings.
    fn is_settings(&self, place: &Path) -> bool {
        let in_home = place.strip_prefix(&self.folder).ok();
        in_home.is_some_and(|path| is_listed(&path.to_string_lossy()))
    }

    /// The start-up files in a workspace, which commands can only read.
    pub(crate) fn start_up_files(&self, workspace: &Path) -> Vec<PathBuf> {
        let own = self.folder.starts_with(workspace).then(|| names(&self.folder));
        let own =
            own.into_iter().flatten().filter(|path| path.file_name().is_some_and(is_start_up_name));
        let settings = self.settings.iter().filter(|path| path.starts_with(workspace)).cloned();
        let (all, settings): (Vec<_>, Vec<_>) = settings.partition(|path| path == workspace);
        let all = all.iter().flat_map(|folder| names(folder));
        let all = all.filter(|path| path.file_name().is_some_and(is_start_up_name));
        let inner = Some(workspace).filter(|folder| self.is_around(folder));
        let inner = inner.into_iter().flat_map(names).filter(|path| self.is_settings(path));
        own.chain(all).chain(inner).chain(settings).chain(self.link_targets_in(workspace)).collect()
    }

    /// Targets in a workspace of links in the home: some people keep their start-up files in a
    /// repository.
    fn link_targets_in(&self, workspace: &Path) -> Vec<PathBuf> {
        if self.folder.starts_with(workspace) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (link, goal) in self.links() {
            if goal == workspace {
                // By the path that each has in the home then.
                let in_home = |path: &PathBuf| path.file_name().map(|name| link.join(name));
                let is_known = |path: &PathBuf| in_home(path).is_some_and(|p| self.is_settings(&p));
                found.extend(names(workspace).into_iter().filter(is_known));
            } else if goal.starts_with(workspace) {
                found.push(goal);
            }
        }
        found
    }

    /// The links among the start-up files of the home at any depth, and their targets.
    fn links(&self) -> Vec<(PathBuf, PathBuf)> {
        let home = names(&self.folder).into_iter();
        let mut paths: VecDeque<PathBuf> =
            home.filter(|path| path.file_name().is_some_and(is_start_up_name)).collect();
        let (mut goals, mut left) = (Vec::new(), LINKS_MAX);
        while let Some(path) = paths.pop_front().filter(|_| left > 0) {
            left -= 1;
            let Ok(found) = fs::symlink_metadata(&path) else { continue };
            if found.is_symlink() {
                let goal = path.canonicalize().ok();
                goals.extend(goal.map(|goal| (path, goal)));
            } else if found.is_dir() && !STORES.iter().any(|store| path.ends_with(store)) {
                paths.extend(names(&path));
            }
        }
        goals
    }
}

/// The account's home, without links.
pub(crate) fn folder() -> Option<PathBuf> {
    AccountHome::of_account().map(|home| home.folder)
}

/// Whether a folder is the account's home, or the home lies in it.
#[must_use]
pub fn holds_home(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    AccountHome::of_account().is_some_and(|home| home.folder.starts_with(folder))
}

/// Whether a path in a workspace is a start-up file: read-only for commands, and asked about.
pub(crate) fn is_start_up_file(workspace: &Path, place: &Path) -> bool {
    AccountHome::of_account().is_some_and(|home| home.is_start_up_file(workspace, place))
}

fn is_start_up_name(name: &OsStr) -> bool {
    let is = |known: &&str| name.eq_ignore_ascii_case(known);
    let has_dot = name.as_encoded_bytes().starts_with(b".");
    let is_ordinary = ORDINARY.iter().chain(&VERSION_CONTROL).any(&is);
    RUN.iter().any(is) || has_dot && !is_ordinary
}

/// The paths in a folder, links included.
fn names(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn home() -> (tempfile::TempDir, AccountHome) {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().canonicalize().unwrap().join("me");
        fs::create_dir_all(folder.join("work/shell")).unwrap();
        fs::create_dir(folder.join(".config")).unwrap();
        (temp, AccountHome { folder, settings: Vec::new() })
    }

    #[test]
    fn in_a_home_whatever_begins_with_a_dot_is_obeyed_but_for_what_is_ordinary() {
        let (_temp, home) = home();
        let root = home.folder.clone();
        for (name, is_trusted) in [
            (".zshenv", true),
            (".Bash_Aliases", true),
            (".config/autostart/x.desktop", true),
            (".local/bin/ls", true),
            (".unheard-of", true),
            ("bin/ls", true),
            (".venv/bin/python", false),
            ("notes/.zshenv", false),
            ("notes.txt", false),
        ] {
            assert_eq!(home.is_trusted(&root, &root.join(name)), is_trusted, "{name}");
            assert_eq!(
                home.is_trusted(root.parent().unwrap(), &root.join(name)),
                is_trusted,
                "{name}"
            );
            let project = root.join(".config/nvim");
            let is_listed = is_listed(&format!(".config/nvim/{name}"));
            assert_eq!(home.is_trusted(&project, &project.join(name)), is_listed, "{name}");
        }
        fs::write(root.join(".zshenv"), "").unwrap();
        let mut shut = home.start_up_files(&root);
        shut.sort();
        assert_eq!(shut, [root.join(".config"), root.join(".zshenv")]);
    }

    #[test]
    fn what_a_start_up_file_leads_to_is_obeyed_where_it_lies() {
        let (_temp, home) = home();
        let work = home.folder.join("work");
        fs::write(work.join("shell/rc"), "").unwrap();
        symlink("work/shell/rc", home.folder.join(".bashrc")).unwrap();
        symlink("../work/shell", home.folder.join(".config/fish")).unwrap();
        symlink(&work, home.folder.join(".here")).unwrap();
        fs::create_dir(work.join("git")).unwrap();
        assert!(home.is_trusted(&work, &work.join("shell/rc")));
        assert!(home.is_trusted(&work, &work.join("shell/new")));
        assert!(!home.is_trusted(&work, &work.join("other")));
        assert_eq!(home.start_up_files(&work).len(), 2);
        fs::rename(home.folder.join(".config"), home.folder.join("old")).unwrap();
        symlink(&work, home.folder.join(".config")).unwrap();
        assert!(home.is_trusted(&work, &work.join("git/config")), "it is .config/git/config");
    }
}
