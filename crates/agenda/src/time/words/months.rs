//! The words for months, quarters, years and days of a month.

use super::{WordList, WordTable};

pub(in super::super) const MONTHS_AWAY: WordTable<i64> = &[
    ("这个月", 0),
    ("这月", 0),
    ("本月", 0),
    ("当月", 0),
    ("下个月", 1),
    ("下月", 1),
    ("下下个月", 2),
    ("下下月", 2),
    ("上个月", -1),
    ("上月", -1),
];
pub(in super::super) const EN_MONTHS_AWAY: WordTable<i64> = &[
    ("this month", 0),
    ("the month", 0),
    ("next month", 1),
    ("nxt month", 1),
    ("the next month", 1),
];
pub(in super::super) const EN_MONTH_DAYS: WordTable<i8> = &[
    ("first day of", 1),
    ("beginning of", 1),
    ("start of", 1),
    ("middle of", 15),
    ("last day of", -1),
    ("end of", -1),
];
pub(in super::super) const MONTH_ENDS: WordTable<i64> =
    &[("月底", 0), ("月末", 0), ("end of month", 0), ("eom", 0), ("month end", 0)];
pub(in super::super) const MONTH_BEGINS: WordList = &["月初", "beginning of the month"];
pub(in super::super) const MONTH_MIDDLES: WordList = &["月中", "mid-month", "mid month"];
/// What may follow a month: its last day.
pub(in super::super) const END: WordList =
    &["底", "末", "月底", "月末", "的最后一天", "最后一天", "最末一天"];
pub(in super::super) const BEFORE_MONTH: WordList = &["前", "之前", "以前"];
pub(in super::super) const BEGIN: WordList = &["初", "月初", "的第一天", "第一天", "首日"];
pub(in super::super) const MIDDLE: WordList = &["中", "月中"];
/// After the middle of a month: a third of it, which is not a day.
pub(in super::super) const NOT_MIDDLE: &str = "旬下上天国美";
pub(in super::super) const QUARTER_ENDS: WordTable<i64> = &[
    ("季度末", 0),
    ("季末", 0),
    ("季度底", 0),
    ("本季度末", 0),
    ("这个季度末", 0),
    ("本季末", 0),
    ("下季度末", 1),
    ("下个季度末", 1),
    ("end of quarter", 0),
    ("end of the quarter", 0),
    ("end of this quarter", 0),
    ("end of next quarter", 1),
    ("eoq", 0),
];
pub(in super::super) const QUARTER_NAMES: WordTable<i8> =
    &[("q1", 1), ("q2", 2), ("q3", 3), ("q4", 4)];
pub(in super::super) const QUARTER_UNITS: WordList = &["季度", "季"];
pub(in super::super) const QUARTER_END: WordList = &["end", "末", "底", "结束"];
pub(in super::super) const END_OF: WordList = &["end of", "the end of"];
pub(in super::super) const NUMBER_MARK: WordList = &["第"];
pub(in super::super) const YEAR_ENDS: WordTable<i16> = &[
    ("年底", 0),
    ("年末", 0),
    ("年终", 0),
    ("今年底", 0),
    ("今年年底", 0),
    ("今年年末", 0),
    ("明年底", 1),
    ("明年年底", 1),
    ("明年年末", 1),
    ("end of year", 0),
    ("end of the year", 0),
    ("end of this year", 0),
    ("end of next year", 1),
    ("eoy", 0),
    ("year end", 0),
];
pub(in super::super) const YEAR_BEGINS: WordList =
    &["年初", "明年初", "明年年初", "beginning of next year", "start of next year"];
