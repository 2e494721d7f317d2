//! Where version control keeps its own files in a workspace, and what else a walk through it finds.
//!
//! ```text
//!   names at the top ──► folders from the top down ──► what is left when the look ends: unseen
//! ```
//!
//! What is found is shut as a whole: hooks and settings lie in it, and a single file of it can lead
//! git to others elsewhere (`commondir`). Git also takes a folder of any name for a repository if
//! it looks like one. What nobody looked into is shut too, so a wide workspace hides nothing.

use crate::protected::VERSION_CONTROL;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, ReadDir};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Files and folders that are looked at before a command: some tenths of a second.
const ENTRIES_MAX: usize = 600_000;

/// Places that are shut: each costs some mounts.
const FOUND_MAX: usize = 500;

/// Folders that are shut one by one because nobody looked into them.
const UNSEEN_MAX: usize = 64;

/// Bytes of a file that leads to a repository.
const LEAD_BYTES_MAX: usize = 4_096;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Files and folders of version control by their names, those nearer to the top first.
    pub(crate) named: Vec<PathBuf>,
    /// Links with such a name.
    pub(crate) links: Vec<PathBuf>,
    /// Folders that git takes for a repository whatever they are called.
    pub(crate) bare: Vec<PathBuf>,
    /// Sockets, behind which somebody outside may listen.
    pub(crate) sockets: Vec<PathBuf>,
    /// Folders that were not looked into, or not to their end.
    pub(crate) unseen: Vec<PathBuf>,
}

/// How a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Before a command: it ends after so many entries.
    Bounded(usize),
    /// After a command: it opens what the command closed, and takes the time that it takes.
    Thorough,
}

impl Found {
    /// What lies at the top, by name alone: no number of other files is in the way.
    pub(crate) fn at_top(workspace: &Path) -> Self {
        let mut found = Self::default();
        for name in VERSION_CONTROL {
            let path = workspace.join(name);
            match fs::symlink_metadata(&path) {
                Ok(entry) if entry.is_symlink() => found.links.push(path),
                Ok(_) => found.name(path),
                Err(_) => {}
            }
        }
        found
    }

    /// What lies in a workspace, as far as it can be looked through in a moment.
    pub(crate) fn before(workspace: &Path) -> Self {
        Self::at_top(workspace).walked(workspace, &BTreeSet::new(), Mode::Bounded(ENTRIES_MAX))
    }

    /// All that lies in a workspace now, but for places that nobody could change.
    pub(crate) fn after(workspace: &Path, shut: &BTreeSet<PathBuf>) -> Self {
        let mut found = Self::at_top(workspace);
        found.named.retain(|path| !shut.contains(path));
        found.walked(workspace, shut, Mode::Thorough)
    }

    fn walked(mut self, workspace: &Path, shut: &BTreeSet<PathBuf>, mode: Mode) -> Self {
        let mut folders = VecDeque::from([workspace.to_owned()]);
        let mut left = match mode {
            Mode::Bounded(most) => most,
            Mode::Thorough => usize::MAX,
        };
        while let Some(folder) = folders.pop_front() {
            let Ok(entries) = opened(&folder, mode) else {
                self.unseen.push(folder);
                continue;
            };
            let mut look = Look::default();
            for entry in entries.flatten() {
                let is_full = mode != Mode::Thorough && self.len() >= FOUND_MAX;
                if left == 0 || is_full {
                    self.unseen.push(folder);
                    self.unseen.extend(folders);
                    return self.gathered(workspace);
                }
                left -= 1;
                let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
                let is_own = VERSION_CONTROL.iter().any(|own| name.eq_ignore_ascii_case(own));
                look.at(&name);
                if !is_own && !kind.is_dir() && !kind.is_socket() {
                    continue;
                }
                let path = entry.path();
                if shut.contains(&path) {
                    continue;
                }
                match (is_own, kind.is_symlink()) {
                    // At the top all are known by name already.
                    (true, _)
                        if folder == workspace && VERSION_CONTROL.iter().any(|n| name == *n) => {}
                    (true, true) => self.links.push(path),
                    (true, false) => self.name(path),
                    (false, _) if kind.is_dir() => folders.push_back(path),
                    (false, _) => self.sockets.push(path),
                }
            }
            if look.is_bare() {
                self.bare.push(folder);
            }
        }
        self.gathered(workspace)
    }

    /// A repository, and the sockets that its own programs listen at.
    fn name(&mut self, path: PathBuf) {
        let inner = fs::read_dir(&path).into_iter().flatten().flatten();
        let sockets = inner.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()));
        self.sockets.extend(sockets.map(|entry| entry.path()));
        self.named.push(path);
    }

    fn len(&self) -> usize {
        self.named.len() + self.bare.len() + self.sockets.len() + self.links.len()
    }

    /// Many folders that nobody looked into are shut by those around them.
    fn gathered(mut self, workspace: &Path) -> Self {
        if self.unseen.len() > UNSEEN_MAX {
            let top = |path: &PathBuf| {
                let first = path.strip_prefix(workspace).ok().and_then(|inner| inner.iter().next());
                first.map_or_else(|| workspace.to_owned(), |first| workspace.join(first))
            };
            let tops: BTreeSet<PathBuf> = self.unseen.iter().map(top).collect();
            self.unseen = tops.into_iter().collect();
        }
        if self.unseen.len() > UNSEEN_MAX {
            self.unseen = vec![workspace.to_owned()];
        }
        self
    }
}

