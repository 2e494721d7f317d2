//! Our calendars and those of other programs.

use super::super::ics_write::write;
use super::super::todo_txt::tests::{texts, todos};
use super::*;
use crate::time::{MonthDay, Repeat, Weekdays};
use everloop_store::{ScheduleRow, TodoRow};
use jiff::civil::Weekday;
use proptest::prelude::*;

const ZONES: [&str; 5] =
    ["Asia/Shanghai", "Europe/Rome", "America/New_York", "Australia/Lord_Howe", "UTC"];

fn now() -> Zoned {
    "2026-11-15T09:00[Asia/Shanghai]".parse().unwrap()
}

fn repeats() -> impl Strategy<Value = Repeat> {
    let every = 1_u32..9;
    prop_oneof![
        (1_u32..5_000).prop_map(Repeat::every_minutes),
        every.clone().prop_map(|every| Repeat::Daily { every }),
        (every.clone(), 0_i8..7).prop_map(|(every, day)| {
            let day = Weekday::from_monday_zero_offset(day).unwrap();
            Repeat::Weekly { every, days: day.into() }
        }),
        Just(Repeat::Weekly { every: 2, days: Weekdays::WORKING }),
        (every.clone(), 1_i8..=31)
            .prop_map(|(every, day)| Repeat::Monthly { every, day: MonthDay::Day(day) }),
        Just(Repeat::Monthly { every: 1, day: MonthDay::Last }),
        every.prop_map(|every| Repeat::Yearly { every }),
    ]
}

prop_compose! {
    fn entries()(
        title in texts(),
        minute in 0_i64..50_000_000,
        zone in prop::sample::select(&ZONES[..]),
        minutes in 0_i64..40_320,
        repeat in prop::option::of((repeats(), prop::option::of(2_i64..1_000), 0_i64..2)),
        lead in prop::option::of(-100_000_i64..1_000_000),
        from in prop::option::of(0_i64..4_000_000_000),
        catch_up in prop::option::of(prop::sample::select(vec!["once", "skip", "all"])),
        uid in "[a-z@;,:\\\\ ]{1,12}x",
    ) -> ScheduleRow {
        let wall = jiff::civil::date(1990, 1, 1).at(0, 0, 0, 0) + jiff::ToSpan::minutes(minute);
        let at = TimeZone::get(zone).unwrap().to_ambiguous_timestamp(wall).compatible().unwrap();
        let said = ScheduleText {
            title: title.chars().filter(|c| !c.is_control() || matches!(c, '\t' | '\n')).collect(),
            span: Span {
                starts: wall.strftime("%Y-%m-%dT%H:%M").to_string(),
                zone: zone.to_owned(),
                starts_at: at.as_millisecond(),
                minutes,
            },
            repeat: repeat
                .map(|(rule, times, on)| RepeatRule { rrule: rule.to_rrule(), times, on }),
            remind: lead.map(|lead| ReminderRule {
                lead_ms: lead * 1_000,
                from: from.map(|from| from * 1_000),
            }),
            catch_up: catch_up.map(str::to_owned),
            run: None,
        };
        let (id, version, created_at, updated_at) = (1, 1, 1_000, 1_000);
        ScheduleRow { id, uid, said, remind_next: None, created_at, updated_at, version }
    }
}

