//! Undoing what runs did to files: `runs undo`, `/undo`, `/rewind`.

use crate::support::{Home, Terminal, calls, of_type, says, short};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const RUN: [&str; 4] = ["run", "--loop", "react", "--yes"];

fn write(path: &str, content: &str) -> Value {
    calls("write_file", json!({ "path": path, "content": content }))
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    calls("edit_file", json!({ "path": path, "old": old, "new": new }))
}

/// Plays a script as one run; its id.
fn ran(home: &Home, replies: &[Value]) -> String {
    home.rewrite(replies);
    home.run(RUN.into_iter().chain(["change files"])).ends_with(0);
    home.newest()
}

fn with_file(name: &str, content: &[u8]) -> Home {
    let home = Home::scripted(&[]);
    if let Some(folder) = home.work(name).parent() {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(home.work(name), content).unwrap();
    home
}

/// A chat through a pipe; what it answered.
fn chat(home: &Home, lines: &[&str]) -> String {
    let mut chat = home.piped(["chat", "--loop", "react"]);
    chat.hears(lines);
    chat.ended().ends_with(0).stdout
}

fn undo<'a>(home: &Home, run: &'a str, more: &[&'a str]) -> crate::support::Finished {
    home.run(["runs", "undo", run].iter().chain(more))
}

#[test]
fn edited_new_and_binary_files_are_as_they_were_and_back_again() {
    let home = with_file("src/a.rs", b"one\ntwo\nthree\n");
    fs::write(home.work("bin.dat"), b"\0\x01\xff").unwrap();
    fs::set_permissions(home.work("bin.dat"), fs::Permissions::from_mode(0o640)).unwrap();
    let run = ran(
        &home,
        &[
            edit("src/a.rs", "two", "zwei"),
            write("bin.dat", "text"),
            write("new/deep/b.txt", "fresh\n"),
            edit("src/a.rs", "three", "drei"),
            says("Done."),
        ],
    );
    assert_eq!(home.read("src/a.rs"), "one\nzwei\ndrei\n");
    let undone = undo(&home, &run, &[]).ends_with(0).stdout;
    assert_eq!(undone, "restored bin.dat\nremoved new/deep/b.txt\nrestored src/a.rs\n");
    assert_eq!(home.read("src/a.rs"), "one\ntwo\nthree\n");
    assert_eq!(fs::read(home.work("bin.dat")).unwrap(), b"\0\x01\xff");
    let mode = fs::metadata(home.work("bin.dat")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(!home.work("new").exists());
    let again = undo(&home, &run, &[]).ends_with(0).stdout;
    assert!(again.lines().all(|line| line.ends_with("is already as it should be")), "{again}");
    let redone = undo(&home, &run, &["--redo"]).ends_with(0).stdout;
    assert_eq!(redone, "restored bin.dat\ncreated new/deep/b.txt again\nrestored src/a.rs\n");
    assert_eq!(home.read("src/a.rs"), "one\nzwei\ndrei\n");
    assert_eq!(home.read("new/deep/b.txt"), "fresh\n");
    undo(&home, &run, &["--redo"]).ends_with(2).says(&["Nothing to redo for"]);
    let report = undo(&home, &run, &["--json"]).ends_with(0).json();
    assert_eq!((&report["run_id"], &report["kind"]), (&json!(run), &json!("undo")));
    assert_eq!(report["files"][1], json!({"path": "new/deep/b.txt", "result": "removed"}));
    assert!(!home.work("new").exists());
    home.verified(&run);
}

#[test]
fn a_change_has_a_diff_for_people_and_the_model_reads_none() {
    let home = with_file("a.txt", b"one\ntwo\n");
    home.rewrite(&[edit("a.txt", "two", "zwei\n\u{1b}[2Jdrei"), says("Done.")]);
    let shown = home.run(RUN.into_iter().chain(["change"])).ends_with(0);
    let shown = shown.says(&["a.txt  +2 -1", "  -two", "  +zwei", "  +drei"]);
    assert!(!shown.stderr.contains('\u{1b}'), "{}", shown.stderr);
    let run = home.newest();
    let events = home.events(&run);
    let ended = of_type(&events, "tool.completed")[0];
    let change = &ended["change"];
    assert_eq!((&change["path"], &change["kept"]), (&json!("a.txt"), &json!(true)));
    assert_eq!((&change["added"], &change["removed"]), (&json!(2), &json!(1)));
    assert_eq!(change["diff"][0], "@@ -1,2 +1,3 @@");
    assert!(!ended["result"].as_str().unwrap().contains("zwei"), "{ended}");
    let whole = home.run(["runs", "show", &run, "--diff"]).ends_with(0).stdout;
    assert!(whole.contains("-two") && whole.contains("+zwei"), "{whole}");
    let list = undo(&home, &run, &["--list"]).ends_with(0).stdout;
    assert!(list.starts_with("  1  ") && list.contains("edit_file   +2 -1     a.txt"), "{list}");
    assert_eq!(home.read("a.txt"), "one\nzwei\n\u{1b}[2Jdrei\n");
}

#[test]
fn only_the_changes_from_a_step_on_are_undone() {
    let home = with_file("a.txt", b"0\n");
    let run = ran(
        &home,
        &[write("a.txt", "1\n"), write("a.txt", "2\n"), write("b.txt", "b\n"), says("Done.")],
    );
    let list = undo(&home, &run, &["--list", "--json"]).ends_with(0).json();
    assert_eq!(list["changes"].as_array().unwrap().len(), 3);
    assert_eq!(list["changes"][1]["path"], "a.txt");
    undo(&home, &run, &["--to", "4"]).ends_with(2).says(&["has no change 4"]);
    let undone = undo(&home, &run, &["--to", "2"]).ends_with(0).stdout;
    assert_eq!(undone, "restored a.txt\nremoved b.txt\n");
    assert_eq!(home.read("a.txt"), "1\n");
}

#[test]
fn a_file_that_somebody_changed_since_is_left_and_the_others_are_restored() {
    for (lang, words) in [
        ("en", "a.txt was changed since (by someone else or by a command); left as it is"),
        ("zh-CN", "a.txt 后来又被改过（被别人或某条命令），保持原样"),
    ] {
        let home = with_file("a.txt", b"a\n").with("EVERLOOP_LANG", lang);
        fs::write(home.work("b.txt"), "b\n").unwrap();
        let run = ran(&home, &[write("a.txt", "A\n"), write("b.txt", "B\n"), says("Done.")]);
        fs::write(home.work("a.txt"), "mine\n").unwrap();
        let undone = undo(&home, &run, &[]).ends_with(1).stdout;
        assert!(undone.contains(words), "{undone}");
        assert_eq!((home.read("a.txt"), home.read("b.txt")), ("mine\n".into(), "b\n".into()));
        // Also a file that is gone was changed.
        fs::remove_file(home.work("a.txt")).unwrap();
        let report = undo(&home, &run, &["--json"]).ends_with(1).json();
        assert_eq!(report["files"][0]["result"], "refused");
        assert_eq!(report["files"][0]["why"], "changed");
        assert!(!home.work("a.txt").exists());
    }
}

#[test]
fn of_two_runs_on_one_file_the_later_is_undone_first() {
    let home = with_file("a.txt", b"0\n");
    let first = ran(&home, &[write("a.txt", "1\n"), says("Done.")]);
    let second = ran(&home, &[write("a.txt", "2\n"), says("Done.")]);
    let refused = undo(&home, &first, &[]).ends_with(1).stdout;
    assert!(refused.contains(&format!("a.txt was changed since by {second}")), "{refused}");
    assert_eq!(home.read("a.txt"), "2\n");
    undo(&home, &second, &[]).ends_with(0);
    undo(&home, &first, &[]).ends_with(0);
    assert_eq!(home.read("a.txt"), "0\n");
}

#[test]
fn a_link_that_was_put_in_the_way_is_not_followed() {
    let home = with_file("in/a.txt", b"old\n");
    let outside = home.path("outside");
    fs::create_dir(&outside).unwrap();
    let run = ran(&home, &[write("in/a.txt", "new\n"), write("b.txt", "new\n"), says("Done.")]);
    fs::remove_dir_all(home.work("in")).unwrap();
    fs::remove_file(home.work("b.txt")).unwrap();
    for file in ["a.txt", "b.txt"] {
        fs::write(outside.join(file), "new\n").unwrap();
    }
    symlink(&outside, home.work("in")).unwrap();
    symlink(outside.join("b.txt"), home.work("b.txt")).unwrap();
    let refused = undo(&home, &run, &[]).ends_with(1).stdout;
    let links = refused.lines().filter(|line| line.contains("is a symbolic link now")).count();
    assert_eq!(links, 2, "{refused}");
    for file in ["a.txt", "b.txt"] {
        assert_eq!(fs::read_to_string(outside.join(file)).unwrap(), "new\n", "{file}");
    }
}

#[test]
fn commands_are_named_as_what_an_undo_does_not_cover() {
    let home = with_file("a.txt", b"old\n");
    let run = ran(
        &home,
        &[
            calls("shell", json!({"command": "echo by hand > c.txt"})),
            write("a.txt", "new\n"),
            says("Done."),
        ],
    );
    let undone = undo(&home, &run, &[]).ends_with(0).stdout;
    let line = "1 command may have changed other files; those are not undone";
    assert_eq!(undone, format!("restored a.txt\n{line}\n"));
    assert_eq!(home.read("c.txt"), "by hand\n");
    let quiet = ran(&home, &[says("Nothing to do.")]);
    let nothing = undo(&home, &quiet, &[]).ends_with(0).stdout;
    assert_eq!(nothing, format!("{} changed no files\n", short(&quiet)));
}

#[test]
fn a_run_that_still_works_is_not_undone() {
    let home = with_file("a.txt", b"old\n");
    let asks = calls("ask_user", json!({"question": "Which one?"}));
    home.rewrite(&[write("a.txt", "new\n"), asks, says("Done.")]);
    home.run(RUN.into_iter().chain(["change"])).ends_with(3);
    let run = home.newest();
    undo(&home, &run, &[]).ends_with(2).says(&["is still working", "runs cancel"]);
    assert_eq!(home.read("a.txt"), "new\n");
    home.run(["runs", "cancel", &run]).ends_with(0);
    undo(&home, &run, &[]).ends_with(0);
    assert_eq!(home.read("a.txt"), "old\n");
}

#[test]
fn copies_are_private_bounded_and_go_with_their_run() {
    let home = with_file("a.txt", b"old\n").with("EVERLOOP_STORE__CHECKPOINT_FILE", "1KB");
    fs::write(home.work("large.txt"), "x".repeat(1_001)).unwrap();
    let run = ran(&home, &[write("a.txt", "1\n"), write("large.txt", "2\n"), says("Done.")]);
    let folder = home.data().join("checkpoints").join(&run);
    let copies: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(copies[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let undone = undo(&home, &run, &[]).ends_with(1).stdout;
    assert!(undone.contains("restored a.txt"), "{undone}");
    assert!(undone.contains("large.txt: its earlier content is no longer kept"), "{undone}");
    assert_eq!(home.read("large.txt"), "2\n");
    home.run(["runs", "delete", &run, "--yes"]).ends_with(0);
    assert!(!folder.exists());
}

/// Wherever the kill comes, the file is unchanged or the change can be undone.
#[test]
fn a_run_that_was_killed_around_a_change_is_undone_as_a_whole() {
    for kill_after in 1..=4 {
        let home = with_file("a.txt", b"0\n");
        let mut replies: Vec<Value> = (1..=4).map(|n| write("a.txt", &format!("{n}\n"))).collect();
        replies.push(write("new/b.txt", "b\n"));
        replies.push(says("Done."));
        home.rewrite(&replies);
        let args = RUN.into_iter().chain(["--output-format", "stream-json", "change"]);
        let mut first = home.spawn(args);
        for _ in 0..kill_after {
            first.until("tool.started");
        }
        first.kill9();
        let run = home.newest();
        home.run(["runs", "cancel", &run]);
        if home.status(&run) != "canceled" {
            home.run(["runs", "resume", &run]);
        }
        undo(&home, &run, &[]).ends_with(0);
        assert_eq!(home.read("a.txt"), "0\n", "killed after {kill_after}");
        assert!(!home.work("new").exists());
    }
}

/// Replies for each goal. A goal is told of earlier ones, so the newest comes first.
fn by_goal(home: &Home, goals: &[(&str, &[Value])]) {
    let other = |(goal, replies): &(&str, &[Value])| json!({"goal": goal, "replies": replies});
    let others: Vec<Value> = goals.iter().map(other).collect();
    let script = json!({"replies": [], "others": others}).to_string();
    fs::write(home.path("script.json"), script).unwrap();
}

/// Everything on record of the newest run, with what its model was told.
fn newest_on_record(home: &Home) -> String {
    home.run(["export", &home.newest()]).ends_with(0).stdout
}

#[test]
fn an_undo_in_the_chat_is_told_to_the_model_with_the_next_goal() {
    let home = with_file("a.txt", b"old\n");
    by_goal(
        &home,
        &[
            ("and now?", &[says("I see.")]),
            ("write it", &[write("a.txt", "new\n"), says("I wrote it.")]),
        ],
    );
    let said = chat(&home, &["write it", "/undo", "/undo", "/undo redo", "/undo", "and now?"]);
    let expected = "restored a.txt\nThere is nothing to undo in this conversation\nrestored a.txt\n\
                    restored a.txt\n";
    assert!(said.contains(expected), "{said}");
    assert_eq!(home.read("a.txt"), "old\n");
    let told = newest_on_record(&home);
    let undid = "note: the user undid changes to files; they are as they were before: \
                 restored a.txt";
    assert!(told.contains(undid) && told.contains("made undone changes to files again"), "{told}");
}

#[test]
fn a_rewind_restores_every_later_turn_and_the_model_forgets_them() {
    let home = with_file("a.txt", b"0\n");
    by_goal(
        &home,
        &[
            ("goal four", &[says("Fourth.")]),
            ("goal three", &[write("a.txt", "3\n"), says("Third.")]),
            ("goal two", &[write("a.txt", "2\n"), says("Second.")]),
            ("goal one", &[write("a.txt", "1\n"), says("First.")]),
        ],
    );
    let lines = ["goal one", "goal two", "goal three", "/rewind", "/rewind 2 all", "goal four"];
    let said = chat(&home, &lines);
    let back = "Back to before: goal two\nrestored a.txt\nrestored a.txt\nThe model no longer sees";
    for words in ["  1  goal three", "1 changed file\n", back] {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
    assert_eq!(home.read("a.txt"), "1\n");
    let told = newest_on_record(&home);
    assert!(told.contains("goal one") && told.contains("First."), "{told}");
    for forgotten in ["goal two", "Third.", "rewound", "the user undid"] {
        assert!(!told.contains(forgotten), "{forgotten}: {told}");
    }
}

#[test]
fn at_a_terminal_a_rewind_lets_the_person_pick() {
    let home = with_file("a.txt", b"0\n").with("TERM", "xterm").with("NO_COLOR", "1");
    home.rewrite(&[write("a.txt", "1\n"), says("Written.")]);
    let mut chat: Terminal = home.on_terminal(["chat", "--loop", "react"]);
    chat.until("You › ").types("write it");
    chat.until("+1 -1").until("-0").until("+1").until("Written.").until("You › ").types("/rewind");
    chat.until("Go back to before which turn?").until("› write it").types("");
    chat.until("What should go back?").until("› Files only").types("");
    chat.until("Back to before: write it").until("restored a.txt").until("You › ").presses(4);
    chat.ended().ends_with(0);
    assert_eq!(home.read("a.txt"), "0\n");
}
