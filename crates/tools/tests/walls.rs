//! The walls around shell commands, on real processes: what gets out, and what is left over.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "walls/attempts.rs"]
mod attempts;
mod support;

use attempts::{Attempt, Check, Wall};
use everloop_tools::{
    Bareness, CallContext, Examples, GitAccess, Judgement, Level, Limits, Registry, Sandbox, Say,
    Setting, ShellRule, Standing,
};
use everloop_types::Ending::{Canceled, Denied, Ok};
use everloop_types::Observation;
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Place, bare, guard, observed};
use tempfile::TempDir;

pub(crate) const FILE_BYTES: u64 = 16 << 20;

const LIMITS: Limits =
    Limits { cpu_s: 2, memory_bytes: 256 << 20, file_bytes: FILE_BYTES, processes: 100 };

/// A workspace full of things to steal, and a world around it.
pub(crate) struct Scene {
    place: Place,
    victim: Child,
    token: String,
    tcp: TcpListener,
    udp: UdpSocket,
    _sockets: [UnixListener; 4],
    _datagrams: UnixDatagram,
    terminal: Terminal,
    home: TempDir,
}

/// Whether the workspace holds paths that are protected in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Things {
    None,
    Protected,
}

/// A folder that vanishes, elsewhere than in the system's temporary one, which is private anyway.
fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

