//! Reminders fire once: in time, late, after crashes, across clock changes.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::support::{Person, person, person_in};
use everloop_agenda::kept::simulate::{Crashes, Rehearsal, STEPS_MAX, rehearse};
use everloop_agenda::kept::{AgendaConfig, CatchUp, reminders};
use everloop_agenda::show;
use everloop_store::{Firing, FiringOutcome};
use everloop_types::UtcMs;
use jiff::Zoned;
use jiff::civil::{Date, Time, Weekday, date, time};
use jiff::tz::TimeZone;

fn ms(at: &str) -> UtcMs {
    at.parse::<Zoned>().unwrap().timestamp().as_millisecond()
}

fn shanghai(at: &str) -> UtcMs {
    ms(&format!("{at}[Asia/Shanghai]"))
}

async fn fire(p: &Person, at: &str) -> Vec<Firing> {
    reminders::fire_due(&p.store, p.desk.config(), shanghai(at)).await.unwrap()
}

fn states(firings: &[Firing]) -> Vec<FiringOutcome> {
    firings.iter().map(|firing| firing.state).collect()
}

#[tokio::test]
async fn a_reminder_fires_at_its_time_and_never_again() {
    let p = person();
    p.say("/todo add 交周报 --due 2026-11-15 12:00 --remind 2026-11-15 11:00").await;
    assert_eq!(fire(&p, "2026-11-15T10:59:59").await, []);
    let fired = fire(&p, "2026-11-15T11:00").await;
    assert_eq!(states(&fired), [FiringOutcome::Fired]);
    assert_eq!(
        show::firing_line(&p.reader, &fired[0]),
        "⏰ 提醒：待办 #1 交周报（截止 2026-11-15 12:00）"
    );
    assert_eq!(fire(&p, "2026-11-15T11:00").await, []);
    assert_eq!(fire(&p, "2026-11-15T10:00").await, [], "a clock that goes back repeats nothing");
    p.say("/todo update 1 交月报").await;
    assert_eq!(fire(&p, "2026-11-15T11:30").await, [], "another text is no other reminder");
    p.say("/todo update 1 交月报 --remind 2026-11-15 11:45").await;
    assert_eq!(fire(&p, "2026-11-15T11:45").await.len(), 1, "another moment is");
    p.say("/todo add 做完的 --due 2026-11-15 13:00 --remind 2026-11-15 12:30").await;
    p.say("/todo done 2").await;
    assert_eq!(fire(&p, "2026-11-15T12:30").await, [], "what is done reminds nobody");
}

#[tokio::test]
async fn a_reminder_that_was_due_while_nobody_was_there_fires_late_and_says_so() {
    let p = person();
    p.say("/todo add 交周报 --due 2026-11-15 12:00 --remind 2026-11-15 11:00").await;
    p.say("/schedule add 2026-11-15 15:00 开会 --remind 2026-11-15 14:45").await;
    let fired = fire(&p, "2026-11-18T08:00").await;
    assert_eq!(states(&fired), [FiringOutcome::Late, FiringOutcome::Late]);
    assert_eq!(
        show::firing_line(&p.reader, &fired[0]),
        "⏰ 迟到的提醒（原定 2026-11-15 11:00）：待办 #1 交周报（截止 2026-11-15 12:00）"
    );
}

