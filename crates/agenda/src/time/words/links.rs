//! Small words that join the pieces of a date, and letters that tell where one may begin or end.

use super::WordList;

/// Joins a day and what belongs to it.
pub(in super::super) const POSSESSIVE: WordList = &["的"];
pub(in super::super) const OF_OR_ON: WordList = &["的", "on", "of"];
pub(in super::super) const OF_WEEKDAY: WordList = &["的", "的周", "的星期"];
/// Opens a span.
pub(in super::super) const FROM: WordList = &["从", "from", "between"];
/// Before the hour that is not reached yet.
pub(in super::super) const UP_TO: WordList = &["到"];
/// Directions are given in hours, too.
pub(in super::super) const DIRECTION: WordList = &["方向"];
/// After a number that counts something.
pub(in super::super) const COUNTED: WordList = &["of", "cup", "cups", "的", "个"];
pub(in super::super) const TOWARDS: WordList = &["到", "to"];
pub(in super::super) const WITH: WordList = &["和", "跟", "与"];
/// Words between two pieces of one date.
pub(in super::super) const BETWEEN_PIECES: WordList = &["早", "晚", "的"];

pub(in super::super) const AND_LATIN: WordList = &["and", "or", "&", "/", "+"];
/// Between two times of one day.
pub(in super::super) const TIMES_AND: WordList =
    &["和", "、", "及", "与", "跟", "以及", "还有", "and", "&", ",", "，", "/", "+"];
/// They mean several times a day.
pub(in super::super) const SEVERAL_TIMES: WordList = &[
    "早晚",
    "早中晚",
    "一天两次",
    "一天三次",
    "一天四次",
    "每天两次",
    "每天三次",
    "每日两次",
    "每日三次",
    "一日两次",
    "一日三次",
    "twice a day",
    "twice daily",
    "two times a day",
    "three times a day",
    "3 times a day",
    "three times daily",
    "morning and evening",
    "morning and night",
];

/// Means a little, not an hour.
pub(in super::super) const A_LITTLE: &str = "一点";
/// They take place at one o'clock, and there is no little of them.
pub(in super::super) const AT_ONE: WordList = &[
    "开会", "例会", "会议", "吃饭", "午饭", "午休", "面试", "上课", "出发", "集合", "见面", "开始",
    "起床", "睡觉", "上班", "考试", "培训", "彩排", "体检", "提醒", "叫我",
];
/// No number of a date begins after these.
pub(in super::super) const NO_NUMBER_AFTER: &str = "年月点时第:-/.每";
pub(in super::super) const NO_AMOUNT_AFTER: &str = "月年周期第底末";
pub(in super::super) const COUNTS_DAYS: &str = "后前内";
pub(in super::super) const NOT_HOURS: &str = "心餐钱楼线店";
pub(in super::super) const DATE_MARKS: &str = "年月日号点时";
pub(in super::super) const LONG_MARKS: &str = "年月";
/// Belong to the hour right before them.
pub(in super::super) const CLOCK_ENDS: &str = "整正半";
