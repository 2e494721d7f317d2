//! A day of ordinary work behind the walls: nothing is asked beyond the tool's own question, and
//! nothing fails. And what the walls cost.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use everloop_tools::{GitAccess, Judgement, Level, Setting, Standing};
use serde_json::json;
use std::process::Command;
use std::time::Instant;
use support::{Place, bare, guard};

/// A project with git, Python, Node and a Makefile. A line that begins with a program in brackets
/// needs it.
const COMMANDS: &[&str] = &[
    "ls -la",
    "git status --short",
    "git log --oneline",
    "git diff",
    "git branch -a",
    "git show HEAD --stat",
    "mkdir -p src tests docs && echo 'hello' > docs/readme.md",
    "echo 'all:\n\techo built > out.txt\ntest:\n\ttest -s out.txt' > Makefile",
    "[make] make && make test",
    "grep -rn hello . | head",
    "find . -name '*.md' | xargs wc -l",
    "sed -i s/hello/goodbye/ docs/readme.md && cat docs/readme.md",
    "cp docs/readme.md docs/copy.md && mv docs/copy.md docs/other.md && rm docs/other.md",
    "tar czf /tmp/x.tgz docs && tar tzf /tmp/x.tgz",
    "echo 'print(sum(range(10)))' > src/a.py && touch .env .editorconfig .prettierrc",
    "[python3] python3 src/a.py",
    "[python3] python3 -m venv --without-pip .venv && .venv/bin/python -c 'print(1)'",
    "[python3] . .venv/bin/activate && python src/a.py",
    "[python3] python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))'",
    "[python3] python3 -c 'import sqlite3; c=sqlite3.connect(\"t.db\"); c.execute(\"create table t(a)\")'",
    "[python3] python3 -c 'import socket,os; s=socket.socket(socket.AF_UNIX); s.bind(\"/tmp/s\"); s.listen(); \
     c=socket.socket(socket.AF_UNIX); c.connect(\"/tmp/s\"); print(1)'",
    "[python3] python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind(\"dev.sock\"); s.listen(); \
     c=socket.socket(socket.AF_UNIX); c.connect(\"dev.sock\"); print(1)'",
    "[python3] python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind(\"dev.sock\"); print(2)'",
    "[python3] python3 -m unittest discover -s tests 2>&1 | tail -1; true",
    "[node] echo 'console.log(1+1)' > src/a.js && node src/a.js",
    "[node] printf '{\"name\":\"x\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node src/a.js\"}}' > package.json",
    "[npm] npm test --silent",
    "[npm] mkdir -p node_modules/.bin && printf '#!/bin/sh\\necho bin\\n' > node_modules/.bin/b && \
     chmod +x node_modules/.bin/b && npx --no-install b",
    "[node] node -e 'const {fork}=require(\"child_process\");console.log(typeof fork)'",
    "[cc] printf 'int main(void){return 0;}' > src/a.c && cc -o a.out src/a.c && ./a.out",
    "[cc] cc -c src/a.c -o a.o && ar rcs liba.a a.o && rm a.o liba.a",
    "[cargo] cargo --version",
    "mkdir -p .github/workflows.d target/debug build dist && echo x > build/x",
    "diff -r docs docs && sort docs/readme.md | uniq -c",
    "for i in 1 2 3; do echo $i > src/$i.txt; done; ls src | wc -l",
    "ln -s docs/readme.md link && cat link && rm link",
    "chmod +x src/a.py && stat -c %a src/a.py",
    "(sleep 0.1; echo later) & wait",
    "ps aux | head -3; cat /proc/cpuinfo | head -1; nproc; free -m; uptime",
    "git init -q vendor/dep && git -C vendor/dep -c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
    "git -C vendor/dep log --oneline",
    "git clone -q vendor/dep copy && rm -rf copy",
    "git stash list; git blame Makefile 2>/dev/null; git ls-files; git rev-parse HEAD",
];

/// The same where commands may write the repository.
const WRITING: &[&str] = &[
    "echo new > n && git add -A && git -c user.name=a -c user.email=a@b commit -qm second",
    "git checkout -q -b feature && git checkout -q -",
    "git tag v1 && git branch -D feature",
    "echo more >> f && git add f && git stash -q 2>/dev/null; git status --short",
    "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m third && git reset -q --hard HEAD~1",
];

fn has(program: &str) -> bool {
    ["/usr/bin", "/bin"].iter().any(|folder| std::path::Path::new(folder).join(program).exists())
}

fn project(git: GitAccess) -> Place {
    let place = Place::with(|mut setting| {
        setting.shell.walls.git = git;
        Setting { guard: Some(guard()), ..setting }
    });
    let script = "git init -q . && echo x > f && git add f && \
        git -c user.name=a -c user.email=a@b commit -qm first";
    let made = Command::new("sh").args(["-c", script]).current_dir(place.root()).status();
    assert!(made.unwrap().success());
    place
}

#[tokio::test]
async fn ordinary_work_asks_nothing_and_fails_nowhere() {
    if Standing::here(&guard()).level() != Level::Full {
        println!("SKIPPED: without bubblewrap a person is asked where a repository is");
        return;
    }
    let (mut run, mut asked, mut failed) = (0, Vec::new(), Vec::new());
    for (git, commands) in [(GitAccess::Read, COMMANDS), (GitAccess::Write, WRITING)] {
        let place = project(git);
        for line in commands {
            let (needs, command) = match line.strip_prefix('[').and_then(|l| l.split_once("] ")) {
                Some((needs, command)) => (Some(needs), command),
                None => (None, *line),
            };
            if let Some(needs) = needs.filter(|needs| !has(needs)) {
                println!("SKIPPED  {command}: {needs} is not installed for everybody");
                continue;
            }
            run += 1;
            let args = json!({ "command": command });
            if place.tool("shell").judge(&args.to_string()).await != Judgement::AsSet {
                asked.push(command);
            }
            let seen = place.call("shell", args).await;
            if !seen.is_ok() || seen.text.contains("set-aside") {
                failed.push(format!("{command}: {}", seen.text));
            }
        }
    }
    println!("{run} commands, {} questions, {} failures", asked.len(), failed.len());
    assert!(asked.is_empty() && failed.is_empty(), "{asked:#?} {failed:#?}");
}

#[tokio::test]
async fn what_the_walls_cost_is_told() {
    let walled = project(GitAccess::Read);
    let open = Place::with(|setting| bare(Setting { guard: Some(guard()), ..setting }));
    let mut took = Vec::new();
    for place in [&open, &walled] {
        place.shell("true").await;
        let begun = Instant::now();
        for _ in 0..50 {
            place.shell("true").await;
        }
        took.push(begun.elapsed() / 50);
    }
    println!("a command costs {:?} without walls and {:?} with those here", took[0], took[1]);
}
