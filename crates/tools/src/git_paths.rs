//! Paths in the settings of git: files and folders that it reads or runs.
//!
//! Commands cannot change a repository, but its settings may name hooks, more settings or a program
//! elsewhere in the workspace. A command that writes those decides what git of the user runs.
//!
//! Deliberately absent: what a hook or a program itself runs.

use crate::git_config::is_harmless;
use crate::git_settings::{BYTES_MAX, GitSetting, parse};
use crate::sandbox::repositories::{missing_git_dir, resolve_common_dir, resolve_git_dir};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Depth of included settings; git has the same limit.
const DEPTH_MAX: usize = 10;

/// Files of settings that are read in all.
const FILES_MAX: usize = 100;

/// Words of a value that are looked at.
const WORDS_MAX: usize = 50;

/// Settings with a file that git only reads as data, or a folder that is only named.
const DATA: [&str; 14] = [
    "blame.ignorerevsfile",
    "commit.template",
    "core.excludesfile",
    "diff.orderfile",
    "format.signaturefile",
    "gpg.ssh.allowedsignersfile",
    "gpg.ssh.revocationfile",
    "gui.recentrepo",
    "mailmap.file",
    "maintenance.repo",
    "safe.directory",
    "scalar.repo",
    "core.worktree",
    "filter.lfs.required",
];

/// Ends of names whose value is a program with its arguments.
const RUN: [&str; 20] = [
    "alternaterefscommand",
    "askpass",
    "clean",
    "cmd",
    "command",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "pager",
    "process",
    "program",
    "receivepack",
    "smudge",
    "sshcommand",
    "textconv",
    "uploadpack",
    "difffilter",
];

/// The folder in which git runs programs.
#[derive(Debug)]
struct GitSite {
    tree: PathBuf,
}

/// The paths that the settings of a repository and of the user name, whether they exist or not.
/// `repository` is its `.git`, or a bare one.
pub(crate) fn configured_paths(repository: &Path) -> BTreeSet<PathBuf> {
    let Some(folder) = resolve_git_dir(repository) else {
        return missing_git_dir(repository).into_iter().collect();
    };
    let shared = resolve_common_dir(&folder).unwrap_or_else(|| folder.clone());
    let is_named = repository.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
    let tree = repository.parent().filter(|_| is_named).unwrap_or(&folder).to_owned();
    let own = [shared.join("config"), folder.join("config.worktree")];
    let mut all = GitSite { tree }.configured_paths(own.into_iter().chain(user_config_files()));
    let hooks = shared.join("hooks");
    all.extend(links_in(&hooks));
    all.insert(hooks);
    all
}

/// The same for the settings of the user alone.
pub(crate) fn user_configured_paths() -> BTreeSet<PathBuf> {
    GitSite { tree: PathBuf::from("/") }.configured_paths(user_config_files())
}

fn links_in(folder: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    names.map(|entry| entry.path()).filter(|path| path.is_symlink()).collect()
}

/// The settings files of the user and of the system.
pub(crate) fn user_config_files() -> Vec<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let home = named("HOME");
    let more = named("XDG_CONFIG_HOME").or(home.as_ref().map(|home| home.join(".config")));
    let usual = home.map(|home| home.join(".gitconfig")).into_iter();
    let usual = usual.chain(more.map(|folder| folder.join("git/config")));
    let mut all: Vec<PathBuf> = match named("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![file],
        None => usual.collect(),
    };
    all.push(PathBuf::from("/etc/gitconfig"));
    all
}

/// Settings as they are read.
#[derive(Debug, Default)]
struct LinkedSettings {
    settings: Vec<GitSetting>,
    included: BTreeSet<PathBuf>,
    files: usize,
}

impl LinkedSettings {
    /// Reads a file, and all files that it includes on any condition.
    fn file(&mut self, file: &Path, depth: usize) {
        let is_read =
            fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= BYTES_MAX);
        if !is_read || depth == 0 || self.files >= FILES_MAX {
            return;
        }
        self.files += 1;
        let (settings, _) = parse(&fs::read(file).unwrap_or_default());
        for setting in settings {
            let section = setting.name.split('.').next().unwrap_or_default();
            let is_include = matches!(section, "include" | "includeif");
            match expanded(&setting.value).filter(|_| is_include && setting.name.ends_with(".path"))
            {
                Some(path) => {
                    let path = file.parent().unwrap_or(file).join(path);
                    self.file(&path, depth - 1);
                    self.included.insert(path);
                }
                None => self.settings.push(setting),
            }
        }
    }
}

