//! The file tools on real files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, intent, unknown};
use everloop_ports::{CallContext, CallPolicy};
use everloop_types::{Approval, Observation};
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

/// The hash that `read_file` shows of a content.
fn hash(content: &str) -> String {
    everloop_types::digest_bytes(content.as_bytes())[..12].to_owned()
}

fn error(text: &str) -> Observation {
    Observation::error(text)
}

#[tokio::test]
async fn a_file_is_read_by_relative_and_by_absolute_path() {
    let place = Place::new();
    place.write("a/notes.txt", "one\ntwo\n");
    let expected = Observation::ok("one\ntwo\n");
    assert_eq!(place.read("a/notes.txt").await, expected);
    assert_eq!(place.read("./a/../a/notes.txt").await, expected);
    assert_eq!(place.read(place.path("a/notes.txt")).await, expected);
}

#[tokio::test]
async fn a_file_is_read_from_a_line_on_and_its_hash_is_that_of_the_whole() {
    let place = Place::new();
    place.write("file", "one\ntwo\nthree");
    let hash = hash("one\ntwo\nthree");
    let from = async |line: usize| {
        place.call("read_file", json!({"path": "file", "from_line": line, "hash": true})).await.text
    };
    assert_eq!(from(2).await, format!("two\nthree\n[hash {hash}; no newline at the end]"));
    assert_eq!(from(0).await, format!("one\ntwo\nthree\n[hash {hash}; no newline at the end]"));
    assert_eq!(from(9).await, format!("[hash {hash}; no newline at the end]"));
    place.write("empty", "");
    let empty = place.call("read_file", json!({"path": "empty", "hash": true})).await;
    assert_eq!(empty.text, format!("[hash {}]", self::hash("")));
    let plain = place.call("read_file", json!({"path": "file", "from_line": 3})).await;
    assert_eq!(plain, Observation::ok("three"));
}

#[tokio::test]
async fn what_cannot_be_read_is_told() {
    let place = Place::new();
    place.write("a/b", "x");
    assert_eq!(place.read("none").await, error("none does not exist"));
    assert_eq!(place.read("a").await, error("a is a folder, not a file; use list_dir"));
    assert_eq!(place.read("a/b/c").await.ending, everloop_types::Ending::Error);
}

#[tokio::test]
async fn no_path_leads_out_of_the_workspace() {
    let place = Place::new();
    place.write("inside/file", "x");
    symlink(place.secret(), place.path("link")).unwrap();
    symlink("../secret", place.path("relative_link")).unwrap();
    symlink("..", place.path("up")).unwrap();
    symlink("/", place.path("top")).unwrap();
    let secret = place.secret().display().to_string();
    let beside = format!("{}-beside/x", place.root().display());
    let climbing = format!("{}/../secret", place.root().display());
    let paths = [
        "../secret",
        "inside/../../secret",
        "/etc/passwd",
        "/proc/self/environ",
        "link",
        "relative_link",
        "up/secret",
        "top/etc/passwd",
        &secret,
        &beside,
        &climbing,
    ];
    for path in paths {
        let expected = format!("{path} leads outside the workspace; use a path relative to it");
        for (tool, args) in [
            ("read_file", json!({ "path": path })),
            ("list_dir", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "overwritten" })),
        ] {
            assert_eq!(place.call(tool, args).await, error(&expected), "{tool}");
        }
    }
    assert_eq!(std::fs::read_to_string(place.secret()).unwrap(), "the secret");
}

/// While another thread flips a path between a file and a link to the outside, no read sees the
/// secret and no write reaches it.
#[tokio::test]
async fn a_link_that_appears_between_check_and_use_leads_nowhere() {
    let place = Place::new();
    place.write("real/file", "harmless");
    std::fs::create_dir(place.path("spare")).unwrap();
    let (path, link) = (place.path("flip"), place.path("spare/flip"));
    let outside = place.root().parent().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "the secret").unwrap();
    // There from the beginning, so that no write makes a folder of that name.
    symlink("real", &path).unwrap();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flipper = std::thread::spawn({
        let (stop, outside) = (stop.clone(), outside.clone());
        move || {
            while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                for target in [outside.as_path(), std::path::Path::new("real")] {
                    symlink(target, &link).unwrap();
                    std::fs::rename(&link, &path).unwrap();
                }
            }
        }
    });
    for n in 0..300 {
        let seen = place.read("flip/file").await;
        assert!(!seen.text.contains("the secret"), "{seen:?}");
        let args = json!({ "path": "flip/file", "content": format!("{n}") });
        place.call("write_file", args).await;
    }
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    flipper.join().unwrap();
    assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "the secret");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[tokio::test]
