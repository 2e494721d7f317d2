//! The programs that Everloop starts outside the sandbox: where each is, and why it is trusted.
//!
//! ```text
//!   name ──► each folder of PATH ──► the real file ──► only root and this account can change it,
//!                                                      and it is in no workspace
//! ```
//!
//! A folder of the search path may lie in the workspace (a virtual environment,
//! `node_modules/.bin`), where a command puts what it likes. Such folders are passed over, and so
//! are relative ones and those that others may write. Programs that we start look for theirs in the
//! same folders.
//!
//! Deliberately absent: the programs of a command in a sandbox, which may use any.

use crate::home;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock};

/// The running program, even after its file was replaced.
const SELF: &str = "/proc/self/exe";

/// Folders in which runs of this process work. What lies in one is never run by us.
static WORKSPACES: RwLock<BTreeSet<PathBuf>> = RwLock::new(BTreeSet::new());

/// Registers a folder, without links, as one that runs write to.
pub(crate) fn register_workspace(workspace: &Path) {
    let mut known = WORKSPACES.write().unwrap_or_else(PoisonError::into_inner);
    known.insert(workspace.to_owned());
}

/// Files that the settings make us run outside the sandbox: programs, and scripts given to them.
/// Where one is in a workspace, tools ask before they change it and commands can only read it.
static RUN_BY_US: RwLock<BTreeSet<PathBuf>> = RwLock::new(BTreeSet::new());

/// Endings of files that programs run.
const SCRIPTS: [&str; 12] =
    ["cjs", "jar", "js", "lua", "mjs", "php", "pl", "py", "rb", "sh", "ts", "wasm"];

/// Registers the programs and scripts in a command of the settings as files that we run.
/// Folders and data that it is given are not.
pub fn register_programs<'w>(words: impl IntoIterator<Item = &'w str>) {
    let mut known = RUN_BY_US.write().unwrap_or_else(PoisonError::into_inner);
    for word in words {
        let value = word.split_once('=').map_or(word, |(_, value)| value);
        let paths = [word, value].map(PathBuf::from).into_iter();
        known.extend(paths.filter(|path| path.is_absolute() && is_run(path)));
    }
}

/// A program or script among the words of a command that lies where runs write, or here: what
/// lies beside it would be run with it, outside the sandbox.
#[must_use]
pub fn run_from_workspace<'w>(
    words: impl IntoIterator<Item = &'w str>,
    here: Option<PathBuf>,
) -> Option<PathBuf> {
    let known = WORKSPACES.read().unwrap_or_else(PoisonError::into_inner);
    let here = here.and_then(|here| here.canonicalize().ok());
    let workspaces: Vec<PathBuf> = known.iter().cloned().chain(here).collect();
    let ends_path = |c: char| c.is_whitespace() || "'\"=;:,()&|<>`".contains(c);
    let paths = words.into_iter().flat_map(|word| word.split(ends_path)).map(Path::new);
    let paths = paths.filter(|path| path.is_absolute() && (is_run(path) || is_package(path)));
    let mut real = paths.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    real.find(|path| workspaces.iter().any(|workspace| path.starts_with(workspace)))
}

/// Whether a folder is itself what an interpreter runs, or takes modules from.
fn is_package(path: &Path) -> bool {
    ["__main__.py", "__init__.py", "index.js"].iter().any(|name| path.join(name).exists())
}

fn is_run(path: &Path) -> bool {
    let is_script = path.extension().is_some_and(|end| SCRIPTS.iter().any(|known| end == *known));
    let is_program = |found: Metadata| found.is_file() && found.mode() & 0o111 != 0;
    is_script || fs::metadata(path).is_ok_and(is_program)
}

pub(crate) fn registered_programs() -> Vec<PathBuf> {
    let known = RUN_BY_US.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().cloned().collect()
}

