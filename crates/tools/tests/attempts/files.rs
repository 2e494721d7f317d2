//! Paths that are given to every file tool, and files that others take instructions from.

use crate::file_scene::{SECRET, Scene};
use crate::rows::{FileGoal, INSTRUCTIONS, PATHS, Path};
use crate::support::Place;
use crate::told::{Stage, Told, Verdict, tried};
use everloop_ports::CallPolicy;
use everloop_types::Observation;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

pub(crate) async fn tell(_: Stage) -> Vec<Told> {
    let mut all = tried(PATHS, |(name, path, expected)| async move {
        let verdict = Verdict::of(leads_astray(path, *expected).await);
        Told { id: "", name: format!("a path: {name}"), verdict }
    })
    .await;
    all.extend(
        tried(INSTRUCTIONS, |(name, link, goal)| async move {
            let verdict = Verdict::of(written_unasked(link, *goal).await);
            Told { id: "", name: format!("instructions: {name}"), verdict }
        })
        .await,
    );
    all
}

/// Every tool that takes a path, and whether it changes files.
fn file_calls(path: &str) -> [(&'static str, Value, bool); 5] {
    [
        ("read_file", json!({"path": path}), false),
        ("list_dir", json!({"path": path}), false),
        ("search_code", json!({"path": path, "query": "e"}), false),
        ("edit_file", json!({"path": path, "old": "e", "new": "x"}), true),
        ("write_file", json!({"path": path, "content": "x"}), true),
    ]
}

/// A tool that takes a path and is not tried would go unnoticed.
#[test]
fn every_tool_that_takes_a_path_is_tried() {
    let place = Place::new();
    let tried: BTreeSet<&str> = file_calls("").iter().map(|(tool, ..)| *tool).collect();
    // A tool that is not offered here needs more than files, such as a model.
    let spec = |name: &str| place.registry.get(name).map(|tool| tool.spec().clone());
    let takes_path = |name: &&str| {
        spec(name).is_some_and(|spec| spec.schema["properties"].get("path").is_some())
    };
    let names = everloop_tools::BUILT_IN.iter().map(|tool| tool.name);
    let found: BTreeSet<&str> = names.filter(takes_path).collect();
    assert_eq!(found, tried, "give a new one a row in file_calls");
}

async fn leads_astray(path: &str, expected: Path) -> Option<String> {
    let scene = Scene::new();
    let (path, before) = (scene.filled(path), scene.untouched());
    for (tool, args, changes) in file_calls(&path) {
        let seen = scene.place.call(tool, args).await;
        let is_right = !seen.text.contains(SECRET)
            && came_of(expected, tool, changes, path.is_empty(), &seen)
            && scene.untouched() == before;
        if !is_right {
            return Some(format!("{tool}: {seen:?}"));
        }
    }
    None
}

/// Whether a tool answered as it must.
fn came_of(expected: Path, tool: &str, changes: bool, is_all: bool, seen: &Observation) -> bool {
    match expected {
        // A folder that is wanted is told to be none; anything else would be news.
        Path::Refused(words) if tool == "list_dir" && !words.contains("outside") => !seen.is_ok(),
        // A file that is there but may not be read has no lines.
        Path::Refused(words) if tool == "search_code" && !words.contains("outside") => {
            !seen.text.contains(":1:")
        }
        Path::Refused(words) => !seen.is_ok() && seen.text.contains(words),
        Path::Fails => is_all && !changes || !seen.is_ok(),
        Path::NotChanged(words) if tool == "write_file" => {
            !seen.is_ok() && seen.text.contains(words)
        }
        Path::NotChanged(_) => !changes || !seen.is_ok(),
        Path::Inside => tool != "write_file" || seen.is_ok(),
        Path::Parted => tool == "list_dir" || seen.is_ok(),
    }
}

/// Whether a file tool would write what others obey, and nobody is asked.
async fn written_unasked(path: &str, goal: FileGoal) -> Option<String> {
    let place = Place::sandboxed();
    if let FileGoal::Link(goal) = goal {
        fs::create_dir_all(place.path(path).parent().unwrap()).unwrap();
        symlink(goal, place.path(path)).unwrap();
    }
    for (tool, args) in [
        ("write_file", json!({"path": path, "content": "x"})),
        ("edit_file", json!({"path": path, "old": "x", "new": "y"})),
    ] {
        let judged = place.tool(tool).judge(&args.to_string()).await;
        if judged == CallPolicy::Sensitive {
            continue;
        }
        let seen = place.call(tool, args).await;
        if seen.is_ok() || place.path(path).exists() {
            return Some(format!("{tool}: {judged:?}, {seen:?}"));
        }
    }
    None
}
