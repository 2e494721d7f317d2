//! What git shows ends at the workspace, whatever its repository says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::leads::{place, sh};
use crate::support::guard;
use everloop_tools::Setting;
use serde_json::json;
use std::fs;
use std::process::Command;

/// The repository names the work tree, so the person made it.
#[tokio::test]
async fn a_work_tree_that_its_repository_knows_is_read_and_committed_to() {
    let script = "git -C ../other worktree add -q -f {outer}/workspace/../tree; \
        mv {outer}/tree/.git .git; git -C ../other worktree repair {outer}/workspace; echo x > a";
    let place = place(script);
    sh(&place.root(), "git config user.name a; git config user.email a@b; rm -rf ../tree");
    let log = place.call("git_read", json!({"view": "log"})).await;
    assert!(log.text.contains("SECRET s"), "{}", log.text);
    let made = place.call("git_commit", json!({"message": "m", "paths": ["a"]})).await;
    assert!(made.is_ok(), "{}", made.text);
}

#[tokio::test]
async fn a_push_into_the_workspace_runs_no_hook_of_it() {
    let place = place(
        "git init -q -b main; git config user.name a; git config user.email a@b; \
         git commit -q --allow-empty -m x; git init -q --bare in.git; \
         printf '#!/bin/sh\\ntouch {outer}/mark\\n' > in.git/hooks/post-receive; \
         chmod +x in.git/hooks/post-receive; git remote add origin ./in.git",
    );
    for url in ["./in.git", "in.git", &place.path("in.git").display().to_string()] {
        for url in [url.to_owned(), format!("file://{}", place.path("in.git").display())] {
            sh(&place.root(), &format!("git remote set-url origin {url}"));
            let seen = place.call("git_push", json!({"remote": "origin", "branch": "main"})).await;
            assert!(!seen.is_ok(), "{url}: {}", seen.text);
        }
    }
    assert!(!place.root().parent().unwrap().join("mark").exists());
}

/// Programs that a repository's own attributes and settings name, beside those that are refused.
#[tokio::test]
async fn settings_of_the_person_run_nothing_either() {
    let Some(workspace) = std::env::var_os("EVERLOOP_TEST_HOME") else {
        return settings_in_a_home();
    };
    let setting = Setting { guard: Some(guard()), ..Setting::new(workspace) };
    let registry = everloop_tools::builtin_tools(&setting).unwrap();
    for view in ["status", "diff", "log"] {
        let tool = registry.get("git_read").unwrap();
        let args = json!({ "view": view }).to_string();
        println!("{:?}", tool.call(&args, &crate::support::context()).await);
    }
    let args = json!({"message": "m", "paths": ["t.txt"]}).to_string();
    println!(
        "{:?}",
        registry.get("git_commit").unwrap().call(&args, &crate::support::context()).await
    );
}

/// A home that is kept in git, with settings that a run may have written.
fn settings_in_a_home() {
    let outer = tempfile::TempDir::new().unwrap();
    let home = outer.path().join("home");
    fs::create_dir(&home).unwrap();
    sh(
        &home,
        "git init -q; echo 1 > t.txt; git add .; git commit -qm x; touch -d '1 hour ago' t.txt; \
        echo 2 > t.txt; printf '[user]\\nname=Me\\nemail=me@b\\n[core]\\nattributesFile=~/attrs\\n\
        fsmonitor=touch ../mark\\n[filter \"p\"]\\nclean=touch ../mark; cat\\n[diff]\\n\
        external=touch ../mark\\n' > .gitconfig; echo '* filter=p' > attrs",
    );
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "git_outside::settings_of_the_person_run_nothing_either"])
        .env("EVERLOOP_TEST_HOME", &home)
        .env("HOME", &home)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!outer.path().join("mark").exists(), "{said}");
    assert!(said.contains("committed "), "{said}");
    // Who the person is comes from their own settings all the same.
    let log = Command::new("git").args(["log", "-1", "--format=%an"]).current_dir(&home).output();
    assert_eq!(String::from_utf8_lossy(&log.unwrap().stdout).trim(), "Me");
}
