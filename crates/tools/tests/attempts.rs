//! Every attempt to get through, in every setting and by two accounts: one table.
//!
//! ```text
//!   every_attempt_is_held ──► this program again, for each account and setting
//!                               ──► each room tries its rows ──► one line for each row
//! ```
//!
//! `docs/attempts.md` says how to see it, and names the tests of attempts that take a whole
//! everloop.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::guard;
use crate::told::{Sandboxing, Stage};
use everloop_tools::SandboxSupport;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The account `nobody`.
const ORDINARY: u32 = 65_534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Takes Landlock away from this process and all that it starts.
fn without_landlock() {
    let refused = [(libc::SYS_landlock_create_ruleset, Vec::new())].into_iter().collect();
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, unknown, arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    apply_filter_all_threads(&program).unwrap();
}

/// What a process does that was started for one setting.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tells_the_attempts_of_one_setting_if_it_is_asked_to() {
    let Some(stage) = Stage::asked_for() else { return };
    if stage.sandboxing == Sandboxing::None {
        without_landlock();
    }
    let level = SandboxSupport::here(&guard()).level();
    if level != stage.sandboxing.level() {
        println!("not tried: {} was wanted, {} works here", stage.sandboxing.name(), level.name());
        return;
    }
    // Servers of the web must answer in time, so nothing else is done meanwhile.
    let mut all = crate::web_attempts::tell(stage).await;
    all.extend(crate::rule_attempts::tell(stage).await);
    all.extend(crate::file_attempts::tell(stage).await);
    let (commands, git) =
        tokio::join!(crate::command_attempts::tell(stage), crate::git_attempts::tell(stage));
    all.extend(commands.into_iter().chain(git));
    for told in all {
        println!("{}", told.line(stage));
    }
    println!("all told");
}

/// Folders and programs for the processes that try, where each account can reach them.
struct Stand {
    folder: TempDir,
    program: PathBuf,
    guard: PathBuf,
    without_bubblewrap: PathBuf,
}

impl Stand {
    fn new() -> Self {
        // Not below the system's temporary folder: there the sandbox hides everything anyway.
        let folder = TempDir::new_in("/var/tmp").unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["", "programs", "root", "ordinary"] {
            fs::create_dir_all(path(name)).unwrap();
            fs::set_permissions(path(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        if is_root() {
            chown(path("ordinary"), Some(ORDINARY), Some(ORDINARY)).unwrap();
        }
        for entry in ["/usr/bin", "/bin", "/usr/local/bin"].iter().flat_map(fs::read_dir) {
            for entry in entry.flatten().filter(|entry| entry.file_name() != "bwrap") {
                let _ = symlink(entry.path(), path("programs").join(entry.file_name()));
            }
        }
        let (program, helper) = (path("attempts"), path("guard"));
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::copy(guard(), &helper).unwrap();
        Self { program, guard: helper, without_bubblewrap: path("programs"), folder }
    }

    fn run(&self, stage: Stage) -> Output {
        let folder = self.folder.path().join(stage.account);
        let mut command = Command::new(&self.program);
        command.args(["--exact", "--nocapture"]);
        command.arg("attempts::tells_the_attempts_of_one_setting_if_it_is_asked_to");
        command.envs(stage.asking()).env("EVERLOOP_TEST_FOLDER", &folder).env("HOME", &folder);
        command.env("TMPDIR", &folder);
        command.env("EVERLOOP_TEST_GUARD", &self.guard).current_dir(&folder);
        if stage.sandboxing != Sandboxing::Both {
            command.env("PATH", &self.without_bubblewrap);
        }
        if stage.account == "ordinary" && is_root() {
            command.uid(ORDINARY).gid(ORDINARY);
        }
        command.output().unwrap()
    }
}

fn stages() -> Vec<Stage> {
    let accounts: &[&'static str] = if is_root() { &["root", "ordinary"] } else { &["ordinary"] };
    let of = |account: &'static str| {
        Sandboxing::ALL.map(|sandboxing| Stage {
            sandboxing,
            account,
            proves: account == accounts[0],
        })
    };
    accounts.iter().flat_map(|account| of(account)).collect()
}

#[test]
fn every_attempt_is_held() {
    let stand = Stand::new();
    if !is_root() {
        println!("not run as root: the attempts of root were not tried");
    }
    let stages = stages();
    let (mut lines, mut failed) = (Vec::new(), Vec::new());
    // Two at a time: most of an attempt is waiting for its processes.
    for pair in stages.chunks(2) {
        let outputs: Vec<Output> = std::thread::scope(|scope| {
            let all: Vec<_> = pair.iter().map(|stage| scope.spawn(|| stand.run(*stage))).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        for (stage, output) in pair.iter().zip(outputs) {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let errors = String::from_utf8_lossy(&output.stderr);
            let is_whole = said.contains("all told") || said.contains("not tried: ");
            if !output.status.success() || !is_whole {
                failed.push(format!("{stage:?}: {said}\n{errors}"));
            }
            lines.extend(
                said.lines().filter(|line| crate::told::is_of_table(line)).map(str::to_owned),
            );
        }
    }
    lines.iter().for_each(|line| println!("{line}"));
    println!("{}", crate::told::summary(&lines));
    let broken: Vec<&String> = lines.iter().filter(|line| crate::told::is_broken(line)).collect();
    assert!(broken.is_empty() && failed.is_empty(), "{broken:#?} {}", failed.join("\n"));
    assert!(lines.len() >= 200 * stages.len() / 2, "only {} rows were tried", lines.len());
}

/// The path of a file of this package.
fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// What the page of attempts says to be a row here is one.
#[test]
fn every_row_that_the_page_names_is_there() {
    let page = fs::read_to_string(page("docs/attempts.md")).unwrap();
    let known: Vec<&str> =
        [crate::command_attempts::ids(), crate::git_attempts::ids(), crate::rule_attempts::ids()]
            .concat();
    let here = page.lines().filter(|line| line.contains("`every_attempt_is_held`"));
    let ids = here.flat_map(|line| line.split('|').nth(1)).flat_map(|ids| ids.split(','));
    for id in ids.map(str::trim).filter(|id| !id.is_empty()) {
        assert!(known.contains(&id), "{id} has no row");
    }
}
