//! How far away a moment is, and how long something takes.

use super::super::offsets::Unit;
use super::{WordList, WordTable};

pub(in super::super) const UNITS: WordTable<Unit> = &[
    ("秒", Unit::Second),
    ("秒钟", Unit::Second),
    ("分钟", Unit::Minute),
    ("分", Unit::Minute),
    ("小时", Unit::Hour),
    ("个小时", Unit::Hour),
    ("个钟头", Unit::Hour),
    ("钟头", Unit::Hour),
    ("个钟", Unit::Hour),
    ("刻钟", Unit::Quarter),
    ("天", Unit::Day),
    ("日", Unit::Day),
    ("周", Unit::Week),
    ("个周", Unit::Week),
    ("个星期", Unit::Week),
    ("星期", Unit::Week),
    ("个礼拜", Unit::Week),
    ("礼拜", Unit::Week),
    ("个月", Unit::Month),
    ("年", Unit::Year),
    ("个季度", Unit::Season),
    ("季度", Unit::Season),
    ("个工作日", Unit::WorkingDay),
    ("工作日", Unit::WorkingDay),
    ("second", Unit::Second),
    ("seconds", Unit::Second),
    ("sec", Unit::Second),
    ("secs", Unit::Second),
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
    ("wk", Unit::Week),
    ("wks", Unit::Week),
    ("fortnight", Unit::Fortnight),
    ("fortnights", Unit::Fortnight),
    ("month", Unit::Month),
    ("months", Unit::Month),
    ("quarter", Unit::Season),
    ("quarters", Unit::Season),
    ("year", Unit::Year),
    ("years", Unit::Year),
    ("yr", Unit::Year),
    ("yrs", Unit::Year),
    ("business day", Unit::WorkingDay),
    ("business days", Unit::WorkingDay),
    ("working day", Unit::WorkingDay),
    ("working days", Unit::WorkingDay),
    ("workday", Unit::WorkingDay),
    ("workdays", Unit::WorkingDay),
    ("weekdays", Unit::WorkingDay),
];
/// Units right after their digits.
pub(in super::super) const SHORT_UNITS: WordTable<Unit> = &[
    ("s", Unit::Second),
    ("m", Unit::Minute),
    ("min", Unit::Minute),
    ("h", Unit::Hour),
    ("hr", Unit::Hour),
    ("d", Unit::Day),
    ("w", Unit::Week),
    ("mo", Unit::Month),
    ("y", Unit::Year),
];
pub(in super::super) const HALF_UNITS: WordTable<Unit> = &[
    ("半小时", Unit::HalfHour),
    ("半个小时", Unit::HalfHour),
    ("半个钟头", Unit::HalfHour),
    ("半个钟", Unit::HalfHour),
    ("半天", Unit::HalfDay),
    ("半个月", Unit::HalfMonth),
    ("半年", Unit::HalfYear),
    ("half an hour", Unit::HalfHour),
    ("half hour", Unit::HalfHour),
    ("half-hour", Unit::HalfHour),
    ("a half hour", Unit::HalfHour),
    ("half a day", Unit::HalfDay),
    ("half a year", Unit::HalfYear),
];
/// Between a number and its unit: and a half.
pub(in super::super) const AND_HALF_HOURS: WordList = &["个半小时", "个半钟头", "个半钟", "小时半"];
pub(in super::super) const HOURS_AND_HALF: WordList = &["and a half", "半"];
pub(in super::super) const HALF_HOURS: WordList =
    &["and a half hours", "1/2 hours", "and half hours"];
pub(in super::super) const AND: WordList = &["and", "又", "零", "加", ","];
pub(in super::super) const AFTER: WordTable<i64> = &[
    ("后", 1),
    ("以后", 1),
    ("之后", 1),
    ("过后", 1),
    ("from now", 1),
    ("from today", 1),
    ("later", 1),
    ("前", -1),
    ("以前", -1),
    ("之前", -1),
    ("ago", -1),
];
pub(in super::super) const IN: WordList = &["in", "过", "再过", "再", "after", "+"];
/// After an amount from now: "in two weeks' time".
pub(in super::super) const IN_TIME: WordList = &["time", "' time", "'s time"];
/// With these "time" has another meaning.
pub(in super::super) const NOT_IN_TIME: WordList =
    &["sheet", "sheets", "card", "cards", "off", "out", "slot", "trial", "tracking", "management"];
pub(in super::super) const WITHIN: WordList =
    &["within", "within the next", "in the next", "over the next", "未来", "接下来"];
pub(in super::super) const WITHIN_ENDS: WordList = &["内", "之内", "以内"];
pub(in super::super) const NOW: WordList =
    &["now", "right now", "现在", "此刻", "immediately", "立即", "立刻"];
/// Before or after another day.
pub(in super::super) const FROM_DAY: WordTable<i64> =
    &[("from", 1), ("after", 1), ("before", -1), ("following", 1), ("prior to", -1)];
pub(in super::super) const BESIDE_DAY: WordTable<i64> = &[
    ("前一天", -1),
    ("前一日", -1),
    ("的前一天", -1),
    ("头一天", -1),
    ("前夕", -1),
    ("前夜", -1),
    ("后一天", 1),
    ("的后一天", 1),
    ("第二天", 1),
    ("的第二天", 1),
    ("后第一天", 1),
    ("后第二天", 2),
    ("后第三天", 3),
    ("次日", 1),
];
pub(in super::super) const SIDES: WordTable<i64> =
    &[("前", -1), ("之前", -1), ("后", 1), ("之后", 1), ("以后", 1)];
/// A reminder before the time.
pub(in super::super) const AHEAD: WordList = &["提前", "提早", "早"];
pub(in super::super) const AHEAD_ENDS: WordList = &[
    "before",
    "beforehand",
    "before that",
    "before it",
    "before then",
    "early",
    "earlier",
    "ahead",
    "ahead of time",
    "in advance",
    "prior",
    "before start",
    "before it starts",
    "before the start",
    "前",
    "之前",
    "以前",
];
pub(in super::super) const DAY_AHEAD: WordTable<i64> = &[
    ("前一天", 1),
    ("提前一天", 1),
    ("头天", 1),
    ("头一天", 1),
    ("前一晚", 1),
    ("当天", 0),
    ("当日", 0),
    ("the day before", 1),
    ("day before", 1),
    ("a day before", 1),
    ("the same day", 0),
    ("on the day", 0),
    ("same day", 0),
];
pub(in super::super) const ON_TIME: WordList = &[
    "准时",
    "到时",
    "到点",
    "届时",
    "开始时",
    "at start",
    "at the start",
    "on time",
    "at the time",
    "at due",
    "when due",
    "at that time",
];
/// Around a clause that asks to be reminded.
pub(in super::super) const CLAUSE_STARTS: WordList = &[
    "(", "（", ",", "，", ";", "；", "、", "并", "并且", "并在", ", and", "and", "with", ", with",
];
pub(in super::super) const CLAUSE_ENDS: WordList = &[")", "）", "即可", "就行", "please", "吧"];
pub(in super::super) const ASK_TO_REMIND: WordList = &[
    "提醒我",
    "提醒",
    "提醒我一下",
    "提醒一下",
    "提醒一下我",
    "叫我",
    "叫我一下",
    "通知我",
    "告诉我",
    "喊我",
    "请提醒我",
    "请",
    "记得",
    "记得提醒我",
    "记得叫我",
    "remind me",
    "remind",
    "reminder",
    "a reminder",
    "notify me",
    "alert me",
    "alert",
    "ping me",
    "tell me",
    "remind me about it",
    "set a reminder",
];
