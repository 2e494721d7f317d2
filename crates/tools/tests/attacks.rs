//! Attempts to reach by a tool what it must not reach: one table, each row with its result.
//!
//! Escapes from the shell have a table of their own in `walls`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "attacks/rows.rs"]
mod rows;
#[path = "support/server.rs"]
mod server;
mod support;

use everloop_tools::{Boxed, Done, Host, Http, Names, Resolve, Setting, WebSetting};
use everloop_types::{Ending, Observation};
use rows::{ADDRESSES, Address, NAMES, PATHS, Path, REDIRECTS};
use serde_json::{Value, json};
use server::{Reply, Server};
use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use support::{Place, context};

const SECRET: &str = "the secret";

/// A workspace in which everything has been prepared for an attempt.
struct Scene {
    place: Place,
    _socket: UnixListener,
}

impl Scene {
    fn new() -> Self {
        let place = Place::with(|setting| {
            let protected = vec![setting.workspace.join("data/own.db")];
            Setting { protected, ..setting }
        });
        place.write("inside/file", "harmless");
        place.write("data/own.db", SECRET);
        place.write(".git/config", "[core]");
        let outside = place.root().parent().unwrap().to_owned();
        fs::write(outside.join("linked"), "two names").unwrap();
        for (target, link) in [
            (place.secret(), "link"),
            (PathBuf::from("../secret"), "relative_link"),
            (PathBuf::from("link"), "link_to_link"),
            (PathBuf::from(".."), "up"),
            (PathBuf::from("/"), "top"),
            (outside.join("none"), "dangling"),
            (PathBuf::from("/dev/zero"), "zero"),
            (PathBuf::from("/proc/self/fd"), "fds"),
            (PathBuf::from("circle"), "circle"),
            (PathBuf::from("data/own.db"), "own_link"),
            (PathBuf::from(".git"), "git_link"),
        ] {
            symlink(target, place.path(link)).unwrap();
        }
        fs::hard_link(outside.join("linked"), place.path("hard")).unwrap();
        fs::hard_link(place.path("data/own.db"), place.path("own_hard")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(place.path("pipe")).status();
        assert!(made.unwrap().success());
        let _socket = UnixListener::bind(place.path("socket")).unwrap();
        Self { place, _socket }
    }

    /// Everything that must stay as it is.
    fn untouched(&self) -> Vec<(String, Option<String>)> {
        let outside = self.place.root().parent().unwrap().to_owned();
        let mut all: Vec<(String, Option<String>)> = fs::read_dir(&outside)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.display().to_string(), fs::read_to_string(&path).ok()))
            .collect();
        for inside in ["data/own.db", ".git/config"] {
            all.push((inside.to_owned(), Some(self.place.content(inside))));
        }
        all.sort();
        all
    }

    fn filled(&self, path: &str) -> String {
        path.replace("{root}", &self.place.root().display().to_string())
            .replace("{long}", &"n".repeat(5_000))
            .replace("{deep}", &"d/".repeat(5_000))
            .replace("{nul}", "\0")
    }
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

#[tokio::test]
async fn no_path_of_the_table_leads_where_it_must_not() {
    for (name, path, expected) in PATHS {
        let scene = Scene::new();
        let (path, before) = (scene.filled(path), scene.untouched());
        for (tool, args, changes) in file_calls(&path) {
            let seen = scene.place.call(tool, args).await;
            let told = || format!("{name}, {tool}: {seen:?}");
            assert!(!seen.text.contains(SECRET), "{}", told());
            match expected {
                // A folder that is wanted is told to be none; anything else would be news.
                Path::Refused(words) if tool == "list_dir" && !words.contains("outside") => {
                    assert!(!seen.is_ok(), "{}", told());
                }
                // A file that is there but may not be read has no lines.
                Path::Refused(words) if tool == "search_code" && !words.contains("outside") => {
                    assert!(!seen.text.contains(":1:"), "{}", told());
                }
                Path::Refused(words) => {
                    assert!(!seen.is_ok() && seen.text.contains(words), "{}", told());
                }
                Path::Fails => {
                    let all = path.is_empty() && !changes;
                    assert!(all || !seen.is_ok(), "{}", told());
                }
                Path::NotChanged(words) if tool == "write_file" => {
                    assert!(!seen.is_ok() && seen.text.contains(words), "{}", told());
                }
                Path::NotChanged(_) => assert!(!changes || !seen.is_ok(), "{}", told()),
                Path::Inside => assert!(tool != "write_file" || seen.is_ok(), "{}", told()),
                Path::Parted => assert!(tool == "list_dir" || seen.is_ok(), "{}", told()),
            }
            assert_eq!(scene.untouched(), before, "{}", told());
        }
    }
}

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

