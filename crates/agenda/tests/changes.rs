//! Changes lose nothing: neither due reminders nor concurrent writes.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::support::{Person, person};
use everloop_agenda::commands;
use everloop_agenda::desk::Agenda;
use everloop_agenda::kept::{AgendaConfig, reminders};
use everloop_agenda::portable::{self, PortableContent};
use everloop_store::{Db, DbFuture, FiringOutcome, MemoryDb, SqlRow, Store, Urgency, WriteResult};
use everloop_types::{SqlValue, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

impl Person {
    fn at(&mut self, now: &str) -> &mut Self {
        self.reader.now = format!("{now}[Asia/Shanghai]").parse().unwrap();
        self
    }

    /// All firings.
    async fn fired(&self) -> Vec<(String, FiringOutcome)> {
        let all = self.store.agenda().unread_firings(99).await.unwrap().into_iter();
        all.map(|firing| (self.reader.moment(firing.due.due_at), firing.state)).collect()
    }

    /// What fires now.
    async fn fires(&self) -> usize {
        let now = self.reader.now.timestamp().as_millisecond();
        reminders::fire_due(&self.store, self.desk.config(), now).await.unwrap().len()
    }
}

#[tokio::test]
async fn a_reminder_that_was_due_survives_a_change_of_its_entry() {
    use FiringOutcome::{Late, Missed};
    let add = "/schedule add 2026-11-16 10:00 站会 --repeat daily --remind 2026-11-16 09:50";
    for change in [
        "/schedule update 1 2026-11-16 10:30 晨会",
        "/schedule update 1 2026-11-16 10:00 站会 --remind none",
        "/schedule repeat 1 off",
        "/schedule delete 1",
    ] {
        let mut p = person();
        p.say(add).await;
        p.at("2026-11-17T12:00").say(change).await;
        let due = [("2026-11-16 09:50".to_owned(), Missed), ("2026-11-17 09:50".to_owned(), Late)];
        assert_eq!(p.fired().await, due, "{change}");
        assert_eq!(p.fires().await, 0, "{change}");
    }
}

#[tokio::test]
async fn a_reminder_that_was_due_survives_a_change_of_its_todo() {
    for change in [
        "/todo update 1 x --remind 2026-11-20 10:00",
        "/todo update 1 x --remind none",
        "/todo done 1",
        "/todo delete 1",
    ] {
        let mut p = person();
        p.say("/todo add x --due 2026-11-21 --remind 2026-11-16 10:00").await;
        p.at("2026-11-17T12:00").say(change).await;
        assert_eq!(
            p.fired().await,
            [("2026-11-16 10:00".to_owned(), FiringOutcome::Late)],
            "{change}"
        );
    }
}

#[tokio::test]
async fn a_reminder_that_was_due_survives_an_import() {
    let mut p = person();
    p.say("/schedule add 2026-11-16 10:00 站会 --repeat daily --remind 2026-11-16 09:50").await;
    p.say("/todo add x --due 2026-11-21 --remind 2026-11-16 10:00").await;
    for (what, from, to) in [
        (PortableContent::Schedule, "T100000", "T103000"),
        (PortableContent::Todos, "remind:2026-11-16T10:00", "remind:2026-11-19T10:00"),
    ] {
        p.at("2026-11-15T09:00");
        let file = portable::export(what, &p.store, &p.reader).await.unwrap();
        let file = file.replace(from, to);
        p.at("2026-11-16T12:00");
        assert_eq!(portable::import(what, &file, &p.desk, &p.reader).await.unwrap().changed, 1);
        assert_eq!(p.fired().await.len(), 2);
    }
    assert_eq!(p.fires().await, 0);
}

#[tokio::test]
async fn a_change_does_not_remind_of_what_is_long_past() {
    let mut p = person();
    p.say("/schedule add 2026-11-16 10:00 站会 --repeat daily --remind 2026-11-16 09:50").await;
    p.say("/schedule add 2026-11-16 12:00 一次 --remind 2026-11-16 11:50").await;
    p.say("/todo add x --due 2026-11-21 --remind 2026-11-16 10:00").await;
    p.at("2026-11-19T09:50");
    assert_eq!(p.fires().await, 4 + 1 + 1);
    p.say("/schedule repeat 1 off").await;
    p.say("/schedule update 2 2026-11-16 12:30 一次").await;
    p.say("/todo update 1 x --remind 2026-11-17 10:00").await;
    assert_eq!(p.fires().await, 0);
    p.say("/schedule repeat 1 on").await;
    assert_eq!(p.fires().await, 0, "the one of this minute has fired");
    assert_eq!(p.at("2026-11-20T09:50").fires().await, 1);
}

#[tokio::test]
async fn what_an_update_does_not_say_stays_and_what_it_cannot_do_is_refused() {
    let mut p = person();
    let first = "/schedule add 2026-11-16 10:00 站会 --repeat daily --remind 2026-11-16 09:50";
    p.say(&format!("{first} --remind-start 2026-11-20 00:00")).await;
    p.say("/schedule update 1 2026-11-16 10:00 站会 --remind 2026-11-16 09:45").await;
    assert!(p.say("/schedule get 1").await.contains("2026-11-20 09:45"));
    p.say("/schedule update 1 2026-11-16 10:00 站会 --remind-start none").await;
    assert!(p.say("/schedule get 1").await.contains("2026-11-16 09:45"));
    p.say("/schedule add 2026-11-16 12:00 一次 --remind none").await;
    let refused = p.say("/schedule update 2 2026-11-16 12:00 新 --remind-start 2026-11-20").await;
    assert!(refused.contains("没有提醒"), "{refused}");
    let refused = p.say("/schedule update 2 2026-11-16 12:00 新 --times 3").await;
    assert!(refused.contains("没有重复规则"), "{refused}");
    assert!(p.say("/schedule get 2").await.contains("一次"), "nothing of it was saved");
    p.at("2026-11-16T09:00");
    let both = "/schedule update 1 2026-11-16 10:00 站会 --remind none --remind-start 2026-11-20";
    assert!(p.say(both).await.contains("没有提醒"));
}

#[tokio::test]
async fn a_change_that_takes_no_other_time_is_in_nobodys_way() {
    let p = person();
    p.say("/schedule add 2026-11-16 10:00 甲 --repeat daily").await;
    let file = portable::export(PortableContent::Schedule, &p.store, &p.reader).await.unwrap();
    let other = file.replace("UID:schedule", "UID:other");
    let done =
        portable::import(PortableContent::Schedule, &other, &p.desk, &p.reader).await.unwrap();
    assert_eq!((done.added, done.conflicts), (1, 1));
    assert!(p.say("/schedule update 1 2026-11-16 10:00 乙").await.starts_with("已修改"));
    assert!(p.say("/schedule repeat 1 off").await.starts_with("已修改"));
    assert!(p.say("/schedule repeat 1 on").await.contains("冲突"));
    assert!(p.say("/schedule update 1 2026-11-16 10:30 乙").await.contains("冲突"));
}

/// A database with a number of concurrent writes that come first.
struct Crowded {
    db: Arc<MemoryDb>,
    left: AtomicI64,
    line: &'static str,
    reader: everloop_agenda::show::DisplayContext,
}

impl Db for Crowded {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            let changes = |write: &Write| write.statement.sql().trim_start().starts_with("UPDATE");
            if writes.iter().any(changes) && self.left.fetch_sub(1, Ordering::SeqCst) > 0 {
                let other = Agenda::new(Store::with_db(self.db.clone()), AgendaConfig::default());
                let command = commands::parse(self.line, &self.reader.now).unwrap();
                other.perform(&command, &self.reader.now, None).await.unwrap().unwrap();
            }
            self.db.commit(writes, urgency).await
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        self.db.query(sql, params)
    }
}

