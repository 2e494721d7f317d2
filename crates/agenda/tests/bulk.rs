//! Several tags, several todos at once, undoing, snoozing, and tables that fit.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::support::{Person, person};
use everloop_agenda::commands;
use everloop_agenda::desk::CommandOutcome;
use everloop_agenda::kept::reminders;
use everloop_types::Lang;
use unicode_width::UnicodeWidthStr;

fn english() -> Person {
    let mut p = person();
    p.reader.lang = Lang::En;
    p
}

async fn tags(p: &Person, id: i64) -> Vec<String> {
    p.store.agenda().todo(id).await.unwrap().unwrap().said.tags
}

#[tokio::test]
async fn a_todo_has_several_tags_from_options_and_from_its_text() {
    let p = english();
    let added = p.say("/todo add buy milk #home --tag shop --tag a,b").await;
    assert_eq!(added, "Added todo #1: buy milk (tags shop, a, b, home)");
    p.say("/todo add call #12 about C# #work").await;
    assert_eq!(tags(&p, 2).await, ["work"], "a number is no tag");
    assert_eq!(p.store.agenda().todo(2).await.unwrap().unwrap().said.text, "call #12 about C#");
    assert_eq!(p.ids("/todo list --tag home --tag a").await, [1], "all of them");
    assert_eq!(p.ids("/todo list --tag home --tag work").await, [0; 0]);
    p.say("/todo update 1 #late").await;
    assert_eq!(tags(&p, 1).await, ["shop", "a", "b", "home", "late"]);
    p.say("/todo update 1 --tag x").await;
    assert_eq!(tags(&p, 1).await, ["x"]);
    p.say("/todo update 1 --tag none").await;
    assert!(tags(&p, 1).await.is_empty());
    assert_eq!(p.say("/todo list --tag nowhere").await, "No todos with the tag nowhere");
}

#[tokio::test]
async fn ranges_and_lists_of_numbers_change_all_or_none() {
    let p = english();
    for n in 1..=7 {
        p.say(&format!("/todo add t{n}")).await;
    }
    p.say("/todo done 2 3 5-7").await;
    assert_eq!(p.ids("/todo list --open").await, [1, 4]);
    p.say("/todo update 1,4 --due 2026-11-20 --tag later").await;
    assert_eq!(p.ids("/todo list --tag later").await, [1, 4]);
    assert_eq!(p.say("/todo delete 4-9").await, "Todo #8 not found");
    assert_eq!(p.ids("/todo list --open").await, [1, 4], "nothing was deleted");
    for wrong in ["/todo done 5-", "/todo done 7-5", "/todo done 1-999999"] {
        assert!(p.say(wrong).await.contains("/todo done"), "{wrong}");
    }
}

#[tokio::test]
async fn a_filter_proposes_and_changes_nothing_by_itself() {
    let p = english();
    for line in ["/todo add a #home", "/todo add b #home", "/todo add c"] {
        p.say(line).await;
    }
    let command = p.parsed("/todo done --tag home");
    let proposed = p.desk.perform(&command, &p.reader.now, None).await.unwrap().unwrap();
    assert!(matches!(proposed, CommandOutcome::Proposed(_, todos) if todos.len() == 2));
    let said = p.say("/todo done --tag home").await;
    assert!(said.starts_with("This marks 2 todos as done:\n  #1 a\n  #2 b"), "{said}");
    assert!(said.ends_with("/todo done 1 2"), "{said}");
    assert_eq!(p.ids("/todo list --open").await, [1, 2, 3]);
    assert_eq!(p.say("/todo delete --tag x").await, "No todos with the tag x");
    assert_eq!(commands::canonical(&command, &p.reader.now), "/todo done --tag home");
}

#[tokio::test]
async fn the_last_changes_are_undone_one_by_one() {
    let p = english();
    p.say("/todo add a --tag x").await;
    p.say("/todo add b").await;
    p.say("/todo done 1 2").await;
    let gone = p.say("/todo delete 1").await;
    assert_eq!(gone, "Deleted todo #1: a");
    assert_eq!(p.say("/todo undo").await, "Undone: todo #1 is as it was before: a");
    assert_eq!(tags(&p, 1).await, ["x"]);
    let both = p.say("/todo undo").await;
    assert_eq!(both.lines().count(), 2, "{both}");
    assert_eq!(p.ids("/todo list --open").await, [1, 2]);
    p.say("/schedule add 2026-11-20 10:00 meeting").await;
    p.say("/schedule delete 1").await;
    assert!(p.say("/schedule undo").await.contains("entry #1 is as it was before: meeting"));
    let rest = p.say("/todo undo 20").await;
    assert!(rest.contains("removed entry #1") && rest.contains("removed todo #1"), "{rest}");
    assert!(p.say("/todo undo").await.starts_with("There is no change"));
    assert!(p.ids("/todo list").await.is_empty());
    let refused = p.say_keyed("/todo undo", "k").await;
    assert!(!refused.contains("Undone"), "a call that may be repeated undoes nothing: {refused}");
}