#[tokio::test]
async fn a_clock_that_is_ahead_once_silences_no_repeating_reminder_and_repeats_none() {
    let p = person();
    p.say("/schedule add 2026-11-16 08:00 晨报 --repeat daily --remind 2026-11-16 08:00").await;
    assert_eq!(states(&fire(&p, "2026-11-16T08:00").await), [FiringOutcome::Fired]);
    // The clock is a year ahead for a moment.
    let ahead = fire(&p, "2027-12-21T09:00").await;
    assert!(ahead.len() > 300 && ahead.last().unwrap().state == FiringOutcome::Late);
    let now = shanghai("2026-11-16T09:00");
    reminders::reset_advanced(&p.store, now).await.unwrap();
    let entry = p.store.agenda().schedule(1).await.unwrap().unwrap();
    assert_eq!(entry.remind_next, Some(shanghai("2026-11-17T08:00")));
    for day in 17..=20 {
        let at = format!("2026-11-{day}T08:00");
        assert_eq!(states(&fire(&p, &at).await), [FiringOutcome::Fired], "{at}");
        assert_eq!(fire(&p, &at).await, []);
    }
    let shown =
        p.store.agenda().firings_of(everloop_store::FiringKind::Schedule, 1, 1_000).await.unwrap();
    let fired = |firing: &&Firing| firing.state == FiringOutcome::Fired;
    assert_eq!(shown.iter().filter(fired).count(), 5, "each of them is on record as fired");
    // A slow clock repeats no firing that was shown.
    reminders::reset_advanced(&p.store, shanghai("2026-11-18T07:00")).await.unwrap();
    assert_eq!(fire(&p, "2026-11-20T12:00").await, []);
}

#[tokio::test]
async fn catch_up_makes_up_for_one_none_or_all_and_the_rest_is_visible_as_missed() {
    use FiringOutcome::{Late, Missed};
    for (rule, want) in [
        ("once", vec![Missed, Missed, Late]),
        ("skip", vec![Missed, Missed, Missed]),
        ("all", vec![Late, Late, Late]),
    ] {
        let p = person();
        let line = format!(
            "/schedule add 2026-11-16 08:00 晨报 --repeat daily --remind 2026-11-16 08:00 --catch-up {rule}"
        );
        p.say(&line).await;
        let fired = fire(&p, "2026-11-18T09:30").await;
        assert_eq!(states(&fired), want, "{rule}");
        if rule == "skip" {
            assert_eq!(
                show::firing_lines(&p.reader, &fired),
                [
                    "⏰ 错过 3 次提醒：#1 晨报（2026-11-16 08:00，2026-11-17 08:00，2026-11-18 08:00）"
                ]
            );
        }
        assert_eq!(p.store.agenda().unread_firings(9).await.unwrap().len(), 3, "{rule}");
        assert_eq!(states(&fire(&p, "2026-11-19T08:00").await), [FiringOutcome::Fired], "{rule}");
        assert!(p.say("/schedule get 1").await.contains("2026-11-18 08:00"), "{rule}");
    }
}

#[tokio::test]
async fn making_up_for_all_has_a_cap() {
    let p = person();
    p.say("/schedule add 2026-11-15 10:00 喝水 --interval 2 --duration 1 --remind 2026-11-15 10:00 --catch-up all").await;
    let fired = fire(&p, "2026-11-17T10:00").await;
    let late = fired.iter().filter(|firing| firing.state != FiringOutcome::Missed).count();
    assert_eq!((fired.len(), late), (1_000, 10), "the last thousand are kept, ten of them fire");
}

#[tokio::test]
async fn reminders_begin_where_they_are_told_to() {
    let p = person();
    p.say("/schedule add 2026-11-16 10:00 站会 --repeat daily --remind 2026-11-16 09:45 --remind-start 2026-11-18 00:00").await;
    let next = p.store.agenda().next_reminder().await.unwrap();
    assert_eq!(next, Some(shanghai("2026-11-18T09:45")));
    assert_eq!(fire(&p, "2026-11-17T23:00").await, []);
    assert_eq!(fire(&p, "2026-11-18T09:45").await.len(), 1);
}

#[tokio::test]
async fn two_processes_fire_a_reminder_once() {
    let p = person();
    for n in 0..50 {
        p.say(&format!("/todo add t{n} --due 2026-11-15 12:00 --remind 2026-11-15 11:00")).await;
    }
    let at = shanghai("2026-11-15T11:00");
    let one = reminders::fire_due(&p.store, p.desk.config(), at);
    let other = reminders::fire_due(&p.store, p.desk.config(), at);
    let (one, other) = tokio::join!(one, other);
    assert_eq!(one.unwrap().len() + other.unwrap().len(), 50);
    assert_eq!(p.store.agenda().unread_firings(99).await.unwrap().len(), 50);
}

