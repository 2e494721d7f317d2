//! `todo`, `view`, `schedule` and `inbox` from a shell: what is kept, refused, and said.

use crate::support::{Finished, Home};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A home in Rome.
fn rome() -> Home {
    Home::new().with("EVERLOOP_UI__TIME_ZONE", "Europe/Rome")
}

/// A command, its words divided at `|`.
fn run(home: &Home, words: &str) -> Finished {
    home.run(words.split('|'))
}

#[track_caller]
fn done(home: &Home, words: &str) -> String {
    run(home, words).ends_with(0).stdout
}

#[track_caller]
fn done_json(home: &Home, words: &str) -> Value {
    run(home, &format!("{words}|--json")).ends_with(0).json()
}

/// Checks that it is refused for this reason, in words on stderr and as JSON on stdout.
#[track_caller]
fn refused(home: &Home, words: &str, why: &str, name: &str) {
    let told = run(home, words).ends_with(1);
    assert!(told.stdout.is_empty() && told.stderr.contains(why), "{told:?}");
    let told = run(home, &format!("{words}|--json")).ends_with(1).json();
    assert_eq!((&told["ok"], &told["error"]), (&json!(false), &json!(name)));
    assert!(told["message"].as_str().unwrap().contains(why), "{told}");
}

/// Checks that it is no command, and that nothing goes to stdout.
#[track_caller]
fn misused(home: &Home, words: &str, why: &str) {
    let told = run(home, words).ends_with(2);
    assert!(told.stdout.is_empty() && told.stderr.contains(why), "{told:?}");
}

fn texts(list: &Value) -> Vec<&str> {
    list["todos"].as_array().unwrap().iter().map(|row| row["text"].as_str().unwrap()).collect()
}

#[test]
fn every_verb_of_todo_does_what_it_says() {
    let home = rome();
    let added = done_json(
        &home,
        "todo|add|pay|tax|--tag|home|--priority|1|--due|2030-05-06 18:00|--remind|2030-05-06 09:00",
    );
    assert_eq!((&added["ok"], &added["did"]), (&json!(true), &json!("added")));
    let todo = &added["todo"];
    assert_eq!((&todo["id"], &todo["text"]), (&json!(1), &json!("pay tax")));
    assert_eq!((&todo["tag"], &todo["priority"]), (&json!("home"), &json!(1)));
    assert_eq!(todo["due"], "2030-05-06T18:00:00+02:00");
    assert_eq!(todo["remind"], "2030-05-06T09:00:00+02:00");
    assert_eq!(done(&home, "todo|add|buy milk"), "Added todo #2: buy milk\n");
    assert_eq!(texts(&done_json(&home, "todo|list")), ["pay tax", "buy milk"]);
    assert_eq!(texts(&done_json(&home, "todo|list|--tag|home")), ["pay tax"]);
    assert_eq!(texts(&done_json(&home, "todo|list|--view|inbox")), ["buy milk"]);
    assert!(done(&home, "todo|get|1").contains("Due       2030-05-06 18:00\n"));
    assert_eq!(done_json(&home, "todo|get|1")["todo"], *todo);
    let changed = done_json(&home, "todo|update|1|pay more|--due|none|--remind|none");
    assert_eq!((&changed["did"], &changed["todo"]["due"]), (&json!("changed"), &Value::Null));
    assert_eq!(
        (&changed["todo"]["tag"], &changed["todo"]["priority"]),
        (&json!("home"), &json!(1))
    );
    let finished = done_json(&home, "todo|done|1");
    assert!(finished["todo"]["done"].is_string(), "the time is kept: {finished}");
    assert_eq!(texts(&done_json(&home, "todo|list")), ["buy milk", "pay more"], "done ones last");
    assert_eq!(texts(&done_json(&home, "todo|list|--open")), ["buy milk"]);
    assert!(done(&home, "todo|list").contains("done   1 "));
    assert_eq!(done_json(&home, "todo|reopen|1")["todo"]["done"], Value::Null);
    assert_eq!(texts(&done_json(&home, "todo|search|MORE")), ["pay more"]);
    assert_eq!(texts(&done_json(&home, "todo|search|more|--tag|other")), Vec::<&str>::new());
    let kept = done_json(&home, "todo|add|say \"hi there\" now");
    assert_eq!(kept["todo"]["text"], "say \"hi there\" now", "a text is kept as it was written");
    done(&home, "todo|delete|3");
    let gone = json!({"ok": true, "did": "deleted", "id": 1, "text": "pay more"});
    assert_eq!(done_json(&home, "todo|delete|1"), gone);
    assert_eq!(done(&home, "todo|delete|2"), "Deleted todo #2: buy milk\n");
    assert_eq!(done(&home, "todo|list"), "There are no todos. Add one: /todo add TEXT\n");
}

