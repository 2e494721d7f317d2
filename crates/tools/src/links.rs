//! Resolves the links in a path of the workspace: rules and labels apply to the result.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links that are followed; the system has the same limit.
const LINKS_MAX: usize = 40;

/// The path relative to the root by which the file is known without links; none if that is how it
/// was given, or if it is outside (which is refused when it is opened).
pub(crate) fn leads_to(root: &Path, relative: &Path) -> Option<String> {
    let place = goal(&root.join(relative));
    let inside = place.strip_prefix(root).ok()?;
    let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
    (inside != normalized(relative)).then(|| inside.to_string_lossy().into_owned())
}

/// Resolves an absolute path part by part. A link to a missing target resolves to that target,
/// because writing to the link creates it.
pub(crate) fn goal(path: &Path) -> PathBuf {
    trail(path).0
}

/// The same, and the links that were followed, each by its own path.
pub(crate) fn trail(path: &Path) -> (PathBuf, Vec<PathBuf>) {
    let parts = |path: &Path| path.iter().map(OsString::from).collect::<Vec<_>>();
    let mut left: VecDeque<OsString> = parts(path).into();
    let (mut place, mut links) = (PathBuf::new(), Vec::new());
    while let Some(part) = left.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::RootDir) => place = PathBuf::from("/"),
            Some(Component::ParentDir) => drop(place.pop()),
            Some(Component::Normal(name)) => {
                let next = place.join(name);
                match fs::read_link(&next).ok().filter(|_| links.len() < LINKS_MAX) {
                    Some(target) => {
                        links.push(next);
                        parts(&target).into_iter().rev().for_each(|part| left.push_front(part));
                    }
                    None => place = next,
                }
            }
            _ => {}
        }
    }
    (place, links)
}

/// The same path without `.` and `..`.
fn normalized(relative: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in relative.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::leads_to;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    #[test]
    fn links_of_files_and_folders_are_followed_also_to_what_is_not_there_yet() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("secrets/deep")).unwrap();
        std::fs::write(root.join("secrets/a"), "").unwrap();
        symlink("secrets", root.join("folder")).unwrap();
        symlink("secrets/a", root.join("file")).unwrap();
        symlink("folder/new", root.join("dangling")).unwrap();
        symlink("/etc/passwd", root.join("out")).unwrap();
        symlink("round", root.join("round")).unwrap();
        for (path, leads) in [
            ("file", Some("secrets/a")),
            ("folder/a", Some("secrets/a")),
            ("folder/deep/../a", Some("secrets/a")),
            ("folder/made/later", Some("secrets/made/later")),
            ("folder/..", None),
            ("dangling", Some("secrets/new")),
            ("secrets/a", None),
            ("./secrets/../secrets/a", None),
            ("nothing/yet", None),
            (".", None),
            ("out", None),
            ("round", None),
        ] {
            assert_eq!(leads_to(&root, Path::new(path)).as_deref(), leads, "{path}");
        }
    }
}
