//! What a command left in the workspace that would make other programs run code: repositories with
//! hooks or settings that run programs, and start-up files of a home.
//!
//! ```text
//!   before ──► command ──► what is new, or has become a repository, and runs programs
//!                              └──► renamed, and reported to the model
//! ```
//!
//! A repository that existed before is protected ([`super::survey`]). A new one cannot be, because
//! `git init` is a legitimate command. A dangerous one is renamed, so that a person who wants it
//! can restore its name. If it cannot be renamed, the file that makes it a repository is removed.
//!
//! Deliberately absent: a check after a command during which Everloop itself was killed.

use super::disarm::{Disposal, block_workspace, disarm_path};
use super::folders::{WorkspaceRoot, kind, stat_in};
use super::hazards::{RepositoryHazard, find_hazards};
use super::repositories::WorkspaceScan;
use super::survey::{ProtectionLevel, Survey};
use super::trusted_files::{RestoreOutcome, TrustedFiles};
use crate::clip;
use crate::home::AccountHome;
use rustix::fs::{AtFlags, FileType, unlinkat};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Characters of a path in a message.
const NAME_CHARS: usize = 300;

/// How a repository is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RepositoryShape {
    /// By its name.
    Named,
    /// By what is in it.
    Bare,
}

/// The state of a workspace before a command.
#[derive(Debug)]
pub(crate) struct WorkspaceSnapshot {
    workspace: PathBuf,
    /// Paths that the command could not change.
    shut: BTreeSet<PathBuf>,
    /// Repositories that it could write to, and links to some.
    open: Vec<PathBuf>,
    /// What ran programs before the command, and so belongs to the user.
    known: BTreeSet<RepositoryHazard>,
    sockets: BTreeSet<PathBuf>,
    /// Start-up files of a home in the workspace, with the targets of those that are links.
    home: BTreeSet<(PathBuf, Option<PathBuf>)>,
    trusted: TrustedFiles,
    /// Folders that were not scanned.
    unseen: usize,
}

impl WorkspaceSnapshot {
    /// Takes the snapshot.
    pub(crate) fn take(workspace: &Path, survey: &Survey) -> Self {
        let shut = survey.places.iter().filter(|place| place.how != ProtectionLevel::Pinned);
        let shut: BTreeSet<PathBuf> = shut.map(|place| place.path.clone()).collect();
        let found = &survey.found;
        let open = found.named.iter().chain(&found.links).chain(&found.bare);
        let open: Vec<PathBuf> = open.filter(|path| !shut.contains(*path)).cloned().collect();
        let root = WorkspaceRoot::open(workspace);
        let known =
            root.iter().flat_map(|root| open.iter().flat_map(|path| find_hazards(root, path)));
        Self {
            workspace: workspace.to_owned(),
            known: known.collect(),
            open,
            sockets: found.sockets.iter().cloned().collect(),
            home: home_files(workspace),
            unseen: found.unseen.len(),
            trusted: survey.trusted.clone(),
            shut,
        }
    }

    /// Disarms what the command made, and returns a message for each.
    pub(crate) fn restore(&self) -> Vec<String> {
        let root = match WorkspaceRoot::reopen(&self.workspace) {
            Ok(root) => root,
            Err(error) => {
                block_workspace(&self.workspace, &self.workspace);
                return vec![format!("the workspace cannot be opened ({error}): tell the user")];
            }
        };
        let mended = self.trusted.restore(&root);
        let names = mended.iter().filter_map(|(_, done)| done.as_ref().ok()?.new_name());
        let names: BTreeSet<PathBuf> = names.map(Path::to_owned).collect();
        let mut said = self.describe_restored(mended);
        let found = WorkspaceScan::after(&root, &self.shut);
        let named =
            found.named.iter().chain(&found.links).map(|path| (path, RepositoryShape::Named));
        let bare = found.bare.iter().map(|path| (path, RepositoryShape::Bare));
        let mut all: Vec<(&PathBuf, RepositoryShape)> = named.chain(bare).collect();
        // Inner ones first: their paths change once an outer one is renamed.
        all.sort_by_key(|(path, _)| std::cmp::Reverse(path.iter().count()));
        for (path, shape) in all {
            said.extend(self.disarm_repository(&root, path, shape));
        }
        for (path, lead) in home_files(&self.workspace) {
            if !names.contains(&path) && !self.home.contains(&(path.clone(), lead)) {
                let why = "programs in a home run or trust it";
                said.push(self.disarm_and_describe(&root, &path, why));
            }
        }
        for socket in found.sockets.iter().filter(|socket| !self.sockets.contains(*socket)) {
            remove_dead_socket(&root, socket);
        }
        if let Some(path) = found.unseen.first() {
            block_workspace(&self.workspace, path);
            let words = "cannot be looked into after this command: tell the user";
            said.push(format!("{} {words}", self.display_name(path)));
        }
        if self.unseen > 0 {
            let words = "the workspace is very wide: commands only read what was not looked into";
            said.push(words.to_owned());
        }
        said
    }