/// The real path of a trusted program of this name.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    let workspaces = workspaces();
    let folders = folders(&workspaces);
    // A folder of another project may be on the path; what the system has comes first.
    let (system, others): (Vec<_>, Vec<_>) = folders.into_iter().partition(|f| is_of_system(f));
    let others = others.into_iter().filter(|folder| !is_of_project(folder));
    system.into_iter().chain(others).find_map(|folder| {
        let file = folder.join(name).canonicalize().ok()?;
        let found = fs::metadata(&file).ok()?;
        let is_program = found.is_file() && found.permissions().mode() & 0o111 != 0;
        (is_program && is_trusted(&file, &workspaces)).then_some(file)
    })
}

/// The real path of a program that a person named, if it is trusted.
#[must_use]
pub fn trusted_program(path: &Path) -> Option<PathBuf> {
    let file = path.canonicalize().ok().filter(|_| path.is_absolute())?;
    is_trusted(&file, &workspaces()).then_some(file)
}

/// Whether a path is where runs can write, and is not protected from them.
pub(crate) fn is_in_workspace(place: &Path) -> bool {
    workspaces().iter().any(|workspace| place.starts_with(workspace))
}

/// The search path without the folders that are not trusted.
#[must_use]
pub fn search_path() -> OsString {
    let folders = folders(&workspaces()).into_iter().filter(|folder| !is_of_project(folder));
    std::env::join_paths(folders).unwrap_or_default()
}

/// Where the system's own packages put programs.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/nix/store", "/gnu/store", "/run", "/snap"];

fn is_of_system(folder: &Path) -> bool {
    SYSTEM.iter().any(|system| folder.starts_with(system))
}

/// Names that mark a folder as a project, in which commands may have run.
const PROJECT: [&str; 6] =
    [".git", "pyvenv.cfg", "package.json", "node_modules", "Cargo.toml", "pyproject.toml"];

/// Folders that such projects keep programs in.
const INSTALLED: [&str; 7] = [".direnv", ".nox", ".tox", ".venv", "env", "node_modules", "venv"];

fn is_of_project(folder: &Path) -> bool {
    if folder.iter().any(|part| INSTALLED.iter().any(|name| part == *name)) {
        return true;
    }
    let home = home::folder();
    let around = folder.ancestors().take_while(|part| Some(*part) != home.as_deref());
    !is_of_system(folder)
        && around
            .filter(|part| part.parent().is_some())
            .any(|part| PROJECT.iter().any(|name| part.join(name).exists()))
}

/// This program itself, to be started again: the image that runs, whatever became of its file.
#[must_use]
pub fn own_program() -> Option<PathBuf> {
    match Path::new(SELF).exists() {
        true => Some(PathBuf::from(SELF)),
        false => std::env::current_exe().ok(),
    }
}

/// The file of a helper, which no tool may change.
pub(crate) fn file_of(helper: &Path) -> Option<PathBuf> {
    helper.canonicalize().ok()
}

/// A path by which others can open a helper: its file, or a copy of our own image if that file is
/// another one by now.
pub(crate) fn image_of(helper: &Path) -> io::Result<PathBuf> {
    if helper != Path::new(SELF) {
        return Ok(helper.to_owned());
    }
    let running = fs::metadata(SELF)?;
    let same = |found: &Metadata| (found.dev(), found.ino()) == (running.dev(), running.ino());
    let file = fs::read_link(SELF)?;
    if fs::symlink_metadata(&file).is_ok_and(|found| same(&found)) {
        return Ok(file);
    }
    static COPY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    COPY.get_or_init(|| copy().map_err(|error| error.to_string())).clone().map_err(io::Error::other)
}

/// Our own image in a private folder; it is left to the system's cleaning of temporary files.
fn copy() -> io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("everloop-image-{}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let file = folder.join("everloop");
    fs::copy(SELF, &file)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o500))?;
    Ok(file)
}