/// A folder's entries. A command may have closed a folder of the account to keep us out of it.
fn opened(folder: &Path, mode: Mode) -> io::Result<ReadDir> {
    let opened = fs::read_dir(folder);
    if opened.is_ok() || mode != Mode::Thorough {
        return opened;
    }
    open_up(folder)?;
    fs::read_dir(folder)
}

/// Gives the account its rights to a folder of its own back.
pub(crate) fn open_up(folder: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(folder)?.mode();
    fs::set_permissions(folder, fs::Permissions::from_mode(mode & 0o7777 | 0o700))
}

/// The names by which git takes a folder itself for a repository.
#[derive(Debug, Default)]
struct Look {
    has: [bool; 4],
}

impl Look {
    const NAMES: [&'static str; 4] = ["HEAD", "commondir", "objects", "refs"];

    fn at(&mut self, name: &OsStr) {
        let known = Self::NAMES.iter().position(|known| name.eq_ignore_ascii_case(known));
        if let Some(known) = known {
            self.has[known] = true;
        }
    }

    fn is_bare(&self) -> bool {
        let known = |name: &str| Self::NAMES.iter().position(|known| *known == name);
        is_layout(|name| known(name).is_some_and(|at| self.has[at]))
    }
}

/// Whether git takes a folder for a repository that has these names in it.
pub(crate) fn is_layout(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// The folder that a file, or a link, instead of a repository leads to.
pub(crate) fn lead(file: &Path) -> Option<PathBuf> {
    if file.is_symlink() || file.is_dir() {
        return file.canonicalize().ok();
    }
    let bytes = fs::read(file).ok().filter(|bytes| bytes.len() <= LEAD_BYTES_MAX)?;
    let text = String::from_utf8(bytes).ok()?;
    let text = text.trim_end_matches(['\n', '\r']);
    let path = text.strip_prefix("gitdir:").map_or(text, str::trim_start);
    file.parent()?.join(path).canonicalize().ok()
}

/// The folders in the workspace that a file instead of a folder leads to.
pub(crate) fn led_to(file: &Path, workspace: &Path) -> Vec<PathBuf> {
    if !file.is_file() && !file.is_symlink() {
        return Vec::new();
    }
    let folder = lead(file);
    let common = folder.as_ref().map(|folder| folder.join("commondir"));
    let common = common.filter(|file| file.is_file()).and_then(|file| lead(&file));
    let inside = |path: &PathBuf| path.starts_with(workspace) && path != workspace;
    folder.into_iter().chain(common).filter(inside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn workspace() -> (tempfile::TempDir, PathBuf) {
        let outer = tempfile::TempDir::new().unwrap();
        let root = outer.path().canonicalize().unwrap();
        (outer, root)
    }

    fn bounded(root: &Path, most: usize) -> Found {
        Found::at_top(root).walked(root, &BTreeSet::new(), Mode::Bounded(most))
    }

    #[test]
    fn every_repository_is_found_whatever_it_is_called() {
        let (_outer, root) = workspace();
        for folder in [".git/modules/x/.git", "a/b/.hg", "store/objects", "store/refs", "work"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("store/HEAD"), "").unwrap();
        fs::write(root.join("work/.git"), "gitdir: ../store\n").unwrap();
        fs::create_dir_all(root.join("a/linked/deep")).unwrap();
        fs::write(root.join("a/linked/HEAD"), "").unwrap();
        fs::write(root.join("a/linked/commondir"), "").unwrap();
        std::os::unix::fs::symlink("..", root.join("a/b/.svn")).unwrap();
        std::os::unix::fs::symlink("/", root.join("up")).unwrap();
        let _socket = UnixListener::bind(root.join("a/socket")).unwrap();
        let mut found = Found::before(&root);
        found.named.sort();
        found.bare.sort();
        let all = |names: &[&str]| names.iter().map(|name| root.join(name)).collect::<Vec<_>>();
        let expected = Found {
            named: all(&[".git", "a/b/.hg", "work/.git"]),
            links: all(&["a/b/.svn"]),
            bare: all(&["a/linked", "store"]),
            sockets: all(&["a/socket"]),
            unseen: Vec::new(),
        };
        assert_eq!(found, expected);
        assert_eq!(led_to(&root.join("work/.git"), &root), all(&["store"]));
    }

    #[test]
    fn the_top_is_seen_first_and_what_is_not_seen_is_told() {
        let (_outer, root) = workspace();
        for number in 0..200 {
            fs::create_dir_all(root.join(format!("wide/{number}"))).unwrap();
        }
        fs::create_dir_all(root.join("deep/er")).unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        for most in [0, 1, 3] {
            let found = bounded(&root, most);
            assert!(found.named.contains(&root.join(".git")), "{most}");
            assert!(!found.unseen.is_empty(), "{most}");
        }
        assert_eq!(
            bounded(&root, 1_000),
            Found { named: vec![root.join(".git")], ..Found::default() }
        );
        for number in 0..=FOUND_MAX {
            fs::create_dir_all(root.join(format!("many/{number}/.git"))).unwrap();
        }
        let found = Found::before(&root);
        assert!(found.named.len() <= FOUND_MAX && found.unseen.contains(&root.join("many")));
        let all = Found::after(&root, &BTreeSet::new());
        assert!(all.named.len() == FOUND_MAX + 2 && all.unseen.is_empty());
    }

    #[test]
    fn a_folder_that_a_command_closed_is_opened_to_be_looked_into() {
        let (_outer, root) = workspace();
        fs::create_dir_all(root.join("shut/.git")).unwrap();
        fs::set_permissions(root.join("shut"), fs::Permissions::from_mode(0o000)).unwrap();
        let found = Found::after(&root, &BTreeSet::new());
        assert_eq!(found.named, [root.join("shut/.git")]);
    }
}