#[tokio::test]
async fn of_two_writers_at_once_neither_loses_what_it_wrote() {
    let add = ["/todo add 甲 --tag w", "/schedule add 2026-11-16 10:00 甲 --repeat daily"];
    for (often, other, line, words) in [
        (1, "/todo done 1", "/todo update 1 乙", ["乙", "完成"]),
        (1, "/todo update 1 乙", "/todo done 1", ["乙", "完成"]),
        (3, "/schedule repeat 1 off", "/schedule update 1 2026-11-16 10:00 乙", ["乙", "关闭"]),
    ] {
        let mut p = person();
        let db = Arc::new(MemoryDb::new());
        p.store = Store::with_db(db.clone());
        p.desk = Agenda::new(p.store.clone(), AgendaConfig::default());
        for line in add {
            p.say(line).await;
        }
        let (left, reader) = (AtomicI64::new(often), p.reader.clone());
        let crowded = Arc::new(Crowded { db, left, line: other, reader });
        p.desk = Agenda::new(Store::with_db(crowded.clone()), AgendaConfig::default());
        for _ in 0..2 {
            p.say_keyed(line, "k").await;
        }
        assert!(crowded.left.load(Ordering::SeqCst) <= 0, "{line}");
        let get = if line.starts_with("/todo") { "/todo get 1" } else { "/schedule get 1" };
        let shown = p.say(get).await;
        assert!(words.iter().all(|word| shown.contains(word)), "{line}: {shown}");
    }
}

