//! A workspace full of things to steal, and a world around it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::support::{Place, folder, guard};
use everloop_tools::{CommandLimits, Setting};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) const FILE_BYTES: u64 = 16 << 20;

const LIMITS: CommandLimits =
    CommandLimits { cpu_s: 2, memory_bytes: 256 << 20, file_bytes: FILE_BYTES, processes: 100 };

/// System calls by their names in a command.
const CALLS: &[(&str, libc::c_long)] = &[
    ("ptrace", libc::SYS_ptrace),
    ("mount", libc::SYS_mount),
    ("unshare", libc::SYS_unshare),
    ("add_key", libc::SYS_add_key),
    ("mmap", libc::SYS_mmap),
    ("read", libc::SYS_read),
    ("openat", libc::SYS_openat),
    ("memfd_create", libc::SYS_memfd_create),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
    ("tgkill", libc::SYS_tgkill),
    ("kcmp", libc::SYS_kcmp),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("bpf", libc::SYS_bpf),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("userfaultfd", libc::SYS_userfaultfd),
    ("keyctl", libc::SYS_keyctl),
    ("request_key", libc::SYS_request_key),
    ("name_to_handle_at", libc::SYS_name_to_handle_at),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("setns", libc::SYS_setns),
    ("clone", libc::SYS_clone),
    ("fsopen", libc::SYS_fsopen),
    ("open_tree", libc::SYS_open_tree),
    ("move_mount", libc::SYS_move_mount),
    ("mount_setattr", libc::SYS_mount_setattr),
    ("pivot_root", libc::SYS_pivot_root),
    ("umount2", libc::SYS_umount2),
    ("syslog", libc::SYS_syslog),
    ("finit_module", libc::SYS_finit_module),
    ("clock_settime", libc::SYS_clock_settime),
    ("mq_open", libc::SYS_mq_open),
    ("prctl", libc::SYS_prctl),
];

/// A workspace full of things to steal, and a world around it.
pub(crate) struct Scene {
    pub(crate) place: Place,
    victim: Child,
    token: String,
    tcp: TcpListener,
    udp: UdpSocket,
    _sockets: [UnixListener; 4],
    _datagrams: UnixDatagram,
    terminal: OnceLock<Terminal>,
    home: TempDir,
    segment: OnceLock<Segment>,
}

/// Whether the workspace holds paths that are protected in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Things {
    None,
    Protected,
}