#[tokio::test]
async fn a_reminder_is_put_off_or_its_todo_done() {
    let mut p = english();
    assert_eq!(p.say("/snooze").await, "No reminder has fired yet.");
    p.say("/todo add tea --due 2026-11-15 10:00 --remind 2026-11-15 09:30").await;
    p.say("/schedule add 2026-11-15 09:20 stand-up --repeat daily").await;
    let fire = async |p: &mut Person, at: &str| {
        p.reader.now = format!("2026-11-15T{at}[Asia/Shanghai]").parse().unwrap();
        let now = p.reader.now.timestamp().as_millisecond();
        let fired = reminders::fire_due(&p.store, p.desk.config(), now).await.unwrap();
        fired.into_iter().map(|firing| firing.title).collect::<Vec<_>>()
    };
    assert_eq!(fire(&mut p, "09:20").await, ["stand-up"]);
    assert_eq!(p.say("/snooze 5m").await, "Snoozed until 2026-11-15 09:25: stand-up");
    assert_eq!(fire(&mut p, "09:24").await, [""; 0]);
    assert_eq!(fire(&mut p, "09:25").await, ["stand-up"]);
    let next = p.store.agenda().schedule(1).await.unwrap().unwrap().remind_next.unwrap();
    assert_eq!(p.reader.moment(next), "2026-11-16 09:20", "tomorrow it reminds as ever");
    assert_eq!(fire(&mut p, "09:30").await, ["tea"]);
    assert_eq!(p.say("/snooze 1").await, "Snoozed until 2026-11-15 09:40: tea");
    assert_eq!(fire(&mut p, "09:40").await, ["tea"]);
    assert_eq!(
        p.say("/done").await.lines().next().unwrap(),
        "Done: todo #1: tea (due 2026-11-15 10:00, reminder 2026-11-15 09:30)"
    );
    p.reader.lang = Lang::ZhCn;
    assert_eq!(p.say("/推迟 半小时").await, "#1 没有可以推迟的提醒。");
}

#[tokio::test]
async fn a_table_fits_and_leaves_out_what_is_empty() {
    for lang in [Lang::En, Lang::ZhCn] {
        let mut p = person();
        p.reader.lang = lang;
        p.reader.width = Some(60);
        p.say("/todo add 买牛奶、面包、鸡蛋和咖啡 #home --due 2026-11-15").await;
        p.say("/todo add write the report for the board --due 2026-11-16 15:00 --priority 1").await;
        p.say("/todo add pay --due 2026-11-14").await;
        let table = p.say("/todo list").await;
        assert!(table.lines().all(|line| UnicodeWidthStr::width(line) <= 60), "{table}");
        assert!(!table.contains(" - ") && !table.contains("default"), "{table}");
        assert!(table.contains("买牛奶、面包、鸡蛋和咖啡"), "{table}");
        assert!(table.contains("write the report for"), "{table}");
        let (today, overdue) = match lang {
            Lang::En => ("today", "overdue"),
            Lang::ZhCn => ("今天", "过期"),
        };
        let row = |word: &str| table.lines().find(|line| line.contains(word)).unwrap().to_owned();
        assert!(row("牛奶").contains(today) && row("pay").contains(overdue), "{table}");
        assert!(!row("牛奶").contains("23:59"), "{table}");
    }
}

#[tokio::test]
async fn a_repeating_entry_is_one_row_with_its_next_times() {
    let p = english();
    p.say("/schedule add 2026-11-16 09:00 stand-up --repeat daily --duration 15m").await;
    p.say("/schedule add 2026-11-18 15:00 review").await;
    let list = p.say("/schedule list").await;
    assert_eq!(list.matches("stand-up").count(), 1, "{list}");
    assert!(list.contains("stand-up (then 11-17 09:00, 11-18 09:00)"), "{list}");
    let week = p.say("/schedule view week").await;
    assert!(week.starts_with("2026-11-15"), "it begins today: {week}");
    assert!(week.contains("2026-11-21"), "{week}");
}
