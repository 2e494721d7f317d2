//! Secrets by every way, a world that echoes them, `kill -9`: then every byte that was written is
//! searched.

use crate::support::{Finished, Home, calls, of_type, says, slow};
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const IN_VARIABLE: &str = "sk-fake-env-4f9Q2zL8aVbN0pXr";
const FROM_COMMAND: &str = "sk-fake-cmd-77hYw3KqT5uJm1Ze";
const IN_KEY_FILE: &str = "sk-fake-file-9dGx2RkP6sWc8BvA";
/// With all that formats escape.
const KEPT_IN_FILE: &str = "p\"ss/wörd+9=\\x";
const IN_KEYCHAIN: &str = "fake-token-5TgB6YhN7UjM8IkL";
const IN_ADDRESS: &str = "fake-tok-1QaZ2WsX3EdC";
const ALL: [&str; 6] =
    [IN_VARIABLE, FROM_COMMAND, IN_KEY_FILE, KEPT_IN_FILE, IN_KEYCHAIN, IN_ADDRESS];

/// Stands in for the program of a desktop's keychain, and writes down how it was called.
const SECRET_TOOL: &str = r#"#!/bin/sh
dir=$(dirname "$0")/store; mkdir -p "$dir"; echo "$@" >> "$dir/../called"
for last; do :; done
case "$1" in
  store) cat > "$dir/$last" ;;
  lookup) cat "$dir/$last" 2>/dev/null ;;
  clear) rm "$dir/$last" ;;
esac
"#;

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let number = three.iter().chain([&0; 2]).take(3).fold(0, |n, b| n << 8 | usize::from(*b));
        let sign = |place: usize| char::from(SIGNS[number >> (18 - 6 * place) & 63]);
        (0..=three.len()).map(sign).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// What base64 makes of the middle of a secret, however many bytes come before it.
fn within_base64(secret: &str, before: usize) -> String {
    let bytes: Vec<u8> = std::iter::repeat_n(b'x', before).chain(secret.bytes()).collect();
    base64(&bytes)[4..bytes.len() / 3 * 4].to_owned()
}

fn percent(secret: &str) -> String {
    let byte = |b: u8| match b.is_ascii_alphanumeric() || b"-._~".contains(&b) {
        true => char::from(b).to_string(),
        false => format!("%{b:02X}"),
    };
    secret.bytes().map(byte).collect()
}

fn hex(secret: &str) -> String {
    secret.bytes().map(|b| format!("{b:02x}")).collect()
}

fn json_text(text: &str) -> String {
    let quoted = json!(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Every form in which a secret could be found.
fn forms(secret: &str) -> Vec<String> {
    let json = json_text(secret);
    let mut forms = vec![secret.to_owned(), percent(secret), hex(secret), json_text(&json), json];
    forms.extend((0..3).map(|before| within_base64(secret, before)));
    forms
}

/// What the world says: each secret in each form.
fn echo() -> String {
    let lines = ALL.iter().map(|secret| {
        let basic = base64(format!("user:{secret}").as_bytes());
        let json = json_text(secret);
        format!(
            "{secret}\nBasic {basic}\n?k={}\n{{\"k\":\"{json}\"}}\n{}\n",
            percent(secret),
            hex(secret)
        )
    });
    lines.collect()
}

#[track_caller]
fn searched(place: &str, bytes: &[u8]) {
    for form in ALL.iter().flat_map(|secret| forms(secret)) {
        let found = bytes.windows(form.len()).position(|window| window == form.as_bytes());
        let Some(at) = found else { continue };
        let around = &bytes[at.saturating_sub(200)..(at + 100).min(bytes.len())];
        panic!("{form} is in {place}: {}", String::from_utf8_lossy(around));
    }
}

#[track_caller]
fn searched_output(what: &str, ended: &Finished) {
    searched(what, ended.stdout.as_bytes());
    searched(what, ended.stderr.as_bytes());
}

/// Every file below a folder; what was planted lies elsewhere, or is named.
#[track_caller]
fn searched_folder(folder: &Path, planted: &[PathBuf]) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            count += searched_folder(&path, planted);
        } else if !planted.contains(&path) && path.is_file() {
            searched(&path.display().to_string(), &std::fs::read(&path).unwrap());
            count += 1;
        }
    }
    count
}