impl GitSite {
    /// The paths that files of settings name.
    fn configured_paths(&self, files: impl IntoIterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
        let mut reading = LinkedSettings::default();
        files.into_iter().for_each(|file| reading.file(&file, DEPTH_MAX));
        let mut all = reading.included;
        let hooks = reading.settings.iter().filter(|setting| setting.name == "core.hookspath");
        for hooks in hooks.filter_map(|setting| expanded(&setting.value)) {
            let hooks = self.tree.join(hooks);
            all.extend(links_in(&hooks));
            all.insert(hooks);
        }
        all.extend(reading.settings.iter().flat_map(|setting| self.program_files(setting)));
        all
    }

    /// Files that a setting names and git may run.
    fn program_files(&self, setting: &GitSetting) -> Vec<PathBuf> {
        let (name, value) = (setting.name.as_str(), setting.value.as_str());
        let key = name.rsplit('.').next().unwrap_or_default();
        if name == "core.attributesfile" {
            return expanded(value).map(|path| self.tree.join(path)).into_iter().collect();
        }
        let is_data = DATA.contains(&name) || name == "core.hookspath" || is_harmless(name, value);
        let is_alias = name.starts_with("alias.");
        if is_data || is_alias && !value.starts_with('!') || value.starts_with("git-lfs ") {
            return Vec::new();
        }
        let ends = |sign: char| sign.is_whitespace() || "\"'`;|&()<>=!,:$".contains(sign);
        let words = value.split(ends).filter(|word| !word.is_empty() && !word.starts_with('-'));
        let is_program = !is_alias && RUN.contains(&key);
        let counts = |(at, word): &(usize, &str)| {
            let has_slash = word.contains('/');
            // A program without a path is found elsewhere.
            let is_clear = has_slash || *at > 0 && (is_program || word.contains('.'));
            match expanded(word).map(|path| fs::metadata(self.tree.join(path))) {
                Some(Ok(found)) => is_clear && (found.is_file() || is_program && has_slash),
                // It may be made yet, if it is clearly a path.
                Some(Err(_)) => is_program && has_slash,
                None => false,
            }
        };
        let words = words.enumerate().take(WORDS_MAX).filter(counts);
        let paths = words.filter_map(|(_, word)| expanded(word)).map(|path| self.tree.join(path));
        paths.filter(|path| *path != self.tree).collect()
    }
}

/// A path as git takes one in a setting.
fn expanded(value: &str) -> Option<PathBuf> {
    match value.strip_prefix("~/") {
        Some(rest) => Some(PathBuf::from(std::env::var_os("HOME")?).join(rest)),
        None if value.is_empty() || value.starts_with(['~', '%']) => None,
        None => Some(PathBuf::from(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_in_settings_are_found_and_data_files_are_not() {
        let outer = tempfile::tempdir().unwrap();
        let tree = outer.path().canonicalize().unwrap();
        fs::create_dir_all(tree.join(".git/hooks")).unwrap();
        fs::create_dir_all(tree.join("tools/merge")).unwrap();
        fs::create_dir(tree.join("src")).unwrap();
        for file in ["more", "tools/clean.py", "notes", "tools/st"] {
            fs::write(tree.join(file), "").unwrap();
        }
        fs::write(tree.join("more"), "[include]\n path = yet/more\n").unwrap();
        symlink("../../tools/st", tree.join(".git/hooks/pre-push")).unwrap();
        fs::write(
            tree.join(".git/config"),
            "[core]\n hooksPath = .githooks\n excludesFile = notes\n\
             [include]\n path = ../more\n[includeIf \"onbranch:x\"]\n path = other\n\
             [filter \"x\"]\n clean = python3 tools/clean.py %f\n\
             [merge \"y\"]\n driver = node tools/merge %O\n smudge = x\n\
             [alias]\n st = \"!cd src && ../tools/st\"\n l = log notes\n\
             [diff \"z\"]\n textconv = ./yet/made.sh\n\
             [core]\n pager = src\n editor = notes\n[credential]\n helper = src\n",
        )
        .unwrap();
        let found = configured_paths(&tree.join(".git"));
        for name in [
            ".githooks",
            ".git/hooks",
            ".git/hooks/pre-push",
            "tools/clean.py",
            "tools/merge",
            "./yet/made.sh",
            "yet/more",
            ".git/../more",
            ".git/other",
        ] {
            let path = match name {
                "yet/more" => tree.join(".git/../yet/more"),
                name => tree.join(name),
            };
            assert!(found.contains(&path), "{name} {found:?}");
        }
        for name in ["src", "notes", "x", "tools"] {
            assert!(!found.contains(&tree.join(name)), "{name} {found:?}");
        }
    }
}
