//! What a command left in the workspace that others would obey: a repository whose hooks or
//! settings run programs, and start-up files of a home.
//!
//! ```text
//!   before ──► command ──► what is new, or has become a repository, and runs programs
//!                              └──► renamed, whatever stands in the way, and the model is told
//! ```
//!
//! A repository that was there before is shut ([`super::places`]); one that is new cannot be, since
//! making one (`git init`) is a fair thing to do. Nothing is removed: a person who wants it gives
//! it its name back.
//!
//! Deliberately absent: a look after a command whose end nobody here saw, because we were killed.

use super::places::{How, Survey};
use super::repositories::{Found, open_up};
use super::stings::{Sting, stings};
use crate::home::Home;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a renamed thing is called.
const ASIDE: &str = "set-aside";

/// Names with a number that are tried for it, before one is made up that nobody can have taken.
const NAMES_MAX: u32 = 9;

/// How a repository is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// By its name.
    Named,
    /// By what is in it.
    Bare,
}

/// What was there before a command.
#[derive(Debug)]
pub(crate) struct Watch {
    workspace: PathBuf,
    /// Places that the command could only read, or not even that.
    shut: BTreeSet<PathBuf>,
    /// Repositories that it could write to, and links to some.
    open: Vec<PathBuf>,
    /// What would run programs before, and is the person's own.
    known: BTreeSet<Sting>,
    sockets: BTreeSet<PathBuf>,
    /// Start-up files of a home in the workspace, with what each leads to if it is a link.
    obeyed: BTreeSet<(PathBuf, Option<PathBuf>)>,
    /// Folders that nobody looked into.
    unseen: usize,
}

impl Watch {
    /// Looks at what is there.
    pub(crate) fn begin(workspace: &Path, survey: &Survey) -> Self {
        let shut = survey.places.iter().filter(|place| place.how != How::Pinned);
        let shut: BTreeSet<PathBuf> = shut.map(|place| place.path.clone()).collect();
        let found = &survey.found;
        let open = found.named.iter().chain(&found.links).chain(&found.bare);
        let open: Vec<PathBuf> = open.filter(|path| !shut.contains(*path)).cloned().collect();
        let known = open.iter().flat_map(|path| stings(workspace, path)).collect();
        Self {
            workspace: workspace.to_owned(),
            open,
            known,
            sockets: found.sockets.iter().cloned().collect(),
            obeyed: obeyed(workspace),
            unseen: found.unseen.len(),
            shut,
        }
    }

    /// Takes the sting out of what the command made, and says so.
    pub(crate) fn end(&self) -> Vec<String> {
        let found = Found::after(&self.workspace, &self.shut);
        let mut said = Vec::new();
        for path in found.named.iter().chain(&found.links) {
            said.extend(self.disarm(path, Shape::Named));
        }
        for path in &found.bare {
            said.extend(self.disarm(path, Shape::Bare));
        }
        for (path, lead) in obeyed(&self.workspace) {
            if !self.obeyed.contains(&(path.clone(), lead)) {
                said.push(self.set_aside(&path, "programs start it or obey it in a home"));
            }
        }
        for socket in found.sockets.iter().filter(|socket| !self.sockets.contains(*socket)) {
            forget(socket);
        }
        if self.unseen > 0 {
            let words = "the workspace is very wide: commands only read what was not looked into";
            said.push(words.to_owned());
        }
        said
    }

    /// A new repository is put aside as a whole, of an older one only what is new.
    fn disarm(&self, path: &Path, shape: Shape) -> Vec<String> {
        let new = stings(&self.workspace, path).into_iter();
        let mut new = new.filter(|sting| !self.known.contains(sting)).peekable();
        if self.open.iter().any(|open| open == path) {
            return new.map(|sting| self.set_aside(&sting.part, &sting.why)).collect();
        }
        let is_bare = shape == Shape::Bare;
        let is_top = is_bare && path == self.workspace && !path.join(".git").exists();
        let why = match new.peek() {
            Some(sting) => sting.why.clone(),
            None if is_top => "git takes the folder for a repository".to_owned(),
            None => return Vec::new(),
        };
        let name = if is_bare { path.join("HEAD") } else { path.to_owned() };
        vec![self.set_aside(&name, &why)]
    }

    fn set_aside(&self, path: &Path, why: &str) -> String {
        let name = |path: &Path| {
            let inner = path.strip_prefix(&self.workspace).unwrap_or(path);
            crate::clean(inner.as_os_str().as_encoded_bytes())
        };
        let told = format!(
            "{} was made by this command and would make others run programs ({why}): ",
            name(path)
        );
        match renamed(path) {
            Ok(new) => {
                // Git takes the folder for a repository under any name, if one comes to it.
                let _ = renamed(&new.join("HEAD"));
                format!("{told}it was renamed to {}", name(&new))
            }
            // Nothing that needs room on the disk, or a free name.
            Err(error) => match close(path) {
                Ok(()) => format!("{told}it cannot be renamed ({error}) and was closed to all"),
                Err(_) => {
                    format!("{told}it can be neither renamed ({error}) nor closed: tell the user")
                }
            },
        }
    }
}

/// Start-up files of a home that lies in the workspace.
fn obeyed(workspace: &Path) -> BTreeSet<(PathBuf, Option<PathBuf>)> {
    let home = Home::of_account();
    let paths = home.iter().flat_map(|home| home.shut(workspace));
    paths.map(|path| (path.clone(), fs::read_link(&path).ok())).collect()
}

/// Gives it another name beside it; a folder that was closed to prevent that is opened.
fn renamed(path: &Path) -> io::Result<PathBuf> {
    let named = |ending: String| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        path.with_file_name(name)
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let numbers = (2..=NAMES_MAX).map(|number| format!("-{ASIDE}-{number}"));
    let made_up = (0..NAMES_MAX).map(|more| {
        format!("-{ASIDE}-{:x}-{more}", since.as_nanos() ^ u128::from(std::process::id()))
    });
    let endings = std::iter::once(format!("-{ASIDE}")).chain(numbers).chain(made_up);
    fs::symlink_metadata(path)?;
    let mut free = endings.map(named).filter(|path| fs::symlink_metadata(path).is_err());
    let new = free.next().ok_or(ErrorKind::AlreadyExists)?;
    match fs::rename(path, &new) {
        Ok(()) => Ok(new),
        Err(_) => {
            open_up(path.parent().unwrap_or(path))?;
            fs::rename(path, &new).map(|()| new)
        }
    }
}

/// Makes it useless where it stands: a folder is closed, and of git's the settings are emptied,
/// because nothing is closed to root.
fn close(path: &Path) -> io::Result<()> {
    let config = if path.is_dir() { path.join("config") } else { path.to_owned() };
    let emptied = fs::OpenOptions::new().write(true).truncate(true).open(config);
    let closed = fs::set_permissions(path, fs::Permissions::from_mode(0o000));
    emptied.map(drop).or(closed)
}

/// A socket that nobody listens at is what a command left that has ended. A later one could not
/// take its place, since sockets are shut.
fn forget(socket: &Path) {
    if UnixStream::connect(socket).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    {
        // What stays is shut to the next command, no more.
        let _ = fs::remove_file(socket);
    }
}
