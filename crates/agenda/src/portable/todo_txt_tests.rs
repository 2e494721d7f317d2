//! Our lines and those of other programs.

use super::*;
use proptest::prelude::*;

const ZONES: [&str; 3] = ["Asia/Shanghai", "Europe/Rome", "America/New_York"];

/// Words that mean something to the format, that nearly do, and that do not.
const WORDS: [&str; 24] = [
    "x",
    "(A)",
    "2026-11-15",
    "+a",
    "+",
    r"\+a",
    r"\\+a",
    "due:2026-01-01",
    "due:",
    "due:soon",
    r"\due:soon",
    r"\n",
    "n",
    r"\\n",
    "uid:z",
    "pri:3",
    "remind:x",
    "@home",
    "http://a.b",
    "",
    "买牛奶",
    "C:\\new",
    "100%20",
    "\t",
];

pub(in crate::portable) fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        prop::sample::select(&WORDS[..]).prop_map(str::to_owned),
        "\\PC{0,6}".prop_map(|word| word),
    ];
    let gap = prop::sample::select(vec![" ", " ", " ", "\n"]);
    prop::collection::vec((word, gap), 1..8)
        .prop_map(|words| words.into_iter().map(|(word, gap)| word + gap).collect::<String>())
        .prop_filter("a todo has a text", |text| !text.trim().is_empty())
}

prop_compose! {
    pub(in crate::portable) fn todos()(
        text in texts(),
        tags in prop::collection::btree_set("[a-z +%家]{1,6}z", 0..3),
        priority in prop_oneof![0_i64..40, Just(i64::MAX)],
        due in prop::option::of(0_i64..4_000_000_000_000),
        to_the_minute in any::<bool>(),
        lead in prop::option::of(0_i64..1_000_000),
        done_at in prop::option::of(0_i64..4_000_000_000_000),
        created_at in 0_i64..4_000_000_000_000,
        uid in "[a-z@ %:+]{1,12}z",
    ) -> TodoRow {
        let due_at = due.map(|due| if to_the_minute { due / 60_000 * 60_000 } else { due });
        let remind_at = due_at.and_then(|due| lead.map(|lead| due - lead));
        let tags: Vec<String> = tags.into_iter().collect();
        let said = TodoText { text, tags, priority, due_at, remind_at, remind_lead: None };
        let (id, version, updated_at, remind_next) = (1, 1, created_at, remind_at);
        TodoRow { id, uid, said, remind_next, done_at, created_at, updated_at, version }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        rows in prop::collection::vec(todos(), 0..4),
        zone in prop::sample::select(&ZONES[..]),
    ) {
        let now: Zoned = format!("2026-11-15T09:00[{zone}]").parse().unwrap();
        let zone = now.time_zone();
        let day = |at: UtcMs| moment(at).to_zoned(zone.clone()).date();
        let read = read(&write(&rows, zone), &now);
        prop_assert_eq!(read.problems, []);
        prop_assert_eq!(read.todos.len(), rows.len());
        for (at, (read, row)) in read.todos.into_iter().zip(rows).enumerate() {
            prop_assert_eq!(read.line, at + 1);
            prop_assert_eq!(read.uid, row.uid);
            prop_assert_eq!(read.said, row.said);
            prop_assert_eq!(read.done, row.done_at.map(|done| CompletionTime::On(day(done))));
            prop_assert_eq!(read.created_at.map(day), Some(day(row.created_at)));
        }
    }

    #[test]
    fn nothing_makes_the_reader_stumble(text in any::<String>(), words in texts()) {
        let now: Zoned = "2026-11-15T09:00[Europe/Rome]".parse().unwrap();
        let _ = read(&text, &now);
        let _ = read(&words, &now);
    }
}

fn now() -> Zoned {
    "2026-11-15T09:00[Asia/Shanghai]".parse().unwrap()
}

fn one(line: &str) -> ImportedTodo {
    let parsed = read(line, &now());
    assert_eq!(parsed.problems, [], "{line}");
    parsed.todos.into_iter().next().unwrap()
}

#[test]
fn lines_of_other_programs_are_understood() {
    let todo = one("(A) Thank Mom for the meatballs @phone");
    assert_eq!(
        (todo.said.priority, todo.said.text.as_str()),
        (1, "Thank Mom for the meatballs @phone")
    );
    let todo =
        one("(B) 2026-11-01 Schedule Goodwill pickup +GarageSale @phone t:2026-11-20 rec:1w");
    assert_eq!(todo.said.text, "Schedule Goodwill pickup @phone t:2026-11-20 rec:1w");
    assert_eq!((&todo.said.tags[..], todo.said.priority), (&["GarageSale".to_owned()][..], 2));
    assert_eq!(todo.created_at, on_wall("2026-11-01T00:00".parse().unwrap(), now().time_zone()));
    let todo = one("x 2026-11-03 2026-11-01 post signs due:2026-11-04 pri:C");
    assert_eq!(todo.done, Some(CompletionTime::On("2026-11-03".parse().unwrap())));
    assert_eq!((todo.said.text.as_str(), todo.said.priority), ("post signs", 3));
    assert_eq!(todo.said.due_at, on_wall("2026-11-04T23:59".parse().unwrap(), now().time_zone()));
    assert_eq!(one("x buy milk").done, Some(CompletionTime::Sometime));
    assert_eq!(one("xylophone lesson").done, None);
    let todo = one("+one and +two");
    assert_eq!((todo.said.text.as_str(), todo.said.tags.join(",")), ("and", "one,two".to_owned()));
}

#[test]
fn a_line_without_a_name_gets_the_same_one_again_and_twins_get_two() {
    let read = |text: &str| read(text, &now()).todos.into_iter().map(|todo| todo.uid);
    let twins: Vec<String> = read("buy milk\nbuy milk").collect();
    assert_ne!(twins[0], twins[1]);
    assert_eq!(read("x 2026-11-15 buy milk due:2026-11-20").collect::<Vec<_>>(), twins[..1]);
}

#[test]
fn bad_lines_are_told_and_the_others_taken() {
    let text = "\u{feff}one\r\n\r\ntwo due:2026-02-30\r\n2026-11-15 due:2026-11-16\r\n\
                four pri:high\r\nfive remind:2026-11-16T08:00\r\nsix\r\n";
    let parsed = read(text, &now());
    let told: Vec<_> =
        parsed.problems.iter().map(|p| (p.line, p.trouble, p.detail.as_str())).collect();
    let expected = [
        (3, FileProblemKind::BadDate, "2026-02-30"),
        (4, FileProblemKind::NoText, "2026-11-15 due:2026-11-16"),
        (5, FileProblemKind::BadPriority, "high"),
        (6, FileProblemKind::Reminder, "five remind:2026-11-16T08:00"),
    ];
    assert_eq!(told, expected);
    let taken: Vec<_> = parsed.todos.iter().map(|t| (t.line, t.said.text.as_str())).collect();
    assert_eq!(taken, [(1, "one"), (6, "five"), (7, "six")]);
}

#[test]
fn a_moment_that_the_wall_shows_twice_keeps_its_offset() {
    let rome: Zoned = "2026-10-01T09:00[Europe/Rome]".parse().unwrap();
    let later: Timestamp = "2026-10-25T02:30+01:00".parse().unwrap();
    let earlier: Timestamp = "2026-10-25T02:30+02:00".parse().unwrap();
    let text = |at: Timestamp| wall(at.as_millisecond(), rome.time_zone());
    assert_eq!(text(earlier), "2026-10-25T02:30");
    assert_eq!(text(later), "2026-10-25T02:30+01:00");
}