/// A year of entries in zones that change their clocks, in hours that are skipped or come twice.
async fn busy_year(zone: &str) -> Person {
    let mut p = person_in(&format!("2026-01-01T00:00[{zone}]"));
    for line in [
        "/schedule add 2026-01-01 02:30 夜 --repeat daily --duration 5 --remind 2026-01-01 02:30",
        "/schedule add 2026-01-01 01:30 早 --repeat daily --duration 5 --remind 2026-01-01 01:15",
        "/schedule add 2026-01-02 03:05 周 --repeat weekly:fri,sun --duration 5 --remind 2026-01-02 03:00",
        "/schedule add 2026-01-31 12:00 月 --repeat monthly:last --remind 2026-01-30 12:00",
        "/schedule add 2026-01-01 00:10 隔 --interval 10080 --times 40 --duration 5 --remind 2026-01-01 00:05",
        "/schedule add 2026-01-01 00:50 时 --interval 660 --duration 5 --remind 2026-01-01 00:45",
        "/todo add 报税 --due 2026-04-15 12:00 --remind 2026-04-14 02:30",
    ] {
        let said = p.say(line).await;
        assert!(said.starts_with("已添加"), "{line}: {said}");
    }
    p.reader.now = format!("2026-01-01T00:00[{zone}]").parse().unwrap();
    p
}

/// When the entries of the busy year remind, counted day by day in local time.
fn by_hand(zone: &TimeZone) -> Vec<(&'static str, Vec<UtcMs>)> {
    let at = |day: Date, time: Time| {
        let moment = zone.to_ambiguous_timestamp(day.to_datetime(time)).compatible().unwrap();
        moment.as_millisecond()
    };
    let mut days = vec![date(2026, 1, 1)];
    while days.len() < 365 {
        days.push(days[days.len() - 1].tomorrow().unwrap());
    }
    const MINUTE_MS: i64 = 60_000;
    let end = at(date(2027, 1, 1), time(0, 0, 0, 0));
    let daily = |hour, minute, lead: i64| {
        let moment = |day: &Date| at(*day, time(hour, minute, 0, 0)) - lead * MINUTE_MS;
        days.iter().map(moment).collect::<Vec<_>>()
    };
    let of_week = |day: &&Date| matches!(day.weekday(), Weekday::Friday | Weekday::Sunday);
    let weekly = days.iter().filter(of_week).map(|day| at(*day, time(3, 5, 0, 0)) - 5 * MINUTE_MS);
    let last = days.iter().filter(|day| **day == day.last_of_month());
    let monthly = last.map(|day| at(*day, time(12, 0, 0, 0)) - 24 * 60 * MINUTE_MS);
    // An interval of whole days keeps the local time, one of hours does not.
    let weeks = days.iter().step_by(7).take(40);
    let weeks = weeks.map(|day| at(*day, time(0, 10, 0, 0)) - 5 * MINUTE_MS);
    let first = at(days[0], time(0, 45, 0, 0));
    let hours = (0..).map(|n| first + n * 660 * MINUTE_MS).take_while(|at| *at < end);
    vec![
        ("夜", daily(2, 30, 0)),
        ("早", daily(1, 30, 15)),
        ("周", weekly.collect()),
        ("月", monthly.collect()),
        ("隔", weeks.collect()),
        ("时", hours.collect()),
        ("报税", vec![at(date(2026, 4, 14), time(2, 30, 0, 0))]),
    ]
}

#[tokio::test]
async fn a_year_with_clock_changes_and_a_crash_at_every_firing_fires_each_once() {
    for zone in ["Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai"] {
        let p = busy_year(zone).await;
        let rehearsal = Rehearsal {
            from: p.reader.now.timestamp().as_millisecond(),
            to: ms(&format!("2027-01-01T00:00[{zone}]")),
            crashes: Crashes::Everywhere,
            down: Vec::new(),
            steps_max: STEPS_MAX,
        };
        let (entries, todos) =
            (p.store.agenda().schedules().await.unwrap(), p.store.agenda().todos().await.unwrap());
        let played = rehearse(&entries, &todos, p.desk.config(), &rehearsal).await.unwrap();
        assert!(played.is_right(), "{zone}: lost {:?}, wrong {:?}", played.lost, played.wrong);
        assert!(played.firings.len() > 730 && played.crashes as usize >= played.firings.len());
        let nights = played.firings.iter().filter(|firing| firing.title == "夜").count();
        assert_eq!(nights, 365, "{zone}: 02:30 is there every day, also when clocks skip it");
        for (title, want) in by_hand(p.reader.now.time_zone()) {
            let fired = played.firings.iter().filter(|firing| firing.title == title);
            let fired: Vec<UtcMs> = fired.map(|firing| firing.due.due_at).collect();
            assert_eq!(fired, want, "{zone}: {title}");
        }
        let told = played.told.len();
        assert!(told > 0 && told < played.firings.len(), "{told}: the dead did not tell");
    }
}

