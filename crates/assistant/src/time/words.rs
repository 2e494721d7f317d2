//! The words of the date grammar in both languages. They are what people type, not what they read.

use jiff::civil::Weekday::{self, Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};

use super::clock::Part;
use super::offsets::Unit;

type Table<T> = &'static [(&'static str, T)];
type List = &'static [&'static str];

/// The value of a Chinese numeral; 10 and 100 multiply what is before them.
pub(super) fn numeral(c: char) -> Option<u32> {
    let digits = ["零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九", "十", "百"];
    let place = digits.iter().position(|same| same.contains(c))?;
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100].get(place).copied()
}

pub(super) const NUMBERS: Table<u32> = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty-five", 45),
    ("a", 1),
    ("an", 1),
    ("a couple of", 2),
];

// Days.

pub(super) const NEAR_DAYS: Table<i64> = &[
    ("今天", 0),
    ("今日", 0),
    ("明天", 1),
    ("明日", 1),
    ("后天", 2),
    ("大后天", 3),
    ("昨天", -1),
    ("前天", -2),
    ("大前天", -3),
    ("today", 0),
    ("tomorrow", 1),
    ("tmr", 1),
    ("day after tomorrow", 2),
    ("yesterday", -1),
    ("day before yesterday", -2),
];

pub(super) const DAYS_WITH_PART: Table<(i64, Part)> = &[
    ("今早", (0, Part::Morning)),
    ("今晚", (0, Part::Evening)),
    ("今夜", (0, Part::Evening)),
    ("明早", (1, Part::Morning)),
    ("明晚", (1, Part::Evening)),
    ("昨晚", (-1, Part::Evening)),
    ("tonight", (0, Part::Evening)),
    ("this morning", (0, Part::Morning)),
    ("this afternoon", (0, Part::Afternoon)),
    ("this evening", (0, Part::Evening)),
    ("last night", (-1, Part::Evening)),
];

pub(super) const WEEK: List = &["周", "星期", "礼拜"];
pub(super) const WEEK_DAYS: Table<Weekday> = &[
    ("一", Monday),
    ("二", Tuesday),
    ("三", Wednesday),
    ("四", Thursday),
    ("五", Friday),
    ("六", Saturday),
    ("日", Sunday),
    ("天", Sunday),
];
/// Names that are a day even without a word before them.
pub(super) const DAY_NAMES: Table<Weekday> = &[
    ("monday", Monday),
    ("mon", Monday),
    ("tuesday", Tuesday),
    ("tue", Tuesday),
    ("tues", Tuesday),
    ("wednesday", Wednesday),
    ("wed", Wednesday),
    ("thursday", Thursday),
    ("thu", Thursday),
    ("thur", Thursday),
    ("thurs", Thursday),
    ("friday", Friday),
    ("fri", Friday),
    ("saturday", Saturday),
    ("sunday", Sunday),
];
/// Names that are ordinary words too, so they need a word before them or a time behind.
pub(super) const SHY_DAY_NAMES: Table<Weekday> = &[("sat", Saturday), ("sun", Sunday)];
pub(super) const PLURAL_DAYS: Table<Weekday> = &[
    ("mondays", Monday),
    ("tuesdays", Tuesday),
    ("wednesdays", Wednesday),
    ("thursdays", Thursday),
    ("fridays", Friday),
    ("saturdays", Saturday),
    ("sundays", Sunday),
];
/// Which week: 0 is the calendar week of today.
pub(super) const ZH_WEEKS: Table<i64> = &[
    ("这", 0),
    ("这个", 0),
    ("本", 0),
    ("下", 1),
    ("下个", 1),
    ("下下", 2),
    ("下下个", 2),
    ("上", -1),
    ("上个", -1),
];
pub(super) const EN_NEXT: List = &["next"];
pub(super) const EN_THIS: List = &["this", "this coming", "coming"];
pub(super) const EN_LAST: List = &["last"];
pub(super) const ON: List = &["on", "by"];
pub(super) const EN_WEEKENDS: Table<i64> =
    &[("weekend", 0), ("this weekend", 0), ("next weekend", 1)];
pub(super) const EN_NEXT_WEEK: Table<i64> =
    &[("next week", 1), ("the week after next", 2), ("week after next", 2)];
pub(super) const WEEK_END: List = &["末"];