/// The parts of a todo that a calendar can express.
fn in_seconds(mut row: TodoRow) -> TodoRow {
    let whole = |at: &mut UtcMs| *at = *at / 1_000 * 1_000;
    let moments = [&mut row.said.due_at, &mut row.said.remind_at, &mut row.done_at];
    moments.into_iter().flatten().for_each(whole);
    whole(&mut row.created_at);
    row
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        rows in prop::collection::vec(entries(), 0..3),
        todos in prop::collection::vec(todos().prop_map(in_seconds), 0..3),
    ) {
        let text = write(&rows, &todos, &now());
        prop_assert!(text.split("\r\n").all(|line| line.len() <= 75), "{}", text);
        let read = read(&text, &now());
        prop_assert_eq!(&read.problems, &[], "{}", text);
        let said: Vec<_> = read.entries.into_iter().map(|read| (read.uid, read.said)).collect();
        prop_assert_eq!(said, rows.into_iter().map(|row| (row.uid, row.said)).collect::<Vec<_>>());
        let said: Vec<_> = read
            .todos
            .into_iter()
            .map(|read| (read.uid, read.said, read.done, read.created_at))
            .collect();
        let rows = todos.into_iter().map(|row| {
            (row.uid, row.said, row.done_at.map(CompletionTime::At), Some(row.created_at))
        });
        prop_assert_eq!(said, rows.collect::<Vec<_>>());
    }

    #[test]
    fn nothing_makes_the_reader_stumble(
        text in any::<String>(),
        rows in prop::collection::vec(entries(), 0..3),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, "\\PC{0,5}"), 1..9),
    ) {
        let _ = read(&format!("BEGIN:VCALENDAR\r\n{text}"), &now());
        let mut chars: Vec<char> = write(&rows, &[], &now()).chars().collect();
        for (at, length, new) in cuts {
            let from = at.index(chars.len().max(1)).min(chars.len());
            let to = (from + length).min(chars.len());
            chars.splice(from..to, new.chars());
        }
        let _ = read(&chars.into_iter().collect::<String>(), &now());
    }
}

fn calendar(lines: &str) -> PortableFile {
    read(&format!("BEGIN:VCALENDAR\nVERSION:2.0\n{lines}\nEND:VCALENDAR\n"), &now())
}

fn event(lines: &str) -> PortableFile {
    calendar(&format!("BEGIN:VEVENT\nUID:a\nSUMMARY:a\n{lines}\nEND:VEVENT"))
}

fn rule_of(rule: &str) -> Option<RepeatRule> {
    let start = "DTSTART;TZID=Europe/Rome:20261116T090000\nDURATION:PT1H";
    let parsed = event(&format!("{start}\nRRULE:{rule}"));
    assert_eq!(parsed.entries.len(), 1, "{rule}");
    let repeat = parsed.entries[0].said.repeat.clone();
    let told: Vec<_> = parsed.problems.iter().map(|problem| problem.trouble).collect();
    assert_eq!(
        told,
        if repeat.is_none() { vec![FileProblemKind::Repetition] } else { vec![] },
        "{rule}"
    );
    repeat
}

#[test]
fn repetitions_of_others_are_brought_into_our_form() {
    for (theirs, ours, times) in [
        (
            "FREQ=WEEKLY;WKST=SU;UNTIL=20261231T225959Z;BYDAY=MO,WE",
            "FREQ=WEEKLY;BYDAY=MO,WE",
            Some(14),
        ),
        ("FREQ=WEEKLY;INTERVAL=1;BYDAY=MO;WKST=MO", "FREQ=WEEKLY;BYDAY=MO", None),
        ("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", None),
        ("FREQ=MONTHLY;COUNT=5", "FREQ=MONTHLY;BYMONTHDAY=16", Some(5)),
        ("FREQ=YEARLY;BYMONTHDAY=16;BYMONTH=11", "FREQ=YEARLY", None),
        ("FREQ=DAILY;UNTIL=20261118", "FREQ=DAILY", Some(3)),
        ("FREQ=DAILY;UNTIL=20261118T090000", "FREQ=DAILY", Some(3)),
        ("FREQ=DAILY;UNTIL=20261118T075959Z", "FREQ=DAILY", Some(2)),
    ] {
        let expected = RepeatRule { rrule: ours.to_owned(), times, on: 1 };
        assert_eq!(rule_of(theirs), Some(expected), "{theirs}");
    }
}

#[test]
fn a_repetition_without_a_counterpart_is_told_and_the_event_taken_once() {
    for rule in [
        "FREQ=MONTHLY;BYDAY=2MO,3TU",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU",
        "FREQ=YEARLY;BYMONTH=3",
        "FREQ=DAILY;COUNT=0",
        "FREQ=MINUTELY;UNTIL=20991231",
        "FREQ=DAILY;UNTIL=never",
        "nonsense",
    ] {
        assert_eq!(rule_of(rule), None, "{rule}");
    }
}

