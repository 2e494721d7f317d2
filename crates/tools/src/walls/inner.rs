//! The inner walls: built by a process around itself, which then becomes the command.
//!
//! What was promised and cannot be built ends the process: nothing is ever run with less.

use super::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What the process exits with if a wall cannot be built or the command not be run.
const NOT_RUN: u8 = 126;

/// The files that a command may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Files {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
}

impl Files {
    pub(crate) fn and_write(mut self, folders: Vec<PathBuf>) -> Self {
        self.write.extend(folders);
        self
    }
}

/// The sockets that a command may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sockets {
    /// None, but for pairs of its own.
    None,
    /// Those of everyday programs; where they lead is up to the outer wall.
    Usual,
}

/// The walls to build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inner {
    /// Landlock, if it is to stand.
    pub(crate) files: Option<Files>,
    /// Seccomp, if it is to stand.
    pub(crate) sockets: Option<Sockets>,
    pub(crate) limits: Limits,
}

impl Inner {
    /// The call that builds these walls around what follows it.
    pub(crate) fn call(&self, helper: &Path) -> Vec<OsString> {
        let spec = serde_json::to_string(self).expect("our own types always have a JSON form");
        vec![helper.into(), "__wall".into(), spec.into(), "--".into()]
    }

    fn build(&self) -> Result<(), String> {
        limit(Resource::Core, Some(0))?;
        let some = |number: u64| (number > 0).then_some(number);
        limit(Resource::Cpu, some(self.limits.cpu_s))?;
        limit(Resource::Data, some(self.limits.memory_bytes))?;
        limit(Resource::Fsize, some(self.limits.file_bytes))?;
        self.shut()
    }

    #[cfg(target_os = "linux")]
    fn shut(&self) -> Result<(), String> {
        use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
        set_no_new_privs(true).map_err(|error| error.to_string())?;
        // Root has rights that lead past the walls; without new privileges none comes back.
        let none = CapabilitySet::empty();
        let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_capabilities(None, none).map_err(|error| format!("capabilities: {error}"))?;
        if let Some(files) = &self.files {
            super::rights::restrict(files).map_err(|error| format!("landlock: {error}"))?;
        }
        if let Some(sockets) = self.sockets {
            let memory = Some(self.limits.memory_bytes).filter(|most| *most > 0);
            super::syscalls::restrict(sockets, memory).map_err(|why| format!("seccomp: {why}"))?;
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn shut(&self) -> Result<(), String> {
        match (&self.files, self.sockets) {
            (None, None) => Ok(()),
            _ => Err("there are no walls on this system".to_owned()),
        }
    }
}

fn limit(resource: Resource, most: Option<u64>) -> Result<(), String> {
    let Some(most) = most else { return Ok(()) };
    let allowed = getrlimit(resource).maximum;
    let most = Some(allowed.map_or(most, |allowed| allowed.min(most)));
    setrlimit(resource, Rlimit { current: most, maximum: most })
        .map_err(|error| format!("limit: {error}"))
}

/// Builds the walls that its first argument describes, and becomes the command that follows `--`.
///
/// Call it before anything else starts threads: `everloop __wall SPEC -- sh -c …`.
pub fn wall_main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let why = become_command(args.into_iter().collect());
    let said = format!("not run, because a wall does not stand: {why}\n");
    let _ = std::io::stderr().write_all(said.as_bytes());
    ExitCode::from(NOT_RUN)
}

/// Comes back only with the reason why it could not.
fn become_command(args: Vec<OsString>) -> String {
    let mut args = args.into_iter().skip_while(|arg| arg == "--");
    let spec = args.next().and_then(|spec| spec.into_string().ok()).unwrap_or_default();
    let inner: Inner = match serde_json::from_str(&spec) {
        Ok(inner) => inner,
        Err(error) => return error.to_string(),
    };
    let mut args = args.skip_while(|arg| arg == "--");
    let Some(program) = args.next() else { return "there is no command".to_owned() };
    match inner.build() {
        Ok(()) => Command::new(program).args(args).exec().to_string(),
        Err(why) => why,
    }
}
