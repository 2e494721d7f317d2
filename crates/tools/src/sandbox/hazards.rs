//! What in a repository makes version control of the user run programs or use other folders.
//!
//! Whatever is not known to be harmless counts as a hazard: a new git brings new files and
//! settings. What cannot be read counts too.

use super::folders::{
    self, WorkspaceRoot, entries, is_own_file, kind, link_in, read_in, stamp, stat_in,
};
use super::rebases::is_plain_step;
use crate::clean::clean;
use crate::git_config::is_harmless;
use crate::git_settings::{self, commondir, gitfile, parse};
use rustix::fs::{FileType, Stat};
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// Names in one folder of a repository that are looked at.
const NAMES_MAX: usize = 5_000;

/// Entries of one of its folders that are looked at for links.
const ENTRIES_MAX: usize = 500_000;

/// Bytes of a file that is read, beside settings.
const BYTES_MAX: u64 = 65_536;

/// A part of a repository that may run programs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RepositoryHazard {
    /// The file or folder that does it.
    pub(crate) part: PathBuf,
    pub(crate) why: String,
    /// What tells it from what the same part did before.
    detail: String,
}

impl RepositoryHazard {
    fn new(part: PathBuf, why: impl Into<String>) -> Self {
        Self { part, why: why.into(), detail: String::new() }
    }
}

/// What else than git would run something by, where it is new: its name, and what in it counts. An
/// empty list means all of it.
const OTHERS: [(&str, &[&str]); 10] = [
    (".hg", &["hgrc", "hgrc-not-shared", "sharedpath", "store/hgrc"]),
    (".sl", &["config", "sharedpath"]),
    (".jj", &["repo/config.toml", "config.toml", "workspace-config.toml"]),
    (".svn", &["conf", "hooks"]),
    (".bzr", &["branch/branch.conf", "control.conf", "branch/location"]),
    (".pijul", &["config"]),
    ("_darcs", &["prefs/defaults", "prefs/prefs"]),
    (".repo", &[]),
    (".fslckout", &[]),
    ("_FOSSIL_", &[]),
];

/// Files of a repository that git reads as data, beside those in capital letters and locks.
const FILES: [&str; 9] = [
    "description",
    "gc.log",
    "gc.pid",
    "gitk.cache",
    "index",
    "locked",
    "packed-refs",
    "packed-refs.new",
    "shallow",
];

/// Folders of a repository that hold data, or other repositories, which are found by themselves.
const FOLDERS: [&str; 10] = [
    "NOTES_MERGE_WORKTREE",
    "lfs",
    "logs",
    "lost-found",
    "modules",
    "objects",
    "refs",
    "reftable",
    "rr-cache",
    "worktrees",
];

/// Files in its `info`.
const INFO: [&str; 6] = ["attributes", "exclude", "grafts", "packs", "refs", "sparse-checkout"];

/// All of a repository, by its own path: a folder, a file or a link with one of the known names, or
/// a folder that git takes for one.
pub(crate) fn find_hazards(root: &WorkspaceRoot, path: &Path) -> Vec<RepositoryHazard> {
    let unclear = |error: io::Error| {
        let why = format!("it cannot be looked at: {error}");
        vec![RepositoryHazard::new(path.to_owned(), why)]
    };
    let found = match path == root.path() {
        true => return hazards_of_folder(root, path).unwrap_or_else(unclear),
        false => root.stat(path),
    };
    let found = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Vec::new(),
        Err(error) => return unclear(error),
    };
    let name = path.file_name().unwrap_or_default();
    let other = OTHERS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
    let all = match (other, kind(&found)) {
        (Some((_, parts)), kind) => hazards_of_other(root, path, parts, kind),
        (None, FileType::Directory) => hazards_of_folder(root, path),
        (None, FileType::RegularFile) if is_own_file(&found) => Ok(hazards_of_file(root, path)),
        (None, _) => {
            let says = root.place(path).ok().and_then(|(folder, name)| link_in(folder, name));
            let detail = says.unwrap_or_default().to_string_lossy().into_owned();
            let hazard = RepositoryHazard::new(path.to_owned(), "it leads elsewhere");
            Ok(vec![RepositoryHazard { detail, ..hazard }])
        }
    };
    all.unwrap_or_else(unclear)
}

fn hazards_of_other(
    root: &WorkspaceRoot,
    path: &Path,
    parts: &[&str],
    kind: FileType,
) -> io::Result<Vec<RepositoryHazard>> {
    if parts.is_empty() {
        return Ok(vec![RepositoryHazard::new(path.to_owned(), "its programs run or trust it")]);
    }
    if kind != FileType::Directory {
        return Ok(vec![RepositoryHazard::new(path.to_owned(), "it leads elsewhere")]);
    }
    let mut all = Vec::new();
    for part in parts {
        match root.stat(&path.join(part)) {
            Ok(None) => {}
            Ok(Some(_)) => all.push(RepositoryHazard::new(path.join(part), *part)),
            Err(_) => all.push(RepositoryHazard::new(path.to_owned(), format!("{part} is a link"))),
        }
    }
    let repo = path.join("repo");
    if root.stat(&repo)?.is_some_and(|found| folders::kind(&found) != FileType::Directory) {
        all.push(RepositoryHazard::new(repo, "it leads elsewhere"));
    }
    Ok(all)
}

