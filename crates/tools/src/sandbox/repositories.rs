//! Where version control keeps its own files in a workspace, and what else a walk through it finds.
//!
//! ```text
//!   names at the top ──► folders from the top down ──► what is left when the look ends: unseen
//! ```
//!
//! A repository is protected as a whole: it holds hooks and settings, and a single file in it can
//! refer git to other folders (`commondir`). Git also takes a folder of any name for a repository
//! if it looks like one. Folders that were not scanned are protected too.

use super::folders::{WorkspaceRoot, entries};
use crate::git_settings::{commondir, gitfile};
use crate::protected::VERSION_CONTROL;
use rustix::fs::FileType;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Files and folders that are looked at before a command: some tenths of a second.
const ENTRIES_MAX: usize = 600_000;

/// Paths that are protected: each costs some mounts.
const FOUND_MAX: usize = 500;

/// Folders that are protected one by one because they were not scanned.
const UNSEEN_MAX: usize = 64;

/// Bytes of a file that refers to a repository.
const LEAD_BYTES_MAX: u64 = 4_096;

/// Bytes of a path that can be protected; for a longer one, an outer folder is.
const PLACE_BYTES_MAX: usize = 3_800;

/// What a scan of a workspace found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkspaceScan {
    /// Files and folders of version control by their names, those nearer to the top first.
    pub(crate) named: Vec<PathBuf>,
    /// Links with such a name.
    pub(crate) links: Vec<PathBuf>,
    /// Folders that git takes for a repository whatever they are called.
    pub(crate) bare: Vec<PathBuf>,
    /// Sockets, where a process outside the sandbox may listen.
    pub(crate) sockets: Vec<PathBuf>,
    /// Folders that were not looked into, or not to their end.
    pub(crate) unseen: Vec<PathBuf>,
}

/// How a scan is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanMode {
    /// Before a command: it ends after so many entries.
    Bounded(usize),
    /// After a command: it opens what the command closed, and takes the time that it takes.
    Thorough,
}

/// A folder that is still to be scanned.
struct PendingFolder {
    path: PathBuf,
    /// Whether it lies in a repository that is shut as a whole: only sockets count there.
    is_shut: bool,
}

impl WorkspaceScan {
    /// Finds repositories at the top by name alone, however many other files there are.
    pub(crate) fn at_top(workspace: &Path) -> Self {
        let mut found = Self::default();
        for name in VERSION_CONTROL {
            let path = workspace.join(name);
            match fs::symlink_metadata(&path) {
                Ok(entry) if entry.is_symlink() => found.links.push(path),
                Ok(_) => found.named.push(path),
                Err(_) => {}
            }
        }
        found
    }

    /// What lies in a workspace, as far as it can be looked through in a moment.
    pub(crate) fn before(workspace: &Path) -> Self {
        let found = Self::at_top(workspace);
        let found = found.scan_folder(workspace, ScanMode::Bounded(ENTRIES_MAX));
        Self { unseen: shorten_paths(found.unseen, workspace), ..found }.merge_unseen(workspace)
    }

    /// Scans a workspace after a command, except for paths that the command could not change.
    pub(crate) fn after(root: &WorkspaceRoot, shut: &BTreeSet<PathBuf>) -> Self {
        let mut found = Self::at_top(root.path());
        found.named.retain(|path| !shut.contains(path));
        found.scan_from(root, shut, ScanMode::Thorough)
    }

    fn scan_folder(mut self, folder: &Path, mode: ScanMode) -> Self {
        match WorkspaceRoot::open(folder) {
            Ok(root) => self.scan_from(&root, &BTreeSet::new(), mode),
            Err(_) => {
                self.unseen.push(folder.to_owned());
                self
            }
        }
    }

