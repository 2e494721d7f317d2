//! What must hold for every date, weekday, offset and text.

use jiff::civil::{Weekday, datetime};
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::super::texts::{self, TextSubject};
use super::*;
use jiff::civil::Date;
use jiff::{SignedDuration, ToSpan};

const ZONES: [&str; 4] =
    ["Asia/Shanghai", "Europe/Rome", "America/New_York", "Australia/Lord_Howe"];
const CHINESE_DIGITS: [&str; 10] = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
const WEEKDAYS: [(&str, &str, Weekday); 7] = [
    ("一", "Monday", Weekday::Monday),
    ("二", "Tuesday", Weekday::Tuesday),
    ("三", "Wednesday", Weekday::Wednesday),
    ("四", "Thursday", Weekday::Thursday),
    ("五", "Friday", Weekday::Friday),
    ("六", "Saturday", Weekday::Saturday),
    ("日", "Sunday", Weekday::Sunday),
];

prop_compose! {
    fn moments()(minutes in 0_i64..20_000_000, zone in prop::sample::select(&ZONES[..])) -> Zoned {
        let wall = datetime(2000, 1, 1, 0, 0, 0, 0) + minutes.minutes();
        TimeZone::get(zone).unwrap().to_zoned(wall).unwrap()
    }
}

/// Sentences of words that the grammar knows, partly knows and does not know.
fn sentences() -> impl Strategy<Value = String> {
    let pieces = [
        "明天",
        "下午",
        "三点",
        "半",
        "每",
        "周",
        "一",
        "五",
        "日",
        "天",
        "号",
        "月",
        "年",
        "底",
        "10",
        "2026",
        "-",
        "/",
        ":",
        "30",
        "后",
        "前",
        "小时",
        "分钟",
        "两",
        "个",
        "下",
        "这",
        "上午",
        "晚",
        "开会",
        "的",
        "在",
        "隔",
        "最后一天",
        "工作日",
        " ",
        "，",
        "tomorrow",
        "at",
        "3pm",
        "Friday",
        "every",
        "other",
        "next",
        "in",
        "2",
        "hours",
        "day",
        "the",
        "of",
        "month",
        "1st",
        "on",
        "Nov",
        "noon",
        "and",
        "a",
        "half",
        "weekly",
        "am",
        "o'clock",
        "milk",
        "０",
        "：",
        "今晚",
        "十",
        "二十",
    ];
    let joined = |words: Vec<&str>| words.concat();
    let spaced = |words: Vec<&str>| words.join(" ");
    let some = || prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..8);
    prop_oneof![some().prop_map(joined), some().prop_map(spaced), "\\PC{0,20}"]
}

fn chinese(n: i64) -> String {
    let digit = |n: i64| CHINESE_DIGITS[usize::try_from(n % 10).unwrap()];
    match n {
        0..=9 => digit(n).to_owned(),
        10 => "十".to_owned(),
        11..=19 => format!("十{}", digit(n)),
        _ if n % 10 == 0 => format!("{}十", digit(n / 10)),
        _ => format!("{}十{}", digit(n / 10), digit(n)),
    }
}