pub(super) const YEAR: List = &["年"];
pub(super) const MONTH: List = &["月"];
pub(super) const DAY_OF_MONTH: List = &["日", "号"];
pub(super) const YEARS: Table<i16> = &[("今年", 0), ("明年", 1), ("后年", 2)];
pub(super) const MONTHS_AWAY: Table<i64> = &[
    ("这个月", 0),
    ("这月", 0),
    ("本月", 0),
    ("下个月", 1),
    ("下月", 1),
    ("下下个月", 2),
    ("下下月", 2),
    ("上个月", -1),
    ("上月", -1),
];
pub(super) const EN_MONTHS_AWAY: Table<i64> = &[("this month", 0), ("next month", 1)];
pub(super) const MONTH_ENDS: Table<i64> = &[
    ("月底", 0),
    ("月末", 0),
    ("end of month", 0),
    ("end of the month", 0),
    ("end of this month", 0),
    ("last day of the month", 0),
    ("end of next month", 1),
];
/// What may follow a month: its last day.
pub(super) const END: List = &["底", "末", "月底", "月末", "的最后一天", "最后一天"];
pub(super) const BEGIN: List = &["初", "月初"];
pub(super) const YEAR_ENDS: Table<i16> = &[
    ("年底", 0),
    ("年末", 0),
    ("今年底", 0),
    ("今年年底", 0),
    ("明年底", 1),
    ("明年年底", 1),
    ("end of year", 0),
    ("end of the year", 0),
    ("end of this year", 0),
    ("end of next year", 1),
];
pub(super) const MONTH_NAMES: Table<i8> = &[
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
];
pub(super) fn is_month(word: &str) -> bool {
    MONTH_NAMES.iter().any(|(name, _)| *name == word)
}
pub(super) const ORDINALS: List = &["st", "nd", "rd", "th"];
pub(super) const OF: List = &["of"];
pub(super) const THE: List = &["the"];
pub(super) const FULL_STOP: List = &["."];
pub(super) const COMMA: List = &[",", "，"];

// Times of day.

pub(super) const PARTS: Table<Part> = &[
    ("凌晨", Part::Night),
    ("清晨", Part::Morning),
    ("早晨", Part::Morning),
    ("早上", Part::Morning),
    ("早", Part::Morning),
    ("上午", Part::Forenoon),
    ("中午", Part::Noon),
    ("正午", Part::Noon),
    ("下午", Part::Afternoon),
    ("傍晚", Part::Dusk),
    ("晚上", Part::Evening),
    ("晚", Part::Evening),
    ("夜里", Part::Evening),
    ("午夜", Part::Midnight),
    ("半夜", Part::Midnight),
    ("noon", Part::Noon),
    ("midday", Part::Noon),
    ("midnight", Part::Midnight),
];
/// Parts that need a clock or a day beside them.
pub(super) const SHY_PARTS: Table<Part> = &[
    ("早", Part::Morning),
    ("晚", Part::Evening),
    ("morning", Part::Morning),
    ("afternoon", Part::Afternoon),
    ("evening", Part::Evening),
    ("night", Part::Evening),
];
/// The parts of one character, which are other words elsewhere.
pub(super) const SHY_ENDS: &str = "早晚";
pub(super) const TRAILING_PARTS: Table<Part> = &[
    ("am", Part::Am),
    ("a.m.", Part::Am),
    ("a.m", Part::Am),
    ("pm", Part::Pm),
    ("p.m", Part::Pm),
    ("p.m.", Part::Pm),
    ("in the morning", Part::Morning),
    ("in the afternoon", Part::Afternoon),
    ("in the evening", Part::Evening),
    ("at night", Part::Evening),
];
pub(super) const IN_THE_PARTS: Table<Part> = &[
    ("in the morning", Part::Morning),
    ("in the afternoon", Part::Afternoon),
    ("in the evening", Part::Evening),
];
pub(super) const HOUR: List = &["点", "点钟", "时"];
pub(super) const HALF_PAST: List = &["半"];
pub(super) const QUARTER: List = &["刻"];
pub(super) const MINUTE: List = &["分", "分钟"];
pub(super) const SHARP: List = &["整"];
pub(super) const AT: List = &["at", "@"];
pub(super) const O_CLOCK: List = &["o'clock", "oclock"];
pub(super) const BETWEEN: List = &["的", "从", "from", ",", "，"];
pub(super) const PAST_HOUR: Table<i8> =
    &[("half past", 30), ("quarter past", 15), ("a quarter past", 15)];
pub(super) const TO_HOUR: Table<i8> = &[("quarter to", 45), ("a quarter to", 45)];
/// What turns a number behind a phrase into a piece of a date that was not understood.
pub(super) const DATE_UNITS: List =
    &["点", "号", "日", "月", "年", ":", "时", "am", "pm", "st", "nd", "rd", "th"];
pub(super) const BROKEN_ENDS: &str = "年月日号";
pub(super) const NO_START_AFTER: &str = "年月点时第:-/.每";

// Offsets.

