use super::{Cron, CronError, CronField};
use crate::time::{Repeat, Series};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

fn moments(text: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
    let zone = TimeZone::get(zone).unwrap();
    let from = from.parse::<DateTime>().unwrap().to_zoned(zone.clone()).unwrap();
    let cron = Cron::parse(text).unwrap();
    let found = cron.moments(from.timestamp(), &zone).take(count);
    found.map(|at| at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M%:z").to_string()).collect()
}

#[test]
fn fields_take_lists_ranges_steps_and_names() {
    let all = moments("*/30 9-10 * * mon-fri", "UTC", "2026-11-13T10:15", 4);
    let expected = [
        "Fri 2026-11-13 10:30+00:00",
        "Mon 2026-11-16 09:00+00:00",
        "Mon 2026-11-16 09:30+00:00",
        "Mon 2026-11-16 10:00+00:00",
    ];
    assert_eq!(all, expected);
    let days = |text: &str, count| {
        let all = moments(text, "UTC", "2026-11-13T00:00", count);
        all.into_iter().map(|at| at[4..14].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(days("0 0 L * *", 2), ["2026-11-30", "2026-12-31"]);
    assert_eq!(days("0 0 * * fri#2", 2), ["2026-11-13", "2026-12-11"]);
    assert_eq!(days("0 0 * * 5L", 2), ["2026-11-27", "2026-12-25"]);
    assert_eq!(days("0 0 1,15 jan-feb/1 *", 2), ["2027-01-01", "2027-01-15"]);
    assert_eq!(days("0 0 * * fri-sun", 4)[2..], ["2026-11-15", "2026-11-20"]);
    assert_eq!(days("0 0 * * 7", 1), ["2026-11-15"]);
    assert_eq!(days("@monthly", 1), ["2026-12-01"]);
    assert_eq!(days("0 0 29 2 *", 2), ["2028-02-29", "2032-02-29"]);
    // Either is enough if both are restricted, and both are needed with a star.
    assert_eq!(days("0 0 14 * mon", 3), ["2026-11-14", "2026-11-16", "2026-11-23"]);
    assert_eq!(days("0 0 */2 * mon", 2), ["2026-11-23", "2026-12-07"]);
}

#[test]
fn what_cannot_be_used_is_refused_with_its_field() {
    let wrong = |text: &str| Cron::parse(text).unwrap_err();
    assert_eq!(wrong("* * * *"), CronError::Fields(4));
    assert_eq!(wrong("0 0 0 * * *"), CronError::Fields(6));
    assert_eq!(wrong("60 * * * *"), CronError::Part(CronField::Minute, "60".to_owned()));
    assert_eq!(wrong("0 24 * * *"), CronError::Part(CronField::Hour, "24".to_owned()));
    assert_eq!(wrong("0 5-2 * * *"), CronError::Part(CronField::Hour, "5-2".to_owned()));
    assert_eq!(wrong("0 0 * foo *"), CronError::Part(CronField::Month, "foo".to_owned()));
    assert_eq!(wrong("*/0 * * * *"), CronError::Part(CronField::Minute, "*/0".to_owned()));
    assert_eq!(wrong("0 0 1w * *"), CronError::Part(CronField::DayOfMonth, "1w".to_owned()));
    assert_eq!(wrong("0 0 * * 1#6"), CronError::Part(CronField::Weekday, "1#6".to_owned()));
    assert_eq!(wrong("0 0 30 2 *"), CronError::Never);
    assert_eq!(wrong("0 0 31 4,6,9,11 *"), CronError::Never);
}

#[test]
fn a_fixed_hour_fires_once_on_the_days_of_a_clock_change() {
    let spring = moments("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00", 3);
    let expected =
        ["Sat 2026-03-28 02:30+01:00", "Sun 2026-03-29 03:30+02:00", "Mon 2026-03-30 02:30+02:00"];
    assert_eq!(spring, expected);
    let autumn = moments("30 2 * * *", "Europe/Berlin", "2026-10-25T00:00", 2);
    assert_eq!(autumn, ["Sun 2026-10-25 02:30+02:00", "Mon 2026-10-26 02:30+01:00"]);
}

#[test]
fn every_hour_follows_the_clock_through_a_change() {
    let spring = moments("0 * * * *", "Europe/Berlin", "2026-03-29T01:00", 3);
    let expected =
        ["Sun 2026-03-29 01:00+01:00", "Sun 2026-03-29 03:00+02:00", "Sun 2026-03-29 04:00+02:00"];
    assert_eq!(spring, expected);
    let autumn = moments("0 * * * *", "Europe/Berlin", "2026-10-25T01:00", 4);
    let expected = [
        "Sun 2026-10-25 01:00+02:00",
        "Sun 2026-10-25 02:00+02:00",
        "Sun 2026-10-25 02:00+01:00",
        "Sun 2026-10-25 03:00+01:00",
    ];
    assert_eq!(autumn, expected);
}

#[test]
fn a_rule_that_calendars_have_is_the_same_series() {
    for text in ["0 9 * * 1-5", "30 2 * * *", "15 8 1,15 * *", "0 7 L * *", "0 7 * * tue#2"] {
        let cron = Cron::parse(text).unwrap();
        let zone = TimeZone::get("America/New_York").unwrap();
        let start = "2026-01-01T00:00".parse::<DateTime>().unwrap().to_zoned(zone.clone()).unwrap();
        let first = cron.moments(start.timestamp(), &zone).next().unwrap();
        let repeat = cron.to_repeat();
        assert!(repeat.is_some(), "{text}");
        let series = Series { start: zone.to_datetime(first), zone, repeat, count: None };
        let by_series: Vec<_> = series.from(first).take(400).map(|found| found.at).collect();
        let by_cron: Vec<_> = cron.moments(first, &series.zone).take(400).collect();
        assert_eq!(by_series, by_cron, "{text}");
    }
    for text in ["*/5 * * * *", "0 9,17 * * *", "0 9 13 * fri", "0 9 * 1-6 *", "0 9 */2 * *"] {
        assert_eq!(Cron::parse(text).unwrap().to_repeat(), None, "{text}");
    }
}

#[test]
fn an_expression_is_a_repetition_like_any_other() {
    let cron = Cron::parse("*/20 9-10 * * MON-FRI").unwrap();
    let repeat = Repeat::Cron(cron);
    assert_eq!(Repeat::from_rrule(&repeat.to_rrule()), Some(repeat.clone()));
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let start = "2026-11-16T09:20".parse::<DateTime>().unwrap();
    let from = start.to_zoned(zone.clone()).unwrap().timestamp();
    let endless = Series { start, zone: zone.clone(), repeat: Some(repeat), count: None };
    let later = from.checked_add(jiff::SignedDuration::from_hours(24)).unwrap();
    let walls: Vec<String> =
        endless.from(later).take(2).map(|found| found.wall.to_string()).collect();
    assert_eq!(walls, ["2026-11-17T09:20:00", "2026-11-17T09:40:00"]);
    let counted = Series { count: Some(3), ..endless };
    assert_eq!(counted.from(later).count(), 0);
    assert_eq!(counted.from(from).count(), 3);
}
