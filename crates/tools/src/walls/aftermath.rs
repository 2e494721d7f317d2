//! What a command made at the top of the workspace that others would obey: a repository whose hooks
//! or settings run programs.
//!
//! ```text
//!   none before ──► command ──► there now, and it runs programs ──► renamed, and the model is told
//! ```
//!
//! A repository that was there before is shut ([`super::places`]); one that is new cannot be, since
//! making one (`git init`) is a fair thing to do. Nothing is removed: a person who wants it gives
//! it its name back.
//!
//! Deliberately absent: a look after a command whose end nobody here saw, because we were killed.

use crate::clean::clean;
use crate::git_config::runs_programs_for_a_person;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a renamed thing is called.
const ASIDE: &str = "set-aside";

/// Names that are tried for it.
const NAMES_MAX: usize = 1_000;

/// The files by which git takes a folder itself for a repository.
const BARE: [&str; 3] = ["HEAD", "objects", "refs"];

/// What was not there before a command.
#[derive(Debug)]
pub(crate) struct Watch {
    workspace: PathBuf,
    /// Paths below the workspace that others would obey.
    missing: Vec<&'static str>,
    /// Whether repositories were not all looked for.
    is_cut: bool,
}

impl Watch {
    /// Looks at what is not there yet.
    pub(crate) fn begin(workspace: &Path, is_cut: bool) -> Self {
        let names = [".git", ".hg", ".jj", ".git/commondir", BARE[0]];
        let missing = |name: &&str| fs::symlink_metadata(workspace.join(name)).is_err();
        let missing = names.into_iter().filter(missing).collect();
        Self { workspace: workspace.to_owned(), missing, is_cut }
    }

    /// Takes the sting out of what the command made, and says so.
    pub(crate) fn end(&self) -> Vec<String> {
        let mut said = Vec::new();
        for name in &self.missing {
            let path = self.workspace.join(name);
            if fs::symlink_metadata(&path).is_ok()
                && let Some(why) = self.obeyed(name, &path)
            {
                said.push(set_aside(name, &path, &why));
            }
        }
        if self.is_cut {
            let words =
                "the workspace is wide: not every nested repository was looked for and shut";
            said.push(words.to_owned());
        }
        said
    }

    /// Why others would run programs by it.
    fn obeyed(&self, name: &str, path: &Path) -> Option<String> {
        match name {
            ".git" => git_runs(path),
            ".git/commondir" => Some("it leads git to other settings".to_owned()),
            ".hg" => there(path, &["hgrc", "hgrc-not-shared", "sharedpath"]),
            ".jj" => there(path, &["repo/config.toml", "config.toml"]),
            _ => {
                let is_bare = BARE.iter().all(|part| self.workspace.join(part).exists());
                let is_hidden = self.workspace.join(".git").exists();
                (is_bare && !is_hidden).then(|| "git takes the folder for a repository".to_owned())
            }
        }
    }
}

fn there(folder: &Path, names: &[&str]) -> Option<String> {
    if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        return Some("it leads elsewhere".to_owned());
    }
    let found = names.iter().find(|name| fs::symlink_metadata(folder.join(name)).is_ok());
    found.map(|name| (*name).to_owned())
}

fn git_runs(folder: &Path) -> Option<String> {
    if let Some(why) = there(folder, &["commondir", "config.worktree"]) {
        return Some(why);
    }
    let hooks = fs::read_dir(folder.join("hooks")).into_iter().flatten().flatten();
    let mut hooks = hooks.map(|hook| clean(hook.file_name().as_encoded_bytes()));
    if let Some(hook) = hooks.find(|name| !name.ends_with(".sample")) {
        return Some(format!("hooks/{hook}"));
    }
    let is_link = |name: &str| folder.join(name).is_symlink();
    if let Some(name) = ["hooks", "config"].into_iter().find(|name| is_link(name)) {
        return Some(format!("{name} is a link"));
    }
    match keys(&folder.join("config")) {
        Some(keys) => keys.into_iter().find(|key| runs_programs_for_a_person(key)),
        None => Some("its config cannot be read".to_owned()),
    }
}

/// The keys of a file of settings; reading one runs nothing.
fn keys(file: &Path) -> Option<Vec<String>> {
    if !file.exists() {
        return Some(Vec::new());
    }
    let mut command = Command::new("git");
    command.args(["config", "--no-includes", "--list", "--name-only", "--file"]).arg(file);
    let output = command.current_dir("/").stdin(Stdio::null()).output().ok()?;
    let text = output.status.success().then(|| clean(&output.stdout))?;
    Some(text.lines().map(str::to_owned).collect())
}

fn set_aside(name: &str, path: &Path, why: &str) -> String {
    let free = (1..NAMES_MAX)
        .map(|number| match number {
            1 => format!("{name}-{ASIDE}"),
            number => format!("{name}-{ASIDE}-{number}"),
        })
        .map(|new| (path.with_file_name(Path::new(&new).file_name().unwrap_or_default()), new))
        .find(|(path, _)| fs::symlink_metadata(path).is_err());
    let moved = free.and_then(|(to, new)| fs::rename(path, to).ok().map(|()| new));
    match moved {
        Some(new) => format!(
            "{name} was made by this command and would make others run programs ({why}): it was \
             renamed to {new}"
        ),
        None => format!(
            "{name} was made by this command and would make others run programs ({why}): it could \
             not be renamed, tell the user"
        ),
    }
}