#[test]
fn what_is_wrong_with_a_todo_is_refused_or_shown_how_to_write() {
    let home = rome();
    for verb in ["get|9", "update|9|x", "done|9", "reopen|9", "delete|9"] {
        refused(&home, &format!("todo|{verb}"), "Todo #9 not found", "no_such_todo");
    }
    done(&home, "todo|add|x");
    let words = "todo|update|1|x|--remind|2030-01-01 10:00";
    refused(&home, words, "A reminder needs a due date", "reminder_needs_due");
    misused(&home, "todo|add|x|--remind|2030-01-01 10:00", "A reminder needs a due date");
    misused(&home, "todo|add|x|--due|someday", "Date not understood");
    misused(&home, "todo|add|x|--priority=-1", "Usage: /todo add <text");
    misused(&home, "todo|list|--view|nosuch", "Usage: /todo list");
    misused(&home, "todo|get|x", "needs a number, not x");
    misused(&home, "todo|fly", "Unknown command fly");
    assert_eq!(texts(&done_json(&home, "todo|list")), ["x"], "nothing came of them");
}

#[test]
fn views_choose_by_date_and_group() {
    let home = rome();
    done(&home, "todo|add|no date");
    done(&home, "todo|add|grouped|--tag|work");
    done(&home, "todo|add|over|--due|2020-01-01 10:00");
    done(&home, "todo|add|far|--due|2090-01-01 10:00|--tag|work");
    done(&home, "todo|add|tonight|--due|today 23:59");
    let view = |words: &str| texts(&done_json(&home, words)).join(",");
    assert_eq!(view("view|inbox"), "no date");
    assert_eq!(view("view|overdue"), "over");
    assert_eq!(view("view|today"), "tonight");
    assert_eq!(view("view|upcoming"), "far");
    assert_eq!(view("view|all"), "over,tonight,far,no date,grouped");
    assert_eq!(view("view|all|--tag|work"), "far,grouped");
    done(&home, "todo|done|3");
    assert_eq!(view("view|overdue"), "", "what is done is not overdue");
    let views = ["all", "today", "overdue", "upcoming", "inbox"];
    assert_eq!(done_json(&home, "view|list"), json!({"ok": true, "views": views}));
    assert_eq!(done(&home, "view|list").lines().count(), 5);
    misused(&home, "view|nosuch", "Usage: /view");
}

#[test]
fn dates_in_words_are_said_back_on_stderr_before_they_are_kept() {
    let home = rome();
    let told = run(&home, "todo|add|call Bob|--due|tomorrow 3pm|--json").ends_with(0);
    let due = told.json()["todo"]["due"].as_str().unwrap()[..16].replace('T', " ");
    assert_eq!(told.stderr, format!("→ /todo add call Bob --due \"{due}\"\n"));
    let told = run(&home, "schedule|add|next monday 9:00|standup").ends_with(0);
    assert!(
        told.stderr.starts_with("→ /schedule add 2") && told.stderr.ends_with("09:00 standup\n")
    );
    let told = run(&home, "schedule|add|2030-05-06 12:00|lunch").ends_with(0);
    assert_eq!(told.stderr, "", "an absolute date needs no echo");
    let told =
        run(&home.with("EVERLOOP_LANG", "zh-CN"), "schedule|add|明天下午三点|开会").ends_with(0);
    assert!(told.stderr.starts_with("→ /schedule add ") && told.stderr.contains(" 15:00 开会"));
}

