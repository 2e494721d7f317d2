//! Repetitions, and where they begin and end.

use jiff::civil::Weekday::{self, Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};

use super::super::clock::DayPart;
use super::{WordList, WordTable};

pub(in super::super) const EVERY: WordList =
    &["每", "每个", "每逢", "逢", "每到", "每一个", "every", "each", "every single"];
pub(in super::super) const EVERY_GAP: WordList = &["每隔", "隔", "每间隔"];
pub(in super::super) const OTHER: WordList = &["other", "second", "2nd"];
pub(in super::super) const ALTERNATE: WordList = &["alternate", "on alternate", "alternating"];
pub(in super::super) const THIRD: WordList = &["third", "3rd"];
pub(in super::super) const DAILY: WordList = &[
    "每天",
    "每日",
    "天天",
    "每一天",
    "日常",
    "daily",
    "everyday",
    "every day",
    "each day",
    "nightly",
];
pub(in super::super) const DAILY_PARTS: WordTable<DayPart> = &[
    ("每早", DayPart::Morning),
    ("每晚", DayPart::Evening),
    ("每夜", DayPart::Evening),
    ("每天早晨", DayPart::Morning),
    ("every morning", DayPart::Morning),
    ("each morning", DayPart::Morning),
    ("mornings", DayPart::Morning),
    ("every afternoon", DayPart::Afternoon),
    ("every evening", DayPart::Evening),
    ("each evening", DayPart::Evening),
    ("every night", DayPart::Evening),
    ("each night", DayPart::Evening),
    ("nightly", DayPart::Evening),
];
pub(in super::super) const WORKING_DAYS: WordList = &[
    "每个工作日",
    "每工作日",
    "工作日每天",
    "每到工作日",
    "工作日",
    "every weekday",
    "each weekday",
    "every workday",
    "every working day",
    "every business day",
    "weekdays",
    "on weekdays",
    "workdays",
];
pub(in super::super) const WEEKENDS: WordList = &[
    "每个周末",
    "每周末",
    "每逢周末",
    "每到周末",
    "每周双休日",
    "every weekend",
    "each weekend",
    "on weekends",
    "weekends",
    "周六日",
    "周六周日",
    "周六和周日",
    "周六、周日",
    "星期六日",
    "每个周六日",
];
pub(in super::super) const WEEKLY: WordList = &["weekly"];
pub(in super::super) const FORTNIGHTLY: WordList =
    &["biweekly", "bi-weekly", "fortnightly", "双周", "每双周", "隔周", "每隔周", "隔一周"];
pub(in super::super) const MONTHLY: WordList = &["monthly", "每月", "每个月", "每月份"];
pub(in super::super) const YEARLY: WordList =
    &["yearly", "annually", "每年", "每一年", "every year", "each year"];
pub(in super::super) const HOURLY: WordList =
    &["hourly", "每小时", "每个小时", "每个钟头", "每一小时"];
pub(in super::super) const QUARTERLY: WordList =
    &["quarterly", "每季度", "每个季度", "每季", "every quarter", "each quarter"];
pub(in super::super) const QUARTERS: WordList = &["季度", "季", "quarter", "quarterly"];
pub(in super::super) const TO_DAY: WordList = &["到", "至", "-", "~", "to", "through", "thru"];
pub(in super::super) const DAY_AND: WordList =
    &["、", "和", "及", "跟", "与", ",", "，", "and", ", and", "&", "/", "还有", "以及", "+"];
pub(in super::super) const EACH_OF: WordList = &["每天", "每日", "的每天", "every day", "daily"];
/// What is done again and again: after one of these a repetition is a rule even if no gap is
/// between them.
pub(in super::super) const REPEATED_VERBS: WordList = &[
    "开会",
    "吃药",
    "跑步",
    "提醒",
    "锻炼",
    "健身",
    "浇",
    "喂",
    "打扫",
    "上课",
    "练",
    "写",
    "交",
    "喝",
    "吃",
    "遛狗",
    "倒垃圾",
    "叫我",
    "看",
    "读",
    "背",
    "还",
    "给",
    "做",
    "运动",
    "早起",
];
pub(in super::super) const LAST_DAY: WordList = &[
    "最后一天",
    "的最后一天",
    "底",
    "月底",
    "末",
    "on the last day",
    "on its last day",
    "at the end of the month",
    "the last day",
];
pub(in super::super) const FIRST_DAY: WordList =
    &["第一天", "的第一天", "初", "月初", "首日", "on the first day", "the first day"];
pub(in super::super) const MIDDLE_DAY: WordList = &["中", "月中"];
pub(in super::super) const LAST_DAY_OF: WordList = &["last day of", "end of"];
pub(in super::super) const FIRST_DAY_OF: WordList = &["first day of", "beginning of", "start of"];
pub(in super::super) const EVERY_MONTH: WordList = &["every month", "each month"];
pub(in super::super) const OF_THE_MONTH: WordList =
    &["of the month", "of every month", "of each month", "each month", "every month", "monthly"];
pub(in super::super) const DAYS_ON: WordList = &["on", "的", "的周", "的星期", "里的", "的每个"];
pub(in super::super) const PLURAL_DAYS: WordTable<Weekday> = &[
    ("mondays", Monday),
    ("tuesdays", Tuesday),
    ("wednesdays", Wednesday),
    ("thursdays", Thursday),
    ("fridays", Friday),
    ("saturdays", Saturday),
    ("sundays", Sunday),
];

// Where a repetition begins and ends.

pub(in super::super) const STARTING: WordList = &[
    "starting",
    "starting from",
    "starting on",
    "start",
    "beginning",
    "beginning on",
    "from",
    "as of",
    "从",
    "自",
    "起始于",
    "始于",
];
/// After the first day in Chinese, which makes it the start of a repetition.
pub(in super::super) const ONWARDS: WordList = &["起", "开始", "以后", "onwards", "onward", "on"];
pub(in super::super) const UNTIL: WordList = &[
    "直到",
    "一直到",
    "持续到",
    "到",
    "至",
    "截止到",
    "截至",
    "until",
    "till",
    "til",
    "through",
    "thru",
    "up to",
    "ending",
    "ending on",
    "until the",
];
pub(in super::super) const UNTIL_ENDS: WordList = &["为止", "止", "结束", "inclusive"];
pub(in super::super) const IN_ALL: WordList =
    &["共", "一共", "总共", "重复", "连续", "连着", "for", "for the next", "x", "×", "repeat"];
pub(in super::super) const TIMES: WordList =
    &["次", "回", "遍", "times", "occurrences", "x", "time"];

// Deadlines.

/// The deadline is before the following day begins.
pub(in super::super) const BEFORE: WordList = &["before"];

pub(in super::super) const DEADLINE_STARTS: WordList = &[
    "by",
    "before",
    "due",
    "due by",
    "due on",
    "no later than",
    "not later than",
    "deadline",
    "at the latest by",
    "due:",
    "latest",
    "latest by",
    "ddl",
    "ddl:",
    "deadline:",
    "不晚于",
    "最晚",
    "最迟",
    "截止到",
    "截止",
    "截至",
    "赶在",
    "务必在",
];
pub(in super::super) const DEADLINE_ENDS: WordList =
    &["前", "之前", "以前", "截止", "到期", "截止前", "at the latest", "or earlier"];
/// Other words that begin like a deadline.
pub(in super::super) const NO_DEADLINES: WordList = &[
    "前往",
    "前台",
    "前端",
    "前任",
    "前面",
    "前后",
    "前提条件",
    "前提是",
    "前提下",
    "前言",
    "前辈",
    "前一",
];
