//! A PostgreSQL server for tests: one for the process, a database of its own for each test.
//!
//! ```text
//!   test process ──a pipe──► sh, which starts and stops the server when it is told to,
//!                            and stops it and clears up when the pipe closes, by kill -9 too
//! ```
//!
//! The cluster is copied from one that was made once on this machine, so a start takes a fraction
//! of a second. It listens on a socket in a folder of its own, never on the network. Deliberately
//! absent: skipping. Without the binaries a test fails, and says what to install.

#![allow(clippy::unwrap_used, reason = "a test's tool fails by panicking")]

mod proxy;

pub use proxy::{PgProxy, ProxyCut};

use crate::{PgOptions, Store};
use std::{
    fs,
    future::Future,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        LazyLock, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// What the shell does with each line that it reads. Its own end is the end of the server.
const KEEPER: &str = r#"
folder=$1 bin=$2
shift 2
version=$("$bin/postgres" --version | tr -dc '0-9.')
template=${TMPDIR:-/tmp}/everloop-postgres-$version-$(id -u)
if [ ! -d "$template" ]; then
    "$bin/initdb" --no-sync -A trust -U postgres -E UTF8 --locale=C --wal-segsize=1 \
        -D "$folder/new" >>"$folder/log" 2>&1
    # Whoever is second keeps the first one's.
    mv -T "$folder/new" "$template" 2>>"$folder/log" || rm -rf "$folder/new"
fi
cp -R "$template" "$folder/data"
pid=
all() { echo "$pid" $(cat "/proc/$pid/task/$pid/children"); }
while read -r order; do
    case $order in
        start)
            "$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= \
                -c shared_buffers=16MB -c max_connections=120 -c jit=off "$@" >>"$folder/log" 2>&1 &
            pid=$!
            ;;
        stop) kill -INT "$pid" && wait "$pid" ;;
        kill) kill -QUIT "$pid" && wait "$pid" ;;
        pause) kill -STOP $(all) ;;
        resume) kill -CONT $(all) ;;
    esac
    echo done
done
kill -CONT $(all)
kill -QUIT "$pid"
wait "$pid"
rm -rf "$folder"
"#;

/// A running server.
pub struct PgServer {
    folder: PathBuf,
    keeper: Mutex<Keeper>,
}

/// The shell that looks after it.
struct Keeper {
    process: Child,
    /// Closing it is the order to stop and to clear up.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.orders = None;
        // The server is gone when this returns; there is no one to report an error to.
        let _ = self.process.wait();
    }
}

/// A database of one test.
#[derive(Debug, Clone)]
pub struct PgTestDb {
    /// Its address.
    pub url: String,
    /// Its name.
    pub name: String,
}

impl PgTestDb {
    /// A store on it.
    ///
    /// # Panics
    /// If it cannot be opened.
    pub async fn store(&self) -> Store {
        Store::connect(&self.url, PgServer::options()).await.unwrap()
    }
}

