//! The real binary in a home of its own: run it, follow it, kill it, read what it left.

mod child;
pub(crate) mod http;
mod script;
mod terminal;

pub(crate) use child::Spawned;
pub(crate) use http::{EventReader, HttpClient, Served};
pub(crate) use script::{
    ask, calls, done, goes_on, plan, replanned, reply, says, script, slow, thought,
};
pub(crate) use terminal::Terminal;

use everloop_models::testing::{CannedReply, FakeServer, ReplyGate};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// No story waits longer than this for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `look` finds something: the only place where tests look again and again.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited in vain for {what}");
        // Nobody wakes us: files and processes tell nothing, so we look again in a moment.
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A model that answers the n-th request with the n-th text, once the n-th gate is open.
pub(crate) fn held_answers(gates: &[ReplyGate], texts: &[&str]) -> FakeServer {
    let held = gates.iter().zip(texts).map(|(gate, text)| {
        let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": "stop"});
        let event = format!("data: {}\n\ndata: [DONE]\n\n", json!({ "choices": [choice] }));
        CannedReply::stream().behind(gate).then(event).end()
    });
    FakeServer::start(held.collect())
}

/// Waits until the model was asked so many times.
pub(crate) fn asked(server: &FakeServer, times: usize) {
    eventually("a request to the model", || (server.seen().len() >= times).then_some(()));
}

