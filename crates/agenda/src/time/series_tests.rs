use jiff::civil::{Weekday, date, datetime};
use proptest::prelude::*;

use super::super::repeat::tests::repeats;
use super::*;

const ZONES: [&str; 6] = [
    "Europe/Rome",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Shanghai",
    "Pacific/Apia",
    "UTC",
];

fn series(start: DateTime, zone: &str, repeat: Repeat) -> Series {
    let zone = TimeZone::get(zone).unwrap();
    Series { start, zone, repeat: Some(repeat), count: None }
}

fn walls(series: &Series, from: DateTime, n: usize) -> Vec<String> {
    let from = moment(from, &series.zone).unwrap();
    series.from(from).take(n).map(|each| each.wall.strftime("%F %H:%M").to_string()).collect()
}

const DAILY: Repeat = Repeat::Daily { every: 1 };

#[test]
fn a_wall_time_in_a_gap_moves_forward_by_the_gap() {
    let table = [
        ("Europe/Rome", datetime(2026, 3, 28, 2, 30, 0, 0), "2026-03-29 03:30"),
        ("America/New_York", datetime(2026, 3, 7, 2, 30, 0, 0), "2026-03-08 03:30"),
        ("Australia/Lord_Howe", datetime(2026, 10, 3, 2, 15, 0, 0), "2026-10-04 02:45"),
        ("Asia/Shanghai", datetime(2026, 3, 28, 2, 30, 0, 0), "2026-03-29 02:30"),
    ];
    for (zone, start, in_gap) in table {
        let series = series(start, zone, DAILY);
        let all = walls(&series, start, 3);
        assert_eq!(all[1], in_gap, "{zone}");
        // The day after, the clock shows what was asked for again.
        assert_eq!(all[2][11..], all[0][11..], "{zone}");
    }
}

#[test]
fn a_wall_time_in_an_overlap_is_its_first() {
    let table = [
        ("Europe/Rome", datetime(2026, 10, 25, 2, 30, 0, 0), "2026-10-25T00:30:00Z"),
        ("America/New_York", datetime(2026, 11, 1, 1, 30, 0, 0), "2026-11-01T05:30:00Z"),
        ("Australia/Lord_Howe", datetime(2026, 4, 5, 1, 45, 0, 0), "2026-04-04T14:45:00Z"),
    ];
    for (zone, start, first) in table {
        let all: Vec<_> = series(start, zone, DAILY).from(Timestamp::MIN).take(2).collect();
        assert_eq!(all[0].at.to_string(), first, "{zone}");
        assert_eq!(all[1].wall.date(), start.date().tomorrow().unwrap(), "{zone}");
    }
}

#[test]
fn a_year_of_daily_half_past_two_has_every_day_once() {
    for zone in ["Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai"] {
        let series = series(datetime(2026, 1, 1, 2, 30, 0, 0), zone, DAILY);
        let end = moment(datetime(2027, 1, 1, 0, 0, 0, 0), &series.zone).unwrap();
        let days: Vec<Date> = series
            .from(Timestamp::MIN)
            .take_while(|each| each.at < end)
            .map(|each| each.wall.date())
            .collect();
        let all: Vec<Date> = date(2026, 1, 1).series(1.day()).take(365).collect();
        assert_eq!(days, all, "{zone}");
    }
}

#[test]
fn minutes_count_elapsed_time_and_whole_days_keep_the_wall_time() {
    let start = datetime(2026, 3, 28, 20, 0, 0, 0);
    let hours = series(start, "Europe/Rome", Repeat::every_minutes(12 * 60));
    assert_eq!(
        walls(&hours, start, 3),
        ["2026-03-28 20:00", "2026-03-29 09:00", "2026-03-29 21:00"]
    );
    let days = series(start, "Europe/Rome", Repeat::every_minutes(24 * 60));
    assert_eq!(walls(&days, start, 2), ["2026-03-28 20:00", "2026-03-29 20:00"]);
}

#[test]
fn months_without_the_day_are_skipped_and_not_counted() {
    let start = datetime(2026, 1, 31, 9, 0, 0, 0);
    let day = MonthDay::Day(31);
    let monthly = series(start, "Europe/Rome", Repeat::Monthly { every: 1, day });
    let all: Vec<_> = monthly.from(Timestamp::MIN).take(3).collect();
    assert_eq!(all.iter().map(|each| each.wall.month()).collect::<Vec<_>>(), [1, 3, 5]);
    assert_eq!(all.iter().map(|each| each.index).collect::<Vec<_>>(), [0, 1, 2]);
    let three = Series { count: Some(3), ..monthly };
    assert_eq!(three.from(Timestamp::MIN).count(), 3);
    assert_eq!(three.from(all[2].at).count(), 1);
    let last = Repeat::Monthly { every: 1, day: MonthDay::Last };
    let last = series(start, "Europe/Rome", last);
    assert_eq!(
        walls(&last, start, 3),
        ["2026-01-31 09:00", "2026-02-28 09:00", "2026-03-31 09:00"]
    );
    let leap = series(datetime(2024, 2, 29, 9, 0, 0, 0), "UTC", Repeat::Yearly { every: 1 });
    let years: Vec<_> = leap.from(Timestamp::MIN).take(3).map(|e| e.wall.year()).collect();
    assert_eq!(years, [2024, 2028, 2032]);
}