fn monday(date: Date) -> Date {
    date - i64::from(date.weekday().to_monday_zero_offset()).days()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn canonical_forms_mean_what_they_say(now in moments(), then in moments()) {
        let at = then.datetime();
        let forms = ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y/%-m/%-d %H:%M", "%Y年%-m月%-d日%H:%M",
            "%B %-d, %Y at %-I:%M%p", "%-d %b %Y %H:%M", "%H:%M %Y-%m-%d"];
        for form in forms {
            let text = at.strftime(form).to_string();
            let found = parse(&text, &now).map(|when| (when.at, when.precision));
            prop_assert_eq!(found, Some((at, Precision::Minute)), "{}", text);
        }
        for form in ["%Y-%m-%d", "%Y/%m/%d", "%Y年%-m月%-d号"] {
            let text = at.strftime(form).to_string();
            let found = parse(&text, &now).map(|when| (when.at.date(), when.precision));
            prop_assert_eq!(found, Some((at.date(), Precision::Day)), "{}", text);
        }
    }

    #[test]
    fn days_ahead_are_counted_on_the_calendar(now in moments(), n in 1_i64..99) {
        let day = now.date() + n.days();
        let phrases = [format!("{n}天后"), format!("{}天后", chinese(n)), format!("in {n} days"),
            format!("{n} days from now")];
        for phrase in phrases {
            let when = parse(&phrase, &now).unwrap();
            prop_assert_eq!((when.at.date(), when.precision), (day, Precision::Day), "{}", phrase);
        }
    }

    #[test]
    fn hours_ahead_are_elapsed_time(now in moments(), n in 1_i64..99) {
        let instant = now.timestamp() + SignedDuration::from_hours(n);
        for phrase in [format!("{n}小时后"), format!("{}个小时后", chinese(n)), format!("in {n} hours")] {
            let when = parse(&phrase, &now).unwrap();
            prop_assert_eq!(when.instant, Some(instant), "{}", phrase);
            prop_assert_eq!(when.at, now.time_zone().to_datetime(instant));
        }
    }

    #[test]
    fn weekdays_are_in_the_right_week(now in moments(), which in 0_usize..7) {
        let today = now.date();
        let (zh, en, weekday) = WEEKDAYS[which];
        let date = |phrase: String| parse(&phrase, &now).unwrap().at.date();
        for phrase in [format!("周{zh}"), format!("星期{zh}"), en.to_owned(), format!("on {en}")] {
            let found = date(phrase);
            prop_assert_eq!(found.weekday(), weekday);
            prop_assert!(found > today && found <= today + 7.days());
        }
        for phrase in [format!("下周{zh}"), format!("下个星期{zh}"), format!("next {en}")] {
            let found = date(phrase);
            prop_assert_eq!(found.weekday(), weekday);
            prop_assert_eq!(monday(found), monday(today) + 7.days());
        }
        let found = date(format!("这周{zh}"));
        prop_assert_eq!((found.weekday(), monday(found)), (weekday, monday(today)));
        let found = date(format!("下下周{zh}"));
        prop_assert_eq!((found.weekday(), monday(found)), (weekday, monday(today) + 14.days()));
    }

    #[test]
    fn a_time_alone_is_the_next_such_time(now in moments(), hour in 0_i8..24, minute in 0_i8..60) {
        let when = parse(&format!("{hour:02}:{minute:02}"), &now).unwrap();
        prop_assert_eq!((when.at.hour(), when.at.minute()), (hour, minute));
        prop_assert!(when.at > now.datetime() && when.at <= now.datetime() + 1.day());
        let dial = parse(&format!("{}点", hour % 12 + 1), &now).unwrap();
        prop_assert_eq!(dial.at.hour() % 12, (hour + 1) % 12);
        prop_assert!(dial.at > now.datetime() && dial.at <= now.datetime() + 24.hours());
    }

    #[test]
    fn repetitions_begin_on_a_day_of_theirs(
        now in moments(),
        which in 0_usize..7,
        day in 1_i8..=31,
    ) {
        let (zh, en, weekday) = WEEKDAYS[which];
        for phrase in [format!("每周{zh}早上9点"), format!("every {en} at 9am")] {
            let when = parse(&phrase, &now).unwrap();
            prop_assert_eq!((when.at.weekday(), when.at.hour()), (weekday, 9));
            prop_assert!(when.at > now.datetime() && when.at <= now.datetime() + 7.days());
        }
        let when = parse(&format!("每月{day}号"), &now).unwrap();
        prop_assert!(when.at.day() == day && when.at.date() >= now.date());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn what_is_found_reads_the_same_alone(now in moments(), text in sentences()) {
        let _ = texts::read(&text, &now, TextSubject::Todo);
        let _ = texts::read(&text, &now, TextSubject::Entry);
        if let Some((when, end)) = leading(&text, &now) {
            prop_assert_eq!(parse(&text[..end], &now), Some(when), "{}", &text[..end]);
        }
        if let Some(when) = parse(&text, &now) {
            prop_assert_eq!(leading(&text, &now), Some((when, text.trim_end().len())));
        }
    }
}

#[test]
fn a_leading_phrase_ends_at_a_border() {
    let now: Zoned = "2026-11-15T09:00[Asia/Shanghai]".parse().unwrap();
    let table = [
        ("tomorrow 3pm meeting", "tomorrow 3pm"),
        ("2026-11-20 17:30 dentist", "2026-11-20 17:30"),
        ("2026-11-20 dentist", "2026-11-20"),
        ("明天下午3点开会", "明天下午3点"),
        ("  明天 开会", "  明天"),
        ("3pm开会", "3pm"),
        ("周五5个人", "周五"),
    ];
    for (text, phrase) in table {
        let found = leading(text, &now).map(|(_, end)| &text[..end]);
        assert_eq!(found, Some(phrase), "{text}");
    }
    for text in ["meeting tomorrow", "fridays5", "10:30:15 x"] {
        assert_eq!(leading(text, &now), None, "{text}");
    }
}

#[test]
fn an_elapsed_offset_is_exact_in_an_hour_that_comes_twice() {
    let now: Zoned = "2026-10-25T02:10+02:00[Europe/Rome]".parse().unwrap();
    let when = parse("in 1 hour", &now).unwrap();
    assert_eq!(when.at, datetime(2026, 10, 25, 2, 10, 0, 0));
    assert_eq!(when.instant.unwrap().to_string(), "2026-10-25T01:10:00Z");
}
