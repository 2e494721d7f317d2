//! From TOML to tasks. An error names the file and the line.

use super::ContestTask;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Why tasks could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The folder or a file in it cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// There is no task file in the folder.
    #[error("there is no .toml file in {}", folder.display())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// A file is not a valid task.
    #[error("{file}:{line}: {reason}")]
    Bad {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

/// The tasks of a folder, by file name.
///
/// # Errors
/// See [`TaskError`]. One invalid file is an error, because the set would be another one without
/// it.
pub fn from_folder(folder: &Path) -> Result<Vec<ContestTask>, TaskError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| TaskError::Unreadable { path, source }
    };
    let entries = std::fs::read_dir(folder).map_err(unreadable(folder))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable(folder))?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(TaskError::Empty { folder: folder.to_owned() });
    }
    let mut known = BTreeMap::new();
    let mut tasks = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        let name = path.display().to_string();
        let task = read(&name, &text)?;
        if let Some(earlier) = known.insert(task.name.clone(), name.clone()) {
            let line = line_of_key(&text, "name");
            let reason = format!("name: {} is also the name of {earlier}", task.name);
            return Err(TaskError::Bad { file: name, line, reason });
        }
        tasks.push(task);
    }
    Ok(tasks)
}

/// One task.
pub(super) fn read(file: &str, text: &str) -> Result<ContestTask, TaskError> {
    let bad = |line, reason: String| TaskError::Bad { file: file.to_owned(), line, reason };
    let mut task: ContestTask = toml::from_str(text)
        .map_err(|error| bad(line_at(text, error.span()), error.message().trim().to_owned()))?;
    task.goal = task.goal.split_whitespace().collect::<Vec<_>>().join(" ");
    match wrong(&task) {
        Some((key, reason)) => Err(bad(line_of_key(text, key), format!("{key}: {reason}"))),
        None => Ok(task),
    }
}

/// An error in a task that has the right form.
fn wrong(task: &ContestTask) -> Option<(&'static str, String)> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if task.name.is_empty() || !task.name.chars().all(plain) {
        return Some(("name", "must be letters, digits and hyphens".to_owned()));
    }
    if task.goal.is_empty() {
        return Some(("goal", "is empty".to_owned()));
    }
    if let Some(path) = task.files.keys().find(|path| !stays_inside(path)) {
        return Some(("files", format!("{path} is not a path inside the workspace")));
    }
    if let Some((check, why)) = task.checks.iter().find_map(|c| Some((c, c.is_wrong()?))) {
        return Some(("checks", format!("{} {why}", check.shown())));
    }
    if task.failed(&task.untouched()).is_empty() {
        let reason = "hold before anything is done, so they say nothing about a run";
        return Some(("checks", reason.to_owned()));
    }
    None
}

fn stays_inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|c| matches!(c, Component::Normal(_)))
}

fn line_at(text: &str, span: Option<Range<usize>>) -> usize {
    let until = span.map_or(0, |span| span.start).min(text.len());
    text.as_bytes()[..until].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The line of a key; the first line if it is missing.
fn line_of_key(text: &str, key: &str) -> usize {
    let begins = |line: &str| {
        let line = line.trim_start().trim_start_matches('[');
        let rest = line.strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', ']', '.']))
    };
    text.lines().position(begins).map_or(1, |at| at + 1)
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
