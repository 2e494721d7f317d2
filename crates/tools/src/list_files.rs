//! The files of a workspace, for people who name one.

use crate::search_code::can_be_walked;
use ignore::WalkBuilder;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a big tree is walked at most.
const WALK_MAX: Duration = Duration::from_millis(150);

/// Paths of files within the workspace, in a fixed order, without those that its lists of what to
/// leave out name. A tree that is too big is listed in part.
#[must_use]
pub fn list_files(workspace: &Path, most: usize) -> Vec<String> {
    let begun = Instant::now();
    let walk = WalkBuilder::new(workspace)
        .current_dir(workspace)
        .follow_links(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .filter_entry(|entry| can_be_walked(entry.path()))
        .sort_by_file_name(Ord::cmp)
        .build();
    walk.filter_map(Result::ok)
        .take_while(|_| begun.elapsed() < WALK_MAX)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| Some(entry.path().strip_prefix(workspace).ok()?.to_str()?.to_owned()))
        .filter(|path| !path.contains(char::is_control))
        .take(most)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::list_files;

    #[test]
    fn what_is_left_out_of_git_is_left_out_here() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), "built\n").unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        ["src/main.rs", "notes.md", "built"].iter().for_each(|name| write(name));
        std::fs::write(folder.path().join(".gitignore"), "built\n").unwrap();
        assert_eq!(list_files(folder.path(), 9), ["notes.md", "src/main.rs"]);
        assert_eq!(list_files(folder.path(), 1), ["notes.md"]);
    }
}