impl PgServer {
    /// The server of this process. It does not wait for the disk, see [`PgServer::options`].
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<PgServer> = LazyLock::new(PgServer::own);
        &SHARED
    }

    /// The server of this process that a real program accepts: it waits for the disk.
    pub fn durable() -> &'static Self {
        static DURABLE: LazyLock<PgServer> = LazyLock::new(|| PgServer::begin(&[]));
        &DURABLE
    }

    /// A server for one test that stops, restarts or pauses it.
    #[must_use]
    pub fn own() -> Self {
        Self::begin(&["-c", "fsync=off"])
    }

    /// A server for one test that stops it, which a real program accepts.
    #[must_use]
    pub fn own_durable() -> Self {
        Self::begin(&[])
    }

    /// Options that accept a server which does not wait for the disk.
    #[must_use]
    pub fn options() -> PgOptions {
        PgOptions { fsync_may_be_off: true, ..PgOptions::default() }
    }

    fn begin(settings: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("everloop-pg-").tempdir().unwrap().keep();
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "sh"]).arg(&folder).arg(binaries()).args(settings);
        keeper.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some((uid, gid)) = instead_of_root() {
            std::os::unix::fs::chown(&folder, Some(uid), Some(gid)).unwrap();
            keeper.uid(uid).gid(gid);
        }
        let log = folder.join("keeper.log");
        let mut process = keeper.stderr(fs::File::create(log).unwrap()).spawn().unwrap();
        let (orders, answers) = (process.stdin.take(), process.stdout.take().unwrap());
        let keeper = Keeper { process, orders, answers: BufReader::new(answers) };
        let server = Self { folder, keeper: Mutex::new(keeper) };
        server.start();
        server
    }

    /// A new empty database.
    ///
    /// # Panics
    /// If the server does not make one.
    #[must_use]
    pub fn database(&self) -> PgTestDb {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let sql = format!("CREATE DATABASE {name}");
        blocking(async { self.ask(&sql).await.unwrap() });
        PgTestDb { url: self.url(&name), name }
    }

    /// Starts it and waits until it answers.
    ///
    /// # Panics
    /// If it does not within a minute; the message is its log.
    pub fn start(&self) {
        self.order("start");
        let began = Instant::now();
        while blocking(self.ask("SELECT 1")).is_err() {
            let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(began.elapsed() < Duration::from_secs(60), "no server: {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Stops it in order; transactions under way are rolled back.
    pub fn stop(&self) {
        self.order("stop");
    }

    /// Stops it as a crash would.
    pub fn kill(&self) {
        self.order("kill");
    }

    /// Stops it in order and starts it again.
    pub fn restart(&self) {
        self.stop();
        self.start();
    }

    /// Freezes it: it takes connections and answers nothing.
    pub fn pause(&self) {
        self.order("pause");
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.order("resume");
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    fn url(&self, name: &str) -> String {
        let folder = self.folder.to_str().unwrap().replace('/', "%2F");
        format!("postgres://postgres@{folder}/{name}")
    }

    fn order(&self, order: &str) {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(keeper.orders.as_ref().unwrap(), "{order}").unwrap();
        let mut said = String::new();
        keeper.answers.read_line(&mut said).unwrap();
        let log = || fs::read_to_string(self.folder.join("keeper.log")).unwrap_or_default();
        assert_eq!(said, "done\n", "{order}: {}", log());
    }

    async fn ask(&self, sql: &str) -> Result<(), tokio_postgres::Error> {
        let (client, connection) =
            tokio_postgres::connect(&self.url("postgres"), tokio_postgres::NoTls).await?;
        let connection = tokio::spawn(connection);
        let answer = client.batch_execute(sql).await;
        drop(client);
        let _ = connection.await;
        answer
    }
}

/// Waits for a future on a thread of its own, so that it works inside a runtime too.
fn blocking<T: Send>(future: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| {
        let wait = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(future)
        };
        scope.spawn(wait).join().unwrap()
    })
}

/// The newest of those that Debian installs, else the ones that a shell would find.
fn binaries() -> PathBuf {
    let complete = |folder: &PathBuf| {
        ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    let version = |folder: &PathBuf| -> u32 {
        let name = folder.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        name.and_then(|name| name.parse().ok()).unwrap_or(0)
    };
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = debian.map(|entry| entry.path().join("bin")).filter(complete);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let newest = debian.max_by_key(version);
    newest.or_else(|| std::env::split_paths(&path).find(complete)).unwrap_or_else(|| {
        panic!("initdb and postgres are not on this machine: run ./check, or install postgresql")
    })
}

/// The server refuses to run as root; this is whom it may run as.
fn instead_of_root() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let user = users.lines().find(|line| line.starts_with("postgres:"));
    let user = user.unwrap_or_else(|| panic!("there is no user postgres: install postgresql"));
    let mut numbers = user.split(':').skip(2).map(|number| number.parse().unwrap());
    Some((numbers.next().unwrap(), numbers.next().unwrap()))
}
