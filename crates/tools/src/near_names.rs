//! Suggestions for a path that does not exist.

use crate::{Workspace, WorkspaceError};
use std::path::Path;

/// Entries of the folder that are read, and names that are suggested.
const ENTRIES_MAX: usize = 2_000;
const NAMES_MAX: usize = 5;

/// Letters at the beginning that a suggestion shares with the last part of the path.
const SAME_LETTERS: usize = 3;

/// The error for the model, with similar names where nothing is at the path.
pub(crate) fn describe_error(workspace: &Workspace, error: &WorkspaceError) -> String {
    let text = error.text();
    match error {
        WorkspaceError::Missing { path } => match similar_names(workspace, path).as_slice() {
            [] => text,
            names => format!("{text}; there is {}", names.join(", ")),
        },
        _ => text,
    }
}

fn similar_names(workspace: &Workspace, path: &Path) -> Vec<String> {
    let Some(wanted) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else {
        return Vec::new();
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let Ok((dir, relative)) = workspace.entry(parent) else { return Vec::new() };
    let Ok(entries) = dir.read_dir(&relative) else { return Vec::new() };
    let names =
        entries.take(ENTRIES_MAX).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| begins_alike(&name.to_lowercase(), &wanted)).collect();
    names.sort();
    names.truncate(NAMES_MAX);
    names.iter().map(|name| parent.join(name)).map(shown).collect()
}

fn begins_alike(name: &str, wanted: &str) -> bool {
    let same = name.chars().zip(wanted.chars()).take_while(|(a, b)| a == b).count();
    same >= SAME_LETTERS.min(wanted.chars().count()).max(1) && !name.chars().any(char::is_control)
}

fn shown(path: std::path::PathBuf) -> String {
    path.strip_prefix(".").unwrap_or(&path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::describe_error;
    use crate::Workspace;

    #[test]
    fn a_missing_file_is_told_with_names_that_begin_alike() {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        for name in ["log.txt", "Logs.md", "other.txt", "sub/report-1.csv"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        let missing = |path: &str| {
            let error = workspace.read(path.as_ref(), 10).unwrap_err();
            describe_error(&workspace, &error)
        };
        assert_eq!(missing("logs"), "logs does not exist; there is Logs.md, log.txt");
        assert_eq!(
            missing("sub/report.csv"),
            "sub/report.csv does not exist; there is sub/report-1.csv"
        );
        assert_eq!(missing("nothing"), "nothing does not exist");
        assert_eq!(missing("none/log.txt"), "none/log.txt does not exist");
    }
}
