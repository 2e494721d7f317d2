//! What a command left in the workspace that others would obey: a repository whose hooks or
//! settings run programs, and start-up files of a home.
//!
//! ```text
//!   before ──► command ──► what is new, or has become a repository, and runs programs
//!                              └──► renamed, whatever stands in the way, and the model is told
//! ```
//!
//! A repository that was there before is shut ([`super::survey`]); one that is new cannot be, since
//! making one (`git init`) is a fair thing to do. It is renamed, so that a person who wants it can
//! give it its name back; only what cannot be renamed loses the file that makes a repository of it.
//!
//! Deliberately absent: a look after a command whose end nobody here saw, because we were killed.

use super::disarm::{Disposal, hold, set_aside};
use super::folders::{WorkspaceRoot, kind, stat_in};
use super::hazards::{RepositoryHazard, stings};
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

/// Characters of a path that are told.
const NAME_CHARS: usize = 300;

/// How a repository is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RepositoryShape {
    /// By its name.
    Named,
    /// By what is in it.
    Bare,
}

/// What was there before a command.
#[derive(Debug)]
pub(crate) struct WorkspaceSnapshot {
    workspace: PathBuf,
    /// Places that the command could only read, or not even that.
    shut: BTreeSet<PathBuf>,
    /// Repositories that it could write to, and links to some.
    open: Vec<PathBuf>,
    /// What would run programs before, and is the person's own.
    known: BTreeSet<RepositoryHazard>,
    sockets: BTreeSet<PathBuf>,
    /// Start-up files of a home in the workspace, with what each leads to if it is a link.
    home: BTreeSet<(PathBuf, Option<PathBuf>)>,
    obeyed: TrustedFiles,
    /// Folders that nobody looked into.
    unseen: usize,
}

impl WorkspaceSnapshot {
    /// Looks at what is there.
    pub(crate) fn begin(workspace: &Path, survey: &Survey) -> Self {
        let shut = survey.places.iter().filter(|place| place.how != ProtectionLevel::Pinned);
        let shut: BTreeSet<PathBuf> = shut.map(|place| place.path.clone()).collect();
        let found = &survey.found;
        let open = found.named.iter().chain(&found.links).chain(&found.bare);
        let open: Vec<PathBuf> = open.filter(|path| !shut.contains(*path)).cloned().collect();
        let root = WorkspaceRoot::open(workspace);
        let known = root.iter().flat_map(|root| open.iter().flat_map(|path| stings(root, path)));
        Self {
            workspace: workspace.to_owned(),
            known: known.collect(),
            open,
            sockets: found.sockets.iter().cloned().collect(),
            home: at_home(workspace),
            unseen: found.unseen.len(),
            obeyed: survey.obeyed.clone(),
            shut,
        }
    }

    /// Takes the sting out of what the command made, and says so.
    pub(crate) fn end(&self) -> Vec<String> {
        let root = match WorkspaceRoot::reopen(&self.workspace) {
            Ok(root) => root,
            Err(error) => {
                hold(&self.workspace, &self.workspace);
                return vec![format!("the workspace cannot be opened ({error}): tell the user")];
            }
        };
        let mended = self.obeyed.restore(&root);
        let names = mended.iter().filter_map(|(_, done)| done.as_ref().ok()?.new_name());
        let names: BTreeSet<PathBuf> = names.map(Path::to_owned).collect();
        let mut said = self.restored(mended);
        let found = WorkspaceScan::after(&root, &self.shut);
        let named =
            found.named.iter().chain(&found.links).map(|path| (path, RepositoryShape::Named));
        let bare = found.bare.iter().map(|path| (path, RepositoryShape::Bare));
        let mut all: Vec<(&PathBuf, RepositoryShape)> = named.chain(bare).collect();
        // What lies in another comes first: it has another path once that one is renamed.
        all.sort_by_key(|(path, _)| std::cmp::Reverse(path.iter().count()));
        for (path, shape) in all {
            said.extend(self.disarm(&root, path, shape));
        }
        for (path, lead) in at_home(&self.workspace) {
            if !names.contains(&path) && !self.home.contains(&(path.clone(), lead)) {
                let why = "programs start it or obey it in a home";
                said.push(self.put_aside(&root, &path, why));
            }
        }
        for socket in found.sockets.iter().filter(|socket| !self.sockets.contains(*socket)) {
            forget(&root, socket);
        }
        if let Some(path) = found.unseen.first() {
            hold(&self.workspace, path);
            let words = "cannot be looked into after this command: tell the user";
            said.push(format!("{} {words}", self.name(path)));
        }
        if self.unseen > 0 {
            let words = "the workspace is very wide: commands only read what was not looked into";
            said.push(words.to_owned());
        }
        said
    }