#[test]
fn every_verb_of_schedule_does_what_it_says() {
    let home = rome();
    let added = done_json(
        &home,
        "schedule|add|2030-05-06 09:00|standup|--repeat|weekdays|--duration|15\
         |--remind|2030-05-06 08:50|--times|10|--catch-up|all",
    );
    let entry = &added["entry"];
    assert_eq!((&entry["minutes"], &entry["times"]), (&json!(15), &json!(10)));
    assert_eq!(entry["rrule"], "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR");
    assert_eq!((&entry["zone"], &entry["catch_up"]), (&json!("Europe/Rome"), &json!("all")));
    assert_eq!(entry["remind_next"], "2030-05-06T08:50:00+02:00");
    let card = done(&home, "schedule|get|1");
    assert!(card.contains("every week on Mon, Tue, Wed, Thu, Fri, 10 times"), "{card}");
    let week = done(&home, "schedule|view|week|2030-05-08");
    assert_eq!(week.matches("09:00-09:15  #1 standup").count(), 5, "{week}");
    let month = done_json(&home, "schedule|view|month|2030-05");
    assert_eq!(month["entries"].as_array().unwrap().len(), 10);
    assert!(done(&home, "schedule|view|day|2030-05-11").contains("nothing scheduled"));
    let changed = done_json(&home, "schedule|update|1|2030-05-06 10:00|moved");
    assert_eq!(changed["entry"]["start"], "2030-05-06T10:00:00+02:00");
    assert_eq!(
        (&changed["entry"]["minutes"], &changed["entry"]["times"]),
        (&json!(15), &json!(10))
    );
    assert_eq!(done_json(&home, "schedule|repeat|1|off")["entry"]["repeats"], false);
    let month = done_json(&home, "schedule|view|month|2030-05");
    assert_eq!(month["entries"].as_array().unwrap().len(), 1, "it no longer repeats");
    assert_eq!(done_json(&home, "schedule|repeat|1|on")["entry"]["repeats"], true);
    done(&home, "schedule|add|tomorrow 12:00|lunch");
    let near = done_json(&home, "schedule|list");
    assert_eq!(near["entries"].as_array().unwrap().len(), 1, "2030 is too far for the list");
    assert_eq!(near["entries"][0]["title"], "lunch");
    assert_eq!(done_json(&home, "schedule|delete|1")["did"], "deleted");
}

#[test]
fn what_is_wrong_with_an_entry_is_refused_or_shown_how_to_write() {
    let home = rome();
    for verb in ["get|9", "update|9|2030-05-06 10:00|x", "repeat|9|on", "delete|9"] {
        refused(&home, &format!("schedule|{verb}"), "Entry #9 not found", "no_such_entry");
    }
    done(&home, "schedule|add|2030-05-06 09:00|standup|--repeat|daily|--times|-1");
    done(&home, "schedule|add|2030-05-06 12:00|lunch");
    let clash = "  #1  2030-05-20 09:00 (60 min)  standup";
    refused(&home, "schedule|add|2030-05-20 09:59|clash", clash, "conflict");
    refused(&home, "schedule|update|2|2030-05-20 08:30|lunch", clash, "conflict");
    done(&home, "schedule|add|2030-05-20 10:00|just after");
    refused(&home, "schedule|repeat|2|on", "has no repeat rule", "does_not_repeat");
    let words = "schedule|add|2030-06-06 20:00|x|--interval|30|--duration|60";
    refused(&home, words, "overlap itself", "overlaps_itself");
    misused(&home, "schedule|add|someday|x", "Date not understood");
    misused(&home, "schedule|add|2030-05-06|x", "has no time of day");
    misused(&home, "schedule|add|2030-05-06 20:00|x|--times|1", "Usage: /schedule add");
    misused(&home, "schedule|add|2030-05-06 20:00|x|--duration=-1", "Usage: /schedule add");
    misused(&home, "schedule|view|year", "Usage: /schedule view");
    misused(&home, "schedule|repeat|1|maybe", "it can be: on, off");
    let month = done_json(&home, "schedule|view|day|2030-05-06");
    assert_eq!(month["entries"].as_array().unwrap().len(), 2, "nothing came of them");
}

#[test]
fn reminders_that_are_due_wait_in_the_inbox_until_they_are_read() {
    let home = rome();
    assert_eq!(done(&home, "inbox"), "There are no unread reminders\n");
    done(&home, "todo|add|tax|--due|2020-01-02 10:00|--remind|2020-01-02 09:00");
    for _ in 0..2 {
        let inbox = done_json(&home, "inbox");
        let rows = inbox["unread"].as_array().unwrap();
        assert_eq!((rows.len(), &rows[0]["state"]), (1, &json!("late")), "it fires once: {inbox}");
        assert_eq!((&rows[0]["kind"], &rows[0]["title"]), (&json!("todo"), &json!("tax")));
    }
    let read = done(&home, "inbox|--read");
    assert!(read.starts_with("⏰ Late reminder (was due 2020-01-02 09:00): todo #1 tax"), "{read}");
    assert_eq!(done_json(&home, "inbox"), json!({"unread": []}));
}