#[test]
fn times_are_read_where_they_were_written() {
    let span = |start: &str| {
        let span = event(start).entries.remove(0).said.span;
        (span.starts, span.zone, span.minutes)
    };
    let is = |starts: &str, zone: &str, minutes| (starts.to_owned(), zone.to_owned(), minutes);
    let shanghai = "Asia/Shanghai";
    assert_eq!(
        span("DTSTART:20261116T010000Z\nDTEND:20261116T013000Z"),
        is("2026-11-16T09:00", shanghai, 30)
    );
    assert_eq!(
        span("DTSTART:20261116T010000Z\nRRULE:FREQ=DAILY"),
        is("2026-11-16T01:00", "UTC", 0)
    );
    assert_eq!(
        span("DTSTART:20261116T010000\nDURATION:P1DT1H"),
        is("2026-11-16T01:00", shanghai, 1_500)
    );
    assert_eq!(span("DTSTART;VALUE=DATE:20261116"), is("2026-11-16T00:00", shanghai, 1_440));
    assert_eq!(
        span("DTSTART;VALUE=DATE:20261116\nDTEND;VALUE=DATE:20261119"),
        is("2026-11-16T00:00", shanghai, 4_320)
    );
    let zones =
        ["/example.org/20050126_1/Europe/Berlin", "W. Europe Standard Time", "\"Europe/Berlin\""];
    for zone in zones {
        let start =
            format!("DTSTART;TZID={zone}:20261116T010000\nDTEND;TZID={zone}:20261116T020000");
        assert_eq!(span(&start), is("2026-11-16T01:00", "Europe/Berlin", 60));
    }
    let unknown = event("DTSTART;TZID=Nowhere:20261116T010000");
    assert_eq!(unknown.entries[0].said.span.zone, shanghai);
    let told =
        FileProblem { line: 6, trouble: FileProblemKind::Zone, detail: "Nowhere".to_owned() };
    assert_eq!(unknown.problems, [told]);
}

#[test]
fn alarms_become_one_reminder() {
    let lead = |alarms: &[&str]| {
        let alarms: Vec<String> =
            alarms.iter().map(|lines| format!("BEGIN:VALARM\n{lines}\nEND:VALARM")).collect();
        let start = "DTSTART:20261116T010000Z\nDURATION:PT1H";
        let parsed = event(&format!("{start}\n{}", alarms.join("\n")));
        let lead = parsed.entries[0].said.remind.as_ref().map(|remind| remind.lead_ms / 60_000);
        (lead, parsed.problems.len())
    };
    let off = "ACTION:NONE\nTRIGGER;VALUE=DATE-TIME:19760401T005545Z";
    assert_eq!(lead(&[off, "ACTION:DISPLAY\nTRIGGER:-PT15M"]), (Some(15), 0));
    assert_eq!(lead(&["ACTION:AUDIO\nTRIGGER;RELATED=END:-P1D"]), (Some(1_380), 0));
    assert_eq!(lead(&["TRIGGER;VALUE=DATE-TIME:20261116T003000Z"]), (Some(30), 0));
    assert_eq!(lead(&["TRIGGER:-PT5M", "TRIGGER:-PT9M"]), (Some(5), 1));
    assert_eq!(lead(&["TRIGGER:soon"]), (None, 1));
}

#[test]
fn broken_calendars_are_told_by_line_and_the_rest_is_taken() {
    let good = "BEGIN:VEVENT\nUID:g\nSUMMARY:good\nDTSTART:20261116T010000Z\nEND:VEVENT";
    let parsed = calendar(&format!(
        "{good}\nBEGIN:VEVENT\nSUMMARY:no start\nEND:VEVENT\nwhat is this\nBEGIN:VEVENT\n\
         DTSTART:20261116T010000Z\nEND:VEVENT\nEND:VTODO\nBEGIN:VEVENT\nSUMMARY:cut"
    ));
    let told: Vec<_> = parsed.problems.iter().map(|p| (p.line, p.trouble)).collect();
    let expected = [
        (8, FileProblemKind::BadDate),
        (11, FileProblemKind::NotALine),
        (12, FileProblemKind::NoText),
        (15, FileProblemKind::Unbalanced),
        (16, FileProblemKind::Unbalanced),
    ];
    assert_eq!(told, expected);
    assert_eq!(parsed.entries.len(), 1);
    let other = read("(A) buy milk\n", &now());
    assert_eq!(other.problems[0].trouble, FileProblemKind::NotACalendar);
}