    fn scan_from(mut self, root: &WorkspaceRoot, shut: &BTreeSet<PathBuf>, mode: ScanMode) -> Self {
        let top = PendingFolder { path: root.path().to_owned(), is_shut: false };
        let mut folders = VecDeque::from([top]);
        let mut left = match mode {
            ScanMode::Bounded(most) => most,
            ScanMode::Thorough => usize::MAX,
        };
        while let Some(folder) = folders.pop_front() {
            let Ok(names) = open_folder(root, &folder.path, mode).and_then(|open| entries(&open))
            else {
                self.unseen.push(folder.path);
                continue;
            };
            let mut look = BareLayout::default();
            for entry in names {
                let is_full = mode != ScanMode::Thorough && self.len() >= FOUND_MAX;
                if left == 0 || is_full {
                    self.unseen.push(folder.path);
                    self.unseen.extend(folders.into_iter().map(|folder| folder.path));
                    return self;
                }
                left -= 1;
                let Ok(entry) = entry else {
                    self.unseen.push(folder.path.clone());
                    break;
                };
                let is_folder = entry.kind == FileType::Directory;
                let is_own = VERSION_CONTROL.iter().any(|own| entry.name.eq_ignore_ascii_case(own));
                look.at(&entry.name);
                if !is_own && !is_folder && entry.kind != FileType::Socket {
                    continue;
                }
                let path = folder.path.join(&entry.name);
                // In a repository that is shut nothing is made, and objects hold nothing else.
                let is_passed = folder.is_shut && is_folder && entry.name == "objects";
                if is_passed || shut.contains(&path) {
                    continue;
                }
                let is_shut = folder.is_shut || is_own && mode != ScanMode::Thorough;
                if is_own && !folder.is_shut {
                    self.name(&path, entry.kind, folder.path == root.path());
                }
                if is_folder {
                    folders.push_back(PendingFolder { path, is_shut });
                } else if entry.kind == FileType::Socket && !is_own {
                    self.sockets.push(path);
                }
            }
            let name = folder.path.file_name().filter(|_| folder.path != root.path());
            let is_named = name.is_some_and(|name| name.eq_ignore_ascii_case(".git"));
            if look.is_bare() && !is_named && !folder.is_shut {
                self.bare.push(folder.path);
            }
        }
        self
    }

    /// A repository by its name, or a link with one. Most at the top are known already.
    fn name(&mut self, path: &Path, kind: FileType, is_top: bool) {
        let list = match kind {
            FileType::Symlink => &mut self.links,
            _ => &mut self.named,
        };
        if !is_top || !list.iter().any(|known| known == path) {
            list.push(path.to_owned());
        }
    }

    fn len(&self) -> usize {
        self.named.len() + self.bare.len() + self.sockets.len() + self.links.len()
    }

