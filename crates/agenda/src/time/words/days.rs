//! Days by name, by weekday and by date.

use jiff::civil::Weekday::{self, Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};

use super::super::clock::DayPart;
use super::{WordList, WordTable};

pub(in super::super) const NEAR_DAYS: WordTable<i64> = &[
    ("今天", 0),
    ("今日", 0),
    ("今儿", 0),
    ("今儿个", 0),
    ("当天", 0),
    ("明天", 1),
    ("明日", 1),
    ("明儿", 1),
    ("明儿个", 1),
    ("次日", 1),
    ("后天", 2),
    ("后日", 2),
    ("后儿", 2),
    ("后儿个", 2),
    ("大后天", 3),
    ("大后儿", 3),
    ("大后儿个", 3),
    ("大大后天", 4),
    ("昨天", -1),
    ("昨日", -1),
    ("昨儿", -1),
    ("前天", -2),
    ("大前天", -3),
    ("today", 0),
    ("2day", 0),
    ("tomorrow", 1),
    ("tomorow", 1),
    ("tommorow", 1),
    ("tommorrow", 1),
    ("tomorrrow", 1),
    ("tommorrrow", 1),
    ("tomorow", 1),
    ("tommorw", 1),
    ("tomorrw", 1),
    ("tmrow", 1),
    ("tmr", 1),
    ("tmrw", 1),
    ("tmw", 1),
    ("tomo", 1),
    ("2moro", 1),
    ("2morrow", 1),
    ("day after tomorrow", 2),
    ("overmorrow", 2),
    ("yesterday", -1),
    ("day before yesterday", -2),
];

pub(in super::super) const DAYS_WITH_PART: WordTable<(i64, DayPart)> = &[
    ("今早", (0, DayPart::Morning)),
    ("今晨", (0, DayPart::Morning)),
    ("今晚", (0, DayPart::Evening)),
    ("今夜", (0, DayPart::Evening)),
    ("明早", (1, DayPart::Morning)),
    ("明晨", (1, DayPart::Morning)),
    ("明晚", (1, DayPart::Evening)),
    ("后早", (2, DayPart::Morning)),
    ("后晚", (2, DayPart::Evening)),
    ("昨晚", (-1, DayPart::Evening)),
    ("昨夜", (-1, DayPart::Evening)),
    ("tonight", (0, DayPart::Evening)),
    ("tonite", (0, DayPart::Evening)),
    ("2nite", (0, DayPart::Evening)),
    ("this morning", (0, DayPart::Morning)),
    ("this afternoon", (0, DayPart::Afternoon)),
    ("this evening", (0, DayPart::Evening)),
    ("last night", (-1, DayPart::Evening)),
];

pub(in super::super) const WEEK: WordList = &["周", "星期", "礼拜"];
pub(in super::super) const WEEK_DAYS: WordTable<Weekday> = &[
    ("一", Monday),
    ("二", Tuesday),
    ("三", Wednesday),
    ("四", Thursday),
    ("五", Friday),
    ("六", Saturday),
    ("日", Sunday),
    ("天", Sunday),
];
pub(in super::super) const WEEK_DIGITS: WordTable<Weekday> = &[
    ("1", Monday),
    ("2", Tuesday),
    ("3", Wednesday),
    ("4", Thursday),
    ("5", Friday),
    ("6", Saturday),
    ("7", Sunday),
];
/// A digit before one of these is not a weekday.
pub(in super::super) const NO_WEEKDAY_BEFORE: &str = "0123456789点:个天小分号月日年周时次人";
/// Names that are a day even without a word before them.
pub(in super::super) const DAY_NAMES: WordTable<Weekday> = &[
    ("monday", Monday),
    ("mon", Monday),
    ("tuesday", Tuesday),
    ("tue", Tuesday),
    ("tues", Tuesday),
    ("wednesday", Wednesday),
    ("weds", Wednesday),
    ("wed", Wednesday),
    ("thursday", Thursday),
    ("thu", Thursday),
    ("thur", Thursday),
    ("thurs", Thursday),
    ("friday", Friday),
    ("fri", Friday),
    ("saturday", Saturday),
    ("sunday", Sunday),
    ("wendesday", Wednesday),
    ("wensday", Wednesday),
    ("wednsday", Wednesday),
    ("wedensday", Wednesday),
    ("tuseday", Tuesday),
    ("teusday", Tuesday),
    ("thrusday", Thursday),
    ("thurday", Thursday),
    ("thursady", Thursday),
    ("firday", Friday),
    ("frday", Friday),
    ("saterday", Saturday),
    ("satuday", Saturday),
    ("staurday", Saturday),
    ("sundy", Sunday),
    ("monady", Monday),
];
/// Full names, which are recognized when misspelt.
pub(in super::super) const FULL_DAY_NAMES: WordTable<Weekday> = &[
    ("monday", Monday),
    ("tuesday", Tuesday),
    ("wednesday", Wednesday),
    ("thursday", Thursday),
    ("friday", Friday),
    ("saturday", Saturday),
    ("sunday", Sunday),
];
pub(in super::super) const SLIPPING_DAYS: WordTable<i64> = &[("tomorrow", 1)];
/// Words that are similar to a name and mean something else.
pub(in super::super) const NO_SLIPS: &[&str] =
    &["sundae", "sundry", "friary", "augusta", "sunder", "mondeo", "frisay"];
