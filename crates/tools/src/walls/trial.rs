//! Which walls stand on this machine: each is built once around a command that does nothing.

use super::bubblewrap::Bubblewrap;
use super::inner::{Files, Inner, Kernel, Sockets};
use super::places::Survey;
use super::{Limits, Network, Plot, Scratch, WallSetting};
use crate::programs::find_program;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// What stands, or why it does not.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The outer wall: files, processes, network.
    pub bubblewrap: Result<Bubblewrap, String>,
    /// Files, by Landlock.
    pub landlock: Result<(), String>,
    /// System calls, by seccomp.
    pub seccomp: Result<(), String>,
}

/// How far the walls reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Files, processes and network, with the protected paths of the workspace.
    Full,
    /// Files and network; nothing protects a path in the workspace.
    Inner,
    /// Nothing.
    None,
}

impl Level {
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

static STANDING: OnceLock<Standing> = OnceLock::new();

impl Standing {
    /// What stands here, tried out by the first who asks.
    pub fn here(helper: &Path) -> &'static Self {
        STANDING.get_or_init(|| Self::tried(helper))
    }

    /// How far it reaches.
    #[must_use]
    pub fn level(&self) -> Level {
        match (&self.bubblewrap, &self.landlock, &self.seccomp) {
            (Ok(_), ..) => Level::Full,
            (Err(_), Ok(()), Ok(())) => Level::Inner,
            _ => Level::None,
        }
    }

    fn tried(helper: &Path) -> Self {
        let nothing = Limits { cpu_s: 0, memory_bytes: 0, file_bytes: 0, processes: 0 };
        let bare = Inner { files: None, kernel: None, limits: nothing };
        let files = Files { read: vec![PathBuf::from("/")], write: Vec::new() };
        let landlock = Inner { files: Some(files), ..bare.clone() };
        let kernel = Kernel { sockets: Sockets::None, is_shared: true };
        let seccomp = Inner { kernel: Some(kernel), ..bare };
        Self {
            bubblewrap: outer(helper),
            landlock: stands(landlock.call(helper)),
            seccomp: stands(seccomp.call(helper)),
        }
    }
}

fn outer(helper: &Path) -> Result<Bubblewrap, String> {
    let program = find_program("bwrap").ok_or("bwrap is not installed")?;
    let setting = WallSetting { network: Network::Off, ..WallSetting::default() };
    let folder = Scratch::new().map_err(|error| error.to_string())?;
    let plot = Plot { setting: &setting, workspace: &folder.path, own: &[], helper };
    let mut why = String::new();
    for is_sized in [true, false] {
        let bubblewrap = Bubblewrap { program: program.clone(), is_sized };
        let argv = bubblewrap.around(&plot, &Survey::default());
        match argv.map_err(|error| error.to_string()).and_then(stands) {
            Ok(()) => return Ok(bubblewrap),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Builds a wall around a command that does nothing.
fn stands(mut argv: Vec<OsString>) -> Result<(), String> {
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