pub(super) const UNITS: Table<Unit> = &[
    ("分钟", Unit::Minute),
    ("分", Unit::Minute),
    ("小时", Unit::Hour),
    ("个小时", Unit::Hour),
    ("个钟头", Unit::Hour),
    ("钟头", Unit::Hour),
    ("刻钟", Unit::Quarter),
    ("天", Unit::Day),
    ("日", Unit::Day),
    ("周", Unit::Week),
    ("个星期", Unit::Week),
    ("星期", Unit::Week),
    ("个礼拜", Unit::Week),
    ("礼拜", Unit::Week),
    ("个月", Unit::Month),
    ("年", Unit::Year),
    ("minute", Unit::Minute),
    ("minutes", Unit::Minute),
    ("min", Unit::Minute),
    ("mins", Unit::Minute),
    ("hour", Unit::Hour),
    ("hours", Unit::Hour),
    ("hr", Unit::Hour),
    ("hrs", Unit::Hour),
    ("day", Unit::Day),
    ("days", Unit::Day),
    ("week", Unit::Week),
    ("weeks", Unit::Week),
    ("fortnight", Unit::Fortnight),
    ("month", Unit::Month),
    ("months", Unit::Month),
    ("year", Unit::Year),
    ("years", Unit::Year),
];
pub(super) const HALF_UNITS: Table<Unit> = &[
    ("半小时", Unit::HalfHour),
    ("半个小时", Unit::HalfHour),
    ("半个钟头", Unit::HalfHour),
    ("半天", Unit::HalfDay),
    ("半个月", Unit::HalfMonth),
    ("半年", Unit::HalfYear),
    ("half an hour", Unit::HalfHour),
    ("half hour", Unit::HalfHour),
    ("a half hour", Unit::HalfHour),
];
/// Between a number and its unit: and a half.
pub(super) const AND_HALF_HOURS: List = &["个半小时", "个半钟头", "个半钟"];
pub(super) const POINT_FIVE: List = &[".5"];
pub(super) const HOURS_AND_HALF: List = &["and a half"];
pub(super) const HALF_HOURS: List = &["and a half hours", "1/2 hours"];
pub(super) const AND: List = &["and", "又", "零"];
pub(super) const AFTER: Table<i64> = &[
    ("后", 1),
    ("以后", 1),
    ("之后", 1),
    ("from now", 1),
    ("later", 1),
    ("前", -1),
    ("以前", -1),
    ("之前", -1),
    ("ago", -1),
];
pub(super) const IN: List = &["in", "过", "再过"];

// Repetitions.

pub(super) const EVERY: List = &["每", "每个", "every", "each"];
pub(super) const EVERY_GAP: List = &["每隔", "隔"];
pub(super) const OTHER: List = &["other"];
pub(super) const DAILY: List = &["每天", "每日", "天天", "daily", "everyday"];
pub(super) const DAILY_PARTS: Table<Part> = &[
    ("每早", Part::Morning),
    ("每晚", Part::Evening),
    ("every morning", Part::Morning),
    ("each morning", Part::Morning),
    ("every afternoon", Part::Afternoon),
    ("every evening", Part::Evening),
    ("every night", Part::Evening),
];
pub(super) const WORKING_DAYS: List = &[
    "每个工作日",
    "每工作日",
    "工作日每天",
    "工作日",
    "every weekday",
    "every workday",
    "every working day",
    "weekdays",
    "on weekdays",
    "周一到周五每天",
    "周一至周五每天",
];
pub(super) const WEEKENDS: List =
    &["每个周末", "每周末", "每逢周末", "every weekend", "on weekends"];
pub(super) const WEEKLY: List = &["weekly"];
pub(super) const MONTHLY: List = &["monthly", "每月", "每个月"];
pub(super) const YEARLY: List = &["yearly", "annually", "每年"];
pub(super) const HOURLY: List = &["hourly", "每小时", "每个小时"];
pub(super) const QUARTERLY: List = &["quarterly", "每季度", "每个季度"];
pub(super) const TO_DAY: List = &["到", "至", "-", "to", "through"];
pub(super) const DAY_AND: List = &["、", "和", "及", "跟", ",", "，", "and", ", and", "&"];
pub(super) const LAST_DAY: List = &[
    "最后一天",
    "的最后一天",
    "底",
    "月底",
    "末",
    "on the last day",
    "on its last day",
    "at the end of the month",
];
pub(super) const LAST_DAY_OF_EVERY_MONTH: List =
    &["last day of every month", "last day of each month", "end of every month"];
pub(super) const EVERY_MONTH: List = &["every month", "each month"];
pub(super) const DAYS_ON: List = &["on", "的", "的周", "的星期"];
