//! The tour: four scenes, real processes, nothing left behind.

use crate::support::Home;
use std::time::{Duration, Instant};

/// A home whose temporary files have a folder of their own.
fn home() -> Home {
    let home = Home::new();
    let folder = home.path("temporary");
    std::fs::create_dir_all(&folder).unwrap();
    let folder = folder.display().to_string();
    home.with("TMPDIR", &folder)
}

fn is_clean(home: &Home) -> bool {
    std::fs::read_dir(home.path("temporary")).unwrap().next().is_none()
}

#[test]
fn the_tour_shows_a_talk_an_approval_a_kill_and_the_agenda() {
    for (lang, parts) in [
        (
            "en",
            [
                "1/4",
                "## Why a journal",
                "--answer y",
                "`old-logs` is gone",
                "signal 9",
                "exactly one payment:\n    paid\n",
                "Verified:",
                "call Bob",
                "as it was before",
            ],
        ),
        (
            "zh-CN",
            [
                "1/4",
                "## 日志有什么用",
                "--answer y",
                "已删除",
                "信号 9",
                "只有一笔付款：\n    paid\n",
                "4/4",
                "给小王回电话",
                "恢复原样",
            ],
        ),
    ] {
        // Neither another database nor another model is used.
        let home = home().with("EVERLOOP_LANG", lang).with("EVERLOOP_MODEL", "openai/x");
        let tour = home.run(["tour"]).ends_with(0).stdout;
        for part in parts {
            assert!(tour.contains(part), "{part}: {tour}");
        }
        assert!(!tour.contains('\x1b'), "a pipe gets no colours: {tour}");
        assert!(!home.database().exists() && is_clean(&home), "nothing is left behind");
    }
}

#[test]
fn on_a_terminal_it_is_in_colour_and_a_key_goes_on_or_quits() {
    let home = home().with("TERM", "xterm");
    let began = Instant::now();
    let mut tour = home.on_terminal(["tour"]);
    tour.until("q: quit").presses(b' ');
    tour.until("2/4").until("q: quit").presses(b'q');
    let seen = tour.ended().ends_with(0).stdout;
    assert!(seen.contains("\x1b[1;36m") && !seen.contains("3/4"), "{seen}");
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(is_clean(&home), "the folder goes, also when somebody quits");
}

#[test]
fn a_tour_that_is_asked_to_end_leaves_nothing_behind() {
    let home = home().with("TERM", "xterm");
    let mut tour = home.on_terminal(["tour"]);
    tour.until("1/4").until("$ everloop").terminate();
    tour.ended();
    assert!(is_clean(&home), "its folder is still there");
}