fn private(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// A home with secrets by every way.
fn planted(replies: &[Value]) -> Home {
    let home = Home::scripted(replies);
    let planted = home.path("planted");
    private(&planted.join("command"), &format!("{FROM_COMMAND}\nlogin: me\n"));
    private(&planted.join("key"), IN_KEY_FILE);
    private(&planted.join("kept"), KEPT_IN_FILE);
    private(&planted.join("hook"), &format!("https://hooks.example.com/T0/{IN_KEYCHAIN}"));
    private(&planted.join("secret-tool"), SECRET_TOOL);
    let tool = planted.join("secret-tool");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(home.work("leak.txt"), echo()).unwrap();
    let path = format!("{}:{}", planted.display(), std::env::var("PATH").unwrap());
    let home = home
        .with("PATH", &path)
        .with("OPENAI_API_KEY", IN_VARIABLE)
        .with("HOOK_URL", &format!("https://hooks.example.com/x?token={IN_ADDRESS}"))
        .with("EVERLOOP_MODEL__KEY_FILE", planted.join("key").to_str().unwrap())
        .with("EVERLOOP_MODEL__KEY_COMMAND", &format!("cat,{}/command", planted.display()))
        .with("EVERLOOP_TOOLS__CHANNELS", "a=env:HOOK_URL,b=keychain:hook");
    let hook = home.run_from(["secrets", "set", "hook"], &planted.join("hook")).ends_with(0);
    assert!(hook.stderr.contains("keychain:hook"), "{}", hook.stderr);
    let kept = home.run_from(["secrets", "set", "kept", "--file"], &planted.join("kept"));
    let kept = kept.ends_with(0);
    searched_output("secrets set", &hook);
    searched_output("secrets set", &kept);
    home
}

/// The only files that may hold a secret: where it was put, and what the world was made of.
fn own_places(home: &Home) -> Vec<PathBuf> {
    vec![home.data().join("secrets/kept"), home.work("leak.txt")]
}

#[test]
fn no_secret_is_in_any_byte_that_is_written() {
    let copy = calls("write_file", json!({"path": "copy.txt", "content": ALL.join("\n")}));
    let shell = json!({"command": "cat leak.txt; env; tr '\\0' '\\n' < /proc/self/environ"});
    let said = format!("It is {}.", ALL.join(", "));
    let looks = [calls("read_file", json!({"path": "leak.txt"})), calls("shell", shell)];
    let [read, shell] = looks;
    let home = planted(&[read.clone(), shell.clone(), slow(copy.clone())]);
    let goal = format!("use {IN_VARIABLE} and {KEPT_IN_FILE}");
    let form = ["--loop", "react", "--yes", "--output-format", "stream-json"];
    let mut first = home.spawn(["run"].iter().chain(&form).copied().chain([goal.as_str()]));
    first.until("tool.completed");
    first.until("tool.completed");
    first.until("step.started");
    searched("the output before the kill", first.said().as_bytes());
    first.kill9();
    let run = home.newest();
    // In pieces, so that each secret is torn.
    home.rewrite(&[read, shell, copy, json!({"text": said, "chunk": 3})]);
    let resume = ["runs", "resume", &run, "--output-format", "stream-json"];
    let resumed = home.run(resume).ends_with(0);
    searched_output("the output after it", &resumed);
    let pieces = resumed.lines();
    let pieces = of_type(&pieces, "message.delta").into_iter().map(|piece| &piece["text"]);
    let shown: String = pieces.filter_map(Value::as_str).collect();
    assert_eq!(shown, format!("It is {}.", ["[secret]"; ALL.len()].join(", ")));
    // It was there to be seen, and a mark stands in its place.
    let events = home.events(&run);
    let completed = of_type(&events, "tool.completed");
    assert_eq!(completed.len(), 3, "{events:?}");
    let read = completed[0]["result"].as_str().unwrap();
    assert!(read.matches("[secret]").count() >= ALL.len() * 5, "{read}");
    assert_eq!(home.read("copy.txt"), vec!["[secret]"; ALL.len()].join("\n"));
    assert_eq!(events[0]["goal"], "use [secret] and [secret]");
    home.verified(&run);

    let file = home.path("work/export.jsonl");
    let out = file.to_str().unwrap();
    for args in [
        vec!["runs", "show", &run, "--json"],
        vec!["runs", "show", &run],
        vec!["runs", "events", &run],
        vec!["replay", &run],
        vec!["replay", &run, "--at", "5", "--json"],
        vec!["audit"],
        vec!["audit", "--json"],
        vec!["export", &run],
        vec!["export", &run, "--out", out],
        vec!["doctor", "--json"],
        vec!["config", "show", "--origin"],
        vec!["secrets", "list"],
        vec!["todo", "add", &goal],
        vec!["todo", "list"],
    ] {
        let ended = home.run(&args);
        assert!(ended.code.is_some_and(|code| code != 101), "{args:?}: {}", ended.stderr);
        searched_output(&args.join(" "), &ended);
    }
    let places = own_places(&home);
    let count = ["home", "work", "user"].map(|name| searched_folder(&home.path(name), &places));
    assert!(count[0] > 1 && count[1] > 1, "the database, its log, the copy, the export: {count:?}");
    let called = std::fs::read(home.path("planted/called")).unwrap();
    searched("the process list", &called);
}

#[test]
fn a_server_that_echoes_the_key_or_a_page_that_holds_it_gives_nothing_away() {
    let close = "connection: close\r\n";
    let page = FakeServer::start(vec![CannedReply::status(200, close, &echo())]);
    let url = format!("{}/page", page.url());
    let home = planted(&[calls("http_get", json!({ "url": url })), says("Seen.")])
        .with("EVERLOOP_TOOLS__HTTP_ALLOW", &page.url().replace("http://", ""));
    let ran = home.run(["run", "--loop", "react", "--yes", "read it"]).ends_with(0);
    searched_output("a page", &ran);
    let events = home.events(&home.newest());
    let seen = of_type(&events, "tool.completed")[0]["result"].as_str().unwrap().to_owned();
    assert!(seen.contains("[secret]"), "{seen}");

    let refusal = format!("{{\"error\":{{\"message\":\"bad key {}\"}}}}", json_text(&echo()));
    let server = FakeServer::start(vec![CannedReply::status(401, close, &refusal)]);
    let home = home.endpoint(&server.url());
    let form = ["run", "--loop", "react", "--output-format", "stream-json", "ask"];
    searched_output("a refusal", &home.run(form));
    assert!(server.seen()[0].head.contains(FROM_COMMAND), "the command's key was used");
    let places = own_places(&home);
    searched_folder(&home.data(), &places);
    searched_folder(&home.path("work"), &places);
}

#[test]
fn a_secret_is_kept_listed_and_taken_out_without_being_shown() {
    let home = planted(&[]);
    let listed = home.run(["secrets", "list"]).ends_with(0);
    let file = home.data().join("secrets/kept");
    assert_eq!(listed.stdout, format!("hook  keychain:hook\nkept  file:{}\n", file.display()));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    home.run(["secrets", "remove", "hook"]).ends_with(0);
    home.run(["secrets", "remove", "kept"]).ends_with(0);
    assert!(!file.exists() && !home.path("planted/store/hook").exists());
    home.run(["secrets", "remove", "kept"]).ends_with(2).says(&["Unknown secret kept"]);
    home.run(["secrets", "set", "../x"]).ends_with(2).says(&["Invalid name"]);
    home.run(["secrets", "set", "empty"]).ends_with(2).says(&["No value"]);
}

#[test]
fn a_setting_takes_a_reference_and_no_value_and_says_what_is_missing() {
    let home = Home::new().with("EVERLOOP_MODEL", "openai/x");
    let refused = home.run(["config", "set", "model.key", "plain-Secret-1"]).ends_with(2);
    assert!(refused.stderr.contains("keychain:NAME"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("plain-Secret-1"), "{}", refused.stderr);
    home.run(["config", "set", "model.key", "env:NO_SUCH_KEY"]).ends_with(0);
    let missing = ["model.key", "NO_SUCH_KEY is not set"];
    home.run(["run", "--loop", "react", "hi"]).ends_with(5).says(&["NO_SUCH_KEY is not set"]);
    let doctor = home.run(["doctor"]).ends_with(5);
    assert!(missing.iter().all(|words| doctor.stdout.contains(words)), "{}", doctor.stdout);
    let zh = home.run(["--lang", "zh-CN", "run", "--loop", "react", "hi"]).ends_with(5);
    assert!(zh.stderr.contains("NO_SUCH_KEY 没有设置"), "{}", zh.stderr);
    home.run(["--set", "model.key=command:false", "run", "hi"]).ends_with(5).says(&["false"]);
    let slow = ["--set", "model.key=command:sleep 60", "--set", "secrets.timeout=50ms"];
    home.run(slow.iter().copied().chain(["run", "hi"])).ends_with(5).says(&["timed out"]);
    let database = ["--set", "store.database=env:NO_SUCH_KEY", "runs", "list"];
    home.run(database).ends_with(5).says(&["store.database", "NO_SUCH_KEY is not set"]);
}

/// Characters of a tool's output that a model sees, unless the settings say otherwise.
const OBSERVATION_CHARS: usize = 10_000;

/// The longest beginning of the variable's key that stands in a text.
fn torn(text: &str) -> usize {
    (0..=IN_VARIABLE.len()).rev().find(|end| text.contains(&IN_VARIABLE[..*end])).unwrap_or(0)
}

/// Wherever our own limit falls, before, within or behind the key.
#[test]
fn a_key_at_the_cut_of_a_tools_output_is_still_taken_out() {
    let limit = OBSERVATION_CHARS;
    for before in [limit / 2 - 80, limit / 2 - 64, limit / 2 - 50, limit / 2 - 40, limit - 70] {
        let text = format!("{} {IN_VARIABLE} {}", "x".repeat(before), "y".repeat(2 * limit));
        let home = Home::scripted(&[
            calls("read_file", json!({"path": "long.txt"})),
            calls("shell", json!({"command": "cat long.txt"})),
            says("Seen."),
        ])
        .with("OPENAI_API_KEY", IN_VARIABLE);
        std::fs::write(home.work("long.txt"), text).unwrap();
        home.run(["run", "--loop", "react", "--yes", "go"]).ends_with(0);
        let told = json!(home.events(&home.newest())).to_string();
        assert!(told.contains("xxx"), "{told}");
        // Its first letters are those of other words too.
        assert!(torn(&told) < 6, "{before}: {} characters", torn(&told));
    }
}

/// The same for what a provider sends back.
#[test]
fn a_key_at_the_cut_of_a_refusal_is_not_left_in_part() {
    for before in [1_960, 1_964, 1_975, 1_985, 1_999] {
        let body = json!({"error": {"message": format!("{} {IN_VARIABLE}", "x".repeat(before))}});
        let refusal = CannedReply::status(400, "connection: close\r\n", &body.to_string());
        let server = FakeServer::start(vec![refusal]);
        let home = Home::scripted(&[]).with("OPENAI_API_KEY", IN_VARIABLE).endpoint(&server.url());
        let ran = home.run(["run", "--loop", "react", "go"]);
        assert!(server.seen()[0].head.contains(IN_VARIABLE), "the key was used");
        let said = format!("{}{}{}", ran.stdout, ran.stderr, json!(home.events(&home.newest())));
        assert!(torn(&said) < 6, "{before}: {} characters", torn(&said));
    }
}
