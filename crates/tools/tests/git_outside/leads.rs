//! Repositories that lead git out of the workspace.

#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::support::{Place, guard};
use everloop_tools::Setting;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) fn sh(folder: &Path, script: &str) {
    let names =
        ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(folder).envs(names.map(|name| (name, "a@b")));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A workspace beside another repository of the person, whose words are `SECRET`.
pub(crate) fn place(script: &str) -> Place {
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
pub(crate) const LEADS: &[(&str, &str, &str)] = &[
    (
        "F01",
        "core.worktree",
        "git init -q; mkdir .ssh; echo > .ssh/id_rsa; git add .; git commit -qm x; rm -r .ssh; \
         git config core.worktree {outer}/victim",
    ),
    (
        "",
        "core.worktree that is relative",
        "git init -q; mkdir .ssh; echo > .ssh/id_rsa; git add .; git commit -qm x; rm -r .ssh; \
         git config core.worktree ../../victim",
    ),
    ("F02", "a file", "echo 'gitdir: {outer}/other/.git' > .git"),
    ("", "a file with a relative path", "echo 'gitdir: ../other/.git' > .git"),
    ("", "a link", "ln -s {outer}/other/.git .git"),
    (
        "",
        "commondir",
        "git init -q; echo {outer}/other/.git > .git/commondir; cp {outer}/other/.git/index .git/; \
         echo 'ref: refs/heads/stolen' > .git/HEAD; cp {outer}/other/.git/HEAD .git/HEAD",
    ),
    (
        "",
        "alternates",
        "git init -q; echo {outer}/other/.git/objects > .git/objects/info/alternates; \
         git update-ref HEAD $(git -C {outer}/other rev-parse HEAD)",
    ),
    (
        "",
        "alternates of alternates",
        "git init -q; mkdir -p store/info; echo {outer}/other/.git/objects > store/info/alternates; \
         echo ../../store > .git/objects/info/alternates; \
         git update-ref HEAD $(git -C {outer}/other rev-parse HEAD)",
    ),
    (
        "",
        "linked objects",
        "git init -q; rm -rf .git/objects; ln -s {outer}/other/.git/objects .git/objects; \
         git update-ref HEAD $(git -C {outer}/other rev-parse HEAD)",
    ),
    (
        "",
        "a linked folder of objects",
        "git init -q; rev=$(git -C {outer}/other rev-parse HEAD); for d in \
         {outer}/other/.git/objects/??; do ln -s $d .git/objects/; done; git update-ref HEAD $rev",
    ),
    (
        "",
        "linked refs and objects",
        "mkdir .git; for f in {outer}/other/.git/*; do ln -s $f .git/; done",
    ),
    (
        "",
        "a work tree that nobody told the repository of",
        "mkdir -p {outer}/other/.git/worktrees/x; cd {outer}/other/.git/worktrees/x; \
         echo {outer}/elsewhere/.git > gitdir; echo ../.. > commondir; cp ../../HEAD HEAD; \
         echo 'gitdir: {outer}/other/.git/worktrees/x' > {outer}/workspace/.git",
    ),
];