/// Names that are ordinary words too, so they need a word before or a time after them.
pub(in super::super) const SHY_DAY_NAMES: WordTable<Weekday> =
    &[("sat", Saturday), ("sun", Sunday)];
/// After such a name these form another word.
pub(in super::super) const NO_SHY_DAYS: WordList = &[
    "down",
    "in",
    "on",
    "at",
    "with",
    "through",
    "there",
    "by",
    "next",
    "exam",
    "exams",
    "prep",
    "test",
    "score",
    "scores",
    "microsystems",
    "tzu",
    "cream",
    "screen",
    "sunscreen",
    "protection",
    "hat",
    "glasses",
    "block",
    "dress",
    "bath",
    "burn",
    "rise",
    "light",
    "lamp",
    "flower",
    "flowers",
    "valley",
    "lounger",
    "exposure",
    "damage",
    "and",
    "shade",
    "salutation",
];
/// Which week: 0 is the calendar week of today.
pub(in super::super) const ZH_WEEKS: WordTable<i64> = &[
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
pub(in super::super) const EN_NEXT: WordList = &["next", "nxt"];
pub(in super::super) const EN_NEXT_NEXT: WordList = &["next next"];
pub(in super::super) const EN_THIS: WordList = &["this", "this coming", "coming", "the coming"];
pub(in super::super) const EN_LAST: WordList = &["last"];
pub(in super::super) const ON: WordList = &["on"];
pub(in super::super) const AT_THE: WordList = &["the", "at the", "on the", "over the"];
pub(in super::super) const EN_WEEKENDS: WordTable<i64> =
    &[("weekend", 0), ("this weekend", 0), ("next weekend", 1), ("nxt weekend", 1)];
pub(in super::super) const EN_NEXT_WEEK: WordTable<i64> = &[
    ("next week", 1),
    ("next wk", 1),
    ("nxt week", 1),
    ("nxt wk", 1),
    ("the week after next", 2),
    ("week after next", 2),
];
/// Days that can follow a number of weeks without a word between.
pub(in super::super) const NEAREST: WordList = &["today", "tomorrow"];
/// Before a day they mean its morning.
pub(in super::super) const FIRST_THING: WordList =
    &["first thing", "first thing on", "bright and early"];
/// The last characters of a week, a month or a year.
pub(in super::super) const STRETCHES: &str = "周期拜月年";
/// After a word for "within" these form another word: 内部, 内容.
pub(in super::super) const NOT_WITHIN: &str = "部容存科审测网购衣卷蒙场";
/// The distance in days.
pub(in super::super) const TODAY_WEEK: WordTable<i64> =
    &[("today week", 7), ("tomorrow week", 8), ("a week from now", 7)];
/// Something is due within them.
pub(in super::super) const THIS_WEEK: WordList = &["this week", "this wk", "within this week"];
pub(in super::super) const ZH_THIS_WEEK: WordList = &["这周", "这星期", "这个星期", "这礼拜"];
pub(in super::super) const THIS_MONTH: WordList = &["this month", "within this month"];
pub(in super::super) const THIS_YEAR: WordList = &["今年内", "本年内", "年内"];
pub(in super::super) const WEEK_END: WordList = &["末"];
/// The end of the week: its Friday, and later in the week its Sunday.
pub(in super::super) const WEEK_ENDS: WordTable<i64> = &[
    ("end of week", 0),
    ("end of the week", 0),
    ("end of this week", 0),
    ("eow", 0),
    ("end of next week", 1),
];

pub(in super::super) const YEAR: WordList = &["年"];
pub(in super::super) const MONTH: WordList = &["月", "月份"];
pub(in super::super) const DAY_OF_MONTH: WordList = &["日", "号"];
/// After a bare number they make it the number of a thing, not a day.
pub(in super::super) const NUMBERED_THINGS: WordList = &[
    "会议室",
    "楼",
    "线",
    "电池",
    "机",
    "院",
    "门",
    "车",
    "桌",
    "房",
    "馆",
    "店",
    "厅",
    "教室",
    "库",
    "站",
    "选手",
    "球",
    "床",
    "柜",
    "窗",
    "舱",
    "码",
    "线路",
    "仓",
    "井",
    "墙",
    "文件",
    "工位",
    "令",
    "染色体",
    "称",
];
/// Measures after a number, so it is not a day of the month.
pub(in super::super) const MEASURES: &str =
    "个次人天周点分只本件条位年月日号元块岁:.小%份台张页篇章斤杯家名班";
pub(in super::super) const YEARS: WordTable<i16> =
    &[("今年", 0), ("本年", 0), ("明年", 1), ("后年", 2), ("去年", -1)];
pub(in super::super) const EN_YEARS: WordTable<i16> = &[("this year", 0), ("next year", 1)];
