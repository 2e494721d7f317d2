//! The address of a process, so that others on the machine can see that it is dead without waiting.
//!
//! An address is `boot namespace pid start`: a process id means something only during one boot of
//! one machine, inside one namespace, and together with the moment at which the process started.
//! Deliberately absent: guessing. A process that is not visible from here is not proved dead.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::fs;
use std::path::Path;

/// The address of this process; empty if the system does not provide it.
pub(crate) fn here() -> String {
    let pid = std::process::id();
    place_of(pid).unwrap_or_default()
}

/// Whether the process with this address is certainly gone.
pub(crate) fn is_proved_dead(place: &str) -> bool {
    let mut parts = place.split(' ');
    let (Some(boot), Some(namespace), Some(pid), Some(start), None) =
        (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Some((our_boot, our_namespace)) = surroundings() else { return false };
    if our_boot != boot || our_namespace != namespace {
        return false;
    }
    let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) else { return false };
    let seen = start_of(&pid.to_string());
    has_ended(start, seen.as_deref(), test_kill_process(pid), state_of(pid))
}

/// Whether the process with this start time has ended: another one has its id, or the kernel knows
/// none. One that is only hidden from us cannot be signaled, which gives another error. One that
/// can be signaled exists, hidden or as a zombie.
fn has_ended(
    start: &str,
    seen: Option<&str>,
    signaled: Result<(), Errno>,
    state: Option<char>,
) -> bool {
    match (seen, signaled) {
        (Some(seen), _) => seen != start,
        (None, Err(error)) => error == Errno::SRCH,
        (None, Ok(())) => matches!(state, Some('Z' | 'X')),
    }
}

/// The letter of a process's state, if it can be read.
fn state_of(pid: Pid) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

fn place_of(pid: u32) -> Option<String> {
    let (boot, namespace) = surroundings()?;
    let start = start_of(&pid.to_string())?;
    Some(format!("{boot} {namespace} {pid} {start}"))
}

fn surroundings() -> Option<(String, String)> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some((boot.trim().to_owned(), namespace.to_str()?.to_owned()))
}

/// The start of a process in ticks since boot; nothing for one that is gone or a zombie.
fn start_of(pid: &str) -> Option<String> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).ok()?;
    // The name in brackets may contain anything, brackets included.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    let start = fields.nth(18)?;
    (state != "Z" && state != "X").then(|| start.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{WaitId, WaitIdOptions, waitid};

    #[test]
    fn this_process_lives() {
        assert!(!here().is_empty());
        assert!(!is_proved_dead(&here()));
    }

    #[test]
    fn a_child_is_dead_once_it_has_ended_and_not_before() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("cat is there");
        let place = place_of(child.id()).expect("it runs");
        assert!(!is_proved_dead(&place));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        assert!(is_proved_dead(&place));
    }

    #[test]
    fn a_process_that_is_only_hidden_from_us_is_not_proved_dead() {
        assert!(!has_ended("1", None, Err(Errno::PERM), None), "of another user");
        assert!(!has_ended("1", None, Ok(()), None), "our own, but nothing can be read of it");
        assert!(!has_ended("1", None, Ok(()), Some('S')), "it became visible in between");
        assert!(has_ended("1", None, Err(Errno::SRCH), None), "there is none");
        assert!(has_ended("1", None, Ok(()), Some('Z')), "only a remnant");
    }

    #[test]
    fn a_remnant_that_nobody_has_waited_for_is_dead() {
        let mut child = std::process::Command::new("true").spawn().expect("true is there");
        let place = place_of(child.id());
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&child)), ended).expect("it ends");
        let place = place.unwrap_or_else(|| {
            let (boot, namespace) = surroundings().expect("known here");
            format!("{boot} {namespace} {} 1", child.id())
        });
        assert!(is_proved_dead(&place));
        child.wait().expect("it has ended");
    }

    #[test]
    fn a_process_that_has_the_number_of_another_does_not_pass_for_it() {
        let place = here();
        let (front, start) = place.rsplit_once(' ').expect("four parts");
        let earlier = start.parse::<u64>().expect("ticks") - 1;
        assert!(is_proved_dead(&format!("{front} {earlier}")));
    }

    #[test]
    fn another_machine_and_another_form_prove_nothing() {
        assert!(!is_proved_dead("other-boot pid:[1] 1 1"));
        assert!(!is_proved_dead(""));
        assert!(!is_proved_dead("something else entirely, from a newer program"));
        let (boot, _) = surroundings().expect("known here");
        assert!(!is_proved_dead(&format!("{boot} pid:[1] 999999 1")), "another namespace");
    }
}