#[tokio::test]
async fn a_crowd_that_never_ends_is_told_and_changes_nothing() {
    let mut p = person();
    let db = Arc::new(MemoryDb::new());
    p.desk = Agenda::new(Store::with_db(db.clone()), AgendaConfig::default());
    p.say("/todo add 甲").await;
    let (left, reader) = (AtomicI64::new(i64::MAX), p.reader.clone());
    let crowded = Arc::new(Crowded { db, left, line: "/todo reopen 1", reader });
    p.desk = Agenda::new(Store::with_db(crowded), AgendaConfig::default());
    assert!(p.say("/todo update 1 乙").await.contains("反复修改"));
    assert!(p.say("/todo get 1").await.contains("甲"));
}

#[tokio::test]
async fn a_minute_by_minute_entry_is_looked_through_to_the_end_and_counted_whole() {
    let p = person();
    let add = "/schedule add 2026-11-16 00:00 点名 --interval 2 --duration 1";
    assert!(p.say(add).await.starts_with("已添加"));
    let list = p.say("/schedule list").await;
    assert_eq!(list.lines().count(), 2, "a head, and one row with the next times: {list:.300}");
    let day = p.say("/schedule view day 2026-11-20").await;
    assert!(day.lines().count() == 202 && day.ends_with("另有 520 次没有列出"), "{day}");
    let month = p.say("/schedule view month 2026-12").await;
    assert!(month.contains("31(720)"), "{month:.600}");
    // The 20th day is beyond the first two thousand occurrences.
    let refused = p.say("/schedule add 2026-12-05 12:00 会 --duration 1").await;
    assert!(refused.contains("冲突"), "{refused}");
    let between = p.say("/schedule add 2026-12-05 12:01 会 --interval 2 --duration 1").await;
    assert!(between.starts_with("已添加"), "{between}");
}

#[tokio::test]
async fn what_is_too_long_is_refused_in_words_of_its_own() {
    let p = person();
    let long = |count: usize| "长".repeat(count);
    assert!(p.say(&format!("/todo add {}", long(2_000))).await.starts_with("已添加"));
    let add = format!("/schedule add 2026-11-16 10:00 {}", long(2_000));
    assert!(p.say(&add).await.starts_with("已添加"));
    for line in [format!("/todo add {}", long(2_001)), format!("{add}长")] {
        assert_eq!(p.say(&line).await, "文字太长：最多 2000 个字");
    }
    let tagged = |count: usize| format!("/todo add x --tag {}", long(count));
    assert!(p.say(&tagged(100)).await.starts_with("已添加"));
    assert_eq!(p.say(&tagged(101)).await, "标签太长：最多 100 个字");
}

#[test]
fn many_quotes_are_cut_at_once() {
    let quotes = "\u{201c}a ".repeat(100_000);
    let began = std::time::Instant::now();
    let mut words = commands::CommandWords::of(&quotes);
    assert_eq!(words.next().as_deref(), Some("\u{201c}a"));
    assert!(began.elapsed() < std::time::Duration::from_secs(2));
    let words = commands::CommandWords::of("a \"b c\"d \"e").rest();
    assert_eq!(words, "a b c d \"e");
}

#[tokio::test]
async fn keys_are_forgotten_when_no_run_may_come_back_to_them() {
    use everloop_agenda::tools::forget_old_keys;
    const DAY_MS: i64 = 86_400_000;
    let p = person();
    p.say_keyed("/todo add 一次", "k").await;
    let now = p.reader.now.timestamp().as_millisecond();
    for (days, keep, todos) in [(390, 30, 1), (396, 400, 1), (396, 30, 2)] {
        forget_old_keys(&p.store, now + days * DAY_MS, keep * DAY_MS).await.unwrap();
        p.say_keyed("/todo add 一次", "k").await;
        assert_eq!(p.store.agenda().todos().await.unwrap().len(), todos, "after {days} days");
    }
}