pub(in super::super) const MONTH_NAMES: WordTable<i8> = &[
    ("january", 1),
    ("jan", 1),
    ("february", 2),
    ("feb", 2),
    ("march", 3),
    ("mar", 3),
    ("april", 4),
    ("apr", 4),
    ("may", 5),
    ("june", 6),
    ("jun", 6),
    ("july", 7),
    ("jul", 7),
    ("august", 8),
    ("aug", 8),
    ("september", 9),
    ("sep", 9),
    ("sept", 9),
    ("october", 10),
    ("oct", 10),
    ("november", 11),
    ("nov", 11),
    ("december", 12),
    ("dec", 12),
    ("febuary", 2),
    ("feburary", 2),
    ("janurary", 1),
    ("januray", 1),
    ("septmber", 9),
    ("setember", 9),
    ("ocotber", 10),
    ("novemeber", 11),
    ("novemver", 11),
    ("decemeber", 12),
    ("decmber", 12),
    ("agust", 8),
];
pub(in super::super) const ORDINALS: WordList = &["st", "nd", "rd", "th"];
/// A number after them is a name: "order 20261203".
pub(in super::super) const NUMBER_OF: WordList = &[
    "order",
    "invoice",
    "ticket",
    "id",
    "no",
    "no.",
    "number",
    "ref",
    "tracking",
    "case",
    "#",
    "订单",
    "单号",
    "编号",
    "发票",
    "订单号",
    "工单",
    "号码",
    "快递",
];
/// Things that a number counts: "march 3 miles", "may 5 people join".
pub(in super::super) const COUNTED_THINGS: WordList = &[
    "miles",
    "mile",
    "km",
    "kilometers",
    "people",
    "guests",
    "steps",
    "laps",
    "times",
    "hours",
    "hour",
    "minutes",
    "days",
    "weeks",
    "persons",
    "friends",
    "kids",
    "men",
    "women",
    "of us",
    "students",
    "users",
    "percent",
];
/// Before a day of the month: "on 20th", "by 20th".
pub(in super::super) const BEFORE_ORDINALS: WordList =
    &["on", "by", "due", "before", "due on", "due by", "until"];
/// Things that an ordinal counts: "the 2nd draft".
pub(in super::super) const ORDINAL_THINGS: WordList = &[
    "draft",
    "chapter",
    "floor",
    "edition",
    "version",
    "round",
    "season",
    "episode",
    "grade",
    "half",
    "time",
    "attempt",
    "phase",
    "place",
    "book",
    "volume",
    "part",
    "page",
    "person",
    "one",
    "option",
    "question",
    "invoice",
    "payment",
    "instalment",
    "installment",
    "interview",
    "century",
    "anniversary",
    "birthday",
    "period",
    "shift",
    "dose",
    "batch",
    "item",
    "section",
    "step",
    "avenue",
    "street",
    "st",
    "ave",
    "review",
    "reminder",
    "party",
    "copy",
    "coat",
];
/// Before a number that is not a day: "my 30th", "chapter 20th".
pub(in super::super) const BEFORE_COUNTED: WordList = &[
    "my", "your", "his", "her", "our", "their", "its", "a", "an", "for", "came", "come", "finish",
    "finished", "place", "chapter", "grade", "floor", "season", "in", "of", "to", "top", "every",
    "each", "whose", "this", "that",
];
pub(in super::super) const ORDINAL_WORDS: WordTable<i8> = &[
    ("first", 1),
    ("second", 2),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("fifteenth", 15),
    ("twentieth", 20),
];
pub(in super::super) const OF: WordList = &["of", "in"];
pub(in super::super) const THE: WordList = &["the"];
pub(in super::super) const FULL_STOP: WordList = &["."];
pub(in super::super) const COMMA: WordList = &[",", "，"];
/// Which weekday of a month.
pub(in super::super) const NTH: WordTable<i8> = &[
    ("第一个", 1),
    ("第1个", 1),
    ("首个", 1),
    ("头一个", 1),
    ("第二个", 2),
    ("第2个", 2),
    ("第三个", 3),
    ("第3个", 3),
    ("第四个", 4),
    ("第4个", 4),
    ("第五个", 5),
    ("最后一个", -1),
    ("最后1个", -1),
    ("first", 1),
    ("1st", 1),
    ("second", 2),
    ("2nd", 2),
    ("third", 3),
    ("3rd", 3),
    ("fourth", 4),
    ("4th", 4),
    ("fifth", 5),
    ("5th", 5),
    ("last", -1),
];
