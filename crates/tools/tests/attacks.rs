//! Attempts that need more than a row: races, and names that change between two looks.
//!
//! The rows of `attacks` are tried by `attempts`, with all others.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::attack_web::{Table, fetched, moved, page, web};
use crate::file_scene::{SECRET, Scene};
use crate::server::Server;
use everloop_types::Ending;
use serde_json::json;
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// While another thread flips a folder between one inside and one outside.
#[tokio::test]
async fn a_link_that_is_swapped_under_an_edit_or_a_search_leads_nowhere() {
    let scene = Scene::new();
    let place = &scene.place;
    place.write("real/file", "harmless e");
    let outside = place.root().parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), format!("{SECRET} e")).unwrap();
    fs::create_dir(place.path("spare")).unwrap();
    symlink("real", place.path("flip")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flipper = std::thread::spawn({
        let (stop, outside) = (stop.clone(), outside.clone());
        let (link, path) = (place.path("spare/flip"), place.path("flip"));
        move || {
            while !stop.load(Ordering::SeqCst) {
                for target in [outside.as_path(), std::path::Path::new("real")] {
                    symlink(target, &link).unwrap();
                    fs::rename(&link, &path).unwrap();
                }
            }
        }
    });
    for n in 0..200 {
        let found = place.call("search_code", json!({"path": "flip", "query": "e"})).await;
        assert!(!found.text.contains(SECRET), "{found:?}");
        place.write("real/file", format!("harmless e {n}"));
        let edit = json!({"path": "flip/file", "old": " e", "new": " x"});
        place.call("edit_file", edit).await;
    }
    stop.store(true, Ordering::SeqCst);
    flipper.join().unwrap();
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), format!("{SECRET} e"));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

/// A host that was allowed by its name is not followed home either.
#[tokio::test]
async fn requests_to_allowed_names_go_through_the_same_guard() {
    let server = Server::start(vec![]).await;
    let place = web(&Arc::default(), &[]);
    for name in ["home.example", "mixed.example", "mapped.example", "a.localhost"] {
        let url = format!("http://{name}:{}/", server.port);
        for (tool, args) in [
            ("http_get", json!({ "url": url })),
            ("http_send", json!({ "method": "POST", "url": url })),
        ] {
            let seen = place.call(tool, args).await;
            assert_eq!(seen.ending, Ending::Denied, "{tool} {url}: {}", seen.text);
        }
    }
    assert_eq!(server.lines(), Vec::<String>::new());
}

/// Between a check and its use nobody is asked again: the second answer would be another one.
#[tokio::test]
async fn a_name_is_looked_up_once_for_each_hop_and_the_address_that_was_checked_is_called() {
    let server = Server::start(vec![moved("/next"), page("<p>here</p>")]).await;
    let host = format!("turns.example:{}", server.port);
    let names = Arc::new(Table::default());
    let home: IpAddr = "127.0.0.1".parse().unwrap();
    // Answers are taken from the end; nobody listens at the third.
    *names.next.lock().unwrap() = vec!["127.0.0.9".parse().unwrap(), home, home];
    let place = web(&names, std::slice::from_ref(&host));
    let seen = fetched(&place, &format!("http://{host}/")).await;
    assert!(seen.is_ok() && seen.text.contains("here"), "{seen:?}");
    assert_eq!(names.asked.load(Ordering::SeqCst), 2, "one lookup for each of two hops");
    assert_eq!(server.lines().len(), 2);
}

/// A name that was public for the first hop and leads home at the second.
#[tokio::test]
async fn a_name_that_turns_home_between_two_hops_is_not_followed() {
    let other = Server::start(vec![]).await;
    let to = format!("http://turns.example:{}/", other.port);
    let server = Server::start(vec![moved(&to)]).await;
    let names = Arc::new(Table::default());
    *names.next.lock().unwrap() = vec!["127.0.0.1".parse().unwrap()];
    let place = web(&names, &[format!("127.0.0.1:{}", server.port)]);
    let seen = fetched(&place, &server.url("/")).await;
    assert_eq!(seen.ending, Ending::Denied, "{seen:?}");
    assert_eq!(other.lines(), Vec::<String>::new());
}
