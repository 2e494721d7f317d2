//! Files that other programs trust and that the sandbox cannot protect at their own path: targets
//! of links and of git settings, files that do not exist yet, and files with several hard links.
//!
//! ```text
//!   before: existing files become read-only; links, missing files and hard links are recorded
//!   after:  a changed link is restored, a file that was missing is renamed, and a file that was
//!           written through another hard link gets its content back
//! ```

use super::disarm::{Disposal, disarm_path};
use super::folders::{WorkspaceRoot, entries, inner, kind, link_in, read_in, stamp, stat_in};
use crate::git_paths::{self, configured_paths};
use crate::home::AccountHome;
use crate::links::{goal, trail};
use crate::protected::{START_UP, VERSION_CONTROL};
use everloop_types::is_listed;
use rustix::fs::{FileType, Mode, OFlags, RawMode, openat, symlinkat};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Names in a folder at the top that are looked at for instructions.
const NAMES_MAX: usize = 1_000;

/// Read-only files that are checked for further hard links.
const FILES_MAX: usize = 5_000;

/// Bytes of a file with several hard links that are kept.
const BYTES_MAX: u64 = 1 << 20;

/// Folders of git with data alone; objects share their files with those of other clones.
const PASSED: [&str; 4] = ["objects", "refs", "logs", "lfs"];

/// How many such files are kept.
const KEPT_MAX: usize = 64;

/// A file that can be written through another hard link.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HardLinkedFile {
    stamp: String,
    content: Option<Vec<u8>>,
    mode: RawMode,
}

/// What is compared after a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrustedFiles {
    /// Links, and what each says.
    links: BTreeMap<PathBuf, PathBuf>,
    /// Files and folders that are not there.
    missing: BTreeSet<PathBuf>,
    hard_links: BTreeMap<PathBuf, HardLinkedFile>,
}

/// How a trusted path is to be protected.
#[derive(Debug, Default)]
pub(crate) struct PathRules {
    /// To be shut.
    pub(crate) shut: Vec<PathBuf>,
    /// Not to be moved.
    pub(crate) pinned: Vec<PathBuf>,
}

impl TrustedFiles {
    /// Adds a path that other programs trust, and returns how to protect it.
    pub(crate) fn add_path(&mut self, workspace: &Path, path: &Path) -> PathRules {
        let mut asked = PathRules::default();
        let (place, links) = trail(path);
        for link in links.into_iter().filter(|link| link.starts_with(workspace)) {
            if let Ok(says) = fs::read_link(&link) {
                asked.pinned.extend(link.parent().map(Path::to_owned));
                self.links.insert(link, says);
            }
        }
        if !place.starts_with(workspace) || place == workspace {
            return asked;
        }
        match fs::symlink_metadata(&place) {
            Ok(_) => asked.shut.push(place),
            Err(_) => drop(self.missing.insert(place)),
        }
        asked
    }

    /// Records read-only files that can still be written through another hard link.
    pub(crate) fn record_hard_links(&mut self, workspace: &Path, shut: &[PathBuf]) {
        let Ok(root) = WorkspaceRoot::open(workspace) else { return };
        let mut left = FILES_MAX;
        for path in shut {
            if let Ok((folder, name)) = root.place(path) {
                // A command cannot open what cannot be read here.
                let _ = self.record_hard_links_at(&folder, &name, path, &mut left);
            }
        }
    }

