//! Writes the version line: version, commit and date of the commit, where git can tell.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/refs/heads");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = git(&["show", "-s", "--format=%h %cs", "HEAD"]);
    let line = match commit {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo:rustc-env=EVERLOOP_VERSION={line}");
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