    /// Messages about trusted files that were restored.
    fn describe_restored(&self, mended: Vec<(PathBuf, io::Result<RestoreOutcome>)>) -> Vec<String> {
        let words = mended.into_iter().map(|(path, done)| match done {
            Ok(done) => {
                let name = self.display_name(&path);
                let done = done.describe(|new| self.display_name(new));
                format!("{name} was changed by this command, and other programs trust it: {done}")
            }
            Err(error) => {
                block_workspace(&self.workspace, &path);
                let name = self.display_name(&path);
                format!("{name} was changed and cannot be put back ({error}): tell the user")
            }
        });
        words.collect()
    }

    fn display_name(&self, path: &Path) -> String {
        let inner = path.strip_prefix(&self.workspace).unwrap_or(path);
        clip::ends(&crate::clean(inner.as_os_str().as_encoded_bytes()), NAME_CHARS)
    }

    /// Disarms a new repository as a whole, and of an older one only what is new.
    fn disarm_repository(
        &self,
        root: &WorkspaceRoot,
        path: &Path,
        shape: RepositoryShape,
    ) -> Vec<String> {
        let new = find_hazards(root, path).into_iter();
        let mut new = new.filter(|hazard| !self.known.contains(hazard)).peekable();
        if self.open.iter().any(|open| open == path) {
            let (mut parts, mut said) = (BTreeSet::new(), Vec::new());
            for hazard in new.filter(|hazard| parts.insert(hazard.part.clone())) {
                said.push(self.disarm_and_describe(root, &hazard.part, &hazard.why));
            }
            return said;
        }
        let is_bare = shape == RepositoryShape::Bare;
        let is_top = is_bare
            && path == self.workspace
            && !matches!(root.stat(&path.join(".git")), Ok(Some(_)));
        let why = match new.peek() {
            Some(hazard) => hazard.why.clone(),
            None if is_top => "git takes the folder for a repository".to_owned(),
            None => return Vec::new(),
        };
        let name = if is_bare { path.join("HEAD") } else { path.to_owned() };
        vec![self.disarm_and_describe(root, &name, &why)]
    }

    fn disarm_and_describe(&self, root: &WorkspaceRoot, path: &Path, why: &str) -> String {
        let told = format!(
            "{} was made by this command and would make others run programs ({why}): ",
            self.display_name(path)
        );
        match disarm_path(root, path) {
            Ok(Disposal::Renamed(new)) => {
                format!("{told}it was renamed to {}", self.display_name(&new))
            }
            Ok(Disposal::Removed) => format!("{told}it could not be renamed and was made useless"),
            Err(error) => {
                block_workspace(&self.workspace, path);
                format!("{told}it can be neither renamed ({error}) nor removed: tell the user")
            }
        }
    }
}

/// Start-up files of a home that lies in the workspace.
fn home_files(workspace: &Path) -> BTreeSet<(PathBuf, Option<PathBuf>)> {
    let home = AccountHome::of_account();
    let paths = home.iter().flat_map(|home| home.start_up_files(workspace));
    paths.map(|path| (path.clone(), fs::read_link(&path).ok())).collect()
}

/// Removes a socket without a listener, which an ended command left. Sockets are hidden from later
/// commands, so none could replace it.
fn remove_dead_socket(root: &WorkspaceRoot, socket: &Path) {
    let Ok((folder, name)) = root.place(socket) else { return };
    let is_socket = |found: rustix::fs::Stat| kind(&found) == FileType::Socket;
    let is_dead = || {
        let connected = UnixStream::connect(socket);
        connected.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    };
    if stat_in(&folder, &name).is_ok_and(|found| found.is_some_and(is_socket)) && is_dead() {
        // A socket that stays is hidden from the next command.
        let _ = unlinkat(&folder, &name, AtFlags::empty());
    }
}
