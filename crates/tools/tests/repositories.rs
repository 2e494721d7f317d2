//! Repositories that a command made or changed: nobody's git runs a program of them afterwards.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, guard};
use crate::ways::{filled, person};
use everloop_ports::CallPolicy;
use everloop_tools::{GitAccess, SandboxLevel, SandboxSupport, Setting};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_repository_without_a_trap_stays_as_it_was_made() {
    if SandboxSupport::here(&guard()).level() == SandboxLevel::None {
        println!("SKIPPED: there is no sandbox here");
        return;
    }
    for command in [
        "git init -q .",
        "git init -q a/b",
        "git init -q --bare remote.git",
        "git init -q src && git clone -q src copy && git -C copy remote -v",
        "{new} git init -q w && cd w && git commit -q --allow-empty -m x && git branch b && \
         git worktree add -q ../v b",
        "{new} git init -q m && git -C m commit -q --allow-empty -m x && git init -q t && cd t && \
         git -c protocol.file.allow=always submodule --quiet add ../m m",
        "{new} git init -q . && git config user.name x && git commit -q --allow-empty -m x && \
         git checkout -q -b other && git merge -q master main 2>/dev/null; git tag v1",
    ] {
        let place = Place::sandboxed();
        let seen = place.shell(&filled(command, Path::new("/dev/null"))).await;
        assert!(seen.is_ok(), "{command}: {}", seen.text);
        assert!(!seen.text.contains("set-aside"), "{command}: {}", seen.text);
    }
}

fn files(place: &Place, folders: usize, each: usize) {
    for folder in 0..folders {
        let folder = place.path(&format!("f{folder}"));
        fs::create_dir(&folder).unwrap();
        for file in 0..each {
            fs::File::create(folder.join(format!("{file}.txt"))).unwrap();
        }
    }
}

async fn judged(place: &Place) -> CallPolicy {
    place.tool("shell").judge(r#"{"command":"true"}"#).await
}

/// A folder with very many files must not keep us from seeing the repository at the top.
#[tokio::test]
async fn the_repository_at_the_top_is_shut_however_wide_the_folder_is() {
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED: without bubblewrap a person is asked where a repository is");
        return;
    }
    let place = Place::sandboxed();
    let made = Command::new("git").args(["init", "-q"]).arg(place.root()).status().unwrap();
    assert!(made.success());
    fs::create_dir(place.path(".bzr")).unwrap();
    // More than were once looked at before the repository was.
    for file in 0..25_000 {
        fs::File::create(place.path(&format!("f{file}"))).unwrap();
    }
    for command in [
        "echo x > .git/hooks/pre-commit",
        "git config core.fsmonitor x",
        "mv .git aside",
        "rm -rf .git/objects",
        "echo x > .bzr/x",
    ] {
        assert!(!place.shell(command).await.is_ok(), "{command}");
    }
    assert!(!place.path(".git/hooks/pre-commit").exists());
    assert!(place.shell("echo x > f1").await.is_ok());
}

#[tokio::test]
async fn a_project_of_two_hundred_thousand_files_needs_no_question_and_little_time() {
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED: without bubblewrap a person is asked where a repository is");
        return;
    }
    let place = Place::sandboxed();
    let made = Command::new("git").args(["init", "-q"]).arg(place.root()).status().unwrap();
    assert!(made.success());
    files(&place, 1_000, 200);
    fs::create_dir_all(place.path("f999/deep/.git")).unwrap();
    assert_eq!(judged(&place).await, CallPolicy::Default);
    let begun = Instant::now();
    let seen = place.shell("echo x > f0/new; echo x > f999/deep/.git/config").await;
    println!("a command among 200,000 files took {:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(place.path("f0/new").exists() && !place.path("f999/deep/.git/config").exists());
    assert!(!seen.text.contains("not looked into"), "{}", seen.text);
}

/// What is offered for a repository that commands may write is the same promise.
#[tokio::test]
async fn a_nested_repository_is_disarmed_where_commands_write_the_one_at_the_top() {
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED: without bubblewrap a person is asked where a repository is");
        return;
    }
    let place = Place::with(|mut setting| {
        setting.shell.sandbox.git = GitAccess::Write;
        Setting { guard: Some(guard()), ..setting }
    });
    let mark = place.root().parent().unwrap().join("mark");
    let first =
        "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    assert!(
        Command::new("sh")
            .args(["-c", first])
            .current_dir(place.root())
            .status()
            .unwrap()
            .success()
    );
    let command = "{new} git init -q sub && cd sub && echo x > f && git add f && git commit -qm s \
        && git config core.fsmonitor '{trap}' && cd .. && git add sub 2>/dev/null && \
        git commit -qm top; echo y >> sub/f";
    let seen = place.shell(&filled(command, &mark)).await;
    assert!(seen.text.contains("sub/.git"), "{}", seen.text);
    let _ = fs::remove_file(&mark);
    person(&place, &[".", "sub"], &mark);
    assert!(!mark.exists());
}

/// The git tools themselves, on a nested repository that nobody disarmed.
#[tokio::test]
async fn git_commit_runs_nothing_of_a_nested_repository() {
    let has_sandbox = SandboxSupport::here(&guard()).level() != SandboxLevel::None;
    nested(Some(guard()), has_sandbox).await;
    // Without a program to build a sandbox with, there is none.
    nested(None, false).await;
}

async fn nested(helper: Option<PathBuf>, has_sandbox: bool) {
    let place = Place::with(|setting| {
        let made = Command::new("git").args(["init", "-q"]).arg(&setting.workspace).status();
        assert!(made.unwrap().success());
        Setting { guard: helper, ..setting }
    });
    let mark = place.root().parent().unwrap().join("mark");
    let script = "{new} echo hi > a; git add a; mkdir sub; cd sub; git init -q .; echo x > f; \
        printf '* filter=x\\n' > .gitattributes; git add .; git commit -qm s; \
        git config core.fsmonitor '{trap}'; git config filter.x.clean '{trap}'; cd ..; \
        git config user.name a; git config user.email a@b; git add a sub 2>/dev/null; \
        git commit -qm top; touch -d '1 hour ago' sub/f; echo y > sub/f; echo more > a";
    let script = filled(script, &mark);
    assert!(Command::new("sh").args(["-c", &script]).current_dir(place.root()).output().is_ok());
    let _ = fs::remove_file(&mark);
    for (tool, args) in [
        ("git_read", json!({"view": "status"})),
        ("git_read", json!({"view": "diff"})),
        ("git_commit", json!({"message": "one", "paths": ["a", "sub"]})),
        ("git_commit", json!({"message": "two", "paths": ["."]})),
    ] {
        let seen = place.call(tool, args.clone()).await;
        println!("{tool} {args}: {}", seen.text);
        assert!(!mark.exists(), "{tool} {args}");
    }
    let status = place.call("git_read", json!({"view": "log"})).await;
    assert_eq!(status.text.contains(" one"), has_sandbox, "{}", status.text);
}
