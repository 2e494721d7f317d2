//! A day of ordinary work in the sandbox: nothing is asked beyond the tool's own question, and
//! nothing fails. And what the sandbox costs.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, bare, guard};
use everloop_ports::CallPolicy;
use everloop_tools::{GitAccess, SandboxLevel, SandboxSupport, Setting};
use serde_json::json;
use std::process::Command;
use std::time::Instant;

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
    "pwd; whoami; id -u; date; env | sort | head -3",
    "cat Makefile | wc -l; head -1 Makefile; tail -1 Makefile",
    "grep -c goodbye docs/readme.md; grep -rl goodbye docs",
    "awk '{ print NR, $0 }' docs/readme.md",
    "cut -c1-3 docs/readme.md | tr a-z A-Z | rev",
    "find . -type f -not -path './.git/*' | sort | head -20",
    "find . -name '*.txt' -newer f -print0 | xargs -0 -r ls -l",
    "du -sh . 2>/dev/null; df -h . | tail -1",
    "git diff --stat; git log -1 --format=%H; git describe --always",
    "git show HEAD:f; git cat-file -p HEAD | head -2; git ls-tree -r HEAD",
    "git config --get core.bare; git remote -v; git branch --show-current",
    "git grep -n x; git log --all --graph --oneline | head",
    "git status --porcelain=v2 --branch; git diff --name-only HEAD",
    "git check-ignore -v nothing; true",
    "printf 'a\\nb\\nc\\n' > list && while read -r l; do echo \"- $l\"; done < list",
    "i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done",
    "test -f Makefile && echo yes || echo no",
    "cat > notes.md <<'EOF'\n# Notes\nit's fine\nEOF\nwc -l notes.md",
    "sort list | uniq | tee sorted | md5sum",
    "sha256sum Makefile docs/readme.md > sums && sha256sum -c sums",
    "gzip -k notes.md && zcat notes.md.gz | head -1 && rm notes.md.gz",
    "tar cf build/all.tar docs src && tar tf build/all.tar | wc -l && mkdir -p out && tar xf build/all.tar -C out",
    "cp -r docs docs2 && diff -r docs docs2 && rm -rf docs2",
    "mv notes.md docs/notes.md && sed -n 1p docs/notes.md",
    "chmod 644 list && chmod u+x src/a.py && ls -l src | head -3",
    "touch -d '2 days ago' list && stat -c %y list",
    "mktemp -d && d=$(mktemp) && echo x > $d && cat $d",
    "seq 1 100 | awk '{ s += $1 } END { print s }'",
    "date +%Y-%m-%d && sleep 0.05",
    "(cd src && ls *.txt) && pushd . >/dev/null 2>&1; true",
    "export NAME=x; echo \"$NAME ${NAME:-y}\"",
    "xxd f 2>/dev/null || od -c f",
    "basename src/a.py .py; dirname src/a.py; realpath src",
    "timeout 5 sh -c 'sleep 0.05; echo done'",
    "nohup sh -c 'echo bg' > bg.log 2>&1 & wait; cat bg.log",
    "kill -0 $$ && trap 'echo bye' EXIT",
    "[perl] perl -ne 'print if /goodbye/' docs/readme.md",
    "[perl] perl -pi -e 's/goodbye/hello/' docs/readme.md && cat docs/readme.md",
    "[python3] python3 --version; python3 -c 'import json; print(json.dumps({1: 2}))'",
    "[python3] python3 -m json.tool < /dev/null; true",
    "[python3] printf 'import unittest\\nclass T(unittest.TestCase):\\n    def test_a(self):\\n        self.assertEqual(1, 1)\\n' > tests/test_a.py && python3 -m unittest tests/test_a.py",
    "[python3] python3 -m pip list 2>/dev/null; python3 -m pip --version 2>/dev/null; true",
    "[python3] .venv/bin/python -m compileall -q src; ls .venv/bin | head -3",
    "[python3] python3 - <<'P'\nimport pathlib\nprint(len(list(pathlib.Path('.').rglob('*.txt'))))\nP",
    "[python3] python3 -m http.server --help > /dev/null",
    "[python3] python3 -c 'import tempfile, subprocess; print(subprocess.run([\"ls\"], cwd=tempfile.mkdtemp()).returncode)'",
    "[python3] python3 -c 'import threading; t=[threading.Thread(target=print, args=(i,)) for i in range(3)]; [x.start() for x in t]'",
    "[node] node --version; node -p '1+1'",
    "[node] node -e 'require(\"fs\").writeFileSync(\"out.js\", \"x\")' && cat out.js",
    "[npm] npm run 2>/dev/null | head -3; npm --version",
    "[node] mkdir -p node_modules/dep && echo 'module.exports = 7' > node_modules/dep/index.js && node -p 'require(\"dep\")'",
    "ls node_modules/.bin 2>/dev/null; PATH=$PWD/node_modules/.bin:$PATH; command -v sh",
    "[make] make -n test; make -s all",
    "[cc] cc --version | head -1; cc -O2 -Wall -o b.out src/a.c && ./b.out; rm -f b.out a.out",
    "[cargo] cargo --list > /dev/null",
    "curl -sS -m 2 http://192.0.2.1/ 2>&1 | head -1; true",
    "getent hosts example.com; true",
    "ping -c 1 -W 1 192.0.2.1 2>&1 | head -1; true",
    "ls /usr/share | head -2; ls ~ | head; echo $HOME $TMPDIR",
    "cat /etc/os-release | head -2; cat /etc/hosts | head -1; uname -a",
    "echo 'x = 1' > src/settings.toml && grep -n x src/settings.toml",
    "rm -f list sorted sums bg.log out.js; rm -rf out; ls",
    "git status --short | wc -l; git diff HEAD --stat | tail -1",
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
        setting.shell.sandbox.git = git;
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
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
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
            if place.tool("shell").judge(&args.to_string()).await != CallPolicy::Default {
                asked.push(command);
            }
            let seen = place.call("shell", args).await;
            if !seen.is_ok() || seen.text.contains("set-aside") {
                failed.push(format!("{command}: {}", seen.text));
            }
        }
    }
    println!("{run} commands, {} questions, {} failures", asked.len(), failed.len());
    println!("questions per 100 ordinary commands: {}", asked.len() * 100 / run);
    assert!(run >= 90, "only {run} commands could be tried");
    assert!(asked.is_empty() && failed.is_empty(), "{asked:#?} {failed:#?}");
}

#[tokio::test]
async fn what_the_sandbox_cost_is_told() {
    let sandboxed = project(GitAccess::Read);
    let open = Place::with(|setting| bare(Setting { guard: Some(guard()), ..setting }));
    let mut medians = Vec::new();
    for place in [&open, &sandboxed] {
        place.shell("true").await;
        let mut took = Vec::new();
        for _ in 0..51 {
            let begun = Instant::now();
            place.shell("true").await;
            took.push(begun.elapsed());
        }
        took.sort();
        medians.push(took[25]);
    }
    let more = medians[1].saturating_sub(medians[0]).as_secs_f64() * 1_000.0;
    println!(
        "a command costs {:?} without a sandbox, {:?} with the one here",
        medians[0], medians[1]
    );
    println!("overhead of the sandbox per command: {more:.1} ms");
}
