//! What in a repository makes somebody's own version control run programs, or leads it elsewhere.

use super::repositories::lead;
use crate::clean::clean;
use crate::git_config::is_harmless;
use crate::programs::find_program;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How deep modules of modules are looked for.
const DEPTH_MAX: usize = 8;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sting {
    /// The file or folder that does it.
    pub(crate) part: PathBuf,
    pub(crate) why: String,
}

impl Sting {
    fn new(part: PathBuf, why: impl Into<String>) -> Self {
        Self { part, why: why.into() }
    }
}

/// What else than git would run something by, where it is new: its name, and what in it counts. An
/// empty list means all of it.
const OTHERS: [(&str, &[&str]); 10] = [
    (".hg", &["hgrc", "hgrc-not-shared", "sharedpath"]),
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

/// All of a repository, by its own path: a folder, a file or a link with one of the known names, or
/// a folder that git takes for one.
pub(crate) fn stings(workspace: &Path, path: &Path) -> Vec<Sting> {
    let name = path.file_name().unwrap_or_default();
    let other = OTHERS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
    match other {
        Some((_, parts)) => of_others(workspace, path, parts),
        None => of_git(workspace, path),
    }
}

fn of_others(workspace: &Path, path: &Path, parts: &[&str]) -> Vec<Sting> {
    if parts.is_empty() {
        return vec![Sting::new(path.to_owned(), "its programs run or obey it")];
    }
    if !is_folder(path) {
        return vec![Sting::new(path.to_owned(), "it leads elsewhere")];
    }
    let found = parts.iter().filter(|part| fs::symlink_metadata(path.join(part)).is_ok());
    let mut all: Vec<Sting> = found.map(|part| Sting::new(path.join(part), *part)).collect();
    let inner = path.join("repo/store/git");
    if inner.is_dir() {
        all.extend(of_folder(workspace, &inner, 0));
    }
    let repo = path.join("repo");
    if fs::symlink_metadata(&repo).is_ok_and(|found| !found.is_dir()) {
        all.push(Sting::new(repo, "it leads elsewhere"));
    }
    all
}

fn of_git(workspace: &Path, path: &Path) -> Vec<Sting> {
    if is_folder(path) {
        return of_folder(workspace, path, 0);
    }
    if has_second_name(path) {
        return vec![Sting::new(path.to_owned(), "it has a second name")];
    }
    // A module or another work tree of a repository in here; anything else is not git's doing.
    let goal = lead(path).filter(|goal| goal.starts_with(workspace) && is_part(workspace, goal));
    match goal {
        Some(goal) => of_folder(workspace, &goal, 0),
        None => vec![Sting::new(path.to_owned(), "it leads elsewhere")],
    }
}

/// Whether a file can also be written under another name, which no wall around this one shuts.
fn has_second_name(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.nlink() > 1)
}

/// Whether a folder lies in what a repository keeps of its modules and work trees.
fn is_part(workspace: &Path, folder: &Path) -> bool {
    let inner = folder.strip_prefix(workspace).unwrap_or(folder);
    let names: Vec<_> = inner.iter().collect();
    names
        .windows(2)
        .any(|pair| pair[0] == ".git" && (pair[1] == "modules" || pair[1] == "worktrees"))
}

fn of_folder(workspace: &Path, folder: &Path, depth: usize) -> Vec<Sting> {
    let mut all = Vec::new();
    let common = folder.join("commondir");
    if fs::symlink_metadata(&common).is_ok() {
        let goal =
            lead(&common).filter(|goal| goal.starts_with(workspace) && folder.starts_with(goal));
        if goal.is_none_or(|goal| !is_part(workspace, folder) || goal == folder) {
            all.push(Sting::new(common, "commondir leads git to other settings"));
        }
    }
    for name in ["hooks", "config", "config.worktree", "modules", "worktrees"] {
        if folder.join(name).is_symlink() {
            all.push(Sting::new(folder.join(name), format!("{name} is a link")));
        }
    }
    for name in ["config", "config.worktree", "commondir"] {
        if has_second_name(&folder.join(name)) {
            all.push(Sting::new(folder.join(name), format!("{name} has a second name")));
        }
    }
    let hooks = folder.join("hooks");
    for hook in fs::read_dir(&hooks).into_iter().flatten().flatten() {
        let name = clean(hook.file_name().as_encoded_bytes());
        if !name.ends_with(".sample") {
            all.push(Sting::new(hook.path(), format!("hooks/{name}")));
        }
    }
    for name in ["config", "config.worktree"] {
        all.extend(of_settings(workspace, folder, &folder.join(name)));
    }
    if depth < DEPTH_MAX {
        all.extend(of_modules(workspace, &folder.join("modules"), depth));
    }
    all
}

/// Modules have names with slashes, and modules of their own.
fn of_modules(workspace: &Path, folder: &Path, depth: usize) -> Vec<Sting> {
    if !is_folder(folder) {
        return Vec::new();
    }
    if depth >= DEPTH_MAX {
        return vec![Sting::new(folder.to_owned(), "its modules are nested too deep")];
    }
    let inner = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let folders = inner.filter(|path| is_folder(path));
    let all = folders.flat_map(|path| match path.join("HEAD").exists() {
        true => of_folder(workspace, &path, depth + 1),
        false => of_modules(workspace, &path, depth + 1),
    });
    all.collect()
}

/// Every setting that is not known to be harmless counts: new ones come with each git.
fn of_settings(workspace: &Path, folder: &Path, file: &Path) -> Vec<Sting> {
    let Ok(found) = fs::symlink_metadata(file) else { return Vec::new() };
    let sting = |why: String| vec![Sting::new(file.to_owned(), why)];
    let Some(settings) = found.is_file().then(|| settings(file)).flatten() else {
        return sting("its config cannot be read".to_owned());
    };
    let is_fine = |name: &str, value: &str| {
        let is_home = name == "core.worktree" && is_part(workspace, folder);
        let is_inside = || {
            let goal = folder.join(value).canonicalize();
            goal.is_ok_and(|goal| goal.starts_with(workspace))
        };
        is_harmless(name) || is_home && is_inside()
    };
    match settings.iter().find(|(name, value)| !is_fine(name, value)) {
        Some((name, _)) => sting(clean(name.as_bytes())),
        None => Vec::new(),
    }
}

/// The names and values of a file of settings; reading one runs nothing.
fn settings(file: &Path) -> Option<Vec<(String, String)>> {
    let mut command = Command::new(find_program("git")?);
    command.env_clear().env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.args(["config", "--no-includes", "--list", "-z", "--file"]).arg(file);
    let output = command.current_dir("/").stdin(Stdio::null()).output().ok()?;
    let text =
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())?;
    let pairs = text.split_terminator('\0').map(|pair| pair.split_once('\n').unwrap_or((pair, "")));
    Some(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
