//! The sandbox around a shell command. Which parts of it work is tried once per process.
//!
//! ```text
//!   everloop ── guard ── bwrap ────────────────┐  files: system read-only, workspace writable,
//!                          │                   │  no home, protected paths closed; own processes,
//!                          │                   │  own network without a way out; private /tmp
//!                        __sandbox ──► sh -c … │  Landlock, seccomp, limits, no new privileges
//!                          └───────────────────┘
//!   without bwrap: guard ── __sandbox ──► sh -c …    Landlock and seccomp alone
//! ```
//!
//! Without any of them a command runs unsandboxed, and only after a person approved that.
//!
//! Deliberately absent: who is asked (`CallPolicy`, the engine's), a sandbox on systems other than
//! Linux.

mod aftermath;
mod bubblewrap;
mod disarm;
mod folders;
mod hazards;
mod inner;
#[cfg(target_os = "linux")]
mod landlock;
mod rebases;
pub(crate) mod repositories;
#[cfg(target_os = "linux")]
mod seccomp;
mod sockets;
mod support;
mod survey;
pub(crate) mod trusted_files;

pub use inner::sandbox_main;
pub use support::{SandboxLevel, SandboxSupport};
pub(crate) use survey::{SETTINGS, SYSTEM};

use aftermath::WorkspaceSnapshot;
use bubblewrap::Bubblewrap;
use everloop_ports::UnsandboxedReason;
use inner::{FileAccess, InnerSandbox, KernelAccess, SocketAccess, identity};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use survey::{ProtectionLevel, Survey, SurveyDepth};

/// Whether commands need a sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// They use what works here; without a sandbox a person is asked each time.
    #[default]
    Auto,
    /// Without a sandbox nothing runs.
    Require,
    /// They never use one; a person is asked each time.
    Off,
}

impl SandboxMode {
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
pub struct CommandLimits {
    /// Seconds of processor time of each process.
    pub cpu_s: u64,
    /// Bytes of memory of each process.
    pub memory_bytes: u64,
    /// Bytes of each file that is written.
    pub file_bytes: u64,
    /// Processes of the command in all.
    pub processes: u64,
}

impl Default for CommandLimits {
    fn default() -> Self {
        Self { cpu_s: 600, memory_bytes: 4 << 30, file_bytes: 2 << 30, processes: 1_024 }
    }
}

/// The sandbox that a shell is to have.
#[derive(Debug, Clone, Default)]
pub struct SandboxSetting {
    /// Whether commands need a sandbox.
    pub mode: SandboxMode,
    /// Whether they reach the network.
    pub network: Network,
    /// What each process may use.
    pub limits: CommandLimits,
    /// Folders outside the workspace that commands may read, beside those of the system.
    pub readable: Vec<PathBuf>,
    /// What they may do to the repository.
    pub git: GitAccess,
}

/// Builds the sandbox of one command.
pub(crate) struct SandboxBuilder<'a> {
    pub(crate) setting: &'a SandboxSetting,
    pub(crate) workspace: &'a Path,
    /// What belongs to the program itself.
    pub(crate) own: &'a [PathBuf],
    /// The program that is called as `<helper> __sandbox …`.
    pub(crate) helper: &'a Path,
}

/// A command line that runs what follows it in a sandbox.
#[derive(Debug)]
pub(crate) struct PreparedSandbox {
    pub(crate) argv: Vec<OsString>,
    /// Whether the first process is the sandbox itself, which must get no signal but SIGKILL.
    pub(crate) has_outer_process: bool,
    /// What the command may use at most.
    pub(crate) limits: CommandLimits,
    /// Instead of `/tmp` and a home, where those are not the command's own.
    pub(crate) scratch: Option<Scratch>,
    /// The state of the workspace before the command.
    pub(crate) snapshot: WorkspaceSnapshot,
}