/// A `.git` file may refer to a module or work tree of a repository in the workspace; git itself
/// makes no others.
fn hazards_of_file(root: &WorkspaceRoot, path: &Path) -> Vec<RepositoryHazard> {
    let goal = root.place(path).ok().and_then(|(folder, name)| {
        let goal = gitfile(&read_in(&folder, name, BYTES_MAX).ok()?)?;
        resolved(root, path.parent()?, &goal)
    });
    match goal.filter(|goal| part_of(root, goal).is_some()) {
        // A hazard of the target is a hazard of the file that refers to it.
        Some(goal) => match find_hazards(root, &goal).first() {
            Some(hazard) => vec![RepositoryHazard::new(path.to_owned(), hazard.why.clone())],
            None => Vec::new(),
        },
        None => vec![RepositoryHazard::new(path.to_owned(), "it leads elsewhere")],
    }
}

/// A folder of the workspace by a path as git takes it, if no link is on the way.
fn resolved(root: &WorkspaceRoot, from: &Path, path: &Path) -> Option<PathBuf> {
    let mut place = from.to_owned();
    for part in path.components() {
        match part {
            Component::RootDir => place = PathBuf::from("/"),
            Component::ParentDir => {
                root.folder(&place).ok().filter(|_| place.pop())?;
            }
            Component::Normal(name) => place.push(name),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    root.folder(&place).ok().map(|_| place)
}

/// In which of the two a folder lies that a repository keeps its modules and work trees in.
fn part_of<'p>(root: &WorkspaceRoot, folder: &'p Path) -> Option<&'p OsStr> {
    let inner = folder.strip_prefix(root.path()).ok()?;
    let names: Vec<&OsStr> = inner.iter().collect();
    let pairs = names.windows(3).filter(|names| names[0] == ".git");
    pairs.map(|names| names[1]).find(|name| *name == "modules" || *name == "worktrees")
}

/// A folder of git, one that is called so or one that looks so.
struct GitFolder<'r> {
    root: &'r WorkspaceRoot,
    path: &'r Path,
    folder: OwnedFd,
    all: Vec<RepositoryHazard>,
}

fn hazards_of_folder(root: &WorkspaceRoot, path: &Path) -> io::Result<Vec<RepositoryHazard>> {
    let folder = root.folder_opened(path)?;
    let mut looked = GitFolder { root, path, folder, all: Vec::new() };
    for (count, entry) in entries(&looked.folder)?.enumerate() {
        let entry = entry?;
        if count >= NAMES_MAX {
            looked.all.push(RepositoryHazard::new(path.to_owned(), "it holds too many names"));
            break;
        }
        let found = stat_in(&looked.folder, &entry.name)?;
        if let Some(found) = found {
            looked.at(&entry.name, &found)?;
        }
    }
    Ok(looked.all)
}