async fn pipes_devices_and_sockets_are_refused_without_being_opened() {
    let place = Place::new();
    let status = std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap();
    assert!(status.success());
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    for name in ["pipe", "socket"] {
        let expected = error(&format!("{name} is neither a file nor a folder"));
        assert_eq!(place.read(name).await, expected);
        let args = json!({ "path": name, "content": "x" });
        assert_eq!(place.call("write_file", args).await, expected);
    }
}

#[tokio::test]
async fn binary_files_are_described_and_odd_bytes_are_replaced() {
    let place = Place::new();
    place.write("image", b"\x89PNG\0\0data");
    place.write("odd", b"caf\xe9 \x1b[31mred\x1b[0m");
    assert_eq!(place.read("image").await, error("image is a binary file of 10 bytes; not shown"));
    assert_eq!(place.read("odd").await, Observation::ok("caf\u{fffd} red"));
}

#[tokio::test]
async fn a_long_file_is_cut_by_lines_and_a_huge_one_is_not_read_whole() {
    let place = Place::new();
    place.write("long", "0123456789\n".repeat(10_000));
    let seen = place.read("long").await.text;
    assert!(seen.chars().count() <= 10_000);
    assert!(seen.ends_with("0123456789\n[9094 lines left out]"), "{}", &seen[seen.len() - 60..]);

    let huge = std::fs::File::create(place.path("huge")).unwrap();
    std::io::Write::write_all(&mut &huge, "x\n".repeat(1_500_000).as_bytes()).unwrap();
    let seen = place.read("huge").await.text;
    assert!(seen.chars().count() <= 10_000);
    assert!(seen.ends_with("[only the first 2000000 of 3000000 bytes were read]"));
}

#[tokio::test]
async fn a_folder_is_listed_in_order_with_one_row_per_entry() {
    let place = Place::new();
    place.write("b.txt", "12345");
    place.write("a/inner", "x");
    place.write("two\nlines", "");
    symlink("b.txt", place.path("c")).unwrap();
    let expected = "a/\nb.txt (5 bytes)\nc (symbolic link)\ntwo\\nlines (0 bytes)";
    assert_eq!(place.call("list_dir", json!({"path": "."})).await, Observation::ok(expected));
    let inner = place.call("list_dir", json!({"path": "a"})).await;
    assert_eq!(inner, Observation::ok("inner (1 byte)"));
    std::fs::create_dir(place.path("empty")).unwrap();
    let empty = place.call("list_dir", json!({"path": "empty"})).await;
    assert_eq!(empty, Observation::ok("the folder is empty"));
    let none = place.call("list_dir", json!({"path": "none"})).await;
    assert_eq!(none, error("none does not exist"));
    assert!(!place.call("list_dir", json!({"path": "b.txt"})).await.is_ok());
}

#[tokio::test]
async fn a_long_listing_is_cut_by_rows() {
    let place = Place::new();
    for n in 0..500 {
        place.write(&format!("file{n:03}"), "");
    }
    let context = CallContext { observation_chars: 100, ..CallContext::new("key") };
    let seen = place.call_in("list_dir", json!({"path": "."}), &context).await;
    let rows: String = (0..4).map(|n| format!("file00{n} (0 bytes)\n")).collect();
    assert_eq!(seen, Observation::ok(format!("{rows}[496 lines left out]")));
}

#[tokio::test]
async fn a_file_is_written_with_its_folders_and_nothing_else_stays() {
    let place = Place::new();
    let args = json!({"path": "new/deep/file.txt", "content": "größe"});
    let seen = place.call("write_file", args).await;
    assert_eq!(seen, Observation::ok("wrote 7 bytes to new/deep/file.txt"));
    assert_eq!(place.content("new/deep/file.txt"), "größe");
    assert_eq!(place.names("new/deep"), ["file.txt"]);
}

