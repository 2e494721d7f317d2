//! Sockets that a command could see, where a process outside the sandbox may listen.
//!
//! A sandbox that cuts the network does not cut these, and a file system that is read-only does not
//! either. So each is hidden. If the search ended early, commands cannot open such sockets at all.
//!
//! Deliberately absent: sockets of the workspace itself, which its scan finds.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Entries that are looked at in repositories, and in folders that commands may read.
const ENTRIES_MAX: usize = 100_000;

/// Where git keeps many files and no socket.
const STORES: [&str; 2] = ["objects", "lfs"];

/// Parts of the system that every command sees and in which services keep sockets.
const SERVICES: [&str; 2] = ["/opt", "/nix/var"];

/// What was found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ListeningSockets {
    pub(crate) paths: Vec<PathBuf>,
    /// Whether everything was looked at.
    pub(crate) is_whole: bool,
}

/// Those in folders of version control, where their own programs listen.
pub(crate) fn of_repositories(folders: &[PathBuf]) -> ListeningSockets {
    below(folders, |path| path.file_name().is_some_and(|name| STORES.iter().any(|s| name == *s)))
}

/// Sockets in folders outside the workspace that commands may read. Those of the system are
/// searched once per process.
pub(crate) fn outside(readable: &[PathBuf]) -> ListeningSockets {
    static OF_SYSTEM: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let services = SERVICES.map(PathBuf::from);
    let system = OF_SYSTEM.get_or_init(|| below(&services, |_| false).paths);
    let mut found = below(readable, |_| false);
    found.paths.extend(system.iter().cloned());
    found
}

fn below(folders: &[PathBuf], is_passed_over: impl Fn(&Path) -> bool) -> ListeningSockets {
    let mut found = ListeningSockets { paths: Vec::new(), is_whole: true };
    let mut folders: VecDeque<PathBuf> = folders.iter().cloned().collect();
    let mut left = ENTRIES_MAX;
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if left == 0 {
                found.is_whole = false;
                return found;
            }
            left -= 1;
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_socket() {
                found.paths.push(path);
            } else if kind.is_dir() && !is_passed_over(&path) {
                folders.push_back(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_socket_is_found_however_deep_and_a_look_that_ended_says_so() {
        let outer = tempfile::TempDir::new().unwrap();
        let git = outer.path().join(".git");
        fs::create_dir_all(git.join("annex/ssh")).unwrap();
        fs::create_dir_all(git.join("objects/aa")).unwrap();
        let socket = git.join("annex/ssh/host");
        let _listener = UnixListener::bind(&socket).unwrap();
        for n in 0..50 {
            fs::write(git.join(format!("objects/aa/{n}")), "").unwrap();
        }
        let found = of_repositories(std::slice::from_ref(&git));
        assert_eq!(found, ListeningSockets { paths: vec![socket], is_whole: true });
    }
}