/// Answers by the table, and counts. A name may lead elsewhere at its second lookup.
#[derive(Debug, Default)]
struct Table {
    asked: AtomicUsize,
    next: Mutex<Vec<IpAddr>>,
}

impl Resolve for Table {
    fn resolve<'a>(&'a self, name: &'a str) -> Boxed<'a, io::Result<Vec<IpAddr>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let turns = name == "turns.example";
        let turn = self.next.lock().unwrap().pop().filter(|_| turns);
        let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, all)| *all);
        let listed = found.unwrap_or_default().iter().map(|ip| ip.parse().unwrap());
        let all = turn.into_iter().chain(listed).collect();
        Box::pin(async move { Ok(all) })
    }
}

fn web(names: &Arc<Table>, near: &[String]) -> Place {
    let names = Names(Arc::clone(names) as Arc<dyn Resolve>);
    let near: Vec<Host> = near.iter().filter_map(|host| Host::parse(host)).collect();
    let http = Http {
        hosts: NAMES.iter().filter_map(|(name, _)| Host::parse(name)).collect(),
        timeout_ms: 5_000,
        bytes_max: 10_000,
        names: names.clone(),
    };
    let web = WebSetting { near, timeout_ms: 5_000, bytes_max: 10_000, names };
    Place::with(|setting| Setting { web: Some(web), http, ..setting })
}

async fn fetched(place: &Place, url: &str) -> Observation {
    match place.tool("fetch_web").call(&json!({ "url": url }).to_string(), &context()).await {
        Done::Seen(seen) => seen,
        other => panic!("{url}: {other:?}"),
    }
}

#[tokio::test]
async fn no_address_of_the_table_is_called() {
    let server = Server::start(vec![]).await;
    let place = web(&Arc::default(), &[]);
    for (name, address, expected) in ADDRESSES {
        let url = address.replace("{port}", &server.port.to_string());
        let seen = fetched(&place, &url).await;
        let words = match expected {
            Address::Near => "not on the public network",
            Address::Looks(words) => words,
        };
        let told = format!("{name}: {url}: {seen:?}");
        assert!(seen.ending == Ending::Denied && seen.text.contains(words), "{told}");
    }
    assert_eq!(server.lines(), Vec::<String>::new());
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

fn moved(to: &str) -> Reply {
    Reply::Raw(format!(
        "HTTP/1.1 302 X\r\nlocation: {to}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    ))
}

fn page(text: &str) -> Reply {
    let head = "HTTP/1.1 200 X\r\ncontent-type: text/html\r\nconnection: close";
    Reply::Raw(format!("{head}\r\ncontent-length: {}\r\n\r\n{text}", text.len()))
}

#[tokio::test]
async fn every_redirect_of_the_table_is_looked_at_anew() {
    for (name, to, words) in REDIRECTS {
        let other = Server::start(vec![]).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let to = to.replace("{other}", &other.port.to_string()).replace("{port}", &port);
        let server = Server::on(listener, vec![moved(&to); 10]);
        let place = web(&Arc::default(), &[format!("127.0.0.1:{}", server.port)]);
        let seen = fetched(&place, &server.url("/")).await;
        let told = format!("{name}: {seen:?}");
        assert!(seen.ending == Ending::Denied && seen.text.contains(words), "{told}");
        assert_eq!(other.lines(), Vec::<String>::new(), "{told}");
        assert!(server.lines().len() <= 6, "{told}");
    }
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

/// The tables are as long as was promised.
#[test]
fn there_are_at_least_a_hundred_rows() {
    assert!(PATHS.len() + ADDRESSES.len() + REDIRECTS.len() >= 100);
}
