//! Writes the version: number, commit and date of the commit, where git can tell.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/refs/heads");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = git(&["show", "-s", "--format=%h", "HEAD"]).unwrap_or_default();
    let date = git(&["show", "-s", "--format=%cs", "HEAD"]).unwrap_or_default();
    let line = match commit.is_empty() {
        true => version,
        false => format!("{version} ({commit} {date})"),
    };
    println!("cargo:rustc-env=EVERLOOP_VERSION={line}");
    println!("cargo:rustc-env=EVERLOOP_COMMIT={commit}");
    println!("cargo:rustc-env=EVERLOOP_DATE={date}");
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
