//! The keychain of the desktop, through the program that comes with it: `secret-tool` for the
//! Secret Service, `security` on a Mac. No value is ever an argument.

use super::SecretError;
use super::program::{ProgramEnd, run};

const SERVICE: &str = "everloop";

#[cfg(target_os = "macos")]
const PROGRAM: &str = "security";
#[cfg(not(target_os = "macos"))]
const PROGRAM: &str = "secret-tool";

/// Whether a keychain answers here.
pub(crate) fn is_there(timeout_ms: u64) -> bool {
    run(&find("everloop-is-there"), None, timeout_ms)
        .is_ok_and(|ended| ended.is_good || cfg!(target_os = "macos") || !ended.complained)
}

pub(crate) fn look_up(name: &str, timeout_ms: u64) -> Result<String, SecretError> {
    let ended = run(&find(name), None, timeout_ms)?;
    match ended {
        ProgramEnd { is_good: true, output, .. } if !output.trim().is_empty() => Ok(output),
        ProgramEnd { is_good: false, complained: true, status, .. }
            if !cfg!(target_os = "macos") =>
        {
            Err(SecretError::Failed(PROGRAM.to_owned(), status))
        }
        _ => Err(SecretError::NotInKeychain(name.to_owned())),
    }
}

pub(crate) fn keep(name: &str, value: &str, timeout_ms: u64) -> Result<(), SecretError> {
    if cfg!(target_os = "macos") {
        // Its commands may come through its input, and a value in hex needs no quotes there.
        let hex = value.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        let line = format!("add-generic-password -U -s {SERVICE} -a {name} -X {hex}\n");
        return done(run(&words(&["-i"]), Some(&line), timeout_ms)?);
    }
    let label = format!("{SERVICE} {name}");
    let label = format!("--label={label}");
    let store = words(&["store", &label, "service", SERVICE, "name", name]);
    done(run(&store, Some(value), timeout_ms)?)
}

pub(crate) fn remove(name: &str, timeout_ms: u64) -> Result<(), SecretError> {
    let remove = match cfg!(target_os = "macos") {
        true => words(&["delete-generic-password", "-s", SERVICE, "-a", name]),
        false => words(&["clear", "service", SERVICE, "name", name]),
    };
    done(run(&remove, None, timeout_ms)?)
}

fn find(name: &str) -> Vec<String> {
    match cfg!(target_os = "macos") {
        true => words(&["find-generic-password", "-s", SERVICE, "-a", name, "-w"]),
        false => words(&["lookup", "service", SERVICE, "name", name]),
    }
}

fn words(args: &[&str]) -> Vec<String> {
    std::iter::once(PROGRAM).chain(args.iter().copied()).map(str::to_owned).collect()
}

fn done(ended: ProgramEnd) -> Result<(), SecretError> {
    match ended.is_good {
        true => Ok(()),
        false => Err(SecretError::Failed(PROGRAM.to_owned(), ended.status)),
    }
}
