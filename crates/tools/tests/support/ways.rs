//! Ways of a command to leave a repository that runs a trap, and a person who then works there.

#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::support::{Place, guard};
use everloop_tools::{Level, Sandbox, Setting, Standing};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a trap does: it says so outside the workspace, and hands on what it was given.
const TRAP: &str = "touch {mark}; cat";

/// A command's ways to leave a repository that runs a trap, and where the person then works.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    /// What the person has before: run without walls.
    pub(crate) given: &'static str,
    pub(crate) commands: &'static [&'static str],
    /// Folders in which the person runs git.
    pub(crate) folders: &'static [&'static str],
}

const NEW: &str = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
    GIT_COMMITTER_EMAIL=a@b; ";

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
    text.replace("{new}", NEW).replace("{trap}", &trap)
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
async fn springs(way: &Way, sandbox: Sandbox) -> (bool, String) {
    let place = Place::with(|mut setting| {
        setting.shell.walls.sandbox = sandbox;
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

/// Runs all of them with walls, where none may spring the trap, and without, where each must.
pub(crate) async fn all_are_held(ways: &[Way]) {
    if Standing::here(&guard()).level() == Level::None {
        println!("SKIPPED: no wall stands here, so a person is asked about every command");
        return;
    }
    let is_full = Standing::here(&guard()).level() == Level::Full;
    let (mut held, mut wrong) = (0, Vec::new());
    for way in ways {
        if !is_full && !way.given.is_empty() {
            println!("SKIPPED  {}: Landlock alone asks where a repository is", way.name);
            continue;
        }
        let (sprung, said) = springs(way, Sandbox::Auto).await;
        println!("{}  {}: {}", if sprung { "BROKEN" } else { "held" }, way.name, said.trim());
        let (would, _) = springs(way, Sandbox::Off).await;
        match (sprung, would) {
            (true, _) => wrong.push(way.name.to_owned()),
            (false, false) => wrong.push(format!("{} proves nothing", way.name)),
            (false, true) => held += 1,
        }
    }
    println!("{held} of {} held", ways.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