impl GitFolder<'_> {
    fn at(&mut self, name: &OsStr, found: &Stat) -> io::Result<()> {
        let text = name.to_str().unwrap_or_default();
        let is_folder = kind(found) == FileType::Directory;
        match text {
            "hooks" | "info" | "branches" => self.folder_at(text, found)?,
            "rebase-merge" | "rebase-apply" | "sequencer" => self.folder_at(text, found)?,
            "objects" if is_folder => {
                self.objects()?;
                self.links_in(text)?;
            }
            _ if is_folder && FOLDERS.contains(&text) => self.links_in(text)?,
            _ if is_folder || kind(found) != FileType::RegularFile => {
                self.add_hazard(name, found, "is not known to be plain");
            }
            _ if !is_own_file(found) => self.add_hazard(name, found, "has another name or owner"),
            "config" => self.settings()?,
            "commondir" if !self.is_shared_plainly() => {
                self.add_hazard(name, found, "leads git to other settings");
            }
            "commondir" => {}
            "gitdir" if self.is_work_tree() => {}
            _ if FILES.contains(&text) || is_data(text) => {}
            _ => self.add_hazard(name, found, "is not known to be plain"),
        }
        Ok(())
    }

    fn add_hazard(&mut self, name: &OsStr, found: &Stat, words: &str) {
        let shown = clean(name.as_encoded_bytes());
        let detail = detail(found);
        let hazard = RepositoryHazard::new(self.path.join(name), format!("{shown} {words}"));
        self.all.push(RepositoryHazard { detail, ..hazard });
    }

    /// `.git/worktrees/<name>`.
    fn is_work_tree(&self) -> bool {
        let outer = self.path.parent().and_then(Path::file_name);
        outer.is_some_and(|name| name == "worktrees") && part_of(self.root, self.path).is_some()
    }

    /// Whether it shares what the repository has whose work tree it is, and that is plain too. Git
    /// takes it for one by less than a repository needs.
    fn is_shared_plainly(&self) -> bool {
        let goal = read_in(&self.folder, "commondir", BYTES_MAX).ok();
        let goal = goal.and_then(|bytes| commondir(&bytes));
        let shared = self.path.parent().and_then(Path::parent);
        self.is_work_tree()
            && goal.as_deref() == Some(Path::new("../.."))
            && shared.is_some_and(|shared| {
                hazards_of_folder(self.root, shared).is_ok_and(|found| found.is_empty())
            })
    }

    /// Git writes through links in its folders: a line of a log would be added to any file.
    fn links_in(&mut self, name: &str) -> io::Result<()> {
        let mut folders = vec![self.path.join(name)];
        let mut left = ENTRIES_MAX;
        while let Some(path) = folders.pop() {
            for entry in entries(&self.root.folder_opened(&path)?)? {
                let entry = entry?;
                left -= 1;
                let inner = path.join(&entry.name);
                match entry.kind {
                    _ if left == 0 => {
                        self.all
                            .push(RepositoryHazard::new(self.path.join(name), "it is too large"));
                        return Ok(());
                    }
                    FileType::Directory => folders.push(inner),
                    FileType::RegularFile => {}
                    _ => self.all.push(RepositoryHazard::new(inner, format!("a link in {name}"))),
                }
            }
        }
        Ok(())
    }

    fn folder_at(&mut self, name: &str, found: &Stat) -> io::Result<()> {
        if kind(found) != FileType::Directory {
            self.add_hazard(OsStr::new(name), found, "is not a folder");
            return Ok(());
        }
        let inner = self.root.folder_opened(&self.path.join(name))?;
        for (count, entry) in entries(&inner)?.enumerate() {
            let entry = entry?;
            let part = Path::new(name).join(&entry.name);
            let Some(found) = stat_in(&inner, &entry.name)? else { continue };
            let text = entry.name.to_str().unwrap_or_default();
            let is_plain = match name {
                "hooks" => text.ends_with(".sample") && kind(&found) == FileType::RegularFile,
                "info" => INFO.contains(&text) && is_own_file(&found),
                "branches" => false,
                _ => is_own_file(&found) && is_plain_step(&inner, text),
            };
            if !is_plain || count >= NAMES_MAX {
                let shown = clean(part.as_os_str().as_encoded_bytes());
                let hazard = RepositoryHazard::new(self.path.join(&part), shown);
                self.all.push(RepositoryHazard { detail: detail(&found), ..hazard });
            }
            if count >= NAMES_MAX {
                break;
            }
        }
        Ok(())
    }

    /// A list of other stores would be read by ours and by the person's git.
    fn objects(&mut self) -> io::Result<()> {
        let info = self.path.join("objects/info");
        match self.root.stat(&info)? {
            None => return Ok(()),
            Some(found) if kind(&found) != FileType::Directory => {
                self.add_hazard(OsStr::new("objects/info"), &found, "leads elsewhere");
                return Ok(());
            }
            Some(_) => {}
        }
        for name in ["objects/info/alternates", "objects/info/http-alternates"] {
            if let Some(found) = self.root.stat(&self.path.join(name))? {
                self.add_hazard(OsStr::new(name), &found, "leads elsewhere");
            }
        }
        Ok(())
    }

    /// Every setting that is not known to be harmless counts: new ones come with each git.
    fn settings(&mut self) -> io::Result<()> {
        let bytes = read_in(&self.folder, "config", git_settings::BYTES_MAX)?;
        let part = self.path.join("config");
        let (settings, is_whole) = parse(&bytes);
        if !is_whole {
            self.all.push(RepositoryHazard::new(part.clone(), "its config cannot be read"));
        }
        for setting in settings {
            let is_home = setting.name == "core.worktree"
                && part_of(self.root, self.path).is_some_and(|part| part == "modules")
                && resolved(self.root, self.path, Path::new(&setting.value)).is_some();
            if !is_home && !is_harmless(&setting.name, &setting.value) {
                let hazard = RepositoryHazard::new(part.clone(), clean(setting.name.as_bytes()));
                self.all.push(RepositoryHazard { detail: setting.value, ..hazard });
            }
        }
        Ok(())
    }
}

/// A file that can be written by another name is not the same once it was.
fn detail(found: &Stat) -> String {
    match kind(found) == FileType::RegularFile && found.st_nlink > 1 {
        true => stamp(found),
        false => String::new(),
    }
}

/// `HEAD`, `MERGE_MSG` and their kind, locks, and parts of the index.
fn is_data(name: &str) -> bool {
    let is_capital = |sign: char| sign.is_ascii_uppercase() || sign == '_' || sign == '-';
    let is_pseudo = !name.is_empty() && name.chars().all(is_capital);
    let ending = Path::new(name).extension();
    let is_index = name.starts_with("sharedindex.") || name.starts_with("index.");
    is_pseudo || is_index || ending.is_some_and(|ending| ending == "lock")
}