    /// Replaces many unscanned folders by the folders around them.
    fn merge_unseen(mut self, workspace: &Path) -> Self {
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

/// A folder, to be listed. A command may have closed one of the account to keep us out of it.
fn open_folder(root: &WorkspaceRoot, folder: &Path, mode: ScanMode) -> io::Result<OwnedFd> {
    match mode {
        ScanMode::Bounded(_) => root.folder(folder),
        ScanMode::Thorough => root.folder_opened(folder),
    }
}

/// A path that is too long cannot be a mount point: an outer folder is protected instead.
fn shorten_paths(unseen: Vec<PathBuf>, workspace: &Path) -> Vec<PathBuf> {
    let short = |path: &&Path| path.as_os_str().len() <= PLACE_BYTES_MAX;
    let outer = |path: PathBuf| path.ancestors().find(short).unwrap_or(workspace).to_owned();
    unseen.into_iter().map(outer).collect()
}

/// The names by which git takes a folder itself for a repository.
#[derive(Debug, Default)]
struct BareLayout {
    has: [bool; 4],
}

impl BareLayout {
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

/// The folder that a `.git` is or refers to, as git finds it.
pub(crate) fn resolve_git_dir(name: &Path) -> Option<PathBuf> {
    let real = name.canonicalize().ok()?;
    if real.is_dir() {
        return Some(real);
    }
    name.parent()?.join(gitfile(&read_short_file(&real)?)?).canonicalize().ok()
}

/// The folder that a repository's folder shares with others, as git finds it; itself, if none.
pub(crate) fn resolve_common_dir(folder: &Path) -> Option<PathBuf> {
    let file = folder.join("commondir");
    match fs::symlink_metadata(&file) {
        Ok(_) => folder.join(commondir(&read_short_file(&file)?)?).canonicalize().ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(folder.to_owned()),
        Err(_) => None,
    }
}

/// The folder that a `.git` file refers to, if it does not exist yet.
pub(crate) fn missing_git_dir(name: &Path) -> Option<PathBuf> {
    let goal = name.parent()?.join(gitfile(&read_short_file(name)?)?);
    (!goal.exists()).then_some(goal)
}

fn read_short_file(file: &Path) -> Option<Vec<u8>> {
    let found = fs::metadata(file).ok()?;
    let is_short = found.is_file() && found.len() <= LEAD_BYTES_MAX;
    is_short.then(|| fs::read(file).ok()).flatten()
}

/// The folders in the workspace that a `.git` file refers to.
pub(crate) fn git_dirs_in(file: &Path, workspace: &Path) -> Vec<PathBuf> {
    if !file.is_file() && !file.is_symlink() {
        return Vec::new();
    }
    let folder = resolve_git_dir(file);
    let common = folder.as_ref().and_then(|folder| resolve_common_dir(folder));
    let inside = |path: &PathBuf| path.starts_with(workspace) && path != workspace;
    let all: BTreeSet<PathBuf> = folder.into_iter().chain(common).filter(inside).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    fn workspace() -> (tempfile::TempDir, PathBuf) {
        let outer = tempfile::TempDir::new().unwrap();
        let root = outer.path().canonicalize().unwrap();
        (outer, root)
    }

    fn bounded(root: &Path, most: usize) -> WorkspaceScan {
        let found = WorkspaceScan::at_top(root).scan_folder(root, ScanMode::Bounded(most));
        found.merge_unseen(root)
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
        let mut found = WorkspaceScan::before(&root);
        found.named.sort();
        found.bare.sort();
        let all = |names: &[&str]| names.iter().map(|name| root.join(name)).collect::<Vec<_>>();
        let expected = WorkspaceScan {
            named: all(&[".git", "a/b/.hg", "work/.git"]),
            links: all(&["a/b/.svn"]),
            bare: all(&["a/linked", "store"]),
            sockets: all(&["a/socket"]),
            unseen: Vec::new(),
        };
        assert_eq!(found, expected);
        assert_eq!(git_dirs_in(&root.join("work/.git"), &root), all(&["store"]));
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
            WorkspaceScan { named: vec![root.join(".git")], ..WorkspaceScan::default() }
        );
        for number in 0..=FOUND_MAX {
            fs::create_dir_all(root.join(format!("many/{number}/.git"))).unwrap();
        }
        let found = WorkspaceScan::before(&root);
        assert!(found.named.len() <= FOUND_MAX && found.unseen.contains(&root.join("many")));
        let all = WorkspaceScan::after(&WorkspaceRoot::open(&root).unwrap(), &BTreeSet::new());
        assert!(all.named.len() == FOUND_MAX + 2 && all.unseen.is_empty());
    }

    #[test]
    fn a_folder_that_a_command_closed_is_opened_to_be_looked_into() {
        let (_outer, root) = workspace();
        fs::create_dir_all(root.join("shut/.git")).unwrap();
        fs::set_permissions(root.join("shut"), fs::Permissions::from_mode(0o000)).unwrap();
        let found = WorkspaceScan::after(&WorkspaceRoot::open(&root).unwrap(), &BTreeSet::new());
        assert_eq!(found.named, [root.join("shut/.git")]);
    }

    #[test]
    fn a_repository_in_another_or_in_other_version_control_is_found_after_a_command() {
        let (_outer, root) = workspace();
        for folder in [".hg/sub/.git", ".git/objects/ab/.git", "a/.svn/b/.jj"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let _socket = UnixListener::bind(root.join(".hg/sub/socket")).unwrap();
        let all = WorkspaceScan::after(&WorkspaceRoot::open(&root).unwrap(), &BTreeSet::new());
        let named =
            [".git", ".hg", ".hg/sub/.git", "a/.svn", ".git/objects/ab/.git", "a/.svn/b/.jj"];
        let named: BTreeSet<PathBuf> = named.iter().map(|name| root.join(name)).collect();
        assert_eq!(all.named.into_iter().collect::<BTreeSet<_>>(), named);
        // Before a command the outer ones are shut with all that is in them, but for sockets.
        let before = WorkspaceScan::before(&root);
        assert_eq!(before.named.len(), 3);
        assert_eq!(before.sockets, [root.join(".hg/sub/socket")]);
    }
}