impl SandboxBuilder<'_> {
    /// Whether a sandbox can be built here. The first call tries it, which may take a moment.
    pub(crate) fn check(&self) -> Result<(), UnsandboxedReason> {
        self.choose_kind(SurveyDepth::Top).map(drop)
    }

    /// Prepares the sandbox of one command.
    pub(crate) fn prepare(&self) -> Result<PreparedSandbox, UnsandboxedReason> {
        match self.choose_kind(SurveyDepth::Through)? {
            SandboxKind::WithBubblewrap(bubblewrap, support, survey) => {
                let sandbox = self.with_bubblewrap(bubblewrap, support, &survey);
                sandbox.map_err(|error| UnsandboxedReason::Unavailable(error.to_string()))
            }
            SandboxKind::InnerOnly(survey) => self.without_bubblewrap(&survey),
        }
    }

    fn choose_kind(&self, look: SurveyDepth) -> Result<SandboxKind<'static>, UnsandboxedReason> {
        if self.setting.mode == SandboxMode::Off {
            return Err(UnsandboxedReason::Off);
        }
        if self.workspace.parent().is_none() {
            return Err(UnsandboxedReason::Unavailable(
                "the workspace is the whole disk".to_owned(),
            ));
        }
        let survey = Survey::of(self, look).map_err(UnsandboxedReason::Unavailable)?;
        let support = SandboxSupport::here(self.helper);
        match &support.bubblewrap {
            Ok(program) if !program.program.starts_with(self.workspace) => {
                return Ok(SandboxKind::WithBubblewrap(program, support, survey));
            }
            Ok(_) => {
                return Err(UnsandboxedReason::Unavailable(
                    "bwrap lies in the workspace".to_owned(),
                ));
            }
            Err(_) => {}
        }
        if let (Err(why), _) | (_, Err(why)) = (&support.landlock, &support.seccomp) {
            return Err(UnsandboxedReason::Unavailable(why.clone()));
        }
        // Landlock cannot protect a path below a writable one.
        let look = match self.setting.network {
            Network::Off => SurveyDepth::PastSockets,
            Network::On => SurveyDepth::Through,
        };
        let survey = Survey::of(self, look).map_err(UnsandboxedReason::Unavailable)?;
        match survey.places.first() {
            Some(place) => {
                let place = place.path.display();
                Err(UnsandboxedReason::Unavailable(format!(
                    "without bwrap nothing protects {place}"
                )))
            }
            None => Ok(SandboxKind::InnerOnly(survey)),
        }
    }

    fn with_bubblewrap(
        &self,
        bubblewrap: &Bubblewrap,
        support: &SandboxSupport,
        survey: &Survey,
    ) -> io::Result<PreparedSandbox> {
        let files = FileAccess {
            read: vec![PathBuf::from("/")],
            write: ["/tmp", "/dev"].map(PathBuf::from).to_vec(),
        };
        // Abstract sockets belong to the shared network, unless Landlock restricts them.
        let is_shared = self.setting.network == Network::On && support.landlock.is_err();
        let sockets = match (survey.hides_sockets && !is_shared, &support.seccomp) {
            (true, _) => SocketAccess::Usual,
            (false, Ok(())) => SocketAccess::WithoutFiles,
            (false, Err(why)) => return Err(io::Error::other(format!("sockets: {why}"))),
        };
        let kernel = KernelAccess { sockets, is_shared: false };
        let inner = InnerSandbox {
            files: support.landlock.is_ok().then(|| files.and_write(self.writable(survey))),
            kernel: support.seccomp.is_ok().then_some(kernel),
            limits: self.setting.limits,
        };
        let shown = survey.places.iter().filter(|place| place.how != ProtectionLevel::Hidden);
        let shown = shown.map(|place| place.path.clone()).chain([self.workspace.to_owned()]);
        let same: Option<Vec<_>> =
            shown.map(|path| Some((path.clone(), identity(&path)?))).collect();
        let same = same.ok_or_else(|| io::Error::other("the workspace changes under our eyes"))?;
        let mut argv = bubblewrap.argv_for(self, survey)?;
        argv.extend(inner.call_where(Path::new(bubblewrap::HELPER), &same));
        let snapshot = WorkspaceSnapshot::take(self.workspace, survey);
        Ok(PreparedSandbox {
            argv,
            has_outer_process: true,
            limits: self.setting.limits,
            scratch: None,
            snapshot,
        })
    }

    /// What may be written outside the private folders.
    fn writable(&self, survey: &Survey) -> Vec<PathBuf> {
        survey.written.clone().unwrap_or_else(|| vec![self.workspace.to_owned()])
    }

    fn without_bubblewrap(&self, survey: &Survey) -> Result<PreparedSandbox, UnsandboxedReason> {
        let scratch =
            Scratch::new().map_err(|error| UnsandboxedReason::Unavailable(error.to_string()))?;
        let mut read = survey::system();
        read.extend(self.setting.readable.iter().cloned());
        read.extend(survey::MACHINE.iter().map(PathBuf::from));
        read.extend([self.helper.to_owned(), self.workspace.to_owned()]);
        read.extend(survey.places.iter().map(|place| place.path.clone()));
        // Not all of `/dev`: its `shm` belongs to the whole machine.
        let mut write: Vec<PathBuf> = survey::DEVICES.iter().map(PathBuf::from).collect();
        write.push(scratch.path.clone());
        let files = FileAccess { read, write };
        let sockets = match self.setting.network {
            Network::Off => SocketAccess::None,
            // Landlock has no right for what listens at a path, such as the account's own bus.
            Network::On => SocketAccess::WithoutFiles,
        };
        let inner = InnerSandbox {
            files: Some(files.and_write(self.writable(survey))),
            kernel: Some(KernelAccess { sockets, is_shared: true }),
            limits: self.setting.limits,
        };
        let argv = inner.call(self.helper);
        let snapshot = WorkspaceSnapshot::take(self.workspace, survey);
        let (limits, scratch) = (self.setting.limits, Some(scratch));
        Ok(PreparedSandbox { argv, has_outer_process: false, limits, scratch, snapshot })
    }
}