#[tokio::test]
async fn a_rehearsal_finds_what_downtime_does_and_a_wrong_count() {
    let p = busy_year("Europe/Rome").await;
    let mut rehearsal = Rehearsal {
        from: p.reader.now.timestamp().as_millisecond(),
        to: ms("2026-02-01T00:00[Europe/Rome]"),
        crashes: Crashes::At(vec![3]),
        down: vec![(ms("2026-01-10T00:00[Europe/Rome]"), ms("2026-01-12T12:00[Europe/Rome]"))],
        steps_max: STEPS_MAX,
    };
    let entries = p.store.agenda().schedules().await.unwrap();
    let config = AgendaConfig { catch_up: CatchUp::Once, ..AgendaConfig::default() };
    let played = rehearse(&entries, &[], &config, &rehearsal).await.unwrap();
    assert!(played.is_right() && played.crashes == 2);
    let night =
        |state| played.firings.iter().filter(|f| f.title == "夜" && f.state == state).count();
    assert_eq!(
        (night(FiringOutcome::Missed), night(FiringOutcome::Late), night(FiringOutcome::Fired)),
        (2, 1, 28),
        "three nights down: the last is made up for"
    );
    // The expectation is independent of the rehearsal: a moment that did not fire is reported.
    rehearsal.down.clear();
    let mut more = played.clone();
    more.firings.pop();
    more.judge(&entries, &[], &rehearsal);
    assert!(!more.is_right());
    let mut twice = played.clone();
    twice.told.push(played.told[0]);
    twice.judge(&entries, &[], &rehearsal);
    assert_eq!(twice.wrong[0], played.told[0], "a firing that is told twice is seen");
}

#[tokio::test]
async fn a_rehearsal_says_what_it_leaves_out_and_where_it_stops_and_keeps_the_numbers() {
    let p = person();
    p.say("/schedule add 2026-11-15 10:00 走了").await;
    p.say("/schedule delete 1").await;
    p.say(
        "/schedule add 2026-11-15 10:00 点名 --interval 1 --duration 1 --remind 2026-11-15 10:00",
    )
    .await;
    let mut rehearsal = Rehearsal {
        from: shanghai("2026-11-15T10:00"),
        to: shanghai("2026-11-17T10:10"),
        crashes: Crashes::None,
        down: vec![(shanghai("2026-11-15T10:05"), shanghai("2026-11-17T10:05"))],
        steps_max: STEPS_MAX,
    };
    let entries = p.store.agenda().schedules().await.unwrap();
    let played = rehearse(&entries, &[], p.desk.config(), &rehearsal).await.unwrap();
    assert!(played.is_right(), "lost {:?}, wrong {:?}", played.lost, played.wrong);
    assert_eq!(played.left_out, 2 * 1_440 + 1 - 1_000);
    assert_eq!((played.firings.len(), played.cut_at), (5 + 1_000 + 4, None));
    assert!(played.firings.iter().all(|firing| firing.due.subject == 2), "its own number");
    rehearsal.down.clear();
    rehearsal.steps_max = 7;
    let played = rehearse(&entries, &[], p.desk.config(), &rehearsal).await.unwrap();
    assert!(played.is_right() && played.left_out == 0);
    assert_eq!(played.cut_at, Some(shanghai("2026-11-15T10:07")));
    assert_eq!(played.firings.len(), 7);
}
