use proptest::prelude::*;

use super::*;

pub(in crate::time) fn repeats() -> impl Strategy<Value = Repeat> {
    let days = (0_u8..128).prop_map(Weekdays);
    let month_day = prop_oneof![(1_i8..=31).prop_map(MonthDay::Day), Just(MonthDay::Last)];
    prop_oneof![
        (1_u32..5000).prop_map(Repeat::every_minutes),
        (1_u32..40).prop_map(|every| Repeat::Daily { every }),
        (1_u32..6, days).prop_map(|(every, days)| Repeat::Weekly { every, days }),
        (1_u32..30, month_day).prop_map(|(every, day)| Repeat::Monthly { every, day }),
        (1_u32..6).prop_map(|every| Repeat::Yearly { every }),
    ]
}

proptest! {
    #[test]
    fn every_repeat_survives_its_rule(repeat in repeats()) {
        prop_assert_eq!(Repeat::from_rrule(&repeat.to_rrule()), Some(repeat));
    }

    #[test]
    fn every_repeat_survives_its_option(repeat in repeats()) {
        prop_assert_eq!(Repeat::parse_option(&repeat.to_option()), Some(repeat));
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in "[A-Z;=,0-9:/a-z\\-]{0,30}") {
        let read = (Repeat::from_rrule(&text), Repeat::parse_option(&text));
        prop_assert!(read.0.is_none() || read.1.is_none());
    }
}

#[test]
fn rules_and_options_read_as_calendars_and_commands_write_them() {
    let monday_and_friday = Weekdays::from_iter([Weekday::Friday, Weekday::Monday]);
    let last = MonthDay::Last;
    let table = [
        (Repeat::every_minutes(30), "FREQ=MINUTELY;INTERVAL=30", "minutes:30"),
        (Repeat::every_minutes(120), "FREQ=HOURLY;INTERVAL=2", "minutes:120"),
        (Repeat::every_minutes(60), "FREQ=HOURLY", "minutes:60"),
        (Repeat::every_minutes(2880), "FREQ=DAILY;INTERVAL=2", "daily:2"),
        (Repeat::Daily { every: 1 }, "FREQ=DAILY", "daily"),
        (
            Repeat::Weekly { every: 1, days: Weekdays::WORKING },
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
            "weekdays",
        ),
        (
            Repeat::Weekly { every: 2, days: monday_and_friday },
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR",
            "weekly/2:mon,fri",
        ),
        (Repeat::Weekly { every: 1, days: Weekdays::default() }, "FREQ=WEEKLY", "weekly"),
        (
            Repeat::Monthly { every: 1, day: MonthDay::Day(1) },
            "FREQ=MONTHLY;BYMONTHDAY=1",
            "monthly:1",
        ),
        (
            Repeat::Monthly { every: 3, day: last },
            "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1",
            "monthly/3:last",
        ),
        (Repeat::Yearly { every: 1 }, "FREQ=YEARLY", "yearly"),
    ];
    for (repeat, rule, option) in table {
        assert_eq!((repeat.to_rrule().as_str(), repeat.to_option().as_str()), (rule, option));
    }
}

#[test]
fn rules_are_read_in_any_order_and_case() {
    let repeat = Repeat::Weekly { every: 2, days: Weekday::Friday.into() };
    let rule = "RRULE:byday=FR;Interval=2;WKST=MO;freq=weekly";
    assert_eq!(Repeat::from_rrule(rule), Some(repeat));
    assert_eq!(Repeat::parse_option("WEEKLY/2:Fri"), Repeat::from_rrule(rule));
}

#[test]
fn rules_beyond_the_subset_are_refused() {
    let rules = [
        "",
        "FREQ=",
        "FREQ=SECONDLY",
        "FREQ=DAILY;COUNT=3",
        "FREQ=DAILY;UNTIL=20270101",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=-1",
        "FREQ=DAILY;INTERVAL=+1",
        "FREQ=DAILY;FREQ=DAILY",
        "FREQ=DAILY;BYDAY=MO",
        "FREQ=MONTHLY;BYMONTHDAY=32",
        "FREQ=MONTHLY;BYMONTHDAY=0",
        "FREQ=MONTHLY",
        "FREQ=WEEKLY;BYDAY=XX",
        "FREQ=HOURLY;INTERVAL=4000000000",
        "INTERVAL=2",
    ];
    for rule in rules {
        assert_eq!(Repeat::from_rrule(rule), None, "{rule}");
    }
    let options = [
        "",
        "minutes",
        "minutes:0",
        "daily:0",
        "daily/2:3",
        "weekly:",
        "weekly:xyz",
        "monthly",
        "monthly:40",
        "monthly:0",
        "yearly:2",
        "weekdays/2",
        "daily:+1",
        "often",
    ];
    for option in options {
        assert_eq!(Repeat::parse_option(option), None, "{option}");
    }
}

#[test]
fn a_set_of_weekdays_is_in_order() {
    let days: Weekdays = [Weekday::Sunday, Weekday::Tuesday].into_iter().collect();
    assert_eq!(days.iter().collect::<Vec<_>>(), [Weekday::Tuesday, Weekday::Sunday]);
    assert!(days.contains(Weekday::Sunday) && !days.contains(Weekday::Monday));
}
