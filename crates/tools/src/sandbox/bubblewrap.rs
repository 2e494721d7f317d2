//! The outer sandbox: bubblewrap's arguments.

use super::survey::{self, ProtectionLevel, Survey};
use super::{Network, SandboxBuilder};
use crate::programs::image_of;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The path of the helper of the inner sandbox within.
pub(crate) const HELPER: &str = "/run/everloop";

/// Bytes of the private `/tmp`, and of `/dev/shm`, where bubblewrap can bound them.
const TMP_BYTES: &str = "1073741824";

/// Where files stay longer than in `/tmp`.
const LONG_TMP: &str = "/var/tmp";

/// The program, and what it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bubblewrap {
    /// Its path.
    pub(crate) program: PathBuf,
    /// Whether it can bound the size of `/tmp` and `/dev/shm`.
    pub(crate) is_sized: bool,
}

/// Collects arguments.
struct Argv(Vec<OsString>);

impl Argv {
    fn add<S: Into<OsString>>(&mut self, args: impl IntoIterator<Item = S>) {
        self.0.extend(args.into_iter().map(Into::into));
    }

    fn mount(&mut self, how: &str, from: &Path, to: &Path) {
        self.add([OsString::from(how), from.into(), to.into()]);
    }
}

impl Bubblewrap {
    /// The call of bubblewrap, up to the command.
    pub(crate) fn argv_for(
        &self,
        builder: &SandboxBuilder<'_>,
        survey: &Survey,
    ) -> io::Result<Vec<OsString>> {
        let mut argv = Argv(vec![self.program.clone().into()]);
        argv.add(["--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        argv.add(["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]);
        argv.add(["--unshare-cgroup-try", "--hostname", "sandbox"]);
        if builder.setting.network == Network::Off {
            argv.add(["--unshare-net"]);
        }
        self.system(&mut argv, builder);
        argv.add(long_tmp(builder, survey));
        for folder in &builder.setting.readable {
            argv.mount("--ro-bind-try", folder, folder);
        }
        let workspace = builder.workspace;
        argv.mount("--bind", workspace, workspace);
        for place in &survey.places {
            let path = place.path.as_path();
            match place.how {
                ProtectionLevel::Pinned => argv.mount("--bind", path, path),
                ProtectionLevel::ReadOnly => argv.mount("--ro-bind", path, path),
                ProtectionLevel::Hidden => hide(&mut argv, path),
            }
        }
        argv.mount("--ro-bind", &image_of(builder.helper)?, Path::new(HELPER));
        argv.add(["--remount-ro", "/"]);
        argv.add(["--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp", "--chdir"]);
        argv.add([workspace]);
        argv.add(["--"]);
        Ok(argv.0)
    }

    /// What every command sees outside the workspace.
    fn system(&self, argv: &mut Argv, builder: &SandboxBuilder<'_>) {
        for folder in survey::SYSTEM.iter().chain([&survey::SETTINGS]).map(Path::new) {
            argv.mount("--ro-bind-try", folder, folder);
        }
        for path in survey::private() {
            hide(argv, &path);
        }
        if builder.setting.network == Network::On {
            // Where names are looked up is often a link to a file that is made anew at each start.
            let names = Path::new("/etc/resolv.conf").canonicalize().ok();
            for file in names.iter().filter(|file| !file.starts_with("/etc")) {
                argv.mount("--ro-bind-try", file, file);
            }
        }
        argv.add(["--proc", "/proc", "--dev", "/dev"]);
        if rustix::process::geteuid().is_root() {
            // Root owns the kernel's settings, and an owner needs no capability to write them.
            for path in survey::KERNEL.map(Path::new).into_iter().filter(|path| path.exists()) {
                argv.mount("--ro-bind", path, path);
            }
        }
        for folder in ["/dev/shm", "/tmp"] {
            if self.is_sized {
                argv.add(["--size", TMP_BYTES]);
            }
            argv.add(["--tmpfs", folder]);
        }
        // Its devices are mounts of their own; files beside them would be memory without a bound.
        argv.add(["--remount-ro", "/dev"]);
    }
}

/// `/var/tmp` is a link to `/tmp`, unless a visible path is in it: a link cannot hold mounts.
fn long_tmp(builder: &SandboxBuilder<'_>, survey: &Survey) -> Vec<OsString> {
    let places = survey.places.iter().map(|place| &place.path).chain(&builder.setting.readable);
    let mut shown = places.map(PathBuf::as_path).chain([builder.workspace]);
    match shown.any(|path| path.starts_with(LONG_TMP)) {
        true => ["--dir", "/var", "--dir", LONG_TMP].map(OsString::from).to_vec(),
        false => ["--dir", "/var", "--symlink", "/tmp", LONG_TMP].map(OsString::from).to_vec(),
    }
}

/// A folder looks empty, a file cannot be opened.
fn hide(argv: &mut Argv, path: &Path) {
    match path.is_dir() {
        true => {
            argv.add([OsString::from("--tmpfs"), path.into()]);
            argv.add([OsString::from("--remount-ro"), path.into()]);
        }
        false => argv.mount("--ro-bind", Path::new("/dev/null"), path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SandboxSetting;
    use crate::programs::find_program;
    use std::process::Command;

    #[test]
    fn root_cannot_change_the_kernel_behind_the_outer_sandbox_alone() {
        let Some(program) = find_program("bwrap") else {
            println!("SKIPPED: bwrap is not installed");
            return;
        };
        if !rustix::process::geteuid().is_root() {
            println!("SKIPPED: only root owns the kernel's settings");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().canonicalize().unwrap();
        let (setting, helper) = (SandboxSetting::default(), Path::new("/bin/true"));
        let builder = SandboxBuilder { setting: &setting, workspace: &workspace, own: &[], helper };
        let bubblewrap = Bubblewrap { program, is_sized: false };
        // Each is opened and not written.
        for (command, works) in [
            ("cat /proc/sys/kernel/pid_max", true),
            (": >> /proc/sys/kernel/core_pattern", false),
            (": >> /proc/sys/vm/drop_caches", false),
            (": >> /proc/sysrq-trigger", false),
        ] {
            let argv = bubblewrap.argv_for(&builder, &Survey::default()).unwrap();
            let sh = ["/bin/sh", "-c", command].map(OsString::from);
            let output = Command::new(&argv[0]).args(&argv[1..]).args(sh).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            if said.starts_with("bwrap:") {
                println!("SKIPPED: bubblewrap does not work here: {said}");
                return;
            }
            assert_eq!(output.status.success(), works, "{command}: {said}");
        }
    }
}