/// A data folder, a workspace and an environment, gone with the test.
pub(crate) struct Home {
    outer: TempDir,
    variables: Vec<(String, String)>,
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Checks the exit code; shows everything that was said if it is another one.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// The one JSON object on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{e}: {} {}", self.stdout, self.stderr))
    }

    /// The JSON objects on stdout, one a line.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let read = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.stdout.lines().map(read).collect()
    }

    /// Checks that each of these is said on stderr.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for words in words {
            assert!(self.stderr.contains(words), "{words:?} is not in: {}", self.stderr);
        }
        self
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        let outer = TempDir::new().unwrap();
        for folder in ["home", "work", "user"] {
            std::fs::create_dir(outer.path().join(folder)).unwrap();
        }
        let home = Self { outer, variables: Vec::new() };
        let (data, user) = (home.path("home"), home.path("user"));
        home.with("EVERLOOP_HOME", data.to_str().unwrap())
            .with("HOME", user.to_str().unwrap())
            .with("EVERLOOP_LANG", "en")
            .with("LANG", "C.UTF-8")
            // A title is one more call of the model; the story about titles turns it on.
            .with("EVERLOOP_CHAT__TITLES", "off")
            .with("PATH", &std::env::var("PATH").unwrap_or_default())
    }

    /// A home whose model plays this script.
    pub(crate) fn scripted(replies: &[Value]) -> Self {
        Self::new().script(replies)
    }

    /// Sets a variable of every process of this home.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.retain(|(known, _)| known != name);
    }

    /// From now on the model plays this script; processes that run keep theirs.
    pub(crate) fn script(self, replies: &[Value]) -> Self {
        self.rewrite(replies);
        let model = format!("scripted/{}", self.path("script.json").display());
        self.with("EVERLOOP_MODEL", &model)
    }

    /// Another script in the same place.
    pub(crate) fn rewrite(&self, replies: &[Value]) {
        std::fs::write(self.path("script.json"), script(replies)).unwrap();
    }

    /// The same, and runs with this word in their goal hear something else.
    pub(crate) fn rewrite_with(&self, replies: &[Value], word: &str, others: &[Value]) {
        let others = serde_json::json!([{"goal": word, "replies": others}]);
        let script = serde_json::json!({"replies": replies, "others": others});
        std::fs::write(self.path("script.json"), script.to_string()).unwrap();
    }

    /// From now on the model is an OpenAI-compatible endpoint.
    pub(crate) fn endpoint(self, url: &str) -> Self {
        self.with("EVERLOOP_MODEL", "openai/x").with("OPENAI_BASE_URL", url)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.outer.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data().join("everloop.db")
    }

    /// A file of the workspace.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.path("work").join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work(name)).unwrap_or_default()
    }

    fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        self.command_of(&program(), args)
    }

    fn command_of<S: AsRef<OsStr>>(
        &self,
        program: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(self.variables.iter().map(|(k, v)| (k, v)));
        command.current_dir(self.path("work")).stdin(Stdio::null());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Finished {
        self.spawn(args).ended()
    }

    /// On a disk on which no file can grow past a few hundred kilobytes.
    pub(crate) fn run_on_small_disk<'a>(
        &self,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Finished {
        self.run_after("trap '' XFSZ; ulimit -f 500", args)
    }

    /// On a disk that is read-only; `None` if this machine lets nobody have one.
    pub(crate) fn run_on_read_only_disk<'a>(
        &self,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Option<Finished> {
        let may = Command::new("unshare").args(["-Urm", "true"]).stderr(Stdio::null()).status();
        if !may.is_ok_and(|may| may.success()) {
            return None;
        }
        let (inner, data) = (self.command(args), self.data());
        let mount = "mount --bind \"$D\" \"$D\" && mount -o remount,bind,ro \"$D\"";
        let mut outer = self.command_of(Path::new("unshare"), ["-Urm", "sh", "-c"]);
        outer.arg(format!("{mount} && exec \"$0\" \"$@\"")).env("D", data);
        outer.arg(inner.get_program()).args(inner.get_args());
        Some(Spawned::start(outer).ended())
    }

    /// After a shell has done this, in its place.
    pub(crate) fn run_after<'a>(
        &self,
        lines: &str,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Finished {
        let inner = self.command(args);
        let mut outer = Command::new("sh");
        outer.arg("-c").arg(format!("{lines}; exec \"$0\" \"$@\""));
        outer.arg(inner.get_program()).args(inner.get_args());
        outer.env_clear().envs(self.variables.iter().map(|(k, v)| (k, v)));
        outer.current_dir(self.path("work")).stdin(Stdio::null());
        Spawned::start(outer).ended()
    }

    /// With one more variable, of any bytes.
    pub(crate) fn run_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        name: &str,
        value: &OsStr,
    ) -> Finished {
        let mut command = self.command(args);
        command.env(name, value);
        Spawned::start(command).ended()
    }

    pub(crate) fn spawn<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Spawned {
        Spawned::start(self.command(args))
    }

    /// Lines for a shell, in which `everloop` is the program under test.
    pub(crate) fn shell(&self, lines: &str) -> Finished {
        let mut shell = self.command_of(Path::new("sh"), ["-ec", lines]);
        let program = Path::new(env!("CARGO_BIN_EXE_everloop"));
        let known = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{known}", program.parent().unwrap().display());
        shell.env("PATH", path);
        Spawned::start(shell).ended()
    }

    /// With this file as its input.
    pub(crate) fn run_from<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        file: &Path,
    ) -> Finished {
        let mut command = self.command(args);
        command.stdin(std::fs::File::open(file).unwrap());
        Spawned::start(command).ended()
    }

    /// With a socket that is open already, as systemd hands one over.
    pub(crate) fn spawn_on_socket<'a>(
        &self,
        socket: std::net::TcpListener,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Spawned {
        let inner = self.command(args);
        let lines = "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\"";
        let mut outer = self.command_of(Path::new("sh"), ["-c", lines]);
        outer.arg(inner.get_program()).args(inner.get_args());
        outer.stdin(std::os::fd::OwnedFd::from(socket));
        Spawned::start(outer)
    }

    /// Through a pipe that stays open.
    pub(crate) fn piped<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Spawned {
        let mut command = self.command(args);
        command.stdin(Stdio::piped());
        Spawned::start(command)
    }

    /// A chat through a pipe that holds these lines and no more.
    pub(crate) fn chat(&self, lines: &[&str]) -> Finished {
        let mut chat = self.piped(["chat"]);
        chat.hears(lines);
        chat.ended()
    }

    /// With a person at a terminal.
    pub(crate) fn on_terminal<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Terminal {
        Terminal::start(self.command(args))
    }

    /// With a person at a terminal that a killed program has left.
    pub(crate) fn on_torn_terminal<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Terminal {
        Terminal::torn(self.command(args))
    }

    /// Another everloop than the one under test.
    pub(crate) fn spawn_by<S: AsRef<OsStr>>(
        &self,
        program: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Spawned {
        Spawned::start(self.command_of(program, args))
    }

    /// `runs show --json`.
    #[track_caller]
    pub(crate) fn show(&self, run: &str) -> Value {
        self.run(["runs", "show", run, "--json"]).ends_with(0).json()
    }

    #[track_caller]
    pub(crate) fn status(&self, run: &str) -> String {
        self.show(run)["status"].as_str().unwrap().to_owned()
    }

    /// `runs events`.
    #[track_caller]
    pub(crate) fn events(&self, run: &str) -> Vec<Value> {
        self.run(["runs", "events", run]).ends_with(0).lines()
    }

    #[track_caller]
    pub(crate) fn until_status(&self, run: &str, status: &str) {
        eventually(&format!("{run}: {status}"), || (self.status(run) == status).then_some(()));
    }

    /// The newest run.
    #[track_caller]
    pub(crate) fn newest(&self) -> String {
        let list = self.run(["runs", "list", "--json"]).ends_with(0).json();
        list["data"][0]["run_id"].as_str().unwrap().to_owned()
    }

    /// Checks the journal: every decision again, each call with exactly one outcome.
    #[track_caller]
    pub(crate) fn verified(&self, run: &str) {
        let verdict = self.run(["replay", run, "--verify", "--json"]).ends_with(0).json();
        assert_eq!(verdict["verdict"], "verified", "{verdict}");
        let events = self.events(run);
        let of = |kinds: &[&str]| {
            let named = events.iter().filter(|e| kinds.contains(&e["type"].as_str().unwrap()));
            let mut ids: Vec<&str> = named.filter_map(|event| event["call_id"].as_str()).collect();
            ids.sort_unstable();
            ids
        };
        let outcomes = of(&["tool.completed", "tool.failed"]);
        assert_eq!(of(&["tool.started"]), outcomes);
        let mut once = outcomes.clone();
        once.dedup();
        assert_eq!(once, outcomes, "one outcome per call");
    }

    /// The same, of a run that is over; one that waits has calls without an outcome.
    #[track_caller]
    pub(crate) fn verified_if_over(&self, run: &str) {
        if self.status(run) != "waiting" {
            self.verified(run);
        }
    }

    /// Processes that work in this workspace.
    pub(crate) fn processes(&self) -> Vec<String> {
        let work = self.path("work").canonicalize().unwrap();
        let in_work = |folder: &Path| {
            std::fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&work))
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let shown = |folder: PathBuf| std::fs::read_to_string(folder.join("cmdline")).ok();
        all.filter(|folder| in_work(folder)).filter_map(shown).collect()
    }

    /// Waits until nothing works in this workspace any more.
    pub(crate) fn deserted(&self) {
        eventually("the end of every process", || self.processes().is_empty().then_some(()));
    }
}

/// The binary under test: another one, such as that of a release, where figures are measured.
fn program() -> PathBuf {
    std::env::var_os("EVERLOOP_TEST_BINARY")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_everloop")), PathBuf::from)
}

/// Bytes of memory that a process holds.
pub(crate) fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes = line.split_whitespace().nth(1).and_then(|size| size.parse::<u64>().ok());
    kilobytes.unwrap() << 10
}

/// Events of one type.
pub(crate) fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// What people read of a run's id.
pub(crate) fn short(id: &str) -> &str {
    &id[id.len() - 8..]
}