/// A year in a zone: entries at the hours that clock changes leave out and repeat.
fn year_in(zone: &str) {
    let home = Home::new().with("EVERLOOP_UI__TIME_ZONE", zone);
    for (hour, title) in [("02:30", "gap"), ("01:30", "twice"), ("09:00", "morning")] {
        let at = format!("2027-01-01 {hour}");
        let words = format!("schedule|add|{at}|{title}|--repeat|daily|--duration|10|--remind|{at}");
        done(&home, &words);
    }
    done(&home, "todo|add|tax|--due|2027-06-01 10:00|--remind|2027-05-31 09:00");
    let played =
        done_json(&home, "schedule|simulate|--from|2027-01-01|--to|2028-01-01|--crash-at|all");
    assert_eq!(
        (&played["ok"], &played["lost"], &played["wrong"]),
        (&json!(true), &json!(0), &json!(0))
    );
    let firings = played["firings"].as_array().unwrap();
    assert_eq!(firings.len(), 3 * 365 + 1);
    let crashes = played["crashes"].as_u64().unwrap();
    assert!(crashes >= firings.len() as u64, "a crash at every firing: {crashes}");
    let key = |firing: &Value| format!("{} {} {}", firing["kind"], firing["id"], firing["due"]);
    let each: BTreeSet<String> = firings.iter().map(key).collect();
    assert_eq!(each.len(), firings.len(), "each exactly once");
    let of = |title: &str| firings.iter().filter(|row| row["title"] == title).collect::<Vec<_>>();
    let days = |title: &str| {
        let day = |row: &&Value| row["due"].as_str().unwrap()[..10].to_owned();
        of(title).iter().map(day).collect::<BTreeSet<String>>().len()
    };
    assert_eq!((days("gap"), days("twice"), days("morning")), (365, 365, 365));
    let clock = |row: &Value| row["due"].as_str().unwrap()[11..16].to_owned();
    assert!(of("morning").iter().all(|row| clock(row) == "09:00"), "the wall clock is kept");
    let moved: Vec<_> = of("gap").into_iter().filter(|row| clock(row) != "02:30").collect();
    assert_eq!((moved.len(), clock(moved[0])), (1, "03:30".to_owned()), "{moved:?}");
    assert!(firings.iter().all(|row| row["state"] == "fired" && row["due"] == row["fired"]));
}

#[test]
fn a_year_in_rome_with_a_crash_at_every_firing_reminds_of_each_exactly_once() {
    year_in("Europe/Rome");
}

#[test]
fn a_year_in_new_york_with_a_crash_at_every_firing_reminds_of_each_exactly_once() {
    year_in("America/New_York");
}

#[test]
fn days_without_a_process_are_rehearsed_and_wrong_ranges_are_refused() {
    let home = rome();
    done(&home, "schedule|add|2027-01-01 09:00|x|--repeat|daily|--remind|2027-01-01 08:00");
    let from = "schedule|simulate|--from|2027-01-01|--to";
    let played =
        done_json(&home, &format!("{from}|2027-01-11|--down|2027-01-03..2027-01-06 12:00"));
    let states: Vec<_> =
        played["firings"].as_array().unwrap().iter().map(|row| row["state"].as_str()).collect();
    let of = |name: &str| states.iter().filter(|state| **state == Some(name)).count();
    assert_eq!((of("fired"), of("missed"), of("late")), (6, 3, 1), "{played}");
    let told = done(&home, &format!("{from}|2027-01-03|--crash-at|1"));
    assert!(told.contains("✓ firings: 2, ") && told.contains("each exactly once"), "{told}");
    misused(&home, &format!("{from}|2026-01-01"), "is not after --from");
    misused(&home, &format!("{from}|2028-01-01|--crash-at|x"), "--crash-at takes numbers");
    misused(&home, &format!("{from}|2028-01-01|--down|x"), "--down is written FROM..TO");
    let backwards = "--down|2027-01-05..2027-01-02";
    misused(&home, &format!("{from}|2028-01-01|{backwards}"), "--down is written FROM..TO");
    misused(&home, &format!("{from}|nonsense"), "Date not understood");
}

/// Generous for a loaded machine; a list that is looked through entry by entry takes longer.
const NO_VISIBLE_DELAY: Duration = Duration::from_secs(2);