/// Those that are known, and the folder where we were started.
fn workspaces() -> Vec<PathBuf> {
    let known = WORKSPACES.read().unwrap_or_else(PoisonError::into_inner);
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    // A service often starts at the root, which says nothing about where it works.
    let here = here.filter(|here| here.parent().is_some());
    known.iter().cloned().chain(here).collect()
}

/// The folders of the search path that are trusted, without links.
fn folders(workspaces: &[PathBuf]) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let real = folders.filter_map(|folder| folder.canonicalize().ok());
    real.filter(|folder| folder.is_dir() && is_trusted(folder, workspaces)).collect()
}

/// Whether only root and this account can change a path without links, and no run can.
fn is_trusted(path: &Path, workspaces: &[PathBuf]) -> bool {
    let account = rustix::process::geteuid().as_raw();
    let by_root =
        path.ancestors().all(|part| fs::metadata(part).is_ok_and(|found| found.uid() == 0));
    let is_fixed = by_root && account != 0;
    let is_within = |workspace: &PathBuf| {
        path.starts_with(workspace) && !home::is_start_up_file(workspace, path)
    };
    if !is_fixed && workspaces.iter().any(is_within) {
        return false;
    }
    path.ancestors().all(|part| fs::metadata(part).is_ok_and(|found| is_ours(&found, account)))
}

/// Bits of a mode.
const STICKY: u32 = 0o1000;
const BY_GROUP: u32 = 0o020;
const BY_ALL: u32 = 0o002;

fn is_ours(found: &Metadata, account: u32) -> bool {
    let (mode, group) = (found.mode(), found.gid());
    // Many systems give each account a group of its own, with the same number.
    let private = group == 0 || group == account;
    let others_write = mode & BY_ALL != 0 || mode & BY_GROUP != 0 && !private;
    // In a folder such as `/tmp` an account cannot move files of another one.
    let holds_still = found.is_dir() && mode & STICKY != 0;
    let owner = found.uid();
    (owner == 0 || owner == account || is_unmapped(owner)) && (!others_write || holds_still)
}

/// Whether it belongs to an account that does not exist in here, as the system does in some
/// containers: then no account in here is its owner.
fn is_unmapped(owner: u32) -> bool {
    static NOBODY: OnceLock<Option<u32>> = OnceLock::new();
    let nobody = NOBODY.get_or_init(|| {
        let map = fs::read_to_string("/proc/self/uid_map").ok()?;
        let is_whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
        let nobody = fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?;
        nobody.trim().parse().ok().filter(|_| !is_whole)
    });
    *nobody == Some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(root: &Path, name: &str, mode: u32) -> PathBuf {
        let path = root.join(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn what_others_can_change_and_what_lies_in_a_workspace_is_not_trusted() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let good = folder(&root, "good", 0o755);
        let shared = folder(&root, "shared", 0o777);
        let inner = folder(&shared, "inner", 0o755);
        assert!(is_trusted(&good, &[]));
        assert!(!is_trusted(&shared, &[]) && !is_trusted(&inner, &[]));
        assert!(
            !is_trusted(&good, std::slice::from_ref(&root))
                && !is_trusted(&good, std::slice::from_ref(&good))
        );
        assert!(is_trusted(&good, &[root.join("goo")]));
        let group = folder(&root, "group", 0o775);
        let is_private =
            [0, rustix::process::geteuid().as_raw()].contains(&fs::metadata(&group).unwrap().gid());
        assert_eq!(is_trusted(&group, &[]), is_private);
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(is_trusted(&inner, &[]));
    }

    #[test]
    fn our_own_image_is_found_by_its_file_and_others_by_theirs() {
        let own = image_of(Path::new(SELF)).unwrap();
        assert_eq!(own, std::env::current_exe().unwrap().canonicalize().unwrap());
        assert_eq!(image_of(Path::new("/bin/sh")).unwrap(), Path::new("/bin/sh"));
    }
}
