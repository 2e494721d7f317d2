//! The inner sandbox: a process restricts itself and then becomes the command.
//!
//! If a restriction cannot be applied the process exits: the command never runs with less.

use super::CommandLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What the process exits with if the sandbox cannot be built or the command cannot be run.
const NOT_RUN: u8 = 126;

/// Before a place and its identity.
const SAME: &str = "--same";

/// What a path is, by device and number; nothing if there is a link in it, or nothing there.
#[cfg(target_os = "linux")]
pub(crate) fn identity(path: &Path) -> Option<String> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};
    let (flags, resolve) = (OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::NO_SYMLINKS);
    let file = openat2(CWD, path, flags, Mode::empty(), resolve).ok()?;
    fstat(file).ok().map(|found| format!("{}:{}", found.st_dev, found.st_ino))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn identity(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::symlink_metadata(path).ok().filter(|found| !found.is_symlink())?;
    Some(format!("{}:{}", found.dev(), found.ino()))
}

/// The files that a command may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileAccess {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
}

impl FileAccess {
    pub(crate) fn and_write(mut self, folders: Vec<PathBuf>) -> Self {
        self.write.extend(folders);
        self
    }
}

/// The sockets that a command may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SocketAccess {
    /// None, but for pairs of its own.
    None,
    /// None that have a path, where a process outside may listen.
    WithoutFiles,
    /// Those of everyday programs; the outer sandbox decides what they reach.
    Usual,
}

/// Which system calls are restricted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KernelAccess {
    pub(crate) sockets: SocketAccess,
    /// Whether no namespace keeps the command apart from other processes of the account.
    pub(crate) is_shared: bool,
}

/// The sandbox to build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InnerSandbox {
    /// The rules of Landlock, if it is used.
    pub(crate) files: Option<FileAccess>,
    /// The rules of seccomp, if it is used.
    pub(crate) kernel: Option<KernelAccess>,
    pub(crate) limits: CommandLimits,
}

impl InnerSandbox {
    /// The call that runs what follows it in this sandbox.
    pub(crate) fn call(&self, helper: &Path) -> Vec<OsString> {
        self.call_where(helper, &[])
    }

    /// The same, if the paths in the outer sandbox are still the ones that were surveyed: another
    /// program may have put a link there in between.
    pub(crate) fn call_where(&self, helper: &Path, places: &[(PathBuf, String)]) -> Vec<OsString> {
        let spec = serde_json::to_string(self).expect("our own types always have a JSON form");
        let mut call: Vec<OsString> = vec![helper.into(), "__sandbox".into(), spec.into()];
        for (path, id) in places {
            call.extend([SAME.into(), path.into(), id.into()]);
        }
        call.push("--".into());
        call
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
        // Root has capabilities that bypass the sandbox; without new privileges none comes back.
        let none = CapabilitySet::empty();
        let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_capabilities(None, none).map_err(|error| format!("capabilities: {error}"))?;
        if let Some(files) = &self.files {
            super::landlock::restrict(files).map_err(|error| format!("landlock: {error}"))?;
        }
        if let Some(kernel) = self.kernel {
            let memory = Some(self.limits.memory_bytes).filter(|most| *most > 0);
            super::seccomp::restrict(kernel, memory).map_err(|why| format!("seccomp: {why}"))?;
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn shut(&self) -> Result<(), String> {
        match (&self.files, self.kernel) {
            (None, None) => Ok(()),
            _ => Err("there is no sandbox on this system".to_owned()),
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

/// Builds the sandbox that its first argument describes, and becomes the command that follows `--`.
///
/// Call it before anything else starts threads: `everloop __sandbox SPEC -- sh -c …`.
pub fn sandbox_main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    crate::hand_on_no_files();
    let why = become_command(args.into_iter().collect());
    let said = format!("not run, because the sandbox cannot be built: {why}\n");
    let _ = std::io::stderr().write_all(said.as_bytes());
    ExitCode::from(NOT_RUN)
}

/// Comes back only with the reason why it could not.
fn become_command(args: Vec<OsString>) -> String {
    let mut args = args.into_iter().skip_while(|arg| arg == "--");
    let spec = args.next().and_then(|spec| spec.into_string().ok()).unwrap_or_default();
    let inner: InnerSandbox = match serde_json::from_str(&spec) {
        Ok(inner) => inner,
        Err(error) => return error.to_string(),
    };
    let mut args = args.peekable();
    while args.next_if(|arg| arg == SAME).is_some() {
        let (path, id) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
        if identity(Path::new(&path)).map(OsString::from) != Some(id) {
            return format!("{} is not what it was", Path::new(&path).display());
        }
    }
    let mut args = args.skip_while(|arg| arg == "--");
    let Some(program) = args.next() else { return "there is no command".to_owned() };
    match inner.build() {
        Ok(()) => Command::new(program).args(args).exec().to_string(),
        Err(why) => why,
    }
}
