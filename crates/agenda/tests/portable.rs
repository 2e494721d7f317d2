//! Export and import of todos and the schedule.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::support::{Person, person, person_in};
use everloop_agenda::portable::{
    self, FileProblemKind, ImportSummary, PortableContent, exchange_words,
};
use everloop_types::Lang;
use expect_test::expect;

async fn keep_some(p: &Person) {
    for line in [
        "/todo add 买牛奶",
        "/todo add 交周报 --tag work --priority 1 --due 2026-11-16 15:00 --remind 2026-11-16 14:30",
        "/todo add read +1 due:soon --tag \"my books\" --priority 30 --due 2026-11-20",
        "/todo done 1",
        "/schedule add 2026-11-16 09:00 站会，每天都有；请准时参加并带上昨天的进展和今天的打算 --repeat weekdays --duration 15 --remind 2026-11-16 08:50",
        "/schedule add 2026-11-17 14:00 review --repeat weekly:tue --times 4 --catch-up all",
        "/schedule add 2026-11-18 14:00 dentist --remind 2026-11-18 08:00 --remind-start 2026-11-18 07:00",
        "/schedule repeat 2 off",
    ] {
        p.say(line).await;
    }
}

async fn import(p: &Person, what: PortableContent, text: &str) -> ImportSummary {
    portable::import(what, text, &p.desk, &p.reader).await.unwrap()
}

async fn export(p: &Person, what: PortableContent) -> String {
    portable::export(what, &p.store, &p.reader).await.unwrap()
}

/// Unique ids are random; a golden file cannot have them.
fn without_names(text: &str) -> String {
    let word = |word: &str| match (word.find("_"), word.find("@everloop")) {
        (Some(from), Some(to)) => format!("{}…{}", &word[..=from], &word[to..]),
        _ => word.to_owned(),
    };
    let lines = text.split('\n').map(|line| line.split(' ').map(word).collect::<Vec<_>>());
    lines.map(|words| words.join(" ")).collect::<Vec<_>>().join("\n").replace('\r', "")
}

