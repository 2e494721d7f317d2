//! Which parts of the sandbox work on this machine: each is tried once with a command that does
//! nothing.

use super::bubblewrap::Bubblewrap;
use super::inner::{FileAccess, InnerSandbox, KernelAccess, SocketAccess};
use super::survey::Survey;
use super::{CommandLimits, Network, SandboxBuilder, SandboxSetting, Scratch};
use crate::programs::find_program;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The parts of the sandbox that work here, or why they do not.
#[derive(Debug, Clone)]
pub struct SandboxSupport {
    /// The outer sandbox: files, processes, network.
    pub bubblewrap: Result<Bubblewrap, String>,
    /// Files, by Landlock.
    pub landlock: Result<(), String>,
    /// System calls, by seccomp.
    pub seccomp: Result<(), String>,
}

/// How far the sandbox reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxLevel {
    /// Files, processes and network, with the protected paths of the workspace.
    Full,
    /// Files and network; nothing protects a path in the workspace.
    Inner,
    /// Nothing.
    None,
}

impl SandboxLevel {
    /// For scripts; never changes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Inner => "landlock",
            Self::None => "none",
        }
    }
}

static SUPPORT: OnceLock<SandboxSupport> = OnceLock::new();

impl SandboxSupport {
    /// What works here; the first call tries it.
    pub fn here(helper: &Path) -> &'static Self {
        SUPPORT.get_or_init(|| Self::try_all(helper))
    }

    /// How far it reaches.
    #[must_use]
    pub fn level(&self) -> SandboxLevel {
        match (&self.bubblewrap, &self.landlock, &self.seccomp) {
            (Ok(_), ..) => SandboxLevel::Full,
            (Err(_), Ok(()), Ok(())) => SandboxLevel::Inner,
            _ => SandboxLevel::None,
        }
    }

    fn try_all(helper: &Path) -> Self {
        let nothing = CommandLimits { cpu_s: 0, memory_bytes: 0, file_bytes: 0, processes: 0 };
        let bare = InnerSandbox { files: None, kernel: None, limits: nothing };
        let files = FileAccess { read: vec![PathBuf::from("/")], write: Vec::new() };
        let landlock = InnerSandbox { files: Some(files), ..bare.clone() };
        let kernel = KernelAccess { sockets: SocketAccess::None, is_shared: true };
        let seccomp = InnerSandbox { kernel: Some(kernel), ..bare };
        Self {
            bubblewrap: outer(helper),
            landlock: try_command(landlock.call(helper)),
            seccomp: try_command(seccomp.call(helper)),
        }
    }
}

fn outer(helper: &Path) -> Result<Bubblewrap, String> {
    let program = find_program("bwrap").ok_or("bwrap is not installed")?;
    let setting = SandboxSetting { network: Network::Off, ..SandboxSetting::default() };
    let folder = Scratch::new().map_err(|error| error.to_string())?;
    let builder = SandboxBuilder { setting: &setting, workspace: &folder.path, own: &[], helper };
    let mut why = String::new();
    for is_sized in [true, false] {
        let bubblewrap = Bubblewrap { program: program.clone(), is_sized };
        let argv = bubblewrap.argv_for(&builder, &Survey::default());
        match argv.map_err(|error| error.to_string()).and_then(try_command) {
            Ok(()) => return Ok(bubblewrap),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Runs a command that does nothing in the sandbox.
fn try_command(mut argv: Vec<OsString>) -> Result<(), String> {
    argv.extend(["/bin/sh", "-c", ":"].map(OsString::from));
    let (program, args) = argv.split_first().ok_or("there is nothing to try")?;
    let mut command = Command::new(program);
    command.args(args).env_clear().stdin(Stdio::null());
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(reason(&output)),
        Err(error) => Err(error.to_string()),
    }
}

fn reason(output: &Output) -> String {
    let said = crate::clean::clean(&output.stderr);
    match said.lines().next() {
        Some(line) => line.to_owned(),
        None => output.status.to_string(),
    }
}