#[test]
fn a_thousand_todos_and_five_hundred_recurring_entries_are_no_burden() {
    let home = rome();
    let lines: String = (0..1_000).map(|n| format!("todo number {n} @t{}\n", n % 7)).collect();
    std::fs::write(home.work("todo.txt"), lines).unwrap();
    let event = |n: u32| {
        let (hour, minute) = (n * 2 / 60, n * 2 % 60);
        format!(
            "BEGIN:VEVENT\r\nUID:e{n}\r\nDTSTAMP:20270101T000000Z\r\n\
             DTSTART;TZID=Europe/Rome:20270101T{hour:02}{minute:02}00\r\nDURATION:PT1M\r\n\
             RRULE:FREQ=DAILY\r\nSUMMARY:entry {n}\r\nEND:VEVENT\r\n"
        )
    };
    let events: String = (0..500).map(event).collect();
    let calendar = format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{events}END:VCALENDAR\r\n");
    std::fs::write(home.work("all.ics"), calendar).unwrap();
    assert!(done(&home, "todo|import|todo.txt").contains("1000 new"));
    assert!(done(&home, "schedule|import|all.ics").contains("500 new"));
    let quick = |words: &str| {
        let begun = Instant::now();
        let told = run(&home, words);
        assert!(begun.elapsed() < NO_VISIBLE_DELAY, "{words}: {:?}", begun.elapsed());
        told
    };
    assert!(quick("todo|list").ends_with(0).stdout.contains("1000 todos, 1000 open"));
    quick("todo|add|one more").ends_with(0);
    quick("todo|search|999").ends_with(0);
    let month = quick("schedule|view|month|2027-05|--json").ends_with(0).json();
    assert_eq!(month["entries"].as_array().unwrap().len(), 500 * 31);
    quick("schedule|list").ends_with(0);
    quick("schedule|add|2027-05-06 20:00|free|--repeat|daily").ends_with(0);
    quick("schedule|add|2027-05-06 08:00|clash|--duration|1").ends_with(1).says(&["entry 240"]);
    quick("inbox").ends_with(0);
}

#[test]
fn options_and_numbers_work_as_input_methods_write_them() {
    let home = rome();
    let first = done_json(&home, "todo|add|buy milk|——due|2030-05-06 18:00|－－priority|１");
    assert_eq!(first["todo"]["due"], "2030-05-06T18:00:00+02:00");
    assert_eq!(
        (&first["todo"]["text"], &first["todo"]["priority"]),
        (&json!("buy milk"), &json!(1))
    );
    let second = done_json(&home, "todo|add|pay tax|—due|2030-05-07 18:00");
    assert_eq!(second["todo"]["due"], "2030-05-07T18:00:00+02:00");
    assert_eq!(done_json(&home, "todo|get|#２")["todo"]["text"], "pay tax");
    let marked = done_json(&home, "todo|done|１，#2");
    assert_eq!(marked["todos"].as_array().unwrap().len(), 2);
    misused(&home, "todo|add|call|-due|tomorrow", "--due");
    misused(&home, "todo|done|1，x", "needs a number, not 1，x");
}

#[test]
fn what_is_not_understood_is_told_as_json_when_that_is_asked_for() {
    let home = rome();
    for (words, error) in [
        ("todo|add|call|--due|someday", "not_a_date"),
        ("todo|add|call|--due|yesterday", "past"),
        ("schedule|add|2030-05-06|review", "no_time"),
        ("todo|get|x", "usage"),
        ("todo|add|call|-due|tomorrow", "usage"),
    ] {
        misused(&home, words, "");
        let told = run(&home, &format!("{words}|--json")).ends_with(2).json();
        assert_eq!((&told["ok"], &told["error"]), (&json!(false), &json!(error)), "{words}");
        assert!(told["message"].as_str().is_some_and(|text| !text.is_empty()), "{words}");
    }
}

#[test]
fn a_date_of_the_next_year_is_saved_with_a_word_about_the_year() {
    let home = rome();
    let (year, today) = (jiff::Zoned::now().year(), jiff::Zoned::now().date());
    let yesterday = today.yesterday().unwrap();
    if yesterday.year() == year {
        let said = yesterday.strftime("%B %-d").to_string();
        let told = run(&home, &format!("todo|add|pay rent|--due|{said}")).ends_with(0);
        assert!(told.stderr.contains(&format!("in {}", year + 1)), "{told:?}");
    }
    let said = format!("{}-03-01", year + 1);
    let told = run(&home, &format!("todo|add|pay rent|--due|{said}")).ends_with(0);
    assert!(!told.stderr.contains("no year"), "{told:?}");
}
