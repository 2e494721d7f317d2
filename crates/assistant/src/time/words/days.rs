//! Days by name, by weekday and by date.

use jiff::civil::Weekday::{self, Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};

use super::super::clock::Part;
use super::{List, Table};

pub(in super::super) const NEAR_DAYS: Table<i64> = &[
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

pub(in super::super) const DAYS_WITH_PART: Table<(i64, Part)> = &[
    ("今早", (0, Part::Morning)),
    ("今晨", (0, Part::Morning)),
    ("今晚", (0, Part::Evening)),
    ("今夜", (0, Part::Evening)),
    ("明早", (1, Part::Morning)),
    ("明晨", (1, Part::Morning)),
    ("明晚", (1, Part::Evening)),
    ("后早", (2, Part::Morning)),
    ("后晚", (2, Part::Evening)),
    ("昨晚", (-1, Part::Evening)),
    ("昨夜", (-1, Part::Evening)),
    ("tonight", (0, Part::Evening)),
    ("tonite", (0, Part::Evening)),
    ("2nite", (0, Part::Evening)),
    ("this morning", (0, Part::Morning)),
    ("this afternoon", (0, Part::Afternoon)),
    ("this evening", (0, Part::Evening)),
    ("last night", (-1, Part::Evening)),
];

pub(in super::super) const WEEK: List = &["周", "星期", "礼拜"];
pub(in super::super) const WEEK_DAYS: Table<Weekday> = &[
    ("一", Monday),
    ("二", Tuesday),
    ("三", Wednesday),
    ("四", Thursday),
    ("五", Friday),
    ("六", Saturday),
    ("日", Sunday),
    ("天", Sunday),
];
pub(in super::super) const WEEK_DIGITS: Table<Weekday> = &[
    ("1", Monday),
    ("2", Tuesday),
    ("3", Wednesday),
    ("4", Thursday),
    ("5", Friday),
    ("6", Saturday),
    ("7", Sunday),
];
/// Behind a digit these make it something else than a weekday.
pub(in super::super) const NO_WEEKDAY_BEFORE: &str = "0123456789点:个天小分号月日年周时次人";
/// Names that are a day even without a word before them.
pub(in super::super) const DAY_NAMES: Table<Weekday> = &[
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
/// Names that are ordinary words too, so they need a word before them or a time behind.
pub(in super::super) const SHY_DAY_NAMES: Table<Weekday> = &[("sat", Saturday), ("sun", Sunday)];
/// Behind such a name these make another word of it.
pub(in super::super) const NO_SHY_DAYS: List = &[
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
pub(in super::super) const ZH_WEEKS: Table<i64> = &[
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
pub(in super::super) const EN_NEXT: List = &["next"];
pub(in super::super) const EN_NEXT_NEXT: List = &["next next"];
pub(in super::super) const EN_THIS: List = &["this", "this coming", "coming", "the coming"];
pub(in super::super) const EN_LAST: List = &["last"];
pub(in super::super) const ON: List = &["on"];
pub(in super::super) const EN_WEEKENDS: Table<i64> =
    &[("weekend", 0), ("this weekend", 0), ("next weekend", 1)];
pub(in super::super) const EN_NEXT_WEEK: Table<i64> =
    &[("next week", 1), ("the week after next", 2), ("week after next", 2)];
/// So many weeks behind a day that is said after them, or before.
pub(in super::super) const WEEKS_ON: Table<i64> =
    &[("a week", 1), ("a week on", 1), ("one week", 1), ("two weeks", 2), ("two weeks on", 2)];
pub(in super::super) const TODAY_WEEK: Table<i64> =
    &[("today week", 7), ("tomorrow week", 8), ("a week from now", 7)];
/// Something is due within them.
pub(in super::super) const THIS_WEEK: List = &["this week", "within this week"];
pub(in super::super) const ZH_THIS_WEEK: List = &["这周", "这星期", "这个星期", "这礼拜"];
pub(in super::super) const THIS_MONTH: List = &["this month", "within this month"];
pub(in super::super) const THIS_YEAR: List = &["今年内", "本年内", "年内"];
pub(in super::super) const WEEK_END: List = &["末"];
/// What ends the week: its Friday, and later in the week its Sunday.
pub(in super::super) const WEEK_ENDS: Table<i64> = &[
    ("end of week", 0),
    ("end of the week", 0),
    ("end of this week", 0),
    ("eow", 0),
    ("end of next week", 1),
];

pub(in super::super) const YEAR: List = &["年"];
pub(in super::super) const MONTH: List = &["月", "月份"];
pub(in super::super) const DAY_OF_MONTH: List = &["日", "号"];
/// Behind a number of a day alone they make it the number of a thing.
pub(in super::super) const NUMBERED_THINGS: List = &[
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
/// Behind a number these count something, so it is not a day of the month.
pub(in super::super) const MEASURES: &str =
    "个次人天周点分只本件条位年月日号元块岁:.小%份台张页篇章斤杯家名班";
pub(in super::super) const YEARS: Table<i16> =
    &[("今年", 0), ("本年", 0), ("明年", 1), ("后年", 2), ("去年", -1)];
pub(in super::super) const EN_YEARS: Table<i16> = &[("this year", 0), ("next year", 1)];
pub(in super::super) const MONTHS_AWAY: Table<i64> = &[
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
pub(in super::super) const EN_MONTHS_AWAY: Table<i64> =
    &[("this month", 0), ("the month", 0), ("next month", 1), ("the next month", 1)];
pub(in super::super) const EN_MONTH_DAYS: Table<i8> = &[
    ("first day of", 1),
    ("beginning of", 1),
    ("start of", 1),
    ("middle of", 15),
    ("last day of", -1),
    ("end of", -1),
];
pub(in super::super) const MONTH_ENDS: Table<i64> =
    &[("月底", 0), ("月末", 0), ("end of month", 0), ("eom", 0), ("month end", 0)];
pub(in super::super) const MONTH_BEGINS: List = &["月初", "beginning of the month"];
pub(in super::super) const MONTH_MIDDLES: List = &["月中", "mid-month", "mid month"];
/// What may follow a month: its last day.
pub(in super::super) const END: List =
    &["底", "末", "月底", "月末", "的最后一天", "最后一天", "最末一天"];
pub(in super::super) const BEFORE_MONTH: List = &["前", "之前", "以前"];
pub(in super::super) const BEGIN: List = &["初", "月初", "的第一天", "第一天", "首日"];
pub(in super::super) const MIDDLE: List = &["中", "月中"];
/// Behind the middle of a month: a third of it, which is not a day.
pub(in super::super) const NOT_MIDDLE: &str = "旬下上";
pub(in super::super) const QUARTER_ENDS: Table<i64> = &[
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
pub(in super::super) const YEAR_ENDS: Table<i16> = &[
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
pub(in super::super) const YEAR_BEGINS: List =
    &["年初", "明年初", "明年年初", "beginning of next year", "start of next year"];
pub(in super::super) const MONTH_NAMES: Table<i8> = &[
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
pub(in super::super) const ORDINALS: List = &["st", "nd", "rd", "th"];
/// A number behind them is a name: "order 20261203".
pub(in super::super) const NUMBER_OF: List = &[
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
/// Behind a number they are what it counts: "march 3 miles", "may 5 people join".
pub(in super::super) const COUNTED_THINGS: List = &[
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
pub(in super::super) const BEFORE_ORDINALS: List =
    &["on", "by", "due", "before", "due on", "due by", "until"];
pub(in super::super) const ORDINAL_WORDS: Table<i8> = &[
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
pub(in super::super) const OF: List = &["of", "in"];
pub(in super::super) const THE: List = &["the"];
pub(in super::super) const FULL_STOP: List = &["."];
pub(in super::super) const COMMA: List = &[",", "，"];
/// Which weekday of a month.
pub(in super::super) const NTH: Table<i8> = &[
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