    /// What others obey is as it was.
    fn restored(&self, mended: Vec<(PathBuf, io::Result<RestoreOutcome>)>) -> Vec<String> {
        let words = mended.into_iter().map(|(path, done)| match done {
            Ok(done) => {
                let name = self.name(&path);
                let done = done.said(|new| self.name(new));
                format!("{name} was changed by this command, and other programs obey it: {done}")
            }
            Err(error) => {
                hold(&self.workspace, &path);
                let name = self.name(&path);
                format!("{name} was changed and cannot be put back ({error}): tell the user")
            }
        });
        words.collect()
    }

    fn name(&self, path: &Path) -> String {
        let inner = path.strip_prefix(&self.workspace).unwrap_or(path);
        clip::ends(&crate::clean(inner.as_os_str().as_encoded_bytes()), NAME_CHARS)
    }

    /// A new repository is put aside as a whole, of an older one only what is new.
    fn disarm(&self, root: &WorkspaceRoot, path: &Path, shape: RepositoryShape) -> Vec<String> {
        let new = stings(root, path).into_iter();
        let mut new = new.filter(|sting| !self.known.contains(sting)).peekable();
        if self.open.iter().any(|open| open == path) {
            let (mut parts, mut said) = (BTreeSet::new(), Vec::new());
            for sting in new.filter(|sting| parts.insert(sting.part.clone())) {
                said.push(self.put_aside(root, &sting.part, &sting.why));
            }
            return said;
        }
        let is_bare = shape == RepositoryShape::Bare;
        let is_top = is_bare
            && path == self.workspace
            && !matches!(root.stat(&path.join(".git")), Ok(Some(_)));
        let why = match new.peek() {
            Some(sting) => sting.why.clone(),
            None if is_top => "git takes the folder for a repository".to_owned(),
            None => return Vec::new(),
        };
        let name = if is_bare { path.join("HEAD") } else { path.to_owned() };
        vec![self.put_aside(root, &name, &why)]
    }

    fn put_aside(&self, root: &WorkspaceRoot, path: &Path, why: &str) -> String {
        let told = format!(
            "{} was made by this command and would make others run programs ({why}): ",
            self.name(path)
        );
        match set_aside(root, path) {
            Ok(Disposal::Renamed(new)) => format!("{told}it was renamed to {}", self.name(&new)),
            Ok(Disposal::Removed) => format!("{told}it could not be renamed and was made useless"),
            Err(error) => {
                hold(&self.workspace, path);
                format!("{told}it can be neither renamed ({error}) nor removed: tell the user")
            }
        }
    }
}

/// Start-up files of a home that lies in the workspace.
fn at_home(workspace: &Path) -> BTreeSet<(PathBuf, Option<PathBuf>)> {
    let home = AccountHome::of_account();
    let paths = home.iter().flat_map(|home| home.shut(workspace));
    paths.map(|path| (path.clone(), fs::read_link(&path).ok())).collect()
}

/// A socket that nobody listens at is what a command left that has ended. A later one could not
/// take its place, since sockets are shut.
fn forget(root: &WorkspaceRoot, socket: &Path) {
    let Ok((folder, name)) = root.place(socket) else { return };
    let is_socket = |found: rustix::fs::Stat| kind(&found) == FileType::Socket;
    let is_deaf = || {
        let heard = UnixStream::connect(socket);
        heard.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    };
    if stat_in(&folder, &name).is_ok_and(|found| found.is_some_and(is_socket)) && is_deaf() {
        // What stays is shut to the next command, no more.
        let _ = unlinkat(&folder, &name, AtFlags::empty());
    }
}