#[test]
fn what_an_entry_cannot_hold_is_told() {
    let start = "DTSTART:20261116T010000Z";
    let troubles = |lines: &str| {
        let parsed = event(lines);
        (
            parsed.entries.len(),
            parsed.problems.iter().map(|p| (p.line, p.trouble)).collect::<Vec<_>>(),
        )
    };
    let daily = format!("{start}\nRRULE:FREQ=DAILY");
    let except = format!("{daily}\nEXDATE:20261117T010000Z");
    assert_eq!(troubles(&except), (1, vec![(8, FileProblemKind::ExceptDays)]));
    let moved = format!("{start}\nRECURRENCE-ID:20261117T010000Z");
    assert_eq!(troubles(&moved), (0, vec![(7, FileProblemKind::Exception)]));
    assert_eq!(
        troubles(&format!("{start}\nSTATUS:CANCELLED")),
        (0, vec![(3, FileProblemKind::CalledOff)])
    );
    assert_eq!(
        troubles(&format!("{start}\nDTEND:soon")),
        (1, vec![(7, FileProblemKind::DateLeftOut)])
    );
}

#[test]
fn todos_of_others_are_understood() {
    let parsed = calendar(
        "BEGIN:VTODO\nUID:t\nSUMMARY:Call Mom\\, then Dad\nDUE;VALUE=DATE:20261116\nPRIORITY:5\n\
         CATEGORIES:Home,Phone\nSTATUS:COMPLETED\nCOMPLETED:20261115T020000Z\n\
         BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT30M\nEND:VALARM\nEND:VTODO",
    );
    let due: Timestamp = "2026-11-16T23:59+08:00".parse().unwrap();
    let due = due.as_millisecond();
    let said = TodoText {
        text: "Call Mom, then Dad".to_owned(),
        tags: vec!["Home".to_owned(), "Phone".to_owned()],
        priority: 5,
        due_at: Some(due),
        remind_at: Some(due - 30 * 60_000),
        remind_lead: Some(30 * 60_000),
    };
    assert_eq!(parsed.todos[0].said, said);
    let done: Timestamp = "2026-11-15T02:00Z".parse().unwrap();
    assert_eq!(parsed.todos[0].done, Some(CompletionTime::At(done.as_millisecond())));
    assert_eq!(parsed.problems, []);
}

#[test]
fn the_rules_of_a_zone_stand_beside_its_entries() {
    let row = |zone: &str| ScheduleRow {
        id: 1,
        uid: "a".to_owned(),
        said: ScheduleText {
            title: "a".to_owned(),
            span: Span {
                starts: "2006-03-01T09:00".to_owned(),
                zone: zone.to_owned(),
                starts_at: 1_141_221_600_000,
                minutes: 60,
            },
            repeat: None,
            remind: None,
            catch_up: None,
            run: None,
        },
        remind_next: None,
        created_at: 0,
        updated_at: 0,
        version: 1,
    };
    let zone = |zone: &str| {
        let text = write(&[row(zone)], &[], &now());
        let from = text.find("BEGIN:VTIMEZONE").unwrap();
        let to = text.find("END:VTIMEZONE").unwrap();
        text[from..to].lines().skip(2).collect::<Vec<_>>().join(" ")
    };
    let shanghai = "BEGIN:STANDARD DTSTART:19910915T020000 TZOFFSETFROM:+0900 TZOFFSETTO:+0800 \
                    TZNAME:CST END:STANDARD";
    assert_eq!(zone("Asia/Shanghai"), shanghai);
    // The rules changed in 2007: the earlier changes are listed, the current rule has no end.
    let new_york = "BEGIN:STANDARD DTSTART:20051030T020000 TZOFFSETFROM:-0400 TZOFFSETTO:-0500 \
                    TZNAME:EST RDATE:20061029T020000 END:STANDARD \
                    BEGIN:STANDARD DTSTART:20071104T020000 TZOFFSETFROM:-0400 TZOFFSETTO:-0500 \
                    TZNAME:EST RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU END:STANDARD \
                    BEGIN:DAYLIGHT DTSTART:20060402T020000 TZOFFSETFROM:-0500 TZOFFSETTO:-0400 \
                    TZNAME:EDT END:DAYLIGHT \
                    BEGIN:DAYLIGHT DTSTART:20070311T020000 TZOFFSETFROM:-0500 TZOFFSETTO:-0400 \
                    TZNAME:EDT RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU END:DAYLIGHT";
    assert_eq!(zone("America/New_York"), new_york);
}
