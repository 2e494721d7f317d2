//! What git shows ends at the workspace, whatever its repository says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use everloop_tools::Setting;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use support::{Place, guard};

fn sh(folder: &Path, script: &str) {
    let names =
        ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(folder).envs(names.map(|name| (name, "a@b")));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A workspace beside another repository of the person, whose words are `SECRET`.
fn place(script: &str) -> Place {
    let place = Place::with(|setting| {
        let outer = setting.workspace.parent().unwrap();
        fs::create_dir_all(outer.join("victim/.ssh")).unwrap();
        fs::write(outer.join("victim/.ssh/id_rsa"), "SECRET KEY\n").unwrap();
        sh(
            outer,
            "git init -q other; cd other; echo SECRET > s; git add s; git commit -qm 'SECRET s'",
        );
        // The tools are offered where a repository is.
        fs::create_dir(setting.workspace.join(".git")).unwrap();
        Setting { guard: Some(guard()), ..setting }
    });
    fs::remove_dir(place.path(".git")).unwrap();
    sh(
        &place.root(),
        &script.replace("{outer}", &place.root().parent().unwrap().display().to_string()),
    );
    place
}

/// Repositories as they come out of an archive: each leads to what lies beside the workspace.
const LEADS: &[(&str, &str)] = &[
    (
        "core.worktree",
        "git init -q; mkdir .ssh; echo > .ssh/id_rsa; git add .; git commit -qm x; rm -r .ssh; \
         git config core.worktree {outer}/victim",
    ),
    (
        "core.worktree that is relative",
        "git init -q; mkdir .ssh; echo > .ssh/id_rsa; git add .; git commit -qm x; rm -r .ssh; \
         git config core.worktree ../../victim",
    ),
    ("a file", "echo 'gitdir: {outer}/other/.git' > .git"),
    ("a file with a relative path", "echo 'gitdir: ../other/.git' > .git"),
    ("a link", "ln -s {outer}/other/.git .git"),
    (
        "commondir",
        "git init -q; echo {outer}/other/.git > .git/commondir; cp {outer}/other/.git/index .git/; \
         echo 'ref: refs/heads/stolen' > .git/HEAD; cp {outer}/other/.git/HEAD .git/HEAD",
    ),
    (
        "alternates",
        "git init -q; echo {outer}/other/.git/objects > .git/objects/info/alternates; \
         git update-ref HEAD $(git -C {outer}/other rev-parse HEAD)",
    ),
    (
        "alternates of alternates",
        "git init -q; mkdir -p store/info; echo {outer}/other/.git/objects > store/info/alternates; \
         echo ../../store > .git/objects/info/alternates; \
         git update-ref HEAD $(git -C {outer}/other rev-parse HEAD)",
    ),
    (
        "linked objects",
        "git init -q; rm -rf .git/objects; ln -s {outer}/other/.git/objects .git/objects; \
         git update-ref HEAD $(git -C {outer}/other rev-parse HEAD)",
    ),
    (
        "a linked folder of objects",
        "git init -q; rev=$(git -C {outer}/other rev-parse HEAD); for d in \
         {outer}/other/.git/objects/??; do ln -s $d .git/objects/; done; git update-ref HEAD $rev",
    ),
    (
        "linked refs and objects",
        "mkdir .git; for f in {outer}/other/.git/*; do ln -s $f .git/; done",
    ),
    (
        "a work tree that nobody told the repository of",
        "mkdir -p {outer}/other/.git/worktrees/x; cd {outer}/other/.git/worktrees/x; \
         echo {outer}/elsewhere/.git > gitdir; echo ../.. > commondir; cp ../../HEAD HEAD; \
         echo 'gitdir: {outer}/other/.git/worktrees/x' > {outer}/workspace/.git",
    ),
];

#[tokio::test]
async fn git_read_shows_nothing_outside_the_workspace() {
    let mut wrong = Vec::new();
    for (name, script) in LEADS {
        let place = place(script);
        let mut said = String::new();
        for view in ["status", "diff", "log"] {
            said += &place.call("git_read", json!({ "view": view })).await.text;
        }
        let commit = json!({"message": "m", "paths": ["."]});
        said += &place.call("git_commit", commit).await.text;
        println!("{}  {name}: {}", if said.contains("SECRET") { "BROKEN" } else { "held" }, said);
        if said.contains("SECRET") {
            wrong.push(*name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

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
    let registry = everloop_tools::Registry::builtin(&setting).unwrap();
    for view in ["status", "diff", "log"] {
        let tool = registry.get("git_read").unwrap();
        let args = json!({ "view": view }).to_string();
        println!("{:?}", tool.call(&args, &support::context()).await);
    }
    let args = json!({"message": "m", "paths": ["t.txt"]}).to_string();
    println!("{:?}", registry.get("git_commit").unwrap().call(&args, &support::context()).await);
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
        .args(["--exact", "--nocapture", "settings_of_the_person_run_nothing_either"])
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
