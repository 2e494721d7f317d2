//! The account's home, where a workspace holds it or its start-up files lead into one.
//!
//! Shells, desktops and tools run or obey what lies there by names that begin with a dot, and by
//! more of them than a list could hold. So all of them count, but for a few that are known to be
//! ordinary.
//!
//! Deliberately absent: homes of other accounts, which are closed to us or their own concern.

use crate::protected::VERSION_CONTROL;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Names with a dot that nobody runs or obeys because they lie in a home.
const ORDINARY: [&str; 20] = [
    ".cache",
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

/// Names without a dot whose programs shells and desktops find or start by themselves.
const RUN: [&str; 3] = ["bin", "Desktop", "Library"];

/// The home of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Home {
    /// Without links.
    folder: PathBuf,
    /// Where settings lie, if elsewhere than in the home.
    settings: Option<PathBuf>,
}

impl Home {
    /// The one of this account, by its variables.
    pub(crate) fn of_account() -> Option<Self> {
        let named = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute()).and_then(|path| path.canonicalize().ok())
        };
        let folder = named("HOME").filter(|home| home.parent().is_some())?;
        let settings = named("XDG_CONFIG_HOME").filter(|path| !path.starts_with(&folder));
        Some(Self { folder, settings })
    }

    /// Whether others would run or obey a place, given without links, because of this home.
    pub(crate) fn obeys(&self, workspace: &Path, place: &Path) -> bool {
        self.is_shut(workspace, place)
            || self.led_into(workspace).iter().any(|p| place.starts_with(p))
    }

    /// Whether it is such a place in a home that the workspace holds.
    fn is_shut(&self, workspace: &Path, place: &Path) -> bool {
        let holds = |folder: &&PathBuf| folder.starts_with(workspace);
        let in_settings =
            self.settings.iter().filter(holds).any(|folder| place.starts_with(folder));
        let below = Some(&self.folder).filter(holds).and_then(|home| place.strip_prefix(home).ok());
        in_settings || below.and_then(|below| below.iter().next()).is_some_and(is_obeyed)
    }

    /// What is there of it in a workspace: commands only read it.
    pub(crate) fn shut(&self, workspace: &Path) -> Vec<PathBuf> {
        let own = self.folder.starts_with(workspace).then(|| names(&self.folder));
        let own = own.into_iter().flatten().filter(|path| path.file_name().is_some_and(is_obeyed));
        let settings = self.settings.clone().filter(|folder| folder.starts_with(workspace));
        let settings = settings.filter(|folder| folder != workspace);
        own.chain(settings).chain(self.led_into(workspace)).collect()
    }

    /// Places of a workspace that links in the home lead to, as those who keep their start-up files
    /// in a repository make them.
    fn led_into(&self, workspace: &Path) -> Vec<PathBuf> {
        if self.folder.starts_with(workspace) {
            return Vec::new();
        }
        let home =
            names(&self.folder).into_iter().filter(|path| path.file_name().is_some_and(is_obeyed));
        let links =
            home.chain(names(&self.folder.join(".config"))).filter(|path| path.is_symlink());
        let goals = links.filter_map(|link| link.canonicalize().ok());
        goals.filter(|goal| goal.starts_with(workspace) && goal != workspace).collect()
    }
}

/// Whether a folder is the account's home, or the home lies in it.
#[must_use]
pub fn holds_home(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    Home::of_account().is_some_and(|home| home.folder.starts_with(folder))
}

/// Whether a place in a workspace is shut to commands, and asked about, because of the home.
pub(crate) fn is_shut(workspace: &Path, place: &Path) -> bool {
    Home::of_account().is_some_and(|home| home.is_shut(workspace, place))
}

fn is_obeyed(name: &OsStr) -> bool {
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

    fn home() -> (tempfile::TempDir, Home) {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().canonicalize().unwrap().join("me");
        fs::create_dir_all(folder.join("work/shell")).unwrap();
        fs::create_dir(folder.join(".config")).unwrap();
        (temp, Home { folder, settings: None })
    }

    #[test]
    fn in_a_home_whatever_begins_with_a_dot_is_obeyed_but_for_what_is_ordinary() {
        let (_temp, home) = home();
        let root = home.folder.clone();
        for (name, is_obeyed) in [
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
            assert_eq!(home.obeys(&root, &root.join(name)), is_obeyed, "{name}");
            assert_eq!(home.obeys(root.parent().unwrap(), &root.join(name)), is_obeyed, "{name}");
            let project = root.join(".config/nvim");
            assert!(!home.obeys(&project, &project.join(name)), "{name}");
        }
        fs::write(root.join(".zshenv"), "").unwrap();
        let mut shut = home.shut(&root);
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
        assert!(home.obeys(&work, &work.join("shell/rc")));
        assert!(home.obeys(&work, &work.join("shell/new")));
        assert!(!home.obeys(&work, &work.join("other")));
        assert_eq!(home.shut(&work).len(), 2);
    }
}
