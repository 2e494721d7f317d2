//! Rows 9 and 10: a worker that is suspended for longer than its lease, and then continues.

use super::{on_server, part_named, until};
use everloop_testkit::{ProcessExit, ProcessGroup, ProcessSpec, ended};
use everloop_types::RunId;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Child;

/// The suspended worker sends no heartbeat, so a short lease keeps the test fast.
const LEASE_MS: u64 = 600;

fn state_of(pid: &str) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// The process id of the long command, outside of the sandbox.
fn long_command_in(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mut numbers = std::fs::read_dir("/proc").ok()?.flatten();
    let command = numbers.find(|process| {
        let cwd = std::fs::read_link(process.path().join("cwd"));
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        cwd.is_ok_and(|cwd| cwd == folder) && words.starts_with(b"sleep\0")
    })?;
    command.file_name().into_string().ok()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

async fn stands_still(child: &Child) {
    let pid = child.id().to_string();
    until("the worker to stand still", async || state_of(&pid) == Some('T')).await;
}

/// Everything that a worker could change.
async fn traces(company: &ProcessGroup, part: &ProcessSpec, run: &RunId) -> (i64, i64, String) {
    let at = company.store().runs().position(run).await.unwrap().unwrap();
    (at.epoch, at.next_seq, std::fs::read_to_string(&part.acts).unwrap_or_default())
}

fn over(child: Child) -> RunId {
    match ended(child) {
        Ok(ProcessExit::Over(run, _)) => run,
        other => panic!("it did not come to an end of its own: {other:?}"),
    }
}

#[tokio::test]
async fn row_09_a_worker_that_stood_still_finds_itself_fenced_and_its_command_ended() {
    let (mut company, folder) = on_server().await;
    company.lease_ms = LEASE_MS;
    let long = part_named("a long command");
    let part = company.part(long, "run", None);
    let zombie = company.start(&part);
    until("the command to start", async || long_command_in(folder.path()).is_some()).await;
    signal(&zombie, Signal::STOP);
    stands_still(&zombie).await;
    let run = over(company.start(&part));
    let (acts, ending) = company.check(long, "run", &run).await.unwrap();
    assert_eq!((acts, ending.unknowns), (2, 1), "before and after, and the command in between");
    let command = long_command_in(folder.path());
    assert!(command.is_some(), "the zombie's command runs on while it stands still");
    let before = traces(&company, &part, &run).await;
    signal(&zombie, Signal::CONT);
    assert_eq!(over(zombie), run, "it sees that the run is over");
    until("the command to end", async || long_command_in(folder.path()).is_none()).await;
    assert_eq!(traces(&company, &part, &run).await, before, "it wrote nothing and did nothing");
    company.check(long, "run", &run).await.unwrap();
}

/// A suspended worker repeats nothing when it continues.
async fn stop_at_every_point(name: &str) -> usize {
    let (mut company, _folder) = on_server().await;
    company.lease_ms = LEASE_MS;
    let scenario = part_named(name);
    for n in 0.. {
        let key = format!("stop at {n}");
        let part = ProcessSpec { stops_at: Some(n), ..company.part(scenario, &key, None) };
        let mut zombie = company.start(&part);
        let pid = zombie.id().to_string();
        let mut gone = false;
        until("the worker to stand still", async || {
            gone = zombie.try_wait().unwrap().is_some();
            gone || state_of(&pid) == Some('T')
        })
        .await;
        if gone {
            return n;
        }
        let run = over(company.start(&company.part(scenario, &key, None)));
        let (epoch, next_seq, _) = traces(&company, &part, &run).await;
        signal(&zombie, Signal::CONT);
        assert_eq!(over(zombie), run);
        let (epoch_now, next_seq_now, _) = traces(&company, &part, &run).await;
        assert_eq!((epoch_now, next_seq_now), (epoch, next_seq), "stopped at {n}, it wrote");
        company.check(scenario, &key, &run).await.unwrap();
    }
    unreachable!("the last point is passed in the end")
}

#[tokio::test]
async fn row_10_a_worker_that_stood_still_at_any_point_repeats_no_dangerous_act() {
    let points = stop_at_every_point("one dangerous act").await;
    println!("workers that stood still for longer than their lease: {points} points, 0 violations");
    assert!(points >= 20, "only {points} points");
}
