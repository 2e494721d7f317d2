//! The walls around a shell command: what stands is found out by trying, once per process.
//!
//! ```text
//!   everloop ── guard ── bwrap ─────────────┐  files: system read-only, workspace writable,
//!                          │                │  no home, protected paths shut; own processes, own
//!                          │                │  network without a way out; private /tmp
//!                        __wall ──► sh -c … │  Landlock, seccomp, limits, no new privileges
//!                          └────────────────┘
//!   without bwrap: guard ── __wall ──► sh -c …    Landlock and seccomp alone
//! ```
//!
//! Without any of them a command runs bare, and only after a person was told so.
//!
//! Deliberately absent: who is asked (`CallPolicy`, the engine's), walls elsewhere than on Linux.

mod aftermath;
mod aside;
mod bubblewrap;
mod handle;
mod inner;
pub(crate) mod obeyed;
mod places;
pub(crate) mod repositories;
#[cfg(target_os = "linux")]
mod rights;
mod sockets;
mod stings;
#[cfg(target_os = "linux")]
mod syscalls;
mod trial;
mod unfinished;

pub use inner::wall_main;
pub(crate) use places::{SETTINGS, SYSTEM};
pub use trial::{Level, Standing};

use aftermath::Watch;
use bubblewrap::Bubblewrap;
use everloop_ports::UnsandboxedReason;
use inner::{Files, Inner, Kernel, Sockets, identity};
use places::{How, Look, Survey};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Whether commands need walls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// With the walls that stand; without any, a person is asked each time.
    #[default]
    Auto,
    /// Without walls nothing runs.
    Require,
    /// Never with walls; a person is asked each time.
    Off,
}

impl Sandbox {
    /// By its name in the settings.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "require" => Some(Self::Require),
            "off" => Some(Self::Off),
            _ => None,
        }
    }
}

/// Whether commands reach the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// They reach only themselves.
    #[default]
    Off,
    /// They reach what the account reaches.
    On,
}

/// What commands may do to the repository at the top of the workspace; all others they only read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GitAccess {
    /// They read it.
    #[default]
    Read,
    /// They write it, but for what makes git run programs.
    Write,
}

impl GitAccess {
    /// By its name in the settings.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "read" => Some(Self::Read),
            "write" => Some(Self::Write),
            _ => None,
        }
    }
}

/// What a command may use at most; 0 for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds of processor time of each process.
    pub cpu_s: u64,
    /// Bytes of memory of each process.
    pub memory_bytes: u64,
    /// Bytes of each file that is written.
    pub file_bytes: u64,
    /// Processes of the command in all.
    pub processes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cpu_s: 600, memory_bytes: 4 << 30, file_bytes: 2 << 30, processes: 1_024 }
    }
}

/// What the walls of a shell are to be.
#[derive(Debug, Clone, Default)]
pub struct WallSetting {
    /// Whether commands need walls.
    pub sandbox: Sandbox,
    /// Whether they reach the network.
    pub network: Network,
    /// What each process may use.
    pub limits: Limits,
    /// Folders outside the workspace that commands may read, beside those of the system.
    pub readable: Vec<PathBuf>,
    /// What they may do to the repository.
    pub git: GitAccess,
}

/// What is to be walled in.
pub(crate) struct Plot<'a> {
    pub(crate) setting: &'a WallSetting,
    pub(crate) workspace: &'a Path,
    /// What belongs to the program itself.
    pub(crate) own: &'a [PathBuf],
    /// The program that is called as `<helper> __wall …`.
    pub(crate) helper: &'a Path,
}

/// A command line that puts walls around whatever follows it.
#[derive(Debug)]
pub(crate) struct Enclosure {
    pub(crate) argv: Vec<OsString>,
    /// Whether the first process is the wall itself, which no signal but the last may reach.
    pub(crate) is_apart: bool,
    /// What the command may use at most.
    pub(crate) limits: Limits,
    /// Instead of `/tmp` and a home, where those are not the command's own.
    pub(crate) scratch: Option<Scratch>,
    /// What is looked at after the command.
    pub(crate) watch: Watch,
}

