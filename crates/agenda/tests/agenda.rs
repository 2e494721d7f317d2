//! Saved items: reminders without a length, conflicts and their resolution, defaults, and notices.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::support::{Person, person, person_in};
use everloop_agenda::desk::Agenda;
use everloop_agenda::kept::{AgendaConfig, reminders};
use everloop_agenda::{commands, show};
use everloop_store::Store;
use everloop_types::Lang;
use serde_json::{Value, json};

impl Person {
    async fn json(&self, line: &str) -> Value {
        let command = self.parsed(line);
        let answer = self.desk.perform(&command, &self.reader.now, None).await.unwrap();
        show::as_json(&self.reader, &answer)
    }

    fn english(mut self) -> Self {
        self.reader.lang = Lang::En;
        self
    }

    fn with(mut self, config: AgendaConfig) -> Self {
        self.desk = Agenda::new(self.store.clone(), config);
        self
    }

    /// The reminders up to this moment, as lines.
    async fn rings(&self, at: &str) -> Vec<String> {
        let at: jiff::Zoned = format!("{at}[Asia/Shanghai]").parse().unwrap();
        let at = at.timestamp().as_millisecond();
        let fired = reminders::fire_due(&self.store, self.desk.config(), at).await.unwrap();
        show::firing_lines(&self.reader, &fired)
    }
}

fn reminding(default_reminder_ms: Option<i64>) -> AgendaConfig {
    AgendaConfig { default_reminder_ms, ..AgendaConfig::default() }
}

#[tokio::test]
async fn a_reminder_takes_no_time_and_conflicts_with_nothing() {
    let p = person();
    assert_eq!(
        p.say("/schedule add 2026-11-15 10:00 喝水 --interval 60 --duration 0").await,
        "已添加提醒 #1：喝水（2026-11-15 10:00 Asia/Shanghai，每小时，下次提醒 2026-11-15 10:00）"
    );
    for line in [
        "/schedule add 2026-11-15 09:30 开会 --duration 120",
        "/schedule add 2026-11-15 10:00 吃药 --duration 0 --repeat daily",
        "/schedule add 2026-11-15 12:00 站 --interval 1 --times 3 --duration 0",
        "/schedule update 3 2026-11-15 10:30 吃药",
        "/schedule repeat 1 off",
        "/schedule repeat 1 on",
    ] {
        let said = p.say(line).await;
        assert!(said.starts_with("已添加") || said.starts_with("已修改"), "{line}: {said}");
    }
    let day = p.say("/schedule view day 2026-11-16").await;
    assert!(day.contains("  10:00 提醒  #1 喝水\n"), "{day:.400}");
    assert!(day.contains("  00:00 提醒  #1 喝水\n"), "what is at midnight is of this day");
    let before = p.say("/schedule view day 2026-11-15").await;
    assert!(!before.contains("00:00 提醒  #1"), "and not of the day before: {before:.300}");
    assert!(p.say("/schedule get 1").await.contains("提醒"));
    let entry = &p.json("/schedule get 1").await["entry"];
    assert_eq!((&entry["minutes"], &entry["is_reminder"]), (&json!(0), &json!(true)));
    let rings = p.rings("2026-11-15T10:00").await;
    assert!(rings.contains(&"⏰ 提醒：#1 喝水（2026-11-15 10:00）".to_owned()), "{rings:?}");
}

#[tokio::test]
async fn an_entry_that_becomes_a_reminder_rings_and_needs_no_room() {
    let p = person().with(reminding(None));
    p.say("/schedule add 2026-11-16 10:00 甲").await;
    p.say("/schedule add 2026-11-16 12:00 乙").await;
    assert!(p.say("/schedule update 2 2026-11-16 10:00 乙").await.contains("冲突"));
    let changed = p.say("/schedule update 2 2026-11-16 10:00 乙 --duration 0").await;
    assert!(changed.starts_with("已修改提醒 #2：乙"), "{changed}");
    assert_eq!(p.rings("2026-11-16T10:00").await, ["⏰ 提醒：#2 乙（2026-11-16 10:00）"]);
}

