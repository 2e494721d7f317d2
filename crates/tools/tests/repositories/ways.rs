//! A command's ways to leave a repository that runs a trap, each with where the person then works.

#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::support::{Place, guard};
use everloop_tools::{SandboxLevel, SandboxMode, SandboxSupport, Setting};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a trap does: it says so outside the workspace, and hands on what it was given.
const TRAP: &str = "touch {mark}; cat";

/// A command's ways to leave a repository that runs a trap, and where the person then works.
pub(crate) struct Way {
    /// In the findings; empty for the others.
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// What the person has before: run without a sandbox.
    pub(crate) given: &'static str,
    pub(crate) commands: &'static [&'static str],
    /// Folders in which the person runs git.
    pub(crate) folders: &'static [&'static str],
}

const NEW: &str = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
    GIT_COMMITTER_EMAIL=a@b; ";

pub(crate) const WAYS: &[Way] = &[
    Way {
        id: "",
        name: "a hook",
        given: "",
        commands: &["git init -q .; printf '#!/bin/sh\\n{trap}' > .git/hooks/pre-commit; \
            chmod +x .git/hooks/pre-commit"],
        folders: &["."],
    },
    Way {
        id: "S61",
        name: "a bare layout in two commands",
        given: "",
        commands: &[
            "echo 'ref: refs/heads/main' > HEAD",
            "mkdir -p objects refs/heads; printf '[core]\\nrepositoryformatversion=0\\n\
             bare=false\\nworktree=.\\nfsmonitor=\"{trap}\"\\n' > config",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a bare layout below the top, in three commands",
        given: "mkdir src",
        commands: &[
            "echo 'ref: refs/heads/main' > src/HEAD",
            "mkdir -p src/objects src/refs/heads",
            "printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\n\
             fsmonitor=\"{trap}\"\\n' > src/config",
        ],
        folders: &["src"],
    },
    Way {
        id: "",
        name: "a layout whose settings lie elsewhere",
        given: "mkdir src",
        commands: &["mkdir -p evil/objects evil/refs/heads; printf '[core]\\n\
            repositoryformatversion=0\\n[alias]\\nst=\"!{trap}\"\\n' > evil/config; \
            echo 'ref: refs/heads/main' > src/HEAD; echo ../evil > src/commondir"],
        folders: &["src"],
    },
    Way {
        id: "S63",
        name: "all names taken",
        given: "",
        commands: &["touch .git-set-aside; i=2; while [ $i -lt 1001 ]; do \
            : > .git-set-aside-$i; i=$((i+1)); done; git init -q .; \
            git config core.fsmonitor '{trap}'"],
        folders: &["."],
    },
    Way {
        id: "S86",
        name: "a folder that nothing can be renamed in",
        given: "",
        commands: &["git init -q .; git config core.fsmonitor '{trap}'; chmod 555 ."],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a nested folder that cannot be listed",
        given: "",
        commands: &["git init -q sub; git -C sub config core.fsmonitor '{trap}'; chmod 311 sub"],
        folders: &["sub"],
    },
    Way {
        id: "S65",
        name: "an alias",
        given: "",
        commands: &["git init -q .; git config alias.st '!{trap}'"],
        folders: &["."],
    },
    Way {
        id: "S66",
        name: "a submodule",
        given: "",
        commands: &["{new} git init -q sub; cd sub; echo x > f; git add f; git commit -qm s; \
            git config core.fsmonitor '{trap}'; cd ..; git init -q .; git add sub 2>/dev/null; \
            git commit -qm top; echo y >> sub/f"],
        folders: &[".", "sub"],
    },
    Way {
        id: "S70",
        name: "a submodule that was not there yet",
        given: "{new} git init -q .; echo hi > a; git add a; git update-index --add --cacheinfo \
            160000,1234567890123456789012345678901234567890,sub; mkdir sub; git commit -qm top",
        commands: &["{new} cd sub; git init -q .; echo x > f; printf '* filter=x\\n' > \
            .gitattributes; git add .; git commit -qm s; git config filter.x.clean '{trap}'; \
            touch -d '1 hour ago' f; echo y > f"],
        folders: &[".", "sub"],
    },
    Way {
        id: "",
        name: "included settings",
        given: "",
        commands: &["git init -q .; printf '[core]\\nfsmonitor=\"{trap}\"\\n' > more; \
            git config include.path ../more"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "settings of the work tree",
        given: "",
        commands: &["git init -q .; git config extensions.worktreeConfig true; \
            git config --worktree core.fsmonitor '{trap}'"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a file that leads to a folder of another name",
        given: "",
        commands: &["git init -q --separate-git-dir=store sub; \
            git -C sub config core.fsmonitor '{trap}'"],
        folders: &["sub"],
    },
    Way {
        id: "",
        name: "a link to a folder of another name",
        given: "",
        commands: &["git init -q x; mv x/.git store; ln -s ../store x/.git; \
            git -C x config core.fsmonitor '{trap}'"],
        folders: &["x"],
    },
    Way {
        id: "",
        name: "a link that was there, and its folder made later",
        given: "mkdir x; ln -s ../store x/.git",
        commands: &["git init -q y; mv y/.git store; printf '[core]\\nfsmonitor=\"{trap}\"\\n' \
            >> store/config"],
        folders: &["x"],
    },
    Way {
        id: "",
        name: "a nested repository with a hook",
        given: "",
        commands: &[
            "git init -q a/b/c; printf '#!/bin/sh\\n{trap}' > a/b/c/.git/hooks/pre-commit; \
            chmod +x a/b/c/.git/hooks/pre-commit",
        ],
        folders: &["a/b/c"],
    },
    Way {
        id: "",
        name: "a hook of a bare repository that was there",
        given: "git init -q --bare remote.git; git init -q .; git remote add origin remote.git",
        commands: &["rm -rf remote.git/hooks; mkdir remote.git/hooks; \
            printf '#!/bin/sh\\n{trap}' > remote.git/hooks/post-receive; \
            chmod +x remote.git/hooks/post-receive; cat remote.git/config"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "the remote that is pushed to",
        given: "",
        commands: &["git init -q --bare remote.git; printf '#!/bin/sh\\n{trap}' > \
            remote.git/hooks/post-receive; chmod +x remote.git/hooks/post-receive; \
            git init -q .; git remote add origin remote.git"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a pager, an editor and a diff",
        given: "",
        commands: &["git init -q .; git config diff.external '{trap}'; git config pager.status \
            '{trap}'; git config core.editor '{trap}'; echo x > f; {new} git add f; echo y > f"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "what was put aside before, moved back",
        given: "",
        commands: &[
            "git init -q .; git config core.fsmonitor '{trap}'",
            "mv .git-set-aside .git; cd .git; mv HEAD-set-aside HEAD",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "what was put aside, where it lies",
        given: "",
        commands: &["git init -q .; git config core.fsmonitor '{trap}'; \
            git config core.bare false; git config core.worktree ."],
        folders: &[".", ".git", ".git-set-aside"],
    },
    Way {
        id: "",
        name: "hooks elsewhere",
        given: "",
        commands: &[
            "git init -q .; mkdir h; printf '#!/bin/sh\\n{trap}' > h/pre-commit; chmod +x h/pre-commit; git config core.hooksPath h",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a hook that runs at every look",
        given: "",
        commands: &[
            "git init -q .; printf '#!/bin/sh\\n{trap}' > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a hook of every change of a branch",
        given: "",
        commands: &[
            "git init -q .; printf '#!/bin/sh\\n{trap}' > .git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a hook that is a link",
        given: "",
        commands: &[
            "git init -q .; printf '#!/bin/sh\\n{trap}' > p; chmod +x p; ln -s ../../p .git/hooks/post-commit",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a folder of hooks that is a link",
        given: "",
        commands: &[
            "git init -q .; mkdir h; printf '#!/bin/sh\\n{trap}' > h/post-commit; chmod +x h/post-commit; rm -rf .git/hooks; ln -s ../h .git/hooks",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "settings that are a link",
        given: "",
        commands: &[
            "git init -q .; mv .git/config c; ln -s ../c .git/config; git config -f c core.fsmonitor '{trap}'",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "settings with a second name, written later",
        given: "",
        commands: &[
            "git init -q .; ln .git/config c",
            "printf '[core]\\nfsmonitor=\"{trap}\"\\n' >> c",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a hook with a second name, written later",
        given: "",
        commands: &[
            "git init -q .; printf '#!/bin/sh\\n' > .git/hooks/post-commit; ln .git/hooks/post-commit p",
            "printf '#!/bin/sh\\n{trap}' > p; chmod +x p; chmod +x p; cp -p p .git/hooks/post-commit; true",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a repository made somewhere else and moved in",
        given: "",
        commands: &["git init -q x; git -C x config core.fsmonitor '{trap}'; mv x/.git .git"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a repository made in the temporary folder and copied in",
        given: "",
        commands: &[
            "git init -q $TMPDIR/x; git -C $TMPDIR/x config core.fsmonitor '{trap}'; cp -r $TMPDIR/x/.git .git",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "settings that are included on a condition",
        given: "",
        commands: &[
            "git init -q .; printf '[core]\\nfsmonitor=\"{trap}\"\\n' > more; git config includeIf.gitdir:/.path $PWD/more",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a filter by attributes of the repository",
        given: "",
        commands: &[
            "{new} git init -q .; git config filter.x.clean '{trap}'; echo '* filter=x' > .git/info/attributes; echo x > f",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a filter by attributes elsewhere",
        given: "",
        commands: &[
            "{new} git init -q .; git config filter.x.clean '{trap}'; git config core.attributesFile a; echo '* filter=x' > a; echo x > f",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a filter that stays",
        given: "",
        commands: &[
            "{new} git init -q .; git config filter.x.process '{trap}'; echo '* filter=x' > .gitattributes; echo x > f",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a diff of binary files",
        given: "",
        commands: &[
            "{new} git init -q .; git config diff.x.textconv '{trap}'; echo '* diff=x' > .gitattributes; echo x > f; git add .; git commit -qm x; touch -d '1 hour ago' f; echo yy > f",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a diff of one kind of files",
        given: "",
        commands: &[
            "{new} git init -q .; git config diff.x.command '{trap}'; echo '* diff=x' > .gitattributes; echo x > f; git add .; git commit -qm x; touch -d '1 hour ago' f; echo yy > f",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a signature",
        given: "",
        commands: &[
            "git init -q .; printf '#!/bin/sh\\n{trap}' > p; chmod +x p; git config commit.gpgsign true; git config gpg.program $PWD/p",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a signature by a key",
        given: "",
        commands: &[
            "git init -q .; printf '#!/bin/sh\\n{trap}' > p; chmod +x p; git config commit.gpgsign true; git config gpg.format ssh; git config gpg.ssh.program $PWD/p; git config user.signingkey x",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a remote over another program",
        given: "",
        commands: &[
            "git init -q .; git config core.sshCommand '{trap}'; git remote add origin ssh://h/x",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "what the other side runs",
        given: "",
        commands: &[
            "git init -q .; git init -q --bare r.git; git remote add origin r.git; git config remote.origin.receivepack '{trap}; git-receive-pack'",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a remote that is a command",
        given: "",
        commands: &[
            "git init -q .; git config protocol.ext.allow always; git remote add origin 'ext::sh -c {ext}'",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a remote that is another one",
        given: "",
        commands: &[
            "git init -q .; git init -q --bare r.git; printf '#!/bin/sh\\n{trap}' > r.git/hooks/post-receive; chmod +x r.git/hooks/post-receive; git remote add origin https://h/x; git config url.$PWD/r.git.insteadOf https://h/x",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "another kind of branches",
        given: "",
        commands: &[
            "git init -q --ref-format=reftable . || git init -q .; git config core.fsmonitor '{trap}'",
        ],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a repository among dependencies",
        given: "",
        commands: &[
            "git init -q node_modules/x; git -C node_modules/x config core.fsmonitor '{trap}'",
        ],
        folders: &["node_modules/x"],
    },
    Way {
        id: "",
        name: "a repository in a hidden folder",
        given: "",
        commands: &["git init -q .cache/a/.b; git -C .cache/a/.b config core.fsmonitor '{trap}'"],
        folders: &[".cache/a/.b"],
    },
    Way {
        id: "",
        name: "a repository with an odd name",
        given: "",
        commands: &["git init -q 'a b$x/ü'; git -C 'a b$x/ü' config core.fsmonitor '{trap}'"],
        folders: &["a b$x/ü"],
    },
    Way {
        id: "",
        name: "a repository far below",
        given: "",
        commands: &[
            "git init -q 1/2/3/4/5/6/7/8/9/10/11/12/13/14; cd 1/2/3/4/5/6/7/8/9/10/11/12/13/14; git config core.fsmonitor '{trap}'",
        ],
        folders: &["1/2/3/4/5/6/7/8/9/10/11/12/13/14"],
    },
    Way {
        id: "",
        name: "a bare repository of another name",
        given: "",
        commands: &[
            "git init -q --bare store; git -C store config core.bare false; git -C store config core.worktree ..; git -C store config core.fsmonitor '{trap}'",
        ],
        folders: &["store"],
    },
    Way {
        id: "",
        name: "a work tree with settings of its own",
        given: "",
        commands: &[
            "{new} git init -q a; cd a; git commit -q --allow-empty -m x; git worktree add -q ../b; git config extensions.worktreeConfig true; git -C ../b config --worktree core.fsmonitor '{trap}'",
        ],
        folders: &["b"],
    },
    Way {
        id: "",
        name: "a repository beside the one of the person",
        given: "git init -q .",
        commands: &["git init -q sub; git -C sub config core.fsmonitor '{trap}'"],
        folders: &["sub"],
    },
    Way {
        id: "",
        name: "the person's own settings by a moved folder",
        given: "mkdir p; git init -q p",
        commands: &["mv p q; mkdir p; git init -q p; git -C p config core.fsmonitor '{trap}'"],
        folders: &["p"],
    },
];

/// What a person does, also by a prompt or an editor that does it for them.
const PERSON: &[&str] = &[
    "status",
    "st",
    "diff",
    "add -A",
    "-c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
    "push -q origin HEAD",
    "log -1",
    "rebase --continue",
    "cherry-pick --continue",
];

pub(crate) fn filled(text: &str, mark: &Path) -> String {
    let trap = TRAP.replace("{mark}", &mark.display().to_string());
    let ext = format!("touch% {}", mark.display());
    text.replace("{new}", NEW).replace("{trap}", &trap).replace("{ext}", &ext)
}

pub(crate) fn person(place: &Place, folders: &[&str], mark: &Path) {
    let lines = PERSON.iter().map(|line| format!("timeout 20 git {line} < /dev/null"));
    let script = lines.collect::<Vec<_>>().join("; ");
    for folder in folders.iter().map(|folder| place.path(folder)).filter(|path| path.is_dir()) {
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(&folder).env("GIT_PAGER", "cat");
        // Whoever is asked for something over the network is a trap too.
        command.env("GIT_SSH_COMMAND", format!("touch {}; false", mark.display()));
        command.env("GIT_EDITOR", "true");
        let _ = command.env("HOME", place.root().parent().unwrap()).output();
        let mut shell = Command::new("sh");
        let _ = shell.args(["-c", ". ../profile"]).current_dir(place.root()).output();
    }
}

/// Whether the trap was sprung.
async fn springs(way: &Way, sandbox: SandboxMode) -> (bool, String) {
    let place = Place::with(|mut setting| {
        setting.shell.sandbox.mode = sandbox;
        Setting { guard: Some(guard()), ..setting }
    });
    let mark = place.root().parent().unwrap().join("mark");
    let mut sh = Command::new("sh");
    sh.args(["-c", &filled(way.given, &mark)]).current_dir(place.root());
    assert!(sh.output().unwrap().status.success(), "{}", way.name);
    let mut said = String::new();
    for command in way.commands {
        said += &place.shell(&filled(command, &mark)).await.text;
    }
    fs::remove_file(&mark).unwrap_or_default();
    person(&place, way.folders, &mark);
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    let _ = fs::set_permissions(place.root(), open);
    (mark.exists(), said)
}

/// Runs all of them with a sandbox, where none may spring the trap, and without, where each must.
pub(crate) async fn all_are_held(ways: &[Way]) {
    if SandboxSupport::here(&guard()).level() == SandboxLevel::None {
        println!("SKIPPED: there is no sandbox here, so a person is asked about every command");
        return;
    }
    let is_full = SandboxSupport::here(&guard()).level() == SandboxLevel::Full;
    let (mut held, mut wrong) = (0, Vec::new());
    for way in ways {
        if !is_full && !way.given.is_empty() {
            println!("SKIPPED  {}: Landlock alone asks where a repository is", way.name);
            continue;
        }
        let (sprung, said) = springs(way, SandboxMode::Auto).await;
        println!("{}  {}: {}", if sprung { "BROKEN" } else { "held" }, way.name, said.trim());
        let (would, _) = springs(way, SandboxMode::Off).await;
        match (sprung, would) {
            (true, _) => wrong.push(way.name.to_owned()),
            (false, false) => wrong.push(format!("{} proves nothing", way.name)),
            (false, true) => held += 1,
        }
    }
    println!("{held} of {} held", ways.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