#[test]
fn a_start_that_does_not_fit_is_moved_to_the_first_day_that_does() {
    // 2026-11-15 is a Sunday; its week's Wednesday is over.
    let start = datetime(2026, 11, 15, 9, 0, 0, 0);
    let days = Weekdays::from_iter([Weekday::Wednesday, Weekday::Friday]);
    let weekly = series(start, "Asia/Shanghai", Repeat::Weekly { every: 2, days });
    assert_eq!(
        walls(&weekly, start, 3),
        ["2026-11-18 09:00", "2026-11-20 09:00", "2026-12-02 09:00"]
    );
    let day = MonthDay::Day(1);
    let monthly = series(start, "Asia/Shanghai", Repeat::Monthly { every: 2, day });
    assert_eq!(walls(&monthly, start, 2), ["2026-12-01 09:00", "2027-02-01 09:00"]);
}

#[test]
fn an_endless_series_answers_for_a_day_far_away() {
    let start = datetime(2026, 1, 1, 0, 0, 0, 0);
    let far = "2046-01-01T00:00:00Z".parse().unwrap();
    let minutely = series(start, "UTC", Repeat::every_minutes(1));
    let found = minutely.from(far).next().unwrap();
    assert_eq!((found.at, found.index), (far, 10_519_200));
    assert_eq!(minutely.from(Timestamp::MAX).take(3).count(), 0);
    let never = Repeat::Monthly { every: 1, day: MonthDay::Day(0) };
    assert_eq!(series(start, "UTC", never).from(far).next(), None);
}

#[test]
fn an_entry_without_a_repeat_is_one_moment() {
    let start = datetime(2026, 1, 1, 8, 0, 0, 0);
    let once = Series { start, zone: TimeZone::UTC, repeat: None, count: None };
    let only = Occurrence { index: 0, wall: start, at: moment(start, &TimeZone::UTC).unwrap() };
    assert_eq!(once.from(only.at).collect::<Vec<_>>(), [only]);
    let later = only.at.checked_add(1.second()).unwrap();
    assert_eq!(once.from(later).next(), None);
}

/// The same series, day by day, without any arithmetic on intervals.
fn naive(series: &Series, until: Date) -> Vec<Occurrence> {
    let repeat = series.repeat.clone().unwrap();
    let every = i64::from(repeat.interval());
    if let Repeat::Minutes { .. } = repeat {
        let mut at = moment(series.start, &series.zone).unwrap();
        let mut all = Vec::new();
        while series.zone.to_datetime(at).date() < until {
            let wall = series.zone.to_datetime(at);
            all.push(Occurrence { index: all.len() as u64, wall, at });
            at = at.checked_add(SignedDuration::from_mins(every)).unwrap();
        }
        return all;
    }
    let mut all: Vec<Occurrence> = Vec::new();
    let mut first: Option<Date> = None;
    for day in series.start.date().series(1.day()).take_while(|day| *day < until) {
        let anchor = first.unwrap_or(day);
        let monday = |date: Date| {
            date.checked_sub(i64::from(date.weekday().to_monday_zero_offset()).days()).unwrap()
        };
        let months = |date: Date| i64::from(date.year()) * 12 + i64::from(date.month());
        let fits = match &repeat {
            Repeat::Minutes { .. } | Repeat::Cron(_) => unreachable!("answered elsewhere"),
            Repeat::Daily { .. } => days_between(anchor, day) % every == 0,
            Repeat::Weekly { days, .. } => {
                let is_day = match days.is_empty() {
                    true => day.weekday() == series.start.weekday(),
                    false => days.contains(day.weekday()),
                };
                is_day && days_between(monday(anchor), monday(day)) / 7 % every == 0
            }
            Repeat::Monthly { day: month_day, .. } => {
                let is_day = match month_day {
                    MonthDay::Day(n) => day.day() == *n,
                    MonthDay::Last => day.day() == day.days_in_month(),
                    day_of => day_of.dates(day).contains(&day),
                };
                is_day && (months(day) - months(anchor)) % every == 0
            }
            Repeat::Yearly { .. } => {
                (day.month(), day.day()) == (series.start.month(), series.start.day())
                    && i64::from(day.year() - anchor.year()) % every == 0
            }
        };
        if fits {
            first.get_or_insert(day);
            let at = moment(day.to_datetime(series.start.time()), &series.zone).unwrap();
            all.push(Occurrence { index: all.len() as u64, wall: series.zone.to_datetime(at), at });
        }
    }
    all
}

prop_compose! {
    fn any_series()(
        days in 0_i64..7000,
        minute in 0_i64..1440,
        zone in prop::sample::select(&ZONES[..]),
        repeat in repeats(),
        count in prop::option::of(0_u32..60),
    ) -> Series {
        let start = datetime(2008, 1, 1, 0, 0, 0, 0) + days.days() + minute.minutes();
        Series { count, ..series(start, zone, repeat) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_series_is_what_a_walk_from_day_to_day_finds(series in any_series(), ahead in 0_i64..900) {
        let until = series.start.date() + 1500.days();
        let limit = series.count.map_or(usize::MAX, |count| count as usize);
        let all: Vec<_> = naive(&series, until).into_iter().take(limit).collect();
        // A day that a zone skips becomes the next one, so the last days are not compared.
        let end = (until - 3.days()).to_datetime(series.start.time());
        let end = moment(end, &series.zone).unwrap();
        let from = moment(series.start + ahead.days() + 1.hour(), &series.zone).unwrap();
        for from in [Timestamp::MIN, from] {
            let within = |at: Timestamp| at >= from && at < end;
            let expected: Vec<_> = all.iter().copied().filter(|each| within(each.at)).collect();
            let found: Vec<_> = series.from(from).take_while(|each| each.at < end).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