#[tokio::test]
async fn a_conflict_names_the_next_free_time_of_the_same_length_and_the_way_to_save_anyway() {
    let p = person();
    p.say("/schedule add 2026-11-16 10:00 甲").await;
    p.say("/schedule add 2026-11-16 11:30 乙 --duration 30").await;
    let add = "/schedule add 2026-11-16 10:30 丙";
    assert_eq!(
        p.say(add).await,
        "没有保存：与下列日程时间冲突\n  #1  2026-11-16 10:00（60 分钟）  甲\n\
         最近的空闲时间：2026-11-16 12:00（60 分钟）\n仍要保存，请加上 --allow-conflict"
    );
    let told = p.json(&format!("{add} --duration 20")).await;
    assert_eq!(told["error"], "conflict");
    assert_eq!(told["conflict"]["next_free"], "2026-11-16T11:00:00+08:00");
    assert_eq!(told["conflict"]["minutes"], 20);
    let with = &told["conflict"]["with"][0];
    assert_eq!((&with["id"], &with["end"]), (&json!(1), &json!("2026-11-16T11:00:00+08:00")));
    // The suggested time has no conflict.
    assert!(p.say("/schedule add 2026-11-16 11:00 丙 --duration 20").await.starts_with("已添加"));
    let saved = p.say(&format!("{add} --allow-conflict")).await;
    assert!(saved.starts_with("已添加日程 #4：丙"), "{saved}");
    assert!(
        p.say("/schedule update 4 2026-11-16 11:40 丙")
            .await
            .contains("空闲时间：2026-11-16 12:00")
    );
    let moved = p.say("/schedule update 4 2026-11-16 11:40 丙 --allow-conflict").await;
    assert!(moved.starts_with("已修改"), "{moved}");
    let own = "/schedule add 2026-11-20 10:00 自叠 --interval 30 --duration 45";
    assert!(p.say(own).await.contains("--allow-conflict"));
    assert!(p.say(&format!("{own} --allow-conflict")).await.starts_with("已添加"));
    let told = p.english().say("/schedule add 2026-11-16 10:15 x").await;
    assert!(told.contains("Next free time: 2026-11-16 12:40 (60 min)"), "{told}");
}

