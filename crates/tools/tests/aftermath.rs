//! The look after a command: it believes nothing that it finds, and touches nothing outside.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, guard};
use crate::ways::{Way, all_are_held};
use everloop_tools::{GitAccess, SandboxLevel, SandboxSupport, Setting, finish_checks};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

const WAYS: &[Way] = &[
    Way {
        id: "",
        name: "a second name of the settings, written later",
        given: "",
        commands: &[
            "git init -q .; ln .git/config settings.txt",
            "printf '[core]\\n\\tfsmonitor = \"{trap} #\"\\n' >> settings.txt",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a second name of the person's own settings",
        given: "git init -q .; ln .git/config settings.txt",
        commands: &["printf '[core]\\n\\tfsmonitor = \"{trap} #\"\\n' >> settings.txt"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a second name of a file that leads to a repository",
        given: "",
        commands: &[
            "git init -q m; {new} git -C m commit -q --allow-empty -m x; git -C m branch b; \
             git -C m worktree add -q ../w b; ln w/.git twin; git init -q e",
            "printf '[core]\\n\\tfsmonitor = \"{trap} #\"\\n' >> e/.git/config; \
             mkdir -p n/.git/modules; mv e/.git n/.git/modules/e; \
             printf 'gitdir: ../n/.git/modules/e\\n' > twin",
        ],
        folders: &["w"],
    },
    Way {
        id: "",
        name: "within other version control, by a link of the index",
        given: "",
        commands: &["{new} mkdir -p .hg/sub; cd .hg/sub; git init -q .; echo x > f; git add f; \
            git commit -qm s; git config core.fsmonitor '{trap} #'; cd ../..; git init -q .; \
            git update-index --add --cacheinfo \
            160000,$(git -C .hg/sub rev-parse HEAD),.hg/sub"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a lead that git reads otherwise",
        given: "",
        commands: &["git init -q main; mkdir -p main/.git/worktrees/w evil/x; \
            cp -r main/.git/objects main/.git/refs evil/; printf '[core]\\n\
            repositoryformatversion = 0\\nfsmonitor = \"{trap} #\"\\n' > evil/config; \
            ws=$PWD; cd main/.git/worktrees/w; echo 'ref: refs/heads/main' > HEAD; \
            printf 'gitdir: ../..' > commondir; echo $ws/.git > gitdir; \
            ln -s $ws/evil/x 'gitdir: ..'; cd $ws; echo 'gitdir: main/.git/worktrees/w' > .git"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a lead with two blanks",
        given: "",
        commands: &["git init -q n; mkdir n/.git/modules; git init -q a; mv a/.git \
            n/.git/modules/g; git init -q b; git -C b config core.fsmonitor '{trap} #'; \
            mv b/.git ' n'; printf 'gitdir:  n\\n' > .git"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a work tree of what has no head",
        given: "",
        commands: &["git init -q n; mkdir -p n/.git/modules/x/worktrees/w; cd n/.git/modules/x; \
            cp -r ../../objects ../../refs .; printf '[core]\\nrepositoryformatversion = 0\\n\
            fsmonitor = \"{trap} #\"\\n' > config; cd worktrees/w; \
            echo 'ref: refs/heads/main' > HEAD; echo ../.. > commondir; cd ../../../../../..; \
            echo $PWD/.git > n/.git/modules/x/worktrees/w/gitdir; \
            echo 'gitdir: n/.git/modules/x/worktrees/w' > .git"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "hooks that cannot be listed",
        given: "",
        commands: &["git init -q .; printf '#!/bin/sh\\n{trap}' > .git/hooks/pre-commit; \
            chmod 755 .git/hooks/p*; chmod 0111 .git/hooks"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a pipe that nobody writes to, beside",
        given: "",
        commands: &["mkdir a; mkfifo a/.git; git init -q .; mkfifo .git/commondir-x; \
            git config core.fsmonitor '{trap} #'"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "objects that are missing, and a remote that has them",
        given: "",
        commands: &["{new} git init -q .; echo x > a; git add a; git commit -qm m; \
            git config remote.o.url ssh://127.0.0.1/words; git config remote.o.promisor true; \
            git config remote.o.partialclonefilter blob:none; \
            git config extensions.partialclone o; git config core.repositoryformatversion 1; \
            t=$(git rev-parse 'HEAD^{tree}'); \
            rm -f .git/objects/$(echo $t | cut -c1-2)/$(echo $t | cut -c3-)"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a rebase that is not finished",
        given: "",
        commands: &["{new} git init -q .; git commit -q --allow-empty -m a; \
            git commit -q --allow-empty -m b; \
            GIT_SEQUENCE_EDITOR='printf \"break\\nexec {trap}\\n\" >' git rebase -q -i HEAD~1"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a log that is a link to what others run",
        given: "printf 'true\n' > ../profile",
        commands: &["{new} git init -q .; git commit -q --allow-empty -m a; \
            git config committer.name 'x;{trap} < /dev/null;y'; \
            rm .git/logs/HEAD; ln -s ../../../profile .git/logs/HEAD"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "picks with a strategy of their own",
        given: "",
        commands: &["{new} git init -q .; printf '#!/bin/sh\n{trap} < /dev/null\n' > run; \
            chmod +x run; mkdir git-merge-..; echo a > a; git add a; git commit -qm a; \
            git checkout -q -b o; echo b > a; git commit -qam b; echo c > a; git commit -qam c; \
            git checkout -q -; echo d > a; git commit -qam d; git cherry-pick o~1 o; \
            echo e > a; git add a; git commit -qm e; \
            printf '[options]\nstrategy = ../../run\n' > .git/sequencer/opts"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a repository at the end of a path",
        given: "",
        commands: &["{new} git init -q s; cd s; echo x > f; git add f; git commit -qm s; \
            git config core.fsmonitor '{trap} #'; cd ..; git init -q .; perl -e 'use Cwd; \
            $ws = getcwd; $left = 4085 - length($ws) - 1; $sha = `git -C s rev-parse HEAD`; \
            chomp $sha; while ($left > 0) { $k = $left > 200 ? 200 : $left; \
            push @p, \"d\" x $k; $left -= $k + 1; } $last = pop @p; $up = \"\"; \
            for (@p) { mkdir $_; chdir $_; rename \"../s\", \"s\"; } \
            rename \"s\", $last; chdir $ws; \
            open G, \"| git update-index --add --index-info\"; \
            print G \"160000 $sha 0\\t\", join(\"/\", @p, $last), \"\\n\"; close G'"],
        folders: &["."],
    },
];

#[tokio::test]
async fn what_looks_harmless_is_held_too() {
    all_are_held(WAYS).await;
}

/// Links of a command lead to what is the person's. Each is put aside itself.
#[tokio::test]
async fn nothing_outside_the_workspace_or_in_a_shut_repository_is_touched() {
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED: without bubblewrap a person is asked where a repository is");
        return;
    }
    for (name, command) in [
        ("a link", "ln -s {outer}/other/.git x/.git"),
        ("other version control", "ln -s {outer}/other/.git x/.svn"),
        ("our own", "ln -s ../.git x/.git"),
        ("a closed folder", "ln -s {outer}/keys x/.git"),
        ("all names taken", "ln -s {outer}/keys x/.git; ln -s {outer}/keys x/.git-set-aside"),
        ("a folder on the way", "ln -s {outer}/other x/y; ln -s {outer}/other x/.git-set-aside"),
        (
            "a link in a folder of git",
            "git init -q x; rm -rf x/.git/hooks x/.git/HEAD; ln -s {outer}/keys x/.git/hooks; \
             ln -s {outer}/bashrc x/.git/config-x; ln -s {outer}/bashrc x/.git/HEAD",
        ),
        (
            "the end of a path",
            "perl -e 'use Cwd; $left = 4090 - 5 - length(getcwd) - 1; while ($left > 0) { \
             $k = $left > 200 ? 200 : $left; mkdir \"d\" x $k; chdir \"d\" x $k; $left -= $k + 1; } \
             symlink \"{outer}/bashrc\", \".git\"; symlink \"{outer}/keys\", \".hg\"'",
        ),
    ] {
        let place = Place::sandboxed();
        let outer = place.root().canonicalize().unwrap().parent().unwrap().to_owned();
        let given = "git init -q .; mkdir x; git init -q ../other; echo precious > ../bashrc; \
            mkdir -m 500 ../keys; echo mine > ../other/.git/config-x";
        let given = given.replace(
            "mkdir -m 500 ../keys",
            "mkdir ../keys; echo k > ../keys/HEAD; \
            echo k > ../keys/config; chmod 500 ../keys",
        );
        assert!(
            Command::new("sh")
                .args(["-c", &given])
                .current_dir(place.root())
                .status()
                .unwrap()
                .success()
        );
        let state = || {
            let list =
                "cd {outer}; find other keys bashrc workspace/.git -printf '%p %M %s %T@\\n' \
                | sort"
                    .replace("{outer}", &outer.display().to_string());
            let output = Command::new("sh").args(["-c", &list]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let before = state();
        let command = command.replace("{outer}", &outer.display().to_string());
        let seen = place.shell(&command).await;
        println!("{name}: {}", seen.text);
        assert_eq!(state(), before, "{name}: {}", seen.text);
        fs::set_permissions(outer.join("keys"), fs::Permissions::from_mode(0o700)).unwrap();
    }
}

/// The look must not wait for anybody.
#[tokio::test]
async fn a_pipe_that_is_called_like_a_repository_stops_nobody() {
    if SandboxSupport::here(&guard()).level() == SandboxLevel::None {
        println!("SKIPPED: there is no sandbox here");
        return;
    }
    let place = Place::sandboxed();
    let look = place.shell("mkdir a b; mkfifo a/.git b/.hg; echo done");
    let seen = tokio::time::timeout(Duration::from_secs(60), look).await.unwrap();
    assert!(seen.text.contains("a/.git-set-aside"), "{}", seen.text);
    let again = tokio::time::timeout(Duration::from_secs(60), place.shell("echo done")).await;
    assert!(again.unwrap().is_ok());
}

/// Each folder on the way to a repository would be a mount, and a word of a command line.
#[tokio::test]
async fn a_repository_far_down_stops_no_later_command() {
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED: without bubblewrap a person is asked where a repository is");
        return;
    }
    let place = Place::sandboxed();
    let made = "i=0; while [ $i -lt 1200 ]; do mkdir d; cd d; i=$((i+1)); done; git init -q .";
    let seen = place.shell(made).await;
    assert!(seen.is_ok(), "{}", seen.text);
    let seen = place.shell("echo x > d/d/new; echo x > new; find . -name config | wc -l").await;
    assert!(seen.is_ok() && seen.text.starts_with("1\n"), "{}", seen.text);
}

/// What commands may write is looked at as if it were new.
#[tokio::test]
async fn where_commands_write_the_repository_links_and_programs_in_it_are_set_aside() {
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED: without bubblewrap a person is asked where a repository is");
        return;
    }
    let place = Place::with(|mut setting| {
        setting.shell.sandbox.git = GitAccess::Write;
        Setting { guard: Some(guard()), ..setting }
    });
    let given = "git init -q .; git config user.name a; git config user.email a@b; \
        git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; \
        git config alias.st '!true'";
    assert!(
        Command::new("sh")
            .args(["-c", given])
            .current_dir(place.root())
            .status()
            .unwrap()
            .success()
    );
    for (command, aside) in [
        ("rm .git/logs/HEAD; ln -s /tmp/x .git/logs/HEAD", "logs/HEAD-set-aside"),
        ("rm -f .git/COMMIT_EDITMSG; ln -s /tmp/x .git/COMMIT_EDITMSG", "COMMIT_EDITMSG-set-aside"),
        (
            "mkdir .git/rebase-merge; echo 'exec touch x' > .git/rebase-merge/git-rebase-todo",
            "git-rebase-todo-set-aside",
        ),
    ] {
        let seen = place.shell(command).await;
        assert!(seen.text.contains(aside), "{command}: {}", seen.text);
        assert!(!seen.text.contains("set-aside-set-aside"), "{command}: {}", seen.text);
    }
    let seen = place.shell("rm -r .git/rebase-merge; git commit -q --allow-empty -m c").await;
    assert!(seen.is_ok() && !seen.text.contains("renamed"), "{}", seen.text);
    assert!(place.content(".git/config").contains("alias"));
}

/// Not a promise, a figure: what the looks before and after a command cost.
#[tokio::test]
async fn what_a_look_through_fifty_thousand_files_costs_is_told() {
    let place = Place::sandboxed();
    for folder in 0..500 {
        let folder = place.path(&format!("f{}/d{folder}", folder % 20));
        fs::create_dir_all(&folder).unwrap();
        for file in 0..100 {
            fs::File::create(folder.join(format!("{file}.txt"))).unwrap();
        }
    }
    place.shell("true").await;
    let begun = Instant::now();
    for _ in 0..5 {
        place.shell("true").await;
    }
    println!("a command among 50,000 files took {:?}", begun.elapsed() / 5);
}

/// Whoever gives up a call does not give up the look after it.
#[tokio::test]
async fn a_call_that_is_dropped_leaves_no_trap_behind() {
    if SandboxSupport::here(&guard()).level() == SandboxLevel::None {
        println!("SKIPPED: there is no sandbox here, so a person is asked about every command");
        return;
    }
    let place = Place::sandboxed();
    let trap = "git init -q .; git config core.fsmonitor 'touch ../mark #'; touch ready; sleep 99";
    let is_ready = async {
        while !place.path("ready").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        seen = place.shell(trap) => panic!("it is still at work: {seen:?}"),
        () = is_ready => {}
    }
    assert!(place.path(".git").exists(), "nobody has looked yet");
    finish_checks(Duration::from_secs(20));
    assert!(!place.path(".git").exists() && place.path(".git-set-aside").exists());
}
