//! The agenda on a terminal and in a shell: tags, many at once, undo, and notifications.

use crate::support::Home;
use serde_json::json;

const PROMPT: &str = "You › ";
const CTRL_D: u8 = 4;

fn home() -> Home {
    Home::new().with("EVERLOOP_UI__TIME_ZONE", "UTC")
}

#[test]
fn many_are_changed_after_a_yes_and_the_change_is_undone() {
    let home = home();
    for text in ["a #home", "b #home", "c"] {
        home.run(["todo", "add", text]).ends_with(0);
    }
    let asked = home.run(["todo", "done", "--tag", "home"]).ends_with(3);
    assert!(asked.stderr.contains("This marks 2 todos as done") && asked.stdout.is_empty());
    assert!(asked.stderr.contains("--yes"), "{}", asked.stderr);
    home.run(["todo", "done", "--tag", "home", "--yes"]).ends_with(0);
    let open = |home: &Home| {
        home.run(["todo", "list", "--open", "--json"]).ends_with(0).json()["todos"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(open(&home), 1);
    let undone = home.run(["todo", "undo", "--json"]).ends_with(0).json();
    assert_eq!((&undone["did"], undone["items"].as_array().unwrap().len()), (&json!("undone"), 2));
    assert_eq!(open(&home), 3);
    let gone = home.run(["todo", "delete", "1-3"]).ends_with(0);
    assert!(gone.stderr.contains("Undo with everloop todo undo"), "{}", gone.stderr);
    assert!(home.run(["todo", "undo"]).ends_with(0).stdout.contains("as it was before: a"));
    let row = &home.run(["todo", "get", "1", "--json"]).ends_with(0).json()["todo"];
    assert_eq!((&row["tags"], &row["tag"]), (&json!(["home"]), &json!("home")));
}

#[test]
fn the_chat_asks_with_the_count_in_both_languages() {
    for (lang, count, undone) in [
        ("en", "This marks 2 todos as done:", "as it was"),
        ("zh-CN", "将完成 2 条待办：", "恢复原样"),
    ] {
        let home = home().with("EVERLOOP_LANG", lang);
        let lines = ["/todo add a #x", "/todo add b #x", "/todo done --tag x", "y", "/todo undo"];
        let said = home.chat(&lines).ends_with(0).stdout;
        assert!(said.contains(count), "{said}");
        assert_eq!(said.matches(undone).count(), 2, "{said}");
    }
}

/// Another process sets a reminder that is due in this very minute.
fn set_reminder(home: &Home) {
    let minute = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M").to_string();
    home.run(["todo", "add", "ding", "--due", "2090-01-01 10:00", "--remind", &minute])
        .ends_with(0);
}

#[test]
fn a_reminder_notifies_the_terminal_and_is_put_off_with_one_word() {
    let home =
        home().with("TERM", "xterm").with("NO_COLOR", "1").with("EVERLOOP_MODEL", "scripted/x");
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT);
    set_reminder(&home);
    chat.until("/snooze 10m");
    chat.types("/snooze 1h").until("Snoozed until");
    chat.types("/done").until("Done: todo #1");
    chat.until(PROMPT).presses(CTRL_D);
    let all = chat.ended().ends_with(0).stdout;
    assert!(all.contains("\x1b]9;") && all.contains('\x07'), "{all}");
}

#[test]
fn each_notification_can_be_turned_off() {
    let home = home()
        .with("TERM", "xterm")
        .with("NO_COLOR", "1")
        .with("EVERLOOP_MODEL", "scripted/x")
        .with("EVERLOOP_AGENDA__BELL", "off")
        .with("EVERLOOP_AGENDA__TERMINAL_NOTICE", "off");
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT);
    set_reminder(&home);
    chat.until("/snooze 10m").presses(CTRL_D);
    let all = chat.ended().ends_with(0).stdout;
    assert!(!all.contains("\x1b]9;") && !all.contains('\x07'), "{all}");
}

#[test]
fn overdue_has_a_word_and_a_colour_on_a_terminal() {
    let home = home().with("TERM", "xterm");
    home.run(["todo", "add", "late", "--due", "2020-01-01 10:00"]).ends_with(0);
    let seen = home.on_terminal(["todo", "list"]).ended().ends_with(0).stdout;
    assert!(seen.contains("\x1b[31m1") && seen.contains("overdue"), "{seen:?}");
    let plain = home.run(["todo", "list"]).ends_with(0).stdout;
    assert!(!plain.contains('\x1b') && plain.contains("overdue"), "{plain}");
}
