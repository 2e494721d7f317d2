//! A workspace in which everything has been prepared for an attempt by a file tool.

#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::support::Place;
use everloop_tools::Setting;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

pub(crate) const SECRET: &str = "the secret";

/// The workspace.
pub(crate) struct Scene {
    pub(crate) place: Place,
    _socket: UnixListener,
}

impl Scene {
    pub(crate) fn new() -> Self {
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
    pub(crate) fn untouched(&self) -> Vec<(String, Option<String>)> {
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

    pub(crate) fn filled(&self, path: &str) -> String {
        path.replace("{root}", &self.place.root().display().to_string())
            .replace("{long}", &"n".repeat(5_000))
            .replace("{deep}", &"d/".repeat(5_000))
            .replace("{nul}", "\0")
    }
}
