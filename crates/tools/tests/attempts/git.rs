//! Repositories: what a command leaves to the person's git, what our own git runs and shows.

use crate::leads::{self, LEADS};
use crate::support::{Place, guard};
use crate::told::{Stage, Told, Verdict, is_asked, tried};
use crate::ways::{self, WAYS, Way};
use everloop_tools::{SandboxMode, Setting};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

pub(crate) fn ids() -> Vec<&'static str> {
    let ways = WAYS.iter().map(|way| way.id);
    let leads = LEADS.iter().map(|(id, ..)| *id);
    ways.chain(leads).flat_map(|id| id.split(' ')).collect()
}

pub(crate) async fn tell(stage: Stage) -> Vec<Told> {
    let mut all = tried(WAYS, |way| async move {
        let name = format!("the person's git: {}", way.name);
        Told { id: way.id, name, verdict: left(stage, way).await }
    })
    .await;
    all.extend(
        tried(WAYS.iter().filter(|way| way.folders.contains(&".")), |way| async move {
            let name = format!("our git: {}", way.name);
            Told { id: way.id, name, verdict: Verdict::of(our_git(way).await) }
        })
        .await,
    );
    all.extend(
        tried(LEADS, |(id, name, script)| async move {
            let name = format!("git leads outside: {name}");
            Told { id, name, verdict: Verdict::of(shown(script).await) }
        })
        .await,
    );
    all
}

fn mark(place: &Place) -> PathBuf {
    place.root().parent().unwrap().join("mark")
}

fn given(place: &Place, script: &str) {
    let mut sh = Command::new("sh");
    sh.args(["-c", &ways::filled(script, &mark(place))]).current_dir(place.root());
    sh.env("HOME", place.root().parent().unwrap()).output().unwrap();
}

/// What the person's git runs after the commands; none if a person is asked about one of them.
async fn springs(way: &Way, sandbox: SandboxMode) -> Result<Option<bool>, String> {
    let place = Place::with(|mut setting| {
        setting.shell.sandbox.mode = sandbox;
        Setting { guard: Some(guard()), ..setting }
    });
    given(&place, way.given);
    let mark = mark(&place);
    for command in way.commands {
        let command = ways::filled(command, &mark);
        if sandbox == SandboxMode::Auto && is_asked(&place, &command).await? {
            return Ok(None);
        }
        place.shell(&command).await;
    }
    fs::remove_file(&mark).unwrap_or_default();
    ways::person(&place, way.folders, &mark);
    let _ = fs::set_permissions(place.root(), fs::Permissions::from_mode(0o755));
    Ok(Some(mark.exists()))
}

async fn left(stage: Stage, way: &Way) -> Verdict {
    match springs(way, SandboxMode::Auto).await {
        Err(why) => Verdict::Broken(why),
        Ok(None) => Verdict::Asked,
        Ok(Some(true)) => Verdict::Broken("the person's git ran it".to_owned()),
        Ok(Some(false)) if stage.proves => match springs(way, SandboxMode::Off).await {
            Ok(Some(true)) => Verdict::Held,
            _ => {
                Verdict::Broken("proves nothing: it is not run without a sandbox either".to_owned())
            }
        },
        Ok(Some(false)) => Verdict::Held,
    }
}

/// The same repositories, as they come out of an archive: our own git runs nothing of them.
async fn our_git(way: &Way) -> Option<String> {
    let place = Place::with(|setting| {
        // The tools are offered where a repository is.
        fs::create_dir(setting.workspace.join(".git")).unwrap();
        Setting { guard: Some(guard()), ..setting }
    });
    fs::remove_dir(place.path(".git")).unwrap();
    let mark = mark(&place);
    given(&place, way.given);
    way.commands.iter().for_each(|command| given(&place, command));
    let _ = fs::set_permissions(place.root(), fs::Permissions::from_mode(0o755));
    fs::remove_file(&mark).unwrap_or_default();
    let read = ["status", "diff"].map(|view| ("git_read", json!({ "view": view })));
    let commit = ("git_commit", json!({"message": "m", "paths": ["."]}));
    let push = ("git_push", json!({"remote": "origin", "branch": "master"}));
    let has_remote = way.commands.iter().chain([&way.given]).any(|text| text.contains("origin"));
    let calls = read.into_iter().chain([commit]).chain(has_remote.then_some(push));
    for (tool, args) in calls {
        let seen = place.call(tool, args.clone()).await;
        if mark.exists() {
            return Some(format!("{tool} {args} ran it: {}", seen.text));
        }
    }
    None
}

/// What git shows of what lies beside the workspace.
async fn shown(script: &str) -> Option<String> {
    let place = leads::place(script);
    let mut said = String::new();
    for view in ["status", "diff", "log"] {
        said += &place.call("git_read", json!({ "view": view })).await.text;
    }
    said += &place.call("git_commit", json!({"message": "m", "paths": ["."]})).await.text;
    said.contains("SECRET").then_some(said)
}