#[tokio::test]
async fn todos_go_out_as_todo_txt() {
    let p = person();
    keep_some(&p).await;
    expect![[r"
        x 2026-11-15 2026-11-15 买牛奶 uid:todo_…@everloop
        (A) 2026-11-15 交周报 +work due:2026-11-16T15:00 remind:2026-11-16T14:30 uid:todo_…@everloop
        2026-11-15 read \+1 \due:soon +my%20books pri:30 due:2026-11-20 uid:todo_…@everloop
    "]]
    .assert_eq(&without_names(&export(&p, PortableContent::Todos).await));
}

#[tokio::test]
async fn everything_goes_out_as_a_calendar() {
    let p = person_in("2026-11-15T09:00[Europe/Rome]");
    keep_some(&p).await;
    expect![[r#"
        BEGIN:VCALENDAR
        VERSION:2.0
        PRODID:-//Everloop//Everloop//EN
        CALSCALE:GREGORIAN
        BEGIN:VTIMEZONE
        TZID:Europe/Rome
        BEGIN:STANDARD
        DTSTART:20261025T030000
        TZOFFSETFROM:+0200
        TZOFFSETTO:+0100
        TZNAME:CET
        RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
        END:STANDARD
        BEGIN:DAYLIGHT
        DTSTART:20270328T020000
        TZOFFSETFROM:+0100
        TZOFFSETTO:+0200
        TZNAME:CEST
        RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
        END:DAYLIGHT
        END:VTIMEZONE
        BEGIN:VEVENT
        UID:schedule_…@everloop
        DTSTAMP:20261115T080000Z
        CREATED:20261115T080000Z
        DTSTART;TZID=Europe/Rome:20261116T090000
        DURATION:PT15M
        SUMMARY:站会，每天都有；请准时参加并带上昨天的进展和
         今天的打算
        RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR
        BEGIN:VALARM
        ACTION:DISPLAY
        DESCRIPTION:站会，每天都有；请准时参加并带上昨天的进展
         和今天的打算
        TRIGGER:-PT10M
        END:VALARM
        END:VEVENT
        BEGIN:VEVENT
        UID:schedule_…@everloop
        DTSTAMP:20261115T080000Z
        CREATED:20261115T080000Z
        DTSTART;TZID=Europe/Rome:20261117T140000
        DURATION:PT60M
        SUMMARY:review
        X-EVERLOOP-RESTS:FREQ=WEEKLY;BYDAY=TU;COUNT=4
        X-EVERLOOP-CATCH-UP:all
        BEGIN:VALARM
        ACTION:DISPLAY
        DESCRIPTION:review
        TRIGGER:PT0S
        END:VALARM
        END:VEVENT
        BEGIN:VEVENT
        UID:schedule_…@everloop
        DTSTAMP:20261115T080000Z
        CREATED:20261115T080000Z
        DTSTART;TZID=Europe/Rome:20261118T140000
        DURATION:PT60M
        SUMMARY:dentist
        X-EVERLOOP-REMIND-FROM:20261118T060000Z
        BEGIN:VALARM
        ACTION:DISPLAY
        DESCRIPTION:dentist
        TRIGGER:-PT6H
        END:VALARM
        END:VEVENT
        BEGIN:VTODO
        UID:todo_…@everloop
        DTSTAMP:20261115T080000Z
        CREATED:20261115T080000Z
        SUMMARY:买牛奶
        STATUS:COMPLETED
        COMPLETED:20261115T080000Z
        END:VTODO
        BEGIN:VTODO
        UID:todo_…@everloop
        DTSTAMP:20261115T080000Z
        CREATED:20261115T080000Z
        SUMMARY:交周报
        DUE:20261116T140000Z
        PRIORITY:1
        CATEGORIES:work
        STATUS:NEEDS-ACTION
        BEGIN:VALARM
        ACTION:DISPLAY
        DESCRIPTION:交周报
        TRIGGER;VALUE=DATE-TIME:20261116T133000Z
        END:VALARM
        END:VTODO
        BEGIN:VTODO
        UID:todo_…@everloop
        DTSTAMP:20261115T080000Z
        CREATED:20261115T080000Z
        SUMMARY:read +1 due:soon
        DUE;VALUE=DATE:20261120
        PRIORITY:9
        X-EVERLOOP-PRIORITY:30
        CATEGORIES:my books
        STATUS:NEEDS-ACTION
        END:VTODO
        END:VCALENDAR
    "#]]
    .assert_eq(&without_names(&export(&p, PortableContent::All).await));
}

#[tokio::test]
async fn what_went_out_comes_in_whole_and_only_once() {
    let p = person();
    keep_some(&p).await;
    for (what, items) in
        [(PortableContent::Todos, 3), (PortableContent::Schedule, 3), (PortableContent::All, 6)]
    {
        let file = export(&p, what).await;
        let same = ImportSummary { same: items, ..ImportSummary::default() };
        assert_eq!(import(&p, what, &file).await, same, "where it came from");
        let other = person();
        let new = ImportSummary { added: items, ..ImportSummary::default() };
        assert_eq!(import(&other, what, &file).await, new, "elsewhere");
        assert_eq!(import(&other, what, &file).await, same, "a second time");
        assert_eq!(without_names(&export(&other, what).await), without_names(&file));
    }
}

#[tokio::test]
async fn a_change_made_elsewhere_comes_back() {
    let p = person();
    keep_some(&p).await;
    let todos =
        export(&p, PortableContent::Todos).await.replace("交周报", "交月报").replace("(A)", "(B)");
    let one = ImportSummary { changed: 1, same: 2, ..ImportSummary::default() };
    assert_eq!(import(&p, PortableContent::Todos, &todos).await, one);
    let todo = p.store.agenda().todo(2).await.unwrap().unwrap();
    assert_eq!((todo.said.text.as_str(), todo.said.priority), ("交月报", 2));
    assert_eq!(todo.remind_next, todo.said.remind_at, "the reminder is still to come");
    let calendar = export(&p, PortableContent::Schedule).await.replace("T140000", "T140500");
    let two = ImportSummary { changed: 2, same: 1, ..ImportSummary::default() };
    assert_eq!(import(&p, PortableContent::Schedule, &calendar).await, two);
    let entry = p.store.agenda().schedule(3).await.unwrap().unwrap();
    assert_eq!(entry.said.span.starts, "2026-11-18T14:05");
}

#[tokio::test]
async fn what_is_done_elsewhere_is_done_here_and_its_reminder_silent() {
    let p = person();
    keep_some(&p).await;
    let todos = export(&p, PortableContent::Todos)
        .await
        .replace("(A) 2026-11-15", "x (A) 2026-11-14 2026-11-15");
    assert_eq!(import(&p, PortableContent::Todos, &todos).await.changed, 1);
    let todo = p.store.agenda().todo(2).await.unwrap().unwrap();
    assert_eq!((todo.done_at.is_some(), todo.remind_next), (true, None));
    let open = todos.replace("x (A) 2026-11-14 ", "(A) ");
    assert_eq!(import(&p, PortableContent::Todos, &open).await.changed, 1);
    let todo = p.store.agenda().todo(2).await.unwrap().unwrap();
    assert_eq!((todo.done_at, todo.remind_next), (None, todo.said.remind_at));
}

#[tokio::test]
async fn reminders_of_the_past_stay_silent() {
    let p = person();
    let file =
        "old due:2026-11-01 remind:2026-11-01T08:00\nnew due:2026-11-20 remind:2026-11-20T08:00\n";
    assert_eq!(import(&p, PortableContent::Todos, file).await.added, 2);
    let next: Vec<bool> = p
        .store
        .agenda()
        .todos()
        .await
        .unwrap()
        .iter()
        .map(|todo| todo.remind_next.is_some())
        .collect();
    assert_eq!(next, [false, true]);
    let event = |uid: &str, day: &str| {
        format!(
            "BEGIN:VEVENT\nUID:{uid}\nSUMMARY:{uid}\nDTSTART:{day}T010000Z\nDURATION:PT1H\n\
             BEGIN:VALARM\nTRIGGER:-PT10M\nEND:VALARM\nEND:VEVENT\n"
        )
    };
    let (old, new) = (event("old", "20261101"), event("new", "20261201"));
    let file = format!("BEGIN:VCALENDAR\n{old}{new}END:VCALENDAR\n");
    assert_eq!(import(&p, PortableContent::Schedule, &file).await.added, 2);
    let next: Vec<bool> = p
        .store
        .agenda()
        .schedules()
        .await
        .unwrap()
        .iter()
        .map(|row| row.remind_next.is_some())
        .collect();
    assert_eq!(next, [false, true]);
}

#[tokio::test]
async fn entries_at_the_same_time_are_taken_and_counted() {
    let p = person();
    keep_some(&p).await;
    let event = |uid: &str, at: &str| {
        format!("BEGIN:VEVENT\nUID:{uid}\nSUMMARY:{uid}\nDTSTART:{at}\nDURATION:PT1H\nEND:VEVENT\n")
    };
    let file = format!(
        "BEGIN:VCALENDAR\n{}{}{}END:VCALENDAR\n",
        event("a", "20261118T143000"),
        event("b", "20261119T200000"),
        event("b", "20261119T210000"),
    );
    let done = import(&p, PortableContent::Schedule, &file).await;
    assert_eq!((done.added, done.conflicts), (2, 1));
    let told: Vec<_> = done.problems.iter().map(|p| (p.line, p.trouble)).collect();
    assert_eq!(told, [(14, FileProblemKind::Twice)]);
}

#[tokio::test]
async fn only_what_is_wanted_is_taken() {
    let p = person();
    keep_some(&p).await;
    let file = export(&p, PortableContent::All).await;
    let (todos, schedule) = (person(), person());
    assert_eq!(import(&todos, PortableContent::Todos, &file).await.added, 3);
    assert_eq!(todos.store.agenda().schedules().await.unwrap(), []);
    assert_eq!(import(&schedule, PortableContent::Schedule, &file).await.added, 3);
    assert_eq!(schedule.store.agenda().todos().await.unwrap(), []);
    let wrong = import(&schedule, PortableContent::Schedule, "buy milk\n").await;
    assert_eq!((wrong.added, wrong.problems[0].trouble), (0, FileProblemKind::NotACalendar));
}

/// The imported entries of a file (title, start, zone, minutes, rule, times, lead), and the lines
/// with problems.
async fn taken(file: &str) -> (Vec<String>, Vec<(&str, FileProblemKind)>) {
    let p = person_in("2026-11-15T09:00[Europe/Rome]");
    let sent = file.replace('\n', "\r\n");
    let done = import(&p, PortableContent::Schedule, &sent).await;
    let again = import(&p, PortableContent::Schedule, &sent).await;
    assert_eq!((again.added, again.changed, again.same), (0, 0, done.added), "twice is once");
    let rows = p.store.agenda().schedules().await.unwrap();
    let row = |row: everloop_store::ScheduleRow| {
        let (said, span) = (row.said.clone(), row.said.span);
        let rule = said.repeat.map(|r| format!(" {} x{:?}", r.rrule, r.times)).unwrap_or_default();
        let lead = said.remind.map(|r| format!(" -{}", r.lead_ms / 60_000)).unwrap_or_default();
        format!("{} {} {} {}{rule}{lead}", said.title, span.starts, span.zone, span.minutes)
    };
    let lines: Vec<&str> = file.lines().collect();
    let told = done.problems.iter().map(|problem| (lines[problem.line - 1], problem.trouble));
    let told = told.collect();
    (rows.into_iter().map(row).collect(), told)
}

#[tokio::test]
async fn a_calendar_in_the_style_of_a_web_calendar_is_taken() {
    let (rows, told) = taken(
        "BEGIN:VCALENDAR\nPRODID:-//Web//Calendar 70.9054//EN\nVERSION:2.0\nMETHOD:PUBLISH\n\
         X-WR-CALNAME:me@example.com\nX-WR-TIMEZONE:Europe/Rome\nBEGIN:VEVENT\n\
         DTSTART:20261120T130000Z\nDTEND:20261120T143000Z\nDTSTAMP:20261115T080000Z\n\
         UID:1a2b@web.example\nCREATED:20261101T120000Z\nDESCRIPTION:Bring <b>slides</b>\\nand \n\
         \x20water\\, please\nLOCATION:\nSEQUENCE:0\nSTATUS:CONFIRMED\nSUMMARY:Demo\\, part 2\n\
         TRANSP:OPAQUE\nBEGIN:VALARM\nACTION:EMAIL\nATTENDEE:mailto:me@example.com\n\
         TRIGGER:-P0DT1H0M0S\nEND:VALARM\nBEGIN:VALARM\nACTION:DISPLAY\n\
         TRIGGER:-P0DT0H10M0S\nEND:VALARM\nEND:VEVENT\nBEGIN:VEVENT\n\
         DTSTART;TZID=America/New_York:20261116T090000\n\
         DTEND;TZID=America/New_York:20261116T093000\n\
         RRULE:FREQ=WEEKLY;WKST=SU;UNTIL=20261201T045959Z;BYDAY=MO,WE\n\
         EXDATE;TZID=America/New_York:20261118T090000\nUID:3c4d@web.example\nSUMMARY:Sync\n\
         END:VEVENT\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261226\n\
         UID:5e6f@web.example\nSUMMARY:Away\nEND:VEVENT\nEND:VCALENDAR\n",
    )
    .await;
    let expected = [
        "Demo, part 2 2026-11-20T14:00 Europe/Rome 90 -10",
        "Sync 2026-11-16T09:00 America/New_York 30 FREQ=WEEKLY;BYDAY=MO,WE xSome(5)",
        "Away 2026-12-24T00:00 Europe/Rome 2880",
    ];
    assert_eq!(rows, expected);
    assert_eq!(
        told,
        [("EXDATE;TZID=America/New_York:20261118T090000", FileProblemKind::ExceptDays)]
    );
}

#[tokio::test]
async fn a_calendar_in_the_style_of_a_desktop_calendar_is_taken() {
    let (rows, told) = taken(
        "BEGIN:VCALENDAR\nMETHOD:PUBLISH\nVERSION:2.0\nX-WR-CALNAME:Home\n\
         PRODID:-//Agenda//Calendar 15//EN\nX-APPLE-CALENDAR-COLOR:#63DA38\nCALSCALE:GREGORIAN\n\
         BEGIN:VTIMEZONE\nTZID:Europe/Rome\nBEGIN:DAYLIGHT\nTZOFFSETFROM:+0100\n\
         RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nDTSTART:19810329T020000\nTZNAME:CEST\n\
         TZOFFSETTO:+0200\nEND:DAYLIGHT\nBEGIN:STANDARD\nTZOFFSETFROM:+0200\n\
         RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nDTSTART:19961027T030000\nTZNAME:CET\n\
         TZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\nBEGIN:VEVENT\n\
         TRANSP:OPAQUE\nDTEND;TZID=Europe/Rome:20261117T190000\nUID:E5F0-11\n\
         DTSTAMP:20261115T080000Z\nLOCATION:Gym\\nVia Roma 1\nSEQUENCE:1\n\
         SUMMARY:锻炼\nDTSTART;TZID=Europe/Rome:20261117T180000\nX-APPLE-TRAVEL-ADVISORY-BEHAVIOR:AUTOMATIC\n\
         RRULE:FREQ=DAILY;INTERVAL=2;COUNT=10\nBEGIN:VALARM\nX-WR-ALARMUID:9\nUID:9\nTRIGGER:-PT15M\n\
         DESCRIPTION:Reminder\nACTION:DISPLAY\nEND:VALARM\nBEGIN:VALARM\n\
         ACTION:NONE\nTRIGGER;VALUE=DATE-TIME:19760401T005545Z\nEND:VALARM\nEND:VEVENT\nBEGIN:VEVENT\n\
         UID:E5F0-11\nRECURRENCE-ID;TZID=Europe/Rome:20261119T180000\nSUMMARY:锻炼 (late)\n\
         DTSTART;TZID=Europe/Rome:20261119T200000\nDTEND;TZID=Europe/Rome:20261119T210000\n\
         END:VEVENT\nBEGIN:VEVENT\nUID:E5F0-12\nSUMMARY:Rent\nDTSTART;VALUE=DATE:20261201\n\
         RRULE:FREQ=MONTHLY;BYMONTHDAY=1\nEND:VEVENT\nEND:VCALENDAR\n",
    )
    .await;
    let expected = [
        "锻炼 2026-11-17T18:00 Europe/Rome 60 FREQ=DAILY;INTERVAL=2 xSome(10) -15",
        "Rent 2026-12-01T00:00 Europe/Rome 1440 FREQ=MONTHLY;BYMONTHDAY=1 xNone",
    ];
    assert_eq!(rows, expected);
    assert_eq!(
        told,
        [("RECURRENCE-ID;TZID=Europe/Rome:20261119T180000", FileProblemKind::Exception)]
    );
}

#[tokio::test]
async fn a_calendar_in_the_style_of_an_office_program_is_taken() {
    let (rows, told) = taken(
        "\u{feff}BEGIN:VCALENDAR\nPRODID:-//AgendaContext//Mail 16.0 MIMEDIR//EN\nVERSION:2.0\n\
         METHOD:PUBLISH\nBEGIN:VTIMEZONE\nTZID:W. Europe Standard Time\nBEGIN:STANDARD\n\
         DTSTART:16010101T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\n\
         RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nBEGIN:DAYLIGHT\n\
         DTSTART:16010101T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\n\
         RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3\nEND:DAYLIGHT\nEND:VTIMEZONE\n\
         BEGIN:VEVENT\nCLASS:PUBLIC\nDESCRIPTION:\\n\n\
         DTEND;TZID=\"W. Europe Standard Time\":20261116T103000\nDTSTAMP:20261115T080000Z\n\
         DTSTART;TZID=\"W. Europe Standard Time\":20261116T100000\nPRIORITY:5\n\
         RRULE:FREQ=MONTHLY;BYDAY=3MO\nSEQUENCE:0\nSUMMARY;LANGUAGE=en-us:Board meeting\n\
         UID:040000008200E00074C5B7101A82E00800000000\n\t1234\nX-MICROSOFT-CDO-BUSYSTATUS:BUSY\n\
         BEGIN:VALARM\nTRIGGER:-PT15M\nACTION:DISPLAY\nDESCRIPTION:Reminder\nEND:VALARM\n\
         END:VEVENT\nBEGIN:VEVENT\nDTSTART;TZID=\"W. Europe Standard Time\":20261117T100000\n\
         DTEND;TZID=\"W. Europe Standard Time\":20261117T110000\n\
         RRULE:FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=20\nSUMMARY:Check-in\nUID:0400-2\nEND:VEVENT\n\
         END:VCALENDAR\n",
    )
    .await;
    let expected = [
        "Board meeting 2026-11-16T10:00 Europe/Berlin 30 FREQ=MONTHLY;BYDAY=3MO xNone -15",
        "Check-in 2026-11-17T10:00 Europe/Berlin 60 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR xSome(20)",
    ];
    assert_eq!(rows, expected);
    assert!(told.is_empty(), "{told:?}");
}

#[tokio::test]
async fn what_came_of_it_is_told_in_both_languages() {
    let mut p = person();
    let file = "good\nbad due:2026-02-30\n";
    let done = import(&p, PortableContent::Todos, file).await;
    let zh = "导入完成：新增 1，更新 0，未变 0\n  第 2 行：日期缺失或不对，未导入：2026-02-30";
    assert_eq!(exchange_words(&p.reader, &done), zh);
    p.reader.lang = Lang::En;
    let en = "Imported: 1 new, 0 changed, 0 unchanged\n  \
              line 2: a date is missing or wrong; not imported: 2026-02-30";
    assert_eq!(exchange_words(&p.reader, &done), en);
    let bad: String = (0..25).map(|n| format!("bad {n} pri:high\n")).collect();
    let words = exchange_words(&p.reader, &import(&p, PortableContent::Todos, &bad).await);
    assert_eq!(words.lines().count(), 1 + 20 + 1);
    assert!(words.ends_with("\n  … and 5 more"), "{words}");
}
