//! What speaks of time without saying which, and what only looks like a part of a date.

use super::List;

/// They name a time that no clock or calendar tells.
pub(in super::super) const VAGUE: List = &[
    "早饭后", "早饭前", "早餐后", "早餐前", "午饭后", "午饭前", "午餐后", "午餐前", "中饭后", "晚饭后",
    "晚饭前", "晚餐后", "晚餐前", "饭后", "饭前", "下班前", "下班后", "下班", "上班前", "上班后", "上班",
    "睡前", "睡觉前", "起床后", "放学后", "放学", "下课后", "课后", "会后", "一整天", "整天", "全天",
    "一会儿", "一会", "待会儿", "待会", "等会儿", "等下", "稍后", "马上", "尽快", "有空", "过几天",
    "几天后", "过段时间", "改天", "回头", "晚些时候", "晚点", "上旬", "中旬", "下旬", "月上旬",
    "节假日", "每个节假日", "法定节假日", "早晚", "前后脚", "某天", "哪天", "生日", "每年生日", "周年",
    "这几天", "最近", "近期", "这阵子", "半个月左右", "几号", "几点",
    "all day", "soon", "asap", "later", "later today", "sometime", "some day", "someday", "shortly",
    "after lunch", "before lunch", "after dinner", "before dinner", "after breakfast", "after work",
    "before work", "before bed", "at bedtime", "bedtime", "after school", "after hours",
    "at lunchtime", "at lunch", "lunchtime", "dinnertime", "a few days", "in a few days",
    "in a bit", "in a while", "a while", "one day", "sunrise", "at sunrise",
    "sunset", "at sunset", "at dawn", "at dusk", "twice a day", "twice daily", "three times a day",
    "once in a while", "eventually", "whenever", "overnight",
    "whole day", "the whole day", "full day", "birthday", "my birthday",
];
/// Behind a date they are a piece of one, unless one of these characters follows.
pub(in super::super) const SUSPICIOUS_TAILS: super::Table<&str> = &[
    ("节", "目日能约水省奏拍"),
    ("号", "码召称令"),
    ("点", "名餐心赞外菜评击火灯单亮卡播"),
    ("后", "端台勤续期面院备悔视天年来果记援"),
    ("之后", ""),
    ("以后", ""),
    ("多", "买做写看吃喝穿带打跟问发个人次"),
    ("起", "床草飞诉重名码点"),
    ("为止", ""),
    ("直到", ""),
    ("截止", ""),
    ("内", "部容存科审测网购衣卷蒙"),
    ("每", ""),
    ("隔", "离壁热断音"),
    ("除了", ""),
    ("until", ""),
    ("till", ""),
    ("through", ""),
    ("except", ""),
    ("every", ""),
    ("each", ""),
    ("am", ""),
    ("pm", ""),
    ("o'clock", ""),
    ("or so", ""),
    ("ago", ""),
    ("onwards", ""),
    ("utc", ""),
    ("gmt", ""),
    ("est", ""),
    ("edt", ""),
    ("cst", ""),
    ("cdt", ""),
    ("mst", ""),
    ("mdt", ""),
    ("pst", ""),
    ("pdt", ""),
    ("cet", ""),
    ("cest", ""),
    ("bst", ""),
    ("jst", ""),
    ("eastern", ""),
    ("pacific", ""),
];
/// Between two dates or times.
pub(in super::super) const LINKS: List = &[
    "到", "至", "和", "跟", "与", "、", "及", "以及", "或", "或者", "还有", "-", "--", "~", "/",
    "to", "and", "or", "&", "till", "until", "through", "before", "after", "from", "between",
    "but", "but not", "not", ",", "，", "以外", "除外",
];
/// Right before a date they belong to it and were not understood.
pub(in super::super) const LEADS: List = &[
    "每", "每逢", "逢", "隔", "农历", "阴历", "双周", "单周", "第", "周", "星期", "礼拜", "节", "大",
    "每隔", "直到", "除了", "闰", "时间",
];
pub(in super::super) const LATIN_LEADS: List = &[
    "utc", "gmt", "every", "each", "until", "till", "between", "since", "except", "every other", "other", "last",
    "not", "nth", "mid", "early", "late",
];
/// Before a day in the middle of an English text they make it an attribute.
pub(in super::super) const NOUN_LEADS: List = &[
    "the", "a", "an", "my", "our", "your", "his", "her", "their", "of", "for", "about", "with",
    "this", "that", "to", "from", "and", "or",
];
/// What may go on behind a day in the middle of an English text.
pub(in super::super) const GOES_ON: List =
    &["in", "with", "about", "for", "at", "to", "from", "via", "because", "so", "if", "using"];
/// Words that may stand before the date a text begins with.
pub(in super::super) const OPENERS: &[&str] =
    &["on", "at", "in", "在", "于", "定在", "定于", "从", "until", "for"];
/// What ties a date to the text before it.
pub(in super::super) const TIES: &[&str] = &["at", "on", "by", "in", "for", "在", "于", "from", "@", "的"];
/// Words that are a repetition or a day, and an attribute before a noun.
pub(in super::super) const ADJECTIVES: List = &[
    "daily", "weekly", "monthly", "yearly", "quarterly", "hourly", "nightly", "biweekly", "weekend",
    "日常", "annually",
];
/// Before a length.
pub(in super::super) const LENGTH_STARTS: List =
    &["for", "for about", "历时", "共", "时长", "大约", "约", "大概", "持续", "lasting", "duration"];
/// A time of day right behind one of these belongs to a day that was not understood.
pub(in super::super) const UNKNOWN_DAY_ENDS: &str = "节天日周号月年期历旬";
/// These end like a day and are none.
pub(in super::super) const NO_UNKNOWN_DAYS: List = &["聊天", "学期", "日期", "到期", "定期", "春天"];
/// Behind a number they make a piece of a date.
pub(in super::super) const DATE_UNITS: List = &[
    "点", "点钟", "号", "日", "月", "年", ":", "时", "am", "pm", "st", "nd", "rd", "th", "分", "刻",
    "o'clock", "周后", "天后", "天前", "小时后", "分钟后", "月底", "月初", "p.m.", "a.m.",
];
