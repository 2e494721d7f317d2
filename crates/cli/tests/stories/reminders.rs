//! Reminders reach whoever looks: during a run, through a pipe, on stderr of a command; each once.

use crate::support::{Home, calls, says};
use serde_json::json;

const CTRL_D: u8 = 4;
const PROMPT: &str = "You › ";

/// A model whose command waits until the test opens a gate.
fn gated() -> Home {
    let home =
        Home::scripted(&[calls("shell", json!({"command": "cat gate"})), says("It opened.")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    home.with("EVERLOOP_UI__TIME_ZONE", "UTC").with("TERM", "xterm").with("NO_COLOR", "1")
}

fn open_gate(home: &Home) {
    std::fs::write(home.work("gate"), "open\n").unwrap();
}

const GATED: [&str; 3] = ["--loop", "react", "--yes"];

/// Another process sets a reminder that is due in this very minute.
fn set_reminder(home: &Home) {
    let minute = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M").to_string();
    home.run(["todo", "add", "ding", "--due", "2090-01-01 10:00", "--remind", &minute])
        .ends_with(0);
}

/// How often it was announced anywhere: the inbox has it once, and nobody else shows it.
fn fired_once(home: &Home) {
    let inbox = home.run(["inbox", "--json"]).ends_with(0).json();
    assert_eq!(inbox["unread"].as_array().unwrap().len(), 1, "{inbox}");
    let later = home.chat(&[]).ends_with(0).stdout;
    assert!(!later.contains("ding"), "shown once: {later}");
}

#[test]
fn a_reminder_comes_while_a_run_is_watched_and_rings() {
    let home = gated();
    let mut chat = home.on_terminal(std::iter::once(&"chat").chain(&GATED));
    chat.until(PROMPT).types("wait").until("cat gate");
    set_reminder(&home);
    chat.until("eminder").until("ding");
    assert!(!chat.seen.contains("It opened."), "the run works on: {}", chat.seen);
    assert!(chat.seen.contains('\x07') || chat.until("\x07").seen.contains('\x07'));
    open_gate(&home);
    chat.until("It opened.").until(PROMPT).presses(CTRL_D);
    let all = chat.ended().ends_with(0).stdout;
    assert_eq!(all.matches("⏰").count(), 1, "{all}");
    fired_once(&home);
}

/// Whoever sits at either terminal reads it; one of the two rings.
#[test]
fn a_reminder_comes_to_each_open_terminal_and_rings_once() {
    let home = Home::scripted(&[]).with("EVERLOOP_UI__TIME_ZONE", "UTC");
    let home = home.with("TERM", "xterm").with("NO_COLOR", "1");
    let open = || {
        let mut chat = home.on_terminal(["chat"]);
        chat.until(PROMPT);
        chat
    };
    let (mut one, mut other) = (open(), open());
    set_reminder(&home);
    let mut screens = Vec::new();
    one.until("ding");
    other.until("ding");
    for mut chat in [one, other] {
        chat.until(PROMPT).presses(CTRL_D);
        screens.push(chat.ended().ends_with(0).stdout);
    }
    for screen in &screens {
        assert_eq!(screen.matches("⏰").count(), 1, "{screen}");
    }
    // The notification of the terminal ends with a bell too.
    let called = screens.iter().filter(|screen| screen.contains("\x1b]9;")).count();
    assert_eq!(called, 1, "{screens:?}");
    fired_once(&home);
}

#[test]
fn a_reminder_comes_while_a_pipe_is_open_whether_a_run_works_or_not() {
    let home = gated();
    let mut chat = home.piped(std::iter::once(&"chat").chain(&GATED));
    chat.hears(&["/todo list"]);
    chat.until("There are no todos");
    set_reminder(&home);
    chat.until("ding");
    chat.hears(&["wait"]);
    chat.until("cat gate");
    set_reminder(&home);
    chat.until("ding");
    open_gate(&home);
    chat.until("It opened.");
    let said = chat.ended().ends_with(0);
    assert_eq!(said.stdout.matches("⏰").count(), 2, "{}", said.stdout);
}

#[test]
fn a_reminder_comes_on_stderr_of_a_command_that_works() {
    let home = gated();
    let mut run = home.spawn(["run", "--loop", "react", "--yes", "wait"]);
    run.until("cat gate");
    set_reminder(&home);
    run.until("ding");
    open_gate(&home);
    let ended = run.ended().ends_with(0);
    assert_eq!(ended.stdout, "It opened.\n", "answers stand alone");
    assert_eq!(ended.stderr.matches("⏰").count(), 1, "{}", ended.stderr);
    fired_once(&home);
}

#[test]
fn a_reminder_that_fired_in_time_and_is_shown_late_says_so() {
    let home = Home::new().with("EVERLOOP_UI__TIME_ZONE", "UTC");
    set_reminder(&home);
    let inbox = home.run(["inbox", "--json"]).ends_with(0).json();
    assert_eq!(inbox["unread"][0]["title"], "ding");
    // A process fired it two minutes ago, and nobody was there to show it.
    let database = rusqlite::Connection::open(home.database()).unwrap();
    let back = "UPDATE firings SET state = 'fired', due_at = due_at - 120000, fired_at = due_at";
    assert_eq!(database.execute(back, []).unwrap(), 1);
    drop(database);
    let shown = home.chat(&[]).ends_with(0).stdout;
    assert!(shown.starts_with("⏰ Late reminder (was due "), "{shown}");
}

#[test]
fn an_entry_rings_at_its_start_unless_the_settings_say_otherwise() {
    let mut home = Home::new().with("EVERLOOP_UI__TIME_ZONE", "UTC");
    for (set, rings) in [
        (None, json!("2030-05-06T09:00:00+00:00")),
        (Some("10m"), json!("2030-05-07T08:50:00+00:00")),
        (Some("off"), json!(null)),
    ] {
        if let Some(set) = set {
            home.set("EVERLOOP_AGENDA__DEFAULT_REMINDER", set);
        }
        let day = 6 + ["", "10m", "off"].iter().position(|it| *it == set.unwrap_or("")).unwrap();
        let at = format!("2030-05-{day:02} 09:00");
        let told = home.run(["schedule", "add", &at, "standup", "--json"]).ends_with(0).json();
        assert_eq!(told["entry"]["remind_next"], rings, "{set:?}");
    }
    home.set("EVERLOOP_AGENDA__DEFAULT_REMINDER", "10");
    home.run(["schedule", "list"])
        .ends_with(5)
        .says(&["agenda.default_reminder", "off | 0m | 10m"]);
}

#[test]
fn a_conflict_offers_a_free_time_and_can_be_saved_all_the_same() {
    let home = Home::new().with("EVERLOOP_UI__TIME_ZONE", "UTC");
    home.run(["schedule", "add", "2030-05-06 09:00", "standup"]).ends_with(0);
    let clash = ["schedule", "add", "2030-05-06 09:30", "lunch"];
    let free = "Next free time: 2030-05-06 10:00 (60 min)";
    home.run(clash).ends_with(1).says(&[free, "--allow-conflict"]);
    home.run(clash.iter().chain(&["--allow-conflict"])).ends_with(0);
    home.run(["schedule", "add", "2030-05-06 09:30", "water", "--duration", "0"]).ends_with(0);
    let told = home.run(["todo", "add", "tax", "--due", "2020-01-01 10:00"]).ends_with(0);
    assert!(told.stdout.contains("is already past"), "{}", told.stdout);
}