#[tokio::test]
async fn a_repetition_is_offered_a_time_of_its_own_day_that_is_free_every_time() {
    let p = person();
    p.say("/schedule add 2026-11-16 09:00 站会 --repeat weekdays").await;
    p.say("/schedule add 2026-11-18 10:30 评审 --duration 90").await;
    let told = p.json("/schedule add 2026-11-16 09:30 读书 --repeat daily").await;
    assert_eq!(told["conflict"]["next_free"], "2026-11-16T12:00:00+08:00");
    let again = "/schedule add 2026-11-16 12:00 读书 --repeat daily";
    assert!(p.say(again).await.starts_with("已添加"), "what is offered is free");
    p.say("/schedule add 2026-11-16 22:00 夜 --duration 120 --repeat daily").await;
    let told = p.json("/schedule add 2026-11-16 22:30 晚 --repeat daily").await;
    assert_eq!(told["conflict"]["next_free"], Value::Null, "another day would be another rule");
    // A suggested time is not in the past.
    p.say("/schedule add 2026-11-14 10:00 跑步 --duration 60").await;
    let told = p.json("/schedule add 2026-11-14 10:30 打球").await;
    assert_eq!(told["conflict"]["next_free"], "2026-11-15T09:00:00+08:00");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_want_the_same_time_at_once_one_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("x.db")).unwrap();
    for round in 0..4 {
        let now = person().reader.now;
        let adding: Vec<_> = (0..10)
            .map(|n| {
                let desk = Agenda::new(store.clone(), AgendaConfig::default());
                let now = now.clone();
                tokio::spawn(async move {
                    let day = 16 + round;
                    let line = format!("/schedule add 2026-11-{day} 10:{:02} e{n}", n * 3);
                    let command = commands::parse(&line, &now).unwrap();
                    desk.perform(&command, &now, None).await.unwrap().is_ok()
                })
            })
            .collect();
        let mut saved = 0;
        for task in adding {
            saved += usize::from(task.await.unwrap());
        }
        assert_eq!(saved, 1, "round {round}");
        assert_eq!(store.agenda().schedules().await.unwrap().len(), round + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_want_different_times_at_once_each_gets_its_own() {
    let p = person();
    let adding: Vec<_> = (0..20)
        .map(|n| {
            let (desk, now) = (p.desk.clone(), p.reader.now.clone());
            tokio::spawn(async move {
                let line = format!("/schedule add 2026-11-16 {n:02}:00 e{n}");
                let command = commands::parse(&line, &now).unwrap();
                desk.perform(&command, &now, None).await.unwrap().is_ok()
            })
        })
        .collect();
    for task in adding {
        assert!(task.await.unwrap());
    }
}

#[tokio::test]
async fn an_entry_rings_at_its_start_or_as_is_set_or_not_at_all() {
    const ADD: &str = "/schedule add 2026-11-16 09:00 站会 --repeat weekdays";
    for (config, said, rings) in [
        (reminding(Some(0)), "", Some("2026-11-16 09:00")),
        (reminding(Some(600_000)), "", Some("2026-11-16 08:50")),
        (reminding(None), "", None),
        (reminding(Some(0)), " --remind none", None),
        (reminding(None), " --remind 2026-11-16 08:00", Some("2026-11-16 08:00")),
    ] {
        let p = person().with(config);
        let told = p.say(&format!("{ADD}{said}")).await;
        let next = rings.map(|at| format!("下次提醒 {at}"));
        assert_eq!(told.contains("提醒"), rings.is_some(), "{told}");
        assert!(next.is_none_or(|next| told.contains(&next)), "{told}");
    }
    // It begins sooner than the lead time: it reminds at its start. A todo reminds only on request.
    let p = person().with(reminding(Some(3_600_000)));
    p.say("/schedule add 2026-11-15 09:30 快了").await;
    p.say("/todo add 交税 --due 2026-11-15 09:20").await;
    assert_eq!(p.rings("2026-11-15T09:29").await, Vec::<String>::new());
    assert_eq!(p.rings("2026-11-15T09:30").await, ["⏰ 提醒：#1 快了（2026-11-15 09:30）"]);
}

#[tokio::test]
async fn a_reminder_keeps_its_distance_when_the_entry_is_moved_and_each_time_it_comes_again() {
    let p = person();
    p.say("/schedule add 2026-11-16 10:00 站会 --repeat daily --remind 2026-11-16 09:45").await;
    p.say("/schedule update 1 2026-11-17 14:00 站会").await;
    assert_eq!(p.rings("2026-11-17T13:44").await, Vec::<String>::new());
    for day in [17, 18] {
        let at = format!("2026-11-{day}T13:45");
        let line = format!("⏰ 提醒：日程 #1 站会，2026-11-{day} 14:00 开始");
        assert_eq!(p.rings(&at).await, [line]);
    }
    // The change moves the reminder into the past: it fires at once, and is not lost.
    let mut p = person();
    p.say("/schedule add 2026-11-16 10:00 会 --remind 2026-11-16 09:00").await;
    p.reader.now = "2026-11-16T08:00[Asia/Shanghai]".parse().unwrap();
    p.say("/schedule update 1 2026-11-16 08:30 会").await;
    assert_eq!(p.rings("2026-11-16T08:00").await.len(), 1);
}

#[tokio::test]
async fn an_entry_that_repeats_on_its_day_repeats_on_the_day_to_which_it_is_moved() {
    let p = person();
    for (add, update, day) in [
        ("2026-11-18 15:00 周会 --repeat weekly:wed", "2026-11-19 16:00 周会", "每周四"),
        ("2026-12-10 15:00 月会 --repeat monthly:10", "2026-12-11 16:00 月会", "每月 11 号"),
        ("2026-11-18 09:00 训练 --repeat weekly:mon,wed", "2026-11-20 09:00 训练", "每周一、三"),
    ] {
        let id = p.json(&format!("/schedule add {add}")).await["entry"]["id"].clone();
        let moved = p.say(&format!("/schedule update {id} {update}")).await;
        assert!(moved.contains(day), "{moved}");
    }
}

#[tokio::test]
async fn what_is_past_is_saved_with_a_word() {
    let p = person();
    let told = p.say("/todo add 交税 --due 2026-11-14 10:00").await;
    assert!(told.ends_with("\n注意：截止时间 2026-11-14 10:00 已经过去"), "{told}");
    let told = p.say("/schedule add 2026-11-15 07:00 跑步").await;
    assert!(told.ends_with("\n注意：开始时间 2026-11-15 07:00 已经过去"), "{told}");
    let told = p.json("/schedule add 2026-11-14 07:00 游泳").await;
    assert_eq!(told["notices"][0]["kind"], "start_past");
    assert_eq!(told["notices"][0]["at"], "2026-11-14T07:00:00+08:00");
    assert_eq!(p.rings("2026-11-15T09:00").await, Vec::<String>::new(), "the past does not ring");
    let told = p.json("/todo add x --due 2026-11-16 --remind 2026-11-15 08:00").await;
    assert_eq!(told["notices"][0]["kind"], "reminder_past");
    assert_eq!(p.rings("2026-11-15T09:00").await.len(), 1, "what was asked for rings at once");
    // Future times, repetitions without an end and unchanged times give no notice.
    for line in [
        "/schedule add 2026-11-14 06:00 晨 --repeat daily",
        "/schedule add 2026-11-15 11:00 会",
        "/todo add y --due 2026-11-15 09:00",
        "/todo update 1 交税了 --priority 2",
    ] {
        assert_eq!(p.json(line).await["notices"], json!([]), "{line}");
    }
    let told = p.say("/todo update 1 交税 --due 2026-11-13 10:00").await;
    assert!(told.ends_with("已经过去"), "{told}");
    let told = p.english().say("/todo add tax --due 2026-11-14 10:00").await;
    assert!(told.ends_with("\nNote: its due time, 2026-11-14 10:00, is already past"), "{told}");
}

#[tokio::test]
async fn what_was_done_or_deleted_is_named_and_done_twice_says_so() {
    let p = person().english();
    p.say("/todo add buy milk").await;
    assert_eq!(p.say("/todo done 1").await, "Done: todo #1: buy milk");
    let again = "Todo #1 was already done at 2026-11-15 09:00: buy milk";
    assert_eq!(p.say("/todo done 1").await, again);
    assert_eq!(p.json("/todo done 1").await["did"], "was_finished");
    p.say("/todo add tea").await;
    for _ in 0..2 {
        let done = p.say_keyed("/todo done 2", "k").await;
        assert_eq!(done, "Done: todo #2: tea", "the same call again is the same");
    }
    p.say("/schedule add 2026-11-16 10:00 dentist").await;
    assert_eq!(p.say("/schedule delete 1").await, "Deleted entry #1: dentist");
    let gone = json!({"ok": true, "did": "deleted", "id": 1, "text": "buy milk"});
    assert_eq!(p.json("/todo delete 1").await, gone);
}

#[tokio::test]
async fn a_list_that_is_empty_because_of_what_was_asked_for_says_so() {
    let p = person().english();
    assert!(p.say("/todo list").await.starts_with("There are no todos."));
    p.say("/todo add x --tag work").await;
    for (line, told) in [
        ("/todo list --tag home", "No todos with the tag home"),
        ("/todo list --tag home --open", "No open todos with the tag home"),
        ("/view today --tag home", "No todos with the tag home in the view today"),
        ("/todo search y --tag work", "No todos with the tag work with “y” in them"),
    ] {
        assert_eq!(p.say(line).await, told, "{line}");
    }
    p.say("/todo done 1").await;
    assert_eq!(p.say("/todo list --open").await, "No open todos");
    let p = person();
    assert_eq!(p.say("/todo list --tag 家").await, "没有标签为“家”的待办");
    assert_eq!(
        p.say("/view today --tag 家 --open").await,
        "没有视图 today 里标签为“家”的未完成的待办"
    );
}

#[tokio::test]
async fn a_reminder_in_a_minute_keeps_its_seconds() {
    let p = person_in("2026-11-15T09:00:21[Asia/Shanghai]");
    p.say("/schedule add \"in 1 minute\" 关火 --duration 0").await;
    p.say("/todo add 开火 --due \"in 1 minute\" --remind \"in 1 minute\"").await;
    assert_eq!(p.rings("2026-11-15T09:01:20").await, Vec::<String>::new());
    assert_eq!(p.rings("2026-11-15T09:01:21").await.len(), 2);
    let file = everloop_agenda::portable::PortableContent::Schedule;
    let text = everloop_agenda::portable::export(file, &p.store, &p.reader).await.unwrap();
    assert!(text.contains("DTSTART;TZID=Asia/Shanghai:20261115T090121"), "{text}");
    assert!(!text.contains("DURATION"), "a reminder takes no time: {text}");
    let again = everloop_agenda::portable::import(file, &text, &p.desk, &p.reader).await;
    assert_eq!(again.unwrap().same, 1);
    let other = person_in("2026-11-15T09:00:21[Asia/Shanghai]");
    everloop_agenda::portable::import(file, &text, &other.desk, &other.reader).await.unwrap();
    let rows = [
        p.store.agenda().schedules().await.unwrap(),
        other.store.agenda().schedules().await.unwrap(),
    ];
    assert_eq!(rows[0][0].said, rows[1][0].said, "it comes back as a reminder");
}
