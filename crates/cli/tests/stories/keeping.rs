//! Todos, the schedule and the inbox from a shell.

use crate::support::Home;

fn text_of(home: &Home, id: &str) -> String {
    let shown = home.run(["todo", "get", id, "--json"]).ends_with(0).json();
    shown["todo"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn what_a_shell_says_is_a_text_stays_that_text() {
    let home = Home::new().with("TZ", "UTC");
    for (id, text) in
        [("1", "document the --tag flag"), ("2", "say \"hi there\" to mum"), ("3", "a  \"half")]
    {
        home.run(["todo", "add", text, "--tag", "my \"own\" tag"]).ends_with(0);
        assert_eq!(text_of(&home, id), text);
    }
    home.run(["todo", "update", "1", "drop", "the", "--", "--tag", "flag"]).ends_with(0);
    assert_eq!(text_of(&home, "1"), "drop the --tag flag");
    let found = home.run(["todo", "search", "--json", "--", "--tag"]).ends_with(0).json();
    assert_eq!(found["todos"].as_array().unwrap().len(), 1);
    let at = "2030-01-02 10:00";
    home.run(["schedule", "add", at, "about --remind", "--duration", "30"]).ends_with(0);
    let entry = home.run(["schedule", "get", "1", "--json"]).ends_with(0).json();
    assert_eq!(entry["entry"]["title"], "about --remind");
    assert_eq!((&entry["entry"]["minutes"], &entry["entry"]["zone"]), (&30.into(), &"UTC".into()));
}

#[test]
fn exactly_what_the_inbox_has_shown_is_read() {
    let home = Home::new().with("TZ", "UTC");
    for n in 0..201 {
        let text = format!("t{n}");
        let dates = ["--due", "2020-01-02 10:00", "--remind", "2020-01-02 10:00"];
        home.run(["todo", "add", &text].into_iter().chain(dates)).ends_with(0);
    }
    let unread = |args: &[&str]| {
        let all = home.run([&["inbox", "--json"], args].concat()).ends_with(0).json();
        all["unread"].as_array().unwrap().len()
    };
    assert_eq!(unread(&["--read"]), 200);
    assert_eq!(unread(&[]), 1, "the last one was due at the same moment, but nobody saw it");
}

#[test]
fn a_zone_without_a_name_is_told_once_and_can_be_set() {
    for zone in ["JST-9", "Foo/Bar"] {
        let home = Home::new().with("TZ", zone);
        let told = home.run(["todo", "list"]).ends_with(0);
        let told = told.says(&[zone, "UTC", "ui.time_zone"]).stderr;
        assert_eq!(told.matches("ui.time_zone").count(), 1, "{told}");
        let quiet = home.run(["todo", "list", "--tz", "Asia/Tokyo"]).ends_with(0);
        assert!(!quiet.stderr.contains(zone), "{}", quiet.stderr);
    }
    let known = Home::new().with("TZ", "Asia/Tokyo").run(["todo", "list"]).ends_with(0);
    assert_eq!(known.stderr, "");
}
