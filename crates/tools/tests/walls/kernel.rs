//! Attempts on what Landlock does not bind: modes, times, limits and memory of others.

use super::Scene;
use super::attempts::{Attempt, Check::Outside, Wall, never_bare, works};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).map_or(0, |found| found.permissions().mode() & 0o7777)
}

fn kept_its_mode(scene: &Scene) -> bool {
    mode(&scene.outside("kept")) != 0o666
}

fn kept_its_time(scene: &Scene) -> bool {
    fs::metadata(scene.outside("kept")).is_ok_and(|found| found.mtime() > 1_000_000_000)
}

fn has_no_owners_rights(scene: &Scene) -> bool {
    mode(&scene.inside("mine")) & 0o4000 == 0
}

fn keeps_its_limits(scene: &Scene) -> bool {
    let limits = fs::read_to_string(format!("/proc/{}/limits", scene.victim_id()));
    limits.is_ok_and(|limits| !limits.contains("Max open files            7 "))
}

fn keeps_its_priority(scene: &Scene) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", scene.victim_id()));
    stat.is_ok_and(|stat| stat.split(' ').nth(18) != Some("19"))
}

fn left_no_segment(scene: &Scene) -> bool {
    let key = scene.key().to_string();
    let all = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let made = all.lines().any(|line| line.split_whitespace().next() == Some(&key));
    if made {
        let _ = Command::new("ipcrm").args(["-M", &key]).status();
    }
    !made
}

pub(crate) const KERNEL: &[Attempt] = &[
    works(
        "change the mode of a file outside",
        Wall::Any,
        "chmod 666 {outside}/kept",
        Outside(kept_its_mode),
    ),
    works(
        "change the mode of an open file outside",
        Wall::Any,
        "perl -e 'open(F, \"<\", \"{outside}/kept\") and chmod(0666, *F)'",
        Outside(kept_its_mode),
    ),
    works(
        "change the time of a file outside",
        Wall::Any,
        "touch -d 2001-01-01 {outside}/kept",
        Outside(kept_its_time),
    ),
    works(
        "leave a program with its owner's rights",
        Wall::Syscalls,
        "cp /bin/true mine && chmod 4755 mine",
        Outside(has_no_owners_rights),
    ),
    works(
        "make a file with its owner's rights",
        Wall::Syscalls,
        "perl -MFcntl -e 'umask 0; sysopen(my $f, \"mine\", O_CREAT|O_WRONLY, 04755)'",
        Outside(has_no_owners_rights),
    ),
    works(
        "take files from a process outside",
        Wall::Any,
        "prlimit --pid {victim} --nofile=7:7",
        Outside(keeps_its_limits),
    ),
    works(
        "slow down a process outside",
        Wall::Any,
        "renice -n 19 -p {victim}",
        Outside(keeps_its_priority),
    ),
    never_bare(
        "leave memory behind for others",
        Wall::Any,
        "perl -e 'shmget({key}, 4096, 01666)'",
        Outside(left_no_segment),
    ),
];
