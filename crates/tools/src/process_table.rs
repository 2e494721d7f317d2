//! Parents and children of processes, from `/proc`. Without it every list is empty.

use rustix::process::Pid;
use std::fs;
use std::path::PathBuf;

struct ProcessRow {
    pid: Pid,
    parent: i32,
    group: i32,
    session: i32,
}

/// Every process that descends from `root`, whichever group or session it moved to.
pub(crate) fn descendants(root: Pid) -> Vec<Pid> {
    let table = living();
    let mut family = vec![root];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        let of_parent = |process: &&ProcessRow| process.parent == parent.as_raw_pid();
        let children = table.iter().filter(of_parent).map(|process| process.pid);
        let new: Vec<Pid> = children.filter(|child| !family.contains(child)).collect();
        family.extend(new);
        next += 1;
    }
    family.split_off(1)
}

/// The members of a process group.
pub(crate) fn in_group(group: Pid) -> Vec<Pid> {
    living_where(|process| process.group == group.as_raw_pid())
}

/// The members of a session.
pub(crate) fn in_session(session: Pid) -> Vec<Pid> {
    living_where(|process| process.session == session.as_raw_pid())
}

/// The name of each living process, and its folder in the table.
pub(crate) fn named() -> Vec<(String, PathBuf)> {
    let folder =
        |process: &ProcessRow| PathBuf::from(format!("/proc/{}", process.pid.as_raw_pid()));
    let name = |folder: &PathBuf| fs::read_to_string(folder.join("comm")).unwrap_or_default();
    living().iter().map(folder).map(|folder| (name(&folder).trim().to_owned(), folder)).collect()
}

fn living_where(holds: impl Fn(&ProcessRow) -> bool) -> Vec<Pid> {
    living().into_iter().filter(holds).map(|process| process.pid).collect()
}

/// All but zombies, which hold nothing and do nothing.
fn living() -> Vec<ProcessRow> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(read).collect()
}

/// Fields of `stat`: pid, (name), state, parent, group, session.
/// A name may hold blanks and brackets.
fn read(pid: i32) -> Option<ProcessRow> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    Some(ProcessRow { pid: Pid::from_raw(pid)?, parent, group, session })
}