impl Scene {
    pub(crate) fn new(things: Things, change: impl FnOnce(Setting) -> Setting) -> Self {
        let home = folder();
        let token = format!("token{}", home.path().file_name().unwrap().display());
        let token = token.replace('.', "");
        let place = Place::within(folder(), |mut setting| {
            setting.guard = Some(guard());
            setting.shell.sandbox.limits = LIMITS;
            if things == Things::Protected {
                setting.protected =
                    ["data", "deep/own"].map(|n| setting.workspace.join(n)).to_vec();
            }
            change(setting)
        });
        let root = place.root();
        let world = root.parent().unwrap();
        if things == Things::Protected {
            for file in [".git/config", ".agents/known", ".bashrc", "AGENTS.md"] {
                place.write(file, "");
            }
            for file in [".git/objects/kept", "sub/.git/config", ".hg/hgrc", ".vscode/tasks.json"] {
                place.write(file, "");
            }
            for folder in [".git/hooks", "sub/.git/hooks", "deep/own", "store"] {
                fs::create_dir_all(root.join(folder)).unwrap();
            }
            place.write("store/config", "");
            place.write("work/.git", "gitdir: ../store");
            place.write("data/key", "the secret");
        }
        fs::write(world.join("kept"), "").unwrap();
        fs::write(home.path().join("secret"), "the secret").unwrap();
        let victim = Command::new("sleep").arg("1000").env("TOKEN", "x").spawn().unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        fs::create_dir_all(root.join("deep")).unwrap();
        let name = SocketAddr::from_abstract_name(&token).unwrap();
        let sockets = [
            UnixListener::bind_addr(&name).unwrap(),
            UnixListener::bind(home.path().join("socket")).unwrap(),
            UnixListener::bind(root.join("agent.sock")).unwrap(),
            UnixListener::bind(root.join("deep/agent.sock")).unwrap(),
        ];
        let datagrams = UnixDatagram::bind(root.join("datagrams")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let (_sockets, _datagrams) = (sockets, datagrams);
        Self {
            place,
            victim,
            token,
            tcp,
            udp,
            _sockets,
            _datagrams,
            terminal: OnceLock::new(),
            home,
            segment: OnceLock::new(),
        }
    }

    pub(crate) fn filled(&self, command: &str) -> String {
        let outside = self.place.root().parent().unwrap().display().to_string();
        let names = [
            ("{outside}", outside),
            ("{home}", self.home.path().display().to_string()),
            ("{socket}", self.home.path().join("socket").display().to_string()),
            ("{victim}", self.victim.id().to_string()),
            ("{token}", self.token.clone()),
            ("{abstract}", self.token.clone()),
            ("{tcp}", self.tcp.local_addr().unwrap().port().to_string()),
            ("{udp}", self.udp.local_addr().unwrap().port().to_string()),
        ];
        let filled = |text: String, (name, value): (&str, String)| text.replace(name, &value);
        let text = names.into_iter().fold(command.to_owned(), filled);
        let calls = CALLS.iter().map(|(name, number)| (format!("{{{name}}}"), number.to_string()));
        let text = calls.fold(text, |text, (name, number)| text.replace(&name, &number));
        let text = match text.contains("{tty}") {
            true => text.replace("{tty}", &self.terminal.get_or_init(Terminal::open).name),
            false => text,
        };
        match text.contains("{shm}") {
            true => text.replace("{shm}", &self.segment.get_or_init(Segment::make).id),
            false => text,
        }
    }

    /// Whether a file in the workspace gives its owner's or group's rights to whoever runs it.
    pub(crate) fn is_setuid(&self, name: &str) -> bool {
        let mode = fs::metadata(self.inside(name)).map_or(0, |found| found.permissions().mode());
        mode & 0o6000 != 0
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.place.root().parent().unwrap().join(name)
    }

    pub(crate) fn content(&self, name: &str) -> String {
        fs::read_to_string(self.outside(name)).unwrap_or_default()
    }

    pub(crate) fn inside(&self, name: &str) -> PathBuf {
        self.place.root().join(name)
    }

    pub(crate) fn inside_content(&self, name: &str) -> String {
        fs::read_to_string(self.inside(name)).unwrap_or_default()
    }

    pub(crate) fn size(&self, name: &str) -> u64 {
        fs::metadata(self.inside(name)).map_or(0, |found| found.len())
    }

    pub(crate) fn token_is_in(&self, folder: &str) -> bool {
        let path = Path::new(folder).join(&self.token);
        let found = path.exists();
        let _ = fs::remove_file(path);
        found
    }

    pub(crate) fn datagram_came(&self) -> bool {
        self.udp.recv(&mut [0; 8]).is_ok()
    }

    /// A process that was killed may take a moment to go.
    pub(crate) fn victim_lives(&self) -> bool {
        let until = Instant::now() + Duration::from_millis(300);
        loop {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.victim.id()));
            let lives = stat.is_ok_and(|stat| !stat.contains(") Z "));
            if !lives || Instant::now() > until {
                return lives;
            }
            std::thread::yield_now();
        }
    }

    /// Processes that bear the token.
    pub(crate) fn processes(&self) -> usize {
        bearing(&self.token)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// Memory that processes of the account share.
struct Segment {
    id: String,
}

impl Segment {
    fn make() -> Self {
        let made = Command::new("ipcmk").args(["-M", "64"]).output().expect("ipcmk (util-linux)");
        let said = String::from_utf8(made.stdout).unwrap();
        Self { id: said.split_whitespace().last().unwrap().to_owned() }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let _ = Command::new("ipcrm").args(["-m", &self.id]).output();
    }
}

/// Another terminal of the account, kept open by a program of its own.
struct Terminal {
    program: Child,
    name: String,
}

impl Terminal {
    fn open() -> Self {
        let mut program = Command::new("script")
            .args(["-qfc", "tty; exec sleep 1000", "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script (util-linux) opens a terminal");
        let mut name = String::new();
        BufReader::new(program.stdout.take().unwrap()).read_line(&mut name).unwrap();
        Self { program, name: name.trim().to_owned() }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Living processes with this word in their arguments.
pub(crate) fn bearing(token: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(token)).count()
}
