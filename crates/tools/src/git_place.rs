//! Where the repository of a workspace lies, and why nothing outside is shown by it.
//!
//! A folder from elsewhere may contain a `.git` that refers to other folders of the disk: by a
//! file, a link, `commondir`, `alternates`. A reference out of the workspace is refused, except for
//! a work tree that the repository itself lists: only the user can have added it.

use crate::sandbox::repositories::{resolve_common_dir, resolve_git_dir};
use std::fs;
use std::path::{Path, PathBuf};

/// Depth of alternate object stores; git has the same limit.
const DEPTH_MAX: usize = 5;

/// A repository, both paths without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitPlace {
    /// Its folder for this work tree.
    pub(crate) folder: PathBuf,
    /// The folder that all work trees share; mostly the same.
    pub(crate) common: PathBuf,
}

impl GitPlace {
    /// Finds it. An error names the reference out of the workspace.
    pub(crate) fn of(root: &Path) -> Result<Self, String> {
        let name = root.join(".git");
        let outside = || format!("{} leads out of the workspace; ask the user", name.display());
        let folder = resolve_git_dir(&name).ok_or_else(|| "there is no repository".to_owned())?;
        let common = resolve_common_dir(&folder).ok_or_else(outside)?;
        let place = Self { folder, common };
        let is_inside = place.folder.starts_with(root) && place.common.starts_with(root);
        if !is_inside && !place.knows(&name) {
            return Err(outside());
        }
        place.check_links(root)?;
        place.check_stores(root, &place.common.join("objects"), DEPTH_MAX)?;
        Ok(place)
    }

    /// Whether the repository names this work tree among its own.
    fn knows(&self, name: &Path) -> bool {
        let is_among = self.folder.parent() == Some(&self.common.join("worktrees"));
        let back = fs::read_to_string(self.folder.join("gitdir")).unwrap_or_default();
        let back = self.folder.join(back.trim_end_matches(['\n', '\r']));
        let is_file = fs::symlink_metadata(name).is_ok_and(|found| found.is_file());
        is_among && is_file && back.canonicalize().ok() == name.canonicalize().ok()
    }

    fn is_within(&self, root: &Path, path: &Path) -> bool {
        [root, &self.folder, &self.common].iter().any(|folder| path.starts_with(folder))
    }

    /// Refuses links out of the repository and the workspace: git reads and writes through them.
    fn check_links(&self, root: &Path) -> Result<(), String> {
        let objects = self.common.join("objects");
        let flat = [&self.folder, &self.common, &objects, &objects.join("pack")].map(Clone::clone);
        let mut folders: Vec<(PathBuf, bool)> = flat.map(|folder| (folder, false)).into();
        for folder in [&self.folder, &self.common] {
            folders.extend(["logs", "refs", "info"].map(|name| (folder.join(name), true)));
        }
        while let Some((folder, is_deep)) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let kind = entry.file_type();
                if is_deep && kind.as_ref().is_ok_and(fs::FileType::is_dir) {
                    folders.push((entry.path(), true));
                }
                if kind.is_ok_and(|kind| kind.is_symlink()) {
                    let path = entry.path();
                    let goal = path.canonicalize().ok();
                    if !goal.is_some_and(|goal| self.is_within(root, &goal)) {
                        let path = path.display();
                        return Err(format!("{path} leads out of the workspace; ask the user"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Stores elsewhere whose objects git would show.
    fn check_stores(&self, root: &Path, objects: &Path, depth: usize) -> Result<(), String> {
        let list = objects.join("info/alternates");
        let Ok(text) = fs::read(&list) else { return Ok(()) };
        for line in String::from_utf8_lossy(&text).lines() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let store = objects.join(line).canonicalize().ok();
            let store = store.filter(|store| depth > 0 && self.is_within(root, store));
            match store {
                Some(store) => self.check_stores(root, &store, depth - 1)?,
                None => {
                    return Err(format!(
                        "{} leads out of the workspace; ask the user",
                        list.display()
                    ));
                }
            }
        }
        Ok(())
    }
}