impl Plot<'_> {
    /// Whether walls can stand here. Tries them, if nobody did yet: may take a moment.
    pub(crate) fn check(&self) -> Result<(), UnsandboxedReason> {
        self.kind(Look::Top).map(drop)
    }

    /// The walls, ready to be put around a command.
    pub(crate) fn enclose(&self) -> Result<Enclosure, UnsandboxedReason> {
        match self.kind(Look::Through)? {
            Kind::Apart(bubblewrap, standing, survey) => {
                let walls = self.apart(bubblewrap, standing, &survey);
                walls.map_err(|error| UnsandboxedReason::NoWall(error.to_string()))
            }
            Kind::Inside(survey) => self.inside(&survey),
        }
    }

    fn kind(&self, look: Look) -> Result<Kind<'static>, UnsandboxedReason> {
        if self.setting.sandbox == Sandbox::Off {
            return Err(UnsandboxedReason::Off);
        }
        if self.workspace.parent().is_none() {
            return Err(UnsandboxedReason::NoWall("the workspace is the whole disk".to_owned()));
        }
        let survey = Survey::of(self, look).map_err(UnsandboxedReason::NoWall)?;
        let standing = Standing::here(self.helper);
        match &standing.bubblewrap {
            Ok(program) if !program.program.starts_with(self.workspace) => {
                return Ok(Kind::Apart(program, standing, survey));
            }
            Ok(_) => {
                return Err(UnsandboxedReason::NoWall("bwrap lies in the workspace".to_owned()));
            }
            Err(_) => {}
        }
        if let (Err(why), _) | (_, Err(why)) = (&standing.landlock, &standing.seccomp) {
            return Err(UnsandboxedReason::NoWall(why.clone()));
        }
        // Landlock cannot shut a path below one that is open.
        let look = match self.setting.network {
            Network::Off => Look::PastSockets,
            Network::On => Look::Through,
        };
        let survey = Survey::of(self, look).map_err(UnsandboxedReason::NoWall)?;
        match survey.places.first() {
            Some(place) => {
                let place = place.path.display();
                Err(UnsandboxedReason::NoWall(format!("without bwrap nothing protects {place}")))
            }
            None => Ok(Kind::Inside(survey)),
        }
    }

    fn apart(
        &self,
        bubblewrap: &Bubblewrap,
        standing: &Standing,
        survey: &Survey,
    ) -> io::Result<Enclosure> {
        let files = Files {
            read: vec![PathBuf::from("/")],
            write: ["/tmp", "/dev"].map(PathBuf::from).to_vec(),
        };
        // Names without files are the network's where it is shared, unless Landlock stands.
        let is_shared = self.setting.network == Network::On && standing.landlock.is_err();
        let sockets = match (survey.hides_sockets && !is_shared, &standing.seccomp) {
            (true, _) => Sockets::Usual,
            (false, Ok(())) => Sockets::WithoutFiles,
            (false, Err(why)) => return Err(io::Error::other(format!("sockets: {why}"))),
        };
        let kernel = Kernel { sockets, is_shared: false };
        let inner = Inner {
            files: standing.landlock.is_ok().then(|| files.and_write(self.written(survey))),
            kernel: standing.seccomp.is_ok().then_some(kernel),
            limits: self.setting.limits,
        };
        let shown = survey.places.iter().filter(|place| place.how != How::Hidden);
        let shown = shown.map(|place| place.path.clone()).chain([self.workspace.to_owned()]);
        let same: Option<Vec<_>> =
            shown.map(|path| Some((path.clone(), identity(&path)?))).collect();
        let same = same.ok_or_else(|| io::Error::other("the workspace changes under our eyes"))?;
        let mut argv = bubblewrap.around(self, survey)?;
        argv.extend(inner.call_where(Path::new(bubblewrap::HELPER), &same));
        let watch = Watch::begin(self.workspace, survey);
        Ok(Enclosure { argv, is_apart: true, limits: self.setting.limits, scratch: None, watch })
    }

    /// What may be written outside the private folders.
    fn written(&self, survey: &Survey) -> Vec<PathBuf> {
        survey.written.clone().unwrap_or_else(|| vec![self.workspace.to_owned()])
    }

    fn inside(&self, survey: &Survey) -> Result<Enclosure, UnsandboxedReason> {
        let scratch =
            Scratch::new().map_err(|error| UnsandboxedReason::NoWall(error.to_string()))?;
        let mut read = places::system();
        read.extend(self.setting.readable.iter().cloned());
        read.extend(places::MACHINE.iter().map(PathBuf::from));
        read.extend([self.helper.to_owned(), self.workspace.to_owned()]);
        read.extend(survey.places.iter().map(|place| place.path.clone()));
        // Not all of `/dev`: its `shm` belongs to the whole machine.
        let mut write: Vec<PathBuf> = places::DEVICES.iter().map(PathBuf::from).collect();
        write.push(scratch.path.clone());
        let files = Files { read, write };
        let sockets = match self.setting.network {
            Network::Off => Sockets::None,
            // Landlock has no right for what listens at a path, such as the account's own bus.
            Network::On => Sockets::WithoutFiles,
        };
        let inner = Inner {
            files: Some(files.and_write(self.written(survey))),
            kernel: Some(Kernel { sockets, is_shared: true }),
            limits: self.setting.limits,
        };
        let argv = inner.call(self.helper);
        let watch = Watch::begin(self.workspace, survey);
        let (limits, scratch) = (self.setting.limits, Some(scratch));
        Ok(Enclosure { argv, is_apart: false, limits, scratch, watch })
    }
}

/// Walls around a git of ours, if some stand: it sees the system and the workspace, reaches nobody,
/// and writes to its repository or to nothing.
pub(crate) fn around_git(
    helper: &Path,
    program: &Path,
    workspace: &Path,
    repository: [&Path; 2],
    is_written: bool,
) -> Option<Enclosure> {
    if !places::SYSTEM.iter().any(|folder| program.starts_with(folder)) {
        return None;
    }
    let limits = Limits { cpu_s: 0, memory_bytes: 0, file_bytes: 0, processes: 0 };
    let setting = WallSetting { limits, ..WallSetting::default() };
    let plot = Plot { setting: &setting, workspace, own: &[], helper };
    let survey = Survey::for_git(workspace, repository, is_written);
    let standing = Standing::here(helper);
    match &standing.bubblewrap {
        Ok(bubblewrap) => plot.apart(bubblewrap, standing, &survey).ok(),
        Err(_) if standing.level() == Level::Inner => plot.inside(&survey).ok(),
        Err(_) => None,
    }
}

enum Kind<'a> {
    Apart(&'a Bubblewrap, &'a Standing, Survey),
    Inside(Survey),
}

/// Opens the folders of a tree that a command closed, links not followed.
fn unlock(folder: &Path) {
    let open = std::fs::Permissions::from_mode(0o700);
    let _ = std::fs::set_permissions(folder, open);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}

/// A private folder for one command, which vanishes with it.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) path: PathBuf,
}

impl Scratch {
    fn new() -> std::io::Result<Self> {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let name = format!("everloop-{}-{nanos}", std::process::id());
        let path = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever clears the system's temporary files.
        if std::fs::remove_dir_all(&self.path).is_err() {
            unlock(&self.path);
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