    fn record_hard_links_at(
        &mut self,
        folder: &OwnedFd,
        name: &OsStr,
        path: &Path,
        left: &mut usize,
    ) -> io::Result<()> {
        let Some(found) = stat_in(folder, name)? else { return Ok(()) };
        match kind(&found) {
            FileType::RegularFile if found.st_nlink > 1 && self.hard_links.len() < KEPT_MAX => {
                let content = read_in(folder, name, BYTES_MAX).ok();
                let twin =
                    HardLinkedFile { stamp: stamp(&found), content, mode: found.st_mode & 0o777 };
                self.hard_links.insert(path.to_owned(), twin);
            }
            FileType::Directory => {
                let folder = inner(folder, name)?;
                for entry in entries(&folder)? {
                    let entry = entry?;
                    if *left > 0 && !PASSED.iter().any(|passed| entry.name == *passed) {
                        *left -= 1;
                        self.record_hard_links_at(
                            &folder,
                            &entry.name,
                            &path.join(&entry.name),
                            left,
                        )?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Restores what a command changed, and returns what was restored.
    pub(crate) fn restore(
        &self,
        root: &WorkspaceRoot,
    ) -> Vec<(PathBuf, io::Result<RestoreOutcome>)> {
        let mut all = Vec::new();
        for (link, says) in &self.links {
            match is_unchanged_link(root, link, says) {
                Ok(true) => {}
                Ok(false) => all.push((link.clone(), restore_link(root, link, says))),
                Err(error) => all.push((link.clone(), Err(error))),
            }
        }
        for path in self.missing.iter().filter_map(|path| first_created(root, path)) {
            let fate = disarm_path(root, &path);
            all.push((path, fate.map(RestoreOutcome::Aside)));
        }
        for (path, twin) in &self.hard_links {
            if twin.is_written(root, path) {
                all.push((path.clone(), twin.rewrite(root, path)));
            }
        }
        all
    }
}

fn is_unchanged_link(root: &WorkspaceRoot, link: &Path, says: &Path) -> io::Result<bool> {
    match root.place(link) {
        Ok((folder, name)) => Ok(link_in(folder, name).as_deref() == Some(says)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn restore_link(root: &WorkspaceRoot, link: &Path, says: &Path) -> io::Result<RestoreOutcome> {
    let (folder, name) = root.place(link)?;
    let fate = match stat_in(&folder, &name)? {
        Some(_) => disarm_path(root, link)?,
        None => Disposal::Removed,
    };
    symlinkat(says, folder, name)?;
    Ok(RestoreOutcome::PutBack(fate))
}

/// What was created at a missing path: the path itself, or a link on the way to it.
fn first_created(root: &WorkspaceRoot, path: &Path) -> Option<PathBuf> {
    let inner = path.strip_prefix(root.path()).ok()?;
    let mut place = root.path().to_owned();
    for part in inner.iter() {
        place.push(part);
        let found = root.stat(&place).ok().flatten()?;
        if kind(&found) == FileType::Symlink {
            return Some(place);
        }
    }
    Some(place)
}

impl HardLinkedFile {
    /// Whether the same file has another content. A command cannot replace the file, and removing
    /// one of its names changes nothing.
    fn is_written(&self, root: &WorkspaceRoot, path: &Path) -> bool {
        let Ok((folder, name)) = root.place(path) else { return false };
        let Ok(Some(found)) = stat_in(&folder, &name) else { return false };
        let (now, file) = (stamp(&found), |stamp: &str| stamp.split(' ').next().map(str::to_owned));
        let is_same = file(&now) == file(&self.stamp);
        let is_as_it_was = || match &self.content {
            Some(content) => read_in(&folder, &name, BYTES_MAX).is_ok_and(|now| now == *content),
            None => false,
        };
        is_same && now != self.stamp && !is_as_it_was()
    }

    /// Gives it back its content, in a file of its own.
    fn rewrite(&self, root: &WorkspaceRoot, path: &Path) -> io::Result<RestoreOutcome> {
        let fate = disarm_path(root, path)?;
        let Some(content) = &self.content else {
            return Ok(RestoreOutcome::Aside(fate));
        };
        let (folder, name) = root.place(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file: OwnedFd = openat(folder, name, flags, Mode::from_raw_mode(self.mode))?;
        File::from(file).write_all(content)?;
        Ok(RestoreOutcome::PutBack(fate))
    }
}

/// How a change was undone.
#[derive(Debug)]
pub(crate) enum RestoreOutcome {
    /// It was renamed or removed.
    Aside(Disposal),
    /// It is as it was; what was there instead was renamed or removed.
    PutBack(Disposal),
}

impl RestoreOutcome {
    /// The name that it created, if any.
    pub(crate) fn new_name(&self) -> Option<&Path> {
        match self {
            Self::Aside(Disposal::Renamed(new)) | Self::PutBack(Disposal::Renamed(new)) => {
                Some(new)
            }
            Self::Aside(Disposal::Removed) | Self::PutBack(Disposal::Removed) => None,
        }
    }

    pub(crate) fn describe(&self, name: impl Fn(&Path) -> String) -> String {
        match self {
            Self::Aside(Disposal::Renamed(new)) => format!("it was renamed to {}", name(new)),
            Self::Aside(Disposal::Removed) => "it was made useless".to_owned(),
            Self::PutBack(Disposal::Renamed(new)) => {
                format!("it was put back as it was, and the other is now {}", name(new))
            }
            Self::PutBack(Disposal::Removed) => "it was put back as it was".to_owned(),
        }
    }
}

/// Names at the top, and in dot folders there, that other programs take instructions from.
pub(crate) fn names_at_top(workspace: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(workspace).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is = |own: &&str| name.eq_ignore_ascii_case(own);
        if VERSION_CONTROL.iter().any(&is) {
            continue;
        }
        if name.to_str().is_some_and(is_listed) || START_UP.iter().any(is) {
            all.push(entry.path());
            continue;
        }
        let is_folder = entry.path().is_dir() && name.as_encoded_bytes().starts_with(b".");
        let inner = is_folder.then(|| fs::read_dir(entry.path()));
        let inner = inner.into_iter().flatten().flatten().flatten().take(NAMES_MAX);
        for inner in inner {
            let path = Path::new(&name).join(inner.file_name());
            if path.to_str().is_some_and(is_listed) {
                all.push(inner.path());
            }
        }
    }
    all
}

/// Variables that name a file which programs of the user read when they start.
const VARIABLES: [&str; 10] = [
    "BASH_ENV",
    "ENV",
    "INPUTRC",
    "MYVIMRC",
    "NPM_CONFIG_USERCONFIG",
    "PIP_CONFIG_FILE",
    "PYTHONSTARTUP",
    "SCREENRC",
    "STARSHIP_CONFIG",
    "XINITRC",
];

/// Files that programs of the user and Everloop itself trust everywhere, through variables and
/// settings.
pub(crate) fn user_trusted_files() -> Vec<PathBuf> {
    let named = |name: &&str| std::env::var_os(name).map(PathBuf::from);
    let mut all: Vec<PathBuf> = VARIABLES.iter().filter_map(named).collect();
    all.retain(|path| path.is_absolute());
    all.extend(crate::programs::registered_programs());
    all.extend(git_paths::user_config_files());
    all.extend(git_paths::user_configured_paths());
    all
}

/// Whether other programs trust a path, given without links, because a name at the top or a git
/// setting refers to it.
pub(crate) fn is_trusted_target(workspace: &Path, place: &Path) -> bool {
    let names = names_at_top(workspace).into_iter();
    let home =
        AccountHome::of_account().map(|home| home.start_up_files(workspace)).unwrap_or_default();
    let mut links = names.chain(home).chain(user_trusted_files());
    let leads_here = |path: &Path| {
        let goal = goal(path);
        goal != workspace && goal.starts_with(workspace) && place.starts_with(goal)
    };
    let outer = place.ancestors().skip(1).map(|folder| folder.join(".git"));
    let mut repositories = outer.filter(|path| path.exists());
    links.any(|path| leads_here(&path))
        || repositories.any(|path| configured_paths(&path).iter().any(|path| leads_here(path)))
}