#[tokio::test]
async fn replacing_a_file_keeps_its_mode() {
    let place = Place::new();
    place.write("run.sh", "old");
    std::fs::set_permissions(place.path("run.sh"), PermissionsExt::from_mode(0o750)).unwrap();
    assert!(place.call("write_file", json!({"path": "run.sh", "content": "new"})).await.is_ok());
    assert_eq!(place.content("run.sh"), "new");
    let mode = std::fs::metadata(place.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[tokio::test]
async fn writing_to_a_link_inside_writes_the_file_that_it_names() {
    let place = Place::new();
    place.write("a/file", "old");
    symlink("a/file", place.path("link")).unwrap();
    assert!(place.call("write_file", json!({"path": "link", "content": "new"})).await.is_ok());
    assert_eq!(place.content("a/file"), "new");
    assert!(std::fs::symlink_metadata(place.path("link")).unwrap().is_symlink());
}

#[tokio::test]
async fn a_write_that_fails_leaves_the_old_content_and_no_rubbish() {
    let place = Place::new();
    place.write("file", "old");
    place.write("folder/inner", "x");
    let seen = place.call("write_file", json!({"path": "folder", "content": "new"})).await;
    assert_eq!(seen, error("folder is a folder, not a file; use list_dir"));
    assert!(!place.call("write_file", json!({"path": "file/x", "content": "new"})).await.is_ok());
    // The name is too long for the file system, which shows only at the rename.
    let long = "n".repeat(300);
    assert!(!place.call("write_file", json!({"path": long, "content": "new"})).await.is_ok());
    assert_eq!(place.content("file"), "old");
    assert_eq!(place.names("."), ["file", "folder"]);
    assert_eq!(place.names("folder"), ["inner"]);
}

/// The temporary file of an attempt that was killed is in the way of the next one.
#[tokio::test]
async fn what_a_killed_attempt_left_behind_is_cleared_away_by_the_next() {
    let place = Place::new();
    let digest = everloop_types::digest_bytes(b"key");
    place.write(&format!(".everloop-{digest}.tmp"), "half of the con");
    assert!(place.call("write_file", json!({"path": "file", "content": "new"})).await.is_ok());
    assert_eq!(place.names("."), ["file"]);
}

/// A crash leaves the temporary file planted as a link to the outside: it is removed, not followed.
#[tokio::test]
async fn a_planted_link_in_place_of_the_temporary_file_is_not_followed() {
    let place = Place::new();
    let digest = everloop_types::digest_bytes(b"key");
    symlink(place.secret(), place.path(&format!(".everloop-{digest}.tmp"))).unwrap();
    assert!(place.call("write_file", json!({"path": "file", "content": "new"})).await.is_ok());
    assert_eq!(place.content("file"), "new");
    assert_eq!(std::fs::read_to_string(place.secret()).unwrap(), "the secret");
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_written() {
    let place = Place::new();
    place.write("file", "mine");
    let writing =
        |path: &str, hash: &str| json!({"path": path, "content": "new", "expect_hash": hash});
    let seen = place.call("write_file", writing("file", &hash("theirs"))).await;
    let words = format!(
        "file has changed: its hash is now {}; read it again, nothing was done",
        hash("mine")
    );
    assert_eq!(seen, error(&words));
    let gone = place.call("write_file", writing("deep/gone", &hash("mine"))).await;
    assert_eq!(gone, error("deep/gone does not exist any more; read it again, nothing was done"));
    assert_eq!(
        (place.content("file"), place.names(".")),
        ("mine".to_owned(), vec!["file".to_owned()])
    );
    assert!(place.call("write_file", writing("file", &hash("mine").to_uppercase())).await.is_ok());
    assert!(place.call("write_file", writing("other", "")).await.is_ok(), "an empty hash is none");
    assert_eq!(place.content("file"), "new");
}

mod probes {
    use super::*;
    use everloop_ports::Probe;
    use everloop_tools::Setting;
    use serde_json::Value;

    const ARGS: &str = r#"{"path":"file","content":"new"}"#;

    fn cannot_tell() -> Probe {
        Probe::unknown("the file is neither as it was nor as it was to be")
    }

    fn happened() -> Probe {
        Probe::Happened(Observation::ok("wrote 3 bytes to file"))
    }

    /// The verdict when `now` is found after `before` was there.
    async fn verdict(before: Option<&str>, now: Option<&str>) -> (Value, Probe) {
        let place = Place::new();
        let tool = place.tool("write_file");
        if let Some(content) = before {
            place.write("file", content);
        }
        let recorded = tool.before(ARGS).await;
        let _ = std::fs::remove_file(place.path("file"));
        if let Some(content) = now {
            place.write("file", content);
        }
        let probe = tool.probe(ARGS, &intent(&recorded)).await;
        (recorded["was"].clone(), probe)
    }

    #[tokio::test]
    async fn content_tells_whether_a_write_happened() {
        let old = Value::String(everloop_types::digest_bytes(b"old"));
        let new = Value::String(everloop_types::digest_bytes(b"new"));
        let cases = [
            (None, Some("new"), Value::Null, happened()),
            (None, None, Value::Null, Probe::DidNot),
            (None, Some("other"), Value::Null, cannot_tell()),
            (Some("old"), Some("new"), old.clone(), happened()),
            (Some("old"), Some("old"), old.clone(), Probe::DidNot),
            (Some("old"), Some("other"), old.clone(), cannot_tell()),
            (Some("old"), None, old, cannot_tell()),
            (Some("new"), Some("new"), new, happened()),
        ];
        for (before, now, recorded, probe) in cases {
            assert_eq!(verdict(before, now).await, (recorded, probe), "{before:?} -> {now:?}");
        }
    }

    #[tokio::test]
    async fn a_finished_call_probes_as_happened() {
        let place = Place::new();
        let tool = place.tool("write_file");
        let before = tool.before(ARGS).await;
        tool.call(ARGS, &CallContext::new("key")).await;
        assert_eq!(tool.probe(ARGS, &intent(&before)).await, happened());
    }

    /// Two unreadable moments are no evidence that nothing changed between them.
    #[tokio::test]
    async fn what_cannot_be_read_stays_unknown() {
        let place = Place::new();
        std::fs::create_dir(place.path("file")).unwrap();
        let tool = place.tool("write_file");
        let before = tool.before(ARGS).await;
        assert_eq!(before["was"], Value::Bool(false));
        assert_eq!(tool.probe(ARGS, &intent(&before)).await, cannot_tell());
        assert!(unknown(&tool.probe("no json", &intent(&before)).await));
    }

    /// In a cluster a probe may run on a machine that has another file under the same path.
    #[tokio::test]
    async fn elsewhere_a_file_may_show_that_a_write_happened_but_not_that_it_did_not() {
        let place = Place::with(|setting| {
            let records = setting.workspace.parent().map(|outer| outer.join("effects"));
            Setting { records, ..setting }
        });
        let tool = place.tool("write_file");
        let here = tool.before(ARGS).await;
        assert_eq!(tool.probe(ARGS, &intent(&here)).await, Probe::DidNot);
        let mut elsewhere = here.clone();
        elsewhere["place"] = json!("moon");
        for before in [&elsewhere, &json!({"was": null, "place": null}), &Value::Null] {
            assert!(unknown(&tool.probe(ARGS, &intent(before)).await), "{before}");
        }
        std::fs::remove_file(place.root().parent().unwrap().join("effects/place")).unwrap();
        assert!(unknown(&tool.probe(ARGS, &intent(&here)).await), "another data folder");
        tool.call(ARGS, &CallContext::new("key")).await;
        assert_eq!(tool.probe(ARGS, &intent(&elsewhere)).await, happened());
    }
}

#[tokio::test]
async fn a_person_is_asked_about_files_that_others_take_instructions_from_and_no_others() {
    let place = Place::new();
    place.write("AGENTS.md", "x");
    std::fs::create_dir(place.path(".husky")).unwrap();
    std::os::unix::fs::symlink("AGENTS.md", place.path("a")).unwrap();
    std::os::unix::fs::symlink(".husky", place.path("hk")).unwrap();
    let judged = async |tool: &str, path: &str| {
        let args = match tool {
            "write_file" => json!({"path": path, "content": "x"}),
            _ => json!({"path": path, "old": "x", "new": "y"}),
        };
        place.tool(tool).judge(&args.to_string()).await
    };
    for tool in ["write_file", "edit_file"] {
        assert_eq!(place.tool(tool).spec().handling.approval, Approval::Allow);
        for path in [
            "AGENTS.md",
            "sub/agents.MD",
            "src/../CLAUDE.md",
            "GEMINI.md",
            ".github/workflows/x.yml",
            ".gitlab-ci.yml",
            ".husky/pre-commit",
            ".pre-commit-config.yaml",
            ".envrc",
            ".vscode/tasks.json",
            ".devcontainer/devcontainer.json",
            ".mcp.json",
            ".claude/settings.json",
            ".cursor/rules/x.mdc",
            ".cursorrules",
            "a",
            "hk/pre-commit",
        ] {
            assert_eq!(judged(tool, path).await, CallPolicy::Sensitive, "{tool} {path}");
        }
        for path in ["notes.md", "src/main.rs", "vscode/tasks.json", "agents.md.txt", "../x"] {
            assert_eq!(judged(tool, path).await, CallPolicy::Default, "{tool} {path}");
        }
    }
}