impl Scene {
    fn new(things: Things, change: impl FnOnce(Setting) -> Setting) -> Self {
        let home = folder();
        let token = format!("token{}", home.path().file_name().unwrap().display());
        let token = token.replace('.', "");
        let place = Place::within(folder(), |mut setting| {
            setting.guard = Some(guard());
            setting.shell.walls.limits = LIMITS;
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
        let terminal = Terminal::open();
        let (_sockets, _datagrams) = (sockets, datagrams);
        Self { place, victim, token, tcp, udp, _sockets, _datagrams, terminal, home }
    }

    fn filled(&self, command: &str) -> String {
        let outside = self.place.root().parent().unwrap().display().to_string();
        let number = |number: libc::c_long| number.to_string();
        let names = [
            ("{outside}", outside),
            ("{home}", self.home.path().display().to_string()),
            ("{socket}", self.home.path().join("socket").display().to_string()),
            ("{victim}", self.victim.id().to_string()),
            ("{token}", self.token.clone()),
            ("{abstract}", self.token.clone()),
            ("{tcp}", self.tcp.local_addr().unwrap().port().to_string()),
            ("{udp}", self.udp.local_addr().unwrap().port().to_string()),
            ("{ptrace}", number(libc::SYS_ptrace)),
            ("{mount}", number(libc::SYS_mount)),
            ("{unshare}", number(libc::SYS_unshare)),
            ("{add_key}", number(libc::SYS_add_key)),
            ("{mmap}", number(libc::SYS_mmap)),
            ("{read}", number(libc::SYS_read)),
            ("{tty}", self.terminal.name.clone()),
        ];
        names.iter().fold(command.to_owned(), |text, (name, value)| text.replace(name, value))
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
fn bearing(token: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(token)).count()
}

/// Whether the attempt got what it wanted.
async fn escapes(attempt: &Attempt, scene: &Scene, may_run_bare: bool) -> (bool, Observation) {
    let command = json!({ "command": scene.filled(attempt.command) });
    let context = CallContext { may_run_bare, ..CallContext::new("key") };
    let seen = scene.place.call_in("shell", command, &context).await;
    let said = seen.text.contains("ESCAPED");
    let escaped = match attempt.check {
        Check::Nothing => said,
        // What was said is about the inside, and there it may be so.
        Check::Outside(holds) => !holds(scene),
    };
    (escaped, seen)
}

fn stands(wall: Wall, standing: &Standing) -> bool {
    match wall {
        Wall::Any => standing.level() != Level::None,
        Wall::Outer => standing.level() == Level::Full,
        Wall::Syscalls => standing.seccomp.is_ok(),
        Wall::Limits => true,
    }
}

/// Runs a table, tells each row, and fails if one got out.
async fn run(things: Things, table: &[Attempt]) {
    let standing = Standing::here(&guard());
    let (mut held, mut cannot, mut wrong) = (0, 0, Vec::new());
    for attempt in table {
        let name = attempt.name;
        if !stands(attempt.wall, standing) {
            cannot += 1;
            println!(
                "NOT HELD HERE  {name}: needs a wall that does not stand ({:?})",
                attempt.wall
            );
            continue;
        }
        let (escaped, seen) = escapes(attempt, &Scene::new(things, |setting| setting), false).await;
        let alive = seen.ending != Denied && !seen.text.contains("a wall does not stand");
        println!("{}  {name}: {}", if escaped { "ESCAPED" } else { "held" }, seen.text.trim());
        if escaped || !alive {
            wrong.push(format!("{name}: {}", seen.text));
            continue;
        }
        held += 1;
        if attempt.works_bare {
            let (escaped, seen) = escapes(attempt, &Scene::new(things, bare), true).await;
            if !escaped {
                wrong.push(format!("{name} proves nothing, it fails bare too: {}", seen.text));
            }
        }
    }
    let level = standing.level().name();
    println!("{level}: {held} held, {cannot} not held here, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn no_attempt_on_files_gets_out() {
    run(Things::None, attempts::FILES).await;
}

#[tokio::test]
async fn no_attempt_on_protected_paths_gets_through() {
    run(Things::Protected, attempts::PROTECTED).await;
}

#[tokio::test]
async fn no_attempt_on_the_network_gets_out() {
    run(Things::None, attempts::NETWORK).await;
}

#[tokio::test]
async fn no_attempt_at_more_rights_gets_through() {
    run(Things::None, attempts::RIGHTS).await;
}

#[tokio::test]
async fn no_attempt_at_more_than_the_limits_gets_through() {
    run(Things::None, attempts::LIMITS).await;
}

#[tokio::test]
async fn nobody_is_left_of_an_attempt_to_outlive_the_command() {
    run(Things::None, attempts::LEFT).await;
}

/// A folder of links to every program but bubblewrap.
fn programs_without_bubblewrap() -> TempDir {
    let folder = folder();
    for programs in ["/usr/bin", "/bin"] {
        for entry in fs::read_dir(programs).unwrap().flatten() {
            if entry.file_name() != "bwrap" {
                let link = folder.path().join(entry.file_name());
                let _ = std::os::unix::fs::symlink(entry.path(), link);
            }
        }
    }
    folder
}

#[test]
fn the_inner_walls_alone_hold_what_they_promise() {
    let programs = programs_without_bubblewrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .args(["no_attempt_on_files_gets_out", "no_attempt_on_the_network_gets_out"])
        .args(["no_attempt_at_more_rights_gets_through"])
        .args(["no_attempt_at_more_than_the_limits_gets_through"])
        .args(["nobody_is_left_of_an_attempt_to_outlive_the_command"])
        .env("PATH", programs.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("full: "), "bubblewrap was found all the same");
}

#[tokio::test]
async fn an_everyday_command_works_behind_the_walls() {
    let place = Place::walled();
    let seen = place.shell("echo made > file && cat file && pwd && ls").await;
    let root = place.root().canonicalize().unwrap();
    let expected = format!("made\n{}\nfile\n[exit code 0]", root.display());
    assert_eq!(seen, observed(Ok, &expected));
    assert_eq!(place.content("file"), "made\n");
    let seen = place.shell("echo x > $TMPDIR/x && cat $HOME/x && mktemp && exit 3").await;
    assert!(seen.text.starts_with("x\n") && seen.text.ends_with("[exit code 3]"), "{seen:?}");
    let server = "perl -MIO::Socket::INET -e '$l=IO::Socket::INET->new(Listen=>1,\
        LocalAddr=>\"127.0.0.1\") or die; IO::Socket::INET->new(PeerAddr=>\"127.0.0.1\",\
        PeerPort=>$l->sockport) or die; print \"talked\"'";
    if Standing::here(&guard()).level() == Level::Full {
        assert_eq!(place.shell(server).await, observed(Ok, "talked\n[exit code 0]"));
    }
}

/// Runs until it is canceled, and says when and in how many processes it is left.
async fn canceled(command: &str) -> (Observation, Duration, usize) {
    let scene = Scene::new(Things::None, |setting| setting);
    let (send, mut lines) = tokio::sync::mpsc::unbounded_channel();
    let on_output = Arc::new(move |text: &str| drop(send.send(text.to_owned())));
    let context = CallContext { on_output: Some(on_output), ..CallContext::new("key") };
    let cancel = context.cancel.clone();
    let canceler = tokio::spawn(async move {
        lines.recv().await.unwrap();
        cancel.cancel();
        Instant::now()
    });
    let command = json!({ "command": scene.filled(command) });
    let seen = scene.place.call_in("shell", command, &context).await;
    let took = canceler.await.unwrap().elapsed();
    (seen, took, scene.processes())
}

#[tokio::test]
async fn a_cancel_leaves_nobody_behind_the_walls_within_a_second() {
    let deaf = "trap '' TERM; nohup setsid sh -c 'trap \"\" TERM; sleep 1000; :' {token} & \
        (sh -c 'trap \"\" TERM; sleep 1000; :' {token} &) ; echo up; sleep 1000; sleep 1000";
    for command in ["echo up; sh -c 'sleep 1000; :' {token}", deaf] {
        let (seen, took, left) = canceled(command).await;
        assert_eq!(seen.ending, Canceled, "{seen:?}");
        assert_eq!(left, 0);
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}

#[tokio::test]
async fn what_needs_a_moment_to_end_gets_it_behind_the_walls() {
    let command = "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.01; done";
    let (seen, ..) = canceled(command).await;
    assert!(seen.text.ends_with("saved\n[stopped: canceled]"), "{}", seen.text);
}

#[tokio::test]
async fn runs_one_command_if_it_is_asked_to() {
    let Some(workspace) = std::env::var_os("EVERLOOP_TEST_WORKSPACE") else { return };
    let command = std::env::var("EVERLOOP_TEST_COMMAND").unwrap();
    let registry = Registry::builtin(&Setting { guard: Some(guard()), ..Setting::new(workspace) });
    let args = json!({ "command": command }).to_string();
    let shell = Arc::clone(registry.unwrap().get("shell").unwrap());
    shell.call(&args, &CallContext::new("key")).await;
}

#[test]
fn nobody_is_left_when_the_parent_is_killed() {
    let place = Place::walled();
    let pipe = place.path("alive");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let token = format!("token{}", std::process::id());
    let command = format!(
        "exec 3>alive; setsid sh -c 'trap \"\" TERM; sleep 1000; :' {token} & \
         (sh -c 'sleep 1000; :' {token} &); echo up >&3; sleep 1000"
    );
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "runs_one_command_if_it_is_asked_to"])
        .env("EVERLOOP_TEST_WORKSPACE", place.root())
        .env("EVERLOOP_TEST_COMMAND", command)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(fs::File::open(pipe).unwrap());
    reader.read_line(&mut String::new()).unwrap();
    assert!(bearing(&token) >= 3);
    parent.kill().unwrap();
    parent.wait().unwrap();
    // Comes to an end when the last of the command has closed the pipe by ending.
    reader.read_to_end(&mut Vec::new()).unwrap();
    let until = Instant::now() + Duration::from_secs(5);
    while bearing(&token) > 0 {
        assert!(Instant::now() < until, "{} processes are left", bearing(&token));
        std::thread::yield_now();
    }
}

/// A folder that commands may read brings the sockets of its programs with it.
#[tokio::test]
async fn a_socket_in_a_readable_folder_leads_nowhere() {
    if Standing::here(&guard()).level() == Level::None {
        println!("SKIPPED: no wall stands here");
        return;
    }
    let readable = folder();
    fs::create_dir(readable.path().join("run")).unwrap();
    let socket = readable.path().join("run/agent");
    let _listener = UnixListener::bind(&socket).unwrap();
    let place = Place::with(|mut setting| {
        setting.shell.walls.readable = vec![readable.path().to_owned()];
        Setting { guard: Some(guard()), ..setting }
    });
    let command = format!(
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1; \
         exit !connect(S,sockaddr_un(\"{}\"))' && echo ESCAPED",
        socket.display()
    );
    assert!(!place.shell(&command).await.text.contains("ESCAPED"));
    let seen = place.shell(&format!("ls {}", readable.path().display())).await;
    assert!(seen.text.starts_with("run"), "{}", seen.text);
}

async fn judged(place: &Place) -> Judgement {
    place.tool("shell").judge(r#"{"command":"touch file"}"#).await
}

#[tokio::test]
async fn a_command_without_walls_is_never_run_unless_a_person_knows() {
    let off = Place::guarded();
    assert_eq!(judged(&off).await, Judgement::Bare(Bareness::Off));
    // No program to build them with.
    let none = Place::new();
    assert!(matches!(judged(&none).await, Judgement::Bare(Bareness::NoWall(_))));
    let required = Place::with(|mut setting| {
        setting.shell.walls.sandbox = Sandbox::Require;
        setting
    });
    assert!(matches!(judged(&required).await, Judgement::Deny(_)));
    let command = json!({"command": "touch file"});
    let unaware = CallContext { may_run_bare: false, ..CallContext::new("key") };
    for (place, context) in
        [(&off, &unaware), (&none, &unaware), (&required, &CallContext::new("key"))]
    {
        let seen = place.call_in("shell", command.clone(), context).await;
        assert_eq!(seen.ending, Denied);
        assert!(place.names(".").is_empty());
    }
    assert_eq!(off.call_in("shell", command, &CallContext::new("key")).await.ending, Ok);
    assert_eq!(off.names("."), ["file"]);
}

#[tokio::test]
async fn a_protected_path_that_is_a_link_is_no_ground_for_walls() {
    let place = Place::walled();
    if Standing::here(&guard()).level() != Level::None {
        assert_eq!(judged(&place).await, Judgement::AsSet);
    }
    place.write("elsewhere/config", "");
    std::os::unix::fs::symlink("elsewhere", place.path(".git")).unwrap();
    let judged = judged(&place).await;
    assert!(
        matches!(&judged, Judgement::Bare(Bareness::NoWall(why)) if why.contains(".git is a link"))
    );
}

#[tokio::test]
async fn what_is_ours_and_not_there_yet_is_no_ground_for_walls_until_it_is_made() {
    let place = Place::with(|setting| Setting {
        guard: Some(guard()),
        protected: vec![setting.workspace.join(".config/everloop/config.toml")],
        ..setting
    });
    let bare = judged(&place).await;
    assert!(
        matches!(&bare, Judgement::Bare(Bareness::NoWall(why)) if why.contains("config.toml")),
        "{bare:?}"
    );
    if Standing::here(&guard()).level() != Level::Full {
        return;
    }
    place.write(".config/everloop/config.toml", "ours");
    assert_eq!(judged(&place).await, Judgement::AsSet);
    for command in [
        "echo theirs > .config/everloop/config.toml",
        "rm -rf .config/everloop",
        "mv .config aside && mkdir -p .config/everloop",
    ] {
        place.shell(command).await;
        assert_eq!(place.content(".config/everloop/config.toml"), "ours", "{command}");
    }
}

fn repository(git: GitAccess) -> Option<Place> {
    let place = Place::with(|mut setting| {
        setting.guard = Some(guard());
        setting.shell.walls.git = git;
        setting
    });
    let script = "git init -q . && git config user.name T && git config user.email t@example.org \
        && git commit -q --allow-empty -m first";
    let made = Command::new("sh").args(["-c", script]).current_dir(place.root()).status().unwrap();
    assert!(made.success());
    (Standing::here(&guard()).level() == Level::Full).then_some(place)
}

#[tokio::test]
async fn a_command_reads_the_repository_and_is_told_how_to_commit() {
    let Some(place) = repository(GitAccess::Read) else { return };
    let seen = place.shell("git status --short && git log --format=%s && git diff").await;
    assert_eq!(seen, observed(Ok, "first\n[exit code 0]"));
    let seen = place.shell("git commit --allow-empty -m second").await;
    assert!(seen.text.contains("Read-only file system"), "{}", seen.text);
    assert!(seen.text.ends_with("use git_commit, or ask the user]"), "{}", seen.text);
}

#[tokio::test]
async fn a_command_that_may_write_the_repository_commits_and_leads_git_nowhere() {
    let Some(place) = repository(GitAccess::Write) else { return };
    let seen = place.shell("git commit -q --allow-empty -m second && git log --format=%s").await;
    assert_eq!(seen, observed(Ok, "second\nfirst\n[exit code 0]"));
    for command in ["echo x > .git/hooks/pre-commit", "git config core.fsmonitor x"] {
        assert_ne!(place.shell(command).await.ending, Ok, "{command}");
    }
    let seen = place.shell("mkdir evil; echo ../evil > .git/commondir").await;
    assert!(seen.text.contains("renamed to .git/commondir-set-aside"), "{}", seen.text);
    assert!(!place.path(".git/commondir").exists());
}

#[tokio::test]
async fn a_repository_that_a_command_makes_stays_unless_it_runs_programs() {
    if Standing::here(&guard()).level() == Level::None {
        return;
    }
    for (command, why) in [
        ("git init -q . && echo x > .git/hooks/pre-commit", "hooks/pre-commit"),
        ("git init -q . && git config core.fsmonitor 'touch x'", "core.fsmonitor"),
        ("git init -q . && git config core.hooksPath x", "core.hookspath"),
        ("git init -q . && echo ../evil > .git/commondir", "commondir"),
        ("git init -q --separate-git-dir=elsewhere .", "it leads elsewhere"),
        ("mkdir .hg && echo x > .hg/hgrc", "hgrc"),
        ("git init -q --bare .", "git takes the folder for a repository"),
        ("git init -q new && echo x > new/.git/hooks/pre-commit", "hooks/pre-commit"),
    ] {
        let place = Place::walled();
        let seen = place.shell(command).await;
        assert!(seen.text.contains("-set-aside") && seen.text.contains(why), "{}", seen.text);
        let obeyed = [".git", ".hg", "HEAD", "new/.git"].map(|name| place.path(name).exists());
        assert_eq!(obeyed, [false; 4], "{command}");
    }
    let place = Place::walled();
    let seen = place.shell("git init -q .").await;
    assert_eq!(seen, observed(Ok, "[exit code 0]"));
    assert!(place.path(".git/HEAD").exists());
}

#[tokio::test]
async fn a_command_whose_program_nobody_knows_is_asked_about_where_some_are_denied() {
    let rule = |say, pattern: &str, example: &str| {
        let examples = Examples { fits: vec![example.to_owned()], fits_not: Vec::new() };
        ShellRule::new(say, pattern, &examples).unwrap()
    };
    let place = |rules: Vec<ShellRule>| {
        Place::with(|mut setting| {
            setting.guard = Some(guard());
            setting.shell.rules = rules;
            setting
        })
    };
    let deny = rule(Say::Deny, "rm -rf *", "rm -rf d");
    let place = [place(vec![deny, rule(Say::Allow, "ls *", "ls")]), place(Vec::new())];
    if Standing::here(&guard()).level() == Level::None {
        return;
    }
    for (command, with_denial) in [
        ("x=rm; $x -rf d", Some("$x -rf d")),
        ("$(echo rm) -rf d", Some("$ -rf d")),
        ("rm${IFS}-rf${IFS}d", Some("rm${IFS}-rf${IFS}d")),
        ("echo $x", None),
    ] {
        let command = json!({ "command": command }).to_string();
        let judged = place[0].tool("shell").judge(&command).await;
        let expected =
            with_denial.map_or(Judgement::AsSet, |part| Judgement::Insist(part.to_owned()));
        assert_eq!(judged, expected, "{command}");
        assert_eq!(place[1].tool("shell").judge(&command).await, Judgement::AsSet);
    }
    for command in ["find . -exec rm -rf d ;", "stdbuf -o0 rm -rf d", "ionice rm -rf d"] {
        let judged = place[0].tool("shell").judge(&json!({"command": command}).to_string()).await;
        assert!(matches!(judged, Judgement::Deny(_)), "{command}: {judged:?}");
    }
}
