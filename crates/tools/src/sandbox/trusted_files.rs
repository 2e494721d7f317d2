//! Files that other programs trust and that the sandbox cannot protect at their own path: targets
//! of links and of git settings, files that do not exist yet, and files with several hard links.
//!
//! ```text
//!   before: what is there is shut; links, missing files and second names are written down
//!   after:  a link that changed is put back, what was missing and is there now is set aside, and
//!           a file that was written by its other name gets its content back
//! ```

use super::disarm::{Disposal, set_aside};
use super::folders::{WorkspaceRoot, entries, inner, kind, link_in, read_in, stamp, stat_in};
use crate::git_leads::{self, leads};
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

/// Files of what is shut that are looked at for second names.
const FILES_MAX: usize = 5_000;

/// Bytes of a file with a second name that are kept, and of all of them.
const BYTES_MAX: u64 = 1 << 20;

/// Folders of git with data alone; objects share their files with those of other clones.
const PASSED: [&str; 4] = ["objects", "refs", "logs", "lfs"];

/// How many such files are kept.
const KEPT_MAX: usize = 64;

/// A file that can be written by another name.
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
    twins: BTreeMap<PathBuf, HardLinkedFile>,
}

/// What a path that others obey asks for.
#[derive(Debug, Default)]
pub(crate) struct PathRules {
    /// To be shut.
    pub(crate) shut: Vec<PathBuf>,
    /// Not to be moved.
    pub(crate) pinned: Vec<PathBuf>,
}

impl TrustedFiles {
    /// Takes in a path that others obey.
    pub(crate) fn obey(&mut self, workspace: &Path, path: &Path) -> PathRules {
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

    /// Looks for files that are shut and can be written by another name all the same.
    pub(crate) fn keep_twins(&mut self, workspace: &Path, shut: &[PathBuf]) {
        let Ok(root) = WorkspaceRoot::open(workspace) else { return };
        let mut left = FILES_MAX;
        for path in shut {
            if let Ok((folder, name)) = root.place(path) {
                // What cannot be looked at here, no command can open.
                let _ = self.twins_at(&folder, &name, path, &mut left);
            }
        }
    }

    fn twins_at(
        &mut self,
        folder: &OwnedFd,
        name: &OsStr,
        path: &Path,
        left: &mut usize,
    ) -> io::Result<()> {
        let Some(found) = stat_in(folder, name)? else { return Ok(()) };
        match kind(&found) {
            FileType::RegularFile if found.st_nlink > 1 && self.twins.len() < KEPT_MAX => {
                let content = read_in(folder, name, BYTES_MAX).ok();
                let twin =
                    HardLinkedFile { stamp: stamp(&found), content, mode: found.st_mode & 0o777 };
                self.twins.insert(path.to_owned(), twin);
            }
            FileType::Directory => {
                let folder = inner(folder, name)?;
                for entry in entries(&folder)? {
                    let entry = entry?;
                    if *left > 0 && !PASSED.iter().any(|passed| entry.name == *passed) {
                        *left -= 1;
                        self.twins_at(&folder, &entry.name, &path.join(&entry.name), left)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts back what a command changed, and says what it was.
    pub(crate) fn restore(
        &self,
        root: &WorkspaceRoot,
    ) -> Vec<(PathBuf, io::Result<RestoreOutcome>)> {
        let mut all = Vec::new();
        for (link, says) in &self.links {
            match is_link(root, link, says) {
                Ok(true) => {}
                Ok(false) => all.push((link.clone(), relink(root, link, says))),
                Err(error) => all.push((link.clone(), Err(error))),
            }
        }
        for path in self.missing.iter().filter_map(|path| made(root, path)) {
            let fate = set_aside(root, &path);
            all.push((path, fate.map(RestoreOutcome::Aside)));
        }
        for (path, twin) in &self.twins {
            if twin.is_written(root, path) {
                all.push((path.clone(), twin.rewrite(root, path)));
            }
        }
        all
    }
}

fn is_link(root: &WorkspaceRoot, link: &Path, says: &Path) -> io::Result<bool> {
    match root.place(link) {
        Ok((folder, name)) => Ok(link_in(folder, name).as_deref() == Some(says)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn relink(root: &WorkspaceRoot, link: &Path, says: &Path) -> io::Result<RestoreOutcome> {
    let (folder, name) = root.place(link)?;
    let fate = match stat_in(&folder, &name)? {
        Some(_) => set_aside(root, link)?,
        None => Disposal::Removed,
    };
    symlinkat(says, folder, name)?;
    Ok(RestoreOutcome::PutBack(fate))
}

/// What stands where nothing was: the path itself, or a link on the way to it.
fn made(root: &WorkspaceRoot, path: &Path) -> Option<PathBuf> {
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
    /// Whether the same file has another content. One that was replaced is not a command's doing,
    /// and a name that went away changes nothing.
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
        let fate = set_aside(root, path)?;
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

/// What was done about a change.
#[derive(Debug)]
pub(crate) enum RestoreOutcome {
    /// It is gone from its place.
    Aside(Disposal),
    /// It is as it was, and this became of what stood there.
    PutBack(Disposal),
}

impl RestoreOutcome {
    /// What is new because of it.
    pub(crate) fn new_name(&self) -> Option<&Path> {
        match self {
            Self::Aside(Disposal::Renamed(new)) | Self::PutBack(Disposal::Renamed(new)) => {
                Some(new)
            }
            Self::Aside(Disposal::Removed) | Self::PutBack(Disposal::Removed) => None,
        }
    }

    pub(crate) fn said(&self, name: impl Fn(&Path) -> String) -> String {
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

/// Names at the top, and in folders there, that others take instructions from.
pub(crate) fn named(workspace: &Path) -> Vec<PathBuf> {
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

/// Variables with a file that programs of the person read at their start.
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

/// What programs of the person, and we, obey wherever we are: by variables and by settings.
pub(crate) fn of_person() -> Vec<PathBuf> {
    let named = |name: &&str| std::env::var_os(name).map(PathBuf::from);
    let mut all: Vec<PathBuf> = VARIABLES.iter().filter_map(named).collect();
    all.retain(|path| path.is_absolute());
    all.extend(crate::programs::run_by_us());
    all.extend(git_leads::of_person());
    all.extend(git_leads::leads_of_person());
    all
}

/// Whether others obey a place, given without links, because a name at the top or settings of git
/// lead to it.
pub(crate) fn is_led_to(workspace: &Path, place: &Path) -> bool {
    let names = named(workspace).into_iter();
    let home = AccountHome::of_account().map(|home| home.shut(workspace)).unwrap_or_default();
    let mut links = names.chain(home).chain(of_person());
    let leads_here = |path: &Path| {
        let goal = goal(path);
        goal != workspace && goal.starts_with(workspace) && place.starts_with(goal)
    };
    let outer = place.ancestors().skip(1).map(|folder| folder.join(".git"));
    let mut repositories = outer.filter(|path| path.exists());
    links.any(|path| leads_here(&path))
        || repositories.any(|path| leads(&path).iter().any(|path| leads_here(path)))
}