/// The sandbox of a git that we start, if there is one: it sees the system and the workspace, has
/// no network, and writes to its repository or to nothing.
pub(crate) fn prepare_for_git(
    helper: &Path,
    program: &Path,
    workspace: &Path,
    repository: [&Path; 2],
    is_written: bool,
) -> Option<PreparedSandbox> {
    if !survey::SYSTEM.iter().any(|folder| program.starts_with(folder)) {
        return None;
    }
    let limits = CommandLimits { cpu_s: 0, memory_bytes: 0, file_bytes: 0, processes: 0 };
    let setting = SandboxSetting { limits, ..SandboxSetting::default() };
    let builder = SandboxBuilder { setting: &setting, workspace, own: &[], helper };
    let survey = Survey::for_git(workspace, repository, is_written);
    let support = SandboxSupport::here(helper);
    match &support.bubblewrap {
        Ok(bubblewrap) => builder.with_bubblewrap(bubblewrap, support, &survey).ok(),
        Err(_) if support.level() == SandboxLevel::Inner => {
            builder.without_bubblewrap(&survey).ok()
        }
        Err(_) => None,
    }
}

enum SandboxKind<'a> {
    WithBubblewrap(&'a Bubblewrap, &'a SandboxSupport, Survey),
    InnerOnly(Survey),
}

/// Restores access to the folders of a tree that a command closed, without following links.
fn unlock(folder: &Path) {
    let open = std::fs::Permissions::from_mode(0o700);
    let _ = std::fs::set_permissions(folder, open);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}

/// A private folder for one command, which is removed with it.
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
        // What cannot be removed is left to the cleaning of temporary files.
        if std::fs::remove_dir_all(&self.path).is_err() {
            unlock(&self.path);
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
